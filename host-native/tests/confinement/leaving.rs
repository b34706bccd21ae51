//! What a confined command leaves behind: nothing that a command outside of the sandbox acts upon.

use std::{fs, path::Path, process::Command};

use serde_json::json;
use windlass::core::{
    host::CancelSignal,
    tool::{ApprovedCommand, CommandPlan, ShellState, ToolCall},
};

use crate::support::{Place, Ran};

/// Commands of one session, inside of the sandbox and outside.
struct Session {
    place: Place,
    shell: Option<Box<ShellState>>,
}

impl Session {
    fn new() -> Option<Self> {
        let place = Place::new(json!({}))?;
        Some(Self { place, shell: None })
    }

    async fn call(&mut self, mut call: ToolCall) -> Ran {
        call.shell.clone_from(&self.shell);
        let mut result = self.place.bash().call(&call, CancelSignal::new()).await;
        self.shell = result.shell.take().or(self.shell.take());
        result.into()
    }

    /// As it runs under `autoAllowBashIfSandboxed`.
    async fn inside(&mut self, line: &str) -> Ran {
        self.call(self.place.call(line)).await
    }

    /// As a person lets it run.
    async fn outside(&mut self, line: &str) -> Ran {
        let mut call = self.place.call(line);
        call.outside_sandbox = true;
        self.call(call).await
    }

    /// As rules let it run, excluded from the sandbox.
    async fn judged_outside(&mut self, line: &str) -> Ran {
        let mut call = self.place.call("false");
        call.outside_sandbox = true;
        let read = windlass_shell::read(line).unwrap();
        assert_eq!(read.obstacle, None, "{line}");
        let directory = match &self.shell {
            Some(shell) => shell.directory.clone(),
            None => call.grant.cwd.clone(),
        };
        call.command = Some(ApprovedCommand::Plan(CommandPlan {
            script: read.script,
            directory,
            ..CommandPlan::default()
        }));
        self.call(call).await
    }
}

#[tokio::test]
async fn variables_of_a_confined_command_are_for_confined_commands() {
    let Some(mut session) = Session::new() else {
        return;
    };
    session
        .outside("export kept=1 changed=before; PLAIN=text")
        .await;
    session
        .inside("export new=inside changed=after EDITOR=evil PATH=/none; unset kept; PLAIN=other")
        .await;
    let shown = "echo \"$new,$changed,$EDITOR,$kept,$PLAIN\"; env | grep -c '^EDITOR=evil'; true";
    let inside = session.inside(shown).await;
    assert_eq!(inside.stdout, "inside,after,,,other\n0\n", "{inside:?}");
    let outside = session.outside(shown).await;
    assert_eq!(outside.stdout, ",before,,1,text\n0\n", "{outside:?}");
    let judged = session
        .judged_outside("echo \"$new,$changed,$kept,$PLAIN\"; env | grep -c '^changed=before'")
        .await;
    assert_eq!(judged.stdout, ",before,1,text\n1\n", "{judged:?}");
    // What happens outside is seen inside, but where something else was set there.
    session.outside("export later=yes changed=again").await;
    let inside = session.inside("echo $later $changed $new").await;
    assert_eq!(inside.stdout, "yes after inside\n", "{inside:?}");
}

/// Makes a repository whose configuration names a program.
fn evil(folder: &str, marker: &Path) -> String {
    format!(
        "mkdir -p {folder} && cd {folder} && git init -q . && git config core.fsmonitor 'touch {}; false' && \
         echo x > a && git add a; ls -d .git",
        marker.display()
    )
}

#[tokio::test]
async fn git_outside_obeys_no_repository_that_was_made_inside() {
    let Some(mut session) = Session::new() else {
        return;
    };
    let marker = session.place.outside.join("marker");
    for folder in ["sub", "$IN"] {
        let made = session.inside(&evil(folder, &marker)).await;
        assert!(made.stdout.contains(".git"), "{made:?}");
        // Inside it is obeyed, and can touch nothing there.
        assert!(!marker.exists());
        for line in ["git status", "git log", "cd . && git status --short"] {
            let ran = session.judged_outside(line).await;
            assert!(ran.stderr.contains("dubious ownership"), "{line}: {ran:?}");
            assert!(!marker.exists(), "{folder}: {line}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn git_outside_uses_the_repository_that_was_there() {
    let Some(mut session) = Session::new() else {
        return;
    };
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(&session.place.inside)
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    fs::create_dir(session.place.inside.join("sub")).unwrap();
    session.inside("echo x > sub/a; cd sub").await;
    let ran = session
        .judged_outside("git add a && git status --short")
        .await;
    assert_eq!(ran.stdout, "A  a\n", "{ran:?}");
}
