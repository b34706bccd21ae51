//! A world around a session that does everything a real one might, by the dice.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input, Message, Millis, Now, Output, Prompt, RawJson, Seeded, Session, Spec,
    UnixMillis,
    effect::{Answer, Effect, HttpFailure, HttpFailureKind, PermissionResponse, ResolvedPath},
    id::Stage,
    money::Usd,
    permission::Mode,
    tool::{Access, ResultBlock, RetryClass, ToolResult},
};

use super::checks::{Checks, Rows};
use crate::harness::{
    CWD, MODEL, Reply, bash, check_request, file_tool, rules, session_id, spec_with, sse, tool,
};

const TOOLS: [&str; 7] = ["Read", "Look", "Edit", "Bash", "Note", "Gone", "Locked"];

pub(super) struct World {
    pub(super) dice: Seeded,
    spec: Arc<Spec>,
    session: Session,
    now: Now,
    /// Effects that run, with what is still to be answered to them.
    running: BTreeMap<EffectId, Plan>,
    prompts: usize,
    /// Tool call ids so far, for duplicates.
    ids: Vec<String>,
    checks: Checks,
    transcript: String,
}

struct Plan {
    effect: Effect,
    /// Answers to a request, in reverse order; made when the first is due.
    answers: Option<Vec<Answer>>,
    cancelled: bool,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut dice = Seeded::new(bytes);
        let spec = Arc::new(random_spec(&mut dice));
        let session = Session::new(spec.clone(), session_id(), bytes);
        Self {
            dice,
            spec,
            session,
            now: Now {
                mono: Millis(5),
                wall: UnixMillis(1_700_000_000_000),
            },
            running: BTreeMap::new(),
            prompts: 0,
            ids: Vec::new(),
            checks: Checks::default(),
            transcript: String::new(),
        }
    }

    /// One thing happens.
    pub(super) fn step(&mut self, rows: &mut Rows) {
        match self.dice.below(100) {
            0..70 if !self.running.is_empty() => self.answer_one(rows, false),
            0..80 => self.time_passes(rows),
            80..88 if self.prompts < 6 => self.prompt(rows),
            88..91 => self.take(Input::Interrupt, rows),
            91..93 => {
                let mode = Mode::ALL[self.dice.below(4) as usize];
                self.take(Input::SetMode(mode), rows);
            }
            93..95 => {
                let models = [None, Some("nobody-knows-1"), Some("claude-haiku-4-5")];
                let model = models[self.dice.below(3) as usize];
                self.take(Input::SetModel(model.map(str::to_owned)), rows);
            }
            95..98 => self.break_the_contract(),
            98..100 => self.put_away_and_take_up(rows),
            _ => {}
        }
    }

    /// Answers all there is until nothing is left to do.
    pub(super) fn settle(&mut self, rows: &mut Rows) {
        for _ in 0..3_000 {
            if self.session.is_idle() && self.running.is_empty() {
                return;
            }
            if self.running.is_empty() || self.dice.below(8) == 0 {
                let deadline = self.session.deadline();
                assert!(
                    deadline.is_some() || !self.running.is_empty(),
                    "hangs in {:?}: nothing runs and nothing is due",
                    self.session.phase()
                );
                if let Some(deadline) = deadline {
                    self.now.mono = self.now.mono.max(deadline);
                    self.take(Input::Tick, rows);
                    continue;
                }
            }
            self.answer_one(rows, true);
        }
        panic!("does not end: {:?}", self.session.phase());
    }

    pub(super) fn check_end(&self) {
        self.checks.at_the_end(self.prompts, &self.session);
    }

    pub(super) fn transcript(self) -> String {
        self.transcript
    }

    fn take(&mut self, input: Input, rows: &mut Rows) {
        let before = self.session.phase();
        let described = format!("{input:?}");
        let stops = match &input {
            Input::Interrupt => true,
            Input::Answer(_, answer) => match answer {
                Answer::PersistFailed(_) => true,
                Answer::Permission(PermissionResponse::Deny { interrupt, .. }) => *interrupt,
                Answer::Cancelled => false,
                _ => false,
            },
            _ => false,
        };
        self.session
            .handle(self.now, input)
            .unwrap_or_else(|error| panic!("{described}: {error}"));
        self.drain();
        rows.note(before, self.session.phase(), stops);
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            self.transcript += &match &output {
                Output::Message(message) => message.to_line(),
                other => format!("{other:?}"),
            };
            self.transcript.push('\n');
            let running: Vec<EffectId> = (self.running.iter())
                .filter(|(_, plan)| !plan.cancelled)
                .map(|(id, _)| *id)
                .collect();
            self.checks.output(&output, &running, self.spec.persist);
            match output {
                Output::Effect(id, effect) => {
                    if let Effect::Http(request) = &effect {
                        check_request(request);
                    }
                    let plan = Plan {
                        effect,
                        answers: None,
                        cancelled: false,
                    };
                    let before = self.running.insert(id, plan);
                    assert!(before.is_none(), "{id} ran already");
                }
                Output::Cancel(id) => {
                    let plan = self.running.get_mut(&id).expect("only what runs");
                    assert!(!plan.cancelled, "{id} was cancelled already");
                    plan.cancelled = true;
                }
                Output::Abandon(id) => {
                    assert!(self.running.remove(&id).is_some(), "only what runs");
                }
                Output::Message(Message::Result(_)) => self.checks.history(&self.session),
                _ => {}
            }
        }
    }

    pub(super) fn prompt(&mut self, rows: &mut Rows) {
        self.prompts += 1;
        let prompt = match self.dice.below(20) {
            0 => Prompt::text(""),
            1 => Prompt { content: vec![] },
            _ => Prompt::text("Go on."),
        };
        self.take(Input::Prompt(prompt), rows);
    }

    fn time_passes(&mut self, rows: &mut Rows) {
        let ms = match (self.session.deadline(), self.dice.below(3)) {
            (Some(deadline), 0) => deadline.since(self.now.mono),
            (_, 1) => self.dice.below(20_000),
            _ => self.dice.below(300),
        };
        self.now.mono = self.now.mono.after(ms);
        self.take(Input::Tick, rows);
    }

    /// An answer that the contract forbids is refused, and nothing has changed.
    fn break_the_contract(&mut self) {
        let before = format!("{:?}", self.session);
        let running = self.running.keys().next().copied();
        let input = match (self.dice.below(2), running) {
            (0, Some(id)) => Input::Answer(
                id,
                if id.stage == Stage::Ask {
                    Answer::HttpEnd
                } else {
                    Answer::Permission(PermissionResponse::allow())
                },
            ),
            _ => {
                let id = EffectId {
                    session: session_id(),
                    agent: 9,
                    turn: 1,
                    call: 1,
                    stage: Stage::Run,
                    attempt: 1,
                };
                Input::Answer(id, Answer::Tool(ToolResult::text("late")))
            }
        };
        assert!(self.session.handle(self.now, input).is_err());
        assert_eq!(before, format!("{:?}", self.session));
        assert_eq!(self.session.poll(), None);
    }

    fn put_away_and_take_up(&mut self, rows: &mut Rows) {
        let snapshot = self.session.snapshot().expect("drained");
        self.session = Session::restore(self.spec.clone(), &snapshot)
            .unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&snapshot)));
        let again = self.session.snapshot().expect("drained");
        assert_eq!(
            String::from_utf8_lossy(&snapshot),
            String::from_utf8_lossy(&again)
        );
        let live: Vec<EffectId> = (self.running.keys().copied())
            .filter(|_| self.dice.below(2) == 0)
            .collect();
        self.running.retain(|id, _| live.contains(id));
        self.checks.restored();
        let before = self.session.phase();
        self.session
            .handle(self.now, Input::Resumed { live })
            .expect("taken up");
        self.drain();
        let _ = (before, rows);
    }

    fn answer_one(&mut self, rows: &mut Rows, plainly: bool) {
        let index = self.dice.below(self.running.len() as u64) as usize;
        let (id, answer) = self.next_answer(index, plainly);
        let Some(answer) = answer else {
            return; // it says nothing more: only a cancellation or the clock ends it
        };
        if answer.is_last() {
            self.running.remove(&id);
        }
        self.take(Input::Answer(id, answer), rows);
    }

    fn next_answer(&mut self, index: usize, plainly: bool) -> (EffectId, Option<Answer>) {
        let Self {
            dice, running, ids, ..
        } = self;
        let (id, plan) = running.iter_mut().nth(index).expect("it runs");
        if plan.cancelled && dice.below(2) == 0 {
            return (*id, Some(Answer::Cancelled));
        }
        let answer = match &plan.effect {
            Effect::Http(_) => {
                let answers = plan.answers.get_or_insert_with(|| {
                    let mut answers = random_exchange(dice, ids, plainly);
                    answers.reverse();
                    answers
                });
                // A silent server is given up by the host in the end.
                let silence = || plainly.then(|| failed(HttpFailureKind::Interrupted));
                answers.pop().or_else(silence)
            }
            Effect::Resolve(paths) => Some(match dice.below(12) {
                0 if !plainly => Answer::Resolved(vec![]),
                1 if !plainly => Answer::Resolved(vec![Err("no such disk".into())]),
                2 if !plainly => Answer::Cancelled,
                _ => Answer::Resolved(
                    (paths.iter())
                        .map(|asked| {
                            let path = format!("{CWD}/{}", asked.path);
                            Ok(ResolvedPath { path })
                        })
                        .collect(),
                ),
            }),
            Effect::CallTool(_) => Some(match dice.below(12) {
                0..3 => Answer::Progress("working".into()),
                3 => Answer::Tool(ToolResult::error("it broke")),
                4 if !plainly => Answer::Cancelled,
                5 => Answer::Tool(ToolResult::default()),
                6 => Answer::Tool(ToolResult {
                    content: vec![
                        ResultBlock::Text { text: "".into() },
                        ResultBlock::image("image/png", "aGk=".into()),
                    ],
                    structured: RawJson::parse("{\"a\": 1}").ok(),
                    ..ToolResult::default()
                }),
                7 => {
                    let block = json!({"type": "search_result", "source": "s", "title": "t",
                        "content": [{"type": "text", "text": "x"}]});
                    Answer::Tool(ToolResult {
                        content: vec![ResultBlock::Other(
                            RawJson::parse(block.to_string()).expect("JSON"),
                        )],
                        ..ToolResult::default()
                    })
                }
                _ => Answer::Tool(ToolResult::text("done")),
            }),
            Effect::AskPermission(_) => Some(match dice.below(10) {
                0 => Answer::Permission(PermissionResponse::deny("no")),
                1 if !plainly => Answer::Permission(PermissionResponse::Deny {
                    message: "stop it".into(),
                    interrupt: true,
                }),
                2 if !plainly => Answer::Cancelled,
                3 => Answer::Permission(PermissionResponse::Allow {
                    updated_input: RawJson::parse(
                        r#"{"file_path":"other.txt","command":"git status"}"#,
                    )
                    .ok(),
                    allow_rules: vec!["Note".into(), "not a rule".into()],
                }),
                4 => Answer::Permission(PermissionResponse::Allow {
                    updated_input: RawJson::parse("[1]").ok(),
                    allow_rules: vec![],
                }),
                _ => Answer::Permission(PermissionResponse::allow()),
            }),
            Effect::Persist(_) => Some(match dice.below(24) {
                0 if !plainly => Answer::PersistFailed("the disk is full".into()),
                1 if !plainly => Answer::Cancelled,
                _ => Answer::Persisted,
            }),
            other => panic!("unknown effect {other:?}"),
        };
        (*id, answer)
    }
}

