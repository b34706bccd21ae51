//! Servers that speak chat completions.

use serde_json::json;

use crate::support::{Windlass, model, saying};

/// A script for a server that serves one question about a file.
fn about_a_file() -> String {
    json!({"exchanges": [
        {
            "expect": {
                "path": "/v1/chat/completions", "model": "qwen3", "stream": true,
                "headers": {"authorization": "Bearer sk-secret", "x-api-key": false, "anthropic-version": false},
                "tools_include": ["Read", "Bash"], "last_user_contains": "What does it say?",
                "fields": {"/stream_options/include_usage": true, "/messages/0/role": "system"},
            },
            "respond": {"content": [
                {"type": "thinking", "thinking": "I should look."},
                {"type": "tool_use", "name": "Read", "id": "call_1", "input": {"file_path": "note.txt"}},
                {"type": "tool_use", "name": "Bash", "id": "call_2", "input": {"command": "printenv OPENAI_API_KEY || echo hidden"}},
            ]},
        },
        {
            "expect": {"tool_results": [
                {"id": "call_1", "contains": "Buy milk", "is_error": false},
                {"id": "call_2", "contains": "hidden"},
            ]},
            "respond": {"text": "Buy milk.", "usage": {"input_tokens": 20, "output_tokens": 5, "cache_read_input_tokens": 7}},
        },
    ]})
    .to_string()
}

#[test]
fn a_server_of_chat_completions_is_asked_and_its_calls_run() {
    // As it is written for other clients of such servers; an address without a path means the same.
    for path in ["/v1", ""] {
        let server = model(&about_a_file());
        let base_url = format!("{}{path}", server.url());
        let windlass = Windlass::new();
        windlass.write("note.txt", "Buy milk\n");
        let args = [
            "-p",
            "What does it say?",
            "--provider",
            "openai",
            "--base-url",
            &base_url,
            "--model",
            "qwen3",
            "--allowedTools",
            "Bash(printenv:*),Bash(echo:*)",
            "--output-format",
            "json",
        ];
        let mut command = windlass.command(&args);
        let output = command.env("OPENAI_API_KEY", "sk-secret").output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stdout}");
        let result: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(result["result"], "Buy milk.");
        assert_eq!(result["total_cost_usd"], 0.0, "{result}");
        assert_eq!(result["modelUsage"]["qwen3"]["cacheReadInputTokens"], 7);
        server.verify().unwrap();
    }
}

/// The short names are those of the other provider: here they are the server's own, and have no price.
#[test]
fn a_short_name_is_a_name_like_any_other_to_such_a_server() {
    let server = model(r#"{"exchanges": [{"expect": {"model": "sonnet"}, "respond": "Hello."}]}"#);
    let url = format!("{}/v1", server.url());
    let args = ["-p", "Hi", "--provider", "openai", "--base-url", &url];
    let flags = ["--model", "sonnet", "--output-format", "json"];
    let done = Windlass::new().run(&[&args[..], &flags].concat());
    let [result] = done.lines().try_into().unwrap();
    assert_eq!(result["result"], "Hello.", "{result}");
    assert_eq!(result["total_cost_usd"], 0.0, "{result}");
    server.verify().unwrap();
}

#[test]
fn the_address_may_come_from_the_environment() {
    let server = saying(["Hello."]);
    let windlass = Windlass::new();
    let mut command = windlass.command(&["-p", "Hi", "--provider", "openai", "--model", "m"]);
    let url = format!("{}/v1", server.url());
    let output = command.env("OPENAI_BASE_URL", url).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Hello.\n");
    server.verify().unwrap();
}

#[test]
fn what_is_missing_is_named() {
    let windlass = Windlass::new();
    let here = [
        "-p",
        "Hi",
        "--provider",
        "openai",
        "--base-url",
        "http://127.0.0.1:9",
    ];
    let complaint = windlass.run(&here);
    assert_eq!(complaint.code, Some(2), "{complaint:?}");
    assert!(complaint.stderr.contains("needs --model"), "{complaint:?}");
    let complaint = windlass.run(&["-p", "Hi", "--provider", "openai", "--model", "m"]);
    assert!(complaint.complaint(3).contains("OPENAI_API_KEY"));
}
