//! The engine of a program, as data: prompts, messages and answers are values, and nothing is a line.
#![allow(clippy::unwrap_used)]

use std::{
    collections::VecDeque,
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input as SessionInput, Message, Millis, Now, Prompt, RawJson, Spec, UnixMillis, Uuid,
    effect::{Answer, Effect as SessionEffect, PermissionResponse},
    hook::{HookAnswer, HookEvent, HookMatcher},
    message::SystemMessage,
    tool::{ToolDefinition, ToolResult},
    uuid_v4,
};
use windlass_engine::{
    machine::{
        Configuration, Effect, Ending, Engine, Face, Fault, Input, Launch, Outcome, Output, State,
        StoreEffects,
    },
    protocol::flags::Flags,
    store::{Lease, MemoryStore, Store as _},
};

/// An engine, what it has said, and what it has asked for and nobody has done.
struct Bench {
    engine: Engine,
    now: Now,
    messages: Vec<Message>,
    session: VecDeque<(EffectId, SessionEffect)>,
    effects: VecDeque<(u64, Effect)>,
    opened: Option<Uuid>,
    fault: Option<Fault>,
    ending: Option<Ending>,
}

fn spec() -> Spec {
    let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
    let mut spec = Spec::with_tools([ToolDefinition::new("Do", "Does.", schema)]);
    spec.model.stream = false;
    spec.policy.permissions.can_ask = true;
    spec
}

fn launch() -> Launch {
    let flags = Flags {
        no_session_persistence: true,
        ..Flags::default()
    };
    let mut launch = Launch::new(flags, "/work");
    launch.face = Face::Program;
    launch
}

impl Bench {
    fn start(launch: Launch, spec: Spec) -> Self {
        let configuration = Configuration::new(1, spec);
        let mut bench = Self {
            engine: Engine::new(launch, configuration, [7; 32]),
            now: Now {
                mono: Millis(0),
                wall: UnixMillis(1_790_000_000_000),
            },
            messages: Vec::new(),
            session: VecDeque::new(),
            effects: VecDeque::new(),
            opened: None,
            fault: None,
            ending: None,
        };
        bench.drain();
        bench
    }

    fn drain(&mut self) {
        while let Some(output) = self.engine.poll() {
            match output {
                Output::Line(line) => panic!("a program reads no lines: {line}"),
                Output::Opened(session) => self.opened = Some(session),
                Output::Message(message) => self.messages.push(message),
                Output::Session(_, id, effect) => self.session.push_back((id, effect)),
                Output::Effect(number, effect) => self.effects.push_back((number, effect)),
                Output::Fault(fault) => self.fault = Some(fault),
                Output::Exit(ending) => self.ending = Some(ending),
                _ => {}
            }
        }
    }

    fn handle(&mut self, input: Input) {
        self.now.mono = self.now.mono.after(1);
        self.engine.handle(self.now, input);
        self.drain();
    }

    fn prompt(&mut self, text: &str) {
        self.handle(Input::Prompt(Prompt::text(text)));
    }

    fn tell(&mut self, input: SessionInput) {
        self.handle(Input::Tell(input));
    }

    fn asked(&mut self) -> (EffectId, SessionEffect) {
        self.session.pop_front().unwrap()
    }

    fn answer(&mut self, id: EffectId, answer: Answer) {
        self.handle(Input::Session(id, answer));
    }

