//! The lines that entries are converted to.

use serde_json::{Value, json};
use windlass_core::{
    context::CompactionTrigger,
    effect::{EntryCompaction, EntryOrigin},
    message::CompactMetadata,
};

use super::{Scribe, Talk, facts, id, session, talk};
use crate::block_uuid;

fn written(talk: &Talk) -> Vec<Value> {
    let mut scribe = Scribe::new(facts());
    scribe.set_permission_mode("acceptEdits");
    scribe.set_prompt_id(id(500));
    let lines = scribe.write(&talk.entries);
    assert_eq!(scribe.write(&talk.entries), [], "written once");
    let read = |json: &windlass_core::RawJson| serde_json::from_str(json.get()).unwrap();
    lines.iter().map(|line| read(&line.json)).collect()
}

#[test]
fn sess_1_a_prompt_and_a_result_have_the_fields_of_session_files() {
    let lines = written(&talk());
    assert_eq!(
        lines[0],
        json!({
            "parentUuid": null, "isSidechain": false, "promptId": id(500), "type": "user",
            "message": {"role": "user", "content": "first prompt"}, "permissionMode": "acceptEdits",
            "uuid": id(1), "timestamp": "2026-11-21T21:05:00.001Z", "userType": "external", "entrypoint": "sdk-py",
            "cwd": "/workspace", "sessionId": session(), "version": "2.1.330", "gitBranch": "main",
        })
    );
    let call = block_uuid(id(2), 1);
    assert_eq!(
        lines[4],
        json!({
            "parentUuid": call, "isSidechain": false, "promptId": id(500), "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "of a"}]},
            "toolUseResult": {"stdout": "of a"}, "sourceToolAssistantUUID": call,
            "uuid": id(3), "timestamp": "2026-11-21T21:05:00.003Z", "userType": "external", "entrypoint": "sdk-py",
            "cwd": "/workspace", "sessionId": session(), "version": "2.1.330", "gitBranch": "main",
        })
    );
}

#[test]
fn sess_1_each_block_of_a_response_is_a_line_with_the_id_of_its_frame() {
    let lines = written(&talk());
    let blocks = &lines[1..4];
    for (index, line) in blocks.iter().enumerate() {
        assert_eq!(line["uuid"], json!(block_uuid(id(2), index)));
        assert_eq!(line["message"]["content"].as_array().unwrap().len(), 1);
        assert_eq!(line["message"]["id"], "msg_1");
        assert_eq!(line["message"]["usage"]["output_tokens"], 2);
        assert_eq!(line["message"]["stop_reason"], "end_turn");
        let parent = match index {
            0 => id(1),
            _ => block_uuid(id(2), index - 1),
        };
        assert_eq!(line["parentUuid"], json!(parent));
    }
}

#[test]
fn sess_1_parallel_results_hang_at_their_calls_and_the_next_line_at_the_last() {
    let lines = written(&talk());
    let by_id = |n: u128| {
        lines
            .iter()
            .find(|line| line["uuid"] == json!(id(n)))
            .unwrap()
    };
    assert_eq!(by_id(3)["parentUuid"], json!(block_uuid(id(2), 1)));
    assert_eq!(by_id(4)["parentUuid"], json!(block_uuid(id(2), 2)));
    assert_eq!(by_id(5)["parentUuid"], json!(id(4)));
    assert_eq!(by_id(6)["parentUuid"], json!(id(5)));
}

#[test]
fn sess_1_what_follows_a_response_of_several_blocks_follows_its_last() {
    let mut talk = Talk::default();
    talk.says("p");
    talk.answers(
        "msg",
        json!([{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]),
    );
    talk.says("q");
    let lines = written(&talk);
    assert_eq!(lines[3]["parentUuid"], json!(block_uuid(id(2), 1)));
}

#[test]
fn sess_1_what_no_person_said_is_marked() {
    let mut talk = Talk::default();
    talk.says("p");
    talk.says("a hook's word").origin = EntryOrigin::Engine;
    talk.says("a task ended").origin = EntryOrigin::Task;
    talk.says("[Request interrupted by user]").origin = EntryOrigin::Interruption;
    let lines = written(&talk);
    assert_eq!(lines[0].get("isMeta"), None);
    assert_eq!(lines[1]["isMeta"], true);
    assert_eq!(lines[1].get("permissionMode"), None);
    assert_eq!(lines[2]["isMeta"], true);
    assert_eq!(lines[2]["origin"], json!({"kind": "task-notification"}));
    // It is visible to readers, although it is not a prompt.
    assert_eq!(lines[3].get("isMeta"), None);
    assert_eq!(lines[3].get("permissionMode"), None);
}

#[test]
fn sess_1_a_compaction_is_a_boundary_and_a_summary() {
    let mut talk = talk();
    talk.says("what was before, in short").compaction = Some(EntryCompaction {
        boundary: id(70),
        metadata: CompactMetadata {
            trigger: CompactionTrigger::Auto,
            pre_tokens: 2_000,
            post_tokens: Some(30),
            duration_ms: None,
        },
        kept_messages: 2,
    });
    let lines = written(&talk);
    let [.., boundary, summary] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(boundary["type"], "system");
    assert_eq!(boundary["subtype"], "compact_boundary");
    assert_eq!(
        (&boundary["uuid"], &boundary["parentUuid"]),
        (&json!(id(70)), &Value::Null)
    );
    assert_eq!(boundary["logicalParentUuid"], json!(id(7)));
    let metadata =
        json!({"trigger": "auto", "preTokens": 2000, "postTokens": 30, "keptMessages": 2});
    assert_eq!(boundary["compactMetadata"], metadata);
    assert_eq!(summary["parentUuid"], json!(id(70)));
    assert_eq!(summary["isCompactSummary"], true);
}

#[test]
fn sess_2_the_last_prompt_and_the_end_of_the_conversation_are_noted() {
    let mut scribe = Scribe::new(facts());
    assert_eq!(scribe.last_prompt(), None);
    scribe.write(&talk().entries);
    let line = scribe.last_prompt().unwrap();
    assert_eq!(
        line.get(),
        format!(
            r#"{{"type":"last-prompt","lastPrompt":"second prompt","leafUuid":"{}","sessionId":"{}"}}"#,
            id(7),
            session()
        )
    );
}
