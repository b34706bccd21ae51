//! Applies the command line to a spec. Flags override settings and are applied after them.

use std::collections::BTreeMap;

use windlass_core::{
    RawJson, Spec,
    agent::{AgentDefinition, AgentProfile},
    context::{InterruptedAnswer, PlanReminder, SystemPrompt},
    permission::{Misnamed, Mode, RuleEntry, RuleValue, Source, misnamed},
    price::ThinkingForm,
    spec::{AgentToolName, Thinking},
    tools::CoreTool,
};

use super::ProjectConfig;
use crate::{
    models::{ModelVariables, is_available, resolved_model},
    protocol::{PROTOCOL_VERSION, flags::Flags, initialize::output_format},
    settings::LoadedSettings,
};

/// Facts from the environment and files that accompany the flags.
#[derive(Debug, Clone, Default)]
pub struct FlagFacts {
    /// The source of the model server's API key, as reported by `init`.
    pub api_key_source: String,
    /// The content of the file of `--system-prompt-file`.
    pub system_prompt_file: Option<String>,
    /// The content of the file of `--append-system-prompt-file`.
    pub append_system_prompt_file: Option<String>,
    /// What environment and settings say about models and how they are asked.
    pub variables: ModelVariables,
    /// Whether the engine runs inside a sandbox, in which root may bypass permissions.
    pub is_sandbox: bool,
    /// The place of transcripts, as reported to hooks.
    pub transcripts: String,
}

/// Why flags do not give a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagsError {
    /// A flag has an invalid value.
    #[error("--{flag}: {reason}")]
    Value {
        /// The flag.
        flag: &'static str,
        /// The problem with its value.
        reason: String,
    },
    /// Root may not use the mode.
    #[error(
        "--dangerously-skip-permissions cannot be used as root: use another user, or set IS_SANDBOX=1 where the machine is one"
    )]
    BypassAsRoot,
    /// The settings disable the mode.
    #[error(
        "the mode bypassPermissions is switched off in the settings (`disableBypassPermissionsMode`): leave out the flag, and allow what is needed by rules"
    )]
    BypassDisabled,
}

impl ProjectConfig {
    /// Applies flags to a spec that already contains settings and project files.
    ///
    /// # Errors
    /// [`FlagsError`] for the first flag that cannot be applied.
    pub fn apply_flags(
        &self,
        flags: &Flags,
        facts: &FlagFacts,
        spec: &mut Spec,
    ) -> Result<(), FlagsError> {
        // Managed settings override flags.
        let managed = &self.settings;
        let variables = &facts.variables;
        let available = managed.first(|it| it.available_models.as_deref());
        if let Some(model) = flags.model.as_ref().or(variables.model.as_ref())
            && managed.managed(|it| it.model.as_deref()).is_none()
        {
            // A model that is left out is the default, as in the official engine.
            if is_available(spec, available, model) {
                spec.model.name = resolved_model(spec, model);
            }
        }
        if let Some(effort) = variables.effort.or(flags.effort.map(Some))
            && managed.managed(|it| it.effort_level.as_deref()).is_none()
        {
            spec.model.effort = effort;
        }
        self.permissions_of_flags(flags, facts.is_sandbox, spec)?;
        spec.prompt.system = system_prompt(flags, facts);
        // The model is told where it is whatever the prompt is, behind the part that all folders have in common.
        spec.prompt.surroundings_apart = true;
        PROTOCOL_VERSION.clone_into(&mut spec.environment.version);
        spec.environment
            .api_key_source
            .clone_from(&facts.api_key_source);
        let fallback = flags.fallback_model.as_deref();
        spec.model.fallback = fallback.map(|model| resolved_model(spec, model));
        // For a model that decides by itself the number of the environment can only be 0, which switches thinking off.
        let facts_of_model = spec.model.catalogue.get(&spec.model.name);
        let decides = facts_of_model.is_some_and(|it| it.thinking == ThinkingForm::Adaptive);
        let tokens = variables.max_thinking_tokens;
        let tokens = tokens.filter(|tokens| *tokens == 0 || !decides);
        spec.model.thinking = Thinking::from_options(flags.thinking, tokens);
        spec.model.thinking_display = flags.thinking_display;
        spec.model.task_budget = flags.task_budget;
        spec.prompt.plan_reminder = Some(PlanReminder::default());
        spec.prompt.interrupted_answer = InterruptedAnswer::Kept;
        spec.model.max_tokens = variables.max_output_tokens;
        if let Some(retries) = variables.max_retries {
            spec.model.retry.max_retries = retries;
        }
        if let Some(idle_ms) = variables.response_idle_ms {
            spec.model.response.idle_ms = idle_ms.into();
        }
        // The session reports when each prompt is taken in; whether a frame is written is decided by the engine.
        spec.stream.replay_prompts = true;
        spec.tools.tasks.wake = true;
        spec.tools.tasks.tool_calls_only = true;
        spec.tools.tasks.announce_agents = true;
        spec.tools.tasks.agent_tool = AgentToolName::Agent;
        spec.stream.hook_messages = flags.include_hook_events;
        if let Some(schema) = &flags.json_schema {
            let wrong = |reason: String| FlagsError::Value {
                flag: "json-schema",
                reason,
            };
            let schema =
                RawJson::parse(schema.as_str()).map_err(|error| wrong(error.to_string()))?;
            spec.prompt.output = Some(output_format(&schema).map_err(|error| wrong(error.reason))?);
        }
        agents_of_flag(flags.agents.as_deref(), spec)?;
        spec.policy.persist = !flags.no_session_persistence;
        if spec.policy.persist {
            spec.environment.transcript.clone_from(&facts.transcripts);
        }
        Ok(())
    }

