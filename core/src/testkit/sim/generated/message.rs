//! What the model of a generated world says.

use alloc::{format, string::ToString, vec::Vec};

use serde_json::{Value, json};

use super::{COMMANDS, PATHS, spec::TOOLS};
use crate::{
    effect::{Answer, HttpRequest},
    id::Seeded,
    json::RawJson,
    testkit::sim::{
        exchange::{Message, pick},
        world::Asked,
    },
};

/// After so many responses of a thread the model is done with every prompt at once, so that every run ends.
const TALKATIVE_TURNS: u32 = 14;

/// One exchange.
pub(super) fn generate(asked: Asked<'_>, request: &HttpRequest) -> Vec<Answer> {
    let Asked { id, dice, plainly } = asked;
    let name = format!("{}_{}_{}", id.agent, id.turn, id.attempt);
    let done = plainly || id.turn > TALKATIVE_TURNS;
    let (blocks, stop_reason) = match done {
        true => (
            Vec::from([json!({"type": "text", "text": format!("Done {name}.")})]),
            "end_turn",
        ),
        false => content(dice, &name),
    };
    let usage = [
        json!({
            "input_tokens": dice.below(100_000), "cache_read_input_tokens": dice.below(50_000),
            "cache_creation_input_tokens": Value::Null, "output_tokens": 1, "service_tier": "standard",
        }),
        json!({"output_tokens": dice.below(5_000)}),
    ];
    let body = request.body_bytes();
    let streams = memchr::memmem::find(&body, b"\"stream\":true").is_some();
    let message = Message {
        id: format!("msg_{name}"),
        model: "claude-sonnet-4-6".to_string(),
        blocks,
        stop_reason,
        usage,
    };
    // Some gateways answer plainly whatever is asked.
    match streams && dice.below(8) > 0 {
        true => message.streamed(),
        false => message.plain(),
    }
}

fn content(dice: &mut Seeded, name: &str) -> (Vec<Value>, &'static str) {
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
            _ => call(dice, &format!("toolu_{name}_{index}")),
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

fn call(dice: &mut Seeded, fresh: &str) -> Value {
    let id = match dice.below(12) {
        // Servers have been seen to repeat ids, and to leave them out.
        0 => "toolu_again",
        1 => "",
        _ => fresh,
    };
    let name = TOOLS[pick(dice, TOOLS.len() as u64)];
    let input = match dice.below(10) {
        0 => json!("{\"file_path\": \"a"),
        1 => json!({"file_path": 7, "command": 7}),
        2 => json!(
            "{\"file_path\":\"a\",\"file_path\":\"secret/key\",\"command\":\"ls\",\"command\":\"rm x\"}"
        ),
        _ => fields(dice),
    };
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// An input that every tool takes.
pub(super) fn input(dice: &mut Seeded) -> RawJson {
    RawJson::parse(fields(dice).to_string()).unwrap_or_else(|_| RawJson::empty_object())
}

fn fields(dice: &mut Seeded) -> Value {
    json!({
        "file_path": PATHS[pick(dice, PATHS.len() as u64)].0,
        "command": COMMANDS[pick(dice, COMMANDS.len() as u64)].0,
    })
}
