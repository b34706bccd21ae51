//! Granting, installing and updating give a plugin what was named, and nothing beside it.

use std::fs;

use serde_json::{Value, json};

use crate::{
    plugin_install::{hears, kept, plugin},
    support::{Done, Windlass},
};

fn put(windlass: &Windlass, asks: &Value) {
    let bytes = plugin("1.0.0", asks);
    fs::write(windlass.workspace.path().join("speaks.wasm"), bytes).unwrap();
}

fn all() -> Value {
    json!({"env": ["LANGUAGE"], "filesystem": "write"})
}

fn grant(windlass: &Windlass, more: &[&str]) -> Done {
    windlass.run(&[&["plugin", "grant", "speaks.wasm", "--yes"], more].concat())
}

/// What components have, as a person sees it.
fn has(windlass: &Windlass) -> String {
    windlass.run(&["plugin", "list"]).stdout
}

#[test]
fn card_5_who_grants_one_thing_grants_no_other() {
    let windlass = Windlass::new();
    put(&windlass, &all());
    let done = grant(&windlass, &["--env", "LANGUAGE"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let has_now = has(&windlass);
    assert!(has_now.contains("the variable LANGUAGE"), "{has_now}");
    assert!(!has_now.contains("the workspace"), "{has_now}");

    let windlass = Windlass::new();
    put(&windlass, &all());
    for (access, does) in [("write", "to read and write"), ("read", "to read\n")] {
        let done = grant(&windlass, &["--workspace", access]);
        assert_eq!(done.code, Some(0), "{done:?}");
        let has_now = has(&windlass);
        assert!(
            has_now.contains(&format!("the workspace {does}")),
            "{has_now}"
        );
        assert!(!has_now.contains("the variable"), "{has_now}");
    }
    // A yes that names nothing is no yes to anything.
    let before = kept(&windlass);
    let done = grant(&windlass, &[]);
    assert!(done.complaint(3).contains("names nothing"), "{done:?}");
    assert_eq!(kept(&windlass), before);
}

#[test]
fn card_5_files_that_a_component_does_not_ask_for_are_not_granted() {
    let windlass = Windlass::new();
    for (asks, more, problem) in [
        (
            json!({}),
            ["--workspace", "read"],
            "for which it does not ask",
        ),
        (
            json!({}),
            ["--workspace", "write"],
            "for which it does not ask",
        ),
        (json!({}), ["--dir", "."], "for which it does not ask"),
        (
            json!({"filesystem": "read"}),
            ["--workspace", "write"],
            "asks to read",
        ),
        (
            json!({"filesystem": "read"}),
            ["--dir", ".=write"],
            "asks to read",
        ),
    ] {
        put(&windlass, &asks);
        let done = grant(&windlass, &more);
        assert!(done.complaint(3).contains(problem), "{more:?}: {done:?}");
        assert!(kept(&windlass).is_empty(), "{more:?}");
    }
}

#[test]
fn card_5_a_plugin_that_is_installed_with_nothing_has_nothing() {
    let windlass = Windlass::new();
    put(&windlass, &all());
    // The same file was granted something before, by its path.
    grant(&windlass, &["--env", "LANGUAGE"]);
    let done = windlass.run(&["plugin", "add", "speaks.wasm", "--grant-nothing"]);
    assert!(done.stdout.contains("with nothing granted"), "{done:?}");
    hears(&windlass, &[], "-");
    assert!(!has(&windlass).contains("the variable LANGUAGE"));

    // A new version of a folder has the same component in it.
    let windlass = Windlass::new();
    windlass.write("notes/.claude-plugin/plugin.json", r#"{"name": "notes"}"#);
    let folder = windlass.workspace.path().join("notes/components");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("speaks.wasm"), plugin("1.0.0", &all())).unwrap();
    windlass.run(&["plugin", "add", "notes", "--yes"]);
    hears(&windlass, &[], "français");
    windlass.write("notes/commands/tidy.md", "Tidy up.");
    let done = windlass.run(&["plugin", "update", "notes"]);
    assert!(done.stdout.contains("with nothing granted"), "{done:?}");
    hears(&windlass, &[], "-");
}

#[test]
fn card_5_a_yes_to_all_gives_no_key_of_windlass_away_and_says_where_secrets_are_from() {
    let windlass = Windlass::new();
    put(
        &windlass,
        &json!({
            "http": ["https://api.example"],
            "secrets": [
                {"name": "ANTHROPIC_API_KEY", "description": "A key.", "audience": ["https://api.example"]},
                {"name": "API_TOKEN", "description": "A token.", "audience": ["https://api.example"]},
            ],
        }),
    );
    let done = windlass.run(&["plugin", "add", "speaks.wasm", "--yes"]);
    for part in [
        "with the secret API_TOKEN from the variable API_TOKEN",
        "without the secret ANTHROPIC_API_KEY",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    let has_now = has(&windlass);
    assert!(has_now.contains("from the variable API_TOKEN"), "{has_now}");
    assert!(!has_now.contains("ANTHROPIC_API_KEY"), "{has_now}");
}

#[test]
fn card_5_what_is_installed_is_granted_something_by_its_name() {
    let windlass = Windlass::new();
    let notes = windlass.workspace.path().join("notes");
    windlass.write("notes/.claude-plugin/plugin.json", r#"{"name": "notes"}"#);
    fs::create_dir_all(notes.join("components")).unwrap();
    let component = plugin("1.0.0", &all());
    fs::write(notes.join("components/speaks.wasm"), component).unwrap();
    windlass.run(&["plugin", "add", "notes"]);
    hears(&windlass, &[], "-");
    // By the name of the plugin, although there is a folder of that name here.
    let done = windlass.run(&["plugin", "grant", "notes", "--env", "LANGUAGE", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    hears(&windlass, &[], "français");
    let done = windlass.run(&["plugin", "grant", "unknown"]);
    let complaint = done.complaint(3);
    assert!(
        complaint.contains("no plugin or component of that name"),
        "{complaint}"
    );

    windlass.write("quiet/.claude-plugin/plugin.json", r#"{"name": "quiet"}"#);
    windlass.run(&["plugin", "add", "quiet"]);
    let done = windlass.run(&["plugin", "grant", "quiet"]);
    assert!(done.complaint(3).contains("without components"), "{done:?}");
}
