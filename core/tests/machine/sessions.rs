//! Sessions as values: transcripts cut anywhere and taken up again, forks, limits that were raised.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Input, Output, Prompt, Seeded, Session, Spec,
    effect::{Answer, Effect, Entry},
    id::uuid_v4,
    tool::ToolResult,
    transcript::{Conversation, Repair, Transcript},
};
use windlass_testkit::validate_request;

use crate::harness::{Bench, Reply, raw, session_id, spec_with, tool, tool_use};

fn spec() -> Spec {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.persist = true;
    spec
}

/// A session of three prompts with thinking, parallel calls and a limit that was reached; the entries that
/// were handed out, each with the time of its acknowledgement.
fn entries() -> Vec<Entry> {
    let mut bench = Bench::new(spec());
    let mut entries = Vec::new();
    bench.prompt("first prompt");
    entries.extend(bench.saved_all());
    bench.reply(&Reply::message(&[
        json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
        json!({"type": "text", "text": "first words"}),
        tool_use("a", "Note", json!({"text": "é ☃ \"quoted\""})),
        tool_use("b", "Note", json!({})),
    ]));
    entries.extend(bench.saved_all());
    bench.finish("a", "result of a");
    bench.finish("b", "result of b");
    entries.extend(bench.saved_all());
    bench.says("first answer");
    entries.extend(bench.saved_all());
    bench.prompt("second prompt");
    entries.extend(bench.saved_all());
    bench.says("second answer");
    entries.extend(bench.saved_all());
    entries
}

/// A line as hosts write it into session files.
fn line(entry: &Entry) -> String {
    let message: Value = entry.message.decode().unwrap();
    let line = json!({
        "parentUuid": entry.parent, "isSidechain": false, "type": message["role"], "message": message,
        "uuid": entry.uuid, "timestamp": "2026-01-31T08:30:00.000Z", "cwd": "/work", "sessionId": session_id(),
    });
    format!("{line}\n")
}

/// What the next request of a session says, once it is prompted; it must be one that the API takes.
fn next_request(session: &mut Session) -> String {
    let now = Bench::new(spec()).now;
    session
        .handle(now, Input::Prompt(Prompt::text("the next prompt")))
        .unwrap();
    loop {
        match session.poll().expect("a request") {
            Output::Effect(_, Effect::Http(request)) => {
                let body = request.body_bytes();
                validate_request(&body).unwrap_or_else(|faults| panic!("{faults:?}"));
                return String::from_utf8(body).unwrap();
            }
            Output::Effect(id, Effect::Persist(_)) => {
                session
                    .handle(now, Input::Answer(id, Answer::Persisted))
                    .unwrap();
            }
            _ => {}
        }
    }
}

fn resumed(spec: Spec, transcript: &Transcript) -> (Session, Vec<Repair>) {
    Session::resume_transcript(Arc::new(spec), session_id(), [8; 32], transcript)
}

/// What each entry has to say, as it stands in a request.
const SAID: [&[&str]; 7] = [
    &["first prompt"],
    &["first words", "é ☃ \\\"quoted\\\""],
    &["result of a"],
    &["result of b"],
    &["first answer"],
    &["second prompt"],
    &["second answer"],
];

#[test]
fn sess_4_a_transcript_cut_at_any_byte_resumes_and_loses_nothing_that_was_written() {
    let lines: Vec<String> = entries().iter().map(line).collect();
    let text = lines.concat();
    for cut in 0..=text.len() {
        let transcript = Transcript::read(&text.as_bytes()[..cut]);
        let (mut session, _) = resumed(spec(), &transcript);
        let request = next_request(&mut session);
        let mut end = 0;
        for (line, said) in lines.iter().zip(SAID) {
            end += line.len();
            // The line end itself says nothing.
            if end > cut + 1 {
                break;
            }
            for words in said {
                assert!(request.contains(words), "cut at {cut}: {words} is lost");
            }
        }
        let whole: usize = (lines.iter().map(String::len))
            .scan(0, |at, len| {
                *at += len;
                Some(*at)
            })
            .take_while(|end| *end <= cut)
            .last()
            .unwrap_or(0);
        assert_eq!(transcript.whole_len, whole as u64, "where to go on writing");
    }
}

