//! Features of a generated world beyond the basic loop. Each is present in a part of the worlds, so that all kinds of faults
//! affect it.

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
    vec::Vec,
};

use memchr::memmem;
use serde_json::{Value, json};
use windlass_core::{
    agent::{AgentDefinition, AgentModel, AgentProfile},
    context::{
        clearing::{ClearedBy, Clearing},
        memory::{MemoryFile, MemoryScope},
        plan::PlanReminder,
    },
    effect::{Effect, HttpRequest, Output},
    id::Seeded,
    json::RawJson,
    output::{self, OutputFormat, PlainText},
    permission::Mode,
    skill::Skill,
    spec::{Spec, ToolSearchSetting},
    tool::CoreTool,
};

use super::spec::{rules, tool};
use crate::oracle::{Check, Oracle, View, Violation};

/// Texts that only the denied agent is told, and only the denied skill contains.
const CLOSED_AGENT: &str = "You are the agent that nobody may start.";
const CLOSED_SKILL: &str = "These are the words of the skill that is closed.";

/// Texts in a request that show that a feature was exercised.
const MARKS: [(&str, &str); 12] = [
    ("structured output", "The answer was taken."),
    ("a question to a person", "The person answered:"),
    ("a plan that was approved", "The plan is approved"),
    ("a setting that the model read", "effort is "),
    (
        "a setting that the model changed",
        "from the next request on.",
    ),
    ("a skill", "These are the words of a skill."),
    ("a custom agent", "You test what others have built."),
    (
        "tools that were searched for",
        "Loaded, and can be called from now on",
    ),
    ("tools that were searched for", "\"tool_reference\""),
    (
        "a tool result that was cleared",
        "[This result was removed to make room.",
    ),
    ("memory", "Always say please."),
    ("a tool of an MCP server", "The shop has"),
];

/// The names of all features.
pub(super) fn names() -> BTreeSet<&'static str> {
    MARKS
        .iter()
        .map(|(name, _)| *name)
        .chain([UPDATES])
        .collect()
}

/// The features that a request shows.
pub(super) fn shown(request: &[u8]) -> impl Iterator<Item = &'static str> {
    let is_there = |mark: &str| memmem::find(request, mark.as_bytes()).is_some();
    let marks = MARKS.iter().filter(move |(_, mark)| is_there(mark));
    marks.map(|(name, _)| *name)
}

/// Permission questions whose answers change the permissions.
pub(super) const UPDATES: &str = "permissions changed in an answer";

/// The result of an MCP server's tool.
pub(super) const FROM_THE_SHOP: &str = "The shop has apples.";

/// Adds random features to a spec.
pub(super) fn add(dice: &mut Seeded, spec: &mut Spec) {
    spec.policy.permissions.rules.deny.extend(rules(&[
        "Skill(closed)",
        "Task(closed)",
        "mcp__shop__delete",
    ]));
    let mut one_in = |times: u64| dice.below(times) == 0;
    if one_in(4) {
        spec.offer([CoreTool::AskUserQuestion]);
    }
    if spec.policy.permissions.mode == Mode::Plan || one_in(8) {
        spec.offer([CoreTool::ExitPlanMode]);
        spec.prompt.plan_reminder = one_in(2).then(PlanReminder::default);
    }
    if one_in(4) {
        spec.offer([CoreTool::Config]);
    }
    if one_in(4) {
        spec.offer([CoreTool::Skill]);
        spec.tools.skills = skills();
    }
    if one_in(3) {
        spec.tools.definitions.extend(shop());
        if one_in(2) {
            spec.offer([CoreTool::ToolSearch]);
            spec.tools.search = ToolSearchSetting::On;
        }
    }
    if one_in(3) {
        custom_agents().for_each(|agent| spec.tools.agents.add(agent));
    }
    if one_in(8) {
        // Denied by name: such a tool is not offered, but a model may call it nevertheless.
        let denied = ["Config", "Skill", "ToolSearch", "TodoWrite"];
        let at = super::pick(dice, denied.len() as u64);
        spec.policy
            .permissions
            .rules
            .deny
            .extend(rules(&[denied[at]]));
    }
    if dice.below(6) == 0 {
        spec.prompt.output = format(dice);
    }
    if dice.below(4) == 0 {
        spec.prompt.context.clearing = Some(clearing(dice));
    }
    if dice.below(4) == 0 {
        spec.prompt.memory = vec![MemoryFile {
            path: "/work/NOTES.md".to_string(),
            scope: MemoryScope::Project,
            text: "Always say please.".to_string(),
        }];
    }
}

fn skills() -> Vec<Skill> {
    let mut notes = Skill::new(
        "notes",
        "How to take notes.",
        "These are the words of a skill.",
    );
    notes.allowed_tools = rules(&["Note"]);
    vec![
        Skill::new(
            "plain",
            "How to do it.",
            "These are the words of a skill. $ARGUMENTS",
        ),
        notes,
        Skill::new("closed", "How not to do it.", CLOSED_SKILL),
    ]
}

fn shop() -> [windlass_core::tool::ToolDefinition; 3] {
    let named = |name: &str| {
        tool(
            name,
            json!({"type": "object", "properties": {"query": {"type": "string"}}}),
        )
    };
    let mut list = named("mcp__shop__list").read_only();
    list.annotations.idempotent = true;
    let mut buy = named("mcp__shop__buy");
    buy.annotations.open_world = true;
    let mut delete = named("mcp__shop__delete");
    delete.annotations.destructive = true;
    [list, buy, delete]
}

