//! The first control request: data from the SDK, and the engine's reply.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::{
    RawJson, Spec,
    agent::{AgentDefinition, AgentProfile},
    context::{PlanReminder, SystemPrompt},
    hook::{FailurePolicy, HookEvent, HookMatcher, Matcher, timeout_from_seconds},
    initialization::{Initialization, ModelInfo},
    output::{OutputFormat, PlainText},
    permission::Mode,
};

use super::{CAPABILITIES, PROTOCOL_VERSION, flags::PluginDir};

/// The fields of `initialize`. All are optional; unknown fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Initialize {
    /// Hook callbacks, by event.
    pub hooks: Option<BTreeMap<String, Option<Vec<HookRegistration>>>>,
    /// Agent definitions, by name.
    pub agents: Option<BTreeMap<String, RawJson>>,
    /// The system prompt in parts; an empty list means none at all.
    pub system_prompt: Option<Vec<String>>,
    /// Text that is appended to the system prompt.
    pub append_system_prompt: Option<String>,
    /// Moves the preset's description of the environment from the system prompt to the beginning of the conversation.
    pub exclude_dynamic_sections: Option<bool>,
    /// Instructions for plan mode.
    pub plan_mode_instructions: Option<String>,
    /// Tools that are called in place of others.
    pub tool_aliases: Option<BTreeMap<String, String>>,
    /// Whether to summarise the progress of subagents. Not supported.
    pub agent_progress_summaries: Option<bool>,
    /// The JSON schema of the answer.
    pub json_schema: Option<RawJson>,
    /// The title of the session.
    pub title: Option<String>,
    /// The names of MCP servers in the SDK's process.
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// The answers of those servers to the first requests. Not used: the servers are asked.
    pub sdk_mcp_server_manifests: Option<BTreeMap<String, RawJson>>,
    /// Other MCP servers, by name.
    pub mcp_servers: Option<BTreeMap<String, RawJson>>,
    /// Restricts the available skills to these.
    pub skills: Option<Vec<String>>,
    /// Whether the model is asked to suggest the user's next prompt.
    pub prompt_suggestions: Option<bool>,
    /// Whether the text and thinking of subagents is passed on.
    pub forward_subagent_text: Option<bool>,
    /// Settings, as on the command line.
    pub settings: Option<RawJson>,
    /// Managed settings, which nothing overrides.
    pub managed_settings: Option<RawJson>,
    /// Tools to remove.
    pub disallowed_tools: Option<Vec<String>>,
    /// Plugins.
    pub plugins: Option<Vec<GivenPlugin>>,
}

/// A plugin in a request. Other types than `local` are refused by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum GivenPlugin {
    /// A folder on this machine.
    Local(PluginDir),
}

impl GivenPlugin {
    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &PluginDir {
        let Self::Local(folder) = self;
        folder
    }
}

/// The callbacks of one matcher.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRegistration {
    /// The tools that it matches; `None` for all.
    #[serde(default)]
    pub matcher: Option<String>,
    /// The ids of the callbacks.
    #[serde(default)]
    pub hook_callback_ids: Vec<String>,
    /// The timeout in seconds.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// `continue` or `block`.
    #[serde(default)]
    pub on_failure: Option<String>,
}

/// A part of `initialize` that cannot be used; the session begins without it, if that is permitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is left out: {reason}")]
pub struct Unusable {
    /// The part.
    pub what: String,
    /// The reason.
    pub reason: String,
    /// Whether it was meant to judge calls: no session may begin without it.
    pub judges: bool,
}

impl Initialize {
    /// Writes the data of the SDK into the spec of the session that is about to begin. MCP servers, settings and permission
    /// rules are handled by the host.
    pub fn apply(&self, spec: &mut Spec) -> Vec<Unusable> {
        let mut unusable = Vec::new();
        let (hooks, faults) = self.hook_matchers();
        spec.policy.hooks.extend(hooks);
        unusable.extend(faults);
        for (name, definition) in self.agents.iter().flatten() {
            let what = format!("the agent {name}");
            match AgentDefinition::read(definition) {
                // It may have been more restricted than another agent of the same name.
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

    /// The callbacks as hook matchers of the core; a hook's name is the id of its callback. Events of later versions are left
    /// out, because they never occur.
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
        // Sorted by their numbers, which is the order of registration across all events.
        matchers.sort_by_key(|matcher| matcher.hooks.first().map(|id| (id.len(), id.clone())));
        (matchers, unusable)
    }

    /// The callbacks whose failure blocks what they should have judged.
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
        // A callback that answers late or invalidly has allowed nothing.
        matcher.on_failure = Some(match self.on_failure.as_deref() {
            Some("continue") => FailurePolicy::Continue,
            Some("block") => FailurePolicy::Block,
            _ if event.judges_calls() => FailurePolicy::Block,
            _ => FailurePolicy::Continue,
        });
        Ok(matcher)
    }
}

/// The output format for a JSON schema, enforced as in the official engine.
///
/// # Errors
/// [`Unusable`] with the problem of the schema.
pub fn output_format(schema: &RawJson) -> Result<OutputFormat, Unusable> {
    let mut format = OutputFormat::new(schema.clone()).map_err(|error| Unusable {
        what: "the schema of the output format".to_owned(),
        reason: error.to_string(),
        judges: false,
    })?;
    format.plain_text = PlainText::IsRemindedOnce;
    Ok(format)
}

/// The facts for the reply that the session's offer does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyFacts {
    /// The engine's process id.
    pub pid: u32,
    /// The permission mode in force.
    pub mode: Mode,
    /// Whether a turn is running.
    pub is_running: bool,
    /// The source of the bearer token; `none` if there is none.
    pub token_source: &'static str,
}

/// The models that can be chosen, as every reply lists them.
#[must_use]
pub fn models(offered: &[ModelInfo]) -> Value {
    let mut models = serde_json::to_value(offered).unwrap_or_default();
    // No model judges calls in the mode `auto`, so that it does not depend on the model.
    for model in models.as_array_mut().into_iter().flatten() {
        model["supportsAutoMode"] = true.into();
    }
    models
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
    set("models", models(&offers.models));
    let mut account = serde_json::to_value(&offers.account).unwrap_or_default();
    account["tokenSource"] = facts.token_source.into();
    account["apiProvider"] = "firstParty".into();
    set("account", account);
    set("pid", facts.pid.into());
    set("claude_code_version", PROTOCOL_VERSION.into());
    set("current_permission_mode", facts.mode.name().into());
    let state = if facts.is_running { "running" } else { "idle" };
    set("session_state", state.into());
    set("capabilities", json!(CAPABILITIES));
    set("hook_on_failure_supported", true.into());
    if request.hooks.is_some() {
        set("hooks_applied", true.into());
    }
    // An SDK that sent these fields ends the session unless the reply confirms them.
    for (name, sent) in [
        ("mcp_servers_applied", request.mcp_servers.is_some()),
        ("settings_applied", request.settings.is_some()),
        ("plugins_applied", request.plugins.is_some()),
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
