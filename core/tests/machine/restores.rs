//! After a crash: each effect that was lost is made good by its class.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, Session,
    effect::{Answer, Effect, EffectId, Probe, Probed, Stage},
    tool::{RetryClass, ToolDefinition, ToolResult},
};

use crate::harness::{Bench, Reply, spec_with, tool};

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
    let snapshot = bench.session.snapshot().unwrap();
    let spec = spec_with(vec![pay(RetryClass::Probe)]);
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
fn only_the_question_itself_is_answered_with_what_became_of_a_call() {
    let (mut bench, lost) = paying(RetryClass::Never);
    let answer = Input::Answer(lost, Answer::Probed(Probed::NotDone));
    assert!(bench.session.handle(bench.now, answer).is_err());
}
