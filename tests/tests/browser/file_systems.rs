//! Files of an agent in a page: in memory (Node), in the storage of a browser and in directories (Chromium).

use crate::node;

/// The contract of file systems, and platforms that no browser shows.
#[test]
fn card_4_files_of_a_page_keep_one_contract() {
    node::test("file-systems.test.js");
}

/// The same in Chromium: in its storage, in a directory, and in a Worker that has no other way to write.
#[test]
fn card_4_files_of_a_page_keep_one_contract_in_a_browser() {
    node::test("file-contract-pages.test.js");
}

/// A component does not notice that its files are waited for, and changes nothing that somebody else changed meanwhile.
#[test]
fn card_4_components_work_on_files_that_are_waited_for() {
    node::test("file-calls.test.js");
}

/// The page is loaded again, tabs change one file, the storage is full, a page ends in the middle of writing, and real directories
/// are dropped on a page, to be read and to be written.
#[test]
fn card_4_files_in_the_storage_of_a_browser_outlive_their_page() {
    node::test("file-systems-pages.test.js");
}
