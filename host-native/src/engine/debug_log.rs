//! A log of what an engine does (`--debug`, `--debug-file`, `DEBUG`; Agent SDK reference, `debug`, `debugFile`).
//!
//! A line says what happens, when, and how it ended. The log contains no messages to or from the model and tools, no
//! headers and no settings, so it can be shared. The exception is command lines, in the form in which they are run,
//! which may differ from the model's text that is shown elsewhere. They have the topic `commands` and are omitted
//! unless it is included. What components of plugins log has the topic `plugins`, with the paths that were refused to them.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use windlass_core::{
    UnixMillis,
    effect::Answer,
    tool::{ApprovedCommand, ToolCall},
};
use windlass_engine::machine::Topic;

use super::{launch::Launch, start_error::StartError};
use crate::{plugins::LogSink, redact::Redactor, store::LineFile};

/// The destination of log lines. Cloning is cheap; without a log, nothing is done.
#[derive(Clone, Default)]
pub(super) struct DebugLog(Option<Arc<Log>>);

struct Log {
    /// `None` for standard error.
    file: Option<Mutex<LogFile>>,
    /// The topics to log; all if empty.
    wanted: Vec<String>,
    unwanted: Vec<String>,
    /// Removes keys that occur in texts of others.
    redactor: Redactor,
}

struct LogFile {
    path: String,
    lines: LineFile,
    /// Whether lines are missing because of an error that was reported.
    is_broken: bool,
}

impl DebugLog {
    /// Opens the log if one was requested. A file is appended to; missing folders are created.
    pub(super) fn open(launch: &Launch) -> Result<Self, StartError> {
        let flags = &launch.flags;
        let file = match &flags.debug_file {
            None if !flags.debug => return Ok(Self::default()),
            None => None,
            Some(path) => {
                let lines = opened(Path::new(path)).map_err(|error| StartError::File {
                    flag: "debug-file",
                    path: path.clone(),
                    reason: error.to_string(),
                })?;
                Some(Mutex::new(LogFile {
                    path: path.clone(),
                    lines,
                    is_broken: false,
                }))
            }
        };
        let (unwanted, wanted) = (flags.debug_topics.iter())
            .map(|topic| (topic.strip_prefix('!'), topic))
            .partition::<Vec<_>, _>(|(not, _)| not.is_some());
        Ok(Self(Some(Arc::new(Log {
            file,
            wanted: wanted.into_iter().map(|(_, name)| name.clone()).collect(),
            unwanted: unwanted
                .into_iter()
                .filter_map(|(not, _)| not.map(ToOwned::to_owned))
                .collect(),
            redactor: launch.redactor(),
        }))))
    }

    /// Writes a line, if its topic is logged.
    pub(super) fn note(&self, topic: Topic, text: impl FnOnce() -> String) {
        if let Some(log) = self.0.as_ref().filter(|log| log.wants(topic)) {
            log.write(topic, &text());
        }
    }

    /// Where components of plugins log. What they say is of others: it stands in quotes, and cannot act in a terminal.
    pub(super) fn of_plugins(&self) -> LogSink {
        if self.0.is_none() {
            return LogSink::default();
        }
        let log = self.clone();
        LogSink::new(move |line| {
            log.note(Topic::Plugins, || {
                let from = if line.from_host {
                    "the host about "
                } else {
                    ""
                };
                format!(
                    "{from}{}: {:?}: {:?}",
                    line.component, line.level, line.message
                )
            });
        })
    }

    /// Logs that an effect starts; the [`Watch`] logs its outcome.
    pub(super) fn begins(&self, topic: Topic, what: impl FnOnce() -> String) -> Watch {
        let wanted = self.0.as_ref().filter(|log| log.wants(topic));
        Watch(wanted.map(|log| {
            let what = what();
            log.write(topic, &format!("{what} begins"));
            Watched {
                log: Arc::clone(log),
                topic,
                what,
                begun: Instant::now(),
            }
        }))
    }
}

/// A running effect.
pub(super) struct Watch(Option<Watched>);

struct Watched {
    log: Arc<Log>,
    topic: Topic,
    what: String,
    begun: Instant,
}

impl Watch {
    /// Logs an answer, unless it is only a part.
    pub(super) fn saw(&self, answer: &Answer) {
        let Some(watched) = &self.0 else { return };
        let Some(how) = outcome(answer) else { return };
        let ms = watched.begun.elapsed().as_millis();
        let line = format!("{} {how} after {ms} ms", watched.what);
        watched.log.write(watched.topic, &line);
    }
}

impl Log {
    fn wants(&self, topic: Topic) -> bool {
        let names = |list: &[String]| list.iter().any(|name| name == topic.name());
        !names(&self.unwanted) && (self.wanted.is_empty() || names(&self.wanted))
    }

    fn write(&self, topic: Topic, text: &str) {
        // A clock set before 1970 counts as 1970.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let at = UnixMillis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX)).to_rfc3339();
        let line = format!(
            "{at} [DEBUG] {}: {}",
            topic.name(),
            text.replace('\n', "\\n")
        );
        let line = self.redactor.text(&line);
        match &self.file {
            None => anstream::eprintln!("{line}"),
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write(&line);
            }
        }
    }
}

impl LogFile {
    /// An error of the log must not stop the engine; it is reported once.
    fn write(&mut self, line: &str) {
        let written = self.lines.append(format!("{line}\n").as_bytes());
        if let (Err(error), false) = (&written, self.is_broken) {
            let path = &self.path;
            anstream::eprintln!("windlass: --debug-file `{path}`: {error}; lines are missing");
        }
        self.is_broken = written.is_err();
    }
}

/// Opens the file for its owner only.
fn opened(path: &Path) -> std::io::Result<LineFile> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)?;
    }
    LineFile::open(path)
}

/// The outcome of an effect, without its contents.
fn outcome(answer: &Answer) -> Option<String> {
    Some(match answer {
        Answer::HttpHead { status, .. } => format!("is answered with {status}"),
        Answer::HttpEnd => "is complete".to_owned(),
        Answer::HttpFailed(failure) => format!("failed ({:?})", failure.kind),
        Answer::Tool(result) if result.is_error => "gave an error".to_owned(),
        Answer::Tool(_) => "is done".to_owned(),
        Answer::Hook(windlass_core::hook::HookAnswer::Failed(_)) => "failed".to_owned(),
        Answer::Hook(_) => "is done".to_owned(),
        Answer::Cancelled => "was cancelled".to_owned(),
        _ => return None,
    })
}

/// The command of a call: the approved line printed from its tree, or the text as the model wrote it.
pub(super) fn what_runs(call: &ToolCall, approved: &ApprovedCommand) -> String {
    let id = &call.tool_use_id;
    match approved {
        ApprovedCommand::Plan(plan) => {
            let line = windlass_shell::print_for_people(&plan.script, &|_| None);
            format!("{id} runs as judged: {}", line.trim_end())
        }
        ApprovedCommand::AsWritten => {
            #[derive(serde::Deserialize)]
            struct Input {
                command: String,
            }
            match call.input.decode::<Input>() {
                Ok(Input { command }) => format!("{id} runs as written: {command}"),
                Err(error) => format!("{id} runs nothing: its input is {error}"),
            }
        }
    }
}
