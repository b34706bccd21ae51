//! Prompts that come while an answer is under way, and what else is said in mid-run.

use serde_json::{Value, json};
use windlass_core::{
    Input, Prompt, RawJson,
    effect::{Answer, Delivery, Notice, Stage},
    message::{FailedFile, PersistedFile, RateLimitInfo, ResultSubtype, Utilization},
    permission::Mode,
    spec::ResponseLimits,
    tool::ToolResult,
    uuid_v4,
};

use crate::harness::{Bench, Reply, raw, spec_with, tool, tool_use};

fn steer(text: &str) -> Input {
    Input::Prompt(Prompt::text(text).delivered(Delivery::Steer))
}

/// A bench in the middle of a call of `Note`.
fn in_a_call() -> Bench {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("Tidy up.");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench
}

fn texts(message: &Value) -> Vec<&str> {
    let blocks = message["content"].as_array().unwrap();
    blocks.iter().filter_map(|b| b["text"].as_str()).collect()
}

#[test]
fn loop_16_a_steering_prompt_joins_the_answer_with_the_next_results() {
    let mut bench = in_a_call();
    bench.input(steer("Only the kitchen."));
    assert_eq!(bench.session.queued().count(), 1);
    bench.finish("a", "done");
    let messages = bench.body()["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["type"], "tool_result");
    assert_eq!(texts(last), ["Only the kitchen."]);
    bench.says("The kitchen is tidy.");
    assert_eq!(bench.results().len(), 1, "one answer to both");
    assert!(bench.session.is_idle());
}

#[test]
fn loop_16_a_prompt_too_late_to_steer_is_answered_by_itself() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("First.");
    bench.input(steer("Second."));
    bench.says("one");
    bench.says("two");
    let answers: Vec<_> = bench.results().iter().map(|r| r.result.clone()).collect();
    assert_eq!(answers, [Some("one".into()), Some("two".into())]);
    assert_eq!(bench.history().len(), 4);
}

#[test]
fn loop_16_follow_ups_wait_their_turn_and_an_interrupt_leaves_them() {
    let mut bench = in_a_call();
    bench.prompt("And then the garden.");
    bench.input(steer("Hurry."));
    bench.interrupt();
    let (call, _) = bench.call("a");
    bench.answer(call, Answer::Cancelled);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
    bench.says("Hurrying.");
    bench.says("The garden is tidy.");
    assert_eq!(
        bench.result().result.as_deref(),
        Some("The garden is tidy.")
    );
    assert_eq!(bench.results().len(), 3);
}

#[test]
fn loop_16_at_the_last_round_a_steering_prompt_waits_for_a_run_of_its_own() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.limits.max_turns = Some(1);
    let mut bench = Bench::new(spec);
    bench.prompt("Tidy up.");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.input(steer("Only the kitchen."));
    bench.finish("a", "done");
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorMaxTurns);
    bench.says("The kitchen it is.");
    assert_eq!(bench.result().subtype, ResultSubtype::Success);
}

#[test]
fn loop_16_a_waiting_prompt_can_be_taken_back() {
    let mut bench = in_a_call();
    let (steering, waiting) = (uuid_v4([2; 16]), uuid_v4([3; 16]));
    for (uuid, delivery) in [(steering, Delivery::Steer), (waiting, Delivery::FollowUp)] {
        let prompt = Prompt::text("No.").delivered(delivery).with_uuid(uuid);
        bench.input(Input::Prompt(prompt));
        bench.input(Input::Withdraw(uuid));
    }
    bench.finish("a", "done");
    bench.says("Done.");
    assert!(bench.session.is_idle());
    assert!(!format!("{:?}", bench.history()).contains("No."));
}

