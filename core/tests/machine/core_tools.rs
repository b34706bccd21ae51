//! Tools that the core runs itself: seen from outside they are calls like any other, but no host is asked to run them.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Input, Session, Spec,
    effect::{PermissionResponse, Stage},
    permission::Mode,
    spec::{Effort, Thinking},
    tools::CoreTool,
};

use crate::harness::{
    Bench, Reply, asking_spec, bash, file_tool, raw, rules, spec_with, tool, tool_use,
};

/// A spec with these core tools, in a mode that asks, with somebody to ask.
pub(crate) fn offering(tools: impl IntoIterator<Item = CoreTool>) -> Spec {
    let mut spec = asking_spec(vec![bash(), tool("Change")]);
    spec.offer(tools);
    spec
}

/// The last result in the stream: text, error flag, structured output.
pub(crate) fn last_result(bench: &Bench) -> (String, bool, Value) {
    let line = bench.lines_of("user").pop().expect("a tool result");
    let block = &line["message"]["content"][0];
    (
        block["content"].as_str().unwrap_or_default().to_owned(),
        block["is_error"] == true,
        line["tool_use_result"].clone(),
    )
}

/// A session that has begun and made this call.
pub(crate) fn calling(spec: Spec, name: &str, input: Value) -> Bench {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("t1", name, input));
    bench
}

/// Puts the session away and takes it up again, with everything that runs still running.
pub(crate) fn put_away_and_taken_up(bench: &mut Bench, spec: Spec) {
    let snapshot = bench.session.snapshot().expect("a snapshot");
    bench.session = Session::restore(Arc::new(spec), &snapshot).expect("the session");
    let live = bench.pending.iter().map(|(id, _)| *id).collect();
    bench.input(Input::Resumed { live });
}

fn approve_with(bench: &mut Bench, input: &Value) {
    bench.decide(PermissionResponse::Allow {
        updated_input: Some(raw(input)),
        updated_permissions: Vec::new(),
    });
}

fn todo(content: &str, status: &str) -> Value {
    json!({"content": content, "status": status, "activeForm": format!("Doing {content}")})
}

/// No effect shows that such a call runs, so what is recorded of it is all there is.
#[test]
fn what_let_a_call_of_a_core_tool_run_is_recorded() {
    let todos = json!({"todos": [todo("read", "pending")]});
    let mut bench = calling(offering([CoreTool::TodoWrite]), "TodoWrite", todos);
    let [decided] = bench.session.approved_calls() else {
        panic!("one call: {:?}", bench.session.approved_calls());
    };
    assert_eq!(decided.tool_use_id, "t1");
    assert_eq!(decided.tool_name, "TodoWrite");
    assert_eq!(decided.cause, "it changes nothing outside the session");
    assert_eq!((decided.effect.call, decided.effect.stage), (1, Stage::Run));
    bench.reply(&Reply::text("done"));
    assert!(
        bench.session.approved_calls().is_empty(),
        "of the last input only"
    );
}

#[test]
fn tool_10_todo_write_replaces_the_list_and_tells_the_old_one_without_a_host() {
    for mode in Mode::ALL {
        let mut spec = offering([CoreTool::TodoWrite]);
        spec.policy.permissions.mode = mode;
        spec.policy.permissions.can_ask = false;
        let first = json!([todo("read", "completed"), todo("write", "in_progress")]);
        let mut bench = calling(spec, "TodoWrite", json!({"todos": first}));
        let (text, is_error, output) = last_result(&bench);
        assert!(!is_error, "{mode:?}: {text}");
        assert!(
            text.contains("1 of 2 done") && text.contains("write"),
            "{text}"
        );
        assert_eq!(output, json!({"oldTodos": [], "newTodos": first}));
        let second = json!([todo("read", "completed"), todo("write", "completed")]);
        bench.reply(&Reply::call("t2", "TodoWrite", json!({"todos": second})));
        let (_, _, output) = last_result(&bench);
        assert_eq!(output, json!({"oldTodos": first, "newTodos": second}));
        bench.says("done");
        assert!(bench.result().permission_denials.is_empty());
    }
}

