//! A task written down again: what a journal begins with.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    OutputForm, PermissionForm, PromptForm, ProviderForm, SessionRequest, SessionRequestForm,
    SpecForm,
};
use crate::{
    agent::AgentSource,
    json::RawJson,
    permission::Rule,
    price::Catalogue,
    spec::{ResponseLimits, Spec, ToolSearchSetting},
};

impl SessionRequest {
    /// The task in the form that [`SessionRequest::parse`] reads.
    ///
    /// A wire format that is not one of this library's has no name and is left out: whoever reads the task puts it back into
    /// [`SessionRequest::spec`].
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        let form = SessionRequestForm {
            seed: self.seed.iter().map(|byte| format!("{byte:02x}")).collect(),
            session_id: self.session_id,
            prompt: (self.prompt.as_ref())
                .and_then(|prompt| RawJson::encode(&prompt.content).ok().map(PromptForm)),
            spec: SpecForm::of(&self.spec),
        };
        // Strings, numbers, raw JSON and maps with string keys only: encoding cannot fail.
        RawJson::encode(&form).unwrap_or_else(|_| RawJson::empty_object())
    }
}

impl SpecForm {
    fn of(spec: &Spec) -> Self {
        let own = spec.agents.iter();
        let own = own.filter(|agent| agent.source != AgentSource::BuiltIn);
        let permissions = &spec.permissions;
        Self {
            provider: spec.provider.task_form().map(ProviderForm),
            model: Some(spec.model.clone()),
            max_tokens: spec.max_tokens,
            system: spec.system.clone(),
            surroundings_apart: spec.surroundings_apart,
            output: spec.output.as_ref().map(|format| OutputForm {
                schema: format.tool().input_schema.clone(),
                max_retries: Some(format.max_retries),
                plain_text: format.plain_text,
            }),
            tools: (spec.tools.iter())
                .filter(|tool| tool.core.is_none())
                .cloned()
                .collect(),
            tool_aliases: spec.tool_aliases.clone(),
            agents: own
                .map(|agent| (agent.name.clone(), agent.definition.clone()))
                .collect(),
            agent: spec.agent.clone(),
            model_aliases: spec.model_aliases.clone(),
            tasks: spec.tasks.clone(),
            thinking: spec.thinking,
            thinking_display: spec.thinking_display,
            task_budget: spec.task_budget,
            effort: spec.effort,
            betas: spec.betas.clone(),
            stream: Some(spec.stream),
            partial_messages: spec.partial_messages,
            limits: spec.limits.clone(),
            retry: Some(spec.retry.clone()),
            response: (spec.response != ResponseLimits::default()).then(|| spec.response.clone()),
            permissions: PermissionForm {
                mode: permissions.mode,
                allow: texts(&permissions.rules.allow),
                ask: texts(&permissions.rules.ask),
                deny: texts(&permissions.rules.deny),
                tools: permissions.tools.clone(),
                permission_prompt_tool_name: permissions.prompt_tool.clone(),
                can_ask: permissions.can_ask,
                tell_denials: permissions.tell_denials,
                free_workspace_reads: permissions.free_workspace_reads,
                // A mode that needs leave had it.
                allow_bypass: permissions.allow_bypass
                    || permissions.mode == crate::permission::Mode::BypassPermissions,
            },
            environment: spec.environment.clone(),
            prices: (spec.catalogue != Catalogue::built_in()).then(|| spec.catalogue.to_json()),
            sequential_tools: spec.sequential_tools,
            core_tools: spec.tools.iter().filter_map(|tool| tool.core).collect(),
            hooks: spec.hooks.clone(),
            hook_messages: Some(spec.hook_messages),
            tool_search: Some(match spec.tool_search {
                ToolSearchSetting::On => "true".to_string(),
                ToolSearchSetting::Off => "false".to_string(),
                ToolSearchSetting::Auto { percent } => format!("auto:{percent}"),
            }),
            skills: spec.skills.clone(),
            skill_list_budget: Some(spec.skill_list_budget),
            output_style: spec.output_style.clone(),
            memory: spec.memory.clone(),
            plan_reminder: spec.plan_reminder.clone(),
            interrupted_answer: spec.interrupted_answer,
            context: spec.context.clone(),
            fallback_model: spec.fallback_model.clone(),
            replay_prompts: spec.replay_prompts,
            tool_use_summaries: spec.tool_use_summaries,
            prompt_suggestions: spec.prompt_suggestions,
            progress_interval_ms: Some(spec.progress_interval_ms.unwrap_or(0)),
            persist: spec.persist,
            cancel_grace_ms: Some(spec.cancel_grace_ms),
        }
    }
}

fn texts(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_as_it_was_written() {
        let json = r#"{"seed": "0707070707070707070707070707070707070707070707070707070707070707",
            "session_id": "01234567-89ab-4def-8123-456789abcdef", "prompt": "Fix it",
            "spec": {"provider": "openai", "model": "m", "limits": {"max_turns": 9, "max_budget": 0.25},
                "tools": [{"name": "T", "description": "d", "input_schema": {"type": "object"}}],
                "agents": {"mine": {"description": "d", "prompt": "p"}},
                "prices": {"models": [{"prefix": "m", "input": 1, "output": 2.5, "cache_read": 0, "cache_write": 3}]},
                "permissions": {"allow": ["Read"], "deny": ["Edit(secret/**)"], "can_ask": true},
                "skills": [{"name": "pdf", "description": "d", "content": "c", "allowed_tools": ["Read"]}],
                "environment": {"cwd": "/work"}, "persist": true}}"#;
        let task = SessionRequest::parse(json).unwrap();
        let written = task.to_json();
        let again = SessionRequest::parse(written.get()).unwrap();
        assert_eq!(again.to_json(), written);
        assert_eq!(again.seed, task.seed);
        assert_eq!(again.session_id, task.session_id);
        assert_eq!(again.prompt, task.prompt);
        assert_eq!(
            again.spec.provider.task_form(),
            task.spec.provider.task_form()
        );
        assert!(again.spec.provider.task_form().is_some());
        assert_eq!(again.spec.tools, task.spec.tools);
        assert_eq!(again.spec.permissions.rules, task.spec.permissions.rules);
        assert_eq!(again.spec.catalogue, task.spec.catalogue);
        assert_eq!(again.spec.limits, task.spec.limits);
        assert!(again.spec.agents.get("mine").is_some());
        assert!(again.spec.persist);
        assert_eq!(again.spec.skills, task.spec.skills);
        assert_eq!(again.spec.skills[0].allowed_tools[0].to_string(), "Read");
        assert_eq!(again.spec.environment, task.spec.environment);
    }
}
