//! Shell commands as hooks, as in settings files.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use serde::Deserialize;
use tokio::{sync::mpsc, task::JoinSet};
use windlass_core::{
    EffectId, RawJson,
    effect::Answer,
    hook::{HookAnswer, HookCall},
    host::CancelSignal,
};

use crate::{
    bash::{
        Exit,
        background::Text,
        process::{Finished, Job, Listeners, RunError},
    },
    host::RunHook,
    sandbox::Spawner,
};

/// The maximum number of bytes read of an answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// The exit code that means refusal.
const REFUSED: i32 = 2;

/// The core stops a hook by its signal at the timeout; this is the margin after which something is wrong.
const BEYOND_TIMEOUT: Duration = Duration::from_secs(30);

/// The default timeout of an asynchronous hook.
const ASYNC_TIMEOUT: Duration = Duration::from_secs(15);

/// The maximum number of output bytes reported while a command runs. The rest is only in the answer.
const MAX_TOLD: usize = 64 * 1024;

/// The maximum length in bytes of the first line that makes a hook asynchronous.
const LONGEST_FIRST_LINE: usize = 4096;

/// A command that serves as a hook: it reads the event as JSON from standard input, and answers by its exit code and
/// output ([`HookAnswer::Exited`]).
///
/// Its output is reported in pieces while it runs ([`Answer::HookProgress`]), up to 64 KiB.
///
/// It runs in the project's folder, in a shell with its own process group, with the environment of this process and
/// `CLAUDE_PROJECT_DIR`. At its timeout, or when the run is interrupted, the whole process group is asked to end and
/// two seconds later killed.
///
/// A command whose first line is `{"async": true}` (optionally with `"asyncTimeout"` in milliseconds, default 15
/// seconds) becomes asynchronous: it is not waited for, and later output is not read. It is killed at its timeout,
/// and when all clones of this value are dropped.
#[derive(Debug, Clone)]
pub struct HookCommand {
    command: String,
    project: PathBuf,
    variables: Vec<(OsString, OsString)>,
    /// Asynchronous from the start.
    is_async: bool,
    going_on: Arc<Mutex<JoinSet<()>>>,
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
            is_async: false,
            going_on: Arc::default(),
        }
    }

    /// The command line.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// Makes the command asynchronous: it is not waited for and its answer is not read. Its timeout is that of the registration.
    #[must_use]
    pub fn going_on_by_itself(mut self) -> Self {
        self.is_async = true;
        self
    }

    /// Adds environment variables: the `env` of settings.
    #[must_use]
    pub fn with_variables<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let more = variables.into_iter().map(|(k, v)| (k.into(), v.into()));
        self.variables.extend(more);
        self
    }

    async fn answer(
        self,
        call: HookCall,
        cancel: CancelSignal,
        progress: mpsc::Sender<Answer>,
    ) -> Answer {
        let going_on = Arc::clone(&self.going_on);
        let time = Duration::from_millis(call.timeout_ms);
        let judges = call.event.judges_calls();
        if self.is_async {
            let running = self.finish(call, CancelSignal::new(), Listeners::default());
            go_on(&going_on, running, time);
            return async_answer();
        }
        let (writes, mut written) = mpsc::channel(1);
        let (complains, mut complained) = mpsc::channel(1);
        let listeners = Listeners {
            stdout: Some(writes),
            stderr: Some(complains),
        };
        let mut running = self.finish(call, cancel, listeners).boxed();
        let mut said = FirstLine::default();
        let mut telling = Telling::new(progress);
        let finished = loop {
            tokio::select! {
                biased;
                Some(bytes) = written.recv() => {
                    if let Some(limit) = said.take(&bytes) {
                        // Its output is drained so that it does not block.
                        let draining = async move { while written.recv().await.is_some() {} };
                        let muted = async move { while complained.recv().await.is_some() {} };
                        let running = async move { tokio::join!(running, draining, muted) };
                        go_on(&going_on, running, limit.unwrap_or(ASYNC_TIMEOUT));
                        return async_answer();
                    }
                    telling.written(&bytes).await;
                }
                Some(bytes) = complained.recv() => telling.complained(&bytes).await,
                finished = &mut running => break finished,
            }
        };
        match finished {
            Ok(finished) => answer_of(&finished),
            // A command that failed has run, and its failure policy says what that means. One that could not run
            // should have guarded something.
            Err(error) if judges => Answer::Hook(HookAnswer::Exited {
                code: Some(REFUSED),
                stdout: String::new(),
                stderr: format!("the hook could not be run: {error}"),
            }),
            Err(error) => Answer::Hook(HookAnswer::Failed(error.to_string())),
        }
    }

    /// Runs the command to its end.
    async fn finish(
        self,
        call: HookCall,
        cancel: CancelSignal,
        listeners: Listeners,
    ) -> Result<Finished, RunError> {
        let job = Job {
            shell: OsStr::new("sh"),
            command: &self.command,
            directory: &self.project.to_string_lossy(),
            hidden: &[],
            variables: &self.variables,
            input: Some(call.input.get().as_bytes()),
            max_stdout: MAX_ANSWER,
            save_in: None,
            time: Some(Duration::from_millis(call.timeout_ms) + BEYOND_TIMEOUT),
            listeners,
            spawner: &Spawner::bare(),
            handles: Vec::new(),
        };
        job.run(cancel).await
    }
}

