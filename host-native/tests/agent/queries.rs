//! Asking once: text or a stream of messages in, a stream of messages out.

use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use windlass::{
    Message, NoInput, RunError, Tool, UserInput,
    core::{
        message::SystemMessage,
        spec::{Effort, RetryPolicy, Thinking},
    },
};

use crate::support::{Model, calls, kinds, messages, text};

#[tokio::test]
async fn api_1_a_prompt_gives_a_stream_of_messages_from_init_to_result() {
    let model = Model::of(json!([
        { "expect": { "last_user_contains": "Say hello", "messages": 1 }, "respond": "Hello." }
    ]));
    let agent = model.agent().model("claude-test").build().unwrap();
    let mut run = agent.query("Say hello");
    let messages = messages(&mut run).await;
    assert_eq!(kinds(&messages), ["system", "assistant", "result"]);
    let Some(Message::System(SystemMessage::Init(init))) = messages.first() else {
        panic!("{messages:?}");
    };
    assert_eq!(init.model, "claude-test");
    assert_eq!(init.tools, Vec::<String>::new());
    assert_eq!(
        init.cwd,
        std::env::current_dir()
            .unwrap()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
    );
    assert!(run.next().await.is_none(), "after the end there is nothing");
    assert_eq!(text(run.result().await.unwrap()), "Hello.");
    model.verify();
}

#[tokio::test]
async fn api_1_a_stream_of_user_messages_is_answered_one_by_one_in_one_run() {
    let model = Model::of(json!([
        { "expect": { "last_user_contains": "first", "messages": 1 }, "respond": "one" },
        { "expect": { "last_user_contains": "second", "messages": 3 }, "respond": "two" },
        { "expect": { "last_user_contains": "third", "messages": 5 }, "respond": "three" },
    ]));
    let agent = model.agent().build().unwrap();
    let mut run = agent.query(UserInput::stream(stream::iter([
        "first", "second", "third",
    ])));
    let messages = messages(&mut run).await;
    let answers: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => result.result.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["one", "two", "three"]);
    assert_eq!(text(run.result().await.unwrap()), "three");
    model.verify();
}

#[tokio::test]
async fn api_1_a_stream_may_wait_for_an_answer_before_it_goes_on() {
    let model = Model::says(["4", "and 5"]);
    let agent = model.agent().build().unwrap();
    let (say, said) = tokio::sync::mpsc::channel::<String>(1);
    let said = stream::unfold(said, |mut said| async { Some((said.recv().await?, said)) });
    let mut run = agent.query(UserInput::stream(said));
    say.send("2 + 2?".to_owned()).await.unwrap();
    let mut answers = Vec::new();
    let mut say = Some(say);
    while let Some(message) = run.next().await {
        let Message::Result(result) = message else {
            continue;
        };
        answers.push(text(result));
        // The second question goes out when the first is answered; then there are no more.
        if let Some(say) = say.take() {
            say.send("and one more?".to_owned()).await.unwrap();
        }
    }
    assert_eq!(answers, ["4", "and 5"]);
    model.verify();
}

#[tokio::test]
async fn api_1_a_stream_without_a_message_is_an_error_that_says_so() {
    let model = Model::says([]);
    let agent = model.agent().build().unwrap();
    let nothing = UserInput::stream(stream::empty::<String>());
    assert_eq!(agent.run(nothing).await.unwrap_err(), RunError::NoPrompt);
}

#[tokio::test]
async fn a_long_stream_of_messages_is_read_only_a_little_ahead() {
    let texts: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let model = Model::says(texts.iter().map(String::as_str));
    let agent = model.agent().build().unwrap();
    let read = Arc::new(Mutex::new(0));
    let answered = Arc::new(Mutex::new(0));
    let ahead = Arc::new(Mutex::new(0));
    let (count, seen, most) = (Arc::clone(&read), Arc::clone(&answered), Arc::clone(&ahead));
    let prompts = stream::iter(texts.clone()).inspect(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        let mut most = most.lock().unwrap();
        *most = (*most).max(*count - *seen.lock().unwrap());
    });
    let mut run = agent.query(UserInput::stream(prompts));
    while let Some(message) = run.next().await {
        if matches!(message, Message::Result(_)) {
            *answered.lock().unwrap() += 1;
        }
    }
    assert_eq!(*answered.lock().unwrap(), 40);
    // Messages that the reader has not taken yet count as unanswered here, so the bound is loose.
    assert!(*ahead.lock().unwrap() < 35, "{}", ahead.lock().unwrap());
    model.verify();
}

