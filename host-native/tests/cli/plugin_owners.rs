//! Which plugin a grant and a memory are of: no other one gets them by a name or by the same file, and none loses them.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    guest::{self, Hooked},
    plugin_install::kept,
    support::{Done, Windlass},
};

/// A component of this name with one tool, which remembers for good.
fn component(name: &str, version: &str, tool: &str) -> Vec<u8> {
    let declaration = json!({
        "name": name, "version": version, "wit": "0.1.0",
        "tools": [{"name": tool, "description": "Says.", "input_schema": {"type": "object"}}],
        "grants": {"state": "durable"},
    });
    guest::saying(&declaration.to_string(), "LANGUAGE")
}

/// A component that only judges.
fn policy() -> Vec<u8> {
    let declaration = json!({
        "name": "policy", "version": "1.0.0", "wit": "0.1.0",
        "hooks": [{"name": "judges", "event": "PreToolUse", "kind": "judge"}],
        "grants": {"state": "durable"},
    });
    let hooks = Hooked {
        judge: Some("(call $pass)"),
        ..Hooked::default()
    };
    guest::hooked(&declaration.to_string(), &hooks)
}

fn put(windlass: &Windlass, file: &str, bytes: &[u8]) {
    let path = windlass.workspace.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A folder that is a plugin with these components.
fn folder(windlass: &Windlass, name: &str, components: &[&[u8]]) {
    let manifest = json!({"name": name, "version": "1.0.0"}).to_string();
    windlass.write(&format!("{name}/.claude-plugin/plugin.json"), &manifest);
    for (number, bytes) in components.iter().enumerate() {
        put(windlass, &format!("{name}/components/{number}.wasm"), bytes);
    }
}

fn done(windlass: &Windlass, args: &[&str]) -> Done {
    let done = windlass.run(&[&["plugin"], args].concat());
    assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
    done
}

/// What components were granted, by their digests.
fn grants(windlass: &Windlass) -> Value {
    let listed = done(windlass, &["list", "--json"]);
    serde_json::from_str(&listed.stdout).unwrap()
}

#[test]
fn card_5_no_plugin_has_a_component_with_a_name_of_another_plugin() {
    let windlass = Windlass::new();
    put(
        &windlass,
        "notes.wasm",
        &component("notes", "1.0.0", "Note"),
    );
    done(&windlass, &["add", "notes.wasm", "--yes"]);
    folder(&windlass, "tools", &[&component("aid", "1.0.0", "Aid")]);
    done(&windlass, &["add", "tools", "--yes"]);
    let before = kept(&windlass);
    let refused = |args: &[&str], name: &str, plugin: &str| {
        let done = windlass.run(&[&["plugin"], args].concat());
        let complaint = done.complaint(3);
        for part in [
            format!("{name} is the name of the installed plugin {plugin}"),
            format!("`windlass plugin remove {plugin}` makes room"),
        ] {
            assert!(complaint.contains(&part), "{part}: {done:?}");
        }
        assert_eq!(kept(&windlass), before, "{args:?}");
    };
    // A component of another plugin's name, one that is called like another plugin, and a plugin that is called like a component.
    folder(&windlass, "more", &[&component("notes", "6.6.6", "More")]);
    folder(&windlass, "most", &[&component("tools", "6.6.6", "Most")]);
    folder(&windlass, "aid", &[&component("first", "6.6.6", "First")]);
    for answer in ["--yes", "--grant-nothing"] {
        refused(&["add", "more", answer], "notes", "notes");
        refused(&["add", "most", answer], "tools", "tools");
        refused(&["add", "aid", answer], "aid", "tools");
    }
    // Nor does it get one later.
    folder(&windlass, "tools", &[&component("notes", "2.0.0", "Aid")]);
    refused(&["update", "tools", "--yes"], "notes", "notes");

    folder(
        &windlass,
        "twice",
        &[
            &component("same", "1.0.0", "One"),
            &component("same", "1.0.0", "Two"),
        ],
    );
    for command in ["check", "add"] {
        let done = windlass.run(&["plugin", command, "twice"]);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(said.contains("1.wasm declares the name same"), "{done:?}");
    }
    assert_eq!(kept(&windlass), before);
}

#[test]
fn card_5_no_plugin_has_the_very_component_of_another_plugin() {
    let windlass = Windlass::new();
    put(&windlass, "policy.wasm", &policy());
    done(&windlass, &["add", "policy.wasm", "--yes"]);
    let before = kept(&windlass);
    folder(&windlass, "evil", &[&policy()]);
    for answer in ["--yes", "--grant-nothing"] {
        let done = windlass.run(&["plugin", "add", "evil", answer]);
        let complaint = done.complaint(3);
        assert!(complaint.contains("installed plugin policy"), "{done:?}");
        assert_eq!(kept(&windlass), before);
    }
    let shown = done(&windlass, &["inspect", "policy"]).stdout;
    assert!(shown.contains("memory for good"), "{shown}");
}

/// An older version of windlass installed such plugins.
#[test]
fn card_5_a_plugin_that_is_removed_takes_nothing_from_another_one_with_its_component() {
    let windlass = Windlass::new();
    put(&windlass, "policy.wasm", &policy());
    done(&windlass, &["add", "policy.wasm", "--yes"]);
    let lockfile = windlass
        .home()
        .join(".config/windlass/plugins/installed.json");
    let mut installed: Value = serde_json::from_slice(&fs::read(&lockfile).unwrap()).unwrap();
    installed["plugins"]["twin"] = installed["plugins"]["policy"].clone();
    fs::write(&lockfile, installed.to_string()).unwrap();
    let before = grants(&windlass);
    let granted = before.as_object().unwrap().values().next().unwrap();
    let state = state(&windlass, granted["grant"]["state_id"].as_str().unwrap());
    fs::create_dir_all(&state).unwrap();
    let asked = windlass.run(&["plugin", "grant", "policy"]);
    assert!(asked.complaint(3).contains("policy, twin"), "{asked:?}");
    done(&windlass, &["remove", "twin"]);
    assert!(state.exists());
    assert_eq!(grants(&windlass), before);
    done(&windlass, &["remove", "policy"]);
    assert!(!state.exists());
    assert_eq!(grants(&windlass), json!({}));
}

/// Where what has this id is remembered.
fn state(windlass: &Windlass, id: &str) -> PathBuf {
    let digits: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    let all = windlass.home().join(".config/windlass/plugins/state");
    all.join("granted").join(digits)
}

#[test]
fn card_5_a_file_takes_nothing_from_an_installed_plugin_by_its_name() {
    let windlass = Windlass::new();
    put(
        &windlass,
        "notes.wasm",
        &component("notes", "1.0.0", "Note"),
    );
    done(&windlass, &["add", "notes.wasm", "--yes"]);
    let before = grants(&windlass);
    let (digest, installed) = before.as_object().unwrap().iter().next().unwrap();

    put(&windlass, "own.wasm", &component("notes", "6.6.6", "Own"));
    let grant = |file: &str| done(&windlass, &["grant", file, "--state", "durable", "--yes"]);
    let shown = grant("own.wasm").stdout;
    assert!(!shown.contains("remembers what"), "{shown}");
    let after = grants(&windlass);
    assert_eq!(after[digest], *installed);
    let id = |version: &str| {
        let all = grants(&windlass);
        let mut all = all.as_object().unwrap().values();
        let granted = all.find(|granted| granted["version"] == version)?;
        granted["grant"]["state_id"].as_str().map(str::to_owned)
    };
    let own = id("6.6.6");
    assert!(own.is_some() && own != id("1.0.0"));

    // Another version of the file has what that one remembered, and nothing else.
    put(&windlass, "own.wasm", &component("notes", "7.7.7", "Own"));
    let shown = grant("own.wasm").stdout;
    assert!(shown.contains("remembers what notes 6.6.6 did"), "{shown}");
    assert_eq!((id("7.7.7"), id("6.6.6")), (own, None));
    assert_eq!(grants(&windlass)[digest], *installed);

    // Two have the name now, and it is asked which is meant.
    let revoked = windlass.run(&["plugin", "revoke", "notes", "--yes"]);
    assert!(revoked.complaint(3).contains(digest), "{revoked:?}");
    done(&windlass, &["revoke", "own.wasm", "--yes"]);
    assert_eq!(grants(&windlass), before);
}
