//! What an engine does, line by line, for whoever asked for it (`--debug`, `--debug-file`, `DEBUG`; Agent SDK reference,
//! `debug`, `debugFile`).
//!
//! Lines say what happens, when, and how it ended. What is said to the model and to tools, what they say, headers and
//! settings are not among them: a log can be shown around. Only command lines stand in it, in the form in which they run: the
//! text of the model, which everybody else is shown, need not be that. Without the topic `commands` they are left out.

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

use super::{build::StartError, launch::Launch};
use crate::{redact::Redactor, store::LineFile};

/// What a line is about; `--debug=api,!tools` chooses among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// How the engine begins and ends, and what it was told that has no effect.
    Engine,
    /// Requests of the SDK.
    Control,
    /// Requests to the model server.
    Api,
    /// Calls of tools.
    Tools,
    /// Command lines, as they run.
    Commands,
    /// Hooks.
    Hooks,
    /// Questions whether a call may run.
    Permissions,
    /// MCP servers.
    Mcp,
    /// What the session says.
    Session,
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Control => "control",
            Self::Api => "api",
            Self::Tools => "tools",
            Self::Commands => "commands",
            Self::Hooks => "hooks",
            Self::Permissions => "permissions",
            Self::Mcp => "mcp",
            Self::Session => "session",
        }
    }
}

/// Where lines go. Cloning is cheap; without a log nothing is done at all.
#[derive(Clone, Default)]
pub(super) struct DebugLog(Option<Arc<Log>>);

struct Log {
    /// None for standard error.
    file: Option<Mutex<LogFile>>,
    /// Topics that are wanted; all where none is named.
    wanted: Vec<String>,
    unwanted: Vec<String>,
    /// Should a key ever come up in words of others, it is left out.
    redactor: Redactor,
}

struct LogFile {
    path: String,
    lines: LineFile,
    /// Lines are missing, which was told.
    is_broken: bool,
}

impl DebugLog {
    /// The log that was asked for, if one was. A file is appended to; folders are made.
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

    /// Writes a line, if somebody wants to read it.
    pub(super) fn note(&self, topic: Topic, text: impl FnOnce() -> String) {
        if let Some(log) = self.0.as_ref().filter(|log| log.wants(topic)) {
            log.write(topic, &text());
        }
    }

    /// Notes that an effect begins; what comes of it is for the [`Watch`] to see.
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

/// An effect that is under way.
pub(super) struct Watch(Option<Watched>);

struct Watched {
    log: Arc<Log>,
    topic: Topic,
    what: String,
    begun: Instant,
}

impl Watch {
    /// Notes an answer, unless it is only a piece of what is coming.
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
    /// A log that cannot be written must not stop what it tells of; that lines are missing is told once.
    fn write(&mut self, line: &str) {
        let written = self.lines.append(format!("{line}\n").as_bytes());
        if let (Err(error), false) = (&written, self.is_broken) {
            let path = &self.path;
            anstream::eprintln!("windlass: --debug-file `{path}`: {error}; lines are missing");
        }
        self.is_broken = written.is_err();
    }
}

/// For its owner's eyes only.
fn opened(path: &Path) -> std::io::Result<LineFile> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)?;
    }
    LineFile::open(path)
}

/// How an effect went on, without anything of what it is about.
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

/// The name of a variant, without what it holds.
pub(super) fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars()
        .take_while(|letter| letter.is_ascii_alphanumeric())
        .collect()
}

/// What a call runs: the line that was judged, printed from its tree, or the text as the model wrote it.
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
