//! MCP servers over HTTP: reached, let in, dying, and none.

use std::{io::Write as _, net::TcpStream, sync::Arc};

use serde_json::{Value, json};

use crate::{
    http::{HttpServer, Manners, McpServer, Request, begin, flood, respond, respond_json},
    support::{Sdk, all, calls, result_text, says},
};

fn config(server: Value) -> String {
    json!({"mcpServers": {"far": server}}).to_string()
}

pub(crate) async fn session(server: Value, exchanges: Value) -> Sdk {
    let config = config(server);
    let mut sdk = Sdk::start(
        &["--mcp-config", &config, "--allowedTools", "mcp__far"],
        exchanges,
    );
    sdk.initialize(json!({})).await;
    sdk
}

pub(crate) async fn run(sdk: &mut Sdk, prompt: &str) -> Vec<Value> {
    sdk.prompt(prompt).await;
    sdk.until("result").await
}

pub(crate) fn init(frames: &[Value]) -> &Value {
    let init = frames.iter().find(|frame| frame["subtype"] == "init");
    init.unwrap()
}

async fn status(sdk: &mut Sdk) -> Value {
    let reply = sdk.request(json!({"subtype": "mcp_status"})).await;
    reply["response"]["mcpServers"][0].clone()
}

fn results(frames: &[Value]) -> Vec<String> {
    all(frames, "user").into_iter().map(result_text).collect()
}

#[tokio::test]
async fn mcp_1_a_server_over_http_is_reached_and_its_tools_are_called() {
    let server = McpServer::start(Manners::default());
    let add = calls("mcp__far__add", json!({"a": 2, "b": 3}));
    let chatty = calls("mcp__far__chatty", json!({}));
    let mut sdk = session(
        json!({"type": "http", "url": server.url(), "headers": {"X-Team": "${TEAM:-blue}"}}),
        json!([add, chatty, says("Five.")]),
    )
    .await;
    let frames = run(&mut sdk, "go").await;
    assert_eq!(
        init(&frames)["mcp_servers"],
        json!([{"name": "far", "status": "connected"}])
    );
    assert_eq!(results(&frames), ["5", "this is chatty"]);
    let described = status(&mut sdk).await;
    assert_eq!(described["transport"], "http");
    assert_eq!(
        described["serverInfo"],
        json!({"name": "tester", "version": "1.2.3"})
    );
    // Everybody may read the status, so it does not hold what lets somebody in.
    assert_eq!(
        described["config"]["headers"],
        json!({"X-Team": "[hidden]"})
    );
    sdk.close().await;
    let requests = server.http.requests();
    assert!(requests.iter().all(|it| it.headers["x-team"] == "blue"));
    assert!(
        requests.iter().any(|it| it.method == "DELETE"),
        "it is told the end"
    );
}

#[tokio::test]
async fn mcp_1_tools_of_a_server_over_http_that_come_later_are_offered() {
    let server = McpServer::start(Manners::default());
    let grow = calls("mcp__far__grow", json!({}));
    let late = calls("mcp__far__late", json!({}));
    let mut sdk = session(
        json!({"type": "http", "url": server.url()}),
        json!([grow, says("One."), late, says("Two.")]),
    )
    .await;
    run(&mut sdk, "go").await;
    // The news comes over a stream of its own.
    while !status(&mut sdk).await["tools"].to_string().contains("late") {
        tokio::task::yield_now().await;
    }
    assert_eq!(results(&run(&mut sdk, "go on").await), ["this is late"]);
    sdk.close().await;
}

#[tokio::test]
async fn mcp_2_a_server_that_forgot_the_session_is_connected_anew_within_a_call() {
    let server = McpServer::start(Manners::default());
    let add = calls("mcp__far__add", json!({"a": 2, "b": 2}));
    let mut sdk = session(
        json!({"type": "http", "url": server.url()}),
        json!([says("One."), add, says("Two.")]),
    )
    .await;
    run(&mut sdk, "go").await;
    server.forget();
    assert_eq!(results(&run(&mut sdk, "go on").await), ["4"]);
    assert_eq!(server.begun(), 2);
    sdk.close().await;
}