#[test]
fn sess_1_entries_have_the_ids_of_the_messages_that_were_shown_and_all_they_said() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::message(&[
        json!({"type": "thinking", "thinking": "without a signature"}),
        json!({"type": "text", "text": "words"}),
        tool_use("a", "Note", json!({})),
        tool_use("b", "Note", json!({})),
    ]));
    let response = bench.saved();
    let shown = bench.lines_of("assistant").remove(0);
    assert_eq!(json!(response.uuid), shown["uuid"]);
    let message: Value = response.message.decode().unwrap();
    assert_eq!(
        message, shown["message"],
        "with id, model, usage, every block"
    );
    let (call, _) = bench.calls().remove(0);
    let mut first = ToolResult::text("first");
    first.structured = Some(raw(&json!({"stdout": "first"})));
    bench.answer(call, Answer::Tool(first));
    bench.finish("b", "second");
    let results = bench.saved_all();
    let shown = bench.lines_of("user");
    assert_eq!((results.len(), shown.len()), (2, 2));
    for (entry, output) in results.iter().zip([Some(json!({"stdout": "first"})), None]) {
        let shown = shown
            .iter()
            .find(|shown| shown["uuid"] == json!(entry.uuid));
        let message: Value = entry.message.decode().unwrap();
        assert_eq!(shown.expect("the same id")["message"], message);
        let structured = entry.tool_use_result.as_ref();
        assert_eq!(structured.map(|raw| raw.decode().unwrap()), output);
    }
    assert_eq!(results[0].parent, Some(response.uuid));
    assert_eq!(results[1].parent, Some(results[0].uuid));
}

#[test]
fn sess_4_a_call_whose_result_was_not_written_is_told_to_be_unknown() {
    let entries = entries();
    let (mut session, repairs) = resumed(spec(), &Transcript::of(&entries[..2]));
    let lost = |id: &str| Repair::LostResult {
        tool_use_id: id.into(),
    };
    assert_eq!(repairs, [lost("a"), lost("b")]);
    assert!(next_request(&mut session).contains("its outcome is unknown"));
}

#[test]
fn sess_4_any_subset_of_lines_in_any_order_gives_a_valid_request() {
    let lines: Vec<String> = entries().iter().map(line).collect();
    let mut ids = Seeded::new([3; 32]);
    for _ in 0..500 {
        let mut picked: Vec<&str> = Vec::new();
        for _ in 0..ids.below(9) {
            picked.push(&lines[usize::try_from(ids.below(lines.len() as u64)).unwrap()]);
        }
        let (mut session, _) = resumed(spec(), &Transcript::read(picked.concat().as_bytes()));
        next_request(&mut session);
    }
}

#[test]
fn sess_4_whatever_a_history_holds_it_is_mended() {
    use windlass_core::history::Role::{Assistant, User};
    let text = |t: &str| raw(&json!({"type": "text", "text": t}));
    let call = |id: &str| raw(&tool_use(id, "Note", json!({})));
    let result = |id: &str| raw(&json!({"type": "tool_result", "tool_use_id": id, "content": "r"}));
    let thinking = |signature: &str| {
        raw(&json!({"type": "thinking", "thinking": "t", "signature": signature}))
    };
    let kinds = [
        text("x"),
        text(" "),
        call("a"),
        call("b"),
        call(""),
        result("a"),
        result("b"),
        thinking("s"),
        thinking(""),
        raw(&json!(7)),
        raw(&json!({"type": "unknown_kind", "x": 1})),
        raw(&json!({"type": "tool_use", "id": "c"})),
    ];
    let mut ids = Seeded::new([5; 32]);
    let mut pick = |bound: usize| usize::try_from(ids.below(bound as u64)).unwrap();
    for _ in 0..3_000 {
        let messages: Vec<_> = (0..pick(7))
            .map(|_| {
                let role = if pick(2) == 0 { User } else { Assistant };
                let blocks = (0..pick(5))
                    .map(|_| kinds[pick(kinds.len())].clone())
                    .collect();
                (role, blocks)
            })
            .collect();
        let mended = Conversation::of(messages.clone());
        let lines: Vec<String> = (mended.messages.iter().enumerate())
            .map(|(at, (role, blocks))| {
                json!({"type": role, "message": {"role": role, "content": blocks}, "uuid": uuid_v4([u8::try_from(at).unwrap(); 16])}).to_string()
            })
            .collect();
        let (mut session, again) = resumed(spec(), &Transcript::read(lines.join("\n").as_bytes()));
        assert_eq!(again, [], "what was mended needs no mending: {messages:?}");
        next_request(&mut session);
    }
}

