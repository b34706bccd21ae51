//! Compaction: when it happens, what the model is asked, what is left, and what is said of it.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Input, Phase, Session, Spec,
    context::{MemoryFile, MemoryScope},
    effect::{Answer, Entry, Stage},
    hook::{HookAnswer, HookEvent, HookMatcher},
    spec::ToolSearchSetting,
    tools::CoreTool,
    transcript::Transcript,
};

use crate::harness::{Bench, MODEL, Reply, raw, spec_with, sse, tool, tool_use};

/// A reply after which the context holds so many tokens.
pub(crate) fn sized(blocks: &[Value], tokens: u64) -> Reply {
    let stop = if blocks.iter().any(|b| b["type"] == "tool_use") {
        "tool_use"
    } else {
        "end_turn"
    };
    Reply::stream(sse(
        blocks,
        stop,
        &json!({"input_tokens": tokens}),
        &json!({"output_tokens": 1}),
    ))
}

pub(crate) fn says(text: &str, tokens: u64) -> Reply {
    sized(&[json!({"type": "text", "text": text})], tokens)
}

pub(crate) fn spec() -> Spec {
    let mut spec = spec_with(vec![tool("Look")]);
    spec.prompt.context.compaction.threshold_tokens = Some(1_000);
    spec
}

/// Three exchanges, the last of which leaves the context full.
pub(crate) fn full(spec: Spec) -> Bench {
    let mut bench = Bench::new(spec);
    for (n, tokens) in [(1, 100), (2, 500), (3, 2_000)] {
        bench.prompt(&format!("question {n} {}", "x".repeat(300)));
        bench.reply(&says(&format!("answer {n} {}", "y".repeat(300)), tokens));
    }
    bench
}

pub(crate) fn summary_request(bench: &Bench) -> Value {
    let (_, effect) = bench.of(Stage::Summary);
    let windlass_core::effect::Effect::Http(request) = effect else {
        panic!("not a request: {effect:?}");
    };
    serde_json::from_slice(&request.body_bytes()).unwrap()
}

pub(crate) fn answer_summary(bench: &mut Bench, reply: &Reply) {
    let (id, _) = bench.of(Stage::Summary);
    for answer in reply.answers() {
        bench.answer(id, answer);
    }
}

fn subtypes(bench: &Bench) -> Vec<String> {
    let system = bench.lines_of("system");
    let of = |line: &Value| match line["subtype"].as_str().unwrap() {
        "status" => format!("status {}", line["status"]),
        other => other.to_owned(),
    };
    system.iter().map(of).filter(|s| s != "init").collect()
}

fn text_of_message(message: &Value) -> String {
    message["content"].to_string()
}

#[test]
fn ctx_1_near_the_limit_the_beginning_is_replaced_by_a_summary() {
    let mut bench = full(spec());
    bench.prompt("and now?");
    assert_eq!(bench.session.phase(), Phase::Compacting);
    // The request is that of the conversation, tools and all, with a question behind it.
    let asked = summary_request(&bench);
    assert_eq!(asked["tools"][0]["name"], "Look");
    assert_eq!(asked.get("tool_choice"), None);
    let messages = asked["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 7);
    let last = messages[6]["content"].as_array().unwrap();
    assert_eq!(last[0]["text"], "and now?");
    assert!(last[1]["text"].as_str().unwrap().contains("Call no tool"));
    answer_summary(&mut bench, &says("It was about three questions.", 2_100));

    let body = bench.body();
    let first = text_of_message(&body["messages"][0]);
    assert!(first.contains("It was about three questions.") && first.contains("and now?"));
    assert!(!body.to_string().contains("question 1"));
    bench.reply(&says("fine", 90));
    assert!(!bench.result().is_error);
    assert_eq!(bench.result().num_turns, 1);
    // There is room again.
    bench.prompt("more");
    assert_eq!(bench.session.phase(), Phase::Calling);
}

#[test]
fn ctx_1_the_threshold_follows_the_models_window_and_can_be_switched_off() {
    for (automatic, tokens, phase) in [
        (true, 166_000, Phase::Calling),
        (true, 167_000, Phase::Compacting),
        (false, 190_000, Phase::Calling),
    ] {
        let mut spec = spec();
        spec.prompt.context.compaction.threshold_tokens = None;
        spec.prompt.context.compaction.automatic = automatic;
        let mut bench = Bench::new(spec);
        bench.prompt("one");
        bench.reply(&says("fine", tokens));
        bench.prompt("two");
        assert_eq!(bench.session.phase(), phase, "{tokens}");
    }
}

#[test]
fn ctx_1_compact_as_a_prompt_compacts_and_its_words_steer_the_summary() {
    let mut bench = full(spec_with(vec![]));
    bench.prompt("/compact keep the file names");
    let asked = summary_request(&bench);
    let question = asked["messages"][6]["content"][0]["text"].as_str().unwrap();
    assert!(question.contains("keep the file names"));
    answer_summary(&mut bench, &says("Names: a.rs.", 2_100));
    assert!(bench.session.is_idle());
    let result = bench.result();
    assert_eq!((result.is_error, result.num_turns), (false, 0));
    let history = bench.history();
    assert!(text_of_message(&history[0]).contains("Names: a.rs."));
    assert!(!history.iter().any(|m| m.to_string().contains("/compact")));
    bench.prompt("go on");
    assert!(bench.body().to_string().contains("Names: a.rs."));
}

#[test]
fn ctx_1_with_nothing_to_sum_up_compact_says_so() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("/compact");
    assert!(bench.pending.is_empty() && bench.session.is_idle());
    assert!(!bench.result().is_error);
    assert!(
        bench
            .result()
            .result
            .as_deref()
            .unwrap()
            .contains("nothing to compact")
    );
}