/// Lets an asynchronous command continue, up to a time limit.
fn go_on<T>(
    going_on: &Mutex<JoinSet<()>>,
    running: impl Future<Output = T> + Send + 'static,
    limit: Duration,
) {
    // A panic while the lock is held leaves the set unchanged.
    let mut going_on = going_on.lock().unwrap_or_else(PoisonError::into_inner);
    while going_on.try_join_next().is_some() {}
    going_on.spawn(async move {
        // At the timeout, dropping the future kills the command.
        let _ = tokio::time::timeout(limit, running).await;
    });
}

/// The answer to the core for an asynchronous hook.
fn async_answer() -> Answer {
    Answer::Hook(match RawJson::parse(r#"{"async":true}"#) {
        Ok(output) => HookAnswer::Output(output),
        Err(error) => HookAnswer::Failed(error.reason),
    })
}

/// Collects the first line of an output that comes in pieces.
#[derive(Default)]
struct FirstLine {
    begun: Vec<u8>,
    is_over: bool,
}

impl FirstLine {
    /// The timeout that the command asks for, if this piece completes a first line that makes it asynchronous.
    fn take(&mut self, bytes: &[u8]) -> Option<Option<Duration>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Async {
            r#async: bool,
            #[serde(default)]
            async_timeout: Option<u32>,
        }
        if self.is_over {
            return None;
        }
        let (line, is_whole) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (&bytes[..end], true),
            None => (bytes, false),
        };
        self.begun.extend_from_slice(line);
        // Some commands write the line end only when they exit: complete JSON also counts as a line.
        let said = serde_json::from_slice::<Async>(&self.begun).ok();
        self.is_over = is_whole || self.begun.len() > LONGEST_FIRST_LINE;
        let said = said.filter(|said| said.r#async)?;
        self.is_over = true;
        Some(
            said.async_timeout
                .map(|ms| Duration::from_millis(ms.into())),
        )
    }
}

impl RunHook for HookCommand {
    fn run(
        &self,
        _id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let (progress, told) = mpsc::channel(1);
        let running = Some(self.clone().answer(call, cancel, progress).boxed());
        let answers = Answers {
            told,
            running,
            ended: None,
        };
        stream::unfold(answers, Answers::next).boxed()
    }
}

/// The progress of a running command, followed by its answer.
struct Answers {
    told: mpsc::Receiver<Answer>,
    running: Option<BoxFuture<'static, Answer>>,
    ended: Option<Answer>,
}

impl Answers {
    async fn next(mut self) -> Option<(Answer, Self)> {
        if let Some(running) = &mut self.running {
            tokio::select! {
                biased;
                Some(piece) = self.told.recv() => return Some((piece, self)),
                answer = running => {
                    self.running = None;
                    self.ended = Some(answer);
                }
            }
        }
        match self.told.try_recv() {
            Ok(piece) => Some((piece, self)),
            Err(_) => self.ended.take().map(|answer| (answer, self)),
        }
    }
}

/// Reports a command's output while it runs, up to a limit.
struct Telling {
    progress: mpsc::Sender<Answer>,
    stdout: Text,
    stderr: Text,
    left: usize,
}

impl Telling {
    fn new(progress: mpsc::Sender<Answer>) -> Self {
        Self {
            progress,
            stdout: Text::default(),
            stderr: Text::default(),
            left: MAX_TOLD,
        }
    }

    async fn written(&mut self, bytes: &[u8]) {
        let stdout = self.stdout.take(within(bytes, &mut self.left));
        self.tell(stdout, String::new()).await;
    }

    async fn complained(&mut self, bytes: &[u8]) {
        let stderr = self.stderr.take(within(bytes, &mut self.left));
        self.tell(String::new(), stderr).await;
    }

