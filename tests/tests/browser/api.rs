//! What people write with the package, in Node.

use crate::node;

#[test]
fn card_4_tools_take_schemas_of_libraries() {
    node::test("tools.test.js");
}

#[test]
fn card_4_every_option_has_an_effect_or_is_told() {
    node::test("options.test.js");
}

#[test]
fn card_1_messages_are_read_in_their_order_as_they_come() {
    node::test("run.test.js");
}

#[test]
fn card_4_a_query_ends_as_it_is_told() {
    node::test("query.test.js");
}

/// As with the functions of the TypeScript Agent SDK, over a store.
#[test]
fn card_4_sessions_of_a_store_are_read_named_copied_and_deleted() {
    node::test("stored-sessions.test.js");
}
