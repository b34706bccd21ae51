//! The engine as data: lines and answers in, lines and effects out. No stream, no clock, no file.
#![allow(clippy::unwrap_used)]

use std::{collections::VecDeque, sync::Arc};

use serde_json::{Value, json};
use windlass_core::{
    Millis, Now, RawJson, Spec, UnixMillis,
    effect::{Answer, Effect as SessionEffect},
    hook::{HookAnswer, HookEvent, HookMatcher},
    tool::{ToolDefinition, ToolResult},
};
use windlass_engine::{
    machine::{
        Configuration, Effect, Ending, Engine, Input, Launch, Outcome, Output, State, diagram,
    },
    protocol::{flags::Flags, frames::StateFrames, line::Line},
    settings::SettingSources,
    store::Lease,
};

/// An engine, and what it has put out and nobody has taken.
struct Bench {
    engine: Engine,
    now: Now,
    lines: VecDeque<Value>,
    effects: VecDeque<Output>,
    ending: Option<Ending>,
}

fn configuration(number: u64) -> Configuration {
    let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
    let mut spec = Spec::with_tools([ToolDefinition::new("Do", "Does.", schema)]);
    spec.model.stream = false;
    spec.policy.persist = true;
    spec.stream.replay_prompts = true;
    spec.policy.permissions.can_ask = true;
    Configuration {
        sources: SettingSources::ALL,
        ..Configuration::new(number, spec)
    }
}

impl Bench {
    /// An engine whose session is kept.
    fn start() -> Self {
        let mut bench = Self::launch(Flags::default());
        bench.lease();
        bench
    }

    fn launch(flags: Flags) -> Self {
        Self::launch_with(flags, configuration(1))
    }

    fn launch_with(flags: Flags, configuration: Configuration) -> Self {
        let mut launch = Launch::new(flags, "/work");
        launch.states = StateFrames::ForCaller;
        let now = Now {
            mono: Millis(0),
            wall: UnixMillis(1_790_000_000_000),
        };
        let mut bench = Self {
            engine: Engine::new(launch, configuration, [7; 32]),
            now,
            lines: VecDeque::new(),
            effects: VecDeque::new(),
            ending: None,
        };
        bench.drain();
        bench
    }

    fn lease(&mut self) {
        let (number, effect) = self.effect();
        let Effect::Create(session) = effect else {
            panic!("{effect:?}");
        };
        let lease = Lease { session, epoch: 1 };
        self.done(number, Outcome::Leased(Ok(lease)));
    }

    fn drain(&mut self) {
        while let Some(output) = self.engine.poll() {
            match output {
                Output::Line(line) => self.lines.push_back(serde_json::from_str(&line).unwrap()),
                Output::Exit(ending) => self.ending = Some(ending),
                output => self.effects.push_back(output),
            }
        }
    }

    fn handle(&mut self, input: Input) {
        self.now.mono = self.now.mono.after(1);
        self.engine.handle(self.now, input);
        self.drain();
    }

    fn done(&mut self, number: u64, outcome: Outcome) {
        self.handle(Input::Done(number, outcome));
    }

    fn say(&mut self, frame: &Value) {
        self.handle(Input::Line(Line::Text(frame.to_string())));
    }