fn failed(kind: HttpFailureKind) -> Answer {
    Answer::HttpFailed(HttpFailure::new(kind, "the line is dead"))
}

fn random_spec(dice: &mut Seeded) -> Spec {
    let mut look = tool("Look").read_only();
    look.retry = RetryClass::RunAgain;
    let mut note = tool("Note");
    note.retry = RetryClass::RunAgainWithKey;
    let mut spec = spec_with(vec![
        file_tool("Read", Access::Read),
        look,
        file_tool("Edit", Access::Write),
        bash(),
        note,
        tool("Locked"),
    ]);
    spec.permissions.mode = Mode::ALL[dice.below(5) as usize];
    spec.permissions.can_ask = dice.below(4) > 0;
    spec.permissions.free_workspace_reads = dice.below(2) == 0;
    spec.permissions.rules.deny = rules(&["Locked", "Edit(secret/**)"]);
    if dice.below(2) == 0 {
        spec.permissions.rules.ask = rules(&["Note"]);
        spec.permissions.rules.allow = rules(&["Bash(git:*)", "Look"]);
    }
    spec.persist = dice.below(2) == 0;
    spec.partial_messages = dice.below(3) == 0;
    spec.stream = dice.below(4) > 0;
    spec.cancel_grace_ms = dice.below(3_000);
    spec.retry.max_retries = dice.below(4) as u32;
    spec.retry.jitter_percent = 25;
    spec.limits.max_turns = (dice.below(3) == 0).then(|| 1 + dice.below(4) as u32);
    spec.limits.max_budget = (dice.below(3) == 0).then(|| Usd::from_nanos(dice.below(20_000_000)));
    spec.system = Some("Be brief.".into());
    spec
}

