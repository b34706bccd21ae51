//! Hooks in settings: commands that run when something happens.

use serde::{Deserialize, Deserializer, de};
use windlass_core::{
    RawJson,
    hook::{FailurePolicy, HookEvent, HookMatcher, Matcher, timeout_from_seconds},
    json::RawObject,
    permission::{Source, nearest_name},
};

/// How long a command may take where nothing is said: a minute.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;

/// Events of Claude Code that never happen here. Its settings may have hooks of them: they are told of.
const EVENTS_ELSEWHERE: [&str; 8] = [
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "MessageDisplay",
    "PostModelSwitch",
    "PreModelSwitch",
    "TaskCreated",
];

/// Kinds of hooks of Claude Code that do not run here, likewise.
const KINDS_ELSEWHERE: [&str; 4] = ["agent", "http", "mcp_tool", "prompt"];

/// The `hooks` of a settings file: `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…",
/// "timeout": 5}]}]}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookSettings {
    /// The commands, in the order of the file.
    pub commands: Vec<(HookMatcher, Vec<CommandHook>)>,
    /// What is known and does not run here, in words: events and kinds of hooks that only Claude Code has.
    pub ignored: Vec<String>,
}

/// A command that is a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandHook {
    /// The name under which the core knows it. The same command has the same name: it runs once an occurrence.
    pub name: String,
    /// The line for the shell.
    pub command: String,
    /// Milliseconds it may take.
    pub timeout_ms: u64,
    /// Nobody waits for it, or reads what it writes (`"async": true`).
    pub is_async: bool,
}

/// The hooks of all sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsHooks {
    /// For the core.
    pub matchers: Vec<HookMatcher>,
    /// For whoever runs them, each command once.
    pub commands: Vec<CommandHook>,
    /// What is not run, in words.
    pub ignored: Vec<String>,
}

impl SettingsHooks {
    pub(super) fn add(&mut self, source: Source, settings: &HookSettings) {
        for (matcher, commands) in &settings.commands {
            // Each command has a time of its own.
            for command in commands {
                self.matchers.push(HookMatcher {
                    hooks: vec![command.name.clone()],
                    timeout_ms: command.timeout_ms,
                    source: source.words().to_owned(),
                    ..matcher.clone()
                });
                if !self.commands.iter().any(|known| known.name == command.name) {
                    self.commands.push(command.clone());
                }
            }
        }
        self.ignored.extend(settings.ignored.iter().cloned());
    }
}

impl<'de> Deserialize<'de> for HookSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Group {
            #[serde(default)]
            matcher: Option<String>,
            hooks: Vec<RawJson>,
        }
        let raw = RawJson::deserialize(deserializer)?;
        let events = RawObject::parse(raw.get())
            .map_err(|error| de::Error::custom(format!("`hooks`: {}", error.reason)))?;
        let mut read = Self::default();
        for (name, groups) in events.fields() {
            let fault = |problem: String| de::Error::custom(format!("`hooks.{name}`: {problem}"));
            let Some(event) = HookEvent::parse(name) else {
                let known = EVENTS_ELSEWHERE.contains(&name);
                known.then_some(()).ok_or_else(|| fault(no_event(name)))?;
                read.ignored.push(format!("hooks of the event {name}"));
                continue;
            };
            let groups: Vec<Group> = groups.decode().map_err(|error| fault(error.reason))?;
            for group in groups {
                let matcher = Matcher::parse(group.matcher.as_deref().unwrap_or_default())
                    .map_err(|error| fault(error.to_string()))?;
                let mut commands = Vec::new();
                for hook in group.hooks {
                    match command(&hook).map_err(fault)? {
                        Ok(command) => commands.push(command),
                        Err(kind) => read
                            .ignored
                            .push(format!("{name} hooks of the type {kind}")),
                    }
                }
                let matcher = HookMatcher {
                    matcher,
                    // A program that fails says nothing; only the exit code 2 refuses.
                    on_failure: Some(FailurePolicy::Continue),
                    ..HookMatcher::of(event)
                };
                read.commands.push((matcher, commands));
            }
        }
        Ok(read)
    }
}

/// A command, or the kind of hook that it is instead.
fn command(raw: &RawJson) -> Result<Result<CommandHook, String>, String> {
    #[derive(Deserialize)]
    struct Form {
        r#type: String,
        #[serde(default)]
        command: Option<String>,
        #[serde(default)]
        timeout: Option<f64>,
        #[serde(default)]
        r#async: bool,
    }
    let form: Form = raw.decode().map_err(|error| error.reason)?;
    match form.r#type.as_str() {
        "command" => {}
        kind if KINDS_ELSEWHERE.contains(&kind) => return Ok(Err(form.r#type)),
        kind => return Err(no_kind(kind)),
    }
    let command = form.command.filter(|command| !command.trim().is_empty());
    let command = command.ok_or("a hook of the type command needs a `command`")?;
    let timeout_ms = match form.timeout {
        Some(seconds) => timeout_from_seconds(seconds).map_err(|error| error.to_string())?,
        None => DEFAULT_TIMEOUT_MS,
    };
    Ok(Ok(CommandHook {
        name: format!("command: {command}"),
        command,
        timeout_ms,
        is_async: form.r#async,
    }))
}

/// Nobody knows when such hooks were to run: what they guard would be open.
fn no_event(name: &str) -> String {
    let here = HookEvent::ALL.into_iter().map(HookEvent::name);
    let known: Vec<&str> = here.chain(EVENTS_ELSEWHERE).collect();
    match nearest_name(name, &known) {
        Some(meant) => format!("no event is named so: did you mean `{meant}`?"),
        None => format!(
            "no event is named so, and such hooks would never run; there are {}",
            known.join(", ")
        ),
    }
}

/// Nobody knows how to run it.
fn no_kind(kind: &str) -> String {
    let known: Vec<&str> = KINDS_ELSEWHERE.into_iter().chain(["command"]).collect();
    match nearest_name(kind, &known) {
        Some(meant) => format!("no `type` of a hook is named `{kind}`: did you mean `{meant}`?"),
        None => format!("no `type` of a hook is named `{kind}`, and such a hook would never run: `command` does"),
    }
}