#[tokio::test]
async fn mcp_2_a_server_that_wants_authorization_is_told_apart_and_let_in_with_its_header() {
    let secret = "Bearer sesame-open-the-door";
    let manners = || Manners {
        authorization: Some(secret.to_owned()),
        ..Manners::default()
    };
    let server = McpServer::start(manners());
    for (headers, advice) in [
        (json!({}), "`headers`"),
        (
            json!({"Authorization": "Bearer wrong-wrong-wrong"}),
            "expired?",
        ),
    ] {
        let without = json!({"type": "http", "url": server.url(), "headers": headers});
        let mut sdk = session(without, json!([says("Without.")])).await;
        let frames = run(&mut sdk, "go").await;
        assert_eq!(init(&frames)["mcp_servers"][0]["status"], "needs-auth");
        assert_eq!(frames.last().unwrap()["result"], "Without.");
        let reason = status(&mut sdk).await["error"].to_string();
        assert!(
            reason.contains("(401)") && reason.contains(advice),
            "{reason}"
        );
        assert!(!reason.contains("wrong-wrong"), "{reason}");
        sdk.close().await;
    }
    // The server says the secret, and nobody hears it.
    let tell = calls("mcp__far__tell", json!({}));
    let with = json!({"type": "http", "url": server.url(), "headers": {"authorization": secret}});
    let mut sdk = session(with, json!([tell, says("With.")])).await;
    let frames = run(&mut sdk, "go").await;
    assert_eq!(results(&frames), ["you came with Bearer [key]"]);
    let everything = format!("{frames:?}{:?}", status(&mut sdk).await);
    assert!(!everything.contains("sesame"), "{everything}");
    sdk.close().await;
}

/// Answers what a server of a few lines does not have: news are taken, there is no stream, and no other method.
fn refuse(request: &Request, stream: &mut TcpStream) {
    let is_news = request.method == "POST" && request.json().get("id").is_none();
    let status = match request.method.as_str() {
        "POST" if is_news => 202,
        "POST" => 400,
        _ => 405,
    };
    respond(stream, status, &[], b"");
}

/// A server that is none, and what is said of it.
type Broken = (&'static str, fn(&Request, &mut TcpStream), &'static str);

const BROKEN: [Broken; 9] = [
    (
        "is a website",
        |_, stream| respond(stream, 200, &[("content-type", "text/html")], b"<p>hello"),
        "text/html",
    ),
    (
        "has no such page",
        |_, stream| respond(stream, 404, &[], "<p>\n".repeat(9_000).as_bytes()),
        "(404)",
    ),
    (
        "is broken",
        |_, stream| respond(stream, 500, &[], b"oh"),
        "(500)",
    ),
    (
        "speaks JSON of another kind",
        |_, stream| respond_json(stream, &[], &json!({"a": 1})),
        "does not speak the Model Context Protocol",
    ),
    ("hangs up", |_, _| {}, "cannot reach"),
    (
        "ends its stream before the answer",
        |_, stream| {
            begin(stream, "text/event-stream");
            let _ = stream.write_all(b": nothing\n\n");
        },
        "does not speak the Model Context Protocol",
    ),
    (
        "answers with an endless body",
        |_, stream| flood(stream, "application/json", "[", &"[".repeat(1 << 16)),
        "longer than 16 MiB",
    ),
    (
        "answers with an endless event",
        |_, stream| flood(stream, "text/event-stream", "data: ", &"x".repeat(1 << 16)),
        "longer than 16 MiB",
    ),
    (
        "sends elsewhere",
        |_, stream| respond(stream, 307, &[("location", "http://127.0.0.2:1/mcp")], b""),
        "127.0.0.2:1, which is another server",
    ),
];

