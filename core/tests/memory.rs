//! What a session that waits for its person takes, and what a late turn costs, by the bytes asked of the allocator.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
};

use windlass_core::{
    EffectId, Input, Now, Output, Prompt, RawJson, Session, Spec,
    effect::{Answer, Effect},
    permission::Mode,
    tool::{ToolDefinition, ToolResult},
    uuid_v4,
};

/// Counts what this thread holds and has asked for.
struct Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static ASKED: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    HELD.with(|held| held.set(held.get() + bytes));
    ASKED.with(|asked| asked.set(asked.get() + bytes.max(0)));
}

// SAFETY: every request goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn spec() -> Arc<Spec> {
    let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
    let mut spec = Spec::with_tools(
        (0..10)
            .map(|n| ToolDefinition::new(format!("tool_{n}"), "x".repeat(1_000), schema.clone())),
    );
    spec.prompt.system = "You are a careful assistant. ".repeat(100).into();
    spec.model.stream = false;
    spec.policy.permissions.allow_bypass = true;
    spec.policy.permissions.mode = Mode::BypassPermissions;
    Arc::new(spec)
}

fn new_session(spec: &Arc<Spec>) -> Session {
    Session::new(spec.clone(), uuid_v4([9; 16]), [7; 32])
}

/// A prompt and its answer, half a KiB each.
fn turn(session: &mut Session) {
    prompt(session, &"question ".repeat(50));
    answer(
        session,
        &format!(r#"{{"type":"text","text":"{}"}}"#, "answer ".repeat(65)),
        "end_turn",
    );
    assert!(session.is_idle());
}

/// As much text, and a call with its result in between.
fn turn_with_call(session: &mut Session, number: usize) {
    prompt(session, &"question ".repeat(25));
    let call = format!(
        r#"{{"type":"tool_use","id":"toolu_{number:020}","name":"tool_0","input":{{"path":"src/{number}.rs"}}}}"#
    );
    let called = answer(session, &call, "tool_use");
    let [Output::Effect(id, Effect::CallTool(_))] = &called[..] else {
        panic!("{called:?}");
    };
    let result = Answer::Tool(ToolResult::text("result ".repeat(25)));
    session
        .handle(Now::default(), Input::Answer(*id, result))
        .unwrap();
    effects(session);
    answer(
        session,
        &format!(r#"{{"type":"text","text":"{}"}}"#, "answer ".repeat(30)),
        "end_turn",
    );
    assert!(session.is_idle());
}

fn prompt(session: &mut Session, text: &str) {
    let prompt = Input::Prompt(Prompt::text(text));
    session.handle(Now::default(), prompt).unwrap();
    effects(session);
}

/// What the session asks of its host; what it says goes to nobody. The request to the model stays in `MODEL`.
fn effects(session: &mut Session) -> Vec<Output> {
    let mut effects = Vec::new();
    while let Some(output) = session.poll() {
        match output {
            Output::Effect(id, Effect::Http(_)) => MODEL.with(|model| model.set(Some(id))),
            Output::Effect(..) => effects.push(output),
            _ => {}
        }
    }
    effects
}

thread_local! {
    static MODEL: Cell<Option<EffectId>> = const { Cell::new(None) };
}

/// Answers the request with one content block.
fn answer(session: &mut Session, block: &str, stop_reason: &str) -> Vec<Output> {
    let model = MODEL.with(Cell::take).expect("a request");
    let body = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{block}],"stop_reason":"{stop_reason}","usage":{{"input_tokens":9,"output_tokens":9}}}}"#
    );
    let head = Answer::HttpHead {
        status: 200,
        headers: vec![("content-type".into(), "application/json".into())],
    };
    let mut asked = Vec::new();
    for answer in [head, Answer::HttpBody(body.into()), Answer::HttpEnd] {
        session
            .handle(Now::default(), Input::Answer(model, answer))
            .unwrap();
        asked.extend(effects(session));
    }
    asked
}

/// What sessions of ten turns hold each, and their snapshots, against what fits and against their histories.
fn ten_turns(turn: impl Fn(&mut Session, usize)) {
    const SESSIONS: i64 = 100;
    let spec = spec();
    let before = HELD.with(Cell::get);
    let sessions: Vec<Session> = (0..SESSIONS)
        .map(|_| {
            let mut session = new_session(&spec);
            for number in 0..10 {
                turn(&mut session, number);
            }
            session
        })
        .collect();
    let each = (HELD.with(Cell::get) - before) / SESSIONS;
    let history = sessions[0].history().encoded_len();
    println!("{each} bytes for each session, of which {history} are its history");
    assert!(
        (9_000..=10_240).contains(&history),
        "10 turns of 1 KiB: {history}"
    );
    let room = (2 << 30) / 100_000;
    assert!(
        each < room * 4 / 5,
        "{each} bytes for each session; {room} are the limit"
    );
    for session in &sessions {
        let snapshot = session.snapshot().unwrap().len();
        assert!(
            snapshot * 2 <= history * 3,
            "a snapshot of {snapshot} bytes for {history}"
        );
    }
}

#[test]
fn a_hundred_thousand_idle_sessions_fit_in_two_gibibytes() {
    ten_turns(|session, _| turn(session));
}

#[test]
fn so_do_as_many_whose_turns_have_a_call_each() {
    ten_turns(turn_with_call);
}

#[test]
fn a_late_turn_asks_for_no_more_memory_than_an_early_one() {
    let spec = spec();
    let mut session = new_session(&spec);
    let mut asked = Vec::new();
    for _ in 0..208 {
        let before = ASKED.with(Cell::get);
        turn(&mut session);
        asked.push(ASKED.with(Cell::get) - before);
    }
    // Eight turns in a row: joining pieces makes some of them dearer than others.
    let (early, late) = (&asked[2..10], &asked[198..206]);
    let (early, late): (i64, i64) = (early.iter().sum(), late.iter().sum());
    println!("{early} bytes early, {late} bytes late");
    assert!(
        late * 2 <= early * 3,
        "{early} bytes early, {late} bytes late"
    );
}
