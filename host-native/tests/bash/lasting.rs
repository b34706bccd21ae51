//! What lasts from one command to the next: directory and variables for all, functions and options for those that run as written.

use std::{fs, path::PathBuf};

use serde_json::json;
use tempfile::TempDir;
use windlass::bash::Bash;
use windlass_core::{
    host::CancelSignal,
    json::RawJson,
    tool::{ApprovedCommand, CommandPlan, FsGrant, ShellState, ToolCall, ToolResult},
};

/// Commands of one session.
struct Commands {
    folder: TempDir,
    shell: Option<Box<ShellState>>,
    bash: Bash,
}

impl Commands {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        Self {
            folder,
            shell: None,
            bash: Bash::new(),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn text(&self, below: &str) -> String {
        self.root().join(below).to_str().unwrap().to_owned()
    }

    async fn call(&mut self, text: &str, command: ApprovedCommand) -> ToolResult {
        self.call_with(&json!({ "command": text }), command).await
    }

    async fn call_with(
        &mut self,
        input: &serde_json::Value,
        command: ApprovedCommand,
    ) -> ToolResult {
        let call = ToolCall {
            tool_use_id: "toolu_1".into(),
            name: "Bash".into(),
            input: RawJson::encode(input).unwrap(),
            grant: FsGrant {
                cwd: self.root().to_str().unwrap().to_owned(),
                ..FsGrant::default()
            },
            observed: Vec::new(),
            timeout_ms: None,
            agent: None,
            command: Some(command),
            outside_sandbox: false,
            model: None,
            shell: self.shell.clone(),
        };
        let mut result = self.bash.call(&call, CancelSignal::new()).await;
        if let Some(shell) = result.shell.take() {
            self.shell = Some(shell);
        }
        result
    }

    /// As a person approved it.
    async fn written(&mut self, text: &str) -> String {
        self.call(text, ApprovedCommand::AsWritten)
            .await
            .joined_text()
    }

    /// As rules let it pass.
    async fn judged(&mut self, text: &str) -> String {
        let line = windlass_shell::read(text).unwrap();
        assert_eq!(line.obstacle, None, "{text}");
        let directory = match &self.shell {
            Some(shell) => shell.directory.clone(),
            None => self.text(""),
        };
        let plan = CommandPlan {
            script: line.script,
            directory: directory.trim_end_matches('/').to_owned(),
            ..CommandPlan::default()
        };
        // The text is not what runs.
        let result = self.call("false", ApprovedCommand::Plan(plan)).await;
        result.joined_text()
    }