#[tokio::test]
async fn mcp_2_what_is_no_server_has_failed_with_the_reason_and_the_session_goes_on() {
    for kind in ["http", "sse"] {
        for (what, answer, said) in BROKEN {
            let server = HttpServer::start(answer);
            let mut sdk = session(
                json!({"type": kind, "url": server.url("/mcp")}),
                json!([says("Without.")]),
            )
            .await;
            let frames = run(&mut sdk, "go").await;
            assert_eq!(
                init(&frames)["mcp_servers"][0]["status"],
                "failed",
                "{kind}: {what}"
            );
            assert_eq!(frames.last().unwrap()["result"], "Without.");
            let reason = status(&mut sdk).await["error"].as_str().unwrap().to_owned();
            // An event that is no JSON is where messages are posted.
            let is_refused = reason.contains(said)
                || (kind == "sse" && reason.contains("does not speak the Model Context Protocol"));
            assert!(is_refused, "{kind}: {what}: {reason}");
            assert!(reason.len() < 1_000, "{reason}");
            sdk.close().await;
        }
    }
}

#[tokio::test]
async fn mcp_2_a_call_that_comes_to_nothing_fails_with_the_reason_and_others_go_on() {
    let server = McpServer::start(Manners::default());
    let exchanges = json!([
        calls("mcp__far__die", json!({})),
        calls("mcp__far__big", json!({})),
        calls("mcp__far__add", json!({"a": 1, "b": 1})),
        says("So."),
    ]);
    let mut sdk = session(json!({"type": "http", "url": server.url()}), exchanges).await;
    let results = results(&run(&mut sdk, "go").await);
    assert!(
        results[0].contains("The MCP server far failed: it ended its answer before the result"),
        "{results:?}"
    );
    assert!(results[1].contains("longer than 16 MiB"), "{results:?}");
    assert_eq!(results[2], "2");
    sdk.close().await;
}

#[tokio::test]
async fn mcp_1_what_headers_say_does_not_follow_to_another_server() {
    let speaker = McpServer::start(Manners::default());
    let target = speaker.url();
    let server = HttpServer::start(move |_, stream| {
        respond(stream, 307, &[("location", &target)], b"");
    });
    let config = json!({"type": "http", "url": server.url("/mcp"), "headers": {"Authorization": "Bearer secret"}});
    let mut sdk = session(config, json!([says("One.")])).await;
    run(&mut sdk, "go").await;
    let reason = status(&mut sdk).await["error"].to_string();
    assert!(reason.contains("another server"), "{reason}");
    assert!(speaker.http.requests().is_empty(), "nothing came there");
    sdk.close().await;
}

#[tokio::test]
async fn mcp_2_a_server_that_is_gone_fails_its_calls() {
    let is_gone = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let gone = Arc::clone(&is_gone);
    let server = HttpServer::start(move |request, stream| {
        let message = request.json();
        let result = match message["method"].as_str() {
            _ if gone.load(std::sync::atomic::Ordering::SeqCst) => return,
            Some("initialize") => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})
            }
            Some("tools/list") => {
                json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]})
            }
            _ => return refuse(request, stream),
        };
        respond_json(
            stream,
            &[],
            &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
        );
    });
    let exchanges = json!([
        says("One."),
        calls("mcp__far__add", json!({})),
        says("Two.")
    ]);
    let mut sdk = session(
        json!({"type": "http", "url": server.url("/mcp")}),
        exchanges,
    )
    .await;
    assert_eq!(
        init(&run(&mut sdk, "go").await)["mcp_servers"][0]["status"],
        "connected"
    );
    is_gone.store(true, std::sync::atomic::Ordering::SeqCst);
    let results = results(&run(&mut sdk, "go on").await);
    assert!(
        results[0].contains("The MCP server far failed: cannot reach"),
        "{results:?}"
    );
    sdk.close().await;
}