    fn prompt(&mut self, text: &str) {
        self.say(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn request(&mut self, id: &str, request: Value) {
        self.say(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    /// The next effect of the engine; what the session asks for is left.
    fn effect(&mut self) -> (u64, Effect) {
        let at = (self.effects.iter()).position(|it| matches!(it, Output::Effect(..)));
        match at.and_then(|at| self.effects.remove(at)) {
            Some(Output::Effect(number, effect)) => (number, effect),
            _ => panic!("no effect among {:?}", self.effects),
        }
    }

    /// Appends what is to be appended, as long as anything is.
    fn append_all(&mut self) {
        let is_append = |it: &Output| matches!(it, Output::Effect(_, Effect::Append(..)));
        while let Some(at) = self.effects.iter().position(is_append) {
            let Some(Output::Effect(number, Effect::Append(_, groups))) = self.effects.remove(at)
            else {
                return;
            };
            let results = groups.iter().map(|_| Ok("/store".to_owned())).collect();
            self.done(number, Outcome::Appended(results));
        }
    }

    /// The next thing that the session wants of the host.
    fn session_effect(&mut self) -> (windlass_core::EffectId, SessionEffect) {
        let at = (self.effects.iter()).position(|it| matches!(it, Output::Session(..)));
        match at.and_then(|at| self.effects.remove(at)) {
            Some(Output::Session(_, id, effect)) => (id, effect),
            _ => panic!("the session wants nothing: {:?}", self.effects),
        }
    }

    /// The model answers the request that is open.
    fn respond(&mut self, content: Value, stop_reason: &str) {
        let (id, effect) = self.session_effect();
        assert!(matches!(effect, SessionEffect::Http(_)), "{effect:?}");
        let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": content, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}});
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let head = Answer::HttpHead {
            status: 200,
            headers,
        };
        for answer in [
            head,
            Answer::HttpBody(body.to_string().into_bytes().into()),
            Answer::HttpEnd,
        ] {
            self.handle(Input::Session(id, answer));
        }
    }

    /// Lines up to the first of this type, which comes back.
    fn until(&mut self, kind: &str) -> Value {
        loop {
            let line = self.lines.pop_front();
            let line = line.unwrap_or_else(|| panic!("no line of the type {kind}"));
            if line["type"] == kind {
                return line;
            }
        }
    }
}

fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The diagram in `docs/architecture.md` is the one that the table gives.
#[test]
fn the_diagram_in_the_docs_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/architecture.md");
    let Ok(page) = std::fs::read_to_string(path) else {
        return; // packaged without the repository around it
    };
    let expected = format!(
        "<!-- engine:begin -->\n```mermaid\n{}```\n<!-- engine:end -->",
        diagram()
    );
    assert!(
        page.contains(&expected),
        "docs/architecture.md is stale; between its engine markers belongs:\n\n{expected}\n"
    );
}

#[test]
fn sess_1_a_result_is_said_only_when_all_before_it_is_kept() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    bench.respond(says("done"), "end_turn");
    // The answer is to be kept: nothing is said of a result before it is.
    assert!(bench.lines.iter().all(|line| line["type"] != "result"));
    bench.append_all();
    let result = bench.until("result");
    assert_eq!(result["result"], "done");
    assert_eq!(bench.lines.back().unwrap()["state"], "idle");
}

/// What a reader has seen of the conversation is in the transcript, wherever the engine is killed.
#[test]
fn sess_4_an_answer_is_said_only_when_it_is_kept() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    bench.respond(says("done"), "end_turn");
    let is_said = |bench: &Bench| bench.lines.iter().any(|line| line["type"] == "assistant");
    assert!(!is_said(&bench), "{:?}", bench.lines);
    bench.append_all();
    assert!(is_said(&bench), "{:?}", bench.lines);
}

#[test]
fn sess_1_what_is_not_kept_is_no_success() {
    let mut bench = Bench::start();
    bench.prompt("go");
    let (number, effect) = bench.effect();
    assert!(matches!(effect, Effect::Append(..)), "{effect:?}");
    let full = Outcome::Appended(vec![Err("the disk is full".to_owned())]);
    bench.done(number, full);
    bench.append_all();
    let result = bench.until("result");
    assert_eq!(result["is_error"], true);
    assert!(result["errors"].to_string().contains("the disk is full"));
}

/// A prompt that the session has begun is interrupted, not cancelled: its result is its own, and the next one is that of the next
/// prompt. (Seed 2266 of the simulation.)
#[test]
fn perm_9_what_is_cancelled_had_not_begun() {
    let prompts = [
        "00000000-0000-4000-8000-00000000000a",
        "00000000-0000-4000-8000-00000000000b",
        "00000000-0000-4000-8000-00000000000c",
    ];
    let mut hooked = configuration(1);
    let matcher = HookMatcher::new(HookEvent::UserPromptSubmit, ["note".to_owned()]);
    Arc::make_mut(&mut hooked.spec).policy.hooks.push(matcher);
    hooked.hooks_of_host.insert("note".to_owned());
    let mut bench = Bench::launch_with(Flags::default(), hooked);
    bench.lease();
    let say = |bench: &mut Bench, uuid: &str| {
        bench.say(
            &json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": "go"}}),
        );
    };
    say(&mut bench, prompts[0]);
    bench.append_all();
    say(&mut bench, prompts[1]);
    bench.request("1", json!({"subtype": "interrupt", "cancel_queued": true}));
    let receipt = bench.until("control_response");
    assert_eq!(
        receipt["response"]["response"]["cancelled"],
        json!([prompts[1]])
    );
    let (hook, _) = bench.session_effect();
    bench.handle(Input::Session(hook, Answer::Cancelled));
    bench.append_all();
    let result = bench.until("result");
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["user_message_uuids"], json!([prompts[0]]));
    say(&mut bench, prompts[2]);
    let (hook, _) = bench.session_effect();
    let passed = HookAnswer::Exited {
        code: Some(0),
        stdout: "{}".to_owned(),
        stderr: String::new(),
    };
    bench.handle(Input::Session(hook, Answer::Hook(passed)));
    bench.append_all();
    bench.respond(says("done"), "end_turn");
    bench.append_all();
    let result = bench.until("result");
    assert_eq!(result["user_message_uuids"], json!([prompts[2]]));
}