#[tokio::test]
async fn loop_4_partial_messages_carry_the_events_of_the_stream_only_when_asked_for() {
    for (partial, expected) in [(true, true), (false, false)] {
        let model = Model::says(["Hello."]);
        let agent = model.agent().partial_messages(partial).build().unwrap();
        let messages = messages(&mut agent.query("hi")).await;
        let has_events = messages
            .iter()
            .any(|m| matches!(m, Message::StreamEvent(_)));
        assert_eq!(has_events, expected);
    }
}

#[tokio::test]
async fn the_message_callback_sees_every_message_before_it_is_handed_on() {
    let model = Model::of(json!([calls(&[("nod", json!({}))]), { "respond": "done" }]));
    let nod = Tool::new("nod", "Nods", |_: NoInput| async {});
    let seen = Arc::new(Mutex::new(Vec::new()));
    let see = Arc::clone(&seen);
    let agent = model
        .agent()
        .tool(nod)
        .allowed_tools(["nod"])
        .on_message(move |message| see.lock().unwrap().push(message.to_line()))
        .build()
        .unwrap();
    let handed_on: Vec<String> = messages(&mut agent.query("go"))
        .await
        .iter()
        .map(Message::to_line)
        .collect();
    assert_eq!(handed_on, *seen.lock().unwrap());
}

#[tokio::test]
async fn with_the_same_seed_every_id_is_the_same() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let model = Model::of(json!([calls(&[("nod", json!({}))]), { "respond": "done" }]));
        let nod = Tool::new("nod", "Nods", |_: NoInput| async {});
        let agent = model
            .agent()
            .tool(nod)
            .allowed_tools(["nod"])
            .seed([7; 32])
            .build()
            .unwrap();
        let messages = messages(&mut agent.query("go")).await;
        let id = |message: &Message| {
            let value: Value = serde_json::from_str(&message.to_line()).unwrap();
            (value["uuid"].to_string(), value["session_id"].to_string())
        };
        ids.push(messages.iter().map(id).collect::<Vec<_>>());
    }
    assert_eq!(ids[0], ids[1]);

    let model = Model::says(["hi"]);
    let random = model.agent().build().unwrap();
    let (one, two) = (random.session(), random.session());
    assert_ne!(one.id().await, two.id().await);
}

#[tokio::test]
async fn sess_1_a_fixed_session_id_is_the_one_in_every_message() {
    let id = windlass::core::Uuid::try_parse("6ba7b810-9dad-41d1-80b4-00c04fd430c8").unwrap();
    let model = Model::says(["hi"]);
    let agent = model.agent().session_id(id).build().unwrap();
    assert_eq!(agent.run("hello").await.unwrap().session_id, id);
}