#[tokio::test]
async fn mcp_1_a_list_without_an_end_is_none_over_http() {
    for (tools, is_circle, said) in [
        (0, true, "came twice"),
        (2_000, false, "more than 10000 entries"),
    ] {
        let server = HttpServer::start(move |request, stream| {
            let message = request.json();
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})
                }
                Some("tools/list") => {
                    let page: usize = message["params"]["cursor"]
                        .as_str()
                        .map_or(0, |page| page.parse().unwrap());
                    let tools: Vec<Value> = (0..tools).map(|number| json!({"name": format!("t{page}_{number}"), "inputSchema": {"type": "object"}})).collect();
                    let next = if is_circle { 1 } else { page + 1 };
                    json!({"tools": tools, "nextCursor": next.to_string()})
                }
                _ => {
                    return refuse(request, stream);
                }
            };
            respond_json(
                stream,
                &[],
                &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
            );
        });
        let mut sdk = session(
            json!({"type": "http", "url": server.url("/mcp")}),
            json!([says("Without.")]),
        )
        .await;
        run(&mut sdk, "go").await;
        let reason = status(&mut sdk).await["error"].to_string();
        assert!(reason.contains(said), "{reason}");
        sdk.close().await;
    }
}

#[tokio::test]
async fn mcp_5_what_only_the_provider_proxies_is_in_the_status_with_the_reason() {
    let proxied =
        json!({"type": "claudeai-proxy", "url": "https://far.example/mcp", "id": "srv_1"});
    let mut sdk = session(proxied.clone(), json!([says("Without.")])).await;
    let frames = run(&mut sdk, "go").await;
    assert_eq!(init(&frames)["mcp_servers"][0]["status"], "failed");
    let described = status(&mut sdk).await;
    assert_eq!(
        (&described["config"], &described["transport"]),
        (&proxied, &json!("claudeai-proxy"))
    );
    assert!(
        described["error"].to_string().contains("claudeai-proxy"),
        "{described}"
    );
    sdk.close().await;
}

/// A server of the transport of 2024: answers come over the stream.
pub(crate) fn sse_server() -> HttpServer {
    let stream: Arc<std::sync::Mutex<Option<TcpStream>>> = Arc::default();
    HttpServer::start(move |request, answer| {
        if request.method == "GET" {
            begin(answer, "text/event-stream");
            let _ = answer.write_all(b"event: endpoint\ndata: /messages?session=1\n\n");
            *stream.lock().unwrap() = Some(answer.try_clone().unwrap());
            return;
        }
        assert_eq!(request.path, "/messages?session=1");
        respond(answer, 202, &[], b"");
        let message = request.json();
        let result = match message["method"].as_str().unwrap() {
            "initialize" => {
                json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}})
            }
            "tools/list" => {
                json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}, {"name": "end", "inputSchema": {"type": "object"}}]})
            }
            "tools/call" if message["params"]["name"] == "end" => {
                let gone = stream.lock().unwrap().take().unwrap();
                return gone.shutdown(std::net::Shutdown::Both).unwrap();
            }
            "tools/call" => json!({"content": [{"type": "text", "text": "hello"}]}),
            _ => return,
        };
        let result = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let mut stream = stream.lock().unwrap();
        let _ = stream
            .as_mut()
            .unwrap()
            .write_all(format!("event: message\ndata: {result}\n\n").as_bytes());
    })
}

#[tokio::test]
async fn mcp_1_a_server_of_the_first_transport_over_http_is_reached() {
    let server = sse_server();
    let exchanges = json!([
        calls("mcp__far__hello", json!({})),
        calls("mcp__far__end", json!({})),
        says("So.")
    ]);
    let with = json!({"type": "sse", "url": server.url("/sse"), "headers": {"X-Team": "blue"}});
    let mut sdk = session(with, exchanges).await;
    let frames = run(&mut sdk, "go").await;
    assert_eq!(init(&frames)["mcp_servers"][0]["status"], "connected");
    let results = results(&frames);
    assert_eq!(results[0], "hello");
    assert!(
        results[1].contains("The MCP server far failed"),
        "{results:?}"
    );
    assert!(
        server
            .requests()
            .iter()
            .all(|it| it.headers["x-team"] == "blue")
    );
    sdk.close().await;
}
