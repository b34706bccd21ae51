//! Settings files, and what a project brings along.

use std::{fs, path::Path, sync::Arc};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use windlass::{
    core::permission::RuleValue,
    engine::{Launch, ProjectTrust, StartError, explain_call, left_out_untrusted, serve},
    settings::managed_settings_file,
};

use crate::support::{Sdk, calls, says};

/// Answers the question as a person does who allows such calls for the project from then on, and waits for the result.
async fn allow_for_the_project(sdk: &mut Sdk) {
    let question = sdk.first("control_request can_use_tool").await;
    let suggestion = &question["request"]["permission_suggestions"][0];
    let updates = json!([{"type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": suggestion["rules"].clone()}]);
    sdk.answer(&question, json!({"behavior": "allow", "updatedInput": question["request"]["input"], "updatedPermissions": updates})).await;
    sdk.first("result").await;
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn project() -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let settings = json!({"outputStyle": "local-test-style", "permissions": {"allow": ["Bash(touch made.txt)"]}});
    write(
        folder.path(),
        ".claude/settings.local.json",
        &settings.to_string(),
    );
    let agent = "---\nname: fs-agent\ndescription: of the project\n---\nYou are small.\n";
    write(folder.path(), ".claude/agents/fs-agent.md", agent);
    write(
        folder.path(),
        ".claude/commands/greet.md",
        "Say hello to $ARGUMENTS.\n",
    );
    let cwd = folder.path().canonicalize().unwrap().display().to_string();
    let trusted = json!({"projects": {cwd: {"hasTrustDialogAccepted": true}}});
    write(folder.path(), ".config/.claude.json", &trusted.to_string());
    folder
}

