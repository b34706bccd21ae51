//! An SDK by the dice: it initialises or does not, says things, asks for things, answers questions or fails to. Or a program
//! that has the engine in its own process: prompts, and what else it tells its session.

use std::collections::VecDeque;

use serde_json::{Value, json};
use windlass_core::{
    Input as SessionInput, Prompt, Seeded, Uuid, effect::Delivery, permission::Mode, uuid_v4,
};
use windlass_engine::{
    machine::{Face, Input},
    protocol::line::Line,
};

use super::oracle::Oracle;

/// What an SDK has to say.
#[derive(Debug)]
pub(super) struct Client {
    face: Face,
    /// What it is going to say, in its order.
    plan: VecDeque<Say>,
    /// Questions that it has not answered.
    questions: Vec<Value>,
    requests: u64,
    has_finished: bool,
}

#[derive(Debug, Clone)]
enum Say {
    Prompt(String, bool),
    Request(Value),
    Garbage(&'static str),
    /// A prompt of a program.
    Ask(Prompt),
    /// What else a program tells its session.
    Tell(SessionInput),
    Stop,
}

impl Client {
    pub(super) fn new(dice: &mut Seeded) -> Self {
        let mut plan = VecDeque::new();
        if dice.below(5) > 0 {
            let hooks = match dice.below(3) {
                0 => json!({"PreToolUse": [{"matcher": null, "hookCallbackIds": ["hook_0"]}],
                    "SessionEnd": [{"matcher": null, "hookCallbackIds": ["hook_1"], "timeout": 1}]}),
                1 => json!({"Stop": [{"matcher": null, "hookCallbackIds": ["hook_0"]}]}),
                _ => json!({}),
            };
            let servers = match dice.below(3) {
                0 => json!(["notes"]),
                _ => json!([]),
            };
            plan.push_back(Say::Request(
                json!({"subtype": "initialize", "hooks": hooks, "sdkMcpServers": servers}),
            ));
        }
        for number in 0..2 + dice.below(8) {
            plan.push_back(Self::step(dice, number));
        }
        Self::with(Face::Lines, plan)
    }

    /// A program in the place of an SDK.
    pub(super) fn program(dice: &mut Seeded) -> Self {
        let mut plan = VecDeque::new();
        let mut asked = Vec::new();
        for number in 0..2 + dice.below(8) {
            plan.push_back(Self::step_of_program(dice, number, &mut asked));
        }
        Self::with(Face::Program, plan)
    }

    fn with(face: Face, plan: VecDeque<Say>) -> Self {
        Self {
            face,
            plan,
            questions: Vec::new(),
            requests: 0,
            has_finished: false,
        }
    }

    /// Who it is, for the engine.
    pub(super) fn face(&self) -> Face {
        self.face
    }

    fn step_of_program(dice: &mut Seeded, number: u64, asked: &mut Vec<Uuid>) -> Say {
        let chosen = |dice: &mut Seeded, count: usize| {
            usize::try_from(dice.below(count as u64)).unwrap_or_default()
        };
        match dice.below(16) {
            0..=8 => {
                let uuid = uuid(dice);
                asked.push(uuid);
                let text = match dice.below(8) {
                    0 => "/clear".to_owned(), // a text like any other here
                    _ => format!("prompt {number}"),
                };
                let delivery = match dice.below(3) {
                    0 => Delivery::Steer,
                    _ => Delivery::FollowUp,
                };
                Say::Ask(Prompt::text(&text).with_uuid(uuid).delivered(delivery))
            }
            9 | 10 => Say::Tell(SessionInput::Interrupt),
            11 => match asked.is_empty() {
                true => Say::Tell(SessionInput::Interrupt),
                false => Say::Tell(SessionInput::Withdraw(asked[chosen(dice, asked.len())])),
            },
            12 => {
                let modes = [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::DontAsk];
                Say::Tell(SessionInput::SetMode(modes[chosen(dice, modes.len())]))
            }
            13 => Say::Tell(SessionInput::SetModel(Some("claude-sonnet-4-5".to_owned()))),
            14 => Say::Tell(SessionInput::StopTask("none".to_owned())),
            _ if dice.below(4) == 0 => Say::Stop,
            _ => Say::Tell(SessionInput::SetModel(None)),
        }
    }

