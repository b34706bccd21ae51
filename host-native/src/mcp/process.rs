//! The process of a server: started in its own process group, monitored, and ended.

use std::{
    collections::VecDeque,
    io,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::watch,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::stdio::StdioServer;
use crate::{
    child,
    os::{Group, Kill},
    redact::{RedactedReader, Redactor},
};

/// How long a server has to end after its input was closed, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// The number of bytes of its standard error that are kept: enough for the end of a stack trace.
const LAST_WORDS: usize = 2048;

/// How long to wait for the process to exit after its output was closed, to report how it ended.
const BETWEEN_ENDS: Duration = Duration::from_secs(1);

/// A server's process. When the last clone is dropped, the process and everything in its group are ended.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// How it ended, once it has.
    ended: watch::Receiver<Option<String>>,
    last_words: LastWords,
    stop: Arc<Stop>,
}

/// Tells the monitoring task that the server is no longer needed.
#[derive(Debug)]
struct Stop(CancellationToken);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Process {
    /// Starts a server's process, and returns its pipes.
    pub(super) fn start(
        server: &StdioServer,
    ) -> io::Result<(Self, RedactedReader<ChildStdout>, ChildStdin)> {
        let mut command = Command::from(child::command(&server.command));
        command
            .args(&server.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        // If this contains a key, the server's own configuration named it.
        command.envs(&server.env);
        if let Some(directory) = &server.directory {
            command.current_dir(directory);
        }
        Group::expect();
        let mut child = child::spawn(&mut command)?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(output), Some(input), Some(errors)) = pipes else {
            return Err(io::Error::other("its pipes could not be opened"));
        };
        let (tell, ended) = watch::channel(None);
        let stop = CancellationToken::new();
        let output = RedactedReader::new(output, &server.redactor);
        let last_words = LastWords::new(server.redactor.clone());
        tokio::spawn(last_words.clone().listen(errors));
        tokio::spawn(watch(child, tell, stop.clone()));
        let process = Self {
            ended,
            last_words,
            stop: Arc::new(Stop(stop)),
        };
        Ok((process, output, input))
    }

    /// Ends the server and waits for it.
    pub(super) async fn end(&self) {
        self.stop.0.cancel();
        let mut ended = self.ended.clone();
        // An error means that the monitoring task is gone, and the server with it.
        let _ = ended.wait_for(Option::is_some).await;
    }

    /// How it ended, with the end of its standard error; for a server that no longer answers.
    pub(super) async fn epitaph(&self) -> String {
        let mut ended = self.ended.clone();
        let how = timeout(BETWEEN_ENDS, ended.wait_for(Option::is_some)).await;
        let how = match how {
            Ok(Ok(how)) => how.clone().unwrap_or_default(),
            _ => "it closed its output".to_owned(),
        };
        match self.last_words.text() {
            said if said.is_empty() => how,
            said => format!("{how}; its last words: {said}"),
        }
    }
}

/// Waits for a server to exit, or ends it.
async fn watch(mut child: Child, tell: watch::Sender<Option<String>>, stop: CancellationToken) {
    let mut group = Group::new(child.id());
    let ended = tokio::select! {
        ended = child.wait() => ended,
        () = stop.cancelled() => end(&mut child, &mut group).await,
    };
    // Kills everything that it has started.
    drop(group);
    let how = ended.map_or_else(|error| format!("it was lost: {error}"), describe);
    // The receiver may be gone.
    let _ = tell.send(Some(how));
}

/// Its input is closed now or soon, so a server that follows the protocol exits by itself.
async fn end(child: &mut Child, group: &mut Group) -> io::Result<ExitStatus> {
    if let Ok(ended) = timeout(GRACE, child.wait()).await {
        return ended;
    }
    group.signal(Kill::Ask);
    if let Ok(ended) = timeout(GRACE, child.wait()).await {
        return ended;
    }
    group.signal(Kill::Force);
    child.wait().await
}

fn describe(status: ExitStatus) -> String {
    format!("it ended with {status}")
}

/// The end of a server's standard error.
#[derive(Debug, Clone)]
struct LastWords {
    kept: Arc<Mutex<VecDeque<u8>>>,
    redactor: Redactor,
}

impl LastWords {
    fn new(redactor: Redactor) -> Self {
        let kept = Arc::default();
        Self { kept, redactor }
    }

    async fn listen(self, errors: ChildStderr) {
        // Keys are removed before the text is truncated, since a truncated key would not be found.
        let mut errors = RedactedReader::new(errors, &self.redactor);
        let mut part = vec![0; 4096];
        while let Some(heard) = read(&mut errors, &mut part).await {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(heard);
            let excess = kept.len().saturating_sub(LAST_WORDS);
            kept.drain(..excess);
        }
    }

    fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous());
        text.trim().to_owned()
    }
}

/// The next bytes of a stream; `None` at its end or on an error.
async fn read<'a>(from: &mut (impl AsyncRead + Unpin), into: &'a mut [u8]) -> Option<&'a [u8]> {
    let read = from.read(into).await.ok().filter(|&read| read > 0)?;
    into.get(..read)
}
