//! What an interrupt leaves in the conversation, where the spec wants it kept.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Input, Output, Session, Spec,
    context::InterruptedAnswer,
    effect::{Answer, EntryOrigin, PermissionResponse, Stage},
    hook::{HookEvent, HookMatcher},
    provider::openai::ChatCompletions,
};

use crate::harness::{
    Bench, MODEL, Reply, asking_spec, block_events, event, message_start, spec_with, tool, tool_use,
};

const INTERRUPTED: &str = "[Request interrupted by user]";
const IN_CALLS: &str = "[Request interrupted by user for tool use]";

fn keeping() -> Spec {
    let mut spec = asking_spec(vec![tool("Note")]);
    spec.policy.persist = true;
    spec.prompt.interrupted_answer = InterruptedAnswer::Kept;
    spec
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A response that has come as far as these blocks, the last of them without its last delta and its end.
fn half(blocks: &[Value]) -> String {
    let mut events = vec![message_start(&json!({"input_tokens": 10}))];
    for (index, block) in blocks.iter().enumerate() {
        events.extend(block_events(index, block));
    }
    events.truncate(events.len() - 2);
    events.iter().map(event).collect()
}

/// A session that was interrupted when that much of the response had come.
fn interrupted_at(spec: Spec, body: String) -> Bench {
    let persists = spec.policy.persist;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    if persists {
        bench.saved();
    }
    let (id, _) = bench.asked();
    let reply = Reply::stream(body);
    bench.answer(id, reply.head());
    bench.answer(id, Answer::HttpBody(reply.body.into()));
    bench.interrupt();
    bench.answer(id, Answer::Cancelled);
    bench
}

#[test]
fn the_texts_stay_and_nothing_else() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let call = tool_use("a", "Note", json!({"x": "yyyy"}));
    for (blocks, kept) in [
        (vec![text("Hello you")], vec![text("Hell")]),
        (
            vec![thinking.clone(), text("One."), text("Two or")],
            vec![text("One."), text("Two")],
        ),
        (
            vec![thinking, text("One."), call.clone()],
            vec![text("One.")],
        ),
        (vec![text("  ")], vec![]),
        (vec![call], vec![]),
    ] {
        let mut bench = interrupted_at(keeping(), half(&blocks));
        let entries = bench.saved_all();
        let mut expected = vec![json!({"role": "user", "content": [text("go")]})];
        if !kept.is_empty() {
            expected.push(json!({"role": "assistant", "content": kept}));
            expected.push(json!({"role": "user", "content": [text(INTERRUPTED)]}));
        } else {
            let prompt = expected[0]["content"].as_array_mut().unwrap();
            prompt.push(text(INTERRUPTED));
        }
        assert_eq!(bench.history(), expected, "of {blocks:?}");

        // The same is told, and written down under the same ids.
        let said: Vec<Value> = bench
            .lines()
            .into_iter()
            .filter(|line| matches!(line["type"].as_str(), Some("assistant" | "user")))
            .collect();
        assert_eq!(said.len(), entries.len());
        for (line, entry) in said.iter().zip(&entries) {
            let written: Value = entry.message.decode().unwrap();
            assert_eq!(line["message"]["content"], written["content"]);
            assert_eq!(line["uuid"], entry.uuid.to_string());
        }
        if !kept.is_empty() {
            assert_eq!(said[0]["aborted"], true);
            assert_eq!(said[0]["message"]["stop_reason"], Value::Null);
            assert_eq!(said[0]["message"]["model"], MODEL);
        }
        let origins: Vec<EntryOrigin> = entries.iter().map(|entry| entry.origin).collect();
        assert_eq!(origins.last(), Some(&EntryOrigin::Interruption));

        // And the next request carries it.
        bench.prompt("And now?");
        bench.saved();
        let messages = bench.body()["messages"].to_string();
        assert!(messages.contains(INTERRUPTED), "{messages}");
        bench.says("Here I am.");
        bench.saved();
        assert!(!bench.result().is_error);
    }
}

#[test]
fn a_response_that_breaks_off_by_itself_leaves_nothing() {
    let mut bench = Bench::new(keeping());
    bench.prompt("go");
    bench.saved();
    let reply = Reply::text("Hello you");
    let middle = reply.body.len() / 2;
    bench.reply(&reply.cut_at(middle));
    bench.tick();
    bench.says("Whole.");
    bench.saved();
    assert_eq!(bench.history()[1]["content"], json!([text("Whole.")]));
    assert_eq!(bench.lines_of("assistant").len(), 1);
}

#[test]
fn by_default_nothing_of_it_is_kept() {
    let mut spec = spec_with(vec![]);
    assert_eq!(spec.prompt.interrupted_answer, InterruptedAnswer::Dropped);
    spec.environment.cwd = "/work".into();
    let bench = interrupted_at(spec, half(&[text("Hello you")]));
    assert_eq!(bench.history().len(), 1);
    assert!(bench.lines_of("assistant").is_empty());
    assert!(bench.lines_of("user").is_empty());
}