#[test]
fn loop_16_an_appended_message_is_read_with_the_next_prompt() {
    let mut bench = Bench::new(spec_with(vec![]));
    let note = Prompt::text("The door is open.").delivered(Delivery::Append);
    bench.input(Input::Prompt(note));
    assert_eq!(bench.result().num_turns, 0);
    assert!(!bench.result().is_error);
    assert!(bench.requests().is_empty());
    bench.prompt("What did I say?");
    let first = bench.body()["messages"][0].clone();
    assert_eq!(texts(&first), ["The door is open.", "What did I say?"]);
    bench.says("The door.");
}

#[test]
fn loop_23_input_in_mid_run_is_in_the_stream_and_under_the_id_it_came_with() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    bench.prompt("Tidy up.");
    bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.saved();
    let uuid = uuid_v4([9; 16]);
    let prompt = Prompt::text("Only the kitchen.").delivered(Delivery::Steer);
    bench.input(Input::Prompt(prompt.with_uuid(uuid)));
    bench.finish("a", "done");
    let said = bench.lines_of("user").pop().unwrap();
    assert_eq!(said["message"]["content"][0]["text"], "Only the kitchen.");
    assert_eq!(said["uuid"], uuid.to_string());
    assert_eq!(said["parent_tool_use_id"], Value::Null);
    assert!(said.get("isReplay").is_none() && said.get("isSynthetic").is_none());
    let (id, effect) = bench.of(Stage::SaveResults);
    let windlass_core::effect::Effect::Persist(entries) = effect else {
        panic!("not entries");
    };
    assert_eq!(entries.len(), 2, "results and the prompt behind them");
    assert_eq!(entries[1].uuid, uuid);
    assert_eq!(entries[1].parent, Some(entries[0].uuid));
    bench.answer(id, Answer::Persisted);
    bench.says("Done.");
}

#[test]
fn loop_23_with_replay_on_every_prompt_is_repeated_and_marked() {
    let mut spec = spec_with(vec![]);
    spec.stream.replay_prompts = true;
    let mut bench = Bench::new(spec);
    let uuid = uuid_v4([9; 16]);
    bench.input(Input::Prompt(Prompt::text("hi").with_uuid(uuid)));
    let said = bench.lines_of("user");
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["isReplay"], true);
    assert_eq!(said[0]["uuid"], uuid.to_string());
    bench.says("ho");
}

#[test]
fn loop_30_a_change_of_mode_is_told_once() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.input(Input::SetMode(Mode::Plan));
    bench.input(Input::SetMode(Mode::Plan));
    let status = bench.lines_of("system");
    assert_eq!(status.len(), 1);
    assert_eq!(status[0]["subtype"], "status");
    assert_eq!(status[0]["permissionMode"], "plan");
    assert_eq!(status[0]["status"], Value::Null);
}

#[test]
fn loop_33_a_call_that_takes_long_is_reported_by_the_clock() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.stream.progress_interval_ms = Some(4_000);
    spec.model.response = ResponseLimits::none();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.tick();
    bench.tick();
    let told = bench.lines_of("tool_progress");
    let seconds: Vec<_> = told
        .iter()
        .map(|t| t["elapsed_time_seconds"].as_u64())
        .collect();
    assert_eq!(seconds, [Some(4), Some(8)]);
    assert_eq!(told[0]["tool_use_id"], "a");
    assert_eq!(told[0]["tool_name"], "Note");
    bench.finish("a", "done");
    assert_eq!(bench.session.deadline(), None);
    bench.says("Done.");
}

#[test]
fn loop_33_a_round_is_summed_up_where_that_was_asked_for() {
    let mut spec = spec_with(vec![tool("Note").read_only(), tool("Look").read_only()]);
    spec.stream.tool_use_summaries = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({})),
        tool_use("b", "Look", json!({})),
        tool_use("c", "Note", json!({})),
    ]));
    bench.finish("a", "done");
    bench.finish("b", "done");
    let (id, _) = bench.call("c");
    bench.answer(id, Answer::Tool(ToolResult::error("no ink")));
    let told = bench.lines_of("tool_use_summary");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["summary"], "Note 2 times (1 failed), Look");
    assert_eq!(told[0]["preceding_tool_use_ids"], json!(["a", "b", "c"]));
    bench.says("Done.");
}

