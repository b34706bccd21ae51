//! A session as JSON, for hosts that are reached across a boundary: a component, a browser module.

mod written;

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use crate::{
    agent::{Agent, AgentDefinition, ModelAliases},
    context::{
        ContextPolicy, InterruptedAnswer, MemoryFile, OutputStyle, PlanReminder, SystemPrompt,
    },
    effect::Prompt,
    environment::Environment,
    hook::HookMatcher,
    id::{SessionId, Uuid},
    json::{Fault, RawJson, remedy_for},
    model::{Effort, Thinking, ThinkingDisplay},
    output::{OutputFormat, PlainText},
    permission::{Mode, PermissionPolicy, Rule, Rules, ToolSet},
    provider::{Provider, messages::MessagesApi, openai::ChatCompletions},
    skill::Skill,
    sorted::SortedMap,
    spec::{Limits, ResponseLimits, RetryPolicy, Spec, TaskPolicy, ToolSearchSetting},
    tool::{CoreTool, ToolDefinition},
};

/// What starts a session: its identity, its [`Spec`] and, where the host wants one, the first prompt.
///
/// In JSON `{"seed": …, "session_id": …, "prompt": …, "spec": {…}}`. The seed has 64 hexadecimal
/// digits and must be as random as the ids are to be unique; the session id is a UUID and may be left
/// out; the prompt is a text or an array of content blocks. The fields of `spec` are those of
/// [`Spec`] under their names, all of them optional; `core_tools` names the tools of [`Spec::offer`];
/// `tool_search` is a text as in `ENABLE_TOOL_SEARCH`; `skills` is a list of [`Skill`]s; `permissions` has those of [`PermissionPolicy`]
/// with `allow`, `ask` and `deny` as lists of rules; `prices` is a price file; `provider` is
/// `"anthropic"` (as it is without it), `"openai"`, or `{"openai": {…}}` with the settings of
/// [`ChatCompletions`]; `agents` are definitions by name,
/// added to the built-in ones, and `agent` is the name of the one as which the main thread runs. Unknown fields
/// are refused.
///
/// ```
/// use windlass_core::session_request::SessionRequest;
/// let task = SessionRequest::parse(
///     r#"{"seed": "0707070707070707070707070707070707070707070707070707070707070707",
///         "prompt": "Fix the failing tests",
///         "spec": {"limits": {"max_turns": 9}, "permissions": {"allow": ["Read"]}}}"#,
/// )?;
/// assert_eq!(task.spec.limits.max_turns, Some(9));
/// # Ok::<(), windlass_core::session_request::SessionRequestError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SessionRequest {
    /// Where ids come from.
    pub seed: [u8; 32],
    /// The session's id; without one it is made from the seed by whoever starts the session.
    pub session_id: Option<SessionId>,
    /// The first prompt.
    pub prompt: Option<Prompt>,
    /// Everything else.
    pub spec: Spec,
}

/// A task that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session request is not usable: {reason}; {remedy}")]
pub struct SessionRequestError {
    /// What is wrong, and where.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

impl SessionRequestError {
    /// A part of the task that says by itself what would be right.
    fn new(reason: impl ToString) -> Self {
        Self {
            reason: reason.to_string(),
            remedy: "correct it, or leave the field out".into(),
        }
    }

    /// What the JSON reader found.
    fn from_reader(fault: &Fault) -> Self {
        let reason = fault.to_string();
        Self {
            remedy: remedy_for(&reason).into(),
            reason,
        }
    }

