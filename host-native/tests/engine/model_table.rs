//! How each model that is known by name is asked, what it costs, and which models are offered.

use serde_json::{Value, json};
use windlass_engine::models::ModelTable;

use crate::support::{Sdk, all, calls, says};

/// A header of a request.
fn header<'a>(sdk: &'a [(String, String)], name: &str) -> &'a str {
    let found = sdk.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, value)| value)
}

/// A model's answer that has used these tokens.
fn used(usage: &Value) -> Value {
    json!({"respond": {"text": "Yes.", "usage": usage}})
}

#[tokio::test]
async fn loop_10_each_model_is_asked_as_the_table_says_and_has_its_limits() {
    let table = ModelTable::built_in();
    let known: Vec<_> = table
        .models
        .iter()
        .filter(|model| !model.ids.is_empty())
        .collect();
    let script: Vec<Value> = known.iter().map(|_| says("Yes.")).collect();
    let mut sdk = Sdk::start(&[], json!(script));
    sdk.initialize(json!({})).await;
    let mut results = Vec::new();
    for model in &known {
        sdk.request(json!({"subtype": "set_model", "model": model.ids[0]}))
            .await;
        sdk.prompt("go").await;
        results.push(sdk.first("result").await);
    }
    let requests = sdk.model.requests();
    for ((model, body), (request, result)) in known
        .iter()
        .zip(sdk.bodies())
        .zip(requests.iter().zip(&results))
    {
        let id = &model.ids[0];
        assert_eq!(body["model"], *id);
        assert_eq!(body["max_tokens"], model.usual_output_tokens, "{id}");
        let thinking = match serde_json::to_value(model.thinking).unwrap().as_str() {
            Some("none") => Value::Null,
            Some("budget") => {
                json!({"type": "enabled", "budget_tokens": model.usual_output_tokens - 1})
            }
            _ => json!({"type": "adaptive"}),
        };
        assert_eq!(body["thinking"], thinking, "{id}");
        assert_eq!(body["output_config"]["effort"], json!(model.effort), "{id}");
        let betas = table.betas[&model.betas].join(",");
        assert_eq!(header(&request.headers, "anthropic-beta"), betas, "{id}");
        let usage = &result["modelUsage"][id.as_str()];
        assert_eq!(
            usage["contextWindow"], model.context_window,
            "{id}: {result}"
        );
        assert_eq!(usage["maxOutputTokens"], model.usual_output_tokens, "{id}");
    }
}

#[tokio::test]
async fn loop_8_prices_are_those_of_the_parts_and_long_prompts_places_and_speed_cost_more() {
    let million = 1_000_000;
    for (model, usage, dollars) in [
        ("claude-opus-5-5", json!({"input_tokens": million}), 4.0),
        (
            "claude-opus-5-5",
            json!({"input_tokens": 0, "output_tokens": million}),
            20.0,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": 0, "cache_read_input_tokens": million}),
            0.2,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": 0, "cache_creation_input_tokens": million}),
            5.0,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": 0, "cache_creation_input_tokens": million,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": million}}),
            8.0,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": million, "inference_geo": "us"}),
            4.4,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": million, "inference_geo": "global"}),
            4.0,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": million, "speed": "fast"}),
            8.0,
        ),
        (
            "claude-opus-4-6",
            json!({"input_tokens": million, "speed": "fast"}),
            30.0,
        ),
        (
            "claude-opus-5-5",
            json!({"input_tokens": 0, "server_tool_use": {"web_search_requests": 3}}),
            0.03,
        ),
        ("claude-haiku-5-5", json!({"input_tokens": 100_000}), 0.01),
        (
            "claude-haiku-5-5",
            json!({"input_tokens": 100_001}),
            0.050_000_5,
        ),
        (
            "claude-haiku-5-5",
            json!({"input_tokens": 50_000, "cache_read_input_tokens": 50_001}),
            0.027_500_05,
        ),
        // Nobody knows this one: its price is taken to be that of the default model.
        ("claude-haiku-5", json!({"input_tokens": million}), 4.0),
    ] {
        let mut usage = usage;
        usage["output_tokens"] = usage
            .get("output_tokens")
            .cloned()
            .unwrap_or_else(|| json!(0));
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn", "usage": usage,
        });
        let answer = json!({"respond": {"body": body.to_string(), "headers": {"content-type": "application/json"}}});
        let mut sdk = Sdk::start(&["--model", model], json!([answer]));
        sdk.prompt("go").await;
        let result = sdk.first("result").await;
        let cost = result["total_cost_usd"].as_f64().unwrap();
        assert!(
            (cost - dollars).abs() < 1e-8,
            "{model}: {cost} is not {dollars}: {usage}"
        );
    }
}