#[tokio::test]
async fn system_prompt_and_what_is_appended_to_it_go_out_as_they_are() {
    let model = Model::of(json!([{
        "expect": { "system_contains": "You are a pirate.\n\nBe brief." },
        "respond": "Arr."
    }]));
    let agent = model
        .agent()
        .system_prompt("You are a pirate.")
        .append_system_prompt("Be brief.")
        .build()
        .unwrap();
    agent.run("hi").await.unwrap();
    model.verify();
    let model = Model::of(json!([{ "expect": { "absent": ["/system"] }, "respond": "Hi." }]));
    model.agent().build().unwrap().run("hi").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn loop_10_and_betas_go_out_as_they_were_set() {
    const OF_MODEL: &str = "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24,thinking-display-updates-2026-08-18";
    let model = Model::of(json!([{
        "expect": {
            "model": "claude-opus-4-6",
            "stream": true,
            "fields": {
                "/max_tokens": 9000,
                "/thinking": { "type": "enabled", "budget_tokens": 2048 },
                "/output_config/effort": "low"
            },
            "headers": { "anthropic-beta": format!("{OF_MODEL},context-1m-2025-08-07,other-beta"), "x-api-key": "sk-test" }
        },
        "respond": "ok"
    }]));
    let agent = model
        .agent()
        .model("claude-opus-4-6")
        .max_tokens(9000)
        .thinking(Thinking::Enabled {
            budget_tokens: Some(2048),
        })
        .effort(Effort::Low)
        .betas(["context-1m-2025-08-07"])
        .betas(["other-beta"])
        .build()
        .unwrap();
    let messages = messages(&mut agent.query("hi")).await;
    let Some(Message::System(SystemMessage::Init(init))) = messages.first() else {
        panic!("{messages:?}");
    };
    assert_eq!(init.betas, ["context-1m-2025-08-07", "other-beta"]);
    model.verify();
}

#[tokio::test]
async fn without_streaming_the_whole_response_comes_at_once() {
    let model = Model::of(json!([{ "expect": { "stream": false }, "respond": "Hello." }]));
    let agent = model.agent().stream(false).build().unwrap();
    assert_eq!(text(agent.run("hi").await.unwrap()), "Hello.");
    model.verify();
}

#[tokio::test]
async fn loop_11_a_call_that_failed_is_announced_and_made_again_as_the_policy_says() {
    let overloaded =
        json!({ "respond": { "error": { "type": "overloaded_error", "message": "busy" } } });
    let cut = json!({ "respond": { "text": "Half of it", "faults": [{ "after_events": 3, "cut": true }] } });
    let model = Model::of(json!([overloaded, cut, { "respond": "At last." }]));
    let policy = RetryPolicy {
        base_ms: 1,
        max_ms: 1,
        ..RetryPolicy::default()
    };
    let agent = model.agent().retry(policy).build().unwrap();
    let mut run = agent.query("hi");
    let retries: Vec<Option<u16>> = messages(&mut run)
        .await
        .iter()
        .filter_map(|message| match message {
            Message::System(SystemMessage::ApiRetry(retry)) => Some(retry.error_status),
            _ => None,
        })
        .collect();
    assert_eq!(retries, [Some(529), None]);
    let result = run.result().await.unwrap();
    assert_eq!(result.num_turns, 1);
    assert_eq!(text(result), "At last.");
    model.verify();
}

#[tokio::test]
async fn loop_2_a_response_is_one_message_with_all_its_blocks_model_usage_and_stop_reason() {
    let model = Model::of(json!([
        { "respond": { "content": [
            { "type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk" },
            "I look twice.",
            { "type": "tool_use", "name": "nod", "input": {} },
            { "type": "tool_use", "name": "nod", "input": {} }
        ], "usage": { "input_tokens": 900, "output_tokens": 40 } } },
        { "respond": { "text": "Done.", "stop_reason": "max_tokens" } },
    ]));
    let nod = Tool::new("nod", "Nods", |_: NoInput| async {});
    let agent = model.agent().model("claude-sonnet-4-6").tool(nod);
    let agent = agent.allowed_tools(["nod"]).build().unwrap();
    let said = messages(&mut agent.query("go")).await;
    let lines = said
        .iter()
        .map(|message| serde_json::from_str(&message.to_line()).unwrap());
    let responses: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "assistant")
        .collect();
    assert_eq!(responses.len(), 2, "{responses:?}");
    let first = &responses[0]["message"];
    let content = first["content"].as_array().unwrap().iter();
    let kinds: Vec<&str> = content
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(first["model"], "claude-sonnet-4-6");
    assert_eq!(first["stop_reason"], "tool_use");
    let usage = |name: &str| first["usage"][name].as_u64().unwrap();
    assert_eq!((usage("input_tokens"), usage("output_tokens")), (900, 40));
    assert_eq!(responses[1]["message"]["stop_reason"], "max_tokens");
}
