//! The hooks of a session for display (`get_hooks_listing`; Agent SDK types, `SDKControlGetHooksListingResponse`).

use serde_json::{Value, json};
use windlass_core::{
    hook::{HookEvent, HookKind, HookMatcher},
    permission::Source,
};

use super::Engine;
use crate::settings::{CommandHook, LoadedSettings};

/// Every event in the order of a session's life, with a short description and whether a matcher can restrict hooks to some of
/// its occurrences.
const EVENTS: [(HookEvent, &str, bool); HookEvent::ALL.len()] = [
    (
        HookEvent::Setup,
        "The engine is run to set a place up",
        true,
    ),
    (HookEvent::SessionStart, "A session begins or goes on", true),
    (
        HookEvent::InstructionsLoaded,
        "A file of standing instructions is read",
        true,
    ),
    (
        HookEvent::UserPromptExpansion,
        "A command becomes the prompt it stands for",
        true,
    ),
    (
        HookEvent::UserPromptSubmit,
        "A prompt is about to be answered",
        false,
    ),
    (HookEvent::PreToolUse, "A call is about to be judged", true),
    (
        HookEvent::PermissionRequest,
        "Somebody is about to be asked about a call",
        true,
    ),
    (HookEvent::PermissionDenied, "A call was denied", true),
    (HookEvent::PostToolUse, "A call has its result", true),
    (HookEvent::PostToolUseFailure, "A call has failed", true),
    (
        HookEvent::PostToolBatch,
        "All calls of a response have their results",
        false,
    ),
    (
        HookEvent::Notification,
        "The person is to be told something",
        true,
    ),
    (HookEvent::SubagentStart, "A subagent begins", true),
    (HookEvent::SubagentStop, "A subagent is about to end", true),
    (
        HookEvent::TeammateIdle,
        "A teammate has nothing more to do",
        false,
    ),
    (HookEvent::TaskCompleted, "A task of a list is done", false),
    (HookEvent::Stop, "An answer is about to end", false),
    (HookEvent::StopFailure, "An answer ends in an error", true),
    (
        HookEvent::PreCompact,
        "The conversation is about to be summed up",
        true,
    ),
    (
        HookEvent::PostCompact,
        "The conversation was summed up",
        true,
    ),
    (HookEvent::ConfigChange, "A settings file has changed", true),
    (
        HookEvent::CwdChanged,
        "The work goes on in another directory",
        false,
    ),
    (HookEvent::WorktreeCreate, "A worktree is needed", false),
    (
        HookEvent::WorktreeRemove,
        "A worktree is about to be removed",
        false,
    ),
    (HookEvent::SessionEnd, "The session ends", true),
];

impl Engine {
    pub(super) fn hooks_listing(&self) -> Value {
        let catalog: Vec<Value> = EVENTS
            .iter()
            .map(|(event, summary, supports_matcher)| {
                json!({"name": event.name(), "summary": summary, "supportsMatcher": supports_matcher})
            })
            .collect();
        let Some(prepared) = &self.prepared else {
            return json!({"events": [], "hooks": [], "eventCatalog": catalog, "policy": policy(None)});
        };
        let settings = &prepared.config.settings;
        let of_settings = rows_of_settings(settings);
        let matchers = prepared.spec().policy.hooks.iter();
        let of_components = (matchers.clone())
            .filter(|matcher| matcher.kind == HookKind::Narrowing)
            .flat_map(rows_of_component);
        let of_session = matchers
            .filter(|matcher| matcher.source.is_empty())
            .flat_map(rows_of_session);
        let rows: Vec<(HookEvent, Value)> = (of_settings.into_iter())
            .chain(of_components)
            .chain(of_session)
            .collect();
        let of_event = |event| rows.iter().filter(move |(of, _)| *of == event);
        let hooks: Vec<&Value> = EVENTS
            .iter()
            .flat_map(|(event, ..)| of_event(*event).map(|(_, row)| row))
            .collect();
        let events: Vec<Value> = EVENTS
            .iter()
            .zip(&catalog)
            .filter_map(|((event, ..), known)| {
                let count = of_event(*event).count();
                let mut known = known.clone();
                known["hookCount"] = count.into();
                (count > 0).then_some(known)
            })
            .collect();
        json!({"events": events, "hooks": hooks, "eventCatalog": catalog, "policy": policy(Some(settings))})
    }
}

