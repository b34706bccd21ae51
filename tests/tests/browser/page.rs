//! The page of the demonstration, used as a person would, in Chromium.

use std::fs;

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
fn card_4_what_goes_wrong_around_the_page_of_the_demo_is_one_clear_message() {
    test("page-failures.test.js");
}

#[test]
fn card_4_the_page_of_the_demo_is_for_everybody() {
    test("page-access.test.js");
}

/// Runs tests of the page, with the components that they drop on it.
fn test(file: &str) {
    let components = tempfile::tempdir().unwrap();
    fs::copy(
        artefacts::plugin("policy"),
        components.path().join("policy.wasm"),
    )
    .unwrap();
    let words = fs::read(artefacts::plugin("words-js")).unwrap();
    fs::write(
        components.path().join("words.wasm"),
        with_declaration(&words).unwrap(),
    )
    .unwrap();
    node::test_with(
        file,
        [
            ("WINDLASS_CHROMIUM", artefacts::chromium()),
            ("WINDLASS_PAGE_COMPONENTS", components.path().to_owned()),
        ],
    );
}