#[test]
fn loop_34_a_rate_limit_is_told_when_it_changes() {
    let mut bench = Bench::new(spec_with(vec![]));
    let limited = |remaining: &str| {
        let mut reply = Reply::text("ok");
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        reply.headers.extend([
            header("anthropic-ratelimit-tokens-limit", "1000"),
            header("anthropic-ratelimit-tokens-remaining", remaining),
            header("anthropic-ratelimit-tokens-reset", "2026-01-02T03:04:05Z"),
        ]);
        reply
    };
    for remaining in ["900", "100", "50", "900"] {
        bench.prompt("go");
        bench.reply(&limited(remaining));
    }
    let told = bench.lines_of("rate_limit_event");
    let infos: Vec<_> = told.iter().map(|t| t["rate_limit_info"].clone()).collect();
    assert_eq!(
        infos,
        [
            json!({"status": "allowed_warning", "resetsAt": 1_767_323_045, "utilization": 0.9}),
            json!({"status": "allowed", "resetsAt": 1_767_323_045, "utilization": 0.1}),
        ]
    );
    // Who reads what was told has the same.
    let read = |info: &Value| raw(info).decode::<RateLimitInfo>().unwrap();
    let used: Vec<_> = infos.iter().map(|info| read(info).utilization).collect();
    assert_eq!(
        used,
        [900, 100].map(|per_mille| Some(Utilization { per_mille }))
    );
}

#[test]
fn loop_34_a_refusal_by_the_limit_is_told_before_the_retry() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    bench.reply(&Reply::error(429, "rate_limit_error", "slow down"));
    let kinds: Vec<String> = bench
        .lines()
        .iter()
        .map(|line| format!("{}/{}", line["type"], line["subtype"]).replace('"', ""))
        .collect();
    assert_eq!(
        kinds,
        ["system/init", "rate_limit_event/null", "system/api_retry"]
    );
    assert_eq!(
        bench.lines_of("rate_limit_event")[0]["rate_limit_info"],
        json!({"status": "rejected"})
    );
}

#[test]
fn loop_35_sign_in_and_stored_files_are_passed_on() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.input(Input::Notice(Notice::AuthStatus {
        is_authenticating: true,
        output: vec!["Open the page.".into()],
        error: None,
    }));
    bench.input(Input::Notice(Notice::FilesPersisted {
        files: vec![PersistedFile {
            filename: "a.txt".into(),
            file_id: "file_1".into(),
        }],
        failed: vec![FailedFile {
            filename: "b.txt".into(),
            error: "disk full".into(),
        }],
        processed_at: "2026-01-02T03:04:05.000Z".into(),
    }));
    let auth = &bench.lines_of("auth_status")[0];
    assert_eq!(auth["isAuthenticating"], true);
    assert_eq!(auth["output"], json!(["Open the page."]));
    assert!(auth.get("error").is_none());
    let files = &bench.lines_of("system")[0];
    assert_eq!(files["subtype"], "files_persisted");
    assert_eq!(
        files["files"],
        json!([{"filename": "a.txt", "file_id": "file_1"}])
    );
    assert_eq!(
        files["failed"],
        json!([{"filename": "b.txt", "error": "disk full"}])
    );
}

#[test]
fn a_prompt_of_other_blocks_steers_too_and_an_empty_one_does_nothing() {
    let mut bench = in_a_call();
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let blocks: Vec<RawJson> = vec![raw(&image)];
    bench.input(Input::Prompt(
        Prompt::blocks(blocks).delivered(Delivery::Steer),
    ));
    bench.input(Input::Prompt(
        Prompt::blocks(vec![]).delivered(Delivery::Steer),
    ));
    bench.finish("a", "done");
    let messages = bench.body()["messages"].clone();
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(last["content"].as_array().unwrap().len(), 2);
    bench.says("Seen.");
    assert!(bench.session.is_idle());
}
