//! Resuming sessions.

use serde_json::{Value, json};
use windlass_core::{
    context::CompactionTrigger,
    effect::{EntryCompaction, EntryOrigin},
    message::CompactMetadata,
    transcript::Transcript,
    uuid_v4,
};

use super::{Scribe, Talk, facts, going_on, id, lines_of, load, now, session, talk, text, writer};
use crate::{
    block_uuid,
    store::{Leased, MemoryStore},
    transcript::{Facts, ResumeError, ResumeOptions, SavedSession, SessionWriter, Which},
};

fn saved(store: &MemoryStore, talk: &Talk) -> SavedSession {
    let mut writer = writer(store);
    now(writer.persist(&talk.entries)).unwrap();
    now(writer.note_turn_end(None)).unwrap();
    load(store, session())
}

fn at(uuid: impl ToString) -> ResumeOptions {
    ResumeOptions {
        at: Some(uuid.to_string()),
        drops_turn: None,
    }
}

fn dropping(uuid: impl ToString, prompt: impl ToString) -> ResumeOptions {
    ResumeOptions {
        drops_turn: Some(prompt.to_string()),
        ..at(uuid)
    }
}

fn said(saved: &SavedSession) -> String {
    let conversation = saved.transcript().conversation();
    assert_eq!(conversation.repairs, []);
    format!("{:?}", conversation.messages)
}

#[test]
fn sess_1_a_session_read_back_is_the_conversation_that_was_written() {
    let store = MemoryStore::default();
    let talk = talk();
    let saved = saved(&store, &talk);
    let expected = Transcript::of(&talk.entries).conversation();
    let read = saved.transcript().conversation();
    assert_eq!(read.repairs, []);
    let lengths = |c: &windlass_core::transcript::Conversation| -> Vec<_> {
        c.messages
            .iter()
            .map(|(role, blocks)| (*role, blocks.len()))
            .collect()
    };
    assert_eq!(lengths(&read), lengths(&expected));
    assert_eq!(saved.leaf(), Some(id(7)));
    assert!(saved.contains(block_uuid(id(2), 2)));
}

#[test]
fn sess_1_a_compacted_session_goes_on_behind_its_summary() {
    let store = MemoryStore::default();
    let mut talk = talk();
    talk.says("what was before, in short").compaction = Some(EntryCompaction {
        boundary: id(70),
        metadata: CompactMetadata {
            trigger: CompactionTrigger::Auto,
            pre_tokens: 2_000,
            post_tokens: None,
            duration_ms: None,
        },
        kept_messages: 2,
    });
    let saved = saved(&store, &talk);
    let said = said(&saved);
    for words in ["in short", "second prompt", "second answer"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!said.contains("first") && !said.contains("of a"), "{said}");
    let expected = Transcript::of(&talk.entries).conversation();
    assert_eq!(
        saved.transcript().conversation().messages.len(),
        expected.messages.len()
    );
}