#[tokio::test]
async fn api_7_the_models_are_offered_by_their_short_names_with_prices() {
    let mut sdk = Sdk::start(&["--model", "gpt-4"], json!([says("Yes.")]));
    let reply = sdk.initialize(json!({})).await;
    let models = reply["models"].as_array().unwrap();
    let of = |field: &str| -> Vec<&str> {
        let values = models.iter().map(|model| model[field].as_str().unwrap());
        values.collect()
    };
    assert_eq!(
        of("value"),
        ["default", "opus", "fable", "sonnet", "haiku", "gpt-4"]
    );
    assert_eq!(
        of("resolvedModel"),
        [
            "claude-opus-5-5",
            "claude-opus-5-5",
            "claude-fable-5-2",
            "claude-sonnet-5-5",
            "claude-haiku-5-5",
            "gpt-4"
        ]
    );
    let descriptions = of("description");
    assert!(
        descriptions[0].ends_with("(currently Opus 5.5) · $4/$20 per Mtok"),
        "{descriptions:?}"
    );
    assert!(
        descriptions[4].ends_with("$0.10/$0.50 per Mtok ($0.50/$2.50 for prompts over 100k)"),
        "{descriptions:?}"
    );
    assert_eq!(descriptions[5], "Custom model");
    let levels = json!(["low", "medium", "high", "xhigh", "max"]);
    for model in models {
        assert_eq!(model["supportsEffort"], true);
        assert_eq!(model["supportedEffortLevels"], levels);
        assert_eq!(model["supportsAdaptiveThinking"], true);
        assert_eq!(model["supportsThinkingOff"], model["value"] == "gpt-4");
    }
    let fast: Vec<&Value> = models
        .iter()
        .filter(|model| model["supportsFastMode"] == true)
        .collect();
    assert_eq!(fast.len(), 3);
}

#[tokio::test]
async fn api_2_a_model_is_set_by_short_name_old_name_or_full_name() {
    let mut sdk = Sdk::start(&[], json!([says("Yes.")]));
    sdk.initialize(json!({})).await;
    for (name, model) in [
        (json!("Sonnet"), "claude-sonnet-5-5"),
        (json!("opusplan"), "claude-sonnet-5-5"),
        (json!("claude-opus-4-1-20250805"), "claude-opus-5-5"),
        (json!("claude-sonnet-4-5[1m]"), "claude-sonnet-4-5[1m]"),
        (json!("claude-opus-5-5[1m]"), "claude-opus-5-5"),
        (json!("something-of-tomorrow"), "something-of-tomorrow"),
        (Value::Null, "claude-opus-5-5"),
    ] {
        let reply = sdk
            .request(json!({"subtype": "set_model", "model": name}))
            .await;
        assert_eq!(reply["response"]["model"], model, "{name}: {reply}");
    }
    let refused = sdk
        .request(json!({"subtype": "set_model", "model": "haiku[1m]"}))
        .await;
    assert_eq!(refused["subtype"], "error");
    assert!(
        refused.to_string().contains("alias_1m_unsupported"),
        "{refused}"
    );
}

#[tokio::test]
async fn loop_20_a_longer_context_is_asked_for_by_a_feature_and_never_by_a_name() {
    let mut sdk = Sdk::start(
        &["--model", "claude-sonnet-4-5[1m]"],
        json!([used(&json!({"input_tokens": 1, "output_tokens": 1}))]),
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(sdk.bodies()[0]["model"], "claude-sonnet-4-5");
    let requests = sdk.model.requests();
    let betas = header(&requests[0].headers, "anthropic-beta");
    assert_eq!(
        betas.split(',').nth(1),
        Some("context-1m-2025-08-07"),
        "{betas}"
    );
    let usage = &all(&frames, "result")[0]["modelUsage"]["claude-sonnet-4-5[1m]"];
    assert_eq!(usage["contextWindow"], 1_000_000, "{frames:?}");
}

#[tokio::test]
async fn loop_8_a_budget_that_the_last_answer_uses_up_is_told_and_in_an_agent_gives_one_result() {
    let dear = json!({"input_tokens": 1_000_000, "output_tokens": 1});
    let mut sdk = Sdk::start(&["--max-budget-usd", "1"], json!([used(&dear)]));
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["subtype"], "error_max_budget_usd");

    let input = json!({"description": "look", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": false});
    let mut sdk = Sdk::start(
        &["--max-budget-usd", "1"],
        json!([calls("Agent", input), used(&dear), says("Never asked.")]),
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(all(&frames, "result")[0]["subtype"], "error_max_budget_usd");
    assert_eq!(sdk.bodies().len(), 2);
    // The session is still there, and there was no second result.
    let cost = sdk.request(json!({"subtype": "get_session_cost"})).await;
    assert!(!cost.is_null());
    let (rest, _) = sdk.close().await;
    assert!(all(&rest, "result").is_empty(), "{rest:?}");
}
