//! The answer as a value of a schema.

use serde_json::{Value, json};
use windlass_core::{
    Input, Session, Spec,
    effect::{Answer, Effect, Stage},
    hook::{HookAnswer, HookEvent, HookMatcher},
    output::{OutputFormat, PlainText, TOOL},
};

use crate::harness::{Bench, Reply, raw, spec_with, tool, tool_use};

fn format() -> OutputFormat {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city", "days"],
        "additionalProperties": false,
    });
    OutputFormat::new(raw(&schema)).unwrap()
}

fn spec() -> Spec {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.prompt.output = Some(format());
    spec
}

fn answer(id: &str, input: Value) -> Reply {
    Reply::call(id, TOOL, input)
}

fn result(bench: &Bench) -> Value {
    bench.lines_of("result").pop().expect("a result")
}

/// What the model reads as the result of its last call, or as the last text.
fn told(bench: &Bench) -> String {
    let body = bench.body();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"][0].clone();
    last["content"]
        .as_str()
        .or(last["text"].as_str())
        .unwrap()
        .to_owned()
}

#[test]
fn loop_18_a_valid_answer_ends_the_run_at_once_and_is_in_the_result() {
    let mut bench = Bench::new(spec());
    bench.prompt("where and how long?");
    let offered = bench.body()["tools"].clone();
    assert_eq!(offered[1]["name"], TOOL);
    assert_eq!(
        offered[1]["input_schema"]["required"],
        json!(["city", "days"])
    );
    bench.reply(&answer("a", json!({"city": "Oslo", "days": 3})));
    assert!(
        bench.pending.is_empty(),
        "no further request: {:?}",
        bench.pending
    );
    let result = result(&bench);
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["is_error"], false);
    assert_eq!(
        result["structured_output"],
        json!({"city": "Oslo", "days": 3})
    );
    assert_eq!(result["result"], r#"{"city":"Oslo","days":3}"#);
    assert_eq!(result["stop_reason"], "tool_use");
    assert_eq!(result["num_turns"], 1);

    bench.prompt("and next year?");
    let messages = bench.body()["messages"].clone();
    assert_eq!(
        messages[2]["content"][0]["tool_use_id"], "a",
        "the history is whole"
    );
    bench.reply(&answer("b", json!({"city": "Bergen", "days": 1})));
    assert_eq!(self::result(&bench)["structured_output"]["city"], "Bergen");
}

#[test]
fn loop_18_an_invalid_answer_is_answered_with_every_fault_and_may_be_given_again() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::call("n", "Note", json!({})));
    bench.finish("n", "noted");
    bench.reply(&answer("a", json!({"days": 0, "nights": 1})));
    let told = told(&bench);
    for fault in [
        "required field `city`",
        "`days` must be at least 1",
        "no place for the field `nights`",
    ] {
        assert!(told.contains(fault), "{told}");
    }
    let last = bench.body()["messages"][4]["content"][0].clone();
    assert_eq!(last["is_error"], true);
    bench.reply(&answer("b", json!({"city": "Oslo", "days": 2})));
    assert_eq!(result(&bench)["structured_output"]["days"], 2);
}

#[test]
fn loop_18_after_too_many_invalid_answers_the_result_says_so() {
    let mut spec = spec();
    spec.prompt.output.as_mut().unwrap().max_retries = 2;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    for id in ["a", "b", "c"] {
        bench.reply(&answer(id, json!({"city": 5, "days": 1})));
    }
    assert!(bench.pending.is_empty());
    let failed = result(&bench);
    assert_eq!(failed["subtype"], "error_max_structured_output_retries");
    assert_eq!(failed["is_error"], true);
    assert!(failed.get("structured_output").is_none() && failed.get("result").is_none());
    let error = failed["errors"][0].as_str().unwrap();
    assert!(
        error.contains("3 answers") && error.contains("`city` must be of type string"),
        "{error}"
    );

    bench.prompt("once more");
    bench.reply(&answer("d", json!({"city": "Oslo", "days": 1})));
    assert_eq!(result(&bench)["subtype"], "success", "counted anew");
}

#[test]
fn loop_18_an_answer_in_plain_text_is_asked_for_again() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.says("Three days in Oslo.");
    assert!(told(&bench).contains(TOOL), "{}", told(&bench));
    let reminder = bench.lines_of("user").pop().unwrap();
    assert_eq!(reminder["isSynthetic"], true);
    bench.reply(&answer("a", json!({"city": "Oslo", "days": 3})));
    assert_eq!(result(&bench)["structured_output"]["city"], "Oslo");
    assert_eq!(result(&bench)["num_turns"], 2);

    let mut spec = spec();
    spec.prompt.output.as_mut().unwrap().max_retries = 1;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.says("Three days.");
    bench.says("In Oslo.");
    assert_eq!(
        result(&bench)["subtype"],
        "error_max_structured_output_retries"
    );
}

#[test]
fn loop_18_as_the_engine_does_it_a_second_plain_text_is_taken() {
    let mut spec = spec();
    spec.prompt.output.as_mut().unwrap().plain_text = PlainText::IsRemindedOnce;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.says("Three days.");
    bench.says("In Oslo.");
    let result = result(&bench);
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "In Oslo.");
    assert!(result.get("structured_output").is_none());
}