#[test]
fn ctx_4_the_boundary_says_why_and_how_much_and_the_newest_exchange_stays() {
    let mut bench = full(spec_with(vec![]));
    bench.prompt("/compact");
    answer_summary(&mut bench, &says("Short.", 2_100));
    let lines = bench.lines();
    let at = lines
        .iter()
        .position(|l| l["subtype"] == "compact_boundary")
        .unwrap();
    let metadata = &lines[at]["compact_metadata"];
    assert_eq!(metadata["trigger"], "manual");
    assert_eq!(metadata["pre_tokens"], 2_001);
    assert!(metadata["post_tokens"].as_u64().unwrap() < 2_001);
    assert_eq!(lines[at + 1]["isSynthetic"], true);
    let kept = bench.history();
    assert_eq!(kept.len(), 2);
    assert!(text_of_message(&kept[0]).contains("Short."));
    assert!(text_of_message(&kept[1]).contains("answer 3"));
}

#[test]
fn ctx_4_what_memory_files_say_of_summaries_is_before_the_model_when_it_writes_one() {
    let mut spec = spec();
    spec.prompt.memory = vec![MemoryFile {
        path: "/work/CLAUDE.md".into(),
        scope: MemoryScope::Project,
        text: "# When summarising\nAlways keep ticket numbers.".into(),
    }];
    let mut bench = full(spec);
    bench.prompt("next");
    let asked = summary_request(&bench).to_string();
    assert!(
        asked.contains("Always keep ticket numbers.")
            && asked.contains("memory files such as CLAUDE.md")
    );
    answer_summary(&mut bench, &says("Ticket 7.", 2_100));
    // Behind the boundary the instructions stand in front again.
    let body = bench.body();
    let first = &body["messages"][0]["content"];
    assert!(
        first[0]["text"]
            .as_str()
            .unwrap()
            .contains("ticket numbers")
    );
    assert!(first[1]["text"].as_str().unwrap().contains("Ticket 7."));
}

#[test]
fn loop_30_status_says_compacting_and_then_nothing() {
    let mut bench = full(spec());
    bench.prompt("next");
    assert_eq!(subtypes(&bench), ["status \"compacting\""]);
    answer_summary(&mut bench, &says("Short.", 2_100));
    assert_eq!(
        subtypes(&bench),
        ["status \"compacting\"", "status null", "compact_boundary"]
    );
    let over = &bench.lines_of("system");
    let over = over
        .iter()
        .find(|l| l["status"].is_null() && l["subtype"] == "status")
        .unwrap();
    assert_eq!(over["compact_result"], "success");
}

#[test]
fn a_round_of_tools_may_be_what_fills_the_context() {
    let mut bench = Bench::new(spec());
    bench.prompt("look twice");
    bench.reply(&sized(&[tool_use("a", "Look", json!({}))], 600));
    bench.finish("a", &"z".repeat(100));
    bench.reply(&sized(&[tool_use("b", "Look", json!({}))], 900));
    bench.finish("b", &"z".repeat(2_000));
    assert_eq!(bench.session.phase(), Phase::Compacting);
    answer_summary(&mut bench, &says("Looked.", 1_500));
    // No call is parted from its result (the harness validates each request), and the model is told to go on.
    assert!(bench.body().to_string().contains("Go on with the work"));
    bench.reply(&says("done", 200));
    assert_eq!(bench.result().num_turns, 3);
}