    /// The model is asked, and answers with these blocks; what it was sent.
    fn respond(&mut self, content: Value) -> Value {
        let (id, effect) = self.asked();
        let SessionEffect::Http(request) = effect else {
            panic!("{effect:?}");
        };
        let reason = match content.to_string().contains("tool_use") {
            true => "tool_use",
            false => "end_turn",
        };
        let body = json!({"id": "msg_1", "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": content, "stop_reason": reason,
            "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 2}});
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let status = 200;
        self.answer(id, Answer::HttpHead { status, headers });
        self.answer(id, Answer::HttpBody(body.to_string().into_bytes().into()));
        self.answer(id, Answer::HttpEnd);
        serde_json::from_slice(&request.body_bytes()).unwrap()
    }

    fn says(&mut self, text: &str) -> Value {
        self.respond(json!([{"type": "text", "text": text}]))
    }

    /// What was said since the last time, in a word each.
    fn said(&mut self) -> Vec<&'static str> {
        let messages = std::mem::take(&mut self.messages);
        let word = |message: &Message| match message {
            Message::System(SystemMessage::Init(_)) => "init",
            Message::System(_) => "system",
            Message::Assistant(_) => "assistant",
            Message::User(_) => "user",
            Message::Result(_) => "result",
            _ => "other",
        };
        messages.iter().map(word).collect()
    }
}

fn call() -> Value {
    json!([{"type": "tool_use", "id": "toolu_1", "name": "Do", "input": {}}])
}

#[test]
fn a_prompt_is_answered_with_messages_as_the_session_says_them() {
    let mut bench = Bench::start(launch(), spec());
    assert!(bench.opened.is_some());
    bench.prompt("Hello");
    bench.says("Hello yourself.");
    assert_eq!(bench.said(), ["init", "assistant", "result"]);
    bench.prompt("And again");
    let sent = bench.says("Again.");
    assert_eq!(sent["messages"].as_array().unwrap().len(), 3);
    assert_eq!(bench.said(), ["init", "assistant", "result"]);
    bench.handle(Input::InputEnded);
    while let Some((number, effect)) = bench.effects.pop_front() {
        let outcome = match effect {
            Effect::ListWorktrees => Outcome::Worktrees(Vec::new()),
            _ => Outcome::Finished,
        };
        bench.handle(Input::Done(number, outcome));
    }
    assert_eq!(bench.ending, Some(Ending::Done { failed: false }));
}

#[test]
fn whoever_is_asked_is_asked_by_the_host() {
    let mut spec = spec();
    spec.policy.hooks = vec![HookMatcher::new(HookEvent::PreToolUse, ["mine"])];
    let mut bench = Bench::start(launch(), spec);
    bench.prompt("Do it");
    bench.respond(call());
    let (id, effect) = bench.asked();
    assert!(matches!(effect, SessionEffect::RunHook(ref call) if call.hook == "mine"));
    bench.answer(
        id,
        Answer::Hook(HookAnswer::Output(RawJson::empty_object())),
    );
    let (id, effect) = bench.asked();
    assert!(
        matches!(effect, SessionEffect::AskPermission(_)),
        "{effect:?}"
    );
    bench.answer(id, Answer::Permission(PermissionResponse::allow()));
    let (id, effect) = bench.asked();
    assert!(matches!(effect, SessionEffect::CallTool(_)), "{effect:?}");
    bench.answer(id, Answer::Tool(ToolResult::text("done")));
    bench.says("It is done.");
    assert_eq!(bench.said().last(), Some(&"result"));
}

#[test]
fn a_prompt_that_enters_a_turn_is_shown_and_one_that_begins_it_is_not() {
    let mut bench = Bench::start(launch(), spec());
    bench.prompt("Do it");
    bench.respond(call());
    let steered = uuid_v4([9; 16]);
    let prompt = Prompt::text("And hurry").with_uuid(steered);
    bench.handle(Input::Prompt(
        prompt.delivered(windlass_core::effect::Delivery::Steer),
    ));
    let (id, _) = bench.asked();
    bench.answer(id, Answer::Permission(PermissionResponse::deny("no")));
    bench.says("Hurried.");
    let shown: Vec<Uuid> = (bench.messages.iter())
        .filter_map(|message| match message {
            Message::User(user) if user.tool_use_result.is_none() && !user.is_synthetic => {
                assert!(!user.is_replay);
                Some(user.uuid)
            }
            _ => None,
        })
        .collect();
    assert!(shown.contains(&steered));
    assert_eq!(bench.said().last(), Some(&"result"));
}

#[test]
fn a_text_that_is_a_command_to_an_engine_of_lines_is_a_text() {
    let mut bench = Bench::start(launch(), spec());
    bench.prompt("/clear");
    let sent = bench.says("What shall I clear?");
    assert!(sent["messages"][0].to_string().contains("/clear"));
}

#[test]
fn a_session_that_cannot_go_on_is_a_fault_and_the_end() {
    let mut launch = launch();
    launch.flags.resume = Some(uuid_v4([1; 16]).to_string());
    let mut bench = Bench::start(launch, spec());
    bench.prompt("Hello");
    let (number, effect) = bench.effects.pop_front().unwrap();
    assert!(matches!(effect, Effect::Load { .. }));
    let reason = "somebody else writes to it".to_owned();
    bench.handle(Input::Done(number, Outcome::Loaded(Err(reason.clone()))));
    assert_eq!(bench.fault, Some(Fault::NotOpened(reason)));
    assert_eq!(bench.engine.state(), State::Ended);
    assert_eq!(bench.ending, Some(Ending::Done { failed: true }));
    assert!(bench.messages.is_empty());
}

#[test]
fn the_session_begins_with_the_seed_that_it_was_given() {
    let ids = |seed: u8| {
        let mut launch = launch();
        launch.session_id = Some(uuid_v4([1; 16]));
        launch.session_seed = Some([seed; 32]);
        let mut bench = Bench::start(launch, spec());
        bench.prompt("Hello");
        bench.says("Hello.");
        let ids = bench.messages.iter().map(|it| RawJson::encode(it).unwrap());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(1), ids(1));
    assert_ne!(ids(1), ids(2));
}

#[test]
fn an_interrupt_that_nothing_is_there_for_begins_nothing() {
    let mut bench = Bench::start(launch(), spec());
    bench.tell(SessionInput::Interrupt);
    assert_eq!(bench.engine.state(), State::Ready);
    bench.prompt("Hello");
    bench.tell(SessionInput::Interrupt);
    let (id, _) = bench.asked();
    bench.answer(id, Answer::Cancelled);
    let said = bench.said();
    assert_eq!(said.first(), Some(&"init"));
    assert_eq!(said.last(), Some(&"result"));
}

/// Launch data of engines whose sessions go on where a person was asked.
fn keeping(resume: Option<Uuid>) -> Launch {
    let mut launch = launch();
    launch.flags.no_session_persistence = false;
    launch.flags.resume = resume.map(|id| id.to_string());
    launch.keeps_questions = true;
    launch
}

/// Sessions that write their transcript.
fn kept_spec() -> Spec {
    let mut spec = spec();
    spec.policy.persist = true;
    spec
}

impl Bench {
    /// Performs what a store performs; gives the leases that the engine got.
    fn store(&mut self, store: &MemoryStore) -> Vec<Lease> {
        let effects = StoreEffects::new(Some(store.clone()));
        let mut leases = Vec::new();
        while let Some((number, effect)) = self.effects.pop_front() {
            let done = pin!(effects.perform(effect));
            let Poll::Ready(done) = done.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("memory waits for nothing");
            };
            match &done {
                Ok(Outcome::Leased(Ok(lease))) => leases.push(lease.clone()),
                Ok(Outcome::Loaded(Ok(Some(loaded)))) => leases.extend(loaded.lease.clone()),
                _ => {}
            }
            self.handle(Input::Done(number, done.unwrap()));
        }
        leases
    }
}

