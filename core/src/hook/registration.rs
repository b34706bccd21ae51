//! Registration of hooks.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{HookEvent, Matcher, Occurrence};
use crate::{json::write, sorted::SortedMap};

/// The default time limit of a hook: a minute.
pub const DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// The longest time limit of a hook: a day.
const LONGEST_TIMEOUT_MS: u64 = 86_400_000;

/// Hooks of one event for some tools (Agent SDK reference, `HookCallbackMatcher`).
///
/// In JSON `{"event": "PreToolUse", "matcher": "Bash", "hooks": ["guard"], "timeout": 5, "onFailure": "block",
/// "kind": "narrowing", "source": "plugin x"}`; `timeout` in seconds, and all but `event` and `hooks` optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookMatcher {
    /// The event.
    pub event: HookEvent,
    /// The tools it runs for; for events without a tool see [`Occurrence::subject`].
    #[serde(default)]
    pub matcher: Matcher,
    /// The hooks, by the names under which the host knows them. Each name runs once per event.
    pub hooks: Vec<String>,
    /// The time limit of each hook in milliseconds; in JSON `timeout`, in seconds.
    #[serde(
        rename = "timeout",
        default = "default_timeout",
        serialize_with = "to_seconds",
        deserialize_with = "from_seconds"
    )]
    pub timeout_ms: u64,
    /// How a failure is treated; none means [`FailurePolicy::of`] the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<FailurePolicy>,
    /// Whether the hooks are trusted or may only narrow.
    #[serde(default)]
    pub kind: HookKind,
    /// Where the registration comes from, for messages (`user settings`, `plugin x`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// The origin of hooks, which determines what they may decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookKind {
    /// Hooks of the user or of the embedding program: they may allow calls and change inputs.
    #[default]
    Trusted,
    /// Third-party hooks: their answers are [`Judgement`](super::Judgement)s, which have no *allow*.
    Narrowing,
}

/// How a hook that crashes, hangs, exits with an error or gives an invalid answer is treated.
///
/// A failure is always reported ([`HookResponse`](crate::message::HookResponse)) and never ends the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailurePolicy {
    /// As if the hook did not exist.
    Continue,
    /// Permission is asked for instead; if nobody can be asked, the call is denied. For events that do not concern calls, the
    /// same as [`FailurePolicy::Continue`].
    Ask,
    /// What the hook should have checked is refused: a call is denied, a prompt dropped. For events at which nothing can be
    /// refused, the same as [`FailurePolicy::Continue`].
    Block,
}

impl FailurePolicy {
    /// The default policy of an event: permission is asked for calls; otherwise the failure is ignored.
    #[must_use]
    pub fn of(event: HookEvent) -> Self {
        if event.judges_calls() {
            Self::Ask
        } else {
            Self::Continue
        }
    }
}

impl From<HookEvent> for HookMatcher {
    fn from(event: HookEvent) -> Self {
        Self::of(event)
    }
}

impl HookMatcher {
    /// Trusted hooks of an event for all tools, with the default time limit.
    pub fn new<S: Into<String>>(event: HookEvent, hooks: impl IntoIterator<Item = S>) -> Self {
        Self {
            event,
            matcher: Matcher::everything(),
            hooks: hooks.into_iter().map(Into::into).collect(),
            timeout_ms: DEFAULT_TIMEOUT_MS,
            on_failure: None,
            kind: HookKind::Trusted,
            source: String::new(),
        }
    }

    /// A registration without hooks, for hosts that add their names later.
    #[must_use]
    pub fn of(event: HookEvent) -> Self {
        Self::new(event, core::iter::empty::<String>())
    }

    /// How a failure of its hooks is treated.
    #[must_use]
    pub fn failure_policy(&self) -> FailurePolicy {
        self.on_failure
            .unwrap_or_else(|| FailurePolicy::of(self.event))
    }
}

/// The hooks to run for an event, each once, in the order of registration.
#[must_use]
pub fn concerned<'a>(
    matchers: &'a [HookMatcher],
    occurrence: &Occurrence,
) -> Vec<(&'a HookMatcher, &'a str)> {
    let (event, subject) = (occurrence.event(), occurrence.subject());
    let mut seen = SortedMap::new();
    matchers
        .iter()
        .filter(|m| m.event == event && subject.is_none_or(|s| m.matcher.matches(s)))
        .flat_map(|m| m.hooks.iter().map(move |hook| (m, hook.as_str())))
        .filter(|(_, hook)| seen.insert(*hook, ()).is_none())
        .collect()
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT_MS
}

