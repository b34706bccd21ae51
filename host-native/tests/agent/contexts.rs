//! How the context is kept small: by a program's own thresholds.

use serde_json::{Value, json};
use windlass::{
    NoInput, Tool,
    core::context::{ClearedBy, Clearing, ContextPolicy},
};

use crate::support::{Model, calls, messages, text};

/// A response that calls a tool and after which the context holds so many tokens.
fn call(name: &str, tokens: u64) -> Value {
    let mut exchange = calls(&[(name, json!({}))]);
    exchange["respond"]["usage"] = json!({ "input_tokens": tokens, "output_tokens": 1 });
    exchange
}

fn tool(name: &'static str) -> Tool {
    Tool::new(name, "Looks", move |_: NoInput| async move {
        format!("{name} {}", "z".repeat(400))
    })
}

/// Of the results in a request those that were cleared, by the exchange of their call.
fn cleared(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    let blocks = messages
        .filter_map(|message| message["content"].as_array())
        .flatten();
    let cleared = blocks.filter(|block| block["content"].to_string().contains("was removed"));
    cleared
        .map(|block| block["tool_use_id"].as_str().unwrap().to_owned())
        .collect()
}

/// The requests of a run that makes these calls, under a policy that clears what is old.
async fn clearing(exchanges: &[(&str, u64)]) -> Vec<Value> {
    let script: Vec<Value> = exchanges
        .iter()
        .map(|(name, tokens)| call(name, *tokens))
        .collect();
    let model = Model::of(
        [&script[..], &[json!({ "respond": "done" })]]
            .concat()
            .into(),
    );
    let policy = ContextPolicy {
        clearing: Some(Clearing {
            trigger_tokens: 1_000,
            warn_before: 200,
            keep: 2,
            exclude_tools: vec!["memory".into()],
            by: ClearedBy::Core,
            ..Clearing::default()
        }),
        ..ContextPolicy::default()
    };
    let agent = model
        .agent()
        .context(policy)
        .tool(tool("look"))
        .tool(tool("memory"));
    let agent = agent.allowed_tools(["look", "memory"]).build().unwrap();
    messages(&mut agent.query("Look around.")).await;
    model.verify();
    model.requests()
}

#[tokio::test]
async fn ctx_2_past_a_threshold_old_results_are_cleared_but_for_the_newest_and_the_excluded() {
    let calls = [
        ("look", 100),
        ("memory", 200),
        ("look", 300),
        ("look", 950),
        ("look", 1_500),
    ];
    let requests = clearing(&calls).await;
    for request in &requests[..5] {
        assert!(cleared(request).is_empty(), "{request}");
    }
    // The two newest stay, and the one of the tool that was named.
    assert_eq!(cleared(&requests[5]), ["toolu_1_1", "toolu_3_1"]);
    assert!(requests[5].to_string().contains("memory zzz"));
}

#[tokio::test]
async fn ctx_5_the_model_is_warned_before_results_are_cleared_and_what_it_saves_is_spared() {
    let requests = clearing(&[
        ("look", 100),
        ("look", 200),
        ("look", 400),
        ("look", 1_500),
        ("memory", 1_600),
    ])
    .await;
    let is_warned = |request: &Value| {
        request
            .to_string()
            .contains("save it now with the tool memory")
    };
    assert!(requests[..4].iter().all(|request| !is_warned(request)));
    // Far past the threshold at once: the warning comes first all the same.
    assert!(
        is_warned(&requests[4]) && cleared(&requests[4]).is_empty(),
        "{}",
        requests[4]
    );
    let last = &requests[5];
    assert_eq!(cleared(last), ["toolu_1_1", "toolu_2_1", "toolu_3_1"]);
    assert!(last.to_string().contains("memory zzz"));
}

#[tokio::test]
async fn ctx_1_a_program_sets_the_threshold_of_a_compaction_or_switches_it_off() {
    for (threshold, automatic, is_compacted) in [
        (1_000, true, true),
        (5_000, true, false),
        (1_000, false, false),
    ] {
        let full = json!({ "respond": { "text": format!("one {}", "y".repeat(400)),
            "usage": { "input_tokens": 2_000, "output_tokens": 1 } } });
        let summary = json!({ "respond": "It was about a question." });
        let model = Model::of(match is_compacted {
            true => json!([full, summary, { "respond": "two" }]),
            false => json!([full, { "respond": "two" }]),
        });
        let mut policy = ContextPolicy::default();
        policy.compaction.threshold_tokens = Some(threshold);
        policy.compaction.automatic = automatic;
        let agent = model.agent().context(policy).build().unwrap();
        let session = agent.session();
        let question = format!("a question {}", "x".repeat(400));
        session.prompt(question.as_str()).result().await.unwrap();
        assert_eq!(
            text(session.prompt("and now?").result().await.unwrap()),
            "two"
        );
        model.verify();
        let last = model.requests().pop().unwrap()["messages"].to_string();
        assert_eq!(
            last.contains("It was about a question."),
            is_compacted,
            "{last}"
        );
    }
}