#[test]
fn open_calls_are_answered_and_the_word_stands_behind_them() {
    let mut bench = Bench::new(keeping());
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::message(&[
        text("I note it."),
        tool_use("a", "Note", json!({})),
    ]));
    bench.saved();
    bench.decide(PermissionResponse::Deny {
        message: "Not that.".into(),
        interrupt: true,
    });
    let entries = bench.saved_all();
    assert_eq!(entries.len(), 2);
    let last = &bench.history()[2]["content"];
    assert_eq!(last[0]["content"], "Not that.");
    assert_eq!(last[1], text(IN_CALLS));
    assert_eq!(
        bench.lines_of("user")[1]["message"]["content"][0],
        text(IN_CALLS)
    );
    assert!(bench.result().is_error);
}

#[test]
fn a_limit_is_no_interrupt() {
    let mut spec = keeping();
    spec.policy.limits.max_turns = Some(1);
    spec.policy.permissions = spec_with(vec![]).policy.permissions;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.saved();
    bench.finish("a", "ok");
    bench.saved();
    assert!(bench.result().is_error);
    assert!(!format!("{:?}", bench.history()).contains("interrupted"));
}

#[test]
fn it_is_kept_once_however_often_and_through_a_restart() {
    let mut bench = Bench::new(keeping());
    bench.prompt("go");
    bench.saved();
    let (id, _) = bench.asked();
    let reply = Reply::stream(half(&[text("Hello you")]));
    bench.answer(id, reply.head());
    bench.answer(id, Answer::HttpBody(reply.body.into()));
    bench.interrupt();
    bench.interrupt();
    // The program ends before the host has answered for the exchange.
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(keeping()), &snapshot).unwrap();
    bench.pending.clear();
    bench.input(Input::Resumed { live: Vec::new() });
    bench.interrupt();
    let entries = bench.saved_all();
    assert_eq!(entries.len(), 2);
    let written: Value = entries[0].message.decode().unwrap();
    assert_eq!(written["content"], json!([text("Hell")]));
    assert_eq!(bench.history().len(), 3);
    assert_eq!(bench.history()[2]["content"], json!([text(INTERRUPTED)]));
}

#[test]
fn another_wire_format_keeps_it_too() {
    let mut spec = spec_with(vec![]);
    spec.model.provider = Arc::new(ChatCompletions::default());
    spec.prompt.interrupted_answer = InterruptedAnswer::Kept;
    let chunk = |content: &str| {
        let chunk = json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": content}}]});
        format!("data: {chunk}\n\n")
    };
    let mut bench = Bench::new_unchecked(spec);
    bench.prompt("go");
    let (id, _) = bench.asked();
    let reply = Reply::stream(chunk("Hello ") + &chunk("you"));
    bench.answer(id, reply.head());
    bench.answer(id, Answer::HttpBody(reply.body.into()));
    bench.interrupt();
    bench.answer(id, Answer::Cancelled);
    assert_eq!(bench.history()[1]["content"], json!([text("Hello you")]));
    assert_eq!(bench.history()[2]["content"], json!([text(INTERRUPTED)]));
}

#[test]
fn nothing_came_before_the_first_byte() {
    let mut bench = Bench::new(keeping());
    bench.prompt("go");
    bench.saved();
    let (id, _) = bench.asked();
    bench.interrupt();
    bench.answer(id, Answer::Cancelled);
    bench.saved();
    assert_eq!(
        bench.history(),
        [json!({"role": "user", "content": [text("go"), text(INTERRUPTED)]})]
    );
    assert!(bench.lines_of("assistant").is_empty());
}

#[test]
fn what_is_written_has_a_name_of_its_own_wherever_the_interrupt_comes() {
    let mut spec = keeping();
    spec.policy.permissions = spec_with(vec![]).policy.permissions;
    let mut bench = Bench::new(spec);
    for (round, call) in ["a", "b", "c"].into_iter().enumerate() {
        bench.prompt("go");
        bench.saved();
        bench.reply(&Reply::call(call, "Note", json!({})));
        bench.saved();
        bench.finish(call, "ok");
        if round == 0 {
            // While the results are being written.
            bench.interrupt();
            bench.saved();
        } else {
            // While the next response comes.
            bench.saved();
            let (id, _) = bench.asked();
            bench.interrupt();
            bench.answer(id, Answer::Cancelled);
        }
        assert_eq!(bench.saved().origin, EntryOrigin::Interruption);
        assert!(bench.session.is_idle());
    }
    each_effect_has_a_name_of_its_own(&bench);
}

/// The second run ends before it has begun anything that counts as the next response.
#[test]
fn what_is_written_twice_behind_one_response_has_two_names() {
    let mut spec = keeping();
    spec.policy.hooks = vec![HookMatcher::new(
        HookEvent::PreCompact,
        ["watch".to_owned()],
    )];
    spec.prompt.context.compaction.keep_tokens = 0;
    let mut bench = Bench::new(spec);
    for _ in 0..2 {
        bench.prompt("go");
        bench.saved();
        bench.says("done");
        bench.saved();
    }
    for _ in 0..3 {
        bench.prompt("/compact");
        let (hook, _) = bench.of(Stage::Hook(HookEvent::PreCompact, 1));
        bench.interrupt();
        bench.answer(hook, Answer::Cancelled);
        assert_eq!(bench.saved().origin, EntryOrigin::Interruption);
    }
    each_effect_has_a_name_of_its_own(&bench);
}

fn each_effect_has_a_name_of_its_own(bench: &Bench) {
    let mut names = std::collections::BTreeSet::new();
    for output in &bench.outputs {
        if let Output::Effect(id, _) = output {
            assert!(names.insert(*id), "{id} twice");
        }
    }
}