#[test]
fn tool_10_the_list_survives_a_snapshot_and_bad_lists_change_nothing() {
    let spec = || offering([CoreTool::TodoWrite]);
    let list = json!([todo("read", "pending")]);
    let mut bench = calling(spec(), "TodoWrite", json!({"todos": list}));
    put_away_and_taken_up(&mut bench, spec());
    for (bad, named) in [
        (json!({"todos": [todo("", "pending")]}), "todos[0].content"),
        (json!({"todos": [todo("x", "begun")]}), "in_progress"),
        (
            json!({"todos": [{"content": "x", "status": "pending"}]}),
            "activeForm",
        ),
    ] {
        bench.reply(&Reply::call("bad", "TodoWrite", bad));
        let (text, is_error, _) = last_result(&bench);
        assert!(is_error && text.contains(named), "{text}");
    }
    bench.reply(&Reply::call("t3", "TodoWrite", json!({"todos": []})));
    assert_eq!(
        last_result(&bench).2,
        json!({"oldTodos": list, "newTodos": []})
    );
}

#[test]
fn tool_10_a_rule_that_denies_or_asks_holds_for_core_tools_too() {
    let mut spec = offering([CoreTool::TodoWrite]);
    spec.policy.permissions.rules.ask = rules(&["TodoWrite"]);
    let bench = calling(spec, "TodoWrite", json!({"todos": []}));
    assert_eq!(bench.question().1.tool_name, "TodoWrite");

    let mut spec = offering([CoreTool::TodoWrite]);
    spec.policy.permissions.rules.deny = rules(&["TodoWrite"]);
    let bench = calling(spec, "TodoWrite", json!({"todos": []}));
    assert!(last_result(&bench).1);
    let names = &bench.lines()[0]["tools"];
    assert_eq!(names, &json!(["Bash", "Change"]));
}

fn question(text: &str, labels: &[&str]) -> Value {
    let options: Vec<Value> = (labels.iter())
        .map(|label| json!({"label": label, "description": "why"}))
        .collect();
    json!({"question": text, "header": "Pick", "options": options, "multiSelect": false})
}

#[test]
fn tool_11_questions_reach_the_person_and_the_answers_the_model() {
    let questions = json!([
        question("Which?", &["A", "B"]),
        question("How?", &["Fast", "Well"])
    ]);
    let input = json!({"questions": questions});
    let mut bench = calling(
        offering([CoreTool::AskUserQuestion]),
        "AskUserQuestion",
        input,
    );
    let (_, asked) = bench.question();
    assert_eq!(asked.tool_name, "AskUserQuestion");
    assert_eq!(asked.suggestions, [], "no rule could answer");
    let answers = json!({"Which?": "A, B", "How?": "in my own words"});
    approve_with(
        &mut bench,
        &json!({"questions": questions, "answers": answers}),
    );
    let (text, is_error, output) = last_result(&bench);
    assert!(!is_error);
    assert!(text.contains("Which? A, B"), "{text}");
    assert!(text.contains("How? in my own words"), "{text}");
    assert_eq!(output, json!({"questions": questions, "answers": answers}));
}

#[test]
fn tool_26_several_choices_are_joined_by_commas_and_what_nobody_answered_is_said() {
    let questions = json!([
        question("Which?", &["A", "B"]),
        question("How?", &["C", "D"])
    ]);
    let input = json!({"questions": questions});
    let ask = || {
        calling(
            offering([CoreTool::AskUserQuestion]),
            "AskUserQuestion",
            input.clone(),
        )
    };

    let mut bench = ask();
    let several = json!({"questions": questions, "answers": {"Which?": ["A", "B"]}});
    approve_with(&mut bench, &several);
    let (text, _, output) = last_result(&bench);
    assert_eq!(output["answers"], json!({"Which?": "A, B"}));
    assert!(text.contains("How? (no answer)"), "{text}");

    let mut bench = ask();
    bench.decide(PermissionResponse::allow());
    let (text, is_error, output) = last_result(&bench);
    assert!(!is_error && text.contains("nobody answered"), "{text}");
    assert_eq!(output["answers"], json!({}));

    let mut bench = ask();
    bench.decide(PermissionResponse::deny("later"));
    assert_eq!(last_result(&bench).0, "later");
}

#[test]
fn tool_26_what_the_model_answers_itself_is_dropped_before_anybody_sees_it() {
    let questions = json!([question("Delete all?", &["No", "Yes"])]);
    let input = json!({"questions": questions, "answers": {"Delete all?": "Yes"}});
    let mut bench = calling(
        offering([CoreTool::AskUserQuestion]),
        "AskUserQuestion",
        input,
    );
    assert_eq!(
        bench.question().1.input,
        raw(&json!({"questions": questions}))
    );
    bench.decide(PermissionResponse::allow());
    assert_eq!(last_result(&bench).2["answers"], json!({}));
}

