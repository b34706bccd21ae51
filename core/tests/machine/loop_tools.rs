//! Tool calls: in which order they run, and what becomes of those that cannot.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::{
    Input, Output, Seeded, Spec,
    effect::{Answer, Effect, PermissionResponse, ResolvedPath, Stage},
    tool::{Access, Observation, ResultBlock, ToolResult},
};

use crate::harness::{
    Bench, CWD, Reply, asking_spec, bash, file_tool, raw, rules, spec_with, tool, tool_use,
};

/// The result of the only call of a response, as the model reads it.
fn result_of(spec: Spec, call: &Value) -> (String, bool) {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(std::slice::from_ref(call)));
    assert!(bench.calls().is_empty(), "it does not run");
    let result = bench.body()["messages"][2]["content"][0].clone();
    bench.says("I see.");
    assert!(!bench.result().is_error, "the loop goes on");
    (
        result["content"].as_str().unwrap().to_owned(),
        result["is_error"] == true,
    )
}

#[test]
fn loop_14_a_tool_that_fails_answers_with_an_error_and_the_loop_goes_on() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    let (id, _) = bench.call("a");
    bench.answer(id, Answer::Tool(ToolResult::error("the pen is empty")));
    let result = bench.body()["messages"][2]["content"][0].clone();
    assert_eq!(result["tool_use_id"], "a");
    assert_eq!(result["content"], "the pen is empty");
    assert_eq!(result["is_error"], true);
    bench.says("Oh.");
    assert!(!bench.result().is_error);
}

#[test]
fn loop_14_an_unknown_tool_is_an_error_that_names_the_tools() {
    let call = tool_use("a", "Noet", json!({}));
    let mut spec = spec_with(vec![tool("Note"), tool("Look"), tool("Locked")]);
    spec.policy.permissions.rules.deny = rules(&["Locked"]);
    let (text, is_error) = result_of(spec, &call);
    assert!(is_error);
    assert!(
        text.contains("Noet") && text.contains("Note, Look"),
        "{text}"
    );
    assert!(!text.contains("Locked"));
}

