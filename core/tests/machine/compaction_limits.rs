//! What keeps a session from compacting again and again: each of these ends, whatever the model and the server say.

use serde_json::json;
use windlass_core::{Phase, Spec, effect::Stage};

use crate::{
    compaction::{
        answer_summary, full, full_spec_without_threshold, says, sized, spec, summary_request,
    },
    core_tools::put_away_and_taken_up,
    harness::{Bench, Reply, tool_use},
};

/// Puts the session away and takes it up again, where that is to be looked at.
fn may_be_put_away(bench: &mut Bench, is_put_away: bool, spec: fn() -> Spec) {
    if is_put_away {
        put_away_and_taken_up(bench, spec());
    }
}

/// What the last compaction has left, in tokens.
fn left(bench: &Bench) -> u64 {
    let lines = bench.lines_of("system");
    let boundary = lines
        .iter()
        .rfind(|line| line["subtype"] == "compact_boundary");
    let metadata = &boundary.expect("a compaction")["compact_metadata"];
    metadata["post_tokens"].as_u64().expect("a number")
}

fn too_long() -> Reply {
    Reply::error(400, "invalid_request_error", "prompt is too long: 1 > 0")
}

/// A round of the tool, after which the context holds so many tokens.
fn looks(bench: &mut Bench, id: &str, tokens: u64) {
    bench.reply(&sized(&[tool_use(id, "Look", json!({}))], tokens));
    bench.finish(id, "seen");
}

fn summaries_asked_for(bench: &Bench) -> usize {
    let asks = |output: &&windlass_core::Output| matches!(output, windlass_core::Output::Effect(id, _) if id.stage == Stage::Summary);
    bench.outputs.iter().filter(asks).count()
}

/// A threshold that a summary of some length does not fall below.
fn narrow() -> Spec {
    let mut spec = spec();
    spec.prompt.context.compaction.threshold_tokens = Some(2_000);
    spec
}

#[test]
fn ctx_1_a_context_that_is_still_full_is_compacted_again_only_when_it_has_grown() {
    for is_put_away in [false, true] {
        let mut bench = Bench::new(narrow());
        for (n, tokens) in [(1, 100), (2, 500), (3, 9_000)] {
            bench.prompt(&format!("question {n} {}", "x".repeat(4_000)));
            let answer = format!("answer {n} {}", "y".repeat(4_000));
            bench.reply(&says(&answer, tokens));
        }
        bench.prompt("next");
        answer_summary(&mut bench, &says(&"s".repeat(9_000), 9_100));
        let left = left(&bench);
        assert!(left > 2_000, "{left}: more than the threshold");
        assert_eq!(bench.session.phase(), Phase::Calling);
        may_be_put_away(&mut bench, is_put_away, narrow);
        // Neither in the same run nor at the next prompt.
        looks(&mut bench, "a", left);
        assert_eq!(bench.session.phase(), Phase::Calling);
        bench.reply(&says("fine", left + 100));
        bench.prompt("more");
        assert_eq!(bench.session.phase(), Phase::Calling);
        // A tenth of the threshold more.
        bench.reply(&says("fine", left + 200));
        bench.prompt("even more");
        assert_eq!(bench.session.phase(), Phase::Compacting);
    }
}

#[test]
fn ctx_1_a_compaction_that_failed_is_not_tried_again_in_the_same_run() {
    for is_put_away in [false, true] {
        let mut bench = full(spec());
        bench.prompt("next");
        let refused = Reply::error(400, "invalid_request_error", "no");
        answer_summary(&mut bench, &refused);
        assert_eq!(bench.session.phase(), Phase::Calling);
        may_be_put_away(&mut bench, is_put_away, spec);
        looks(&mut bench, "a", 2_100);
        assert_eq!(bench.session.phase(), Phase::Calling, "by itself");
        bench.reply(&too_long());
        assert!(bench.session.is_idle() && bench.result().is_error);
        assert_eq!(summaries_asked_for(&bench), 1);
        // Another prompt, another try.
        bench.prompt("again");
        assert_eq!(bench.session.phase(), Phase::Compacting);
    }
}

