//! Worktrees of git: for the session, and for agents.

use std::{fs, path::Path, process::Command, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, calls, kind_of, result_text, says};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b.c"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn repository() -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    git(folder.path(), &["init", "--quiet"]);
    fs::write(folder.path().join("hello.txt"), "hello\n").unwrap();
    git(folder.path(), &["add", "hello.txt"]);
    git(folder.path(), &["commit", "--quiet", "-m", "begin"]);
    folder
}

fn writes(name: &str) -> Value {
    calls("Write", json!({"file_path": name, "content": "x\n"}))
}

const FLAGS: [&str; 4] = [
    "--permission-mode",
    "acceptEdits",
    "--allowedTools",
    "Task,EnterWorktree,Bash",
];

#[tokio::test]
async fn tool_16_a_session_goes_to_work_in_a_worktree_which_stays() {
    let folder = repository();
    let enter = calls("EnterWorktree", json!({"name": "try"}));
    let pwd = calls("Bash", json!({"command": "pwd"}));
    let exchanges = json!([enter, writes("new.txt"), pwd, says("Done.")]);
    let mut sdk = Sdk::start_in(folder.clone(), &FLAGS, exchanges);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let results: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "user")
        .collect();
    let worktree = folder
        .path()
        .canonicalize()
        .unwrap()
        .join(".claude/worktrees/try");
    let made = &results[0]["tool_use_result"];
    assert_eq!(
        made["worktreePath"],
        worktree.display().to_string(),
        "{}",
        results[0]
    );
    assert_eq!(made["worktreeBranch"], "worktree-try");
    assert!(result_text(results[2]).contains(&worktree.display().to_string()));
    sdk.close().await;
    assert!(worktree.join("new.txt").exists() && worktree.join("hello.txt").exists());
    assert!(!folder.path().join("new.txt").exists());

    // The same name leads there again.
    let enter = calls("EnterWorktree", json!({"name": "try"}));
    let mut sdk = Sdk::start_in(folder, &FLAGS, json!([enter, says("Back.")]));
    sdk.prompt("go").await;
    let back = sdk.first("user").await;
    assert_eq!(back["tool_use_result"]["worktreeBranch"], "worktree-try");
}

/// Filters and watchers that the repository's own settings name are programs, and nobody has judged them.
#[tokio::test]
async fn conf_10_no_program_of_a_repository_runs_when_a_worktree_is_made() {
    let folder = repository();
    let outside = tempfile::tempdir().unwrap();
    let ran = outside.path().join("ran");
    let program = format!("sh -c 'echo $0 >> {}; cat'", ran.display());
    fs::write(folder.path().join(".gitattributes"), "*.txt filter=x\n").unwrap();
    git(folder.path(), &["add", ".gitattributes"]);
    git(folder.path(), &["commit", "--quiet", "-m", "attributes"]);
    for key in ["filter.x.smudge", "filter.x.clean", "core.fsmonitor"] {
        git(folder.path(), &["config", key, &program]);
    }
    git(folder.path(), &["config", "filter.x.required", "true"]);
    let _ = fs::remove_file(&ran);
    let task = calls(
        "Task",
        json!({"description": "try", "prompt": "try it", "subagent_type": "general-purpose",
            "isolation": "worktree"}),
    );
    let exchanges = json!([task, writes("new.txt"), says("tried"), says("done")]);
    let mut sdk = Sdk::start_in(folder.clone(), &FLAGS, exchanges);
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(result["result"], "done");
    sdk.close().await;
    assert!(folder.path().join(".claude/worktrees").exists());
    assert!(!ran.exists(), "{:?}", fs::read_to_string(&ran));
}