#[test]
fn loop_14_an_input_that_is_no_json_or_not_of_the_schema_is_an_error_that_says_why() {
    let cases = [
        (json!("{\"command\": "), "not a JSON object"),
        (json!("[1, 2]"), "not a JSON object"),
        (json!({}), "lacks the required field `command`"),
        (json!({"command": 7}), "`command` must be of type string"),
        (
            json!("{\"command\":\"ls\",\"command\":\"rm -rf /\"}"),
            "the field `command` twice",
        ),
        (
            json!("{\"command\":\"ls\",\"comm\\u0061nd\":\"rm -rf /\"}"),
            "the field `command` twice",
        ),
    ];
    for (input, words) in cases {
        let call = tool_use("a", "Bash", input);
        let (text, is_error) = result_of(spec_with(vec![bash()]), &call);
        assert!(is_error);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn loop_14_an_input_that_not_every_reader_takes_is_no_part_of_later_requests() {
    let deep = format!(r#"{{"command":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    for input in [r#"{"command":"\ud83d"}"#, r#"{"command":1e999}"#, &deep] {
        let mut bench = Bench::new(spec_with(vec![bash()]));
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Bash", json!(input)));
        assert!(bench.calls().is_empty(), "{input}");
        // The next request is JSON, for our reader too.
        let messages = bench.body()["messages"].clone();
        assert_eq!(messages[1]["content"][0]["input"], json!({}), "{input}");
        let text = messages[2]["content"][0]["content"].as_str().unwrap();
        assert!(text.contains("not a JSON object"), "{text}");
    }
}

#[test]
fn loop_14_an_input_that_the_output_limit_cut_is_not_run() {
    for input in [json!("{\"command\": \"rm -rf /tmp/x"), json!("")] {
        let mut bench = Bench::new(spec_with(vec![bash(), tool("Clear")]));
        bench.prompt("go");
        for (round, name) in ["Bash", "Clear"].into_iter().enumerate() {
            let blocks = [tool_use(&format!("t{round}"), name, input.clone())];
            bench.reply(&Reply::stopped(&blocks, "max_tokens"));
            assert!(bench.calls().is_empty(), "{name} {input}");
            let messages = bench.body()["messages"].clone();
            let last = messages.as_array().unwrap().last().unwrap();
            let text = last["content"][0]["content"].as_str().unwrap();
            assert!(text.contains("cut off by the output limit"), "{text}");
            let call = &messages[messages.as_array().unwrap().len() - 2]["content"][0];
            assert_eq!(call["input"], json!({}), "no half input in the history");
        }
    }
}

#[test]
fn loop_14_a_tool_without_arguments_runs_without_arguments() {
    let mut bench = Bench::new(spec_with(vec![tool("Clear")]));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Clear", json!("")));
    assert_eq!(bench.call("a").1.input.get(), "{}");
}

#[test]
fn loop_14_a_call_that_the_host_drops_is_an_error() {
    let mut bench = Bench::new(asking_spec(vec![file_tool("Read", Access::Read)]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Read", json!({"file_path": "a"})),
        tool_use("b", "Read", json!({"file_path": "b"})),
        tool_use("c", "Read", json!({"file_path": "c"})),
    ]));
    let (resolving, _) = bench.of(Stage::Resolve);
    bench.answer(resolving, Answer::Cancelled);
    bench.resolve();
    bench.resolve();
    let (asking, _) = bench.question();
    bench.answer(asking, Answer::Cancelled);
    bench.decide(PermissionResponse::allow());
    let (running, _) = bench.call("c");
    bench.answer(running, Answer::Cancelled);
    let results = bench.body()["messages"][2]["content"].clone();
    assert_eq!(results.as_array().unwrap().len(), 3);
    for result in results.as_array().unwrap() {
        assert_eq!(result["is_error"], true);
    }
}

#[test]
fn loop_14_a_path_that_cannot_be_resolved_is_an_error() {
    for (answer, words) in [
        (
            Answer::Resolved(vec![Err("no such disk".into())]),
            "no such disk",
        ),
        (Answer::Resolved(vec![]), "another number of paths"),
        (
            Answer::Resolved(vec![Ok(ResolvedPath::at("/work/../etc/passwd"))]),
            "not a real path",
        ),
    ] {
        let mut bench = Bench::new(spec_with(vec![file_tool("Read", Access::Read)]));
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Read", json!({"file_path": "x"})));
        let (id, _) = bench.of(Stage::Resolve);
        bench.answer(id, answer);
        let text = bench.body()["messages"][2]["content"][0]["content"].to_string();
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn loop_14_a_result_without_words_is_still_one_that_the_api_takes() {
    let empty = || ResultBlock::Text { text: " ".into() };
    let image = || ResultBlock::image("image/png", "aGk=".into());
    let cases = [
        (ToolResult::default(), json!("")),
        (
            ToolResult::error(""),
            json!("The tool failed without saying why."),
        ),
        (
            ToolResult {
                content: vec![empty(), image(), empty()],
                ..ToolResult::default()
            },
            json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]),
        ),
    ];
    for (result, expected) in cases {
        let mut bench = Bench::new(spec_with(vec![tool("Note")]));
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Note", json!({})));
        let (id, _) = bench.call("a");
        bench.answer(id, Answer::Tool(result));
        let block = bench.body()["messages"][2]["content"][0].clone();
        assert_eq!(block["content"], expected);
    }
}

#[test]
fn loop_15_reading_calls_run_beside_each_other_and_others_alone() {
    let mut bench = Bench::new(spec_with(vec![tool("Look").read_only(), tool("Note")]));
    bench.prompt("go");
    let names = ["Look", "Look", "Note", "Note", "Look", "Look", "Note"];
    let blocks: Vec<Value> = (names.iter().zip('a'..))
        .map(|(name, id)| tool_use(&id.to_string(), name, json!({})))
        .collect();
    bench.reply(&Reply::message(&blocks));
    let running = |bench: &Bench| -> String {
        let calls = bench.calls();
        calls.iter().map(|(_, c)| c.tool_use_id.as_str()).collect()
    };
    assert_eq!(running(&bench), "ab");
    bench.finish("b", "b");
    assert_eq!(running(&bench), "a");
    bench.finish("a", "a");
    assert_eq!(running(&bench), "c");
    bench.finish("c", "c");
    assert_eq!(running(&bench), "d");
    bench.finish("d", "d");
    assert_eq!(running(&bench), "ef");
    bench.finish("e", "e");
    bench.finish("f", "f");
    assert_eq!(running(&bench), "g");
    bench.finish("g", "g");
    let results = bench.body()["messages"][2]["content"].clone();
    for (i, id) in ('a'..='g').enumerate() {
        assert_eq!(results[i]["tool_use_id"], id.to_string());
        assert_eq!(results[i]["content"], id.to_string());
    }
}

#[test]
fn loop_15_a_question_about_one_reading_call_does_not_hold_up_the_next() {
    let mut spec = asking_spec(vec![tool("Look").read_only(), tool("Peek").read_only()]);
    spec.policy.permissions.rules.allow = rules(&["Peek"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Look", json!({})),
        tool_use("b", "Peek", json!({})),
    ]));
    assert_eq!(bench.pending_stages(), [Stage::Ask, Stage::Run]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Whatever the mix of tools and the order of answers: a call that changes something never runs beside
    /// another one, and the request has the results in the order of the calls.
    #[test]
    fn loop_15_holds_for_any_mix_of_tools_and_any_order_of_answers(
        kinds in prop::collection::vec(0..3u8, 1..12),
        seed in any::<[u8; 32]>(),
    ) {
        let mut dice = Seeded::new(seed);
        let mut bench = Bench::new(spec_with(vec![
            tool("Look").read_only(),
            tool("Note"),
            file_tool("Read", Access::Read),
        ]));
        bench.prompt("go");
        let blocks: Vec<Value> = (kinds.iter().enumerate())
            .map(|(i, kind)| {
                let name = ["Look", "Note", "Read"][usize::from(*kind)];
                tool_use(&format!("t{i}"), name, json!({"file_path": "x"}))
            })
            .collect();
        bench.reply(&Reply::message(&blocks));
        let changes = |call: u32| kinds[call as usize - 1] == 1;
        while !bench.pending.iter().any(|(id, _)| id.stage == Stage::Model) {
            let active: Vec<u32> = bench.pending.iter().map(|(id, _)| id.call).collect();
            prop_assert!(!active.is_empty());
            prop_assert!(
                active.len() == 1 || !active.iter().any(|call| changes(*call)),
                "{active:?} of {kinds:?} at once"
            );
            let index = dice.below(active.len() as u64) as usize;
            bench.pending.rotate_left(index);
            match bench.pending[0].1.clone() {
                Effect::Resolve(_) => bench.resolve(),
                Effect::CallTool(call) => bench.finish(&call.tool_use_id, &call.tool_use_id),
                other => panic!("{other:?}"),
            }
        }
        let results = bench.body()["messages"][2]["content"].clone();
        for i in 0..kinds.len() {
            prop_assert_eq!(&results[i]["tool_use_id"], &format!("t{i}"));
            prop_assert_eq!(&results[i]["content"], &format!("t{i}"));
        }
    }
}

#[test]
fn calls_of_one_id_are_told_apart() {
    let mut bench = Bench::new(spec_with(vec![tool("Look").read_only()]));
    bench.prompt("go");
    // Some servers count anew in every response.
    for _ in 0..2 {
        bench.reply(&Reply::message(&[
            tool_use("call_0", "Look", json!({"n": 1})),
            tool_use("call_0", "Look", json!({"n": 2})),
            tool_use("", "Look", json!({"n": 3})),
        ]));
        for (id, call) in bench.calls() {
            bench.answer(id, Answer::Tool(ToolResult::text(call.input.get())));
        }
    }
    let messages = bench.body()["messages"].clone();
    let mut ids = std::collections::BTreeSet::new();
    for round in [1, 3] {
        for i in 0..3 {
            let call = &messages[round]["content"][i];
            let result = &messages[round + 1]["content"][i];
            assert_eq!(call["id"], result["tool_use_id"]);
            assert_eq!(result["content"], call["input"].to_string());
            assert!(ids.insert(call["id"].to_string()));
        }
    }
    // The application is told the same ids.
    let told = bench.lines_of("assistant");
    assert_eq!(told[1]["message"]["content"], messages[3]["content"]);
}

#[test]
fn what_a_call_saw_is_handed_to_later_calls_on_the_same_file() {
    let mut spec = spec_with(vec![
        file_tool("Read", Access::Read),
        file_tool("Edit", Access::Write),
    ]);
    spec.environment.cwd = CWD.into();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Read", json!({"file_path": "x"})));
    bench.resolve();
    let (id, call) = bench.call("a");
    assert!(call.observed.is_empty());
    let seen = Observation {
        path: format!("{CWD}/x"),
        digest: "sha256:00".into(),
        whole: true,
    };
    bench.answer(
        id,
        Answer::Tool(ToolResult {
            observed: vec![seen.clone()],
            ..ToolResult::text("text")
        }),
    );
    bench.reply(&Reply::message(&[
        tool_use("b", "Edit", json!({"file_path": "x"})),
        tool_use("c", "Edit", json!({"file_path": "y"})),
    ]));
    bench.resolve();
    assert_eq!(bench.call("b").1.observed, [seen]);
    bench.finish("b", "done");
    bench.resolve();
    assert!(bench.call("c").1.observed.is_empty());
}

#[test]
fn what_the_host_says_was_seen_counts_like_a_reading() {
    let mut spec = spec_with(vec![file_tool("Edit", Access::Write)]);
    spec.environment.cwd = CWD.into();
    let mut bench = Bench::new(spec);
    let seen = Observation {
        path: format!("{CWD}/x"),
        digest: "sha256:00".into(),
        whole: true,
    };
    bench.input(Input::Seen(seen.clone()));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Edit", json!({"file_path": "x"})));
    bench.resolve();
    assert_eq!(bench.call("a").1.observed, [seen]);
}

#[test]
fn a_call_is_granted_what_it_names_and_deny_rules_go_with_it() {
    let mut spec = spec_with(vec![file_tool("Read", Access::Read), tool("Note")]);
    spec.environment.cwd = "/work/[id]".into();
    spec.policy.permissions.rules.deny = rules(&["Read(.env)", "Edit(./generated/**)"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Read", json!({"file_path": "/elsewhere/x"})),
        tool_use("b", "Note", json!({})),
    ]));
    bench.resolve();
    let grant = bench.call("a").1.grant;
    assert_eq!(grant.cwd, "/work/[id]");
    assert_eq!(grant.roots.len(), 1);
    assert_eq!(grant.roots[0].path, "/elsewhere/x");
    assert_eq!(grant.roots[0].access, Access::Read);
    let patterns: Vec<(&str, Access)> = (grant.deny.iter())
        .map(|deny| (deny.pattern.as_str(), deny.access))
        .collect();
    assert_eq!(
        patterns,
        [
            ("/work/\\[id\\]/**/.env", Access::Read),
            ("/work/\\[id\\]/generated/**", Access::Write)
        ]
    );
    bench.finish("a", "x");
    assert!(bench.call("b").1.grant.roots.is_empty(), "no path, no file");
}

