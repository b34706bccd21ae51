//! Settings and project files in the file tree of an agent.

use crate::node;

#[test]
fn card_4_settings_of_the_file_tree_of_a_page_are_read_as_natively() {
    node::test("settings.test.js");
}
