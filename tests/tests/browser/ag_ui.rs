//! Runs as AG-UI events.

use crate::node;

/// Held against the schemas of the protocol, its rules of order, and its client.
#[test]
fn card_4_runs_are_told_as_ag_ui_events() {
    node::test("ag-ui.test.js");
}