#[tokio::test]
async fn tool_25_an_agent_has_a_worktree_of_its_own_that_goes_unless_it_was_used() {
    for uses_it in [false, true] {
        let folder = repository();
        let task = calls(
            "Task",
            json!({"description": "try", "prompt": "try it", "subagent_type": "general-purpose",
                "isolation": "worktree"}),
        );
        let work = match uses_it {
            true => writes("new.txt"),
            false => calls("Bash", json!({"command": "ls"})),
        };
        let exchanges = json!([task, work, says("tried"), says("done")]);
        let mut sdk = Sdk::start_in(folder.clone(), &FLAGS, exchanges);
        sdk.prompt("go").await;
        let result = sdk.first("result").await;
        assert_eq!(result["result"], "done");
        sdk.close().await;
        let worktrees = folder.path().join(".claude/worktrees");
        let left: Vec<_> = fs::read_dir(worktrees)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(left.len(), usize::from(uses_it), "{left:?}");
        assert!(left.iter().all(|path| path.join("new.txt").exists()));
        assert!(!folder.path().join("new.txt").exists());
        let branches = git(folder.path(), &["branch", "--list", "worktree-*"]);
        assert_eq!(branches.lines().count(), left.len(), "{branches}");
    }
}

#[tokio::test]
async fn tool_28_without_a_repository_there_is_no_worktree_and_the_model_is_told_why() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let enter = calls("EnterWorktree", json!({}));
    let flags = [
        "--tools",
        "EnterWorktree",
        "--allowedTools",
        "EnterWorktree",
    ];
    let mut sdk = Sdk::start_in(folder, &flags, json!([enter, says("Well.")]));
    sdk.prompt("go").await;
    let text = result_text(&sdk.first("user").await);
    assert!(text.contains("No worktree was made"), "{text}");
}

#[tokio::test]
async fn hook_17_a_callback_that_makes_the_worktree_says_where_the_work_goes_on() {
    let folder = repository();
    let elsewhere = tempfile::tempdir().unwrap();
    let made = elsewhere.path().canonicalize().unwrap();
    let enter = calls("EnterWorktree", json!({"name": "try"}));
    let pwd = calls("Bash", json!({"command": "pwd"}));
    let mut sdk = Sdk::start_in(folder.clone(), &FLAGS, json!([enter, pwd, says("Done.")]));
    sdk.initialize(json!({"hooks": {"WorktreeCreate": [{"hookCallbackIds": ["maker"]}]}}))
        .await;
    sdk.prompt("go").await;
    let asked = sdk.first("control_request hook_callback").await;
    assert_eq!(asked["request"]["input"]["name"], "try");
    let output = json!({"hookEventName": "WorktreeCreate", "worktreePath": made});
    sdk.answer(&asked, json!({"hookSpecificOutput": output}))
        .await;
    let frames = sdk.until("result").await;
    let mut results = frames.iter().filter(|frame| kind_of(frame) == "user");
    let entered = results.next().unwrap();
    assert_eq!(
        entered["tool_use_result"]["worktreePath"],
        made.display().to_string()
    );
    let printed = result_text(results.next().unwrap());
    assert!(printed.contains(&made.display().to_string()), "{printed}");
    assert!(!folder.path().join(".claude/worktrees").exists());

    // A place where there is nothing moves nobody.
    let enter = calls("EnterWorktree", json!({"name": "try"}));
    let mut sdk = Sdk::start_in(folder.clone(), &FLAGS, json!([enter, says("A pity.")]));
    sdk.initialize(json!({"hooks": {"WorktreeCreate": [{"hookCallbackIds": ["maker"]}]}}))
        .await;
    sdk.prompt("go").await;
    let asked = sdk.first("control_request hook_callback").await;
    let output = json!({"hookEventName": "WorktreeCreate", "worktreePath": made.join("nowhere")});
    sdk.answer(&asked, json!({"hookSpecificOutput": output}))
        .await;
    let refused = sdk.first("user").await;
    assert_eq!(refused["message"]["content"][0]["is_error"], true);
    assert!(result_text(&refused).contains("nowhere"), "{refused}");
}

