//! Hooks in settings: commands that run on events.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use windlass_core::{
    hook::{FailurePolicy, HookEvent, HookMatcher, Matcher, timeout_from_seconds},
    permission::{Source, nearest_name},
};

use crate::path::TextPath;

/// The default timeout of a command: one minute.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;

/// Events of Claude Code that never occur here. Its settings may contain hooks for them, which are reported as ignored.
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

/// Hook types of Claude Code that are not supported here, reported likewise.
const KINDS_ELSEWHERE: [&str; 4] = ["agent", "http", "mcp_tool", "prompt"];

/// The `hooks` of a settings file: `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…",
/// "timeout": 5}]}]}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookSettings {
    /// The commands, in file order.
    pub commands: Vec<(HookMatcher, Vec<CommandHook>)>,
    /// Events and hook types that only Claude Code supports, as text. They are known, but ignored.
    pub ignored: Vec<String>,
}

/// A hook command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandHook {
    /// The name under which the core knows it. Equal commands have equal names, so that each runs only once for an
    /// occurrence.
    pub name: String,
    /// The shell command line.
    pub command: String,
    /// The timeout in milliseconds.
    pub timeout_ms: u64,
    /// Whether it runs without being waited for, and its output is ignored (`"async": true`).
    pub is_async: bool,
    /// The folder of the plugin that brings it, which it finds in `CLAUDE_PLUGIN_ROOT`.
    pub plugin_root: Option<TextPath>,
}

/// The hooks of all sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsHooks {
    /// The matchers, for the core.
    pub matchers: Vec<HookMatcher>,
    /// The commands, each listed once, for the host that runs them.
    pub commands: Vec<CommandHook>,
    /// What is ignored, as text.
    pub ignored: Vec<String>,
}

impl SettingsHooks {
    /// Adds the hooks of a source.
    pub(crate) fn add(&mut self, source: Source, settings: &HookSettings) {
        for (matcher, commands) in &settings.commands {
            // Each command has its own timeout.
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
        deserializer.deserialize_map(Events)
    }
}

/// Deserializes hooks event by event. Everything is parsed in place, so that an error has the line and key of its cause.
struct Events;

impl<'de> Visitor<'de> for Events {
    type Value = HookSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list of hooks for each event")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<HookSettings, M::Error> {
        let mut read = HookSettings::default();
        while let Some(event) = map.next_key::<Event>()? {
            match event {
                Event::Here(event) => read.add(event, map.next_value()?),
                Event::Elsewhere(name) => {
                    let _: IgnoredAny = map.next_value()?;
                    read.ignored.push(format!("hooks of the event {name}"));
                }
            }
        }
        Ok(read)
    }
}

impl HookSettings {
    /// Makes them the hooks of a plugin in this folder.
    pub(crate) fn of_plugin(mut self, plugin: &str, folder: &TextPath) -> Self {
        let commands = self.commands.iter_mut().flat_map(|(_, hooks)| hooks);
        for hook in commands {
            // Another plugin may have the same command line for a program of its own.
            if !hook.command.contains(folder.as_str()) {
                hook.name.push_str(&format!(" (plugin {plugin})"));
            }
            hook.plugin_root = Some(folder.clone());
        }
        self
    }

    fn add(&mut self, event: HookEvent, groups: Vec<Group>) {
        for group in groups {
            let matcher = HookMatcher {
                matcher: group.matcher,
                // A failing program has no effect; only the exit code 2 blocks.
                on_failure: Some(FailurePolicy::Continue),
                ..HookMatcher::of(event)
            };
            let mut commands = Vec::new();
            for hook in group.hooks {
                match hook {
                    Hook::Command(command) => commands.push(command),
                    Hook::Elsewhere(kind) => self
                        .ignored
                        .push(format!("{} hooks of the type {kind}", event.name())),
                }
            }
            self.commands.push((matcher, commands));
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
enum Event {
    Here(HookEvent),
    Elsewhere(String),
}

impl TryFrom<String> for Event {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match HookEvent::parse(&name) {
            Some(event) => Ok(Self::Here(event)),
            None if EVENTS_ELSEWHERE.contains(&name.as_str()) => Ok(Self::Elsewhere(name)),
            None => Err(no_event(&name)),
        }
    }
}

/// Hooks and their matcher.
#[derive(Deserialize)]
#[serde(try_from = "GroupForm")]
struct Group {
    matcher: Matcher,
    hooks: Vec<Hook>,
}

#[derive(Deserialize)]
struct GroupForm {
    #[serde(default)]
    matcher: Option<Pattern>,
    hooks: Option<Vec<Hook>>,
}

impl TryFrom<GroupForm> for Group {
    type Error = &'static str;

    fn try_from(form: GroupForm) -> Result<Self, &'static str> {
        let matcher = form.matcher.map(|pattern| pattern.0);
        Ok(Self {
            matcher: matcher.unwrap_or_default(),
            hooks: form.hooks.ok_or("there are no `hooks` in it")?,
        })
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Pattern(Matcher);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let matcher = Matcher::parse(&text).map_err(|error| error.to_string())?;
        Ok(Self(matcher))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "HookForm")]
enum Hook {
    Command(CommandHook),
    /// A hook of an unsupported type.
    Elsewhere(String),
}

#[derive(Deserialize)]
struct HookForm {
    r#type: Option<Kind>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    r#async: bool,
}

impl TryFrom<HookForm> for Hook {
    type Error = String;

