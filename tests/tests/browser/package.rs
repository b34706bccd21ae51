//! The npm package as people get it: packed, installed into fresh projects, built, and run.

use crate::node;

/// Node and Vite, developed and built, in Chromium and under a strict policy; what `publint` and `attw` say.
#[test]
fn card_4_the_package_runs_in_fresh_projects_as_the_guide_prints_it() {
    node::test("package.test.js");
}

/// Programs of users in TypeScript, every export and every option, as bundlers and as Node resolve them.
#[test]
fn card_4_the_declarations_of_the_package_say_what_is_there() {
    node::test("types.test.js");
}

/// Tools, permissions, hooks and sessions, in Chromium.
#[test]
fn card_4_the_guide_runs_in_a_page_as_printed() {
    node::test("guide.test.js");
}
