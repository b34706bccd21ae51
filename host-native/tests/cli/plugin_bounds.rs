//! No plugin, however long its texts are, keeps the others from being listed, used and removed.

use std::fs;

use serde_json::json;
use windlass::plugins::{InstalledPlugin, PluginContent, PluginStore, PluginTree};

use crate::{
    guest,
    plugin_install::{declaration, kept, plugin},
    support::Windlass,
};

#[test]
fn card_5_the_version_of_a_folder_and_the_texts_of_secrets_are_bounded() {
    let windlass = Windlass::new();
    let at = |name: &str| windlass.workspace.path().join(name);
    fs::write(at("speaks.wasm"), plugin("1.0.0", &json!({}))).unwrap();
    windlass.run(&["plugin", "add", "speaks.wasm"]);
    let before = kept(&windlass);
    let long = "1".repeat(65);
    for version in ["", "1.0 beta", "1\u{202e}", long.as_str()] {
        let manifest = json!({"name": "notes", "version": version}).to_string();
        windlass.write("notes/.claude-plugin/plugin.json", &manifest);
        let done = windlass.run(&["plugin", "add", "notes"]);
        let complaint = done.complaint(3);
        assert!(complaint.contains("1 to 64 visible ASCII"), "{done:?}");
        assert_eq!(kept(&windlass), before, "{version}");
    }
    windlass.write(
        "notes/.claude-plugin/plugin.json",
        &json!({"name": "notes", "version": "1".repeat(64)}).to_string(),
    );
    assert_eq!(windlass.run(&["plugin", "check", "notes"]).code, Some(0));

    for (length, loads) in [(64 << 10, true), ((64 << 10) + 1, false)] {
        let secret = json!({
            "name": "TOKEN", "description": "x".repeat(length), "audience": ["https://api.example"],
        });
        let asks = json!({"http": ["https://api.example"], "secrets": [secret]});
        fs::write(at("long.wasm"), plugin("1.0.0", &asks)).unwrap();
        let done = windlass.run(&["plugin", "check", "long.wasm"]);
        assert_eq!(done.code, Some(i32::from(!loads)), "{done:?}");
        let is_told = done
            .stdout
            .contains("the secret `TOKEN` has more than 65536");
        assert_eq!(is_told, !loads, "{done:?}");
    }
}

#[test]
fn card_5_a_lock_file_that_nobody_could_read_again_is_not_written() {
    let place = tempfile::tempdir().unwrap();
    let store = PluginStore::at(place.path().join("own"), place.path().join("folders"));
    let content = PluginContent::Folder(PluginTree::default());
    let installed = |asks: usize| InstalledPlugin {
        version: "1.0.0".to_owned(),
        source: "/notes".to_owned(),
        digest: content.digest(),
        key: None,
        folder: true,
        runs_programs: false,
        asks: Vec::new(),
        programs: vec!["x".repeat(asks)],
        components: Vec::new(),
    };
    let mut change = store.change().unwrap();
    change.install("notes", installed(1), &content).unwrap();
    for refused in [
        change.install("other", installed(64 << 20), &content),
        change.install("notes", installed(64 << 20), &content),
        change.check("other", &installed(64 << 20)),
        change.amend("notes", installed(64 << 20)),
    ] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("windlass plugin remove"), "{refused}");
        assert!(!refused.contains('\n'));
    }
    let names: Vec<String> = store.read().unwrap().plugins.into_keys().collect();
    assert_eq!(names, ["notes"]);
    assert!(change.remove("notes").unwrap().is_some());
}

#[test]
fn card_5_a_plugin_whose_grant_could_not_be_kept_is_not_installed() {
    let windlass = Windlass::new();
    let bytes = plugin("1.0.0", &json!({"env": ["LANGUAGE"]}));
    fs::write(windlass.workspace.path().join("speaks.wasm"), bytes).unwrap();
    windlass.run(&["plugin", "add", "speaks.wasm", "--yes"]);
    let file = windlass.home().join(".config/windlass/plugins/grants.json");
    let grants = fs::read_to_string(&file).unwrap();
    // All but full: what one more has finds no room.
    let room = (4 << 20) - grants.len() - 9;
    let full = grants.replacen(
        "\"asks\": [",
        &format!("\"asks\": [\"{}\",", "x".repeat(room)),
        1,
    );
    fs::write(&file, full).unwrap();
    let before = kept(&windlass);
    let mut declaration = declaration("1.0.0", &json!({"env": ["EDITOR"]}));
    declaration["name"] = json!("other");
    declaration["tools"][0]["name"] = json!("Other");
    let other = guest::saying(&declaration.to_string(), "EDITOR");
    fs::create_dir_all(windlass.workspace.path().join("more/components")).unwrap();
    fs::write(
        windlass.workspace.path().join("more/components/other.wasm"),
        other,
    )
    .unwrap();
    let done = windlass.run(&["plugin", "add", "more", "--yes"]);
    let complaint = done.complaint(3);
    assert!(complaint.contains("more than the 4194304"), "{done:?}");
    assert!(complaint.contains("`windlass plugin list` and `revoke`"));
    assert_eq!(kept(&windlass), before);
    for args in [&["plugin", "list"][..], &["plugin", "remove", "speaks"]] {
        let done = windlass.run(args);
        assert_eq!(done.code, Some(0), "{args:?}");
    }
}
