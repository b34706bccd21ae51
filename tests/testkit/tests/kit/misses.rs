//! Expectations, and how a miss reads.

use serde_json::{Value, json};

use super::{after_call, body, hello, post, request, status};
use windlass_testkit::{RequestView, Script, ScriptedModel};

fn model(script: &Value) -> ScriptedModel {
    ScriptedModel::new(Script::parse(&script.to_string()).expect("a script"))
}

/// Whether a request meets an expectation.
fn meets(expect: &Value, body: &str) -> bool {
    let mut model = model(&json!({"exchanges": [{"expect": expect, "respond": "ok"}]}));
    let met = status(&post(&mut model, body)) == 200;
    assert_eq!(met, model.misses().is_empty());
    assert_eq!(met, model.verify().is_ok());
    met
}

#[test]
fn every_expectation_can_hold_and_can_fail() {
    let body = json!({
        "model": "m-1", "max_tokens": 10, "stream": true,
        "system": [{"type": "text", "text": "You are kind.", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "Read"}, {"name": "Edit", "cache_control": {"type": "ephemeral"}}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "Read", "input": {"cache_control": 1}},
                {"type": "tool_use", "id": "b", "name": "Read", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "one"},
                {"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [
                    {"type": "text", "text": "two", "cache_control": {"type": "ephemeral"}}
                ]},
                {"type": "text", "text": "three"}
            ]}
        ]
    })
    .to_string();
    let pairs = [
        (json!({"model": "m-1"}), json!({"model": "m-2"})),
        (json!({"stream": true}), json!({"stream": false})),
        (json!({"messages": 3}), json!({"messages": 2})),
        (json!({"max_messages": 3}), json!({"max_messages": 2})),
        (
            json!({"last_user_contains": ["one", "two", "three"]}),
            json!({"last_user_contains": "Hello"}),
        ),
        (
            json!({"messages_contain": ["Hello", "three"]}),
            json!({"messages_contain": "four"}),
        ),
        (
            json!({"tool_results": [{"id": "a", "contains": "one", "is_error": false}, {"id": "b", "is_error": true}]}),
            json!({"tool_results": [{"id": "a", "contains": "two"}]}),
        ),
        (
            json!({"tool_results": [{"contains": "two"}]}),
            json!({"tool_results": [{"id": "c"}]}),
        ),
        (
            json!({"system_contains": "kind"}),
            json!({"system_contains": "rude"}),
        ),
        (
            json!({"tools_include": ["Read", "Edit"], "tools_exclude": "Bash"}),
            json!({"tools_include": "Bash"}),
        ),
        (
            json!({"tools_exclude": ["Bash"]}),
            json!({"tools_exclude": ["Read"]}),
        ),
        (
            json!({"headers": {"x-api-key": "k", "X-API-KEY": true, "authorization": false}}),
            json!({"headers": {"x-api-key": "other"}}),
        ),
        (
            json!({"headers": {"x-api-key": true}}),
            json!({"headers": {"anthropic-beta": true}}),
        ),
        // The field of that name in the tool's input is no mark.
        (json!({"cache_marks": 3}), json!({"cache_marks": 4})),
        (
            json!({"fields": {"/thinking": {"budget_tokens": 1024, "type": "enabled"}}}),
            json!({"fields": {"/thinking/budget_tokens": 2048}}),
        ),
        (
            json!({"absent": "/temperature"}),
            json!({"absent": ["/model"]}),
        ),
        (
            json!({"path": "/v1/messages"}),
            json!({"path": "/v1/messages/count_tokens"}),
        ),
    ];
    for (holds, fails) in pairs {
        assert!(meets(&holds, &body), "{holds}");
        assert!(!meets(&fails, &body), "{fails}");
    }
}

#[test]
fn a_miss_shows_the_difference_and_uses_nothing_up() {
    let mut model = model(&json!({"exchanges": [{
        "name": "reports",
        "expect": {
            "messages": 3,
            "tool_results": [{"id": "t1", "contains": "2 passed"}],
            "headers": {"authorization": true}
        },
        "respond": "Done."
    }]}));
    let answer = post(&mut model, &after_call("t1", "1 failed", true));
    assert_eq!(status(&answer), 400);
    let error: Value = serde_json::from_slice(&body(&answer)).expect("JSON");
    let report = concat!(
        "scripted model: request 1 is not exchange 1 (reports)\n",
        "  header authorization\n",
        "    - expected present\n",
        "    + found    absent\n",
        "  tool result\n",
        "    - expected for t1, contains \"2 passed\"\n",
        "    + found    for t1, is_error true: \"1 failed\"\n",
        "  as expected: path, messages",
    );
    assert_eq!(error["error"]["message"], report);
    assert_eq!(error["error"]["type"], "invalid_request_error");
    assert_eq!(model.misses()[0].report, report);
    assert_eq!(model.misses()[0].nearest, Some(1));

    let unmet = model.verify().expect_err("a miss and an unused exchange");
    assert_eq!(unmet.unused, ["exchange 1 (reports)"]);
    assert_eq!(
        unmet.to_string(),
        format!("the script was not followed\n{report}\nunused: exchange 1 (reports)")
    );
}

