//! After a crash: each effect that was lost is recovered by its class.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, Session, Spec,
    effect::{Answer, Effect, EffectId, PermissionResponse, Probe, Probed, Stage},
    tool::{RetryClass, ToolDefinition, ToolResult},
    tools::CoreTool,
};

use crate::{
    harness::{Bench, Reply, asking_spec, bash, rules, spec_with, tool},
    subagents::{reply, request, says, task},
};

fn pay(class: RetryClass) -> ToolDefinition {
    ToolDefinition {
        retry: class,
        ..tool("Pay")
    }
}

/// A session whose call `p` of a tool of this class is running, and the name under which it runs.
fn paying(class: RetryClass) -> (Bench, EffectId) {
    let mut bench = Bench::new(spec_with(vec![pay(class)]));
    bench.prompt("pay the bill");
    bench.reply(&Reply::call("p", "Pay", json!({"bill": 7})));
    let (id, _) = bench.call("p");
    (bench, id)
}

/// Puts the session away and takes it up again; nothing that was running is left.
fn crash(bench: &mut Bench) {
    crash_with(bench, spec_with(vec![pay(RetryClass::Probe)]));
}

fn crash_with(bench: &mut Bench, spec: Spec) {
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(spec), &snapshot).unwrap();
    bench.pending.clear();
    bench.input(Input::Resumed { live: Vec::new() });
}

/// The question that waits for an answer.
fn probe(bench: &Bench) -> (EffectId, Probe) {
    match bench.of(Stage::Probe) {
        (id, Effect::ProbeTool(probe)) => (id, probe),
        other => panic!("not a probe: {other:?}"),
    }
}

