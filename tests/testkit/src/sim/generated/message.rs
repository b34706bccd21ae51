//! The responses of the model in a generated world.

use alloc::{format, string::ToString, vec::Vec};

use serde_json::{Value, json};
use windlass_core::{
    effect::{Answer, HttpRequest},
    id::Seeded,
    json::RawJson,
};
use windlass_scripted_model::requested_model;

use super::{COMMANDS, PATHS, feature, spec::TOOLS};
use crate::sim::{
    exchange::{Message, Wire, pick},
    world::Asked,
};

/// The number of responses of a thread after which the model answers every prompt at once, so that every run ends.
const TALKATIVE_TURNS: u32 = 14;

/// The same for subagents.
const TALKATIVE_TURNS_OF_AGENTS: u32 = 5;

/// The behaviour of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manners {
    /// It makes meaningful calls until it is done.
    Good,
    /// It mixes everything that servers and models have been observed to send.
    Bad,
}

/// Generates one exchange.
pub(super) fn generate(
    asked: Asked<'_>,
    http: &HttpRequest,
    body: &[u8],
    manners: Manners,
    foreground: bool,
) -> Vec<Answer> {
    let Asked {
        id,
        dice,
        plainly,
        in_any_order,
    } = asked;
    let name = format!("{}_{}_{}", id.agent, id.turn, id.attempt);
    let most = match id.agent {
        0 => TALKATIVE_TURNS,
        _ => TALKATIVE_TURNS_OF_AGENTS,
    };
    let known = match in_any_order && !foreground {
        // Whether a task has ended when it is asked about depends on the order.
        true => Known::default(),
        false => Known::read(body),
    };
    let known = Known {
        in_any_order,
        ..known
    };
    let (mut blocks, stop_reason) = match manners {
        _ if plainly || id.turn > most => (Vec::from([done_text(&name)]), "end_turn"),
        // Parallel agents, and agents started after others, are most likely to be affected by the order.
        Manners::Good if in_any_order && id.agent == 0 && dice.below(2) == 0 => {
            delegate(dice, &name, &known)
        }
        Manners::Good => work(dice, &name, body, &known),
        Manners::Bad => content(dice, &name, &known),
    };
    let written = match dice.below(3) {
        0 => Value::Null,
        _ => json!(dice.below(20_000)),
    };
    let usage = [
        json!({
            "input_tokens": dice.below(100_000), "cache_read_input_tokens": dice.below(50_000),
            "cache_creation_input_tokens": written, "output_tokens": 1, "service_tier": "standard",
        }),
        json!({"output_tokens": dice.below(5_000)}),
    ];
    if foreground {
        let inputs = blocks.iter_mut().filter_map(|block| block.get_mut("input"));
        inputs.for_each(wait_for);
    }
    let asked_model = requested_model(body).unwrap_or_default();
    let model = match dice.below(6) {
        0 => "claude-sonnet-4-6".to_string(),
        // Servers report more specific model names, or names of their own.
        1 => format!("{asked_model}-20260101"),
        2 => "gateway/some-model".to_string(),
        _ => asked_model,
    };
    let wire = match http.path.ends_with("/chat/completions") {
        true => Wire::ChatCompletions,
        false => Wire::Messages,
    };
    let streams = memchr::memmem::find(body, b"\"stream\":true").is_some();
    let message = Message {
        id: format!("msg_{name}"),
        model,
        blocks,
        stop_reason,
        usage,
    };
    // Some gateways never stream.
    match streams && dice.below(8) > 0 {
        true => message.streamed(wire),
        false => message.plain(wire),
    }
}

fn done_text(name: &str) -> Value {
    json!({"type": "text", "text": format!("Done {name}.")})
}

/// The tasks and agents that the conversation mentions.
#[derive(Default)]
struct Known<'a> {
    tasks: Vec<&'a str>,
    agents: Vec<&'a str>,
    in_any_order: bool,
}