#[test]
fn tool_26_questions_and_choices_are_bounded_and_differ() {
    let two = ["A", "B"];
    let many = ["1", "2", "3", "4", "5"];
    let mut long = question("Long?", &two);
    long["header"] = json!("thirteen char");
    let mut kindless = question("Kindless?", &two);
    kindless.as_object_mut().unwrap().remove("multiSelect");
    for (questions, named) in [
        (json!([]), "at least 1"),
        (many.map(|n| question(n, &two)).into(), "at most 4"),
        (json!([long]), "at most 12"),
        (json!([question("Few?", &["A"])]), "at least 2"),
        (json!([question("Many?", &many)]), "at most 4"),
        (json!([kindless]), "multiSelect"),
        (
            json!([question("Same?", &["A", " A"])]),
            "offers ` A` twice",
        ),
        (
            json!([question("Q?", &two), question("Q?", &two)]),
            "asked twice",
        ),
    ] {
        let input = json!({"questions": questions});
        let bench = calling(
            offering([CoreTool::AskUserQuestion]),
            "AskUserQuestion",
            input,
        );
        let (text, is_error, _) = last_result(&bench);
        assert!(is_error && text.contains(named), "{named}: {text}");
    }
}

#[test]
fn tool_11_no_mode_and_no_rule_answers_for_a_person() {
    let input = json!({"questions": [question("Which?", &["A", "B"])]});
    for mode in [
        Mode::Default,
        Mode::AcceptEdits,
        Mode::Plan,
        Mode::BypassPermissions,
    ] {
        let mut spec = offering([CoreTool::AskUserQuestion]);
        spec.policy.permissions.mode = mode;
        spec.policy.permissions.rules.allow = rules(&["AskUserQuestion"]);
        let bench = calling(spec.clone(), "AskUserQuestion", input.clone());
        assert_eq!(bench.question().1.tool_name, "AskUserQuestion", "{mode:?}");

        spec.policy.permissions.can_ask = false;
        let bench = calling(spec, "AskUserQuestion", input.clone());
        let (text, is_error, _) = last_result(&bench);
        assert!(
            is_error && text.contains("Nobody can be asked"),
            "{mode:?}: {text}"
        );
    }
    let mut spec = offering([CoreTool::AskUserQuestion]);
    spec.policy.permissions.mode = Mode::DontAsk;
    let mut bench = calling(spec, "AskUserQuestion", input);
    assert!(last_result(&bench).1);
    bench.says("So be it.");
    assert_eq!(bench.result().permission_denials.len(), 1);
}

/// A session in plan mode, entered from `before`, in which a plan is presented.
fn planning(before: Mode, input: Value) -> Bench {
    let mut spec = offering([CoreTool::ExitPlanMode]);
    spec.policy.permissions.mode = before;
    spec.tools
        .definitions
        .push(file_tool("Edit", windlass_core::tool::Access::Write));
    let mut bench = Bench::new(spec);
    bench.input(Input::SetMode(Mode::Plan));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        json!({"type": "text", "text": "First A, then B."}),
        tool_use("t1", "ExitPlanMode", input),
    ]));
    bench
}

#[test]
fn tool_12_an_approved_plan_leaves_plan_mode_for_the_mode_before() {
    for before in [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions] {
        let mut bench = planning(before, json!({}));
        let (_, asked) = bench.question();
        let shown: Value = asked.input.decode().unwrap();
        assert_eq!(
            shown["plan"], "First A, then B.",
            "the person sees the plan"
        );
        bench.decide(PermissionResponse::allow());
        assert_eq!(bench.session.mode(), before);
        let status = bench.lines_of("system").pop().unwrap();
        assert_eq!(status["subtype"], "status");
        assert_eq!(status["permissionMode"], before.name());
        let (text, is_error, output) = last_result(&bench);
        assert!(!is_error && text.contains("approved"), "{text}");
        assert_eq!(
            output,
            json!({"plan": "First A, then B.", "isAgent": false})
        );
    }
}

#[test]
fn tool_12_a_plan_that_is_not_approved_stays_in_plan_mode() {
    let mut bench = planning(Mode::AcceptEdits, json!({}));
    bench.decide(PermissionResponse::deny("B first."));
    assert_eq!(bench.session.mode(), Mode::Plan);
    assert_eq!(last_result(&bench).0, "B first.");
    bench.reply(&Reply::call("t2", "Edit", json!({"file_path": "/work/a"})));
    bench.resolve();
    let (text, is_error, _) = last_result(&bench);
    assert!(is_error && text.contains("plan mode"), "{text}");
}

