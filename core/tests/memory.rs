//! What a session that waits for its person takes, and what a late turn costs, by the bytes asked of the allocator.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
};

use windlass_core::{
    Input, Now, Output, Prompt, RawJson, Session, SessionId, Spec,
    effect::{Answer, Effect},
    tool::ToolDefinition,
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
    Arc::new(Spec {
        system: "You are a careful assistant. ".repeat(100).into(),
        tools: (0..10)
            .map(|n| ToolDefinition::new(format!("tool_{n}"), "x".repeat(1_000), schema.clone()))
            .collect(),
        stream: false,
        ..Spec::default()
    })
}

fn new_session(spec: &Arc<Spec>) -> Session {
    Session::new(spec.clone(), SessionId::from_random([9; 16]), [7; 32])
}

/// A prompt and its answer, half a KiB each.
fn turn(session: &mut Session) {
    let now = Now::default();
    let prompt = Input::Prompt(Prompt::text(&"question ".repeat(50)));
    session.handle(now, prompt).unwrap();
    let mut model = None;
    while let Some(output) = session.poll() {
        if let Output::Effect(id, Effect::Http(_)) = output {
            model = Some(id);
        }
    }
    let model = model.expect("a request");
    let body = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{{"type":"text","text":"{}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":9,"output_tokens":9}}}}"#,
        "answer ".repeat(65)
    );
    let head = Answer::HttpHead {
        status: 200,
        headers: vec![("content-type".into(), "application/json".into())],
    };
    for answer in [head, Answer::HttpBody(body.into()), Answer::HttpEnd] {
        session.handle(now, Input::Answer(model, answer)).unwrap();
        while session.poll().is_some() {}
    }
    assert!(session.is_idle());
}

#[test]
fn a_hundred_thousand_idle_sessions_fit_in_two_gibibytes() {
    const SESSIONS: i64 = 100;
    let spec = spec();
    let before = HELD.with(Cell::get);
    let sessions: Vec<Session> = (0..SESSIONS)
        .map(|_| {
            let mut session = new_session(&spec);
            for _ in 0..10 {
                turn(&mut session);
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
        each < room * 3 / 4,
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