impl<'a> Known<'a> {
    fn read(body: &'a [u8]) -> Self {
        let named = |mark: &str| -> Vec<&'a str> {
            memchr::memmem::find_iter(body, mark.as_bytes())
                .filter_map(|at| {
                    let rest = &body[at + mark.len()..];
                    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
                    core::str::from_utf8(&rest[..end]).ok()
                })
                .collect()
        };
        Self {
            tasks: named("background, as task "),
            agents: named("agent id for resume: "),
            in_any_order: false,
        }
    }
}

fn one_of<'a>(dice: &mut Seeded, known: &[&'a str]) -> Option<&'a str> {
    let at = pick(dice, known.len() as u64);
    known.get(at).copied()
}

/// A response of a model that works on its task.
fn work(
    dice: &mut Seeded,
    name: &str,
    request: &[u8],
    known: &Known<'_>,
) -> (Vec<Value>, &'static str) {
    let is_offered = |tool: &&str| {
        memchr::memmem::find(request, format!("\"name\":\"{tool}\"").as_bytes()).is_some()
    };
    // Leaving plan mode affects other calls, so it is excluded if the order must not matter.
    let fits = |tool: &&str| !known.in_any_order || *tool != "ExitPlanMode";
    let offered: Vec<&str> = TOOLS.into_iter().filter(is_offered).filter(fits).collect();
    if dice.below(3) == 0 {
        return (Vec::from([done_text(name)]), "end_turn");
    }
    let mut blocks = Vec::new();
    if dice.below(3) == 0 {
        blocks.push(json!({"type": "text", "text": format!("Let me see {name}.")}));
    }
    // Tools that few worlds have are called more often.
    let rare: Vec<&str> = (offered.iter().copied().filter(|tool| feature::has(tool))).collect();
    for index in 0..=dice.below(3) {
        let rather = match dice.below(2) {
            0 => one_of(dice, &rare),
            _ => None,
        };
        let Some(tool) = rather.or_else(|| one_of(dice, &offered)) else {
            continue;
        };
        let input = match dice.below(3) {
            0 if tool == "Bash" => json!({"command": "ls -l", "run_in_background": true}),
            _ => input_of(dice, tool, known),
        };
        blocks.push(json!({"type": "tool_use", "id": format!("toolu_{name}_{index}"), "name": tool, "input": input}));
    }
    (blocks, "tool_use")
}

/// A response that delegates work to agents.
fn delegate(dice: &mut Seeded, name: &str, known: &Known<'_>) -> (Vec<Value>, &'static str) {
    let blocks = (0..=dice.below(3))
        .map(|index| {
            let mut input = task(dice, known);
            input["run_in_background"] = json!(dice.below(8) == 0);
            json!({"type": "tool_use", "id": format!("toolu_{name}_{index}"), "name": "Task", "input": input})
        })
        .collect();
    (blocks, "tool_use")
}

fn content(dice: &mut Seeded, name: &str, known: &Known<'_>) -> (Vec<Value>, &'static str) {
    let mut blocks = Vec::new();
    for index in 0..dice.below(6) {
        blocks.push(match dice.below(20) {
            0 => json!({"type": "text", "text": ""}),
            1 => json!({"type": "text", "text": " \n"}),
            2 => json!({"type": "thinking", "thinking": format!("hm {name}"), "signature": "c2ln"}),
            3 => json!({"type": "thinking", "thinking": "unsigned"}),
            4 => json!({"type": "redacted_thinking", "data": "eA=="}),
            5 => json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
            6 => json!({"type": "never_heard_of", "a": [1, 2.50, null]}),
            7 => json!({"type": "tool_use", "name": "Look"}),
            8 => json!({"no_type": true}),
            9..12 => {
                json!({"type": "text", "text": format!("Let me see, Ünïcode 𝄞 {name} {index}.")})
            }
            _ => call(dice, &format!("toolu_{name}_{index}"), known),
        });
    }
    let reasons = [
        "end_turn",
        "tool_use",
        "tool_use",
        "tool_use",
        "max_tokens",
        "pause_turn",
        "refusal",
        "tomorrow",
    ];
    (blocks, reasons[pick(dice, 8)])
}