#[test]
fn hook_9_a_hook_waits_until_the_transcript_is_there_and_does_not_run_once_it_is_taken_back() {
    for is_interrupted in [false, true] {
        let mut hooked = configuration(1);
        let matcher = HookMatcher::new(HookEvent::UserPromptSubmit, ["note".to_owned()]);
        Arc::make_mut(&mut hooked.spec).policy.hooks.push(matcher);
        hooked.hooks_of_host.insert("note".to_owned());
        let mut bench = Bench::launch_with(Flags::default(), hooked);
        bench.lease();
        bench.prompt("go");
        let has_begun = |bench: &Bench| {
            let mut effects = bench.effects.iter();
            effects.any(|it| matches!(it, Output::Session(..)))
        };
        assert!(!has_begun(&bench), "{:?}", bench.effects);
        if is_interrupted {
            bench.request("1", json!({"subtype": "interrupt"}));
        }
        bench.append_all();
        if is_interrupted {
            let result = bench.until("result");
            assert_eq!(result["subtype"], "error_during_execution");
            assert!(!has_begun(&bench), "{:?}", bench.effects);
        } else {
            let (_, effect) = bench.session_effect();
            assert!(matches!(effect, SessionEffect::RunHook(_)), "{effect:?}");
        }
    }
}

#[test]
fn lines_wait_while_settings_are_read_and_answers_do_not() {
    let mut bench = Bench::start();
    bench.request(
        "1",
        json!({"subtype": "initialize", "settings": {"model": "m"}}),
    );
    let (number, effect) = bench.effect();
    assert!(matches!(effect, Effect::Configure(_)), "{effect:?}");
    bench.request("2", json!({"subtype": "mcp_status"}));
    assert!(bench.lines.is_empty(), "{:?}", bench.lines);
    assert_eq!(bench.engine.state(), State::Preparing);
    let read = Outcome::Configured(Ok(Box::new(configuration(2))));
    bench.done(number, read);
    let replies = [
        bench.until("control_response"),
        bench.until("control_response"),
    ];
    assert_eq!(replies[0]["response"]["request_id"], "1");
    assert_eq!(replies[1]["response"]["request_id"], "2");
    assert_eq!(bench.engine.state(), State::Ready);
}

#[test]
fn settings_that_cannot_be_read_begin_no_session_and_can_be_given_again() {
    let mut bench = Bench::start();
    let initialize = || json!({"subtype": "initialize", "settings": {"model": "m"}});
    bench.request("1", initialize());
    let (number, _) = bench.effect();
    bench.done(number, Outcome::Configured(Err("no JSON".to_owned())));
    let reply = bench.until("control_response");
    assert_eq!(reply["response"]["error"], "no JSON");
    assert_eq!(bench.engine.state(), State::Fresh);
    bench.request("2", initialize());
    let (number, _) = bench.effect();
    let read = Outcome::Configured(Ok(Box::new(configuration(2))));
    bench.done(number, read);
    assert_eq!(
        bench.until("control_response")["response"]["subtype"],
        "success"
    );
}

#[test]
fn perm_9_a_question_that_is_cancelled_is_taken_back_before_anything_else_is_said() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Do", "input": {}}]);
    bench.respond(call, "tool_use");
    bench.append_all();
    let question = bench.until("control_request");
    assert_eq!(question["request"]["subtype"], "can_use_tool");
    bench.lines.clear();
    bench.request("stop", json!({"subtype": "interrupt"}));
    let kinds: Vec<&str> = (bench.lines.iter())
        .filter_map(|line| line["type"].as_str())
        .collect();
    assert_eq!(&kinds[..2], ["control_response", "control_cancel_request"]);
    // An answer that comes too late is nothing.
    let id = question["request_id"].clone();
    let response =
        json!({"subtype": "success", "request_id": id, "response": {"behavior": "allow"}});
    bench.say(&json!({"type": "control_response", "response": response}));
    bench.append_all();
    assert!(
        bench
            .effects
            .iter()
            .all(|it| !matches!(it, Output::Session(..)))
    );
}