    async fn tell(&self, stdout: String, stderr: String) {
        if !stdout.is_empty() || !stderr.is_empty() {
            // Nobody listens after the hook was abandoned.
            let _ = self
                .progress
                .send(Answer::HookProgress { stdout, stderr })
                .await;
        }
    }
}

/// The part of these bytes that may still be reported.
fn within<'b>(bytes: &'b [u8], left: &mut usize) -> &'b [u8] {
    let told = &bytes[..bytes.len().min(*left)];
    *left -= told.len();
    told
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
        effect::Stage,
        hook::{HookEvent, HookKind},
        id::uuid_v4,
    };

    use super::*;

    async fn run(command: HookCommand, cancel: CancelSignal) -> Answer {
        run_at(HookEvent::Stop, command, cancel).await
    }

    async fn run_at(event: HookEvent, command: HookCommand, cancel: CancelSignal) -> Answer {
        let id = EffectId {
            session: uuid_v4([1; 16]),
            agent: 0,
            turn: 1,
            call: 0,
            stage: Stage::Hook(event, 1),
            attempt: 1,
        };
        let call = HookCall {
            hook: "h".into(),
            event,
            input: RawJson::parse(format!(r#"{{"text":"{}"}}"#, "x".repeat(200_000))).unwrap(),
            tool_use_id: None,
            timeout_ms: 60_000,
            kind: HookKind::Trusted,
            deny: Vec::new(),
        };
        let mut answers: Vec<Answer> = command.run(id, call, cancel).collect().await;
        let answer = answers.pop().unwrap();
        let is_progress = |told: &Answer| matches!(told, Answer::HookProgress { .. });
        assert!(answers.iter().all(is_progress), "{answers:?}");
        answer
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
        // A command need not read its input.
        assert_eq!(answered("exec <&-; exit 3", &project).await.0, Some(3));
    }

    #[tokio::test]
    async fn conf_10_a_hook_that_judges_and_cannot_be_run_refuses() {
        let gone = tempfile::tempdir().unwrap().path().join("gone");
        let hook = || HookCommand::new("exit 0", &gone);
        let judging = run_at(HookEvent::PreToolUse, hook(), CancelSignal::new()).await;
        let refuses = matches!(
            &judging,
            Answer::Hook(HookAnswer::Exited { code: Some(2), .. })
        );
        assert!(refuses, "{judging:?}");
        let other = run_at(HookEvent::Stop, hook(), CancelSignal::new()).await;
        assert!(
            matches!(&other, Answer::Hook(HookAnswer::Failed(_))),
            "{other:?}"
        );
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
        // A signal takes time to arrive. A process that only waits to be reaped counts as gone.
        let lives = || {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat"));
            state.is_ok_and(|state| !state.contains(" Z "))
        };
        while lives() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn hook_5_a_command_goes_on_by_itself_once_it_has_said_so() {
        let dir = tempfile::tempdir().unwrap();
        let says = r#"printf '{"async": true, "asyncTimeout": 600000}\n'; "#;
        let waits = "while ! test -e go; do sleep 0.01; done; echo done > made; sleep 600000";
        let by_itself = HookCommand::new(format!("{says}{waits}"), dir.path());
        let from_the_start = HookCommand::new(waits, dir.path()).going_on_by_itself();
        for hook in [by_itself, from_the_start] {
            let answer = run(hook.clone(), CancelSignal::new()).await;
            let said = RawJson::parse(r#"{"async":true}"#).unwrap();
            assert_eq!(answer, Answer::Hook(HookAnswer::Output(said)));
            std::fs::write(dir.path().join("go"), "").unwrap();
            let made = dir.path().join("made");
            while !made.exists() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            std::fs::remove_file(made).unwrap();
            std::fs::remove_file(dir.path().join("go")).unwrap();
        }
    }

    #[test]
    fn hook_5_only_the_first_line_says_that_a_command_goes_on() {
        let said = |pieces: &[&str]| {
            let mut line = FirstLine::default();
            pieces.iter().find_map(|piece| line.take(piece.as_bytes()))
        };
        assert_eq!(said(&["{\"async\":", "true}\n"]), Some(None));
        let limit = Some(Some(Duration::from_millis(5)));
        assert_eq!(said(&["{\"async\":true,\"asyncTimeout\":5}"]), limit);
        assert_eq!(said(&["{\"async\":false}\n"]), None);
        assert_eq!(said(&["words\n{\"async\":true}\n"]), None);
        assert_eq!(said(&["{}\n", "{\"async\":true}\n"]), None);
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