#[test]
fn in_order_means_that_the_next_exchange_must_fit() {
    let mut model = model(&json!({"exchanges": [
        {"expect": {"last_user_contains": "first"}, "respond": "1"},
        {"expect": {"last_user_contains": "second"}, "respond": "2"}
    ]}));
    let say = |text: &str| request(&json!([{"role": "user", "content": text}]));
    assert_eq!(status(&post(&mut model, &say("second"))), 400);
    assert_eq!(status(&post(&mut model, &say("first"))), 200);
    assert_eq!(status(&post(&mut model, &say("second"))), 200);
    let last = post(&mut model, &say("third"));
    assert_eq!(status(&last), 400);
    assert_eq!(
        model.misses()[1].report,
        "scripted model: request 4 is one too many: all 2 exchanges are used up"
    );
    assert_eq!(model.misses()[1].nearest, None);
    assert_eq!(model.requests(), 4);
}

#[test]
fn any_means_the_first_that_fits_and_reports_the_nearest() {
    let mut model = model(&json!({"match": "any", "exchanges": [
        {"expect": {"last_user_contains": "alpha", "messages": 1}, "respond": "A"},
        {"expect": {"last_user_contains": "beta", "messages": 1}, "respond": "B"},
        {"name": "c", "expect": {"last_user_contains": "gamma", "messages": 1, "model": "m-1"}, "respond": "C"}
    ]}));
    let ask = |model: &mut ScriptedModel, text: &str| -> String {
        let answer = post(model, &request(&json!([{"role": "user", "content": text}])));
        String::from_utf8(body(&answer)).expect("UTF-8")
    };
    assert!(ask(&mut model, "beta").contains("\"text\":\"B\""));
    assert!(ask(&mut model, "alpha").contains("\"text\":\"A\""));
    assert!(
        ask(&mut model, "beta")
            .contains("fits no exchange that is left; nearest is exchange 3 (c)")
    );
    assert!(ask(&mut model, "gamma").contains("\"text\":\"C\""));
    let unmet = model.verify().expect_err("a miss");
    assert!(unmet.unused.is_empty());
    assert_eq!(unmet.misses.len(), 1);
}

#[test]
fn a_request_with_a_broken_history_is_a_miss_whatever_is_expected() {
    let mut model = model(&json!({"exchanges": [{"respond": "Hi"}]}));
    let broken = request(&json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]},
        {"role": "user", "content": "and now?"}
    ]));
    assert_eq!(status(&post(&mut model, &broken)), 400);
    assert!(model.misses()[0].report.contains("no result for `t1`"));
    assert_eq!(status(&post(&mut model, "{\"model\":")), 400);
    assert!(model.misses()[1].report.contains("the body is not JSON"));
    assert_eq!(
        status(&post(&mut model, &hello())),
        200,
        "the exchange is still there"
    );
}

#[test]
fn another_endpoint_needs_an_expectation() {
    let count = |path: &str| {
        let mut model = model(&json!({"exchanges": [
            {"expect": {"path": path}, "respond": {"body": "{\"input_tokens\":3}"}}
        ]}));
        let answer = model.answer(&RequestView {
            path: "/v1/messages/count_tokens",
            headers: &[],
            body: br#"{"model":"m","messages":[]}"#,
        });
        status(&answer)
    };
    assert_eq!(count("/v1/messages/count_tokens"), 200);
    assert_eq!(count("/v1/messages"), 400);
}

#[test]
fn long_texts_are_cut_in_reports() {
    let mut model = model(&json!({"exchanges": [
        {"expect": {"last_user_contains": "needle"}, "respond": "ok"}
    ]}));
    let long = "ü".repeat(5000);
    post(
        &mut model,
        &request(&json!([{"role": "user", "content": long}])),
    );
    let report = &model.misses()[0].report;
    assert!(report.contains("(10000 bytes in all)"));
    assert!(report.len() < 1000);
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines[2], "    - expected contains \"needle\"");
}