#[test]
fn tool_12_the_mode_before_survives_a_snapshot_and_outside_plan_mode_there_is_nothing_to_leave() {
    let mut bench = planning(Mode::AcceptEdits, json!({}));
    let mut spec = offering([CoreTool::ExitPlanMode]);
    spec.policy.permissions.mode = Mode::AcceptEdits;
    put_away_and_taken_up(&mut bench, spec);
    bench.decide(PermissionResponse::allow());
    assert_eq!(bench.session.mode(), Mode::AcceptEdits);
    bench.reply(&Reply::call("t2", "ExitPlanMode", json!({})));
    let (text, is_error, _) = last_result(&bench);
    assert!(is_error && text.contains("not plan mode"), "{text}");
    assert!(
        bench
            .pending_stages()
            .iter()
            .all(|stage| *stage != windlass_core::effect::Stage::Ask)
    );
}

#[test]
fn tool_12_a_session_that_begins_in_plan_mode_goes_on_in_the_usual_one() {
    let mut spec = offering([CoreTool::ExitPlanMode]);
    spec.policy.permissions.mode = Mode::Plan;
    let mut bench = calling(spec, "ExitPlanMode", json!({}));
    bench.decide(PermissionResponse::allow());
    assert_eq!(bench.session.mode(), Mode::Default);
    assert_eq!(last_result(&bench).2["plan"], Value::Null, "it wrote none");
}

#[test]
fn tool_27_commands_approved_with_a_plan_run_unasked_and_nothing_beyond_them() {
    let prompts = json!([
        {"tool": "Bash", "prompt": "npm test"},
        {"tool": "Bash", "prompt": "cargo build:*"},
        {"tool": "Bash", "prompt": "run the linter"},
        {"tool": "Bash", "prompt": "*"},
    ]);
    let mut bench = planning(Mode::Default, json!({"allowedPrompts": prompts}));
    bench.decide(PermissionResponse::allow());
    let (text, _, _) = last_result(&bench);
    assert!(text.contains("Bash(npm test)"), "{text}");
    assert!(text.contains("Bash(*): too wide"), "{text}");
    for (index, (command, runs)) in [
        ("npm test", true),
        ("cargo build --release", true),
        ("npm test && rm -rf /", false),
        ("eslint .", false),
        ("cargo run", false),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("c{index}");
        bench.reply(&Reply::call(&id, "Bash", json!({"command": command})));
        if bench.pending_stages() == [Stage::Resolve] {
            bench.resolve(); // the files that the command shows
        }
        if runs {
            bench.finish(&id, "ok");
        } else {
            assert_eq!(bench.question().1.tool_name, "Bash", "{command}");
            bench.decide(PermissionResponse::deny("no"));
        }
    }
}

#[test]
fn tool_27_the_plan_that_counts_is_the_one_that_was_approved() {
    let mut bench = planning(Mode::Default, json!({}));
    approve_with(&mut bench, &json!({"plan": "Only A."}));
    let (text, _, output) = last_result(&bench);
    assert!(text.contains("Only A."), "{text}");
    assert_eq!(output["plan"], "Only A.");
    assert_eq!(bench.session.mode(), Mode::Default);

    let older = json!({"plan": "Written into the call."});
    let mut bench = planning(Mode::Default, older);
    bench.decide(PermissionResponse::allow());
    assert_eq!(last_result(&bench).2["plan"], "Written into the call.");
}

#[test]
fn tool_15_config_reads_and_changes_what_the_next_request_is_made_of() {
    let mut spec = offering([CoreTool::Config]);
    spec.model.effort = Some(Effort::Low);
    spec.model.thinking = Thinking::Disabled;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let mut config = |setting: &str, value: Option<Value>| {
        let mut input = json!({"setting": setting});
        let set = value.is_some();
        if let Some(value) = value {
            input["value"] = value;
        }
        bench.reply(&Reply::call("c", "Config", input));
        if set {
            bench.decide(PermissionResponse::allow());
        }
        (last_result(&bench), bench.body())
    };

    let ((text, _, output), _) = config("effort", None);
    assert_eq!(text, "effort is \"low\".");
    assert_eq!(
        output,
        json!({"success": true, "operation": "get", "setting": "effort", "value": "low"})
    );
    let ((_, _, output), body) = config("effort", Some(json!("max")));
    assert_eq!(
        output,
        json!({"success": true, "operation": "set", "setting": "effort", "previousValue": "low", "newValue": "max"})
    );
    assert_eq!(body["output_config"]["effort"], "max");
    assert_eq!(
        config("effort", Some(json!("default"))).1["output_config"]["effort"],
        "low"
    );

    let ((_, _, output), body) = config("thinking", Some(json!(2000)));
    assert_eq!(
        (&output["previousValue"], &output["newValue"]),
        (&json!("disabled"), &json!(2000))
    );
    assert_eq!(
        body["thinking"],
        json!({"type": "enabled", "budget_tokens": 2000})
    );
    assert_eq!(
        config("thinking", Some(json!(true))).1["thinking"]["type"],
        "adaptive"
    );

    let ((_, _, output), body) = config("model", Some(json!("claude-opus-4-6")));
    assert_eq!(output["previousValue"], "claude-sonnet-4-6");
    assert_eq!(body["model"], "claude-opus-4-6");
    assert_eq!(
        config("model", Some(json!("default"))).1["model"],
        "claude-sonnet-4-6"
    );
}

