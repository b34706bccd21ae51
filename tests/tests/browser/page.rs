//! The page of the demonstration, used as a person would, in Chromium.

use std::fs;

use tempfile::TempDir;
use windlass::plugins::with_declaration;
use windlass_tests::artefacts;

use crate::node;

#[test]
fn card_4_a_person_works_with_the_page_of_the_demo() {
    test("page.test.js");
}

#[test]
fn card_4_the_page_of_the_demo_shows_what_a_component_asks_for_before_it_gets_anything() {
    test("page-components.test.js");
}

#[test]
fn card_4_components_on_the_page_of_the_demo_have_requests_secrets_and_wasi_as_granted() {
    test("page-network.test.js");
}

#[test]
fn card_4_what_goes_wrong_around_the_page_of_the_demo_is_one_clear_message() {
    test("page-failures.test.js");
}

#[test]
fn card_4_the_page_of_the_demo_works_on_files_in_memory_in_the_browser_and_on_the_disk() {
    test("page-workspaces.test.js");
}

#[test]
fn card_4_the_page_of_the_demo_works_without_a_network_once_it_was_opened() {
    test("page-offline.test.js");
}

#[test]
fn card_4_the_page_of_the_demo_has_a_shell_without_network_and_programs() {
    test("page-shell.test.js");
}

#[test]
fn card_4_a_person_adds_servers_to_the_page_of_the_demo() {
    test("page-servers.test.js");
}

#[test]
fn card_4_the_page_of_the_demo_is_for_everybody() {
    test("page-access.test.js");
}

#[test]
fn card_4_axe_finds_nothing_wrong_with_the_page_of_the_demo() {
    test("page-axe.test.js");
}

/// Runs tests of the page, with the components that they drop on it.
fn test(file: &str) {
    let components = components();
    node::test_with(
        file,
        [
            ("WINDLASS_CHROMIUM", artefacts::chromium()),
            ("WINDLASS_PAGE_COMPONENTS", components.path().to_owned()),
        ],
    );
}

/// A folder with a component that has a hook, `policy.wasm`, and two that have tools, `words.wasm` and `misbehaves.wasm`.
pub(crate) fn components() -> TempDir {
    let components = tempfile::tempdir().unwrap();
    fs::copy(
        artefacts::plugin("policy"),
        components.path().join("policy.wasm"),
    )
    .unwrap();
    for name in ["words", "misbehaves", "connected", "clock"] {
        let component = fs::read(artefacts::plugin(&format!("{name}-js"))).unwrap();
        fs::write(
            components.path().join(name).with_extension("wasm"),
            with_declaration(&component).unwrap(),
        )
        .unwrap();
    }
    components
}
