//! The first request: what the SDK brings along, and what it is told in return.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::{
    RawJson, Spec,
    agent::{AgentDefinition, AgentProfile},
    context::{PlanReminder, SystemPrompt},
    hook::{FailurePolicy, HookEvent, HookMatcher, Matcher, timeout_from_seconds},
    initialization::Initialization,
    output::{OutputFormat, PlainText},
    permission::Mode,
};

use super::PROTOCOL_VERSION;

/// The fields of `initialize`. All are optional; those that this version does not know are left aside.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Initialize {
    /// Callbacks, by event.
    pub hooks: Option<BTreeMap<String, Option<Vec<HookRegistration>>>>,
    /// Agents, by name.
    pub agents: Option<BTreeMap<String, RawJson>>,
    /// The system prompt in parts; an empty one is none at all.
    pub system_prompt: Option<Vec<String>>,
    /// What stands behind it.
    pub append_system_prompt: Option<String>,
    /// What the preset says of the place where the session runs stands in front of the conversation.
    pub exclude_dynamic_sections: Option<bool>,
    /// How to plan in plan mode.
    pub plan_mode_instructions: Option<String>,
    /// Which tools are called in the place of others.
    pub tool_aliases: Option<BTreeMap<String, String>>,
    /// Summaries of what subagents do. There are none.
    pub agent_progress_summaries: Option<bool>,
    /// The form of the answer.
    pub json_schema: Option<RawJson>,
    /// The session's title.
    pub title: Option<String>,
    /// MCP servers that live in the SDK's process.
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// What those servers would answer to the first requests. Not used: they are asked.
    pub sdk_mcp_server_manifests: Option<BTreeMap<String, RawJson>>,
    /// Other MCP servers, by name.
    pub mcp_servers: Option<BTreeMap<String, RawJson>>,
    /// Of the skills there are, these.
    pub skills: Option<Vec<String>>,
    /// Whether the model is asked what the person might say next.
    pub prompt_suggestions: Option<bool>,
    /// Whether the words and thoughts of subagents are handed on.
    pub forward_subagent_text: Option<bool>,
    /// Settings, as on the command line.
    pub settings: Option<RawJson>,
    /// Settings that nothing overrides.
    pub managed_settings: Option<RawJson>,
    /// Tools that are not to be there.
    pub disallowed_tools: Option<Vec<String>>,
    /// Plugins.
    pub plugins: Option<RawJson>,
}

/// Callbacks of one matcher.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRegistration {
    /// For which tools; nothing for all.
    #[serde(default)]
    pub matcher: Option<String>,
    /// The callbacks.
    #[serde(default)]
    pub hook_callback_ids: Vec<String>,
    /// Seconds.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// `continue` or `block`.
    #[serde(default)]
    pub on_failure: Option<String>,
}

/// Something of an `initialize` that could not be used; the session begins without it, if it may.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is left out: {reason}")]
pub struct Unusable {
    /// What it is.
    pub what: String,
    /// Why.
    pub reason: String,
    /// It was to judge what runs: without it no session may begin.
    pub judges: bool,
}