    fn step(dice: &mut Seeded, number: u64) -> Say {
        let request = |request: Value| Say::Request(request);
        match dice.below(26) {
            0..=9 => Say::Prompt(format!("prompt {number}"), dice.below(4) > 0),
            10 => Say::Prompt("/clear".to_owned(), true),
            11 => Say::Prompt("/cost".to_owned(), true),
            12 => request(json!({"subtype": "interrupt", "cancel_queued": dice.below(2) == 0})),
            13 => {
                let modes = ["default", "acceptEdits", "plan", "dontAsk"];
                let mode = modes[usize::try_from(dice.below(4)).unwrap_or_default()];
                request(json!({"subtype": "set_permission_mode", "mode": mode}))
            }
            14 => request(json!({"subtype": "set_model", "model": "claude-sonnet-4-5"})),
            15 => request(json!({"subtype": "mcp_status"})),
            16 => request(json!({"subtype": "get_context_usage"})),
            17 => request(json!({"subtype": "rename_session", "title": "a title"})),
            18 => request(
                json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": "low"}}),
            ),
            19 => request(json!({"subtype": "reload_skills"})),
            20 => request(json!({"subtype": "read_file", "path": "a.txt"})),
            21 => request(
                json!({"subtype": "mcp_set_servers", "servers": {"tool": {"command": "x"}}}),
            ),
            22 => request(json!({"subtype": "rewind_files", "user_message_id": "none"})),
            23 => Say::Garbage("{\"type\":\"us"),
            24 => request(json!({"subtype": "tomorrow"})),
            _ if dice.below(4) == 0 => Say::Stop,
            _ => request(json!({"subtype": "list_permission_rules"})),
        }
    }

    /// Another process begins where one has crashed.
    pub(super) fn begin_again(&mut self) {
        self.questions.clear();
        self.has_finished = false;
    }

    /// How many things it may do next.
    pub(super) fn count(&self) -> usize {
        self.questions.len() + usize::from(!self.plan.is_empty())
    }

    /// Says the next thing, or answers a question.
    pub(super) fn next(&mut self, dice: &mut Seeded, oracle: &mut Oracle) -> Input {
        let questions = self.questions.len() as u64;
        let chosen = dice.below(questions + u64::from(!self.plan.is_empty()));
        if chosen < questions {
            let question = self
                .questions
                .remove(usize::try_from(chosen).unwrap_or_default());
            return self.answer(&question, dice, oracle);
        }
        match self.plan.pop_front() {
            None => Input::Tick,
            Some(Say::Stop) => Input::Stop,
            Some(Say::Ask(prompt)) => {
                oracle.program.prompts(&prompt);
                Input::Prompt(prompt)
            }
            Some(Say::Tell(input)) => {
                oracle.program.tells(&input);
                Input::Tell(input)
            }
            Some(Say::Garbage(text)) => Input::Line(Line::Text(text.to_owned())),
            Some(Say::Prompt(text, is_named)) => {
                let mut frame =
                    json!({"type": "user", "message": {"role": "user", "content": text}});
                if is_named {
                    frame["uuid"] = uuid(dice).to_string().into();
                }
                line(&frame)
            }
            Some(Say::Request(request)) => {
                self.requests += 1;
                let id = format!("req_{}", self.requests);
                oracle.asked(&id);
                line(&json!({"type": "control_request", "request_id": id, "request": request}))
            }
        }
    }

    fn answer(&mut self, question: &Value, dice: &mut Seeded, oracle: &mut Oracle) -> Input {
        let id = question["request_id"].as_str().unwrap_or_default();
        if !oracle.is_open(id) {
            return Input::Tick; // it was taken back
        }
        oracle.answers(id);
        let request = &question["request"];
        let answer = match request["subtype"].as_str().unwrap_or_default() {
            "can_use_tool" => match dice.below(3) {
                0 => json!({"behavior": "deny", "message": "no"}),
                _ => json!({"behavior": "allow", "updatedInput": request["input"]}),
            },
            "mcp_message" => {
                let message = &request["message"];
                let result = match message["method"].as_str().unwrap_or_default() {
                    "initialize" => json!({"serverInfo": {"name": "notes", "version": "1"}}),
                    "tools/list" => {
                        json!({"tools": [{"name": "note", "inputSchema": {"type": "object"}}]})
                    }
                    _ => json!({"content": [{"type": "text", "text": "noted"}]}),
                };
                let id = &message["id"];
                json!({"mcp_response": {"jsonrpc": "2.0", "id": id, "result": result}})
            }
            _ => json!({}),
        };
        let response = match dice.below(8) {
            0 => json!({"subtype": "error", "request_id": id, "error": "it failed"}),
            _ => json!({"subtype": "success", "request_id": id, "response": answer}),
        };
        line(&json!({"type": "control_response", "response": response}))
    }

    /// A frame has come.
    pub(super) fn heard(&mut self, frame: &Value) {
        if frame["type"] == "control_request" {
            self.questions.push(frame.clone());
        }
    }

    /// Has nothing more to say.
    pub(super) fn finish(&mut self) -> Option<Input> {
        match std::mem::replace(&mut self.has_finished, true) {
            true => None,
            false => Some(Input::InputEnded),
        }
    }
}

fn uuid(dice: &mut Seeded) -> Uuid {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&dice.next_u64().to_le_bytes());
    uuid_v4(bytes)
}

fn line(frame: &Value) -> Input {
    Input::Line(Line::Text(frame.to_string()))
}