#[test]
fn perm_9_an_allowed_call_runs_and_its_result_goes_back_to_the_model() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Do", "input": {}}]);
    bench.respond(call, "tool_use");
    bench.append_all();
    let id = bench.until("control_request")["request_id"].clone();
    let response = json!({"subtype": "success", "request_id": id, "response": {"behavior": "allow", "updatedInput": {}}});
    bench.say(&json!({"type": "control_response", "response": response}));
    let (id, effect) = bench.session_effect();
    assert!(
        matches!(&effect, SessionEffect::CallTool(call) if call.name == "Do"),
        "{effect:?}"
    );
    bench.handle(Input::Session(id, Answer::Tool(ToolResult::text("did"))));
    bench.append_all();
    bench.respond(says("done"), "end_turn");
    bench.append_all();
    assert_eq!(bench.until("result")["result"], "done");
}

#[test]
fn sess_5_a_cleared_conversation_goes_on_under_another_id_and_another_lease() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    bench.respond(says("done"), "end_turn");
    bench.append_all();
    let old = bench.until("result")["session_id"].clone();
    bench.prompt("/clear");
    assert_eq!(bench.engine.state(), State::Clearing);
    let (number, effect) = bench.effect();
    assert!(matches!(effect, Effect::ListWorktrees), "{effect:?}");
    bench.done(number, Outcome::Worktrees(Vec::new()));
    let is_release = |it: &Output| matches!(it, Output::Release(lease) if lease.epoch == 1);
    assert!(bench.effects.iter().any(is_release));
    bench.lease();
    let reset = bench.until("conversation_reset");
    assert_eq!(reset["session_id"], old);
    let new = bench.until("result")["session_id"].clone();
    assert_eq!(reset["new_conversation_id"], new);
    assert_ne!(new, old);
}

#[test]
fn the_end_of_the_input_ends_an_engine_that_owes_nothing() {
    let mut bench = Bench::start();
    bench.handle(Input::InputEnded);
    assert_eq!(bench.ending, Some(Ending::Done { failed: false }));
    assert_eq!(bench.engine.state(), State::Ended);
}

/// At once: nothing comes any more that would have it look again.
#[test]
fn the_end_of_the_input_ends_an_engine_whose_prompt_is_answered() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    bench.respond(says("done"), "end_turn");
    bench.append_all();
    bench.until("result");
    bench.handle(Input::InputEnded);
    bench.append_all();
    let (number, effect) = bench.effect();
    assert!(matches!(effect, Effect::ListWorktrees), "{effect:?}");
    bench.done(number, Outcome::Worktrees(Vec::new()));
    bench.append_all();
    assert_eq!(bench.ending, Some(Ending::Done { failed: false }));
}

#[test]
fn an_engine_that_is_told_to_stop_drops_what_runs_and_notes_where_it_was() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    bench.handle(Input::Stop);
    assert!(
        bench
            .effects
            .iter()
            .any(|it| matches!(it, Output::Abandon(_)))
    );
    assert_eq!(bench.engine.state(), State::Stopping);
    bench.append_all();
    assert_eq!(bench.ending, Some(Ending::Stopped));
}

#[test]
fn an_engine_that_is_told_to_stop_waits_for_no_store() {
    let mut bench = Bench::start();
    bench.prompt("go");
    bench.append_all();
    bench.handle(Input::Stop);
    let due = bench.engine.deadline().expect("a limit");
    assert!(due.since(bench.now.mono) <= 500, "{due:?}");
    bench.now.mono = due;
    bench.handle(Input::Tick);
    assert_eq!(bench.ending, Some(Ending::Stopped));
}

#[test]
fn a_session_that_is_in_use_is_refused_once_somebody_listens() {
    let mut bench = Bench::launch(Flags::default());
    let (number, _) = bench.effect();
    bench.done(number, Outcome::Leased(Err("it is in use".to_owned())));
    assert_eq!(bench.until("result")["errors"], json!(["it is in use"]));
    assert_eq!(bench.ending, None);
    bench.prompt("go");
    assert_eq!(bench.ending, Some(Ending::Done { failed: true }));
}