impl Initialize {
    /// Writes what the SDK brings along into the spec of the session that is about to begin. Servers, settings and rules
    /// are the host's business.
    pub fn apply(&self, spec: &mut Spec) -> Vec<Unusable> {
        let mut unusable = Vec::new();
        let (hooks, faults) = self.hook_matchers();
        spec.policy.hooks.extend(hooks);
        unusable.extend(faults);
        for (name, definition) in self.agents.iter().flatten() {
            let what = format!("the agent {name}");
            match AgentDefinition::read(definition) {
                // It may have been narrower than the agent that had its name.
                Err(reason) => unusable.push(Unusable {
                    what,
                    reason,
                    judges: true,
                }),
                Ok(read) => match AgentProfile::new(name, read) {
                    Ok(agent) => spec.tools.agents.add(agent),
                    Err(error) => unusable.push(Unusable {
                        what,
                        reason: error.to_string(),
                        judges: error.field != "name",
                    }),
                },
            }
        }
        if let Some(parts) = &self.system_prompt {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let text = parts.join("\n\n");
            spec.prompt.system = match text.is_empty() {
                true => SystemPrompt::None,
                false => SystemPrompt::Text(text),
            };
        }
        if let Some(text) = self.append_system_prompt.as_deref()
            && !text.is_empty()
        {
            spec.prompt.system = std::mem::take(&mut spec.prompt.system).with_appended(text);
        }
        if let Some(schema) = &self.json_schema {
            match output_format(schema) {
                Ok(format) => spec.prompt.output = Some(format),
                Err(fault) => unusable.push(fault),
            }
        }
        spec.prompt.surroundings_apart |= self.exclude_dynamic_sections == Some(true);
        if let Some(instructions) = &self.plan_mode_instructions {
            let instructions = Some(instructions.clone());
            spec.prompt.plan_reminder = Some(PlanReminder { instructions });
        }
        for (name, meant) in self.tool_aliases.iter().flatten() {
            spec.tools.aliases.insert(name.clone(), meant.clone());
        }
        if self.agent_progress_summaries == Some(true) {
            unusable.push(Unusable {
                what: "agentProgressSummaries".to_owned(),
                reason: "no summaries are made of what agents do".to_owned(),
                judges: false,
            });
        }
        if let Some(names) = &self.skills {
            spec.tools
                .skills
                .retain(|skill| names.contains(&skill.name));
        }
        if let Some(suggest) = self.prompt_suggestions {
            spec.stream.prompt_suggestions = suggest;
        }
        if let Some(forward) = self.forward_subagent_text {
            spec.tools.tasks.tool_calls_only = !forward;
        }
        unusable
    }

    /// The callbacks as the core knows hooks: each under its callback's id. Events of later versions are left out, as
    /// nothing would ever call them.
    fn hook_matchers(&self) -> (Vec<HookMatcher>, Vec<Unusable>) {
        let mut matchers = Vec::new();
        let mut unusable = Vec::new();
        for (event_name, registrations) in self.hooks.iter().flatten() {
            let Some(event) = HookEvent::parse(event_name) else {
                continue;
            };
            for registration in registrations.iter().flatten() {
                match registration.matcher(event) {
                    Ok(matcher) => matchers.push(matcher),
                    Err(reason) => unusable.push(Unusable {
                        what: format!("a hook of {event_name}"),
                        reason,
                        judges: true,
                    }),
                }
            }
        }
        // In the order of their numbers, which is that of registration over all events.
        matchers.sort_by_key(|matcher| matcher.hooks.first().map(|id| (id.len(), id.clone())));
        (matchers, unusable)
    }

    /// The callbacks whose failure is to stop what they should have judged.
    #[must_use]
    pub fn blocking_callbacks(&self) -> BTreeSet<String> {
        let registrations = self
            .hooks
            .iter()
            .flatten()
            .flat_map(|(_, all)| all.iter().flatten());
        registrations
            .filter(|registration| registration.on_failure.as_deref() == Some("block"))
            .flat_map(|registration| registration.hook_callback_ids.iter().cloned())
            .collect()
    }
}

impl HookRegistration {
    fn matcher(&self, event: HookEvent) -> Result<HookMatcher, String> {
        let mut matcher = HookMatcher::new(event, self.hook_callback_ids.iter().cloned());
        let text = self.matcher.as_deref().unwrap_or_default();
        matcher.matcher = Matcher::parse(text).map_err(|error| error.to_string())?;
        if let Some(seconds) = self.timeout {
            matcher.timeout_ms =
                timeout_from_seconds(seconds).map_err(|error| error.to_string())?;
        }
        // A callback that gives no answer in time, or nonsense, has allowed nothing.
        matcher.on_failure = Some(match self.on_failure.as_deref() {
            Some("continue") => FailurePolicy::Continue,
            Some("block") => FailurePolicy::Block,
            _ if event.judges_calls() => FailurePolicy::Block,
            _ => FailurePolicy::Continue,
        });
        Ok(matcher)
    }
}

