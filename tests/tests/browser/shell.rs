//! The shell without an operating system: in Node, and in a page of Chromium.

use crate::node;

/// What it runs is what was judged, over the files of the agent, and it ends.
#[test]
fn card_4_a_shell_without_an_operating_system_runs_what_was_judged() {
    node::test("shell.test.js");
}

/// esbuild bundles the page, which has a strict content security policy.
#[test]
fn card_4_a_page_has_a_shell_over_its_files() {
    node::test("shell-page.test.js");
}