/// The id and the store of a session whose engine has asked about a call, and is gone when the person answers.
fn left_asking() -> (Uuid, MemoryStore) {
    let store = MemoryStore::default();
    let mut bench = Bench::start(keeping(None), kept_spec());
    let leases = bench.store(&store);
    bench.prompt("Do it");
    bench.store(&store);
    bench.respond(call());
    assert!(bench.session.is_empty(), "asked before it is kept");
    bench.store(&store);
    let (_, effect) = bench.asked();
    assert!(matches!(effect, SessionEffect::AskPermission(_)));
    leases.iter().for_each(|lease| store.release(lease));
    (bench.opened.unwrap(), store)
}

#[test]
fn a_turn_goes_on_in_another_engine_where_a_person_was_asked() {
    let (id, store) = left_asking();
    let mut bench = Bench::start(keeping(Some(id)), kept_spec());
    bench.store(&store);
    bench.tell(SessionInput::Resumed { live: Vec::new() });
    bench.store(&store);
    let (asked, effect) = bench.asked();
    assert!(
        matches!(effect, SessionEffect::AskPermission(_)),
        "{effect:?}"
    );
    bench.answer(asked, Answer::Permission(PermissionResponse::allow()));
    let (ran, effect) = bench.asked();
    assert!(matches!(effect, SessionEffect::CallTool(_)), "{effect:?}");
    bench.answer(ran, Answer::Tool(ToolResult::text("done")));
    bench.store(&store);
    let sent = bench.says("It is done.");
    assert_eq!(sent["messages"].as_array().unwrap().len(), 3);
    bench.store(&store);
    assert_eq!(bench.said(), ["user", "assistant", "result"]);
}

#[test]
fn a_prompt_in_place_of_the_answer_goes_on_from_the_transcript() {
    let (id, store) = left_asking();
    let mut bench = Bench::start(keeping(Some(id)), kept_spec());
    let leases = bench.store(&store);
    bench.prompt("Forget it");
    bench.store(&store);
    let sent = bench.says("All right.");
    let sent = sent["messages"].to_string();
    assert!(
        sent.contains("outcome is unknown") && sent.contains("Forget it"),
        "{sent}"
    );
    bench.store(&store);
    assert_eq!(bench.said().last(), Some(&"result"));

    // What was asked then is over.
    leases.iter().for_each(|lease| store.release(lease));
    let mut bench = Bench::start(keeping(Some(id)), kept_spec());
    bench.store(&store);
    bench.tell(SessionInput::Resumed { live: Vec::new() });
    let Some(Fault::NotOpened(reason)) = bench.fault else {
        panic!("{:?}", bench.fault);
    };
    assert!(
        reason.contains("no turn of this session is unfinished"),
        "{reason}"
    );
}