/// What a server answers to one request.
fn random_exchange(dice: &mut Seeded, ids: &mut Vec<String>, plainly: bool) -> Vec<Answer> {
    if plainly {
        return Reply::text("Done.").answers();
    }
    match dice.below(24) {
        0 => return vec![failed(HttpFailureKind::Connect)],
        1 => return vec![failed(HttpFailureKind::Refused)],
        2 => return vec![Answer::HttpEnd],
        3 => return vec![Answer::Cancelled],
        4 => {
            let status = [400, 401, 403, 404, 413, 429, 500, 503, 529][dice.below(9) as usize];
            let reply = Reply::error(status, "some_error", "it says no");
            let wait = ["0", "2", "0.5", "soon", "99999999999"][dice.below(5) as usize];
            return reply.with_header("retry-after", wait).answers();
        }
        5 => {
            let html = Reply::stream("<html>Welcome</html>".into());
            return html.with_header("content-type", "text/html").answers();
        }
        _ => {}
    }
    let (blocks, stop_reason) = random_message(dice, ids);
    let input = dice.below(100_000);
    let output = dice.below(5_000);
    let start = json!({
        "input_tokens": input, "cache_read_input_tokens": dice.below(50_000),
        "cache_creation_input_tokens": Value::Null, "output_tokens": 1,
        "service_tier": "standard",
    });
    let end = json!({"output_tokens": output});
    let mut reply = if dice.below(6) == 0 {
        let blocks: Vec<Value> = (blocks.iter())
            .filter(|b| b["type"] != "tool_use" || b["input"].is_object())
            .cloned()
            .collect();
        Reply::json(&json!({
            "id": "msg_9", "type": "message", "role": "assistant", "model": MODEL,
            "content": blocks, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": {"input_tokens": input, "output_tokens": output},
        }))
    } else {
        Reply::stream(sse(&blocks, stop_reason, &start, &end))
    };
    match dice.below(12) {
        0 => {
            let at = dice.below(reply.body.len() as u64) as usize;
            reply = reply.cut_at(at);
        }
        1 => {
            let at = dice.below(reply.body.len() as u64) as usize;
            reply.body.truncate(at); // closed in good order, but too early
        }
        2 => {
            let at = dice.below(reply.body.len() as u64) as usize;
            let garbage = b"\n\ndata: {not json\xff}\n\n";
            reply.body.splice(at..at, garbage.iter().copied());
        }
        3 => {
            let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"full\"}}\n\n";
            reply.body = error.into();
        }
        _ => {}
    }
    let mut answers = vec![reply.head()];
    let mut rest = reply.body.as_slice();
    while !rest.is_empty() {
        let size = 1 + dice.below(rest.len().min(700) as u64) as usize;
        answers.push(Answer::HttpBody(Bytes::copy_from_slice(&rest[..size])));
        rest = &rest[size..];
    }
    // Some servers never close.
    if dice.below(10) > 0 {
        answers.push(reply.end);
    }
    answers
}