fn call(dice: &mut Seeded, fresh: &str, known: &Known<'_>) -> Value {
    let id = match dice.below(12) {
        // Servers have been observed to reuse ids, and to omit them.
        0 => "toolu_again",
        1 => "",
        _ => fresh,
    };
    let name = match TOOLS[pick(dice, TOOLS.len() as u64)] {
        // Leaving plan mode would affect other calls.
        "ExitPlanMode" if known.in_any_order => "TodoWrite",
        name => name,
    };
    let input = match dice.below(10) {
        0 => json!("{\"file_path\": \"a"),
        1 => json!({"file_path": 7, "command": 7}),
        2 => json!(
            "{\"file_path\":\"a\",\"file_path\":\"secret/key\",\"command\":\"ls\",\"command\":\"rm x\"}"
        ),
        _ => input_of(dice, name, known),
    };
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// An input that every tool takes.
pub(super) fn input(dice: &mut Seeded, foreground: bool) -> RawJson {
    let mut input = task(dice, &Known::default());
    if let (Some(input), Value::Object(fields)) = (input.as_object_mut(), fields(dice)) {
        input.extend(fields);
    }
    input["task_id"] = json!("unknown");
    input["skill"] = json!(["plain", "closed"][pick(dice, 2)]);
    input["setting"] = json!("effort");
    input["questions"] = feature::questions("Which?".into(), "B".into())["questions"].take();
    input["query"] = json!("shop");
    input["todos"] = json!([]);
    if foreground {
        wait_for(&mut input);
    }
    RawJson::parse(input.to_string()).unwrap_or_else(|_| RawJson::empty_object())
}

/// Removes the option to run in the background from an input.
fn wait_for(input: &mut Value) {
    if let Some(background) = input.get_mut("run_in_background") {
        *background = json!(false);
    }
}

/// A random input for a tool.
fn input_of(dice: &mut Seeded, tool: &str, known: &Known<'_>) -> Value {
    match tool {
        "Task" => task(dice, known),
        "TaskOutput" => json!({
            "task_id": one_of(dice, &known.tasks).unwrap_or("unknown"),
            "block": dice.below(3) > 0, "timeout": dice.below(10_000),
        }),
        "TaskStop" => json!({"task_id": one_of(dice, &known.tasks).unwrap_or("unknown")}),
        "TodoWrite" => {
            json!({"todos": [{"content": "look", "status": "pending", "activeForm": "looking"}]})
        }
        _ => feature::input_of(dice, tool, known.in_any_order).unwrap_or_else(|| fields(dice)),
    }
}

/// The input that starts an agent, or gives a further task to one that has ended.
fn task(dice: &mut Seeded, known: &Known<'_>) -> Value {
    let agents = [
        "general-purpose",
        "general-purpose",
        "general-purpose",
        "Explore",
        "nobody",
        "tester",
        "closed",
    ];
    let mut task = json!({
        "description": "look around", "prompt": "Look around.", "subagent_type": agents[pick(dice, agents.len() as u64)],
        "run_in_background": dice.below(3) == 0,
    });
    if dice.below(4) == 0 {
        task["max_turns"] = json!(1 + dice.below(3));
    }
    if dice.below(4) == 0
        && let Some(agent) = one_of(dice, &known.agents)
    {
        task["resume"] = json!(agent);
    }
    task
}

fn fields(dice: &mut Seeded) -> Value {
    json!({
        "run_in_background": dice.below(3) == 0,
        "file_path": PATHS[pick(dice, PATHS.len() as u64)].0,
        "command": COMMANDS[pick(dice, COMMANDS.len() as u64)].0,
    })
}
