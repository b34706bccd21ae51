//! Prompts, one after another and beside each other.

use serde_json::json;
use windlass::engine::Ending;

use crate::support::{Sdk, calls, kinds, says};

#[tokio::test]
async fn a_query_has_its_frames_in_the_order_of_the_official_engine() {
    let read = calls("Read", json!({"file_path": "${cwd}/hello.txt"}));
    let mut sdk = Sdk::start(&[], json!([read, says("Read it.")]));
    std::fs::write(sdk.folder.path().join("hello.txt"), "hello file\n").unwrap();
    sdk.initialize(json!({"hooks": null})).await;
    sdk.prompt("go").await;
    let (frames, ending) = sdk.close().await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "system init",
            "assistant",
            "user",
            "assistant",
            "result",
            "system idle"
        ]
    );
    let result = &frames[5];
    assert_eq!(result["result"], "Read it.");
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["terminal_reason"], "completed");
    assert_eq!(
        frames[3]["tool_use_result"]["file"]["content"],
        "hello file\n"
    );
    for frame in &frames {
        assert!(
            frame["uuid"].is_string() && frame["session_id"].is_string(),
            "{frame}"
        );
    }
    assert_eq!(ending, Ending::Done { failed: false });
}

#[tokio::test]
async fn without_initialize_a_prompt_is_answered_too() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    sdk.prompt("hi").await;
    let (frames, _) = sdk.close().await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "system init",
            "assistant",
            "result",
            "system idle"
        ]
    );
}

#[tokio::test]
async fn prompts_may_be_written_before_initialize_is_answered() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    let initialize =
        json!({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize"}});
    let prompt = json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}});
    sdk.write(format!("{initialize}\n{prompt}\n").as_bytes())
        .await;
    let (frames, _) = sdk.close().await;
    assert_eq!(frames[0]["type"], "control_response");
    assert_eq!(frames.last().unwrap()["state"], "idle");
}

#[tokio::test]
async fn nothing_asked_nothing_said() {
    let mut sdk = Sdk::start(&[], json!([says("never")]));
    sdk.initialize(json!({})).await;
    let (frames, ending) = sdk.close().await;
    assert!(frames.is_empty(), "{frames:?}");
    assert_eq!(ending, Ending::Done { failed: false });
}

#[tokio::test]
async fn one_process_answers_any_number_of_prompts() {
    let mut sdk = Sdk::start(
        &[],
        json!([says("one"), {"expect": {"messages": 3}, "respond": "two"}]),
    );
    for answer in ["one", "two"] {
        sdk.prompt("go").await;
        let frames = sdk.until("system idle").await;
        assert_eq!(frames[1]["subtype"], "init");
        assert_eq!(frames[frames.len() - 2]["result"], answer);
    }
    let (rest, _) = sdk.close().await;
    assert!(rest.is_empty());
}

#[tokio::test]
async fn a_prompt_with_an_id_is_told_of_and_taken_once() {
    let mut sdk = Sdk::start(
        &["--replay-user-messages"],
        json!([says("one"), says("two")]),
    );
    let id = "4d578cf2-9083-4bdd-9824-64cf7e68b1af";
    let frame = json!({"type": "user", "uuid": id, "origin": {"kind": "human"}, "message": {"role": "user", "content": "hi"}});
    sdk.send(frame.clone()).await;
    let frames = sdk.until("system idle").await;
    let lives: Vec<&str> = frames
        .iter()
        .filter(|f| f["command_uuid"] == id)
        .map(|f| f["state"].as_str().unwrap())
        .collect();
    assert_eq!(lives, ["queued", "started", "completed"]);
    let replay = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(
        (&replay["uuid"], &replay["isReplay"]),
        (&json!(id), &json!(true))
    );
    let result = &frames[frames.len() - 2];
    assert_eq!(result["user_message_uuids"], json!([id]));
    assert_eq!(result["origin"], json!({"kind": "human"}));
    sdk.send(frame).await;
    sdk.prompt("another").await;
    let result = sdk.first("result").await;
    assert_eq!(
        result["result"], "two",
        "what was sent twice was taken once"
    );
}

#[tokio::test]
async fn what_is_not_a_question_is_read_with_the_next_one() {
    let second = json!({"expect": {"messages": 1, "last_user_contains": ["The door is open.", "What did I say?"]}, "respond": "That."});
    let mut sdk = Sdk::start(&[], json!([second]));
    sdk.send(json!({"type": "user", "shouldQuery": false, "message": {"role": "user", "content": "The door is open."}})).await;
    let frames = sdk.until("system idle").await;
    assert_eq!(
        kinds(&frames),
        ["system running", "system init", "result", "system idle"]
    );
    assert_eq!(frames[2]["num_turns"], 0);
    sdk.prompt("What did I say?").await;
    assert_eq!(sdk.first("result").await["result"], "That.");
}

#[tokio::test]
async fn a_conversation_can_begin_anew() {
    let mut sdk = Sdk::start(
        &[],
        json!([says("one"), {"expect": {"messages": 1}, "respond": "two"}]),
    );
    sdk.prompt("go").await;
    let first = sdk.first("result").await;
    sdk.prompt("/clear").await;
    let frames = sdk.until("result").await;
    let reset = frames
        .iter()
        .find(|frame| frame["type"] == "conversation_reset")
        .unwrap();
    assert_eq!(reset["session_id"], first["session_id"]);
    let result = frames.last().unwrap();
    assert_eq!(result["session_id"], reset["new_conversation_id"]);
    assert_eq!(
        (&result["local_command"], &result["num_turns"]),
        (&json!("clear"), &json!(0))
    );
    sdk.prompt("go").await;
    let second = sdk.first("result").await;
    assert_eq!(second["session_id"], reset["new_conversation_id"]);
    assert_eq!(second["result"], "two");
}

#[tokio::test]
async fn what_it_cost_is_answered_without_the_model() {
    let mut sdk = Sdk::start(&[], json!([says("never")]));
    sdk.prompt("/cost").await;
    let frames = sdk.until("system idle").await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "system init",
            "assistant",
            "result",
            "system idle"
        ]
    );
    assert_eq!(frames[2]["message"]["model"], "<synthetic>");
    assert!(frames[3]["result"].as_str().unwrap().contains("Total cost"));
}

#[tokio::test]
async fn agents_schema_and_prompt_of_initialize_reach_the_session() {
    let answer = json!({"expect": {"system_contains": ["Be brief."], "tools_include": ["StructuredOutput"]},
        "respond": {"content": [{"type": "tool_use", "name": "StructuredOutput", "input": {"n": 7}}]}});
    let mut sdk = Sdk::start(&[], json!([answer]));
    let reply = sdk
        .initialize(json!({
            "agents": {"reviewer": {"description": "reviews", "prompt": "You review."}},
            "systemPrompt": ["Be brief."],
            "jsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        }))
        .await;
    let offers = |agent: &serde_json::Value| agent["name"] == "reviewer";
    assert!(reply["agents"].as_array().unwrap().iter().any(offers));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert!(
        frames[1]["agents"]
            .as_array()
            .unwrap()
            .contains(&json!("reviewer"))
    );
    assert_eq!(frames.last().unwrap()["structured_output"], json!({"n": 7}));
    sdk.model.verify().unwrap();
}