fn to_seconds<S: Serializer>(ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match ms % 1000 {
        0 => serializer.serialize_u64(ms / 1000),
        // A number of milliseconds below a day is represented exactly, and reading it gives the same number.
        _ => serializer.serialize_f64(u32::try_from(*ms).map_or(86_400.0, f64::from) / 1000.0),
    }
}

fn from_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        None => Ok(DEFAULT_TIMEOUT_MS),
        Some(seconds) => timeout_from_seconds(seconds).map_err(de::Error::custom),
    }
}

/// Converts a time limit in seconds, as in settings and SDKs, to milliseconds.
///
/// # Errors
/// [`TimeoutError`] unless the number is more than 0. More than a day becomes a day.
pub fn timeout_from_seconds(seconds: f64) -> Result<u64, TimeoutError> {
    if seconds.is_nan() || seconds <= 0.0 {
        return Err(TimeoutError {
            given: write::to_text(&seconds),
        });
    }
    // Floating point casts saturate; less than a millisecond becomes one.
    Ok(((seconds * 1000.0) as u64).clamp(1, LONGEST_TIMEOUT_MS))
}

/// An invalid time limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the timeout of a hook must be more than 0 seconds, not {given}")]
pub struct TimeoutError {
    /// The value that was given.
    pub given: String,
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::ToOwned, format};

    use super::*;
    use crate::{hook::input, json::RawJson};

    fn matcher(json: &str) -> Result<HookMatcher, String> {
        RawJson::parse(json)
            .unwrap()
            .read()
            .map_err(|error| error.reason)
    }

    #[test]
    fn hook_8_a_timeout_is_in_seconds_and_belongs_to_its_matcher() {
        let read = |rest: &str| matcher(&format!(r#"{{"event":"Stop","hooks":["a"]{rest}}}"#));
        assert_eq!(read("").unwrap().timeout_ms, 60_000);
        assert_eq!(read(r#","timeout":null"#).unwrap().timeout_ms, 60_000);
        assert_eq!(read(r#","timeout":120"#).unwrap().timeout_ms, 120_000);
        assert_eq!(read(r#","timeout":0.25"#).unwrap().timeout_ms, 250);
        assert_eq!(read(r#","timeout":1e300"#).unwrap().timeout_ms, 86_400_000);
        for bad in ["0", "-1", "\"5\""] {
            assert!(read(&format!(r#","timeout":{bad}"#)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_registration_is_read_and_written() {
        let json = r#"{"event":"PreToolUse","matcher":"Edit|Write","hooks":["a","b"],"timeout":2.5,"onFailure":"block","kind":"narrowing","source":"plugin x"}"#;
        let read = matcher(json).unwrap();
        assert_eq!(RawJson::encode(&read).unwrap().get(), json);
        assert_eq!(read.failure_policy(), FailurePolicy::Block);
        let error = matcher(r#"{"event":"PreTool","hooks":[]}"#).unwrap_err();
        assert!(error.contains("PreTool"), "{error}");
        let error = matcher(r#"{"event":"Stop","hooks":[],"matcher":"(x"}"#).unwrap_err();
        assert!(error.contains("not closed"), "{error}");
        let error = matcher(r#"{"event":"Stop","hooks":[],"onFailur":"ask"}"#).unwrap_err();
        assert!(error.contains("onFailur"), "{error}");
    }

    #[test]
    fn hook_8_no_matcher_is_every_tool_and_a_hook_runs_once() {
        let mut only_bash = HookMatcher::new(HookEvent::PreToolUse, ["a", "b"]);
        only_bash.matcher = Matcher::parse("Bash").unwrap();
        let matchers = [
            only_bash,
            HookMatcher::new(HookEvent::PostToolUse, ["z"]),
            HookMatcher::new(HookEvent::PreToolUse, ["b", "c"]),
        ];
        let call = |tool: &str| {
            Occurrence::PreToolUse(input::PreToolUse {
                tool_name: tool.to_owned(),
                tool_input: RawJson::empty_object(),
                tool_use_id: "t".to_owned(),
            })
        };
        let names = |tool: &str| -> Vec<&str> {
            let concerned = concerned(&matchers, &call(tool));
            concerned.into_iter().map(|(_, hook)| hook).collect()
        };
        assert_eq!(names("Bash"), ["a", "b", "c"]);
        assert_eq!(names("Read"), ["b", "c"]);
    }
}