#[test]
fn an_input_that_was_replaced_by_something_else_than_an_object_is_not_run() {
    let mut bench = Bench::new(asking_spec(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.decide(PermissionResponse::Allow {
        updated_input: Some(raw(&json!("text"))),
        updated_permissions: vec![],
    });
    assert!(bench.calls().is_empty());
    assert_eq!(bench.body()["messages"][2]["content"][0]["is_error"], true);
}

#[test]
fn an_answer_of_the_wrong_kind_is_refused_and_changes_nothing() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    let (model, _) = bench.asked();
    let before = format!("{:?}", bench.session);
    let wrong = [
        Input::Answer(model, Answer::Tool(ToolResult::text("x"))),
        Input::Answer(model, Answer::Persisted),
    ];
    for input in wrong {
        assert!(bench.session.handle(bench.now, input).is_err());
        assert_eq!(format!("{:?}", bench.session), before);
    }
    bench.says("Hi.");
    let again = Input::Answer(model, Answer::HttpEnd);
    assert!(bench.session.handle(bench.now, again).is_err());
    assert_eq!(bench.session.poll(), None::<Output>);
}

#[test]
fn tool_30_results_of_handlers_reach_the_model_and_both_spellings_of_annotations_count() {
    let annotated = |name: &str, annotations: serde_json::Value| {
        let mut tool = tool(name);
        tool.annotations = raw(&annotations).decode().unwrap();
        tool
    };
    let mut bench = Bench::new(spec_with(vec![
        annotated("A", json!({"readOnly": true})),
        annotated("B", json!({"readOnlyHint": true})),
        annotated("C", json!({"destructiveHint": true, "readOnlyHint": false})),
    ]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "A", json!({})),
        tool_use("b", "B", json!({})),
        tool_use("c", "C", json!({})),
    ]));
    let running = |bench: &Bench| -> Vec<String> {
        (bench.calls().into_iter())
            .map(|(_, call)| call.tool_use_id)
            .collect()
    };
    assert_eq!(
        running(&bench),
        ["a", "b"],
        "both only read; the third waits"
    );
    let mut give = |id: &str, result: serde_json::Value| {
        let (effect, _) = bench.call(id);
        let result = ToolResult::from_mcp(&raw(&result)).unwrap();
        bench.answer(effect, Answer::Tool(result));
    };
    let resource = json!({"uri": "file:///a.txt", "mimeType": "text/plain", "text": "in the file"});
    give(
        "a",
        json!({"content": [
            {"type": "text", "text": "words"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "resource", "resource": resource},
        ]}),
    );
    give(
        "b",
        json!({"content": [{"type": "text", "text": "it broke"}], "isError": true}),
    );
    give(
        "c",
        json!({"content": [{"type": "text", "text": "so did this"}], "is_error": true}),
    );
    let body = bench.body();
    let results = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let content = results[0]["content"].as_array().unwrap();
    assert_eq!(content[0], json!({"type": "text", "text": "words"}));
    assert_eq!(
        content[1],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}})
    );
    assert!(
        content[2]["text"].as_str().unwrap().contains("in the file"),
        "{results}"
    );
    assert_ne!(results[0]["is_error"], true);
    for (at, text) in [(1, "it broke"), (2, "so did this")] {
        assert_eq!(results[at]["is_error"], true, "{results}");
        assert!(
            results[at]["content"].to_string().contains(text),
            "{results}"
        );
    }
    bench.says("Done.");
    assert_eq!(bench.result().num_turns, 2);
}