#[test]
fn loop_18_who_declines_is_not_asked_again() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::stopped(
        &[json!({"type": "text", "text": "No."})],
        "refusal",
    ));
    assert!(bench.pending.is_empty());
    assert_eq!(result(&bench)["stop_reason"], "refusal");
}

#[test]
fn loop_18_calls_beside_the_answer_run_to_their_end() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("n", "Note", json!({})),
        tool_use("a", TOOL, json!({"city": "Oslo", "days": 3})),
    ]));
    bench.finish("n", "noted");
    assert_eq!(result(&bench)["structured_output"]["days"], 3);
    bench.prompt("again");
    let results = bench.body()["messages"][2]["content"].clone();
    assert_eq!(
        (&results[0]["tool_use_id"], &results[1]["tool_use_id"]),
        (&json!("n"), &json!("a"))
    );
}

#[test]
fn loop_18_the_last_round_that_is_allowed_may_bring_the_answer() {
    let mut spec = spec();
    spec.policy.limits.max_turns = Some(1);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&answer("a", json!({"city": "Oslo", "days": 3})));
    assert_eq!(result(&bench)["subtype"], "success");
}

#[test]
fn loop_18_no_rule_closes_the_way_to_the_answer_and_nobody_is_asked() {
    let mut spec = crate::harness::asking_spec(vec![]);
    spec.prompt.output = Some(format());
    spec.policy.permissions.rules.deny = crate::harness::rules(&[TOOL]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&answer("a", json!({"city": "Oslo", "days": 3})));
    assert_eq!(result(&bench)["structured_output"]["days"], 3);
}

#[test]
fn loop_18_the_count_of_tries_and_the_reminder_outlive_a_crash() {
    let mut spec = spec();
    spec.policy.persist = true;
    spec.prompt.output.as_mut().unwrap().max_retries = 1;
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    bench.saved();
    bench.says("Three days.");
    bench.saved();
    assert_eq!(
        bench.pending_stages(),
        [Stage::SavePrompt],
        "the reminder is written before it is sent"
    );
    let bytes = bench.session.snapshot().unwrap();
    bench.session = Session::restore(std::sync::Arc::new(spec), &bytes).unwrap();
    let live = bench.pending.iter().map(|(id, _)| *id).collect();
    bench.input(Input::Resumed { live });
    bench.saved();
    assert!(told(&bench).contains(TOOL));
    bench.says("In Oslo.");
    bench.saved();
    assert_eq!(
        result(&bench)["subtype"],
        "error_max_structured_output_retries"
    );
}

#[test]
fn loop_18_a_schema_that_is_none_is_refused_when_the_spec_is_made() {
    for (schema, place) in [
        (
            json!({"type": "object", "properties": {"a": {"type": "text"}}}),
            "#/properties/a/type",
        ),
        (json!({"type": "array"}), "#/type"),
        (json!({"type": "object", "required": "a"}), "#/required"),
    ] {
        let error = OutputFormat::new(raw(&schema)).unwrap_err();
        assert_eq!(error.place, place);
    }
    let mut broken = tool("Note");
    broken.input_schema = raw(&json!({"type": "object", "properties": {"a": {"pattern": "("}}}));
    let spec = spec_with(vec![broken]);
    let error = spec.check().unwrap_err().to_string();
    assert!(
        error.contains("Note") && error.contains("#/properties/a/pattern"),
        "{error}"
    );
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    let told = told(&bench);
    assert!(
        told.contains("the schema is unusable"),
        "a call is not let pass unchecked: {told}"
    );
}

#[test]
fn hook_6_an_answer_by_schema_ends_the_run_like_any_other_hooks_may_want_more() {
    let mut spec = spec();
    spec.policy.hooks = vec![HookMatcher::new(HookEvent::Stop, ["critic".to_owned()])];
    let mut bench = Bench::new(spec);
    let stop = |bench: &mut Bench, output: Value| {
        let (id, Effect::RunHook(call)) = bench.of(Stage::Hook(HookEvent::Stop, 1)) else {
            panic!("no hook");
        };
        bench.answer(id, Answer::Hook(HookAnswer::Output(raw(&output))));
        call.input.decode::<Value>().unwrap()
    };
    bench.prompt("where and how long?");
    bench.reply(&answer("a", json!({"city": "Oslo", "days": 3})));
    assert!(bench.results().is_empty(), "hooks look first");
    let input = stop(
        &mut bench,
        json!({"decision": "block", "reason": "too far"}),
    );
    assert_eq!(
        input["last_assistant_message"],
        r#"{"city":"Oslo","days":3}"#
    );
    let read = bench.body()["messages"].to_string();
    assert!(read.contains("too far"), "{read}");
    // The refused answer is none: a plain text does not end the run.
    bench.says("Well.");
    assert!(bench.results().is_empty());
    bench.reply(&answer("b", json!({"city": "Rome", "days": 1})));
    let input = stop(&mut bench, json!({}));
    assert_eq!(input["stop_hook_active"], true);
    let result = result(&bench);
    assert_eq!(
        result["structured_output"],
        json!({"city": "Rome", "days": 1})
    );
    assert_eq!(result["subtype"], "success");
}
