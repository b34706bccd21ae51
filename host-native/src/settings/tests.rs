use std::{fs, path::Path};

use windlass_core::{
    hook::HookEvent,
    permission::{Layered, Mode, PermissionUpdate, Source},
    spec::Environment,
};

use windlass_engine::settings::{SettingsHooks, write_permissions};

use super::*;
use crate::{config_dir::ConfigDir, store::FileStore};

fn places(root: &Path) -> SettingsPlaces {
    SettingsPlaces {
        config: ConfigDir::at(root.join("user")),
        project: root.join("project"),
        policy: Some(root.join("policy.json")),
    }
}

fn store(root: &Path) -> FileStore {
    let SettingsPlaces {
        config, project, ..
    } = places(root);
    FileStore::new(&config, project)
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Writes a settings file for each source that names the source.
fn everywhere(root: &Path) -> SettingsPlaces {
    for (path, name) in [
        ("policy.json", "policy"),
        ("user/settings.json", "user"),
        ("project/.claude/settings.json", "project"),
        ("project/.claude/settings.local.json", "local"),
    ] {
        let text = format!(
            r#"{{"model":"{name}","env":{{"{name}":"yes","SHARED":"{name}"}},"permissions":{{"deny":["Read({name})"]}}}}"#
        );
        put(root, path, &text);
    }
    places(root)
}

#[test]
fn conf_1_the_strongest_source_wins_and_what_adds_up_adds_up() {
    let root = tempfile::tempdir().unwrap();
    let places = everywhere(root.path());
    fs::remove_file(root.path().join("policy.json")).unwrap();
    let load = |flag| places.load(SettingSources::ALL, flag, None).unwrap();
    assert_eq!(load(None).model(), Some("local"));
    let with_flag = load(Some(r#"{"model":"flag"}"#));
    assert_eq!(with_flag.model(), Some("flag"));
    assert_eq!(with_flag.env(|_| true)["SHARED"], "local");
    assert_eq!(
        with_flag.env(|_| true).len(),
        4,
        "one of each source and the shared one"
    );
    let managed = places.load(
        SettingSources::ALL,
        Some("{}"),
        Some(r#"{"model":"managed"}"#),
    );
    assert_eq!(managed.unwrap().model(), Some("managed"));
    let layered = Layered::of(&load(None).layers(true), &Environment::default()).unwrap();
    let sources: Vec<Source> = layered
        .rules
        .deny
        .iter()
        .map(|rule| rule.source())
        .collect();
    assert_eq!(
        sources,
        [
            Source::LocalSettings,
            Source::ProjectSettings,
            Source::UserSettings
        ]
    );
}

#[test]
fn conf_1_only_selected_sources_are_read_and_policy_always() {
    let root = tempfile::tempdir().unwrap();
    let places = everywhere(root.path());
    let models = |sources: &str| -> Vec<String> {
        let sources = SettingSources::parse(sources).unwrap();
        let loaded = places.load(sources, None, None).unwrap();
        loaded
            .sources
            .iter()
            .map(|s| s.settings.model.clone().unwrap())
            .collect()
    };
    assert_eq!(
        models("user,project,local"),
        ["policy", "local", "project", "user"]
    );
    assert_eq!(models("project"), ["policy", "project"]);
    assert_eq!(models(""), ["policy"]);
    assert_eq!(SettingSources::default(), SettingSources::ALL);
    assert!(
        SettingSources::parse("user,team")
            .unwrap_err()
            .to_string()
            .contains("team")
    );
}

#[test]
fn conf_1_a_malformed_file_is_named_with_its_place_and_nothing_is_used() {
    let root = tempfile::tempdir().unwrap();
    let places = everywhere(root.path());
    for (text, wanted) in [
        ("{\n  \"model\": ,\n}", "line 2"),
        (r#"{"model": 5}"#, "string"),
        ("[]", "settings.json"),
        (r#"{"permissions": {"defaultMode": "never"}}"#, "never"),
        (r#"{"permissions": {"allow": [5]}}"#, "permission rule"),
        (r#"{"env": {"A": {}}}"#, "env.A"),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}"#,
            "hooks.PreToolUse",
        ),
        (
            r#"{"hooks": {"Stop": [{"matcher": "(", "hooks": []}]}}"#,
            "hooks.Stop",
        ),
    ] {
        put(root.path(), "project/.claude/settings.json", text);
        let error = places
            .load(SettingSources::ALL, None, None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(wanted) && error.contains("project/.claude/settings.json"),
            "{error}"
        );
        // A source that is not enabled is not read, so its error does not matter.
        let user = SettingSources {
            user: true,
            ..SettingSources::NONE
        };
        assert!(places.load(user, None, None).is_ok());
    }
    put(root.path(), "project/.claude/settings.json", "");
    assert!(places.load(SettingSources::ALL, None, None).is_ok());
}

#[test]
fn conf_1_settings_of_the_command_line_are_json_or_a_path() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    put(
        root.path(),
        "project/more.json",
        r#"{"outputStyle": "Terse", "unknownKey": [1, 2]}"#,
    );
    let load = |flag: &str| places.load(SettingSources::NONE, Some(flag), None);
    assert_eq!(load("more.json").unwrap().output_style(), Some("Terse"));
    assert_eq!(
        load(r#" {"outputStyle":"x"}"#).unwrap().output_style(),
        Some("x")
    );
    assert!(
        load("absent.json")
            .unwrap_err()
            .to_string()
            .contains("Settings file not found")
    );
    assert!(load("{").unwrap_err().to_string().contains("--settings"));
}

#[test]
fn hook_5_commands_of_settings_become_hooks_of_the_core() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    put(
        root.path(),
        "user/settings.json",
        r#"{"hooks": {
            "PreToolUse": [{"matcher": "Bash|Edit", "hooks": [
                {"type": "command", "command": "check.sh", "timeout": 5},
                {"type": "prompt", "prompt": "is it good?"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "check.sh"}]}],
            "FileChanged": [{"whatever": 1}]}}"#,
    );
    put(
        root.path(),
        "project/.claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "of the project"}]}]}}"#,
    );
    let loaded = places.load(SettingSources::ALL, None, None).unwrap();
    let hooks = loaded.hooks(true);
    let seen: Vec<_> = hooks
        .matchers
        .iter()
        .map(|m| (m.event, m.timeout_ms, m.source.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (HookEvent::PreToolUse, 60_000, "project settings"),
            (HookEvent::PreToolUse, 5_000, "user settings"),
            (HookEvent::Stop, 60_000, "user settings"),
        ]
    );
    assert!(
        hooks.matchers[1].matcher.matches("Edit") && !hooks.matchers[1].matcher.matches("Read")
    );
    assert_eq!(hooks.commands.len(), 2, "each command once");
    assert_eq!(hooks.ignored.len(), 2, "{:?}", hooks.ignored);
    assert_eq!(
        loaded.hooks(false).commands.len(),
        1,
        "nobody has trusted the folder"
    );
    put(
        root.path(),
        "project/.claude/settings.local.json",
        r#"{"disableAllHooks": true}"#,
    );
    let off = places.load(SettingSources::ALL, None, None).unwrap();
    assert_eq!(off.hooks(true), SettingsHooks::default());
}

fn update(json: &str) -> PermissionUpdate {
    serde_json::from_str(json).unwrap()
}

fn add(rule: &str, behavior: &str, destination: &str) -> PermissionUpdate {
    update(&format!(
        r#"{{"type":"addRules","rules":[{{"toolName":"Bash","ruleContent":"{rule}"}}],"behavior":"{behavior}","destination":"{destination}"}}"#
    ))
}

#[tokio::test]
async fn perm_6_each_change_goes_to_the_file_of_its_destination() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let updates = [
        add("one", "allow", "localSettings"),
        add("two", "deny", "projectSettings"),
        add("three", "ask", "userSettings"),
        add("four", "allow", "session"),
        update(r#"{"type":"setMode","mode":"acceptEdits","destination":"localSettings"}"#),
        update(
            r#"{"type":"addDirectories","directories":["/a","/a"],"destination":"userSettings"}"#,
        ),
    ];
    assert_eq!(
        write_permissions(&store(root.path()), &updates)
            .await
            .unwrap()
            .len(),
        3
    );
    let loaded = places.load(SettingSources::ALL, None, None).unwrap();
    let permissions = |n: usize| &loaded.sources[n].settings.permissions;
    assert_eq!(permissions(0).allow[0].rule, "Bash(one)");
    assert_eq!(permissions(0).default_mode, Some(Mode::AcceptEdits));
    assert_eq!(permissions(1).deny[0].rule, "Bash(two)");
    assert_eq!(permissions(2).ask[0].rule, "Bash(three)");
    assert_eq!(permissions(2).additional_directories, ["/a"]);
    let text: String = loaded.sources.iter().map(|s| s.text.raw().get()).collect();
    assert!(!text.contains("four"));
}

#[tokio::test]
async fn perm_6_what_else_is_in_the_file_stays_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let before = r#"{
  "zebra": { "b": 1.50, "a": [] },
  "permissions": {
    "allow": [
      "Bash(npm test)",
      { "rule": "Read(x)", "match": ["x"] }
    ],
    "unknown": null
  },
  "apple": "é \u00e9"
}
"#;
    put(root.path(), "project/.claude/settings.local.json", before);
    let updates = [
        add("npm test", "allow", "localSettings"),
        add("ls", "allow", "localSettings"),
    ];
    write_permissions(&store(root.path()), &updates)
        .await
        .unwrap();
    let path = root.path().join("project/.claude/settings.local.json");
    let after = fs::read_to_string(&path).unwrap();
    let expected = r#"{
  "zebra": {
    "b": 1.50,
    "a": []
  },
  "permissions": {
    "allow": [
      "Bash(npm test)",
      {
        "rule": "Read(x)",
        "match": [
          "x"
        ]
      },
      "Bash(ls)"
    ],
    "unknown": null
  },
  "apple": "é \u00e9"
}
"#;
    assert_eq!(after, expected);
    let removal = r#"{"type":"removeRules","rules":[{"toolName":"Read","ruleContent":"x"},{"toolName":"Bash","ruleContent":"ls"}],"behavior":"allow","destination":"localSettings"}"#;
    write_permissions(&store(root.path()), &[update(removal)])
        .await
        .unwrap();
    let after = fs::read_to_string(&path).unwrap();
    assert!(
        after.contains("npm test") && !after.contains("ls") && !after.contains("Read"),
        "{after}"
    );
}

#[tokio::test]
async fn perm_6_a_bad_rule_or_file_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let bad = update(
        r#"{"type":"addRules","rules":[{"toolName":"Write","ruleContent":"src/**"}],"behavior":"allow","destination":"userSettings"}"#,
    );
    let good = add("ls", "allow", "userSettings");
    let store = store(root.path());
    let refused = write_permissions(&store, &[good.clone(), bad]).await;
    assert!(refused.is_err());
    assert!(!root.path().join("user").exists());
    for text in [
        "{ \"permissions\": ",
        r#"{"permissions": []}"#,
        r#"{"permissions": {"allow": "x"}}"#,
    ] {
        put(root.path(), "user/settings.json", text);
        let written = write_permissions(&store, std::slice::from_ref(&good)).await;
        let error = written.unwrap_err();
        assert!(error.to_string().contains("user/settings.json"), "{error}");
        assert_eq!(
            fs::read_to_string(root.path().join("user/settings.json")).unwrap(),
            text
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn perm_6_changes_made_at_the_same_time_are_all_there() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let writers = (0..8).map(|writer| {
        let store = store(root.path());
        tokio::spawn(async move {
            for n in 0..5 {
                let rule = add(&format!("{writer} {n}"), "allow", "localSettings");
                write_permissions(&store, &[rule]).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let loaded = places.load(SettingSources::ALL, None, None).unwrap();
    assert_eq!(loaded.sources[0].settings.permissions.allow.len(), 40);
    let folder = fs::read_dir(root.path().join("project/.claude")).unwrap();
    assert_eq!(folder.count(), 1, "nothing is left lying about");
}