fn custom_agents() -> impl Iterator<Item = AgentProfile> {
    let mut tester = AgentDefinition::new("Tests.", "You test what others have built.");
    tester.tools = Some(
        ["Look", "Bash", "Skill", "mcp__shop__list"]
            .map(String::from)
            .into(),
    );
    tester.disallowed_tools = Some(vec!["Bash(git:*)".to_string()]);
    tester.model = Some(AgentModel::Id("claude-haiku-4-5".to_string()));
    tester.max_turns = Some(3);
    let closed = AgentDefinition::new("Does what must not be done.", CLOSED_AGENT);
    let agents = [("tester", tester), ("closed", closed)];
    agents
        .into_iter()
        .filter_map(|(name, definition)| AgentProfile::new(name, definition).ok())
}

fn format(dice: &mut Seeded) -> Option<OutputFormat> {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let mut format = OutputFormat::new(RawJson::parse(schema.to_string()).ok()?).ok()?;
    format.max_retries = dice.below(3) as u32;
    if dice.below(2) == 0 {
        format.plain_text = PlainText::IsRemindedOnce;
    }
    Some(format)
}

fn clearing(dice: &mut Seeded) -> Clearing {
    let bys = [ClearedBy::ProviderIfItCan, ClearedBy::Core, ClearedBy::Core];
    Clearing {
        trigger_tokens: dice.below(60_000),
        keep: dice.below(3) as u32,
        clear_inputs: dice.below(2) == 0,
        exclude_tools: vec!["Read".to_string()],
        by: bys[super::pick(dice, 3)],
        // If the model has such a tool, it is warned so that it can save something.
        memory_tool: ["Note", "memory"][super::pick(dice, 2)].to_string(),
        ..Clearing::default()
    }
}

/// Whether a tool belongs to this module.
pub(super) fn has(tool: &str) -> bool {
    let core = [
        CoreTool::AskUserQuestion,
        CoreTool::ExitPlanMode,
        CoreTool::Config,
        CoreTool::Skill,
        CoreTool::ToolSearch,
    ];
    core.iter().any(|core| core.name() == tool) || tool == output::TOOL || tool.starts_with("mcp__")
}

/// A valid input for one of the tools of this module. `in_any_order` excludes inputs that affect other calls from then on.
pub(super) fn input_of(dice: &mut Seeded, tool: &str, in_any_order: bool) -> Option<Value> {
    let mut one_of = |these: &[&str]| these[super::pick(dice, these.len() as u64)].to_string();
    Some(match tool {
        "AskUserQuestion" => questions(one_of(&["Which?", "Which one?"]), one_of(&["A", "B", "B"])),
        "ExitPlanMode" => {
            json!({"allowedPrompts": [{"tool": "Bash", "prompt": one_of(&["ls:*", "rm:*", "*", "git log"])}]})
        }
        "Config" => {
            let settings: &[(&str, Value)] = &[
                ("model", json!("claude-haiku-4-5")),
                ("effort", json!("low")),
                ("thinking", json!("disabled")),
                ("outputStyle", json!("loud")),
                ("permissionMode", json!("plan")),
            ];
            let known = settings.len() - usize::from(in_any_order);
            let (setting, value) = &settings[super::pick(dice, known as u64)];
            match dice.below(2) {
                0 => json!({"setting": setting}),
                _ => json!({"setting": setting, "value": value}),
            }
        }
        "Skill" if in_any_order => json!({"skill": one_of(&["plain", "closed"])}),
        "Skill" => json!({"skill": one_of(&["plain", "notes", "closed", "none"]), "args": "this"}),
        "ToolSearch" => {
            json!({"query": one_of(&["select:mcp__shop__list", "shop", "nothing like it"])})
        }
        output::TOOL => match dice.below(2) {
            0 => json!({"n": "one"}),
            _ => json!({"n": 1}),
        },
        shop if shop.starts_with("mcp__") => json!({"query": "apples"}),
        _ => return None,
    })
}

/// A question with two choices; asked twice if the choices are equal.
pub(super) fn questions(question: String, second: String) -> Value {
    json!({"questions": [{"question": question, "header": "Which", "multiSelect": false, "options": [
        {"label": "A", "description": "The one."}, {"label": second, "description": "The other."},
    ]}]})
}

/// Denials beyond tool names: texts that only a denied agent or skill contains are never part of a request.
pub(super) struct Closed;

impl Oracle for Closed {
    fn name(&self) -> &'static str {
        "deny"
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        let Output::Effect(id, Effect::Http(request)) = output else {
            return Ok(());
        };
        for (tool, mark) in [("Task", CLOSED_AGENT), ("Skill", CLOSED_SKILL)] {
            if says(request, mark) {
                return Err(Violation::Denied {
                    effect: *id,
                    tool: tool.to_string(),
                    why: "the request has words that only what is closed could say".to_string(),
                });
            }
        }
        Ok(())
    }
}

/// Whether a request contains a text. Texts that are encoded at once are in one piece.
fn says(request: &HttpRequest, text: &str) -> bool {
    let mut pieces = request.body.iter();
    pieces.any(|piece| memmem::find(piece, text.as_bytes()).is_some())
}
