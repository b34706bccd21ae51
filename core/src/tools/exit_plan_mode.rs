//! ExitPlanMode: presents a plan, and leaves plan mode when it is approved (Agent SDK reference, `ExitPlanModeInput`,
//! `ExitPlanModeOutput`).
//!
//! The plan is the text of the response that makes the call. An input with `plan` is accepted as well: older versions of the tool
//! had that field, and whoever approves may edit the plan in it.
//!
//! `allowedPrompts` requests Bash permissions along with the plan. Each prompt is read as the part of a rule in parentheses
//! (`cargo test:*` becomes `Bash(cargo test:*)`): exactly what is written is approved, and no model interprets it. A prompt in
//! plain words therefore allows nothing beyond itself, and one that is not a valid rule is named in the result.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Change, Done, Seen, answered};
use crate::{
    json::{RawJson, RawObject},
    permission::{Mode, Rule},
};

pub(super) const DESCRIPTION: &str = "Ends plan mode: puts your plan before the person and waits for their decision. \
Write the plan as the text of the same response, then call this tool; do not ask for approval in any other way. \
Call it when the plan is complete, not to ask questions and not for work that only reads. \
`allowedPrompts` names shell commands that carrying out the plan will need, so that they are approved along with it: \
each one a whole command (`npm test`), or its beginning followed by `:*` (`cargo build:*`). Name as few as you can.";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "allowedPrompts": {
      "type": "array",
      "description": "Commands that the plan needs",
      "items": {
        "type": "object",
        "properties": {
          "tool": { "type": "string", "enum": ["Bash"] },
          "prompt": { "type": "string", "minLength": 1, "description": "A command, or its beginning followed by `:*`" }
        },
        "required": ["tool", "prompt"]
      }
    }
  }
}"#;

/// The input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExitPlanModeInput {
    /// Permissions that the plan requires.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_prompts: Vec<AllowedPrompt>,
    /// The plan: set by the core from the model's text, or as edited by whoever approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// A permission that a plan requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedPrompt {
    /// The tool: `Bash`.
    pub tool: String,
    /// The command, or its beginning followed by `:*`.
    pub prompt: String,
}

/// The structured output. `filePath`, `awaitingLeaderApproval` and `requestId` are left out: they concern plans in files, or
/// approved by another agent, which do not exist here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitPlanModeOutput {
    /// The plan; none if the model wrote none.
    pub plan: Option<String>,
    /// Whether a subagent made it.
    pub is_agent: bool,
    /// Whether subagents can be started to carry it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_task_tool: Option<bool>,
}

/// Adds the plan to the input, so that whoever is asked for permission sees it.
pub(super) fn with_plan(input: RawJson, said: &str) -> RawJson {
    let Ok(mut object) = RawObject::parse(input.get()) else {
        return input;
    };
    let said = said.trim();
    if object.get("plan").is_some() || said.is_empty() {
        return input;
    }
    object.set("plan", RawJson::string(said));
    object.to_raw()
}

pub(super) fn fault(input: &RawJson, seen: &Seen<'_>) -> Option<String> {
    if seen.mode != Mode::Plan {
        return Some(format!(
            "This is not plan mode (the mode is {}): there is nothing to leave. Go on with the work.",
            seen.mode.name()
        ));
    }
    match input.read::<ExitPlanModeInput>() {
        Ok(_) => None,
        Err(error) => Some(format!("The input cannot be used: {error}")),
    }
}

pub(super) fn run(input: ExitPlanModeInput, seen: &Seen<'_>) -> Done {
    let mut changes = Vec::new();
    // If whoever approved has chosen another mode in the same answer, that mode applies.
    if seen.mode == Mode::Plan {
        changes.push(Change::Mode(None));
    }
    let (rules, refused) = rules(&input.allowed_prompts);
    let mut text = String::from("The plan is approved and plan mode is over: carry it out now.");
    if let Some(plan) = &input.plan {
        // The plan may have been edited: the approved version counts.
        text.push_str(&format!("\n\nThe approved plan:\n{plan}"));
    }
    if !rules.is_empty() {
        let names: Vec<String> = rules.iter().map(|rule| format!("{rule}")).collect();
        text.push_str(&format!("\n\nAllowed with it: {}.", names.join(", ")));
        changes.push(Change::Allow(rules));
    }
    if !refused.is_empty() {
        let listed = refused.join("; ");
        text.push_str(&format!(
            "\n\nNot allowed, ask again when it is needed: {listed}."
        ));
    }
    let output = ExitPlanModeOutput {
        plan: input.plan,
        is_agent: seen.in_subagent,
        has_task_tool: seen.spec.tool("Task").is_some().then_some(true),
    };
    Done {
        result: answered(text, &output),
        changes,
    }
}

/// The rules that the prompts request, and the prompts that are not valid rules.
fn rules(prompts: &[AllowedPrompt]) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut refused) = (Vec::new(), Vec::new());
    for AllowedPrompt { tool, prompt } in prompts {
        let text = format!("{tool}({})", prompt.trim());
        match Rule::parse(&text) {
            // `*` alone would allow every command, which nobody should approve along with a plan.
            Ok(rule) if tool == "Bash" && prompt.trim() != "*" => rules.push(rule),
            Ok(_) => refused.push(format!("{text}: too wide")),
            Err(error) => refused.push(format!("{error}")),
        }
    }
    (rules, refused)
}