/// The policies that keep hooks from running.
fn policy(settings: Option<&LoadedSettings>) -> Value {
    let all_disabled = settings.is_some_and(are_disabled);
    let managed = settings.and_then(|settings| {
        let mut sources = settings.sources.iter();
        sources.find(|sourced| sourced.source == Source::PolicySettings)
    });
    let by_policy = managed.is_some_and(|it| it.settings.disable_all_hooks == Some(true));
    let count = managed.map_or(0, |it| {
        let groups = it.settings.hooks.commands.iter();
        groups.map(|(_, commands)| commands.len()).sum()
    });
    // Policies that restrict hooks to managed ones or to those of plugins are not supported.
    json!({
        "disabledByPolicy": by_policy, "managedOnly": false, "pluginOnly": false, "allDisabled": all_disabled,
        "policyHookCount": count,
    })
}

fn are_disabled(settings: &LoadedSettings) -> bool {
    settings.first(|settings| settings.disable_all_hooks) == Some(true)
}

/// The hook commands of settings, including those that are switched off.
fn rows_of_settings(settings: &LoadedSettings) -> Vec<(HookEvent, Value)> {
    let is_disabled = are_disabled(settings);
    let mut rows = Vec::new();
    for sourced in &settings.sources {
        for (matcher, commands) in &sourced.settings.hooks.commands {
            for command in commands {
                let mut row = row_of_command(sourced.source, matcher, command);
                if is_disabled {
                    row["disabled"] = true.into();
                }
                rows.push((matcher.event, row));
            }
        }
    }
    rows
}

fn row_of_command(source: Source, matcher: &HookMatcher, hook: &CommandHook) -> Value {
    let name = match source {
        // Settings of the command line are named as SDKs name them.
        Source::CliArg => json!("flagSettings"),
        source => json!(source),
    };
    let command = revealed(&hook.command);
    let mut row = json!({
        "event": matcher.event.name(), "matcher": revealed(&matcher.matcher.to_string()), "source": name,
        "sourceLabel": source.words(), "type": "command", "displayText": command, "commandText": command,
        "contentLabel": "Command", "timeout": seconds(hook.timeout_ms),
    });
    if hook.is_async {
        row["runsInBackground"] = true.into();
    }
    row
}

/// The callbacks of the SDK.
fn rows_of_session(matcher: &HookMatcher) -> impl Iterator<Item = (HookEvent, Value)> {
    let label = "the program that uses the SDK";
    rows_by_name(matcher, "sessionHook", label, "Callback")
}

/// The hooks of plugins' components.
fn rows_of_component(matcher: &HookMatcher) -> impl Iterator<Item = (HookEvent, Value)> {
    rows_by_name(matcher, "pluginHook", &matcher.source, "Component")
}

/// Hooks that are known by their names only.
fn rows_by_name<'a>(
    matcher: &'a HookMatcher,
    source: &'a str,
    label: &'a str,
    content: &'a str,
) -> impl Iterator<Item = (HookEvent, Value)> + 'a {
    matcher.hooks.iter().map(move |hook| {
        let row = json!({
            "event": matcher.event.name(), "matcher": revealed(&matcher.matcher.to_string()), "source": source,
            "sourceLabel": revealed(label), "type": "callback", "displayText": revealed(hook),
            "commandText": revealed(hook), "contentLabel": content, "timeout": seconds(matcher.timeout_ms),
        });
        (matcher.event, row)
    })
}

fn seconds(ms: u64) -> Value {
    match ms % 1000 {
        0 => json!(ms / 1000),
        // Timeouts in milliseconds are far below the largest integer that a float represents exactly.
        #[allow(clippy::cast_precision_loss)]
        ms_of_second => json!((ms / 1000) as f64 + ms_of_second as f64 / 1000.0),
    }
}

/// A text as one line, with control characters escaped so that nothing is hidden.
fn revealed(text: &str) -> String {
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_1_every_event_is_in_the_catalogue_once() {
        for event in HookEvent::ALL {
            let found = EVENTS.iter().filter(|(known, ..)| *known == event);
            assert_eq!(found.count(), 1, "{event:?}");
        }
    }

    #[test]
    fn what_hides_in_a_command_is_shown() {
        assert_eq!(
            revealed("echo\u{1b}[2K hi\nrm x"),
            "echo\\u{1b}[2K hi\\nrm x"
        );
    }
}