/// A session in a repository with these hooks in its settings, whose agent worked in a worktree of its own.
async fn isolated_under(hooks: Value) -> Arc<tempfile::TempDir> {
    let folder = repository();
    let settings = json!({ "hooks": hooks }).to_string();
    let task = calls(
        "Task",
        json!({"description": "try", "prompt": "try it", "subagent_type": "general-purpose",
            "isolation": "worktree"}),
    );
    let exchanges = json!([task, writes("new.txt"), says("tried"), says("done")]);
    let flags = [&FLAGS[..], &["--settings", &settings]].concat();
    let mut sdk = Sdk::start_in(folder.clone(), &flags, exchanges);
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "done");
    sdk.close().await;
    folder
}

fn command(command: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": command}]}])
}

#[tokio::test]
async fn hook_17_commands_make_the_worktree_of_an_agent_and_take_it_away_again() {
    // What stands there was changed: only the hook knows whether it is wanted.
    // No command names it as a path: what those name is a place from which orders are taken, and closed to tools.
    let hooks = json!({
        "WorktreeCreate": command("cd \"$CLAUDE_PROJECT_DIR\" && mkdir tree && cd tree && pwd"),
        "WorktreeRemove": command("cd \"$CLAUDE_PROJECT_DIR\" && cat > removed.json && mv tree/* . && rmdir tree"),
    });
    let folder = isolated_under(hooks).await;
    let root = folder.path().canonicalize().unwrap();
    let told: Value =
        serde_json::from_str(&fs::read_to_string(root.join("removed.json")).unwrap()).unwrap();
    assert_eq!(told["hook_event_name"], "WorktreeRemove");
    assert_eq!(
        told["worktree_path"],
        root.join("tree").display().to_string()
    );
    assert!(root.join("new.txt").exists() && !root.join("tree").exists());
    assert!(!root.join(".claude/worktrees").exists());
}

#[tokio::test]
async fn hook_17_what_stays_is_not_told_as_removed() {
    let hooks = json!({"WorktreeRemove": command("cat > \"$CLAUDE_PROJECT_DIR/removed.json\"")});
    let folder = isolated_under(hooks).await;
    assert!(!folder.path().join("removed.json").exists());
    assert!(folder.path().join(".claude/worktrees").exists());
}

#[tokio::test]
async fn hook_17_a_callback_that_hears_of_a_worktree_and_says_nothing_holds_nothing_up() {
    let elsewhere = tempfile::tempdir().unwrap();
    let start = calls(
        "Task",
        json!({"description": "try", "prompt": "try it", "subagent_type": "general-purpose",
            "isolation": "worktree"}),
    );
    let script = json!([start, says("Tried."), says("One."), says("Two.")]);
    let variables = [("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "1")];
    let mut sdk = Sdk::start_with(&variables, repository(), &FLAGS, script);
    let hooks = json!({
        "WorktreeCreate": [{"hookCallbackIds": ["maker"]}],
        "WorktreeRemove": [{"hookCallbackIds": ["remover"], "timeout": 600}],
    });
    sdk.initialize(json!({ "hooks": hooks })).await;
    sdk.prompt("one").await;
    let asked = sdk.first("control_request hook_callback").await;
    assert_eq!(
        asked["request"]["input"]["hook_event_name"],
        "WorktreeCreate"
    );
    let made = elsewhere.path().canonicalize().unwrap();
    let output = json!({"hookEventName": "WorktreeCreate", "worktreePath": made});
    sdk.answer(&asked, json!({"hookSpecificOutput": output}))
        .await;
    assert_eq!(sdk.first("result").await["result"], "One.");
    // Nobody ever answers the other one.
    sdk.prompt("/clear").await;
    assert_eq!(sdk.first("result").await["local_command"], "clear");
    sdk.prompt("two").await;
    assert_eq!(sdk.first("result").await["result"], "Two.");
    sdk.model.verify().unwrap();
}