/// The form of the answer, as the official engine holds the model to it.
///
/// # Errors
/// [`Unusable`] with what is wrong with the schema.
pub fn output_format(schema: &RawJson) -> Result<OutputFormat, Unusable> {
    let mut format = OutputFormat::new(schema.clone()).map_err(|error| Unusable {
        what: "the schema of the output format".to_owned(),
        reason: error.to_string(),
        judges: false,
    })?;
    format.plain_text = PlainText::IsRemindedOnce;
    Ok(format)
}

/// What the reply says beside what the session offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyFacts {
    /// The engine's process.
    pub pid: u32,
    /// The permission mode in force.
    pub mode: Mode,
    /// Whether a turn is running.
    pub is_running: bool,
    /// Where the bearer token comes from; `none` where there is none.
    pub token_source: &'static str,
}

/// The payload of the reply.
#[must_use]
pub fn reply(request: &Initialize, offers: &Initialization, facts: ReplyFacts) -> Value {
    let mut reply = match serde_json::to_value(offers) {
        Ok(Value::Object(reply)) => reply,
        _ => Map::new(),
    };
    let mut set = |name: &str, value: Value| {
        reply.insert(name.to_owned(), value);
    };
    let mut account = serde_json::to_value(&offers.account).unwrap_or_default();
    account["tokenSource"] = facts.token_source.into();
    account["apiProvider"] = "firstParty".into();
    set("account", account);
    set("pid", facts.pid.into());
    set("claude_code_version", PROTOCOL_VERSION.into());
    set("current_permission_mode", facts.mode.name().into());
    let state = if facts.is_running { "running" } else { "idle" };
    set("session_state", state.into());
    set("capabilities", json!(super::frames::CAPABILITIES));
    set("hook_on_failure_supported", true.into());
    if request.hooks.is_some() {
        set("hooks_applied", true.into());
    }
    // An SDK that sent these ends the session unless it hears that they count.
    for (name, sent) in [
        ("mcp_servers_applied", request.mcp_servers.is_some()),
        ("settings_applied", request.settings.is_some()),
        (
            "managed_settings_applied",
            request.managed_settings.is_some(),
        ),
        (
            "disallowed_tools_applied",
            request.disallowed_tools.is_some(),
        ),
    ] {
        if sent {
            set(name, true.into());
        }
    }
    Value::Object(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: Value) -> Initialize {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn hooks_keep_their_ids_matchers_and_timeouts() {
        let request = read(json!({"hooks": {
            "Stop": [{"hookCallbackIds": ["hook_10"]}],
            "PreToolUse": [
                {"matcher": "Read|Bash", "hookCallbackIds": ["hook_0", "hook_1"], "timeout": 5},
                {"matcher": null, "hookCallbackIds": ["hook_2"], "onFailure": "continue"},
                {"matcher": "(", "hookCallbackIds": ["hook_3"]},
            ],
            "SomethingOfTomorrow": [{"matcher": null, "hookCallbackIds": ["hook_4"]}],
            "PostToolUse": null,
        }}));
        let mut spec = Spec::default();
        let unusable = request.apply(&mut spec);
        let ids: Vec<Vec<String>> = spec.policy.hooks.iter().map(|m| m.hooks.clone()).collect();
        assert_eq!(
            ids,
            [vec!["hook_0", "hook_1"], vec!["hook_2"], vec!["hook_10"]]
        );
        assert_eq!(spec.policy.hooks[0].timeout_ms, 5_000);
        assert!(
            spec.policy.hooks[0].matcher.matches("Bash")
                && !spec.policy.hooks[0].matcher.matches("Edit")
        );
        assert_eq!(
            spec.policy.hooks[0].failure_policy(),
            FailurePolicy::Block,
            "a timeout allows nothing"
        );
        assert_eq!(
            spec.policy.hooks[1].failure_policy(),
            FailurePolicy::Continue
        );
        assert_eq!(
            spec.policy.hooks[2].failure_policy(),
            FailurePolicy::Continue
        );
        assert_eq!(unusable.len(), 1);
        assert!(unusable[0].judges, "no session without it");
        assert!(
            unusable[0]
                .to_string()
                .starts_with("a hook of PreToolUse is left out"),
            "{}",
            unusable[0]
        );
    }

    #[test]
    fn blocking_callbacks_are_those_that_say_so() {
        let request = read(json!({"hooks": {"PreToolUse": [
            {"hookCallbackIds": ["hook_0"], "onFailure": "block"},
            {"hookCallbackIds": ["hook_1"]},
        ]}}));
        assert_eq!(
            request.blocking_callbacks(),
            BTreeSet::from(["hook_0".to_owned()])
        );
    }

    #[test]
    fn agents_prompt_schema_and_subagent_text_reach_the_spec() {
        let request = read(json!({
            "agents": {
                "reviewer": {"description": "reviews", "prompt": "You review.", "model": "haiku", "color": "red"},
                "broken": {"prompt": "no description"},
            },
            "systemPrompt": ["One.", "Two."],
            "appendSystemPrompt": "Three.",
            "jsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "forwardSubagentText": true,
            "excludeDynamicSections": true,
            "planModeInstructions": "Count to three.",
            "toolAliases": {"Bash": "mcp__shell__run"},
            "agentProgressSummaries": true,
        }));
        let mut spec = Spec::default();
        spec.tools.tasks.tool_calls_only = true;
        let unusable = request.apply(&mut spec);
        assert_eq!(
            spec.tools.agents.get("reviewer").unwrap().definition.prompt,
            "You review."
        );
        assert!(
            unusable[0]
                .to_string()
                .contains("the agent broken is left out"),
            "{unusable:?}"
        );
        assert_eq!(
            spec.prompt.system,
            SystemPrompt::Text("One.\n\nTwo.\n\nThree.".to_owned())
        );
        assert_eq!(
            spec.prompt.output.as_ref().unwrap().plain_text,
            PlainText::IsRemindedOnce
        );
        assert!(!spec.tools.tasks.tool_calls_only);
        assert!(spec.prompt.surroundings_apart);
        let reminder = spec.prompt.plan_reminder.unwrap();
        assert_eq!(reminder.instructions.as_deref(), Some("Count to three."));
        assert_eq!(
            spec.tools.aliases.get("Bash").map(String::as_str),
            Some("mcp__shell__run")
        );
        assert!(
            unusable[1].to_string().contains("agentProgressSummaries"),
            "it is said that this has no effect"
        );
    }

    #[test]
    fn an_empty_system_prompt_is_none_and_an_absent_one_changes_nothing() {
        let mut spec = Spec::default();
        spec.prompt.system = SystemPrompt::Preset { append: None };
        read(json!({})).apply(&mut spec);
        assert_eq!(spec.prompt.system, SystemPrompt::Preset { append: None });
        read(json!({"appendSystemPrompt": "More."})).apply(&mut spec);
        let append = Some("More.".to_owned());
        assert_eq!(spec.prompt.system, SystemPrompt::Preset { append });
        read(json!({"systemPrompt": [""]})).apply(&mut spec);
        assert_eq!(spec.prompt.system, SystemPrompt::None);
    }

    #[test]
    fn the_reply_has_what_both_sdks_look_for() {
        let facts = ReplyFacts {
            pid: 7,
            mode: Mode::Plan,
            is_running: false,
            token_source: "none",
        };
        let offers = Spec::default().initialization();
        let answer = reply(&read(json!({"hooks": {}})), &offers, facts);
        for name in [
            "commands",
            "agents",
            "output_style",
            "available_output_styles",
            "models",
            "account",
        ] {
            assert!(!answer[name].is_null(), "{name}");
        }
        assert_eq!(answer["hook_on_failure_supported"], true);
        assert_eq!(answer["hooks_applied"], true);
        assert_eq!(answer["current_permission_mode"], "plan");
        assert_eq!(answer["session_state"], "idle");
        assert!(answer.get("mcp_servers_applied").is_none());
        let request = read(
            json!({"mcpServers": {}, "settings": {}, "managedSettings": {}, "disallowedTools": []}),
        );
        let answer = reply(&request, &offers, facts);
        for name in [
            "mcp_servers_applied",
            "settings_applied",
            "managed_settings_applied",
            "disallowed_tools_applied",
        ] {
            assert_eq!(answer[name], true, "{name}");
        }
        assert!(answer.get("hooks_applied").is_none());
    }
}
