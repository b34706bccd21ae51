//! The variables and settings that choose models and say how they are asked. The table of `docs/models.md` names these tests.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{Sdk, calls, says};

/// The request of a session with these variables and flags, its headers, and its result.
struct Asked {
    body: Value,
    headers: Vec<(String, String)>,
    result: Value,
}

impl Asked {
    async fn with(variables: &[(&str, &str)], flags: &[&str]) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let mut sdk = Sdk::start_with(variables, folder, flags, json!([says("Yes.")]));
        sdk.prompt("go").await;
        let result = sdk.first("result").await;
        let request = sdk.model.requests().first().cloned();
        Self {
            body: sdk.bodies().first().cloned().unwrap_or_default(),
            headers: request.map(|request| request.headers).unwrap_or_default(),
            result,
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn is_cached(&self) -> bool {
        self.body.to_string().contains("cache_control")
    }
}

#[tokio::test]
async fn conf_4_a_key_never_reaches_a_server_that_somebody_elses_variables_name() {
    for (name, server) in [
        ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
        ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
        ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
    ] {
        let asked = Asked::with(&[(name, "1")], &[]).await;
        assert_eq!(asked.body, Value::Null, "{name}: nothing is asked");
        let said = asked.result.to_string();
        assert_eq!(asked.result["is_error"], true, "{said}");
        assert!(said.contains(name) && said.contains(server), "{said}");
        assert_eq!(
            Asked::with(&[(name, "0")], &[]).await.result["result"],
            "Yes."
        );
        // The settings' own variables count as well.
        let settings = json!({"env": {name: "true"}}).to_string();
        let asked = Asked::with(&[], &["--settings", &settings]).await;
        assert_eq!(asked.body, Value::Null, "{name} in settings");
    }
}

#[tokio::test]
async fn conf_4_without_a_key_and_a_server_nothing_is_asked_and_the_result_says_so() {
    let none = [("ANTHROPIC_API_KEY", ""), ("ANTHROPIC_BASE_URL", "")];
    let asked = Asked::with(&none, &[]).await;
    assert_eq!(asked.result["is_error"], true);
    assert!(
        asked.result.to_string().contains("ANTHROPIC_API_KEY"),
        "{}",
        asked.result
    );
}

#[tokio::test]
async fn conf_4_variables_choose_the_model_below_a_flag_and_above_settings() {
    let settings = json!({"model": "claude-haiku-4-5"}).to_string();
    let variable = [("ANTHROPIC_MODEL", "sonnet")];
    let flag = ["--model", "fable"];
    for (variables, flags, model) in [
        (
            &[][..],
            vec!["--settings", settings.as_str()],
            "claude-haiku-4-5",
        ),
        (
            &variable,
            vec!["--settings", settings.as_str()],
            "claude-sonnet-5-5",
        ),
        (&variable, flag.to_vec(), "claude-fable-5-2"),
        (
            &[("ANTHROPIC_DEFAULT_SONNET_MODEL", "house-sonnet")],
            vec!["--model", "sonnet"],
            "house-sonnet",
        ),
        (
            &[("ANTHROPIC_DEFAULT_FABLE_MODEL", "house-fable")],
            flag.to_vec(),
            "house-fable",
        ),
        (
            &[("ANTHROPIC_DEFAULT_HAIKU_MODEL", "house-haiku")],
            vec!["--model", "haiku"],
            "house-haiku",
        ),
        (
            &[("ANTHROPIC_DEFAULT_OPUS_MODEL", "house-opus")],
            vec!["--model", "best"],
            "house-opus",
        ),
        (
            &[("ANTHROPIC_DEFAULT_OPUS_MODEL", "house-opus")],
            vec![],
            "house-opus",
        ),
    ] {
        let asked = Asked::with(variables, &flags).await;
        assert_eq!(asked.body["model"], model, "{variables:?} {flags:?}");
    }
    let settings = json!({"env": {"ANTHROPIC_MODEL": "haiku"}}).to_string();
    let asked = Asked::with(&[], &["--settings", &settings]).await;
    assert_eq!(asked.body["model"], "claude-haiku-5-5");
}

#[tokio::test]
async fn conf_4_settings_rename_models_and_restrict_the_choice() {
    let settings = json!({"modelOverrides": {"claude-opus-5-5": "arn:house"}}).to_string();
    let asked = Asked::with(&[], &["--settings", &settings]).await;
    assert_eq!(asked.body["model"], "arn:house");
    assert!(
        asked.result["modelUsage"]["claude-opus-5-5"].is_object(),
        "{}",
        asked.result
    );

    let settings = json!({"availableModels": ["sonnet"]}).to_string();
    for (model, asked) in [
        ("sonnet", "claude-sonnet-5-5"),
        ("fable", "claude-opus-5-5"),
    ] {
        let done = Asked::with(&[], &["--settings", &settings, "--model", model]).await;
        assert_eq!(done.body["model"], asked);
    }
    let mut sdk = Sdk::start(&["--settings", &settings], json!([says("Yes.")]));
    let reply = sdk.initialize(json!({})).await;
    let models = reply["models"].as_array().unwrap().iter();
    let names: Vec<&str> = models
        .map(|model| model["value"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["default", "sonnet"]);
    let refused = sdk
        .request(json!({"subtype": "set_model", "model": "haiku"}))
        .await;
    assert!(
        refused.to_string().contains("restricted_by_org"),
        "{refused}"
    );
}

#[tokio::test]
async fn conf_4_credentials_are_sent_as_their_variables_say() {
    let both = Asked::with(&[("ANTHROPIC_AUTH_TOKEN", "token")], &[]).await;
    assert_eq!(both.header("x-api-key"), Some("sk-test"));
    assert_eq!(both.header("authorization"), Some("Bearer token"));
    let beside_key = Asked::with(&[("CLAUDE_CODE_OAUTH_TOKEN", "oauth")], &[]).await;
    assert_eq!(beside_key.header("authorization"), None);
    let alone = [
        ("ANTHROPIC_API_KEY", ""),
        ("CLAUDE_CODE_OAUTH_TOKEN", "oauth"),
    ];
    let alone = Asked::with(&alone, &[]).await;
    assert_eq!(alone.header("authorization"), Some("Bearer oauth"));
    assert_eq!(alone.header("x-api-key"), None);
    let betas = alone.header("anthropic-beta").unwrap();
    assert!(
        betas.ends_with("oauth-2025-04-20,extended-cache-ttl-2025-04-11"),
        "{betas}"
    );
    assert!(
        alone.body.to_string().contains(r#""ttl":"1h""#),
        "{}",
        alone.body
    );
}

#[tokio::test]
async fn conf_4_headers_features_and_fields_are_added_to_requests() {
    let variables = [
        (
            "ANTHROPIC_CUSTOM_HEADERS",
            "X-Team: lighthouse\nx-other:  two words \nnonsense",
        ),
        ("ANTHROPIC_BETAS", "one-feature, another"),
        (
            "CLAUDE_CODE_EXTRA_BODY",
            r#"{"metadata": {"user_id": "u1"}, "max_tokens": 77}"#,
        ),
    ];
    let asked = Asked::with(&variables, &[]).await;
    assert_eq!(asked.header("x-team"), Some("lighthouse"));
    assert_eq!(asked.header("x-other"), Some("two words"));
    assert!(
        asked
            .header("anthropic-beta")
            .unwrap()
            .ends_with("one-feature,another")
    );
    assert_eq!(asked.body["metadata"]["user_id"], "u1");
    assert_eq!(asked.body["max_tokens"], 77);
    assert_eq!(asked.result["result"], "Yes.");
    let broken = Asked::with(&[("CLAUDE_CODE_EXTRA_BODY", "{")], &[]).await;
    assert_eq!(broken.result["result"], "Yes.");
}

#[tokio::test]
async fn conf_4_limits_thinking_and_effort_follow_their_variables() {
    let set = |name, value| [(name, value)];
    let tokens = Asked::with(
        &set("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "999999"),
        &["--model", "claude-sonnet-4-5"],
    )
    .await;
    assert_eq!(tokens.body["max_tokens"], 64_000);
    assert_eq!(tokens.body["thinking"]["budget_tokens"], 63_999);
    let off = Asked::with(
        &set("MAX_THINKING_TOKENS", "0"),
        &["--model", "claude-opus-4-6"],
    )
    .await;
    assert_eq!(off.body["thinking"]["type"], "disabled");
    let always = Asked::with(&set("MAX_THINKING_TOKENS", "0"), &[]).await;
    assert_eq!(always.body["thinking"]["type"], "adaptive");
    let none = Asked::with(&set("CLAUDE_CODE_DISABLE_THINKING", "1"), &[]).await;
    assert_eq!(none.body["thinking"], Value::Null);
    for (level, model, effort) in [
        ("low", "claude-opus-5-5", json!("low")),
        ("xhigh", "claude-opus-4-6", json!("high")),
        ("max", "claude-opus-4-5", json!("high")),
        ("max", "claude-opus-4-6", json!("max")),
        ("unset", "claude-opus-5-5", Value::Null),
        ("huge", "claude-opus-5-5", json!("high")),
    ] {
        let flags = ["--model", model, "--effort", "high"];
        let asked = Asked::with(&set("CLAUDE_CODE_EFFORT_LEVEL", level), &flags).await;
        assert_eq!(asked.body["output_config"]["effort"], effort, "{level}");
    }
}

#[tokio::test]
async fn conf_4_caching_and_features_are_switched_off_by_their_variables() {
    assert!(Asked::with(&[], &[]).await.is_cached());
    assert!(
        !Asked::with(&[("DISABLE_PROMPT_CACHING", "1")], &[])
            .await
            .is_cached()
    );
    assert!(
        !Asked::with(&[("DISABLE_PROMPT_CACHING_OPUS", "1")], &[])
            .await
            .is_cached()
    );
    assert!(
        Asked::with(&[("DISABLE_PROMPT_CACHING_HAIKU", "1")], &[])
            .await
            .is_cached()
    );
    let hour = Asked::with(&[("ENABLE_PROMPT_CACHING_1H", "1")], &[]).await;
    assert!(hour.body.to_string().contains(r#""ttl":"1h""#));
    let settled = Asked::with(&[("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "1")], &[]).await;
    assert_eq!(
        settled.header("anthropic-beta"),
        Some("claude-code-20250219,interleaved-thinking-2025-05-14,effort-2025-11-24")
    );
    let inline = Asked::with(&[("ENABLE_TOOL_SEARCH", "false")], &[]).await;
    assert!(
        !inline
            .header("anthropic-beta")
            .unwrap()
            .contains("advanced-tool-use")
    );
}

#[tokio::test]
async fn conf_4_subagents_that_name_no_model_have_that_of_the_variable() {
    let input = |model: Option<&str>| {
        let mut input = json!({"description": "look", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": false});
        if let Some(model) = model {
            input["model"] = model.into();
        }
        calls("Agent", input)
    };
    for (named, model) in [
        (None, "claude-haiku-5-5"),
        (Some("sonnet"), "claude-sonnet-5-5"),
    ] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let script = json!([input(named), says("Seen."), says("Done.")]);
        let mut sdk = Sdk::start_with(
            &[("CLAUDE_CODE_SUBAGENT_MODEL", "haiku")],
            folder,
            &[],
            script,
        );
        sdk.prompt("go").await;
        sdk.first("result").await;
        assert_eq!(sdk.bodies()[1]["model"], model);
    }
}

#[tokio::test]
async fn tool_6_a_command_has_the_time_that_the_variable_gives() {
    let script = json!([
        calls("Bash", json!({"command": "sleep 600"})),
        says("Ended.")
    ]);
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let variables = [("BASH_DEFAULT_TIMEOUT_MS", "200")];
    let mut sdk = Sdk::start_with(&variables, folder, &["--allowedTools", "Bash"], script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(
        result["message"]["content"][0]["is_error"], true,
        "{result}"
    );
}

#[tokio::test]
async fn the_model_is_told_where_it_is_whatever_the_system_prompt_is() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let cwd = folder.path().canonicalize().unwrap().display().to_string();
    let script = json!([says("One."), says("Two."), says("Three.")]);
    let mut sdk = Sdk::start_with(
        &[],
        folder,
        &["--system-prompt", "You are a lighthouse."],
        script,
    );
    sdk.prompt("go").await;
    sdk.first("result").await;
    sdk.prompt("on").await;
    sdk.first("result").await;
    sdk.request(json!({"subtype": "set_model", "model": "haiku"}))
        .await;
    sdk.prompt("and on").await;
    sdk.first("result").await;
    let bodies = sdk.bodies();
    let told = |body: &Value| {
        body["messages"][0]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for word in [
        cwd.as_str(),
        "git repository: no",
        std::env::consts::OS,
        "claude-opus-5-5",
        "Date",
    ] {
        assert!(
            told(&bodies[0]).contains(word),
            "{word}: {}",
            told(&bodies[0])
        );
    }
    // It stays the same, so that it is read from the cache; the system prompt says nothing of the place.
    assert_eq!(told(&bodies[0]), told(&bodies[1]));
    assert!(!bodies[0]["system"].to_string().contains(&cwd));
    assert!(told(&bodies[2]).contains("claude-haiku-5-5"));
    assert_eq!(bodies[0]["messages"][0]["content"][1]["text"], "go");
}
