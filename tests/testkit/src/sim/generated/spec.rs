//! The spec of a generated world.

use alloc::{string::ToString, vec::Vec};

use serde_json::{Value, json};
use windlass_core::{
    context::InterruptedAnswer,
    id::Seeded,
    json::RawJson,
    money::Usd,
    permission::{Mode, Rule},
    spec::Spec,
    tool::{Access, CoreTool, PathParam, RetryClass, ToolDefinition},
};

use crate::sim::exchange::pick;

/// The tools that the model calls: those that exist, and one that does not.
pub(super) const TOOLS: [&str; 26] = [
    "Read",
    "Look",
    "Look",
    "Look",
    "Edit",
    "Bash",
    "Bash",
    "Note",
    "Gone",
    "Locked",
    "Task",
    "Task",
    "Task",
    "TaskOutput",
    "TaskStop",
    "TodoWrite",
    "AskUserQuestion",
    "ExitPlanMode",
    "Config",
    "Skill",
    "Skill",
    "ToolSearch",
    "mcp__shop__list",
    "mcp__shop__buy",
    "mcp__shop__delete",
    "StructuredOutput",
];

/// Generates a spec. What it denies is always denied: see `forbidden` and `feature::Closed`.
pub(super) fn generate(dice: &mut Seeded) -> Spec {
    let mut spec = Spec::with_tools(tools());
    crate::test_models(&mut spec);
    spec.prompt.system = "Be brief.".into();
    spec.environment.cwd = "/work".to_string();
    spec.policy.permissions.mode = Mode::ALL[pick(dice, 5)];
    spec.policy.permissions.allow_bypass = dice.below(2) == 0;
    spec.policy.permissions.can_ask = dice.below(4) > 0;
    spec.policy.permissions.free_workspace_reads = dice.below(2) == 0;
    spec.policy.permissions.rules.deny = rules(&[
        "Locked",
        "Edit(secret/**)",
        "Read(private/**)",
        "Bash(rm:*)",
    ]);
    if dice.below(3) > 0 {
        spec.policy.permissions.rules.ask = rules(&["Note"]);
        spec.policy.permissions.rules.allow =
            rules(&["Bash(git:*)", "Bash(ls:*)", "Look", "Edit(src/**)", "Task"]);
    }
    if dice.below(4) == 0 {
        // Both allowed and denied: the deny rule wins.
        spec.policy.permissions.rules.allow = rules(&["Locked", "Edit", "Read", "Bash"]);
    }
    spec.policy.persist = dice.below(2) == 0;
    spec.stream.partial_messages = dice.below(3) == 0;
    spec.stream.replay_prompts = dice.below(3) == 0;
    spec.stream.tool_use_summaries = dice.below(3) == 0;
    spec.stream.progress_interval_ms = (dice.below(2) == 0).then(|| 1 + dice.below(3_000));
    spec.model.stream = dice.below(4) > 0;
    spec.policy.cancel_grace_ms = dice.below(3_000);
    spec.model.retry.max_retries = dice.below(4) as u32;
    spec.model.fallback = (dice.below(3) == 0).then(|| "claude-haiku-4-5".into());
    spec.model.retry.jitter_percent = 25;
    spec.prompt.context.compaction.automatic = dice.below(4) > 0;
    spec.prompt.context.compaction.threshold_tokens =
        (dice.below(2) == 0).then(|| dice.below(100_000));
    spec.policy.limits.max_turns = (dice.below(5) == 0).then(|| 1 + dice.below(4) as u32);
    spec.policy.limits.max_budget =
        (dice.below(4) == 0).then(|| Usd::from_nanos(dice.below(2_000_000_000)));
    if dice.below(3) > 0 {
        spec.offer([
            CoreTool::Task,
            CoreTool::TaskOutput,
            CoreTool::TaskStop,
            CoreTool::TodoWrite,
        ]);
        spec.tools.tasks.wake = dice.below(2) == 0;
        // Otherwise some responses would not be visible, and usage could not be checked from outside.
        spec.tools.tasks.tool_calls_only = false;
    }
    if dice.below(2) == 0 {
        spec.policy.hooks = super::hook::registered(dice);
    }
    if spec.policy.cancel_grace_ms.is_multiple_of(3) {
        // Derived from a number that was drawn already, so that existing seeds still give the same worlds.
        spec.prompt.interrupted_answer = InterruptedAnswer::Kept;
    }
    spec
}

fn tools() -> Vec<ToolDefinition> {
    let mut look = tool("Look", json!({"type": "object"})).read_only();
    look.retry = RetryClass::RunAgain;
    let mut note = tool("Note", json!({"type": "object"}));
    note.retry = RetryClass::RunAgainWithKey;
    let mut bash = tool("Bash", fields("command"));
    bash.command_param = Some("command".to_string());
    bash.retry = RetryClass::Probe;
    bash.background_param = Some("run_in_background".to_string());
    vec![
        file_tool("Read", Access::Read).read_only(),
        look,
        file_tool("Edit", Access::Write),
        bash,
        note,
        tool("Locked", json!({"type": "object"})),
    ]
}

pub(super) fn tool(name: &str, schema: Value) -> ToolDefinition {
    let schema = RawJson::parse(schema.to_string()).unwrap_or_else(|_| RawJson::empty_object());
    ToolDefinition::new(name, "Does something.", schema)
}

fn file_tool(name: &str, access: Access) -> ToolDefinition {
    let mut tool = tool(name, fields("file_path"));
    tool.paths = vec![PathParam {
        field: "file_path".to_string(),
        access,
        default_cwd: false,
        read_first: false,
    }];
    tool
}

fn fields(field: &str) -> Value {
    json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]})
}

pub(super) fn rules(texts: &[&str]) -> Vec<Rule> {
    // A test checks that each of them is valid.
    texts
        .iter()
        .filter_map(|text| Rule::parse(text).ok())
        .collect::<Vec<Rule>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_a_generated_spec_is_a_rule() {
        for seed in 0..20 {
            let mut spec = generate(&mut Seeded::new([seed; 32]));
            spec.policy.permissions.rules.deny.truncate(4);
            crate::sim::generated::feature::add(&mut Seeded::new([7; 32]), &mut spec);
            let denied: Vec<std::string::String> = spec
                .policy
                .permissions
                .rules
                .deny
                .iter()
                .map(ToString::to_string)
                .collect();
            assert!(denied.len() >= 7, "{denied:?}");
        }
    }
}