    /// The same with something else to do about it.
    fn with_remedy(self, remedy: &str) -> Self {
        Self {
            remedy: remedy.into(),
            ..self
        }
    }
}

impl SessionRequest {
    /// Reads a task.
    ///
    /// # Errors
    /// [`SessionRequestError`] naming the field, or line and column.
    pub fn parse(json: &str) -> Result<Self, SessionRequestError> {
        let form: SessionRequestForm = crate::json::read::from_str(json)
            .map_err(|fault: Fault| SessionRequestError::from_reader(&fault))?;
        let seed = hex_seed(&form.seed).ok_or_else(|| {
            SessionRequestError::new("`seed` must be 64 hexadecimal digits (32 random bytes)")
                .with_remedy(
                    "draw 32 random bytes and write them so; the same seed gives the same ids",
                )
        })?;
        Ok(Self {
            seed,
            session_id: form.session_id,
            prompt: form.prompt.map(PromptForm::check).transpose()?,
            spec: form.spec.check()?,
        })
    }
}

/// 32 bytes from 64 hexadecimal digits.
fn hex_seed(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut seed = [0; 32];
    for (byte, place) in seed.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(text.get(place..place + 2)?, 16).ok()?;
    }
    Some(seed)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionRequestForm {
    seed: String,
    #[serde(default)]
    session_id: Option<Uuid>,
    #[serde(default)]
    prompt: Option<PromptForm>,
    #[serde(default)]
    spec: SpecForm,
}

/// A text or an array of content blocks; which one is decided by [`PromptForm::check`], because raw
/// JSON does not go through an untagged enum.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct PromptForm(RawJson);

impl PromptForm {
    fn check(self) -> Result<Prompt, SessionRequestError> {
        Prompt::from_json(&self.0).map_err(SessionRequestError::new)
    }
}

impl Prompt {
    /// Reads a prompt: a JSON string, or an array of content blocks.
    ///
    /// # Errors
    /// [`SessionRequestError`] if it is neither.
    pub fn from_json(json: &RawJson) -> Result<Self, SessionRequestError> {
        if let Ok(text) = json.read::<String>() {
            return Ok(Self::text(&text));
        }
        let content: Vec<RawJson> = json.read().unwrap_or_default();
        if content.is_empty() || !content.iter().all(RawJson::is_object) {
            return Err(SessionRequestError::new(
                "`prompt` must be a text or an array of content blocks",
            )
            .with_remedy(
                "write a text in quotes, or blocks such as {\"type\":\"text\",\"text\":…}",
            ));
        }
        Ok(Self::blocks(content))
    }
}

/// The name of a wire format, or an object of its name with its settings. (Raw JSON, as with prompts.)
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct ProviderForm(RawJson);

impl ProviderForm {
    fn check(&self) -> Result<Arc<dyn Provider>, SessionRequestError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct WithSettings {
            openai: ChatCompletions,
        }
        if let Ok(name) = self.0.read::<String>() {
            return match name.as_str() {
                "anthropic" => Ok(Arc::new(MessagesApi)),
                "openai" => Ok(Arc::new(ChatCompletions::default())),
                _ => Err(SessionRequestError::new(format!(
                    "`provider` is \"anthropic\" or \"openai\", not \"{name}\""
                ))
                .with_remedy("take one of the two")),
            };
        }
        let with: WithSettings = (self.0.read())
            .map_err(|error| SessionRequestError::new(format!("`provider`: {error}")))?;
        Ok(Arc::new(with.openai))
    }
}

/// The form of the answer: `{"schema": …, "max_retries": 5, "plain_text": "is_a_fault"}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputForm {
    schema: RawJson,
    #[serde(default)]
    max_retries: Option<u32>,
    #[serde(default)]
    plain_text: PlainText,
}

