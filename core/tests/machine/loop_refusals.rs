//! Requests that the model server refuses for what is in them: the next one must not be refused for it too.

use serde_json::{Value, json};
use windlass_core::{
    Input, Session,
    effect::Answer,
    tool::{ResultBlock, ToolResult},
    transcript::Transcript,
};

use crate::harness::{Bench, Reply, raw, session_id, spec_with, tool, tool_use};

#[test]
fn loop_9_a_prompt_the_api_refuses_is_taken_back() {
    let mut spec = spec_with(vec![]);
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    bench.prompt("one");
    bench.saved();
    bench.says("fine");
    let last = bench.saved().uuid;
    bench.prompt("broken image");
    bench.saved();
    bench.reply(&Reply::error(
        400,
        "invalid_request_error",
        "Could not process image",
    ));
    assert!(bench.result().is_error);
    assert_eq!(bench.history().len(), 2);
    // The next prompt follows what was before it, in the history and in the transcript.
    bench.prompt("two");
    assert_eq!(bench.saved().parent, Some(last));
    assert_eq!(bench.body()["messages"].as_array().unwrap().len(), 3);
    // Without access nothing is wrong with the prompt: it stays.
    bench.reply(&Reply::error(401, "authentication_error", "no"));
    assert_eq!(bench.history().len(), 3);
}

fn refusal() -> Reply {
    Reply::error(400, "invalid_request_error", "Could not process image")
}

fn image() -> ResultBlock {
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    ResultBlock::Other(raw(&json!({"type": "image", "source": source})))
}

/// Two calls of which the first gives a text and a picture; everything is written.
fn pictured() -> (Bench, Vec<windlass_core::effect::Entry>) {
    let mut spec = spec_with(vec![tool("Look")]);
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    bench.prompt("look");
    let mut written = vec![bench.saved()];
    bench.reply(&Reply::message(&[
        tool_use("a", "Look", json!({})),
        tool_use("b", "Look", json!({})),
    ]));
    written.push(bench.saved());
    let mut result = ToolResult::text("a picture:");
    result.content.push(image());
    let (id, _) = bench.call("a");
    bench.answer(id, Answer::Tool(result));
    bench.finish("b", "nothing");
    written.push(bench.saved());
    (bench, written)
}

fn pictures(messages: &Value) -> usize {
    messages.to_string().matches("base64").count()
}

#[test]
fn loop_9_results_the_api_refuses_are_made_acceptable_and_the_loop_goes_on() {
    let (mut bench, mut written) = pictured();
    assert_eq!(pictures(&bench.body()["messages"]), 1);
    bench.reply(&refusal());
    let mended = bench.saved();
    assert_eq!(mended.parent, Some(written[1].uuid), "another branch");
    written.push(mended);
    let messages = bench.body()["messages"].clone();
    assert_eq!(pictures(&messages), 0);
    let first = &messages[2]["content"][0];
    assert_eq!(first["tool_use_id"], "a");
    assert_eq!(first["content"][0]["text"], "a picture:");
    assert!(
        first["content"][1]["text"]
            .as_str()
            .unwrap()
            .contains("image")
    );
    assert_eq!(messages[2]["content"][1]["content"], "nothing");
    let told = bench.lines_of("system").pop().unwrap();
    assert!(
        told["content"]
            .as_str()
            .unwrap()
            .contains("Could not process image")
    );
    bench.says("I could not see it.");
    written.push(bench.saved());
    assert!(!bench.result().is_error);
    assert_eq!(bench.result().num_turns, 2);
    // Neither does it come back when the session is resumed.
    let spec = std::sync::Arc::new(spec_with(vec![tool("Look")]));
    let transcript = Transcript::of(&written);
    let (session, _) = Session::resume_transcript(spec, session_id(), [9; 32], &transcript);
    let lines: Vec<_> = session.history().lines().collect();
    assert_eq!(lines, bench.session.history().lines().collect::<Vec<_>>());
}

#[test]
fn loop_9_mended_once_and_refused_again_the_run_ends_and_the_next_prompt_works() {
    let (mut bench, _) = pictured();
    bench.reply(&refusal());
    bench.saved();
    bench.reply(&refusal());
    assert!(bench.result().is_error && bench.session.is_idle());
    bench.prompt("go on without it");
    bench.saved();
    assert_eq!(pictures(&bench.body()["messages"]), 0);
    bench.says("fine");
    bench.saved();
    assert!(!bench.result().is_error);
}

#[test]
fn loop_9_results_of_text_alone_stay_and_so_does_what_was_not_refused_for_its_content() {
    let mut bench = Bench::new(spec_with(vec![tool("Look")]));
    bench.prompt("look");
    bench.reply(&Reply::call("a", "Look", json!({})));
    bench.finish("a", "text");
    bench.reply(&refusal());
    assert!(bench.result().is_error);
    assert_eq!(bench.history().len(), 3);

    let (mut bench, _) = pictured();
    bench.reply(&Reply::error(403, "permission_error", "no"));
    assert!(bench.result().is_error);
    assert_eq!(pictures(&json!(bench.history())), 1);
}

#[test]
fn loop_9_results_that_were_read_once_are_not_what_a_later_request_is_refused_for() {
    let (mut bench, _) = pictured();
    let words = [
        json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
        json!({"type": "text", "text": "I see. One moment."}),
    ];
    bench.reply(&Reply::stopped(&words, "pause_turn"));
    bench.saved();
    let before = bench.history();
    bench.reply(&refusal());
    assert!(bench.result().is_error && bench.session.is_idle());
    assert_eq!(bench.history(), before);
    assert_eq!(pictures(&json!(bench.history())), 1);
}

#[test]
fn loop_13_a_session_put_away_or_interrupted_while_results_are_mended_goes_on() {
    let (mut bench, _) = pictured();
    bench.reply(&refusal());
    let spec = std::sync::Arc::new({
        let mut spec = spec_with(vec![tool("Look")]);
        spec.policy.persist = true;
        spec
    });
    let saving = bench.pending.clone();
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(spec, &snapshot).unwrap();
    bench.pending.clear();
    bench.input(Input::Resumed { live: vec![] });
    assert_eq!(
        bench.pending, saving,
        "the same entries under the same name"
    );
    bench.interrupt();
    bench.saved();
    assert!(bench.session.is_idle());
    bench.prompt("again");
    bench.saved();
    assert_eq!(pictures(&bench.body()["messages"]), 0);
}
