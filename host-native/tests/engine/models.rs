//! What is asked of models, and how what they take is counted.

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, calls_all, expecting, says};

const SONNET: &str = "claude-sonnet-4-6";
const HAIKU: &str = "claude-haiku-4-5";
const OLDER: &str = "claude-sonnet-4-5";

fn agent(name: &str) -> (&'static str, Value) {
    let input = json!({"description": "look", "prompt": "Look around.", "subagent_type": name});
    ("Agent", input)
}

/// The same value without marks for the cache.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(unmarked).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cache_control");
            Value::Object(
                kept.map(|(name, it)| (name.clone(), unmarked(it)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// The place of the last message that has a mark, and of the one before that has.
fn marked(body: &Value) -> Vec<usize> {
    let messages = body["messages"].as_array().unwrap().iter().enumerate();
    let has_mark = |(_, message): &(usize, &Value)| message.to_string().contains("cache_control");
    messages.filter(has_mark).map(|(place, _)| place).collect()
}

#[tokio::test]
async fn loop_17_each_request_begins_like_the_one_before_up_to_the_mark_it_had() {
    let read = || calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let script = json!([read(), says("one"), read(), says("two")]);
    let mut sdk = Sdk::start(&["--append-system-prompt", "Be brief."], script);
    for prompt in ["first", "second"] {
        sdk.prompt(prompt).await;
        sdk.first("result").await;
    }
    let bodies = sdk.bodies();
    assert_eq!(bodies.len(), 4);
    for body in &bodies {
        // One mark behind tools and system prompt.
        assert!(body["system"].to_string().contains("cache_control"));
        let last = body["messages"].as_array().unwrap().len() - 1;
        assert!(marked(body).contains(&last), "{body}");
    }
    for pair in bodies.windows(2) {
        let [before, after] = pair else { panic!() };
        for part in ["tools", "system"] {
            assert_eq!(before[part], after[part], "{part}");
        }
        let messages = before["messages"].as_array().unwrap();
        let begins = &after["messages"].as_array().unwrap()[..messages.len()];
        assert_eq!(unmarked(&begins.into()), unmarked(&before["messages"]));
        assert!(marked(after).contains(&(messages.len() - 1)), "{after}");
    }
}

#[tokio::test]
async fn loop_19_each_model_has_an_account_and_agents_are_in_it() {
    let tokens = |text: &str, input: u64, output: u64| json!({"respond": {"text": text, "usage": {"input_tokens": input, "output_tokens": output}}});
    let mut delegates = calls_all(&[agent("reader")]);
    delegates["respond"]["usage"] = json!({"input_tokens": 1000, "output_tokens": 10});
    let script = json!([
        delegates,
        tokens("Nothing.", 500, 5),
        tokens("Done.", 2000, 20)
    ]);
    let mut sdk = Sdk::start(&["--model", SONNET], script);
    let reader = json!({"description": "reads", "prompt": "Read.", "model": HAIKU});
    sdk.initialize(json!({"agents": {"reader": reader}})).await;
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    let usage = &result["modelUsage"];
    assert_eq!(usage.as_object().unwrap().len(), 2, "{usage}");
    let counted = |model: &str| {
        let of = |name: &str| usage[model][name].as_u64().unwrap();
        (of("inputTokens"), of("outputTokens"))
    };
    assert_eq!(counted(SONNET), (3000, 30));
    assert_eq!(counted(HAIKU), (500, 5));
    let cost = |model: &str| usage[model]["costUSD"].as_f64().unwrap();
    assert!(cost(SONNET) > 0.0 && cost(HAIKU) > 0.0);
    let total = result["total_cost_usd"].as_f64().unwrap();
    assert!(
        (total - cost(SONNET) - cost(HAIKU)).abs() < 1e-9,
        "{result}"
    );
}

#[tokio::test]
async fn loop_26_usage_of_a_model_lists_tokens_searches_cost_and_limits() {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": SONNET,
        "content": [{"type": "text", "text": "Found."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 5, "cache_read_input_tokens": 2,
            "cache_creation_input_tokens": 3, "server_tool_use": {"web_search_requests": 4}},
    });
    let answer = json!({"respond": {"body": message.to_string(),
        "headers": {"content-type": "application/json"}}});
    let mut sdk = Sdk::start(&["--model", SONNET], json!([answer]));
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    let usage = &result["modelUsage"][SONNET];
    assert!(usage["costUSD"].as_f64().unwrap() > 0.0, "{result}");
    for (name, value) in [
        ("inputTokens", 1),
        ("outputTokens", 5),
        ("cacheReadInputTokens", 2),
        ("cacheCreationInputTokens", 3),
        ("webSearchRequests", 4),
        ("contextWindow", 200_000),
        ("maxOutputTokens", 32_000),
    ] {
        assert_eq!(usage[name], value, "{name}: {usage}");
    }
}

#[tokio::test]
async fn loop_27_effort_is_that_of_the_query_where_it_is_set_and_the_model_knows_it() {
    let low = json!({"fields": {"/output_config/effort": "low"}, "model": SONNET});
    let none = |model: &str| json!({"model": model, "absent": ["/output_config/effort"]});
    let both = calls_all(&[agent("same"), agent("small")]);
    // The two agents run side by side: which is asked first is not said.
    let script = json!([
        expecting(both, low.clone()),
        expecting(says("Nothing."), json!({"messages": 1})),
        expecting(says("Nothing."), json!({"messages": 1})),
        expecting(says("Done."), low),
    ]);
    let flags = [
        "--model",
        SONNET,
        "--effort",
        "low",
        "--thinking",
        "disabled",
    ];
    let mut sdk = Sdk::start(&flags, script);
    let agents = json!({
        "same": {"description": "looks", "prompt": "You are the same."},
        "small": {"description": "looks", "prompt": "You are small.", "model": HAIKU},
    });
    sdk.initialize(json!({ "agents": agents })).await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    sdk.model.verify().unwrap();
    let bodies = sdk.bodies();
    let of = |prompt: &str| {
        let mut asked = bodies.iter();
        let found = asked.find(|body| body["system"].to_string().contains(prompt));
        found.unwrap_or_else(|| panic!("no request of {prompt}"))
    };
    assert_eq!(of("You are the same.")["output_config"]["effort"], "low");
    assert_eq!(of("You are small.")["model"], HAIKU);
    assert_eq!(of("You are small.")["output_config"], Value::Null);
    // Thinking is another matter.
    assert_eq!(bodies[0]["thinking"]["type"], "disabled");

    for (flags, model) in [
        (&["--model", OLDER][..], OLDER),
        (&["--model", HAIKU, "--effort", "low"], HAIKU),
    ] {
        let mut sdk = Sdk::start(flags, json!([expecting(says("Yes."), none(model))]));
        sdk.prompt("go").await;
        assert_eq!(sdk.first("result").await["result"], "Yes.");
        sdk.model.verify().unwrap();
    }
}

#[tokio::test]
async fn loop_28_thinking_adapts_unless_it_is_set_and_is_kept_with_its_signature() {
    let older = [("MAX_THINKING_TOKENS", "4000")];
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    for (flags, variables, expected) in [
        (
            &["--model", SONNET][..],
            &[][..],
            json!({"type": "adaptive"}),
        ),
        (&["--model", HAIKU], &[], budget(31_999)),
        (&["--model", "claude-3-5-haiku"], &[], Value::Null),
        (
            &["--model", SONNET, "--max-thinking-tokens", "3000"],
            &[],
            budget(3000),
        ),
        (
            &["--model", OLDER, "--thinking", "enabled"],
            &[],
            budget(10_000),
        ),
        (&["--model", OLDER], &older, budget(4000)),
        // The variable changes nothing for a model that decides by itself.
        (&["--model", SONNET], &older, json!({"type": "adaptive"})),
        (
            &["--model", SONNET, "--thinking", "disabled"],
            &older,
            json!({"type": "disabled"}),
        ),
    ] {
        let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
        let mut sdk = Sdk::start_with(variables, folder, flags, json!([says("Yes.")]));
        sdk.prompt("go").await;
        sdk.first("result").await;
        assert_eq!(sdk.bodies()[0]["thinking"], expected, "{flags:?}");
    }

    let thought = json!({"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"});
    let mut read = calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    read["respond"]["content"] = json!([thought, read["respond"]["content"][0]]);
    let mut sdk = Sdk::start(&["--model", SONNET], json!([read, says("None.")]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let shown = all(&frames, "assistant");
    assert_eq!(shown[0]["message"]["content"], json!([thought]));
    let sent = &sdk.bodies()[1]["messages"][1]["content"][0];
    assert_eq!(unmarked(sent), thought);
}