#[test]
fn the_summary_is_paid_for() {
    let mut bench = full(spec());
    let before = bench.result().total_cost_usd;
    bench.prompt("next");
    answer_summary(&mut bench, &says("Short.", 1_000_000));
    bench.reply(&says("fine", 10));
    let result = bench.result();
    assert!(result.total_cost_usd.nanos - before.nanos > 3_000_000_000);
    // It is no response to the prompt: it counts per model and in the cost, where everything does.
    assert_eq!(result.usage.input_tokens, 10);
    assert_eq!(result.model_usage[MODEL].input_tokens, 1_002_610);
}

#[test]
fn an_interrupt_leaves_the_conversation_as_it_was() {
    let mut bench = full(spec());
    let before = bench.history();
    bench.prompt("next");
    bench.interrupt();
    let (id, _) = bench.of(Stage::Summary);
    assert!(bench.cancelled().contains(&id));
    bench.answer(id, Answer::Cancelled);
    assert!(bench.session.is_idle());
    assert_eq!(bench.history()[..6], before[..]);
    assert_eq!(subtypes(&bench), ["status \"compacting\"", "status null"]);
}

#[test]
fn a_summary_that_fails_is_retried_and_then_done_without() {
    let mut spec = spec();
    spec.model.retry.max_retries = 1;
    let mut bench = full(spec);
    bench.prompt("next");
    for _ in 0..2 {
        answer_summary(&mut bench, &Reply::error(529, "overloaded_error", "busy"));
        if bench.session.phase() == Phase::CompactingBackoff {
            bench.tick();
        }
    }
    // There was still room: the prompt is asked with the whole conversation.
    assert_eq!(bench.body()["messages"].as_array().unwrap().len(), 7);
    bench.reply(&says("fine", 2_050));
    assert!(!bench.result().is_error);
    assert_eq!(bench.retries().len(), 1);
}

#[test]
fn a_compaction_on_command_that_fails_is_an_error_and_changes_nothing() {
    let mut bench = full(spec_with(vec![]));
    let before = bench.history();
    bench.prompt("/compact");
    answer_summary(&mut bench, &Reply::error(401, "authentication_error", "no"));
    assert!(bench.result().is_error);
    assert!(bench.result().errors.as_ref().unwrap()[0].contains("could not be compacted"));
    assert_eq!(bench.history(), before);
}

#[test]
fn a_model_that_calls_tools_in_place_of_writing_is_asked_without_them() {
    let mut bench = full(spec());
    bench.prompt("next");
    answer_summary(
        &mut bench,
        &sized(&[tool_use("t", "Look", json!({}))], 2_100),
    );
    assert_eq!(
        summary_request(&bench)["tool_choice"],
        json!({"type": "none"})
    );
    answer_summary(&mut bench, &says("Short.", 2_100));
    assert!(bench.body().to_string().contains("Short."));
}

#[test]
fn a_request_that_is_too_long_is_compacted_once_and_made_again() {
    let mut spec = full_spec_without_threshold();
    spec.policy.persist = false;
    let mut bench = full(spec);
    bench.prompt("next");
    let too_long = Reply::error(400, "invalid_request_error", "prompt is too long: 1 > 0");
    bench.reply(&too_long);
    // Even the request for the summary is too long: the oldest part is left out.
    answer_summary(&mut bench, &too_long);
    let shorter = summary_request(&bench);
    assert!(shorter["messages"].as_array().unwrap().len() < 7);
    assert!(shorter.to_string().contains("had to be left out"));
    answer_summary(&mut bench, &says("Short.", 2_100));
    bench.reply(&says("fine", 100));
    assert!(!bench.result().is_error);
    // Too long again: that is the end of it.
    bench.prompt("again");
    bench.reply(&too_long);
    answer_summary(&mut bench, &says("S", 100));
    bench.reply(&too_long);
    assert!(bench.result().is_error && bench.session.is_idle());
    assert!(
        !bench
            .history()
            .iter()
            .any(|m| m.to_string().contains("again"))
    );
}

pub(crate) fn full_spec_without_threshold() -> Spec {
    let mut spec = spec();
    spec.prompt.context.compaction.threshold_tokens = None;
    spec
}

