//! What settings and files bring along, by the dice: agents, hooks that are commands, worktrees, permissions. What changes from one
//! reading of the files to the next is thrown each time.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_core::{
    RawJson, Seeded, Spec,
    agent::{AgentDefinition, AgentProfile},
    hook::{HookAnswer, HookCall, HookEvent, HookMatcher, Occurrence, input::WorktreeRemove},
    permission::{Mode, Rule},
    tool::ToolDefinition,
    tools::CoreTool,
};

/// A tool that is denied in every reading.
pub(super) const LOCKED: &str = "Locked";

/// Events of which a hook that is a command may hear.
const EVENTS: [HookEvent; 10] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::UserPromptSubmit,
    HookEvent::SessionStart,
    HookEvent::SessionEnd,
    HookEvent::Stop,
    HookEvent::SubagentStart,
    HookEvent::SubagentStop,
    HookEvent::PermissionRequest,
    HookEvent::WorktreeRemove,
];

/// What there is in a run.
#[derive(Debug)]
pub(super) struct Project {
    has_agents: bool,
    has_worktrees: bool,
    /// Events that have a hook.
    hooks: Vec<HookEvent>,
    /// The files say something else each time.
    changes: bool,
}

impl Project {
    pub(super) fn new(dice: &mut Seeded) -> Self {
        let has_hooks = dice.below(3) == 0;
        let mut is_heard = |_: &HookEvent| has_hooks && dice.below(2) == 0;
        let hooks = EVENTS.into_iter().filter(&mut is_heard).collect();
        Self {
            hooks,
            has_agents: dice.below(3) == 0,
            has_worktrees: dice.below(5) == 0,
            changes: dice.below(2) == 0,
        }
    }

    /// What sessions are made of by this reading.
    pub(super) fn spec(&self, dice: &mut Seeded) -> Spec {
        let mut spec = Spec::with_tools([tool("Look").read_only(), tool("Do"), tool(LOCKED)]);
        spec.model.stream = false;
        spec.policy.persist = true;
        spec.stream.replay_prompts = true;
        spec.policy.permissions.can_ask = true;
        spec.policy.permissions.rules.deny = rules(&[LOCKED]);
        spec.environment.cwd = "/work".to_owned();
        spec.model.retry.max_retries = 1;
        spec.policy.hooks = self.matchers(dice);
        if self.has_agents {
            spec.offer([CoreTool::Task, CoreTool::TaskOutput, CoreTool::TaskStop]);
            agents().for_each(|agent| spec.tools.agents.add(agent));
        }
        if self.changes {
            change(dice, &mut spec);
        }
        spec
    }

    fn matchers(&self, dice: &mut Seeded) -> Vec<HookMatcher> {
        let mut matcher = |event: &HookEvent| {
            let mut matcher = HookMatcher::new(*event, [name(*event)]);
            matcher.timeout_ms = 1 + dice.below(5_000);
            matcher
        };
        self.hooks.iter().map(&mut matcher).collect()
    }

    /// The hooks that are commands, by their names.
    pub(super) fn commands(&self) -> BTreeSet<String> {
        self.hooks.iter().map(|event| name(*event)).collect()
    }

    /// Whether a hook hears of this.
    pub(super) fn hears(&self, event: HookEvent) -> bool {
        self.hooks.contains(&event)
    }

    /// Calls that a model makes here only.
    pub(super) fn calls(&self, dice: &mut Seeded) -> Vec<(&'static str, Value)> {
        if !self.has_agents {
            return vec![(LOCKED, json!({}))];
        }
        let task = |dice: &mut Seeded| {
            let kinds = ["helper", "helper", "general-purpose", "nobody"];
            let kind = kinds[usize::try_from(dice.below(4)).unwrap_or_default()];
            let task = json!({"description": "look", "prompt": "Look around.", "subagent_type": kind,
                "run_in_background": dice.below(2) == 0});
            ("Task", task)
        };
        match dice.below(4) {
            0 => vec![(LOCKED, json!({})), task(dice)],
            1 => vec![task(dice), task(dice)],
            2 => vec![("TaskOutput", json!({"task_id": "none", "block": false}))],
            _ => vec![task(dice)],
        }
    }

    /// Worktrees that are to go.
    pub(super) fn worktrees(&self, dice: &mut Seeded) -> Vec<Occurrence> {
        let count = if self.has_worktrees { dice.below(3) } else { 0 };
        let worktree = |number| {
            Occurrence::WorktreeRemove(WorktreeRemove {
                worktree_path: format!("/work/.claude/worktrees/{number}"),
            })
        };
        (0..count).map(worktree).collect()
    }
}

/// The name of the command that hears of an event.
fn name(event: HookEvent) -> String {
    format!("command {}", event.name())
}

fn tool(name: &str) -> ToolDefinition {
    let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap_or_else(|_| RawJson::null());
    ToolDefinition::new(name, "Does something.", schema)
}

fn rules(texts: &[&str]) -> Vec<Rule> {
    // Each is the name of a tool, which is a rule.
    texts
        .iter()
        .filter_map(|text| Rule::parse(text).ok())
        .collect()
}

fn agents() -> impl Iterator<Item = AgentProfile> {
    let helper = AgentDefinition::new("Helps.", "You help.");
    AgentProfile::new("helper", helper).into_iter()
}

/// What the files may say otherwise than before.
fn change(dice: &mut Seeded, spec: &mut Spec) {
    if dice.below(3) == 0 {
        spec.tools.definitions.push(tool("Further"));
    }
    if dice.below(3) == 0 {
        spec.policy.permissions.rules.allow = rules(&["Do", LOCKED]);
    }
    if dice.below(4) == 0 {
        spec.policy
            .permissions
            .rules
            .deny
            .extend(rules(&["Further"]));
    }
    if dice.below(4) == 0 {
        spec.policy.permissions.mode = Mode::AcceptEdits;
    }
    if dice.below(4) == 0 {
        spec.policy
            .hooks
            .retain(|matcher| matcher.event != HookEvent::Stop);
    }
    if dice.below(3) == 0 {
        spec.prompt.system = "Be brief.".into();
    }
}

/// What a command answers, whatever it may say to this event.
pub(super) fn answer(call: &HookCall, dice: &mut Seeded) -> HookAnswer {
    let said = |code, stdout: Value, stderr: &str| HookAnswer::Exited {
        code: Some(code),
        stdout: stdout.to_string(),
        stderr: stderr.to_owned(),
    };
    match (dice.below(8), call.event) {
        (0, event) if event != HookEvent::UserPromptSubmit => said(2, json!({}), "not like this"),
        (1, _) => said(1, json!({}), "it broke"),
        (2, HookEvent::PreToolUse) => said(
            0,
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}),
            "",
        ),
        (3, HookEvent::UserPromptSubmit | HookEvent::SessionStart) => said(
            0,
            json!({"hookSpecificOutput": {"hookEventName": call.event.name(), "additionalContext": "note this"}}),
            "",
        ),
        _ => said(0, json!({}), ""),
    }
}
