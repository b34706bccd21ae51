//! Shell commands as hooks, as settings files name them.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    time::Duration,
};

use futures_util::stream::{self, BoxStream, StreamExt};
use windlass_core::{
    EffectId,
    effect::Answer,
    hook::{HookAnswer, HookCall},
    host::CancelSignal,
};

use crate::{
    bash::{
        Exit,
        process::{Finished, Job},
    },
    host::RunHook,
};

/// Bytes of an answer that are read.
const MAX_ANSWER: usize = 1024 * 1024;

/// What the core's time is over for is stopped by its signal; this is the edge beyond which something is wrong.
const BEYOND_TIMEOUT: Duration = Duration::from_secs(30);

/// A command that is a hook: it reads what happened as JSON from standard input, and answers by its exit code and what
/// it writes ([`HookAnswer::Exited`]).
///
/// It runs in the project's folder, in a shell and a process group of its own, with the environment of this process and
/// `CLAUDE_PROJECT_DIR`. When its time is over, or the run is interrupted, the whole group is asked to end, and two
/// seconds later made to.
#[derive(Debug, Clone)]
pub struct HookCommand {
    command: String,
    project: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl HookCommand {
    /// A command line for `sh`, run in the project's folder.
    pub fn new(command: impl Into<String>, project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        let variable = (OsString::from("CLAUDE_PROJECT_DIR"), project.clone().into());
        Self {
            command: command.into(),
            project,
            variables: vec![variable],
        }
    }

    /// The same with further variables: the `env` of settings.
    #[must_use]
    pub fn with_variables<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let more = variables.into_iter().map(|(k, v)| (k.into(), v.into()));
        self.variables.extend(more);
        self
    }

    async fn answer(self, call: HookCall, cancel: CancelSignal) -> Answer {
        let job = Job {
            shell: OsStr::new("sh"),
            command: &self.command,
            directory: &self.project.to_string_lossy(),
            hidden: &[],
            variables: &self.variables,
            input: Some(call.input.get().as_bytes()),
            max_stdout: MAX_ANSWER,
            time: Duration::from_millis(call.timeout_ms) + BEYOND_TIMEOUT,
        };
        match job.run(cancel).await {
            Ok(finished) => answer_of(&finished),
            Err(error) => Answer::Hook(HookAnswer::Failed(error.to_string())),
        }
    }
}

impl RunHook for HookCommand {
    fn run(
        &self,
        _id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        stream::once(self.clone().answer(call, cancel)).boxed()
    }
}

fn answer_of(finished: &Finished) -> Answer {
    let code = match finished.exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) => None,
        Exit::OutOfTime | Exit::Cancelled => return Answer::Cancelled,
    };
    Answer::Hook(HookAnswer::Exited {
        code,
        stdout: finished.stdout.shown(),
        stderr: finished.stderr.shown(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass_core::{
        RawJson,
        hook::{HookEvent, HookKind},
        id::{SessionId, Stage},
    };

    use super::*;

    async fn run(command: HookCommand, cancel: CancelSignal) -> Answer {
        let id = EffectId {
            session: SessionId::from_random([1; 16]),
            agent: 0,
            turn: 1,
            call: 0,
            stage: Stage::Hook(HookEvent::Stop, 1),
            attempt: 1,
        };
        let call = HookCall {
            hook: "h".into(),
            event: HookEvent::Stop,
            input: RawJson::parse(format!(r#"{{"text":"{}"}}"#, "x".repeat(200_000))).unwrap(),
            tool_use_id: None,
            timeout_ms: 60_000,
            kind: HookKind::Trusted,
        };
        let answers: Vec<Answer> = command.run(id, call, cancel).collect().await;
        assert_eq!(answers.len(), 1);
        answers.into_iter().next().unwrap()
    }

    async fn answered(command: &str, project: &Path) -> (Option<i32>, String, String) {
        let hook = HookCommand::new(command, project).with_variables([("MORE", "more")]);
        match run(hook, CancelSignal::new()).await {
            Answer::Hook(HookAnswer::Exited {
                code,
                stdout,
                stderr,
            }) => (code, stdout, stderr),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn hook_5_a_command_reads_the_input_and_answers_by_code_and_output() {
        let dir = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(dir.path()).unwrap();
        let (code, stdout, _) =
            answered("wc -c; echo \"$CLAUDE_PROJECT_DIR $MORE\"; pwd", &project).await;
        let shown = project.display();
        let lines: Vec<&str> = stdout.lines().map(str::trim).collect();
        assert_eq!(code, Some(0));
        assert_eq!(
            lines,
            ["200011", &format!("{shown} more"), &shown.to_string()]
        );
        let refused = answered("echo no >&2; exit 2", &project).await;
        assert_eq!(refused, (Some(2), String::new(), "no\n".into()));
        let killed = answered("kill -9 $$", &project).await;
        assert_eq!(killed.0, None);
        // Who does not read the input is none the worse for it.
        assert_eq!(answered("exec <&-; exit 3", &project).await.0, Some(3));
    }

    #[tokio::test]
    async fn hook_5_a_command_that_is_stopped_takes_its_children_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let command = "sleep 1000000 & echo $! > part; mv part pid; wait";
        let cancel = CancelSignal::new();
        let running = tokio::spawn(run(HookCommand::new(command, dir.path()), cancel.clone()));
        while !pid.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        assert_eq!(running.await.unwrap(), Answer::Cancelled);
        let child: u32 = std::fs::read_to_string(pid)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        // A signal that was sent takes its time. Gone is also who waits for whoever collects orphans.
        let lives = || {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat"));
            state.is_ok_and(|state| !state.contains(" Z "))
        };
        while lives() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn hook_5_a_command_that_cannot_start_has_failed() {
        let hook = HookCommand::new("true", "/no/such/folder");
        let answer = run(hook, CancelSignal::new()).await;
        assert!(
            matches!(answer, Answer::Hook(HookAnswer::Failed(reason)) if reason.contains("/no/such/folder"))
        );
    }
}