    fn try_from(form: HookForm) -> Result<Self, String> {
        if let Kind::Elsewhere(kind) = form.r#type.ok_or("a hook needs a `type`")? {
            return Ok(Self::Elsewhere(kind));
        }
        let command = form.command.filter(|command| !command.trim().is_empty());
        let command = command.ok_or("a hook of the type command needs a `command`")?;
        let timeout_ms = match form.timeout {
            Some(seconds) => timeout_from_seconds(seconds).map_err(|error| error.to_string())?,
            None => DEFAULT_TIMEOUT_MS,
        };
        Ok(Self::Command(CommandHook {
            // One that is waited for is another hook than one whose answer is not read.
            name: match form.r#async {
                true => format!("command: {command} (async)"),
                false => format!("command: {command}"),
            },
            command,
            timeout_ms,
            is_async: form.r#async,
            plugin_root: None,
        }))
    }
}

/// The `type` of a hook.
#[derive(Deserialize)]
#[serde(try_from = "String")]
enum Kind {
    Command,
    Elsewhere(String),
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(kind: String) -> Result<Self, String> {
        match kind.as_str() {
            "command" => Ok(Self::Command),
            known if KINDS_ELSEWHERE.contains(&known) => Ok(Self::Elsewhere(kind)),
            unknown => Err(no_kind(unknown)),
        }
    }
}

/// An unknown event is an error: its hooks would never run, and what they guard would be unprotected.
fn no_event(name: &str) -> String {
    let here = HookEvent::ALL.into_iter().map(HookEvent::name);
    let known: Vec<&str> = here.chain(EVENTS_ELSEWHERE).collect();
    match nearest_name(name, &known) {
        Some(meant) => format!("no event is named `{name}`: did you mean `{meant}`?"),
        None => format!(
            "no event is named `{name}`, and such hooks would never run; there are {}",
            known.join(", ")
        ),
    }
}

/// An unknown hook type is an error, because it cannot be run.
fn no_kind(kind: &str) -> String {
    let known: Vec<&str> = KINDS_ELSEWHERE.into_iter().chain(["command"]).collect();
    match nearest_name(kind, &known) {
        Some(meant) => format!("no `type` of a hook is named `{kind}`: did you mean `{meant}`?"),
        None => format!(
            "no `type` of a hook is named `{kind}`, and such a hook would never run: `command` does"
        ),
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::permission::Source;

    use super::*;

    #[test]
    fn hook_5_a_command_that_is_waited_for_stays_so_whatever_else_runs_the_same() {
        let guard: HookSettings = serde_json::from_str(
            r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}"#,
        )
        .unwrap();
        let by_itself: HookSettings = serde_json::from_str(
            r#"{"PostToolUse": [{"hooks": [{"type": "command", "command": "guard", "async": true}]}]}"#,
        )
        .unwrap();
        for order in [[&by_itself, &guard], [&guard, &by_itself]] {
            let mut hooks = SettingsHooks::default();
            for settings in order {
                hooks.add(Source::UserSettings, settings);
            }
            for matcher in &hooks.matchers {
                let mut commands = hooks.commands.iter();
                let command = commands.find(|it| it.name == matcher.hooks[0]).unwrap();
                let is_after = matcher.event == HookEvent::PostToolUse;
                assert_eq!(command.is_async, is_after, "{matcher:?}");
            }
            assert_eq!(hooks.matchers.len(), 2);
        }
    }
}
