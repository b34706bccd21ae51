//! Sessions at the edge: in workerd, the runtime of Cloudflare's workers.

use windlass_tests::artefacts;

use crate::{node, page};

/// A store in the storage of a Durable Object, streams, and kills in the middle of answers.
#[test]
fn card_4_sessions_run_at_the_edge_and_survive_its_end() {
    node::test("edge.test.js");
}

/// Questions are answered by other requests, of other readers, after the end of the runtime.
#[test]
fn card_4_questions_at_the_edge_outlive_the_object_that_asked() {
    node::test("edge-questions.test.js");
}

/// Components that were turned into JavaScript ahead, a server of MCP, a shell.
#[test]
fn card_4_components_mcp_and_a_shell_work_at_the_edge() {
    let components = page::components();
    node::test_with(
        "edge-tools.test.js",
        [("WINDLASS_PAGE_COMPONENTS", components.path().to_owned())],
    );
}

/// Over a database of SQLite, in a process that is killed while a person is asked.
#[test]
fn card_4_the_handler_of_the_edge_runs_in_node() {
    node::test_with(
        "edge-node.test.js",
        [("WINDLASS_NEWER_NODE", artefacts::newer_node())],
    );
}
