//! What a command line makes of a spec: it is stronger than settings, and comes behind them.

use std::collections::BTreeMap;

use windlass_core::{
    RawJson, Spec,
    agent::{AgentDefinition, AgentProfile},
    context::{InterruptedAnswer, PlanReminder, SystemPrompt},
    permission::{Misnamed, Mode, RuleEntry, RuleValue, Source, misnamed},
    spec::{AgentToolName, Thinking},
    tools::CoreTool,
};

use super::ProjectConfig;
use crate::{
    machine::resolved_model,
    protocol::{PROTOCOL_VERSION, flags::Flags, initialize::output_format},
    settings::LoadedSettings,
};

/// What environment and files say beside the flags.
#[derive(Debug, Clone, Default)]
pub struct FlagFacts {
    /// Where the key for the model server comes from, as `init` says it.
    pub api_key_source: String,
    /// What stands in the file of `--system-prompt-file`.
    pub system_prompt_file: Option<String>,
    /// What stands in that of `--append-system-prompt-file`.
    pub append_system_prompt_file: Option<String>,
    /// How many tokens the model may think, where no flag says so.
    pub max_thinking_tokens: Option<u32>,
    /// The most tokens a response may hold.
    pub max_output_tokens: Option<u32>,
    /// How often a failed model call is asked again.
    pub max_retries: Option<u32>,
    /// For how many milliseconds a model server may send nothing of its response; 0 for as long as it likes.
    pub response_idle_ms: Option<u32>,
    /// Around everything there is a sandbox: root may bypass permissions.
    pub is_sandbox: bool,
    /// Where transcripts are kept, as hooks are told.
    pub transcripts: String,
}

/// Why no session can be made of flags.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagsError {
    /// The value of a flag.
    #[error("--{flag}: {reason}")]
    Value {
        /// The flag.
        flag: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// The mode is not open to root.
    #[error(
        "--dangerously-skip-permissions cannot be used as root: use another user, or set IS_SANDBOX=1 where the machine is one"
    )]
    BypassAsRoot,
    /// The settings forbid the mode.
    #[error(
        "the mode bypassPermissions is switched off in the settings (`disableBypassPermissionsMode`): leave out the flag, and allow what is needed by rules"
    )]
    BypassDisabled,
}

impl ProjectConfig {
    /// Writes flags into a spec that settings and project files were written into.
    ///
    /// # Errors
    /// [`FlagsError`]: the first flag that cannot be followed.
    pub fn apply_flags(
        &self,
        flags: &Flags,
        facts: &FlagFacts,
        spec: &mut Spec,
    ) -> Result<(), FlagsError> {
        // What the organisation says is stronger than a flag.
        let managed = &self.settings;
        if let Some(model) = &flags.model
            && managed.managed(|it| it.model.as_deref()).is_none()
        {
            spec.model.name = resolved_model(spec, model);
        }
        if let Some(effort) = flags.effort
            && managed.managed(|it| it.effort_level.as_deref()).is_none()
        {
            spec.model.effort = Some(effort);
        }
        self.permissions_of_flags(flags, facts.is_sandbox, spec)?;
        spec.prompt.system = system_prompt(flags, facts);
        PROTOCOL_VERSION.clone_into(&mut spec.environment.version);
        spec.environment
            .api_key_source
            .clone_from(&facts.api_key_source);
        let fallback = flags.fallback_model.as_deref();
        spec.model.fallback = fallback.map(|model| resolved_model(spec, model));
        spec.model.thinking = Thinking::from_options(flags.thinking, facts.max_thinking_tokens);
        spec.model.thinking_display = flags.thinking_display;
        spec.model.task_budget = flags.task_budget;
        spec.prompt.plan_reminder = Some(PlanReminder::default());
        spec.prompt.interrupted_answer = InterruptedAnswer::Kept;
        spec.model.max_tokens = facts.max_output_tokens;
        if let Some(retries) = facts.max_retries {
            spec.model.retry.max_retries = retries;
        }
        if let Some(idle_ms) = facts.response_idle_ms {
            spec.model.response.idle_ms = idle_ms.into();
        }
        // So that every prompt is told when it is taken in; whether it is written is decided there.
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
        // Starting a subagent changes nothing: what it does is judged call by call. Rules that deny or ask are above this one.
        let agents = RuleValue::tool(CoreTool::Task.name()).to_rule();
        let agents = agents.map(|rule| rule.from_source(Source::Program));
        policy.rules.allow.extend(agents);
        match flags.permission_prompt_tool.as_deref() {
            // Rules, modes and hooks decide; what would be asked about is denied.
            _ if flags.asks_nobody => {}
            Some("stdio") => policy.can_ask = true,
            Some(tool) => policy.prompt_tool = Some(tool.to_owned()),
            None => {}
        }
        Ok(())
    }
}

/// Rules that deny or ask about a tool that nobody knows: they are told. Servers and agents bring none but `mcp__` names.
///
/// # Errors
/// The first whose name is nearly that of a tool: without it more would run than was meant to.
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

/// None is left out: another agent of its name, which may do more, would take its place.
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