    fn shell(&self) -> &ShellState {
        self.shell.as_deref().unwrap()
    }
}

#[tokio::test]
async fn tool_6_directory_and_variables_last_between_judged_and_written_commands() {
    let mut commands = Commands::new();
    commands.judged("stage=test; cd sub").await;
    assert_eq!(commands.shell().directory, commands.text("sub"));
    assert_eq!(
        commands.written("pwd; echo $stage").await,
        format!("{}\ntest", commands.text("sub"))
    );
    assert_eq!(
        commands
            .judged("echo \"$stage\"; env | grep '^stage='; true")
            .await,
        "test"
    );
    commands
        .written("export stage=live other='a  b'; cd ..")
        .await;
    let said = commands
        .judged("pwd; echo \"$other\"; env | grep '^stage='")
        .await;
    let root = commands.root();
    assert_eq!(said, format!("{}\na  b\nstage=live", root.display()));
    commands.written("unset stage other").await;
    assert_eq!(commands.judged("echo \"[$stage$other]\"").await, "[]");
}

#[tokio::test]
async fn tool_6_an_ordinary_command_leaves_nothing_but_its_directory() {
    for text in [
        "true",
        "echo a | cat; (x=1; cd sub)",
        "set -e; set +e; false",
        "exec true",
        "x=1 true",
    ] {
        let mut commands = Commands::new();
        commands.written(text).await;
        if let Some(shell) = &commands.shell {
            let nothing = ShellState {
                directory: commands.text("").trim_end_matches('/').to_owned(),
                ..ShellState::default()
            };
            assert_eq!(*shell.as_ref(), nothing, "{text}");
        }
    }
}

#[tokio::test]
async fn tool_6_functions_options_and_arrays_reach_commands_that_run_as_written() {
    let mut commands = Commands::new();
    commands
        .written(
            "greet() { echo \"hello $1\"; }; list=(a 'b c'); shopt -s nullglob; alias x=y; IFS=,",
        )
        .await;
    let said = commands
        .written("greet you; echo \"${list[1]}\"; echo *.none; alias x; echo a,b")
        .await;
    assert_eq!(said, "hello you\nb c\n\nalias x='y'\na,b");
    // And go on to last.
    let said = commands
        .written("greet \"${#list[@]}\"; set -o pipefail; false | true")
        .await;
    assert!(said.contains("hello 2"), "{said}");
    let said = commands.written("false | true").await;
    assert!(said.contains("Exit code 1"), "{said}");
    commands
        .written("set +o pipefail; unset -f greet; shopt -u nullglob")
        .await;
    assert_eq!(
        commands
            .written("false | true; type -t greet || echo none; echo *.none")
            .await,
        "none\n*.none"
    );
}

#[tokio::test]
async fn perm_3_no_function_option_or_alias_reaches_a_judged_command() {
    let mut commands = Commands::new();
    let evil = commands.text("sub/evil");
    commands
        .written(&format!(
            "ls() {{ touch {evil}; }}; echo() {{ touch {evil}; }}; export -f ls echo; shopt -s expand_aliases; alias pwd='touch {evil}'; set -f"
        ))
        .await;
    let said = commands.judged("ls; pwd; echo su*").await;
    assert!(said.ends_with("\nsub"), "{said}");
    assert!(!commands.root().join("sub/evil").exists());
    // They are still there for those who may have them.
    commands.written("ls").await;
    assert!(commands.root().join("sub/evil").exists());
}

#[tokio::test]
async fn perm_3_variables_that_change_programs_reach_only_what_runs_as_written() {
    let mut commands = Commands::new();
    let bin = commands.root().join("bin");
    fs::create_dir(&bin).unwrap();
    let fake = bin.join("ls");
    fs::write(&fake, "#!/bin/sh\necho fake\n").unwrap();
    fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let startup = commands.text("startup");
    fs::write(&startup, "echo startup\n").unwrap();
    commands
        .written(&format!(
            "export PATH={}:$PATH BASH_ENV={startup} LD_PRELOAD=/nothing.so GIT_PAGER=x NODE_OPTIONS=y",
            bin.display()
        ))
        .await;
    let said = commands
        .judged("ls; env | grep -c 'BASH_ENV\\|LD_PRELOAD\\|GIT_PAGER\\|NODE_OPTIONS'; true")
        .await;
    assert!(!said.contains("fake"), "{said}");
    assert!(said.ends_with("\n0"), "{said}");
    // A judged command between does not take them away.
    let said = commands.written("ls; echo $NODE_OPTIONS").await;
    assert!(said.starts_with("startup\nfake\ny"), "{said}");
    assert!(said.contains("/nothing.so"), "{said}");
    commands.written("export PATH=/none").await;
    assert_eq!(commands.judged("echo kept").await, "kept");
    let said = commands.written("echo $PATH; unset LD_PRELOAD").await;
    assert!(said.contains("/none"), "{said}");
}

#[tokio::test]
async fn tool_6_a_directory_that_is_gone_or_became_a_link_is_told_and_left() {
    let mut commands = Commands::new();
    let remove = |folder: &TempDir| fs::remove_dir(folder.path().join("sub")).unwrap();
    let link = |folder: &TempDir| {
        fs::create_dir(folder.path().join("other")).unwrap();
        std::os::unix::fs::symlink("other", folder.path().join("sub")).unwrap();
    };
    let both: [&dyn Fn(&TempDir); 2] = [&remove, &link];
    for spoil in both {
        let inside = ShellState {
            directory: commands.text("sub"),
            ..ShellState::default()
        };
        commands.shell = Some(Box::new(inside));
        spoil(&commands.folder);
        let said = commands.judged("touch made").await;
        assert!(
            said.contains("Nothing was run. The next command begins in"),
            "{said}"
        );
        assert_eq!(
            commands.shell().directory,
            commands.root().to_str().unwrap()
        );
        assert!(!commands.root().join("other/made").exists());
    }
    commands.shell = Some(Box::new(ShellState {
        directory: commands.text("gone"),
        ..ShellState::default()
    }));
    let said = commands.written("pwd").await;
    assert!(
        said.contains("Nothing was run. The next command begins in"),
        "{said}"
    );
    assert_eq!(
        commands.written("pwd").await,
        commands.root().to_str().unwrap()
    );
}

#[tokio::test]
async fn tool_6_no_key_and_nothing_of_a_command_in_the_background_lasts() {
    let mut commands = Commands::new();
    commands
        .written("export ANTHROPIC_API_KEY=k ANTHROPIC_AUTH_TOKEN=t OPENAI_API_KEY=o OTHER=y")
        .await;
    let shown = "echo \"$ANTHROPIC_API_KEY,$ANTHROPIC_AUTH_TOKEN,$OPENAI_API_KEY,$OTHER\"";
    assert_eq!(commands.written(shown).await, ",,,y");
    let left = commands.shell().clone();
    let line = "cd sub; export OTHER=z MORE=1; later() { :; }";
    let input = json!({ "command": line, "run_in_background": true });
    commands.call_with(&input, ApprovedCommand::AsWritten).await;
    assert_eq!(*commands.shell(), left);
}

#[tokio::test]
async fn tool_6_what_a_command_says_is_the_same_with_the_report() {
    let mut commands = Commands::new();
    for (text, expected) in [
        (
            "echo (",
            "Exit code 2\nbash: -c: line 1: syntax error near unexpected token `newline'\nbash: -c: line 1: `echo ('",
        ),
        ("exit 3", "Exit code 3"),
        ("set -x; echo a", "a\n+ echo a"),
        ("echo $0 $# $BASH_ENV", "bash 0"),
        ("trap 'echo bye' EXIT", "bye"),
        (
            "set -u; echo $nothing",
            "Exit code 127\nbash: line 1: nothing: unbound variable",
        ),
    ] {
        commands.shell = None;
        assert_eq!(commands.written(text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn tool_6_what_is_too_large_to_last_is_let_go() {
    let mut commands = Commands::new();
    let said = commands
        .written("small=1; big=$(head -c 100000 /dev/zero | tr '\\0' x); cd sub")
        .await;
    assert!(
        said.ends_with("Too large to be kept for the next command: the variable big."),
        "{said}"
    );
    assert_eq!(commands.shell().directory, commands.text("sub"));
    assert_eq!(commands.written("echo $small").await, "1");
}

#[tokio::test]
async fn tool_6_a_variable_that_lasts_may_be_set_again() {
    let mut commands = Commands::new();
    commands.judged("x=1; echo $x").await;
    assert_eq!(commands.judged("x=2; echo $x").await, "2");
    commands.judged("for f in a b; do echo $f; done").await;
    assert_eq!(
        commands.judged("for f in c; do echo $f$x; done").await,
        "c2"
    );
    // What programs are told of stays what it was.
    commands.written("export y=1").await;
    let said = commands.judged("y=2; echo $y").await;
    assert!(said.contains("programs are told of"), "{said}");
}