impl OutputForm {
    fn check(self) -> Result<OutputFormat, SessionRequestError> {
        let mut format = OutputFormat::new(self.schema).map_err(|error| {
            SessionRequestError::new(format!("the schema of `output` is unusable {error}"))
        })?;
        format.max_retries = self.max_retries.unwrap_or(format.max_retries);
        format.plain_text = self.plain_text;
        Ok(format)
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SpecForm {
    provider: Option<ProviderForm>,
    output: Option<OutputForm>,
    model: Option<String>,
    fallback_model: Option<String>,
    max_tokens: Option<u32>,
    system: SystemPrompt,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    surroundings_apart: bool,
    output_style: Option<OutputStyle>,
    memory: Vec<MemoryFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan_reminder: Option<PlanReminder>,
    #[serde(skip_serializing_if = "InterruptedAnswer::is_usual")]
    interrupted_answer: InterruptedAnswer,
    context: ContextPolicy,
    tools: Vec<ToolDefinition>,
    #[serde(skip_serializing_if = "SortedMap::is_empty")]
    tool_aliases: SortedMap<String, String>,
    agents: SortedMap<String, AgentDefinition>,
    agent: Option<String>,
    model_aliases: ModelAliases,
    tasks: TaskPolicy,
    core_tools: Vec<CoreTool>,
    tool_search: Option<String>,
    skills: Vec<Skill>,
    skill_list_budget: Option<u32>,
    thinking: Thinking,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_display: Option<ThinkingDisplay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_budget: Option<u32>,
    effort: Option<Effort>,
    betas: Vec<String>,
    stream: Option<bool>,
    partial_messages: bool,
    replay_prompts: bool,
    sequential_tools: bool,
    tool_use_summaries: bool,
    prompt_suggestions: bool,
    progress_interval_ms: Option<u64>,
    limits: Limits,
    retry: Option<RetryPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<ResponseLimits>,
    permissions: PermissionForm,
    hooks: Vec<HookMatcher>,
    hook_messages: Option<bool>,
    environment: Environment,
    prices: Option<RawJson>,
    persist: bool,
    cancel_grace_ms: Option<u64>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PermissionForm {
    mode: Mode,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    can_ask: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    tell_denials: bool,
    free_workspace_reads: bool,
    allow_bypass: bool,
    tools: ToolSet,
    permission_prompt_tool_name: Option<String>,
}

impl SpecForm {
    fn check(self) -> Result<Spec, SessionRequestError> {
        let usual = Spec::default();
        let catalogue = match self.prices {
            None => usual.catalogue,
            Some(file) => usual
                .catalogue
                .with_file(file.get())
                .map_err(SessionRequestError::new)?,
        };
        let mut agents = usual.agents;
        for (name, definition) in self.agents {
            agents.add(Agent::new(&name, definition).map_err(SessionRequestError::new)?);
        }
        let chosen_model = self.model.clone();
        let tool_search = match self.tool_search {
            None => usual.tool_search,
            Some(text) => ToolSearchSetting::parse(&text).map_err(SessionRequestError::new)?,
        };
        let mut spec = Spec {
            provider: match &self.provider {
                Some(form) => form.check()?,
                None => usual.provider,
            },
            catalogue,
            model: self.model.unwrap_or(usual.model),
            fallback_model: self.fallback_model,
            max_tokens: self.max_tokens,
            system: self.system,
            surroundings_apart: self.surroundings_apart,
            output_style: self.output_style,
            memory: self.memory,
            plan_reminder: self.plan_reminder,
            interrupted_answer: self.interrupted_answer,
            context: self.context,
            tools: self.tools,
            tool_aliases: self.tool_aliases,
            agents,
            agent: None,
            model_aliases: self.model_aliases,
            tasks: self.tasks,
            tool_search,
            skills: self.skills,
            skill_list_budget: self.skill_list_budget.unwrap_or(usual.skill_list_budget),
            thinking: self.thinking,
            thinking_display: self.thinking_display,
            task_budget: self.task_budget,
            effort: self.effort,
            betas: self.betas,
            stream: self.stream.unwrap_or(usual.stream),
            partial_messages: self.partial_messages,
            replay_prompts: self.replay_prompts,
            sequential_tools: self.sequential_tools,
            tool_use_summaries: self.tool_use_summaries,
            prompt_suggestions: self.prompt_suggestions,
            progress_interval_ms: match self.progress_interval_ms {
                None => usual.progress_interval_ms,
                Some(ms) => (ms > 0).then_some(ms),
            },
            limits: self.limits,
            retry: self.retry.unwrap_or(usual.retry),
            response: self.response.unwrap_or(usual.response),
            permissions: self.permissions.check()?,
            output: self.output.map(OutputForm::check).transpose()?,
            hooks: self.hooks,
            hook_messages: self.hook_messages.unwrap_or(usual.hook_messages),
            environment: self.environment,
            persist: self.persist,
            cancel_grace_ms: self.cancel_grace_ms.unwrap_or(usual.cancel_grace_ms),
        };
        spec.offer(self.core_tools);
        spec.check().map_err(SessionRequestError::new)?;
        let Some(name) = self.agent else {
            return Ok(spec);
        };
        let mut spec = spec.run_as(&name).map_err(SessionRequestError::new)?;
        // A model that was named is used exactly.
        spec.model = chosen_model.unwrap_or(spec.model);
        Ok(spec)
    }
}

impl PermissionForm {
    fn check(self) -> Result<PermissionPolicy, SessionRequestError> {
        if self.mode == Mode::BypassPermissions && !self.allow_bypass {
            return Err(SessionRequestError::new(
                "`mode` bypassPermissions must be allowed by `allow_bypass` as well",
            ));
        }
        Ok(PermissionPolicy {
            mode: self.mode,
            rules: Rules {
                allow: rules(&self.allow, "allow")?,
                ask: rules(&self.ask, "ask")?,
                deny: rules(&self.deny, "deny")?,
                ..Rules::default()
            },
            tools: self.tools,
            prompt_tool: self.permission_prompt_tool_name,
            can_ask: self.can_ask,
            tell_denials: self.tell_denials,
            free_workspace_reads: self.free_workspace_reads,
            allow_bypass: self.allow_bypass,
            confinement: None,
        })
    }
}

fn rules(texts: &[String], list: &str) -> Result<Vec<Rule>, SessionRequestError> {
    texts
        .iter()
        .map(|text| {
            Rule::parse(text)
                .map_err(|e| SessionRequestError::new(e.at(&format!("permissions.{list}"))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = "00000000000000000000000000000000000000000000000000000000000000ff";

    fn parse(rest: &str) -> Result<SessionRequest, SessionRequestError> {
        SessionRequest::parse(&format!(r#"{{"seed": "{SEED}"{rest}}}"#))
    }

    #[test]
    fn what_is_left_out_is_as_in_the_default_spec() {
        let task = parse("").unwrap();
        assert_eq!(task.seed[31], 255);
        assert_eq!(task.spec.model, Spec::default().model);
        assert_eq!(task.spec.retry, RetryPolicy::default());
        assert!(task.spec.stream);
        assert!(task.prompt.is_none());
    }

    #[test]
    fn a_prompt_is_a_text_or_blocks() {
        let text = parse(r#", "prompt": "hi""#).unwrap().prompt;
        assert_eq!(text, Some(Prompt::text("hi")));
        let blocks = parse(r#", "prompt": [{"type": "text", "text": "hi"}]"#).unwrap();
        assert_eq!(blocks.prompt.unwrap().content.len(), 1);
    }

    #[test]
    fn a_provider_has_a_name_and_perhaps_settings() {
        let path = |form: &str| {
            let task = parse(&format!(r#", "spec": {{"provider": {form}}}"#)).unwrap();
            let provider = &task.spec.provider;
            let prefix = provider.prefix(&crate::provider::Opening {
                request: &task.spec.model_request("m"),
                system: &[],
                before_conversation: None,
                tools: &[],
            });
            let mut places = Vec::new();
            let history = crate::history::History::default();
            let view = history.view(&mut places);
            provider
                .request(&task.spec.model_request("m"), &prefix, view)
                .path
        };
        assert_eq!(path(r#""anthropic""#), "/v1/messages");
        assert_eq!(path(r#""openai""#), "/v1/chat/completions");
        assert_eq!(
            path(r#"{"openai": {"path": "/x", "extra": {"temperature": 0.50}}}"#),
            "/x"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (rest, named) in [
            (r#", "prompt": 7"#, "`prompt` must be"),
            (r#", "prompt": []"#, "`prompt` must be"),
            (r#", "sped": {}"#, "sped"),
            (r#", "spec": {"modle": "m"}"#, "modle"),
            (
                r#", "spec": {"permissions": {"deny": ["Read("]}}"#,
                "permissions.deny",
            ),
            (
                r#", "spec": {"permissions": {"mode": "bypassPermissions"}}"#,
                "allow_bypass",
            ),
            (r#", "spec": {"prices": {"models": 1}}"#, "price file"),
            (
                r#", "spec": {"agent": "nobody"}"#,
                "the agents are: Explore",
            ),
            (
                r#", "spec": {"agents": {"a": {"description": "d", "prompt": "p", "maxTurns": 0}}}"#,
                "agent a cannot be used: its field `maxTurns`",
            ),
            (r#", "spec": {"provider": "open"}"#, "\"openai\""),
            (
                r#", "spec": {"provider": {"openai": {"pth": "/"}}}"#,
                "unknown field `pth`",
            ),
        ] {
            let error = parse(rest).unwrap_err().to_string();
            assert!(error.contains(named), "{rest}: {error}");
        }
        let error = SessionRequest::parse(r#"{"seed": "7"}"#)
            .unwrap_err()
            .to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
    }
}
