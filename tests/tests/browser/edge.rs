//! Sessions at the edge: in workerd, the runtime of Cloudflare's workers.

use crate::node;

/// A store in the storage of a Durable Object, streams, questions that another request answers, and kills in the middle of answers.
#[test]
fn card_4_sessions_run_at_the_edge_and_survive_its_end() {
    node::test("edge.test.js");
}
