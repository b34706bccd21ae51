//! Whole sessions through the real driver and transport, against a bare loop.

use std::{
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use windlass::{Agent, Tool};

use crate::{
    flat::FlatResponse,
    process::{anonymous_mib, cpu_ms},
    server::BenchServer,
    table::{Goal, Table, in_turns, median},
};

/// What the tool of either client returns: 2 KB.
fn tool_output() -> String {
    "0123456789abcde\n".repeat(128)
}

/// What a client process reports of itself.
#[derive(Serialize, Deserialize)]
struct Report {
    cpu_ms: f64,
    anonymous_mib: f64,
}

pub(crate) fn measure(table: &mut Table) {
    for (turns, rounds) in [(50, 9), (200, 7)] {
        let server = BenchServer::start(turns);
        let mut gaps = Vec::new();
        let mut memory = Vec::new();
        let (ours, bare) = in_turns(
            rounds,
            || {
                server.take_gaps();
                let report = spawn("windlass", &server.url, turns);
                // The last tenth of the conversation, where the history is longest.
                let late = server.take_gaps().split_off(turns - turns / 10);
                gaps.push(median(late) * 1e3);
                memory.push(report.anonymous_mib);
                report.cpu_ms
            },
            || {
                server.take_gaps();
                spawn("bare", &server.url, turns).cpu_ms
            },
        );
        let figure = format!("CPU of a session of {turns} turns (bare loop)");
        table.pair(&figure, "ms", ours, bare, Goal::AtMost(2.0));
        if turns == 200 {
            table.value(
                "response end to next request, last tenth of 200 turns",
                "ms",
                median(gaps),
                Goal::AtMost(2.0),
            );
        } else {
            table.value(
                "resident anonymous memory after 50 turns",
                "MiB",
                median(memory),
                Goal::AtMost(15.0),
            );
        }
    }
}

fn spawn(kind: &str, url: &str, turns: usize) -> Report {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["client", kind, url, &turns.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("a client process starts");
    serde_json::from_slice(&output.stdout).expect("the client reports")
}

/// The client processes: `client windlass|bare URL TURNS`.
pub(crate) fn client(kind: &str, url: &str, turns: &str) -> ExitCode {
    let turns: usize = turns.parse().expect("a number of turns");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let completed = match kind {
        "windlass" => runtime.block_on(windlass_client(url)),
        _ => runtime.block_on(bare_client(url)),
    };
    assert_eq!(completed, turns + 1, "every turn was taken");
    let report = Report {
        cpu_ms: cpu_ms(),
        anonymous_mib: anonymous_mib(),
    };
    println!("{}", serde_json::to_string(&report).expect("numbers"));
    ExitCode::SUCCESS
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Lookup {
    /// What to look up.
    #[allow(dead_code)]
    key: String,
}

async fn windlass_client(url: &str) -> usize {
    let output: Arc<str> = tool_output().into();
    let agent = Agent::builder()
        .base_url(url)
        .api_key("bench")
        .model("claude-sonnet-4-6")
        .tools(Vec::<String>::new())
        .tool(Tool::new(
            "lookup",
            "Looks something up",
            move |_: Lookup| {
                let output = output.clone();
                async move { output.to_string() }
            },
        ))
        .allowed_tools(["lookup"])
        .build()
        .expect("the agent is complete");
    let result = agent.run("go").await.expect("the run ends");
    result.num_turns as usize
}

/// The bare loop: reqwest, flat typed structs, the history kept as bytes. No permissions, no retries,
/// no messages, no schema check: what any agent at least has to do.
async fn bare_client(url: &str) -> usize {
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(no_tls())
        .no_proxy()
        .build()
        .expect("a client");
    let tool_output = tool_output();
    let url = format!("{url}/v1/messages");
    let head = r#"{"model":"claude-sonnet-4-6","max_tokens":4096,"stream":true,"tools":[{"name":"lookup","description":"Looks something up","input_schema":{"type":"object","properties":{"key":{"type":"string"}}}}],"messages":["#;
    let mut history = head.as_bytes().to_vec();
    history.extend_from_slice(br#"{"role":"user","content":"go"}"#);
    let mut turns = 0;
    loop {
        let mut body = Vec::with_capacity(history.len() + 2);
        body.extend_from_slice(&history);
        body.extend_from_slice(b"]}");
        let request = client
            .post(&url)
            .header("content-type", "application/json")
            .header("x-api-key", "bench")
            .body(body);
        let mut stream = request.send().await.expect("an answer").bytes_stream();
        let mut response = FlatResponse::default();
        let mut held: Vec<u8> = Vec::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.expect("a whole body");
            let mut rest = &chunk[..];
            while let Some(end) = memchr::memchr(b'\n', rest) {
                held.extend_from_slice(&rest[..end]);
                response.line(&held);
                held.clear();
                rest = &rest[end + 1..];
            }
            held.extend_from_slice(rest);
        }
        turns += 1;
        if response.calls.is_empty() {
            return turns;
        }
        append(&mut history, &response, &tool_output);
    }
}

/// Loopback needs no certificates; loading them would burden the baseline.
fn no_tls() -> rustls::ClientConfig {
    let provider = rustls::crypto::ring::default_provider();
    rustls::ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .expect("the provider knows TLS 1.3")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

/// Adds the response and the results of its calls.
fn append(history: &mut Vec<u8>, response: &FlatResponse, tool_output: &str) {
    let mut push = |text: &str| history.extend_from_slice(text.as_bytes());
    let quoted = |text: &str| serde_json::to_string(text).expect("a string");
    push(r#",{"role":"assistant","content":[{"type":"text","text":"#);
    push(&quoted(&response.text));
    push("}");
    for (id, name, input) in &response.calls {
        push(&format!(
            r#",{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#
        ));
    }
    push(r#"]},{"role":"user","content":["#);
    for (i, (id, _, _)) in response.calls.iter().enumerate() {
        if i > 0 {
            push(",");
        }
        push(&format!(
            r#"{{"type":"tool_result","tool_use_id":"{id}","content":{}}}"#,
            quoted(tool_output)
        ));
    }
    push("]}");
}