/// What the model reads about the call.
fn told(bench: &Bench) -> String {
    let body = bench.body();
    let results = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(results[0]["tool_use_id"], "p", "{results}");
    results[0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn sess_4_a_lost_call_is_looked_for_and_what_it_did_is_its_result() {
    let (mut bench, lost) = paying(RetryClass::Probe);
    crash(&mut bench);
    let (id, asked) = probe(&bench);
    assert!(
        bench.calls().is_empty(),
        "nothing is run before it is known"
    );
    assert_eq!((asked.lost, asked.call.tool_use_id.as_str()), (lost, "p"));
    assert!(asked.call.input.get().contains("7"));
    assert_eq!(
        id.to_string(),
        lost.to_string().replace("/run/", "/probe/"),
        "it is named by its cause"
    );
    bench.answer(
        id,
        Answer::Probed(Probed::Done(ToolResult::text("receipt 12"))),
    );
    assert_eq!(told(&bench), "receipt 12");
    bench.says("Paid.");
    assert_eq!(bench.result().result.as_deref(), Some("Paid."));
}

#[test]
fn sess_4_a_lost_call_that_did_nothing_is_run_under_its_old_name() {
    let (mut bench, lost) = paying(RetryClass::Probe);
    crash(&mut bench);
    let (id, _) = probe(&bench);
    bench.answer(id, Answer::Probed(Probed::NotDone));
    let (again, call) = bench.call("p");
    assert_eq!(again, lost, "the name is the idempotency key");
    assert!(call.input.get().contains("7"));
    assert!(
        bench.session.decision(again).is_some(),
        "why it may run is still known"
    );
    bench.finish("p", "receipt 13");
    assert_eq!(told(&bench), "receipt 13");
}

#[test]
fn sess_4_where_nobody_can_tell_the_model_is_told_that() {
    for answer in [Answer::Probed(Probed::Unknown), Answer::Cancelled] {
        let (mut bench, _) = paying(RetryClass::Probe);
        crash(&mut bench);
        let (id, _) = probe(&bench);
        bench.answer(id, answer);
        assert!(bench.calls().is_empty(), "it is not run again");
        assert!(
            told(&bench).contains("its outcome is unknown"),
            "{}",
            told(&bench)
        );
    }
}

#[test]
fn sess_4_a_question_that_is_lost_too_is_asked_again() {
    let (mut bench, lost) = paying(RetryClass::Probe);
    crash(&mut bench);
    let before = probe(&bench);
    crash(&mut bench);
    assert_eq!(probe(&bench), before);
    let (id, _) = before;
    bench.answer(id, Answer::Probed(Probed::NotDone));
    // Lost once more, while it runs for the second time.
    crash(&mut bench);
    assert_eq!(probe(&bench).1.lost, lost);
}

#[test]
fn sess_4_an_interrupt_ends_the_search_and_keeps_what_it_found() {
    let (mut bench, _) = paying(RetryClass::Probe);
    crash(&mut bench);
    let (id, _) = probe(&bench);
    bench.interrupt();
    assert_eq!(bench.cancelled(), [id]);
    bench.answer(
        id,
        Answer::Probed(Probed::Done(ToolResult::text("receipt 14"))),
    );
    assert!(bench.session.is_idle());
    assert_eq!(bench.history()[2]["content"][0]["content"], "receipt 14");

    let (mut bench, _) = paying(RetryClass::Probe);
    crash(&mut bench);
    let (id, _) = probe(&bench);
    bench.interrupt();
    bench.answer(id, Answer::Probed(Probed::NotDone));
    assert!(
        bench.calls().is_empty(),
        "nothing is begun in a run that ends"
    );
    let result = bench.history()[2]["content"][0].clone();
    assert_eq!(result["is_error"], true, "{result}");
}

#[test]
fn sess_4_a_lost_call_that_may_be_repeated_under_its_name_runs_again_under_it() {
    let (mut bench, lost) = paying(RetryClass::RunAgainWithKey);
    let (_, before) = bench.call("p");
    // However often it is lost.
    for _ in 0..2 {
        crash_with(
            &mut bench,
            spec_with(vec![pay(RetryClass::RunAgainWithKey)]),
        );
        let (again, call) = bench.call("p");
        assert_eq!(again, lost, "the name is the idempotency key");
        assert_eq!(call, before);
        assert!(
            bench.session.decision(again).is_some(),
            "why it may run is still known"
        );
    }
    bench.finish("p", "receipt 15");
    assert_eq!(told(&bench), "receipt 15");
    // The same bill once more is another payment.
    bench.reply(&Reply::call("q", "Pay", json!({"bill": 7})));
    assert_ne!(bench.call("q").0, lost);
}

/// What was judged is what runs, after a restore too.
#[test]
fn sess_4_a_lost_command_runs_again_as_it_was_judged() {
    let spec = || {
        let mut command = bash();
        command.retry = RetryClass::RunAgainWithKey;
        let mut spec = asking_spec(vec![command]);
        spec.policy.permissions.rules.allow = rules(&["Bash(make:*)"]);
        spec
    };
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::call("m", "Bash", json!({"command": "make all"})));
    let lost = bench.call("m");
    assert!(lost.1.command.is_some());
    crash_with(&mut bench, spec());
    assert_eq!(bench.call("m"), lost);
}

#[test]
fn sess_4_a_lost_call_that_may_simply_be_repeated_is_another_attempt_each_time() {
    let (mut bench, lost) = paying(RetryClass::RunAgain);
    for attempt in 2..4 {
        crash_with(&mut bench, spec_with(vec![pay(RetryClass::RunAgain)]));
        let (again, _) = bench.call("p");
        assert_eq!(again, EffectId { attempt, ..lost });
    }
    bench.finish("p", "receipt 16");
    assert_eq!(told(&bench), "receipt 16");
}

#[test]
fn sess_4_a_lost_call_that_was_told_to_stop_is_not_run_again() {
    for class in [RetryClass::RunAgain, RetryClass::RunAgainWithKey] {
        let (mut bench, lost) = paying(class);
        bench.interrupt();
        assert_eq!(bench.cancelled(), [lost]);
        crash_with(&mut bench, spec_with(vec![pay(class)]));
        assert!(bench.calls().is_empty(), "nobody wants it any more");
        assert!(bench.session.is_idle() && bench.pending.is_empty());
        let result = bench.history()[2]["content"][0].clone();
        let text = result["content"].as_str().unwrap();
        assert!(text.contains("what it did until then is unknown"), "{text}");
    }
}

/// The host may still answer to the name of a question that it had lost: nothing of that may count for the one that is asked now.
#[test]
fn sess_4_a_lost_question_is_asked_under_another_name_and_its_call_keeps_that_attempt() {
    let spec = || asking_spec(vec![pay(RetryClass::RunAgainWithKey)]);
    let mut bench = Bench::new(spec());
    bench.prompt("pay the bill");
    bench.reply(&Reply::call("p", "Pay", json!({"bill": 7})));
    let (first, asked) = bench.question();
    crash_with(&mut bench, spec());
    let (second, again) = bench.question();
    assert_eq!(
        second,
        EffectId {
            attempt: 2,
            ..first
        }
    );
    assert_eq!(again, asked);
    let late = Input::Answer(first, Answer::Permission(PermissionResponse::allow()));
    assert!(bench.session.handle(bench.now, late).is_err());
    bench.decide(PermissionResponse::allow());
    let (lost, _) = bench.call("p");
    assert_eq!(lost.attempt, 2);
    crash_with(&mut bench, spec());
    assert!(
        !bench.pending_stages().contains(&Stage::Ask),
        "it was allowed"
    );
    assert_eq!(bench.call("p").0, lost, "the name is the idempotency key");
    bench.finish("p", "receipt 17");
    assert_eq!(told(&bench), "receipt 17");
}

#[test]
fn sess_4_a_lost_call_of_an_agent_runs_again_under_its_name_too() {
    let spec = || {
        let mut spec = spec_with(vec![pay(RetryClass::RunAgainWithKey)]);
        spec.offer([CoreTool::Task]);
        spec
    };
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let delegates = Reply::message(&[task("t", "general-purpose", json!({}))]);
    bench.reply(&delegates);
    reply(&mut bench, 1, &Reply::call("p", "Pay", json!({"bill": 7})));
    let (lost, call) = bench.call("p");
    assert_eq!(lost.agent, 1);
    crash_with(&mut bench, spec());
    assert_eq!(bench.call("p"), (lost, call));
    bench.finish("p", "receipt 18");
    let (_, body) = request(&bench, 1);
    assert!(body["messages"].to_string().contains("receipt 18"));
    says(&mut bench, 1, "Paid.");
    bench.says("Good.");
    assert!(bench.session.is_idle());
}

#[test]
fn only_the_question_itself_is_answered_with_what_became_of_a_call() {
    let (mut bench, lost) = paying(RetryClass::Never);
    let answer = Input::Answer(lost, Answer::Probed(Probed::NotDone));
    assert!(bench.session.handle(bench.now, answer).is_err());
}
