//! The npm package as people get it: packed, installed into fresh projects, built, and run.

use crate::node;

/// What `publint` and `attw` say, a project in Node, and what bundlers leave out.
#[test]
fn card_4_the_package_is_what_npm_and_bundlers_expect() {
    node::test("package.test.js");
}

/// Vite, developed and built, Workers, and no bundler at all, in Chromium and under a strict policy.
#[test]
fn card_4_pages_run_in_fresh_projects_as_the_guide_prints_them() {
    node::test("built-pages.test.js");
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