#[test]
fn the_transcript_says_where_the_conversation_begins_anew() {
    let mut spec = spec();
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    for tokens in [500, 2_000] {
        bench.prompt(&"x".repeat(400));
        bench.saved();
        bench.reply(&says(&"y".repeat(400), tokens));
        bench.saved();
    }
    bench.prompt("next");
    bench.saved();
    answer_summary(&mut bench, &says("Short.", 2_100));
    assert_eq!(bench.session.phase(), Phase::SavingSummary);
    let entry = bench.saved();
    let compaction = entry.compaction.expect("a new beginning");
    assert_eq!(compaction.kept_messages, 1);
    assert_eq!(compaction.metadata.pre_tokens, 2_013);
    assert!(entry.message.get().contains("Short."));
    let boundary = bench.lines_of("system");
    let boundary = boundary
        .iter()
        .find(|l| l["subtype"] == "compact_boundary")
        .unwrap();
    assert_eq!(boundary["uuid"], compaction.boundary.to_string());
    assert_eq!(bench.session.phase(), Phase::Calling);
}

/// A compacted conversation that went on, with everything that was written.
fn compacted() -> (Bench, Vec<Entry>) {
    let mut spec = spec();
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    let mut written = Vec::new();
    for (n, tokens) in [(1, 500), (2, 2_000)] {
        bench.prompt(&format!("question {n} {}", "x".repeat(400)));
        written.push(bench.saved());
        bench.reply(&says(&format!("answer {n} {}", "y".repeat(400)), tokens));
        written.push(bench.saved());
    }
    bench.prompt("next");
    written.push(bench.saved());
    answer_summary(&mut bench, &says("Short.", 2_100));
    written.push(bench.saved());
    bench.reply(&sized(&[tool_use("a", "Look", json!({}))], 100));
    written.push(bench.saved());
    bench.finish("a", "seen");
    written.push(bench.saved());
    bench.reply(&says("It is so.", 100));
    written.push(bench.saved());
    (bench, written)
}

fn resume(transcript: &Transcript) -> Vec<Value> {
    let id = crate::harness::session_id();
    let (session, repairs) = Session::resume_transcript(Arc::new(spec()), id, [9; 32], transcript);
    assert_eq!(repairs, []);
    let lines = session.history().lines();
    lines.map(|l| serde_json::from_slice(&l).unwrap()).collect()
}

#[test]
fn sess_1_a_compacted_conversation_is_resumed_behind_its_summary() {
    let (bench, written) = compacted();
    let transcript = Transcript::of(&written);
    assert_eq!(resume(&transcript), bench.history());
    // The same from the lines of a file.
    let line = |entry: &Entry| {
        let message: Value = entry.message.decode().unwrap();
        let line = json!({"type": message["role"], "uuid": entry.uuid, "parentUuid": entry.parent,
            "message": message, "compaction": entry.compaction});
        format!("{line}\n")
    };
    let text: String = written.iter().map(line).collect();
    assert_eq!(resume(&Transcript::read(text.as_bytes())), bench.history());
    // A fork begins with the summary as well.
    let (fork, _) = (bench.session).fork(crate::harness::session_id(), [9; 32], None);
    let lines: Vec<_> = fork.history().lines().collect();
    assert_eq!(lines, bench.session.history().lines().collect::<Vec<_>>());
}

#[test]
fn sess_1_a_compacted_conversation_can_be_cut_before_and_behind_its_summary() {
    let (bench, written) = compacted();
    let transcript = Transcript::of(&written);
    for (at, entry) in written.iter().enumerate() {
        let cut = transcript.up_to(entry.uuid).unwrap();
        let history = match at {
            6 => continue, // a call without its result: mended, see the sessions
            _ => resume(&cut),
        };
        let text = json!(history).to_string();
        let behind = at >= 5;
        assert_eq!(text.contains("question 1"), !behind, "{at}");
        assert_eq!(text.contains("Short."), behind, "{at}");
        assert_eq!(text.contains("next"), at >= 4, "the newest prompt stays");
    }
    drop(bench);
}

#[test]
fn sess_1_a_conversation_compacted_twice_begins_with_the_second_summary() {
    let (mut bench, mut written) = compacted();
    bench.prompt("/compact");
    answer_summary(&mut bench, &says("Shorter.", 100));
    written.push(bench.saved());
    bench.prompt("and now?");
    written.push(bench.saved());
    bench.reply(&says("Now this.", 100));
    written.push(bench.saved());
    assert_eq!(resume(&Transcript::of(&written)), bench.history());
    assert!(!json!(bench.history()).to_string().contains("Short."));
}

