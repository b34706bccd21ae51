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
    let windlass = with_notes();
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

/// With the plugin `notes` installed, which has what it asks for.
fn with_notes() -> Windlass {
    let windlass = Windlass::new();
    put(
        &windlass,
        "notes.wasm",
        &component("notes", "1.0.0", "Note"),
    );
    done(&windlass, &["add", "notes.wasm", "--yes"]);
    windlass
}

#[test]
fn card_5_a_file_takes_nothing_from_an_installed_plugin_by_its_name() {
    let windlass = with_notes();
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

/// The folders of durable state that there are, with the ids that grants have.
fn remembered(windlass: &Windlass) -> usize {
    let all = windlass
        .home()
        .join(".config/windlass/plugins/state/granted");
    fs::read_dir(all).into_iter().flatten().count()
}

/// Has the component that is granted something remember, and says its id.
fn remember(windlass: &Windlass) -> String {
    let all = grants(windlass);
    let granted = all.as_object().unwrap().values().next().unwrap();
    let id = granted["grant"]["state_id"].as_str().unwrap();
    fs::create_dir_all(state(windlass, id)).unwrap();
    fs::write(state(windlass, id).join("6b"), "v").unwrap();
    id.to_owned()
}

#[test]
fn card_5_a_plugin_that_is_removed_leaves_nothing_that_it_ever_remembered() {
    let durable = ["--state", "durable", "--yes"];
    let grant = |windlass: &Windlass, more: &[&str]| {
        done(
            windlass,
            &[&["grant", "notes"][..], &durable, more].concat(),
        );
        remember(windlass);
    };
    let update = |windlass: &Windlass, version: &str, more: &[&str]| {
        put(windlass, "notes.wasm", &component("notes", version, "Note"));
        done(windlass, &[&["update", "notes"][..], more].concat());
    };
    let ways: [&dyn Fn(&Windlass); 4] = [
        &|windlass| grant(windlass, &["--new-state"]),
        &|windlass| {
            update(windlass, "2.0.0", &[]);
            grant(windlass, &[]);
        },
        &|windlass| {
            update(windlass, "2.0.0", &["--yes"]);
            grant(windlass, &["--new-state"]);
            update(windlass, "3.0.0", &["--yes"]);
        },
        &|windlass| {
            update(windlass, "2.0.0", &[]);
            update(windlass, "3.0.0", &[]);
            grant(windlass, &[]);
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let windlass = with_notes();
        let first = remember(&windlass);
        way(&windlass);
        assert!(state(&windlass, &first).exists(), "{number}");
        assert_eq!(remembered(&windlass), 2, "{number}");
        let removed = done(&windlass, &["remove", "notes"]).stdout;
        assert!(removed.contains("sessions that run keep what they have until they end"));
        assert_eq!(remembered(&windlass), 0, "{number}");
        let file = windlass.home().join(".config/windlass/plugins/grants.json");
        let file = fs::read_to_string(file).unwrap();
        assert!(!file.contains(&first), "{file}");
    }
}

#[test]
fn card_5_whoever_takes_all_back_deletes_what_was_remembered_and_is_told_so() {
    let windlass = Windlass::new();
    let bytes = component("notes", "1.0.0", "Note");
    put(&windlass, "notes.wasm", &bytes);
    let grant = |more: &[&str]| {
        let args = ["grant", "notes.wasm", "--state", "durable", "--yes"];
        done(&windlass, &[&args, more].concat());
        remember(&windlass)
    };
    let first = grant(&[]);
    // A part that is taken back is not.
    let shown = done(&windlass, &["revoke", "notes", "--state", "--yes"]).stdout;
    assert!(shown.contains("sessions that run keep"), "{shown}");
    assert!(!shown.contains("deleted"), "{shown}");
    assert_eq!(grant(&[]), first);
    // Another file of its name that begins anew has the place of the one before, with what that left.
    put(
        &windlass,
        "notes.wasm",
        &component("notes", "2.0.0", "Note"),
    );
    assert_ne!(grant(&["--new-state"]), first);
    assert_eq!(remembered(&windlass), 2);
    let shown = done(&windlass, &["revoke", "notes", "--yes"]).stdout;
    for part in [
        "What it remembered for good is deleted",
        "sessions that run keep what they have until they end",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(remembered(&windlass), 0);
    // Where there is nothing, nothing is said of it.
    done(
        &windlass,
        &["grant", "notes.wasm", "--state", "session", "--yes"],
    );
    let shown = done(&windlass, &["revoke", "notes", "--yes"]).stdout;
    assert!(!shown.contains("deleted"), "{shown}");
}

#[test]
fn card_5_what_was_kept_of_a_plugin_is_found_by_the_same_file_and_no_other() {
    let windlass = Windlass::new();
    let bytes = component("notes", "1.0.0", "Note");
    put(&windlass, "notes.wasm", &bytes);
    done(&windlass, &["add", "notes.wasm", "--yes"]);
    let first = remember(&windlass);
    let shown = done(&windlass, &["remove", "notes", "--keep-state"]).stdout;
    assert!(shown.contains("the same file finds again"), "{shown}");
    assert_eq!(grants(&windlass), json!({}));

    // Another one of its name has nothing of that, and leaves it where it is.
    put(&windlass, "own.wasm", &component("notes", "6.6.6", "Own"));
    let args = ["grant", "own.wasm", "--state", "durable", "--yes"];
    done(&windlass, &args);
    assert_ne!(remember(&windlass), first);
    done(&windlass, &["revoke", "own.wasm", "--yes"]);
    assert!(state(&windlass, &first).exists());

    for args in [
        &["add", "notes.wasm", "--grant-nothing"][..],
        &["add", "notes.wasm", "--yes"],
    ] {
        let shown = done(&windlass, args).stdout;
        let line = "  with what notes remembered when it was installed before\n";
        assert!(shown.contains(line), "{args:?}: {shown}");
        if grants(&windlass) == json!({}) {
            let args = ["grant", "notes", "--state", "durable", "--yes"];
            done(&windlass, &args);
        }
        assert_eq!(remember(&windlass), first, "{args:?}");
        done(&windlass, &["remove", "notes", "--keep-state"]);
    }
    done(&windlass, &["add", "notes.wasm", "--yes"]);
    done(&windlass, &["remove", "notes"]);
    assert_eq!(remembered(&windlass), 0);
}
