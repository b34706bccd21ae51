//! Transcripts as the SDKs see them.

mod broken;
mod lines;
mod reading;
mod resuming;
mod writing;

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use serde_json::{Value, json};
use windlass_core::{
    RawJson, SessionId, UnixMillis, Uuid,
    effect::{Entry, EntryOrigin},
    uuid_v4,
};

use super::{Facts, SavedSession, Scribe, Which};
use crate::{
    store::{Leased, MemoryStore, SendStore as _},
    transcript::SessionWriter,
};

fn id(n: u128) -> Uuid {
    uuid_v4((n << 64 | n).to_be_bytes())
}

fn session() -> SessionId {
    id(999)
}

fn raw(value: &Value) -> RawJson {
    RawJson::parse(value.to_string()).unwrap()
}

fn facts() -> Facts {
    Facts {
        session_id: session(),
        cwd: "/workspace".into(),
        version: "2.1.330".into(),
        git_branch: Some("main".into()),
        entrypoint: "sdk-py".into(),
    }
}

/// Entries as the core emits them: each follows the previous one.
#[derive(Default)]
struct Talk {
    entries: Vec<Entry>,
    next: u128,
}

impl Talk {
    fn push(&mut self, message: Value) -> &mut Entry {
        self.next += 1;
        let parent = self.entries.last().map(|entry| entry.uuid);
        self.entries.push(Entry {
            uuid: id(self.next),
            parent,
            timestamp: UnixMillis(1_795_295_100_000 + self.next as u64),
            message: raw(&message),
            tool_use_result: None,
            origin: EntryOrigin::default(),
            agent: None,
            compaction: None,
        });
        self.entries.last_mut().unwrap()
    }

    fn says(&mut self, text: &str) -> &mut Entry {
        self.push(json!({"role": "user", "content": [{"type": "text", "text": text}]}))
    }

    fn answers(&mut self, name: &str, blocks: Value) -> &mut Entry {
        self.push(json!({
            "id": name, "type": "message", "role": "assistant", "model": "m", "content": blocks,
            "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 2},
        }))
    }

    fn result(&mut self, call: &str, text: &str) -> &mut Entry {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text});
        let entry = self.push(json!({"role": "user", "content": [block]}));
        entry.tool_use_result = Some(raw(&json!({"stdout": text})));
        entry
    }
}

/// A prompt, a response with two calls, their results, an answer, another turn.
fn talk() -> Talk {
    let mut talk = Talk::default();
    talk.says("first prompt"); // 1
    talk.answers(
        "msg_1",
        json!([
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "/x"}},
            {"type": "tool_use", "id": "b", "name": "Read", "input": {"file_path": "/y"}},
        ]),
    ); // 2
    talk.result("a", "of a"); // 3
    talk.result("b", "of b"); // 4
    talk.answers("msg_2", json!([{"type": "text", "text": "first answer"}])); // 5
    talk.says("second prompt"); // 6
    talk.answers("msg_3", json!([{"type": "text", "text": "second answer"}])); // 7
    talk
}

/// The result of a future of the memory store, which is always ready.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("memory waits for nothing"),
    }
}

fn writer(store: &MemoryStore) -> SessionWriter<MemoryStore> {
    let leased = now(Leased::create(store.clone(), session())).unwrap();
    SessionWriter::new(leased, Scribe::new(facts()))
}

/// A writer that continues a resumed session.
fn going_on(store: &MemoryStore, saved: &SavedSession) -> SessionWriter<MemoryStore> {
    let scribe = Scribe::new(facts()).going_on(saved.ids(), saved.leaf());
    SessionWriter::new(now(Leased::open(store.clone(), saved.id)).unwrap(), scribe)
}

fn load(store: &MemoryStore, id: SessionId) -> SavedSession {
    let which = Which::Session(id.to_string());
    now(SavedSession::find(store, &which)).unwrap().unwrap()
}

fn text(store: &MemoryStore, id: SessionId, agent: Option<&str>) -> String {
    let stored = now(store.load(id, agent)).unwrap().unwrap_or_default();
    String::from_utf8(stored.text).unwrap()
}

fn lines_of(store: &MemoryStore, id: SessionId, agent: Option<&str>) -> Vec<Value> {
    let text = text(store, id, agent);
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