#[test]
fn mcp_4_a_tool_whose_definition_was_summed_up_waits_again() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let mut remote = tool("mcp__box__put");
    remote.input_schema = raw(&schema);
    let mut spec = spec();
    spec.tools.definitions.push(remote);
    spec.offer([CoreTool::ToolSearch]);
    spec.tools.search = ToolSearchSetting::On;
    let mut bench = Bench::new(spec);
    bench.prompt("find the tool");
    let search = json!({"query": "select:mcp__box__put"});
    bench.reply(&sized(&[tool_use("s", "ToolSearch", search)], 100));
    let result = |bench: &mut Bench, id: &str| {
        bench.reply(&sized(
            &[tool_use(id, "mcp__box__put", json!({"n": "x"}))],
            100,
        ));
        let body = bench.body();
        let last = body["messages"].as_array().unwrap().last().unwrap();
        last["content"][0]["content"].as_str().unwrap().to_owned()
    };
    let known = result(&mut bench, "a");
    assert!(known.contains("not valid"), "{known}");
    bench.reply(&says(&"y".repeat(300), 100));
    bench.prompt("another matter");
    bench.reply(&says("fine", 100));
    bench.prompt("/compact");
    answer_summary(&mut bench, &says("Short.", 100));
    bench.prompt("again");
    let waits = result(&mut bench, "b");
    assert!(waits.contains("ToolSearch"), "{waits}");
}

#[test]
fn a_session_put_away_while_compacting_goes_on() {
    let mut bench = full(spec());
    bench.prompt("next");
    let (id, _) = bench.of(Stage::Summary);
    let snapshot = bench.session.snapshot().unwrap();
    bench.session =
        windlass_core::Session::restore(std::sync::Arc::new(spec()), &snapshot).unwrap();
    bench.pending.retain(|(pending, _)| *pending != id);
    bench.input(Input::Resumed { live: vec![] });
    let (again, _) = bench.of(Stage::Summary);
    assert_ne!(again, id);
    answer_summary(&mut bench, &says("Short.", 2_100));
    bench.reply(&says("fine", 10));
    assert!(!bench.result().is_error);
}

/// Hooks that watch compactions, and the beginning that follows one.
fn watched(mut spec: Spec) -> Spec {
    let watch = |event| HookMatcher::new(event, ["watch".to_owned()]);
    spec.policy.hooks = vec![watch(HookEvent::PreCompact), watch(HookEvent::SessionStart)];
    spec
}

/// The pending hook of an event: what it is told, and its answer.
fn answer_hook(bench: &mut Bench, event: HookEvent, output: &Value) -> Value {
    let (id, effect) = bench.of(Stage::Hook(event, 1));
    let windlass_core::effect::Effect::RunHook(call) = effect else {
        panic!("not a hook: {effect:?}");
    };
    bench.answer(id, Answer::Hook(HookAnswer::Output(raw(output))));
    serde_json::from_str(call.input.get()).unwrap()
}

fn watched_and_full() -> Bench {
    let mut bench = Bench::new(watched(spec_with(vec![])));
    for n in 1..4 {
        bench.prompt(&format!("question {n} {}", "x".repeat(300)));
        if n == 1 {
            answer_hook(&mut bench, HookEvent::SessionStart, &json!({}));
        }
        bench.reply(&says(&format!("answer {n} {}", "y".repeat(300)), 100));
    }
    bench
}

#[test]
fn hook_15_hooks_see_a_compaction_before_it_begins_and_the_beginning_after_it() {
    let mut bench = watched_and_full();
    bench.prompt("/compact keep the names");
    assert!(
        !bench.pending_stages().contains(&Stage::Summary),
        "not before the hooks"
    );
    let told = answer_hook(&mut bench, HookEvent::PreCompact, &json!({}));
    assert_eq!(told["hook_event_name"], "PreCompact");
    assert_eq!(told["trigger"], "manual");
    assert_eq!(told["custom_instructions"], "keep the names");
    answer_summary(&mut bench, &says("Names: a.rs.", 100));
    let context = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": "the build is green"}});
    let told = answer_hook(&mut bench, HookEvent::SessionStart, &context);
    assert_eq!(told["source"], "compact");
    bench.prompt("go on");
    let body = bench.body()["messages"].to_string();
    assert!(body.contains("the build is green"), "{body}");
}