#[test]
fn sess_1_a_file_with_a_line_for_each_block_and_entries_of_other_kinds_is_read() {
    let id = |n: u8| uuid_v4([n; 16]);
    let assistant = |n: u8, parent: u8, block: Value| json!({"type": "assistant", "uuid": id(n), "parentUuid": id(parent), "message": {"id": "msg_1", "role": "assistant", "content": [block]}});
    let result = |n: u8, parent: u8, call: &str| json!({"type": "user", "uuid": id(n), "parentUuid": id(parent), "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": call}]}});
    let lines = [
        json!({"type": "queue-operation", "operation": "enqueue"}),
        json!({"type": "user", "uuid": id(1), "parentUuid": null, "message": {"role": "user", "content": "as a text"}}),
        json!({"type": "user", "uuid": id(9), "parentUuid": null, "isSidechain": true, "message": {"role": "user", "content": "of a subagent"}}),
        assistant(
            2,
            1,
            json!({"type": "thinking", "thinking": "t", "signature": "s"}),
        ),
        assistant(3, 2, tool_use("a", "Note", json!({}))),
        result(4, 3, "a"),
        assistant(5, 3, tool_use("b", "Note", json!({}))),
        result(6, 5, "b"),
        json!({"type": "system", "uuid": id(7), "parentUuid": id(6), "subtype": "notice"}),
        json!({"type": "assistant", "uuid": id(8), "parentUuid": id(7), "message": {"id": "msg_2", "role": "assistant", "content": [{"type": "text", "text": "done"}]}}),
        json!({"type": "last-prompt", "lastPrompt": "as a text"}),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    let transcript = Transcript::read(text.as_bytes());
    assert_eq!(transcript.leaf(), Some(id(8)));
    let conversation = transcript.conversation();
    assert_eq!(conversation.repairs, []);
    let sizes: Vec<usize> = conversation
        .messages
        .iter()
        .map(|(_, blocks)| blocks.len())
        .collect();
    assert_eq!(
        sizes,
        [1, 3, 2, 1],
        "both parts of the response are one message: {conversation:?}"
    );
    let (mut session, _) = resumed(spec(), &transcript);
    let request = next_request(&mut session);
    assert!(request.contains("as a text") && !request.contains("of a subagent"));
}

#[test]
fn sess_1_a_session_is_resumed_at_a_message_under_an_id_of_ones_choice() {
    let entries = entries();
    let transcript = Transcript::of(&entries).up_to(entries[4].uuid).unwrap();
    assert_eq!(transcript.leaf(), Some(entries[4].uuid));
    let chosen = uuid_v4([77; 16]);
    let (mut session, repairs) =
        Session::resume_transcript(Arc::new(spec()), chosen, [8; 32], &transcript);
    assert_eq!((session.id(), repairs.len()), (chosen, 0));
    let request = next_request(&mut session);
    assert!(request.contains("first answer") && !request.contains("second prompt"));
    let nobody = uuid_v4([1; 16]);
    let error = Transcript::of(&entries).up_to(nobody).unwrap_err();
    assert!(error.to_string().contains(&nobody.to_string()));
}