#[test]
fn sess_1_an_unknown_session_is_named() {
    let store = MemoryStore::default();
    for unknown in [session().to_string(), "no-id".into(), String::new()] {
        let error = now(SavedSession::take(&store, &Which::Session(unknown.clone()))).unwrap_err();
        assert!(matches!(error, ResumeError::UnknownSession(_)));
        let expected = format!("No conversation found with session ID: {unknown}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn sess_1_a_session_is_taken_up_at_a_message_and_what_came_after_is_left_behind() {
    let store = MemoryStore::default();
    let saved = saved(&store, &talk()).truncated(&at(id(5))).unwrap();
    assert_eq!(saved.leaf(), Some(id(5)));
    let words = said(&saved);
    assert!(words.contains("first answer") && words.contains("of a") && words.contains("of b"));
    assert!(!words.contains("second"));

    let mut writer = going_on(&store, &saved);
    let mut other = Talk {
        next: 40,
        ..Talk::default()
    };
    other.says("another way").parent = saved.leaf();
    now(writer.persist(&other.entries)).unwrap();
    let again = load(&store, session());
    let words = said(&again);
    assert!(words.contains("another way") && words.contains("first answer"));
    assert!(
        !words.contains("second"),
        "the branch left behind stays there"
    );
}

#[test]
fn sess_1_a_message_that_is_not_there_is_named() {
    for unknown in [id(12345).to_string(), "x".into(), String::new()] {
        let error = saved(&MemoryStore::default(), &talk())
            .truncated(&at(&unknown))
            .unwrap_err();
        assert!(
            error.to_string().ends_with(&unknown)
                && matches!(error, ResumeError::UnknownMessage(_))
        );
    }
}

#[test]
fn sess_1_a_turn_is_dropped_if_nothing_else_would_be() {
    let load = || saved(&MemoryStore::default(), &talk());
    assert!(load().truncated(&dropping(id(5), id(6))).is_ok());
    // Results that belong to the remaining turn would be lost.
    let refused = |options: &ResumeOptions| load().truncated(options).unwrap_err().to_string();
    for options in [
        dropping(block_uuid(id(2), 2), id(6)),
        dropping(id(4), id(6)),
        dropping(id(5), id(1)),
        dropping(id(5), id(888)),
        dropping(id(5), ""),
        ResumeOptions {
            at: None,
            drops_turn: Some(id(6).to_string()),
        },
    ] {
        let refused = refused(&options);
        assert!(
            refused.starts_with("Resume rejected by --resume-drops-turn: "),
            "{refused}"
        );
    }
}

#[test]
fn sess_1_prompts_and_news_that_a_turn_took_up_are_not_dropped_with_it() {
    for origin in [
        EntryOrigin::Conversation,
        EntryOrigin::Task,
        EntryOrigin::Engine,
    ] {
        let store = MemoryStore::default();
        let mut talk = talk();
        talk.says("on the way").origin = origin;
        talk.answers("msg_4", json!([{"type": "text", "text": "noted"}]));
        let truncated = saved(&store, &talk).truncated(&dropping(id(5), id(6)));
        assert_eq!(
            truncated.is_ok(),
            origin == EntryOrigin::Engine,
            "{truncated:?}"
        );
    }
}

#[test]
fn sess_1_that_a_turn_was_interrupted_is_dropped_with_it() {
    for content in [
        json!("[Request interrupted by user]"),
        json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    ] {
        let store = MemoryStore::default();
        let mut talk = talk();
        talk.push(json!({"role": "user", "content": content}));
        let truncated = saved(&store, &talk).truncated(&dropping(id(5), id(6)));
        assert!(truncated.is_ok(), "{truncated:?}");
    }
}

#[test]
fn sess_1_a_fork_begins_with_a_copy_and_leaves_the_original_alone() {
    let store = MemoryStore::default();
    let saved = saved(&store, &talk()).truncated(&at(id(5))).unwrap();
    let original = text(&store, session(), None);
    let other = uuid_v4([9; 16]);
    let new = Facts {
        session_id: other,
        ..facts()
    };
    let scribe = Scribe::new(new).going_on(saved.ids(), saved.leaf());
    let leased = now(Leased::create(store.clone(), other)).unwrap();
    let mut writer = SessionWriter::new(leased, scribe).beginning_with(saved.forked(other));
    let mut next = Talk {
        next: 40,
        ..Talk::default()
    };
    next.says("another way").parent = saved.leaf();
    let appended = now(writer.persist(&next.entries)).unwrap();
    assert_eq!(
        appended[0].entries.len(),
        8,
        "seven lines and the new prompt"
    );
    assert_eq!(text(&store, session(), None), original);
    let lines = lines_of(&store, other, None);
    assert!(lines.iter().all(|line| line["sessionId"] == json!(other)));
    assert_eq!(
        lines[0]["forkedFrom"],
        json!({"sessionId": session(), "messageUuid": id(1)})
    );
    assert_eq!(lines[7].get("forkedFrom"), None);
    let fork = load(&store, other);
    let words = said(&fork);
    assert!(words.contains("of a") && words.contains("another way") && !words.contains("second"));
}

/// Lines in the official engine's format, with attachments and notes in the chain, and unknown types.
#[test]
fn sess_1_files_of_the_official_engine_are_taken_up() {
    let common = |value: Value, uuid: u128, parent: Option<u128>| {
        let mut line = value;
        line["uuid"] = json!(id(uuid));
        line["parentUuid"] = json!(parent.map(id));
        line["isSidechain"] = json!(false);
        line["sessionId"] = json!(session());
        line
    };
    let user =
        |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
    let assistant = |block: Value| json!({"type": "assistant", "message": {"id": "msg_1", "role": "assistant", "model": "m", "content": [block]}});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": id}]);
    let lines = [
        json!({"type": "queue-operation", "operation": "enqueue", "content": "go"}),
        common(user(json!("go")), 1, None),
        common(
            json!({"type": "attachment", "attachment": {"type": "environment", "blob": "x".repeat(3_000_000)}}),
            2,
            Some(1),
        ),
        common(assistant(call("a")), 3, Some(2)),
        common(assistant(call("b")), 4, Some(3)),
        common(user(result("a")), 5, Some(3)),
        common(user(result("b")), 6, Some(4)),
        json!({"type": "last-prompt", "lastPrompt": "go", "leafUuid": id(6), "sessionId": session()}),
        common(
            json!({"type": "attachment", "attachment": {"type": "prompt_snapshot"}}),
            7,
            Some(6),
        ),
        common(
            json!({"type": "assistant", "message": {"id": "msg_2", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "done"}]}}),
            8,
            Some(7),
        ),
        common(
            json!({"type": "system", "subtype": "turn_duration"}),
            9,
            Some(8),
        ),
        json!({"type": "cost-state", "totalCostUSD": 0.1}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let saved = SavedSession::read(session(), text.into_bytes());
    assert_eq!(saved.leaf(), Some(id(8)));
    let sizes: Vec<usize> = (saved.transcript().conversation().messages.iter())
        .map(|(_, blocks)| blocks.len())
        .collect();
    assert_eq!(sizes, [1, 2, 2, 1]);
    let at_attachment = saved.truncated(&at(id(7))).unwrap();
    assert!(!said(&at_attachment).contains("done"));
}

#[test]
fn sess_1_a_long_session_is_read_in_linear_time() {
    // With a linear search for each line this would take minutes.
    let store = MemoryStore::default();
    let mut talk = Talk::default();
    for turn in 0..2_000 {
        talk.says(&format!("prompt {turn}"));
        let call = format!("toolu_{turn}");
        talk.answers(
            &format!("msg_{turn}"),
            json!([{"type": "tool_use", "id": call, "name": "Read", "input": {}}]),
        );
        talk.result(&call, "seen");
        talk.answers(
            &format!("end_{turn}"),
            json!([{"type": "text", "text": "done"}]),
        );
    }
    let saved = saved(&store, &talk);
    assert_eq!(saved.transcript().conversation().messages.len(), 8_000);
    assert_eq!(saved.forked(id(3)).len(), 8_000);
}