/// A conversation that is compacted by itself, at the moment where the summary has come.
fn summed_up_by_itself() -> Bench {
    let mut spec = watched(spec_with(vec![]));
    spec.prompt.context.compaction.threshold_tokens = Some(2_000);
    let mut bench = Bench::new(spec);
    bench.prompt(&format!("question {}", "x".repeat(3_000)));
    answer_hook(&mut bench, HookEvent::SessionStart, &json!({}));
    bench.reply(&says(&format!("answer {}", "y".repeat(3_000)), 2_500));
    bench.prompt("go on");
    answer_hook(&mut bench, HookEvent::PreCompact, &json!({}));
    answer_summary(&mut bench, &says("Names: a.rs.", 100));
    assert!(
        !bench.pending_stages().contains(&Stage::Model),
        "not before the hooks"
    );
    bench
}

#[test]
fn hook_15_what_hooks_add_to_a_start_from_a_summary_is_in_the_next_request() {
    let mut bench = summed_up_by_itself();
    // A session that is put away while the hooks look has not lost the summary.
    let snapshot = bench.session.snapshot().unwrap();
    let spec = std::sync::Arc::new({
        let mut spec = watched(spec_with(vec![]));
        spec.prompt.context.compaction.threshold_tokens = Some(2_000);
        spec
    });
    bench.session = windlass_core::Session::restore(spec, &snapshot).unwrap();
    let live = bench.pending.iter().map(|(id, _)| *id).collect();
    bench.input(Input::Resumed { live });
    let context = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": "the build is green"}});
    answer_hook(&mut bench, HookEvent::SessionStart, &context);
    let body = bench.body();
    let first = body["messages"][0]["content"].to_string();
    assert!(first.contains("Names: a.rs."), "{first}");
    assert!(first.contains("the build is green"), "{first}");
    bench.reply(&says("fine", 10));
    assert!(!bench.result().is_error);
}

#[test]
fn hook_15_a_hook_of_a_start_from_a_summary_can_end_the_run() {
    let mut bench = summed_up_by_itself();
    let stop = json!({"continue": false, "stopReason": "enough"});
    answer_hook(&mut bench, HookEvent::SessionStart, &stop);
    assert!(bench.session.is_idle());
    let history = json!(bench.history()).to_string();
    assert!(history.contains("Names: a.rs."), "{history}");
}

#[test]
fn ctx_1_a_hook_can_keep_the_conversation_from_being_compacted() {
    let mut bench = watched_and_full();
    let before = bench.history();
    bench.prompt("/compact");
    let refusal = json!({"decision": "block", "reason": "not now"});
    let told = answer_hook(&mut bench, HookEvent::PreCompact, &refusal);
    assert_eq!(told["custom_instructions"], Value::Null);
    assert!(bench.session.is_idle());
    let errors = bench.result().errors.clone().unwrap();
    assert!(errors[0].contains("not now"), "{errors:?}");
    assert_eq!(bench.history(), before);
}

/// Says that everything handed over is written.
fn write_all(bench: &mut Bench) {
    let writes = |bench: &Bench| {
        let mut effects = bench.pending.iter();
        effects.any(|(_, effect)| matches!(effect, windlass_core::effect::Effect::Persist(_)))
    };
    while writes(bench) {
        bench.saved();
    }
}

#[test]
fn a_session_put_away_knows_as_much_of_its_size_as_one_that_stayed() {
    // Found by a simulation: with nothing counted since the compaction before, the length of the prefix matters.
    let second_boundary = |is_put_away: bool| {
        let mut spec = spec();
        spec.policy.persist = true;
        let mut bench = Bench::new(spec.clone());
        for _ in 0..3 {
            bench.prompt(&format!("question {}", "x".repeat(300)));
            write_all(&mut bench);
            bench.reply(&says(&format!("answer {}", "y".repeat(300)), 100));
            write_all(&mut bench);
        }
        bench.prompt("/compact");
        bench.prompt("/compact");
        write_all(&mut bench);
        answer_summary(&mut bench, &says("the summary", 100));
        let (saving, _) = bench.of(Stage::SaveSummary);
        if is_put_away {
            let snapshot = bench.session.snapshot().unwrap();
            bench.session =
                windlass_core::Session::restore(std::sync::Arc::new(spec), &snapshot).unwrap();
            let live = vec![saving];
            bench.input(Input::Resumed { live });
        }
        write_all(&mut bench);
        answer_summary(&mut bench, &says("the second summary", 100));
        let lines = bench.lines_of("system");
        let mut boundaries = lines.iter().filter(|l| l["subtype"] == "compact_boundary");
        boundaries.nth(1).unwrap()["compact_metadata"].clone()
    };
    assert_eq!(second_boundary(true), second_boundary(false));
}
