//! Events that a test gives to the hooks of a plugin, and what is expected of them.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass::{
    core::{RawJson, hook::HookEvent},
    plugins::{DeclaredHook, DeclaredHookKind, Plugin},
};

use super::budget::Budget;

/// One event for one hook.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    /// The hook, by its declared name.
    pub(super) hook: String,
    /// What happened. The fields that every event has are added if they are left out.
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    /// The tool call that it concerns.
    #[serde(rename = "toolUseId")]
    tool_use_id: Option<String>,
    #[serde(default)]
    pub(super) expect: Expectation,
    /// The most that the run may use.
    #[serde(default, rename = "atMost")]
    pub(super) at_most: Budget,
}

/// What the hook says.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Expectation {
    /// Whether the hook runs at all: it does not where its matcher names something else.
    heard: bool,
    /// The judgement of a judge.
    judgement: Verdict,
    /// A part of the reason, of the narrowing, or of what the failure says.
    contains: Option<String>,
    /// Whether it fails.
    is_error: bool,
}

impl Default for Expectation {
    fn default() -> Self {
        Self {
            heard: true,
            judgement: Verdict::default(),
            contains: None,
            is_error: false,
        }
    }
}

/// A judgement, as declarations and messages name it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    #[default]
    Pass,
    Ask,
    Deny,
    Narrow,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Narrow => "narrow",
        }
    }
}

/// What came of an event: what a person reads, and what is not as expected.
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) faults: Vec<String>,
}

impl Event {
    /// Gives the event to the hook, in a session that works in this folder.
    pub(super) async fn give(&self, plugin: &Plugin, folder: &Path) -> Heard {
        let hooks = plugin.hooks();
        let Some(hook) = hooks.iter().find(|hook| hook.name == self.hook) else {
            return Heard {
                text: String::new(),
                faults: vec![format!("the plugin has no hook `{}`", self.hook)],
            };
        };
        match (self.is_heard(hook), self.expect.heard) {
            (true, true) => {}
            (false, expected) => {
                let text = format!("not heard: its matcher is `{}`", hook.matcher);
                let faults = expected.then(|| text.clone()).into_iter().collect();
                return Heard { text, faults };
            }
            (true, false) => {
                return Heard {
                    text: String::new(),
                    faults: vec![format!(
                        "its matcher `{}` is about this event",
                        hook.matcher
                    )],
                };
            }
        }
        let input = Value::Object(self.complete(hook, folder));
        let answer = match RawJson::encode(&input) {
            Ok(input) => (plugin
                .try_hook(&self.hook, input, self.tool_use_id.clone())
                .await)
                .unwrap_or_else(|| Err("it is not there".to_owned())),
            Err(error) => Err(error.to_string()),
        };
        let judgement: Result<Value, String> =
            answer.and_then(|answer| serde_json::from_str(answer.get()).map_err(|e| e.to_string()));
        Heard {
            text: said(&judgement, hook.kind),
            faults: self.faults(&judgement, hook.kind),
        }
    }

    /// Whether a session would run the hook. An event that does not say what it is about is heard.
    fn is_heard(&self, hook: &DeclaredHook) -> bool {
        let subject = subject_field(hook.event).and_then(|field| self.input.get(field));
        let subject = subject.and_then(Value::as_str);
        subject.is_none_or(|subject| hook.matcher.matches(subject))
    }

    /// The input with the fields that every event has.
    fn complete(&self, hook: &DeclaredHook, folder: &Path) -> Map<String, Value> {
        let mut input = self.input.clone();
        for (name, value) in [
            ("hook_event_name", json!(hook.event.name())),
            ("session_id", json!("00000000-0000-4000-8000-000000000000")),
            ("transcript_path", json!("")),
            ("cwd", json!(folder)),
            ("permission_mode", json!("default")),
        ] {
            input.entry(name).or_insert(value);
        }
        input
    }

    fn faults(&self, judgement: &Result<Value, String>, kind: DeclaredHookKind) -> Vec<String> {
        let expect = &self.expect;
        let text = said(judgement, kind);
        let mut faults = Vec::new();
        match judgement {
            Err(_) if !expect.is_error => faults.push(text.clone()),
            Ok(_) if expect.is_error => faults.push(format!("it did not fail: {text}")),
            Ok(said) if kind == DeclaredHookKind::Judge => {
                let expected = expect.judgement.word();
                if said["verdict"] != expected {
                    faults.push(format!("the judgement is {text}, not {expected}"));
                }
            }
            _ => {}
        }
        if let Some(expected) = expect
            .contains
            .as_ref()
            .filter(|part| !text.contains(*part))
        {
            faults.push(format!("{expected:?} is not in {text:?}"));
        }
        faults
    }
}

/// The field of an event that matchers are about.
fn subject_field(event: HookEvent) -> Option<&'static str> {
    Some(match event {
        HookEvent::PreToolUse
        | HookEvent::PostToolUse
        | HookEvent::PostToolUseFailure
        | HookEvent::PermissionRequest
        | HookEvent::PermissionDenied => "tool_name",
        HookEvent::Notification => "notification_type",
        HookEvent::SessionStart | HookEvent::ConfigChange => "source",
        HookEvent::SessionEnd => "reason",
        HookEvent::SubagentStart | HookEvent::SubagentStop => "agent_type",
        HookEvent::PreCompact | HookEvent::PostCompact | HookEvent::Setup => "trigger",
        HookEvent::StopFailure => "error",
        HookEvent::UserPromptExpansion => "command_name",
        HookEvent::InstructionsLoaded => "load_reason",
        _ => return None,
    })
}

/// What the hook said, in one line.
fn said(judgement: &Result<Value, String>, kind: DeclaredHookKind) -> String {
    match judgement {
        Err(reason) => format!("it failed: {reason}"),
        Ok(_) if kind == DeclaredHookKind::Observer => "seen".to_owned(),
        Ok(said) => match (said["verdict"].as_str(), said["reason"].as_str()) {
            (Some(verdict), Some(reason)) => format!("{verdict}: {reason}"),
            (Some("narrow"), None) => format!("narrow: {said}"),
            (verdict, None) => verdict.unwrap_or_default().to_owned(),
            (None, Some(reason)) => reason.to_owned(),
        },
    }
}