#[test]
fn ctx_1_what_is_too_long_is_compacted_once_in_a_run() {
    for is_put_away in [false, true] {
        let mut bench = full(full_spec_without_threshold());
        bench.prompt("next");
        bench.reply(&too_long());
        answer_summary(&mut bench, &says("Short.", 2_100));
        may_be_put_away(&mut bench, is_put_away, full_spec_without_threshold);
        looks(&mut bench, "a", 100);
        bench.reply(&too_long());
        assert!(bench.session.is_idle() && bench.result().is_error);
        assert_eq!(summaries_asked_for(&bench), 1);
        let errors = bench.result().errors.clone().unwrap();
        assert!(errors[0].contains("prompt is too long"), "{errors:?}");
    }
}

#[test]
fn ctx_1_a_summary_that_is_always_too_long_to_ask_for_is_given_up() {
    for is_put_away in [false, true] {
        let mut bench = full(full_spec_without_threshold());
        let before = bench.history();
        bench.prompt("next");
        bench.reply(&too_long());
        let mut asked = 0;
        while bench.session.phase() == Phase::Compacting {
            asked += 1;
            assert!(asked <= 7, "it is asked for again and again");
            may_be_put_away(&mut bench, is_put_away, full_spec_without_threshold);
            answer_summary(&mut bench, &too_long());
        }
        assert_eq!(asked, 7, "as it is, and six times about half of it");
        assert!(bench.session.is_idle() && bench.result().is_error);
        let errors = bench.result().errors.clone().unwrap();
        assert!(errors[0].contains("prompt is too long"), "{errors:?}");
        assert_eq!(bench.history(), before, "without the prompt");
    }
}

/// Of another length it is another request, with tries of its own.
#[test]
fn ctx_1_a_summary_that_is_asked_for_of_less_is_tried_as_often_as_the_first() {
    let mut spec = full_spec_without_threshold();
    spec.model.retry.max_retries = 1;
    let mut bench = full(spec);
    bench.prompt("/compact");
    let busy = Reply::error(529, "overloaded_error", "full");
    answer_summary(&mut bench, &busy);
    bench.tick();
    answer_summary(&mut bench, &too_long());
    answer_summary(&mut bench, &busy);
    assert_eq!(bench.session.phase(), Phase::CompactingBackoff);
    bench.tick();
    answer_summary(&mut bench, &says("Short.", 2_100));
    assert!(bench.session.is_idle() && !bench.result().is_error);
}

#[test]
fn ctx_1_a_model_that_writes_no_summary_even_without_tools_is_not_asked_for_one_again() {
    for is_put_away in [false, true] {
        for nothing in [
            sized(&[tool_use("t", "Look", json!({}))], 2_100),
            says(" ", 2_100),
        ] {
            let mut bench = full(spec());
            bench.prompt("next");
            answer_summary(&mut bench, &nothing);
            assert_eq!(bench.session.phase(), Phase::Compacting);
            may_be_put_away(&mut bench, is_put_away, spec);
            assert_eq!(
                summary_request(&bench)["tool_choice"],
                json!({"type": "none"})
            );
            answer_summary(&mut bench, &nothing);
            assert_eq!(bench.session.phase(), Phase::Calling);
            let messages = bench.body()["messages"].to_string();
            assert!(messages.contains("question 1"), "{messages}");
        }
    }
}

#[test]
fn ctx_1_a_summary_that_makes_nothing_shorter_is_taken_only_where_it_was_asked_for() {
    let long = format!("It was about {}", "z".repeat(5_000));
    let mut bench = full(spec());
    let before = bench.history();
    bench.prompt("next");
    answer_summary(&mut bench, &says(&long, 2_100));
    assert_eq!(bench.session.phase(), Phase::Calling);
    assert_eq!(bench.history()[..6], before[..]);
    let lines = bench.lines_of("system");
    let over = lines.iter().rfind(|line| line["subtype"] == "status");
    assert_eq!(over.unwrap()["compact_result"], "failed");
    bench.reply(&says("fine", 2_100));
    assert!(!bench.result().is_error);

    bench.prompt("/compact");
    answer_summary(&mut bench, &says(&long, 2_100));
    assert!(bench.session.is_idle() && !bench.result().is_error);
    let history = json!(bench.history()).to_string();
    assert!(history.contains("It was about") && !history.contains("question 1"));
}
