//! MCP servers in the SDK's process.

use serde_json::{Value, json};

use crate::support::{Sdk, calls, calls_all, kind_of, kinds, result_text, says};

const CONFIG: &str = r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#;

fn add() -> Value {
    calls("mcp__calc__add", json!({"a": 2, "b": 3}))
}

/// Answers what a server is asked until it has said what tools it has: two pages of them.
async fn shake_hands(sdk: &mut Sdk) {
    loop {
        let asked = sdk.first("control_request mcp_message").await;
        assert_eq!(asked["request"]["server_name"], "calc");
        let message = asked["request"]["message"].clone();
        let result = match (
            message["method"].as_str().unwrap(),
            message["params"]["cursor"].as_str(),
        ) {
            ("initialize", _) => json!({"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1.0.0"}}),
            ("notifications/initialized", _) => {
                sdk.answer(
                    &asked,
                    json!({"mcp_response": {"jsonrpc": "2.0", "result": {}}}),
                )
                .await;
                continue;
            }
            ("tools/list", None) => json!({"nextCursor": "more", "tools": [
                {"name": "add", "description": "Adds", "inputSchema": {"type": "object"}}]}),
            ("tools/list", Some("more")) => json!({"tools": [
                {"name": "fail me", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]}),
            other => panic!("{other:?}"),
        };
        let is_last = message["params"]["cursor"] == "more";
        answer_rpc(sdk, &asked, json!({ "result": result })).await;
        if is_last {
            return;
        }
    }
}

async fn answer_rpc(sdk: &mut Sdk, asked: &Value, mut response: Value) {
    response["jsonrpc"] = "2.0".into();
    response["id"] = asked["request"]["message"]["id"].clone();
    sdk.answer(asked, json!({ "mcp_response": response })).await;
}

async fn begun(flags: &[&str], initialize: Value, exchanges: Value) -> Sdk {
    let mut sdk = Sdk::start(flags, exchanges);
    sdk.initialize(initialize).await;
    sdk.prompt("go").await;
    shake_hands(&mut sdk).await;
    sdk
}