#[test]
fn sess_1_what_is_written_after_resuming_follows_the_last_entry() {
    let entries = entries();
    let (session, _) = resumed(spec(), &Transcript::of(&entries));
    let mut bench = Bench::new(spec());
    bench.session = session;
    bench.prompt("third prompt");
    assert_eq!(bench.saved().parent, Some(entries[6].uuid));
    let reused = bench.session.history().message_count();
    bench.reply(&Reply::call("a", "Note", json!({})));
    assert!(
        reused > 0 && bench.calls().is_empty(),
        "it is written before it runs"
    );
    bench.saved();
    let (_, call) = bench.calls().remove(0);
    assert_ne!(
        call.tool_use_id, "a",
        "an id that was used in the transcript is not used again"
    );
}

#[test]
fn sess_1_a_fork_goes_its_own_way_and_inherits_nothing_that_runs() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("first");
    bench.says("answer");
    bench.prompt("second");
    bench.reply(&Reply::call("a", "Note", json!({})));
    let before = bench.session.snapshot().unwrap();
    let other = uuid_v4([5; 16]);
    for messages in 0..=4 {
        let (mut fork, _) = bench
            .session
            .fork(other, [messages as u8; 32], Some(messages));
        assert_eq!(fork.id(), other);
        assert!(fork.is_idle() && fork.deadline().is_none() && fork.poll().is_none());
        let request = next_request(&mut fork);
        assert_eq!(request.contains("answer"), messages > 1, "{request}");
    }
    let (mut fork, repairs) = bench.session.fork(other, [1; 32], None);
    assert_eq!(
        repairs,
        [Repair::LostResult {
            tool_use_id: "a".into()
        }]
    );
    next_request(&mut fork);
    assert_eq!(
        bench.session.snapshot().unwrap(),
        before,
        "the original is untouched"
    );
    bench.finish("a", "noted");
    bench.says("Done.");
    assert_eq!(bench.lines_of("result").len(), 2);
}

#[test]
fn sess_6_a_run_that_a_limit_ended_goes_on_with_a_higher_one() {
    let mut limited = spec();
    limited.policy.limits.max_turns = Some(1);
    let mut bench = Bench::new(limited);
    let mut entries = Vec::new();
    bench.prompt("go");
    entries.push(bench.saved());
    bench.reply(&Reply::call("a", "Note", json!({})));
    entries.push(bench.saved());
    bench.finish("a", "noted");
    entries.push(bench.saved());
    let result = bench.lines_of("result").remove(0);
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["session_id"], json!(session_id()));
    let mut higher = spec();
    higher.policy.limits.max_turns = Some(5);
    let (session, repairs) = resumed(higher, &Transcript::of(&entries));
    assert_eq!(repairs, []);
    let mut bench = Bench::new(spec());
    bench.session = session;
    bench.prompt("go on");
    bench.saved();
    bench.reply(&Reply::call("b", "Note", json!({})));
    bench.saved();
    bench.finish("b", "noted");
    bench.saved();
    bench.says("Done.");
    bench.saved();
    assert_eq!(bench.lines_of("result")[0]["subtype"], "success");
}

#[test]
fn sess_6_a_run_that_failed_or_was_interrupted_goes_on() {
    for interrupt in [true, false] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let entries = [bench.saved()];
        if interrupt {
            bench.interrupt();
            let (id, _) = bench.asked();
            bench.answer(id, Answer::Cancelled);
        } else {
            bench.reply(&Reply::error(400, "invalid_request_error", "no"));
        }
        assert_eq!(
            bench.lines_of("result")[0]["subtype"],
            "error_during_execution"
        );
        let (mut session, _) = resumed(spec(), &Transcript::of(&entries));
        let request = next_request(&mut session);
        assert!(request.contains("go") && request.contains("the next prompt"));
    }
}
