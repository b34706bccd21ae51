//! The transcript of a running session.

use proptest::prelude::*;
use serde_json::json;
use windlass_core::transcript::Transcript;

use super::{
    Talk, broken::Broken, facts, id, lines_of, load, now, raw, session, talk, text, writer,
};
use crate::{
    store::{Leased, MemoryStore, SendStore as _},
    transcript::{AgentMeta, SavedSession, Scribe, SessionWriter},
};

#[test]
fn sess_1_nothing_is_kept_before_the_first_line() {
    let store = MemoryStore::default();
    let mut writer = writer(&store);
    assert_eq!(now(writer.note_turn_end(None)).unwrap(), []);
    assert_eq!(now(store.list()).unwrap(), []);
    let appended = now(writer.persist(&talk().entries[..1])).unwrap();
    assert_eq!(appended[0].place, store.place(session(), None));
    assert_eq!(appended[0].entries.len(), 1);
    assert_eq!(now(store.list()).unwrap().len(), 1);
}

#[test]
fn sess_1_what_is_mirrored_is_what_is_kept() {
    let store = MemoryStore::default();
    let mut writer = writer(&store);
    let mut mirrored = Vec::new();
    for entry in &talk().entries {
        mirrored.extend(now(writer.persist(std::slice::from_ref(entry))).unwrap());
    }
    mirrored.extend(now(writer.note_turn_end(None)).unwrap());
    let mirrored: Vec<serde_json::Value> = (mirrored.iter().flat_map(|a| &a.entries))
        .map(|entry| entry.decode().unwrap())
        .collect();
    assert_eq!(mirrored, lines_of(&store, session(), None));
    assert_eq!(mirrored.len(), 10);
}

#[test]
fn sess_1_a_subagent_has_a_transcript_of_its_own_and_says_whose_it_is() {
    let store = MemoryStore::default();
    let mut writer = writer(&store);
    let mut both = talk();
    let mut child = Talk {
        next: 100,
        ..Talk::default()
    };
    child.says("look there").agent = Some("a/../1".into());
    child
        .answers("msg_c", json!([{"type": "text", "text": "seen"}]))
        .agent = Some("a/../1".into());
    both.entries.extend(child.entries);
    let appended = now(writer.persist(&both.entries)).unwrap();
    assert_eq!(appended.len(), 2);
    let lines = lines_of(&store, session(), Some("a/../1"));
    assert_eq!(lines.len(), 2);
    let is_own =
        |line: &serde_json::Value| line["isSidechain"] == true && line["agentId"] == "a/../1";
    assert!(lines.iter().all(is_own));
    assert_eq!(lines[0]["parentUuid"], serde_json::Value::Null);
    let of_session = lines_of(&store, session(), None);
    assert!(of_session.iter().all(|line| line["isSidechain"] == false));

    let meta = AgentMeta {
        agent_type: "Explore".into(),
        description: "look".into(),
        tool_use_id: Some("toolu_1".into()),
        parent_agent_id: None,
    };
    let mirrored = now(writer.describe_agent("a/../1", &meta)).unwrap();
    assert_eq!(mirrored.place, store.place(session(), Some("a/../1")));
    let kept = now(store.get(session(), "subagents/agent-a____1.meta.json")).unwrap();
    let expected = json!({"agentType": "Explore", "description": "look", "toolUseId": "toolu_1"});
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&kept.unwrap()).unwrap(),
        expected
    );
    let entry = mirrored.entries[0].get();
    assert!(entry.starts_with(r#"{"type":"agent_metadata","#));
}

#[test]
fn sess_4_what_could_not_be_written_comes_with_the_next_lines() {
    let store = MemoryStore::default();
    let broken = Broken::over(store.clone());
    let leased = now(Leased::create(broken.clone(), session())).unwrap();
    let mut writer = SessionWriter::new(leased, Scribe::new(facts()));
    let talk = talk();
    broken.set(true);
    for _ in 0..2 {
        let error = now(writer.persist(&talk.entries[..2])).unwrap_err();
        assert_eq!(error.to_string(), "writing here: it is full");
    }
    broken.set(false);
    now(writer.persist(&talk.entries[2..])).unwrap();
    let ids: Vec<String> = (lines_of(&store, session(), None).iter())
        .map(|line| line["uuid"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 9, "each once");
    assert_eq!(ids[0], id(1).to_string(), "in their order");
}

#[test]
fn sess_2_lines_of_other_programs_stay() {
    let store = MemoryStore::default();
    let mut writer = writer(&store);
    now(writer.persist(&talk().entries[..2])).unwrap();
    now(writer.append_line(raw(&json!({"type": "tag", "tag": "x"})))).unwrap();
    drop(writer);
    // A later writer continues after lines that another program has added.
    let saved = load(&store, session());
    let mut later = super::going_on(&store, &saved);
    now(later.persist(&talk().entries[2..])).unwrap();
    let lines = lines_of(&store, session(), None);
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[4]["tag"], "x");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A kill truncates the last line; everything acknowledged is preserved, and so is everything written afterwards.
    #[test]
    fn sess_4_a_torn_line_takes_nothing_with_it(first in 1_usize..7, torn in 0.0_f64..1.0) {
        let store = MemoryStore::default();
        let talk = talk();
        let mut before = writer(&store);
        now(before.persist(&talk.entries[..first])).unwrap();
        let acknowledged = text(&store, session(), None).len();
        now(before.persist(&talk.entries[first..=first])).unwrap();
        let whole = text(&store, session(), None).into_bytes();
        let cut = acknowledged + ((whole.len() - acknowledged) as f64 * torn) as usize;

        let saved = SavedSession::read(session(), whole[..cut].to_vec());
        for entry in &talk.entries[..first] {
            prop_assert!(saved.contains(entry.uuid));
        }
        let mut scribe = Scribe::new(facts()).going_on(saved.ids(), saved.leaf());
        let mut kept = whole[..cut].to_vec();
        kept.extend(if kept.ends_with(b"\n") { &b""[..] } else { b"\n" });
        for line in scribe.write(&talk.entries) {
            kept.extend_from_slice(line.json.get().as_bytes());
            kept.push(b'\n');
        }
        let read = Transcript::read(&kept);
        prop_assert!(read.unreadable.len() <= 1);
        let conversation = read.conversation();
        prop_assert_eq!(conversation.repairs, vec![]);
        let messages = format!("{:?}", conversation.messages);
        for words in ["first prompt", "I look.", "of a", "of b", "first answer", "second prompt", "second answer"] {
            prop_assert!(messages.contains(words), "{}", words);
        }
    }

    /// Arbitrary stored bytes are read without a panic, and lines appended to them can be read.
    #[test]
    fn sess_4_any_bytes_are_gone_on_from(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let saved = SavedSession::read(session(), bytes.clone());
        let mut scribe = Scribe::new(facts()).going_on(saved.ids(), saved.leaf());
        let mut kept = bytes;
        kept.push(b'\n');
        for line in scribe.write(&talk().entries) {
            kept.extend_from_slice(line.json.get().as_bytes());
            kept.push(b'\n');
        }
        let read = SavedSession::read(session(), kept);
        prop_assert_eq!(read.transcript().conversation().messages.len(), 6);
    }
}