#[tokio::test]
async fn conf_1_settings_agents_and_commands_of_a_project_are_there() {
    let touch = calls("Bash", json!({"command": "touch made.txt"}));
    let greet = json!({"expect": {"last_user_contains": "Say hello to Ada."}, "respond": "Hello."});
    let mut sdk = Sdk::start_in(project(), &[], json!([touch, says("Done."), greet]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    assert_eq!(init["output_style"], "local-test-style");
    assert!(
        init["agents"]
            .as_array()
            .unwrap()
            .contains(&json!("fs-agent"))
    );
    assert!(
        init["slash_commands"]
            .as_array()
            .unwrap()
            .contains(&json!("greet"))
    );
    assert!(
        sdk.folder.path().join("made.txt").exists(),
        "a rule of the settings allows it"
    );
    sdk.prompt("/greet Ada").await;
    assert_eq!(sdk.first("result").await["result"], "Hello.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn perm_18_what_a_folder_allows_itself_counts_only_once_a_person_trusts_it() {
    let folder = project();
    fs::remove_file(folder.path().join(".config/.claude.json")).unwrap();
    let touch = calls("Bash", json!({"command": "touch made.txt"}));
    let mut sdk = Sdk::start_in(folder, &[], json!([touch, says("Well.")]));
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn sources_that_are_not_wanted_are_not_read() {
    let mut sdk = Sdk::start_in(
        project(),
        &["--setting-sources=user"],
        json!([says("Done.")]),
    );
    sdk.prompt("go").await;
    let init = sdk.first("system init").await;
    assert_eq!(init["output_style"], "default");
    assert!(
        !init["agents"]
            .as_array()
            .unwrap()
            .contains(&json!("fs-agent"))
    );
    assert!(
        !init["slash_commands"]
            .as_array()
            .unwrap()
            .contains(&json!("greet"))
    );
}

#[tokio::test]
async fn a_permission_that_is_to_last_is_written_to_the_settings() {
    let elsewhere = tempfile::tempdir().unwrap();
    let root = elsewhere.path().display().to_string();
    for flags in [
        &["--permission-prompt-tool=stdio"][..],
        &[
            "--permission-prompt-tool=stdio",
            "--project-config-root",
            &root,
        ],
    ] {
        let touch = || calls("Bash", json!({"command": "touch made.txt"}));
        let mut sdk = Sdk::start(flags, json!([touch(), touch(), says("Done.")]));
        sdk.prompt("go").await;
        allow_for_the_project(&mut sdk).await;
        let folders = [sdk.folder.path(), elsewhere.path()];
        let (project, other) = match flags.len() {
            1 => (folders[0], folders[1]),
            _ => (folders[1], folders[0]),
        };
        let file = ".claude/settings.local.json";
        let written = fs::read_to_string(project.join(file)).unwrap();
        assert!(written.contains("touch made.txt"), "{written}");
        assert!(!other.join(file).exists());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn perm_17_what_is_allowed_for_a_project_is_not_allowed_everywhere_by_its_link() {
    use std::os::unix::fs::symlink;
    for link in [".claude", ".claude/settings.local.json"] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let (user, work) = (folder.path().join(".config"), folder.path().join("work"));
        fs::create_dir_all(&user).unwrap();
        fs::write(user.join("settings.json"), "{}").unwrap();
        fs::create_dir(&work).unwrap();
        match link {
            ".claude" => symlink(&user, work.join(link)).unwrap(),
            _ => {
                fs::create_dir(work.join(".claude")).unwrap();
                symlink(user.join("settings.json"), work.join(link)).unwrap();
            }
        }
        let exchanges = json!([
            calls("Bash", json!({"command": "touch made.txt"})),
            says("Done.")
        ]);
        let flags = ["--permission-prompt-tool=stdio"];
        let mut sdk = Sdk::start_at(&work, &[], Arc::clone(&folder), &flags, exchanges);
        sdk.prompt("go").await;
        allow_for_the_project(&mut sdk).await;
        sdk.close().await;
        let settings = fs::read_to_string(user.join("settings.json")).unwrap();
        assert_eq!(settings, "{}", "{link}");
        assert!(!user.join("settings.local.json").exists(), "{link}");
    }
}

#[tokio::test]
async fn perm_18_settings_that_switch_bypassing_off_hold_against_every_flag() {
    let settings = r#"--settings={"permissions": {"disableBypassPermissionsMode": "disable"}}"#;
    let start = |flag: &str| {
        Sdk::start_with(
            &[("IS_SANDBOX", "1")],
            Arc::new(tempfile::tempdir().unwrap()),
            &[settings, flag],
            json!([
                calls("Bash", json!({"command": "touch made.txt"})),
                says("Well.")
            ]),
        )
    };
    for flag in [
        "--dangerously-skip-permissions",
        "--permission-mode=bypassPermissions",
    ] {
        let words = ["--input-format", "stream-json", settings, flag].map(ToOwned::to_owned);
        let variable = |name: &str| match name {
            "IS_SANDBOX" | "ANTHROPIC_API_KEY" => Some("1".to_owned()),
            "CLAUDE_CONFIG_DIR" => Some("/nowhere".to_owned()),
            _ => None,
        };
        let launch = Launch::read(&words, variable).unwrap();
        let (input, output) = (tokio::io::empty(), tokio::io::sink());
        let refused = serve(launch, input, output, CancellationToken::new()).await;
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("disableBypassPermissionsMode"), "{said}");
    }
    let mut sdk = start("--allow-dangerously-skip-permissions");
    sdk.prompt("go").await;
    sdk.until("result").await;
    let switch = json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"});
    let reply = sdk.request(switch).await;
    assert_eq!(reply["subtype"], "error", "{reply}");
    assert!(!sdk.folder.path().join("made.txt").exists());
}

/// The organisation's file is read by whoever begins a session, whatever flags leave out, and nothing is stronger.
#[tokio::test]
async fn conf_1_the_settings_of_the_organisation_are_left_out_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("managed.json");
    let launch = |flags: &[&str]| {
        let words: Vec<String> = flags.iter().map(ToString::to_string).collect();
        let variable = |name: &str| match name {
            "ANTHROPIC_API_KEY" => Some("sk-test".to_owned()),
            "CLAUDE_CONFIG_DIR" => Some("/nowhere".to_owned()),
            _ => None,
        };
        let mut launch = Launch::read(&words, variable).unwrap();
        assert_eq!(launch.managed_settings, Some(managed_settings_file()));
        launch.managed_settings = Some(file.clone());
        launch.cwd = Some(folder.path().to_path_buf());
        launch
    };
    let all = [
        "--setting-sources=",
        "--settings={\"permissions\":{\"allow\":[\"Bash(ls)\"]}}",
        "--managed-settings={}",
        "--allowedTools=Bash(ls)",
        "--permission-mode=acceptEdits",
    ];
    let managed = json!({"permissions": {"deny": ["Bash(ls)"], "defaultMode": "plan"}});
    fs::write(&file, managed.to_string()).unwrap();
    let call: RuleValue =
        serde_json::from_value(json!({"toolName": "Bash", "ruleContent": "ls"})).unwrap();
    let explained = explain_call(&launch(&all), &call).unwrap();
    let said = format!("{explained:?}");
    assert!(
        said.contains("PolicySettings") && said.contains("Deny"),
        "{said}"
    );
    let write: RuleValue = serde_json::from_value(json!({"toolName": "Write"})).unwrap();
    let said = format!("{:?}", explain_call(&launch(&all), &write).unwrap());
    assert!(said.contains("Plan"), "{said}");

    for (text, words) in [
        (
            "{\n\"permissions\": {\"deny\": \"Bash\"}}",
            "line 2, `permissions.deny`",
        ),
        (
            "{\"permissions\": {\"allow\": [\"Bash(ls\"]}}",
            "`permissions.allow[0]`",
        ),
        ("{", "in or behind"),
    ] {
        fs::write(&file, text).unwrap();
        let (input, output) = (tokio::io::empty(), tokio::io::sink());
        let refused = serve(launch(&all), input, output, CancellationToken::new()).await;
        let said = refused.unwrap_err().to_string();
        assert!(
            said.contains("managed.json") && said.contains(words),
            "{said}"
        );
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let (input, output) = (tokio::io::empty(), tokio::io::sink());
    let refused = serve(launch(&all), input, output, CancellationToken::new()).await;
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("managed.json"), "{said}");
}

#[tokio::test]
async fn conf_1_an_engine_begins_only_with_what_a_person_agreed_to() {
    let folder = tempfile::tempdir().unwrap();
    let put = |command: &str| {
        let hook = json!({"type": "command", "command": command});
        let settings = json!({"hooks": {"SessionStart": [{"hooks": [hook]}]}});
        write(
            folder.path(),
            ".claude/settings.json",
            &settings.to_string(),
        );
    };
    put("touch shown");
    let variable = |name: &str| match name {
        "ANTHROPIC_API_KEY" => Some("1".to_owned()),
        "CLAUDE_CONFIG_DIR" => Some("/nowhere".to_owned()),
        _ => None,
    };
    let words = ["--input-format", "stream-json"].map(ToOwned::to_owned);
    let mut launch = Launch::read(&words, variable).unwrap();
    launch.cwd = Some(folder.path().to_owned());
    launch.trust = ProjectTrust::Nothing;
    let shown = left_out_untrusted(&launch).unwrap();
    assert_eq!(shown.len(), 1, "{shown:?}");
    launch.trust = ProjectTrust::Everything;
    launch.agreed = Some(shown);
    let begun = |launch: Launch| {
        let (input, output) = (tokio::io::empty(), tokio::io::sink());
        serve(launch, input, output, CancellationToken::new())
    };
    begun(launch.clone()).await.unwrap();
    put("touch swapped");
    let refused = begun(launch).await.unwrap_err();
    assert!(matches!(refused, StartError::NotAsAgreed), "{refused}");
}
