//! Sessions at the edge: in workerd, the runtime of Cloudflare's workers.

use windlass_tests::artefacts;

use crate::{node, page};

/// A store in the storage of a Durable Object, streams, questions that another request answers, and kills in the middle of answers.
#[test]
fn card_4_sessions_run_at_the_edge_and_survive_its_end() {
    node::test("edge.test.js");
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