    fn permissions_of_flags(
        &self,
        flags: &Flags,
        is_sandbox: bool,
        spec: &mut Spec,
    ) -> Result<(), FlagsError> {
        if is_sandbox {
            spec.environment.is_root = false;
        }
        let managed = self.settings.managed(|it| it.permissions.default_mode);
        let mode = match (managed, flags.bypass) {
            (Some(mode), _) => mode,
            (None, true) => Mode::BypassPermissions,
            (None, false) => flags
                .permission_mode
                .unwrap_or(spec.policy.permissions.mode),
        };
        let mode = match mode {
            Mode::Auto if self.settings.disables_auto_mode() => Mode::Default,
            mode => mode,
        };
        let wants_bypass = mode == Mode::BypassPermissions;
        if wants_bypass && self.bypass_disabled {
            return Err(FlagsError::BypassDisabled);
        }
        if wants_bypass && spec.environment.is_root {
            return Err(FlagsError::BypassAsRoot);
        }
        let policy = &mut spec.policy.permissions;
        policy.allow_bypass = (wants_bypass || flags.allow_bypass)
            && !spec.environment.is_root
            && !self.bypass_disabled;
        policy.mode = mode;
        policy.tell_denials = true;
        // Starting a subagent has no effects of its own: its calls are judged one by one. Deny and ask rules take precedence
        // over this rule.
        let agents = RuleValue::tool(CoreTool::Task.name()).to_rule();
        let agents = agents.map(|rule| rule.from_source(Source::Program));
        policy.rules.allow.extend(agents);
        match flags.permission_prompt_tool.as_deref() {
            // Rules, modes and hooks decide; calls that would need a question are denied.
            _ if flags.asks_nobody => {}
            Some("stdio") => policy.can_ask = true,
            Some(tool) => policy.prompt_tool = Some(tool.to_owned()),
            None => {}
        }
        Ok(())
    }
}

/// Deny and ask rules that name an unknown tool, as warnings. Names of servers' and agents' tools, which start with `mcp__`,
/// are not reported.
///
/// # Errors
/// The first rule whose name resembles that of a tool: ignoring it would allow more than intended.
pub fn rules_of_unknown_tools(
    spec: &Spec,
    settings: &LoadedSettings,
) -> Result<Vec<String>, String> {
    let tools: Vec<&str> = spec
        .tools
        .definitions
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let misnamed = misnamed(&spec.policy.permissions.rules, &tools);
    let words = |rule: &Misnamed| {
        let finding = &rule.finding;
        let is_meant = |entry: &RuleEntry| entry.rule == finding.name.rule;
        let source = finding.name.source;
        let placed = settings.about_rule(source, finding.behavior, is_meant, finding);
        placed.unwrap_or_else(|| finding.to_string())
    };
    match misnamed.iter().find(|rule| rule.meant.is_some()) {
        Some(rule) => Err(words(rule)),
        None => Ok(misnamed.iter().map(words).collect()),
    }
}

fn system_prompt(flags: &Flags, facts: &FlagFacts) -> SystemPrompt {
    let text = facts.system_prompt_file.clone();
    let mut prompt = match text.or_else(|| flags.system_prompt.clone()) {
        None => SystemPrompt::Preset { append: None },
        Some(text) if text.is_empty() => SystemPrompt::None,
        Some(text) => SystemPrompt::Text(text),
    };
    let appended = flags.append_system_prompt.iter();
    for text in appended.chain(&facts.append_system_prompt_file) {
        prompt = prompt.with_appended(text);
    }
    prompt
}

/// An invalid agent is an error, because otherwise an agent of the same name, with more permissions, might be used instead.
fn agents_of_flag(json: Option<&str>, spec: &mut Spec) -> Result<(), FlagsError> {
    let Some(json) = json else { return Ok(()) };
    let wrong = |reason: String| FlagsError::Value {
        flag: "agents",
        reason,
    };
    let definitions: BTreeMap<String, RawJson> =
        serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    for (name, definition) in definitions {
        let of_agent = |reason: String| wrong(format!("the agent {name}: {reason}"));
        let definition = AgentDefinition::read(&definition).map_err(of_agent)?;
        let agent = AgentProfile::new(&name, definition);
        spec.tools
            .agents
            .add(agent.map_err(|error| of_agent(error.to_string()))?);
    }
    Ok(())
}