#[test]
fn tool_28_config_tells_what_it_cannot_do() {
    let mut bench = Bench::new(offering([CoreTool::Config]));
    bench.prompt("go");
    for (setting, value, named) in [
        ("colour", None, "There is no setting `colour`"),
        ("effort", Some(json!("enormous")), "low, medium, high"),
        ("thinking", Some(json!("deep")), "adaptive"),
        ("thinking", Some(json!(-5)), "adaptive"),
        ("model", Some(json!(7)), "name of a model"),
        ("outputStyle", Some(json!("loud")), "only be read"),
        (
            "permissionMode",
            Some(json!("bypassPermissions")),
            "only be changed to plan",
        ),
    ] {
        let mut input = json!({"setting": setting});
        let asks = value.is_some();
        if let Some(value) = value {
            input["value"] = value;
        }
        bench.reply(&Reply::call("c", "Config", input));
        if asks {
            bench.decide(PermissionResponse::allow());
        }
        let (text, is_error, output) = last_result(&bench);
        assert!(is_error && text.contains(named), "{setting}: {text}");
        assert_eq!(output["success"], false);
        assert_eq!(output["error"], text.as_str());
    }
}

#[test]
fn tool_15_reading_is_free_changing_is_judged_and_what_was_changed_survives_a_snapshot() {
    let spec = || {
        let mut spec = offering([CoreTool::Config]);
        spec.policy.permissions.can_ask = false;
        spec
    };
    let mut bench = calling(spec(), "Config", json!({"setting": "permissionMode"}));
    assert_eq!(last_result(&bench).2["value"], "default");
    bench.reply(&Reply::call(
        "t2",
        "Config",
        json!({"setting": "effort", "value": "max"}),
    ));
    assert!(last_result(&bench).1, "nobody allowed it");

    let allowing = || {
        let mut spec = spec();
        spec.policy.permissions.rules.allow = rules(&["Config"]);
        spec
    };
    let change = json!({"setting": "effort", "value": "max"});
    let mut bench = calling(allowing(), "Config", change);
    bench.says("done");
    put_away_and_taken_up(&mut bench, allowing());
    bench.prompt("more");
    assert_eq!(bench.body()["output_config"]["effort"], "max");
    bench.reply(&Reply::call(
        "t3",
        "Config",
        json!({"setting": "permissionMode", "value": "plan"}),
    ));
    assert_eq!(bench.session.mode(), Mode::Plan);
}

#[test]
fn api_12_the_input_of_a_programs_own_tool_is_checked_before_it_runs() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let mut weather = tool("mcp__home__weather");
    weather.input_schema = raw(&schema);
    let mut bench = Bench::new(spec_with(vec![weather]));
    bench.prompt("go");
    for (input, named) in [
        (json!({}), "`city`"),
        (json!({"city": 7}), "string"),
        (json!({"city": "Ulm", "days": 9}), "at most 7"),
        (json!({"city": "Ulm", "wind": true}), "wind"),
    ] {
        bench.reply(&Reply::call("w", "mcp__home__weather", input));
        let (text, is_error, _) = last_result(&bench);
        assert!(is_error && text.contains(named), "{text}");
    }
    bench.reply(&Reply::call(
        "ok",
        "mcp__home__weather",
        json!({"city": "Ulm", "days": 7}),
    ));
    bench.finish("ok", "sunny");
}

#[test]
fn a_program_with_a_tool_of_the_same_name_keeps_its_own() {
    let mut spec = spec_with(vec![tool("TodoWrite")]);
    spec.offer(CoreTool::ALL);
    let mut bench = calling(spec, "TodoWrite", json!({"anything": 1}));
    bench.finish("t1", "mine");
    assert_eq!(last_result(&bench).0, "mine");
}
