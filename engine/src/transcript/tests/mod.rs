//! Transcripts as the SDKs see them.

mod files;
#[cfg(target_os = "linux")]
mod full;
mod lines;
mod reading;
mod resuming;
mod task_outputs;
mod torn;

use std::path::Path;

use serde_json::{Value, json};
use windlass_core::{
    RawJson, SessionId, UnixMillis, Uuid,
    effect::{Entry, EntryOrigin},
};

use super::{Facts, Scribe, SessionFiles, TaskOutputs, TranscriptWriter};
use crate::config_dir::ConfigDir;

fn id(n: u128) -> Uuid {
    Uuid::from_random((n << 64 | n).to_be_bytes())
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

/// Entries as the core hands them out: each follows the one before it.
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

fn files(root: &Path) -> SessionFiles {
    SessionFiles::of(&ConfigDir::at(root.join("config")), &root.join("work"))
}

fn writer(root: &Path) -> TranscriptWriter {
    TranscriptWriter::new(files(root), Scribe::new(facts()))
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