fn random_message(dice: &mut Seeded, ids: &mut Vec<String>) -> (Vec<Value>, &'static str) {
    let mut blocks = Vec::new();
    for _ in 0..dice.below(5) {
        blocks.push(match dice.below(16) {
            0 => json!({"type": "text", "text": ""}),
            1 => json!({"type": "text", "text": " \n"}),
            2 => json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
            3 => json!({"type": "thinking", "thinking": "unsigned"}),
            4 => json!({"type": "redacted_thinking", "data": "eA=="}),
            5 => json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
            6 => json!({"type": "never_heard_of", "a": [1, 2.50, null]}),
            7 => json!({"type": "tool_use", "name": "Look"}),
            8 => json!({"no_type": true}),
            9 | 10 => json!({"type": "text", "text": "Let me see."}),
            _ => random_call(dice, ids),
        });
    }
    let reasons = [
        "end_turn",
        "tool_use",
        "tool_use",
        "max_tokens",
        "pause_turn",
        "refusal",
        "tomorrow",
    ];
    (blocks, reasons[dice.below(7) as usize])
}

fn random_call(dice: &mut Seeded, ids: &mut Vec<String>) -> Value {
    let id = match dice.below(12) {
        0 if !ids.is_empty() => ids[dice.below(ids.len() as u64) as usize].clone(),
        1 => String::new(),
        _ => format!("toolu_{}", ids.len()),
    };
    ids.push(id.clone());
    let name = TOOLS[dice.below(7) as usize];
    let input = match dice.below(10) {
        0 => json!("{\"file_path\": \"a"),
        1 => json!({"file_path": 7, "command": 7}),
        2 => json!({"file_path": "secret/key", "command": "rm -rf / && ls"}),
        3 => json!(
            "{\"file_path\":\"a\",\"file_path\":\"secret/key\",\"command\":\"ls\",\"command\":\"rm\"}"
        ),
        _ => json!({"file_path": "src/a.txt", "command": "git log"}),
    };
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}