#[tokio::test]
async fn mcp_1_a_server_of_the_python_sdk_is_asked_and_called() {
    let flags = ["--mcp-config", CONFIG, "--allowedTools", "mcp__calc__add"];
    let first = json!({"expect": {"tools_include": ["mcp__calc__add", "mcp__calc__fail_me"]},
        "respond": {"content": [{"type": "tool_use", "name": "mcp__calc__add", "input": {"a": 2, "b": 3}}]}});
    let mut sdk = begun(&flags, json!({}), json!([first, says("Five.")])).await;
    let frames = sdk.until("control_request mcp_message").await;
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    assert_eq!(init["mcp_servers"][0]["status"], "connected");
    let asked = frames.last().unwrap().clone();
    let params = &asked["request"]["message"]["params"];
    assert_eq!(
        (&params["name"], &params["arguments"]),
        (&json!("add"), &json!({"a": 2, "b": 3}))
    );
    assert_eq!(params["_meta"]["claudecode/toolUseId"], "toolu_1_1");
    answer_rpc(
        &mut sdk,
        &asked,
        json!({"result": {"content": [{"type": "text", "text": "5"}]}}),
    )
    .await;
    let result = sdk.first("user").await;
    assert_eq!(result_text(&result), "5");
    assert_eq!(sdk.first("result").await["result"], "Five.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn mcp_1_a_server_of_the_typescript_sdk_and_its_errors() {
    let exchanges = json!([
        add(),
        add(),
        calls("mcp__calc__fail_me", json!({})),
        says("Well.")
    ]);
    let flags = ["--allowedTools=mcp__calc__*"];
    let mut sdk = begun(&flags, json!({"sdkMcpServers": ["calc"]}), exchanges).await;
    let answers = [
        (
            json!({"result": {"isError": true, "content": [{"type": "text", "text": "overflow"}]}}),
            "overflow",
        ),
        (
            json!({"error": {"code": -32601, "message": "no such tool"}}),
            "no such tool",
        ),
        (json!({"neither": 1}), "neither a result nor an error"),
    ];
    for (answer, text) in answers {
        let asked = sdk.first("control_request mcp_message").await;
        answer_rpc(&mut sdk, &asked, answer).await;
        let result = sdk.first("user").await;
        assert_eq!(result["message"]["content"][0]["is_error"], true);
        assert!(result_text(&result).contains(text), "{result}");
    }
    assert_eq!(sdk.first("result").await["result"], "Well.");
}

#[tokio::test]
async fn mcp_1_a_tool_of_a_server_does_not_run_unasked() {
    let mut sdk = begun(
        &["--mcp-config", CONFIG],
        json!({}),
        json!([add(), says("Well.")]),
    )
    .await;
    let frames = sdk.until("result").await;
    assert!(!kinds(&frames).contains(&"control_request mcp_message".to_owned()));
    assert_eq!(
        frames.last().unwrap()["permission_denials"][0]["tool_name"],
        "mcp__calc__add"
    );
}

#[tokio::test]
async fn a_server_that_fails_is_left_out_and_says_so() {
    let mut sdk = Sdk::start(
        &["--mcp-config", CONFIG],
        json!([{"expect": {"tools_exclude": ["mcp__calc__add"]}, "respond": "Alone."}]),
    );
    sdk.initialize(json!({})).await;
    let asked = sdk.first("control_request mcp_message").await;
    sdk.fail(&asked, "no such server").await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    assert_eq!(init["mcp_servers"][0]["status"], "failed");
    let status = sdk.request(json!({"subtype": "mcp_status"})).await;
    let server = &status["response"]["mcpServers"][0];
    assert_eq!(
        (&server["status"], &server["error"]),
        (&json!("failed"), &json!("no such server"))
    );
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn servers_are_left_out_and_taken_in_again_between_turns() {
    let exchanges = json!([
        {"expect": {"tools_include": ["mcp__calc__add"]}, "respond": "one"},
        {"expect": {"tools_exclude": ["mcp__calc__add"], "messages": 3}, "respond": "two"},
        {"expect": {"tools_include": ["mcp__calc__add"], "messages": 5}, "respond": "three"},
    ]);
    let mut sdk = begun(&["--mcp-config", CONFIG], json!({}), exchanges).await;
    sdk.until("system idle").await;
    let reply = sdk
        .request(json!({"subtype": "mcp_toggle", "serverName": "calc", "enabled": false}))
        .await;
    assert_eq!(reply["subtype"], "success");
    sdk.prompt("go").await;
    sdk.until("system idle").await;
    let toggle = json!({"type": "control_request", "request_id": "on",
        "request": {"subtype": "mcp_toggle", "serverName": "calc", "enabled": true}});
    sdk.send(toggle).await;
    shake_hands(&mut sdk).await;
    assert_eq!(sdk.reply_to("on").await["subtype"], "success");
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "three");
    let unknown = sdk
        .request(json!({"subtype": "mcp_reconnect", "serverName": "zzz"}))
        .await;
    assert_eq!(unknown["error"], "Server not found: zzz");
    let none = sdk
        .request(json!({"subtype": "mcp_set_servers", "servers": {}}))
        .await;
    assert_eq!(
        none["response"],
        json!({"added": [], "removed": ["calc"], "errors": {}})
    );
    sdk.model.verify().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn mcp_1_the_tools_that_a_program_has_later_are_offered_from_then_on() {
    let notes = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");
    let config = json!({"mcpServers": {"notes": {"command": "python3", "args": [notes]}}});
    let second = json!({"expect": {"tools_include": ["mcp__notes__late"]}, "respond": "I see it."});
    let exchanges = json!([calls("mcp__notes__grow", json!({})), says("Grown."), second]);
    let flags = [
        "--mcp-config",
        &config.to_string(),
        "--allowedTools",
        "mcp__notes",
    ];
    let mut sdk = Sdk::start(&flags, exchanges);
    sdk.prompt("go").await;
    sdk.first("result").await;
    let listed = async {
        loop {
            let status = sdk.request(json!({"subtype": "mcp_status"})).await;
            if status.to_string().contains("Came later") {
                return;
            }
        }
    };
    let listed = tokio::time::timeout(std::time::Duration::from_secs(60), listed).await;
    assert!(listed.is_ok(), "the server's tools have changed");
    sdk.prompt("and now?").await;
    assert_eq!(sdk.first("result").await["result"], "I see it.");
    sdk.model.verify().unwrap();
}

/// Both tools only read, each by another spelling of that.
#[tokio::test]
async fn tool_30_handlers_give_texts_images_and_resources_and_annotations_have_two_spellings() {
    let tool = |name: &str, annotations: Value| json!({"name": name, "description": "Looks", "inputSchema": {"type": "object"}, "annotations": annotations});
    let tools = json!([
        tool("look", json!({"readOnlyHint": true})),
        tool("peek", json!({"readOnly": true})),
        tool("write", json!({})),
    ]);
    let both = calls_all(&[
        ("mcp__calc__look", json!({})),
        ("mcp__calc__peek", json!({})),
    ]);
    let flags = ["--mcp-config", CONFIG, "--allowedTools", "mcp__calc"];
    let mut sdk = Sdk::start(
        &flags,
        json!([both, calls("mcp__calc__write", json!({})), says("Done.")]),
    );
    sdk.send(
        json!({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize"}}),
    )
    .await;
    sdk.prompt("go").await;
    let picture = json!({"content": [
        {"type": "text", "text": "A dot."},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "note://x", "text": "of the resource", "mimeType": "text/plain"}},
    ]});
    let failure = json!({"isError": true, "content": [{"type": "text", "text": "no ink"}]});
    // The two that read are asked for before either is answered.
    let mut waiting: Vec<Value> = Vec::new();
    loop {
        let frame = sdk.next().await.unwrap();
        if kind_of(&frame) == "result" {
            break;
        }
        if kind_of(&frame) != "control_request mcp_message" {
            continue;
        }
        let message = &frame["request"]["message"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1.0.0"}}),
            "tools/list" => json!({ "tools": tools }),
            "tools/call" if message["params"]["name"] == "write" => failure.clone(),
            "tools/call" => {
                waiting.push(frame.clone());
                if waiting.len() == 2 {
                    for asked in &waiting {
                        answer_rpc(&mut sdk, asked, json!({ "result": picture })).await;
                    }
                }
                continue;
            }
            _ => json!({}),
        };
        answer_rpc(&mut sdk, &frame, json!({ "result": result })).await;
    }
    let bodies = sdk.bodies();
    let answered = bodies[1]["messages"][2]["content"].as_array().unwrap();
    assert_eq!(answered.len(), 2);
    for result in answered {
        let content = &result["content"];
        assert_eq!(content[0], json!({"type": "text", "text": "A dot."}));
        assert_eq!(
            (&content[1]["type"], &content[1]["source"]["media_type"]),
            (&json!("image"), &json!("image/png"))
        );
        assert!(
            content[2].to_string().contains("of the resource"),
            "{content}"
        );
    }
    let failed = &bodies[2]["messages"][4]["content"][0];
    assert_eq!(failed["is_error"], true);
    assert!(failed["content"].to_string().contains("no ink"));
}
