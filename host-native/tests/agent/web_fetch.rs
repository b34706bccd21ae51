//! WebFetch from outside: pages of a server on loopback, which the agent is told that it may reach.

use serde_json::{Value, json};
use windlass::{AgentBuilder, Message, PermissionResponse};

use crate::{
    support::{Model, calls, messages, text},
    web_server::{Page, WebServer},
};

fn fetch(url: &str) -> Value {
    calls(&[("WebFetch", json!({ "url": url, "prompt": "What is it?" }))])
}

/// An agent that may fetch from this server.
fn agent(model: &Model, server: &WebServer) -> AgentBuilder {
    model
        .agent()
        .tools(["WebFetch"])
        .web_private_hosts([server.host()])
        .allowed_tools(["WebFetch"])
}

/// What the model is told when it fetches this, from this server, by these rules.
async fn told(server: &WebServer, url: &str) -> (String, bool) {
    let model = Model::of(json!([fetch(url), { "respond": "done" }]));
    let agent = agent(&model, server).build().unwrap();
    assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
    model.verify();
    told_last(&model)
}

/// The last result that the model was sent.
fn told_last(model: &Model) -> (String, bool) {
    let request = model.requests().pop().unwrap();
    let result = &request["messages"].as_array().unwrap().last().unwrap()["content"][0];
    let content = result["content"].as_str().unwrap_or_default().to_owned();
    (content, result["is_error"] == true)
}

#[tokio::test]
async fn tool_8_a_page_is_read_by_a_small_model_and_what_that_costs_counts() {
    let html = "<title>A shop</title><h1>Prices</h1><p>One <b>apple</b> is <a href='/x'>2 francs</a>.<script>no()</script>";
    let server = WebServer::start([("/shop", Page::of("text/html; charset=utf-8", html))]).await;
    let model = Model::of(json!([
        fetch(&server.url("/shop")),
        {
            "expect": {
                "fields": { "/model": "claude-haiku-4-5", "/messages/0/role": "user" },
                "absent": ["/tools", "/messages/1"],
            },
            "respond": { "content": [{ "type": "text", "text": "An apple is 2 francs." }],
                "usage": { "input_tokens": 1000, "output_tokens": 100 } }
        },
        {
            "expect": { "tool_results": [{ "id": "toolu_1_1", "contains": "An apple is 2 francs.", "is_error": false }] },
            "respond": "done"
        },
    ]));
    let agent = agent(&model, &server)
        .model("claude-sonnet-4-6")
        .small_fast_model("claude-haiku-4-5")
        .build()
        .unwrap();
    let mut run = agent.query("What is an apple?");
    let messages = messages(&mut run).await;
    model.verify();

    let asked = &model.requests()[1]["messages"][0]["content"];
    let asked = asked.to_string();
    for expected in [
        "Title: A shop",
        "# Prices",
        "One **apple** is [2 francs](http://127.0.0.1",
        "What is it?",
    ] {
        assert!(asked.contains(expected), "{expected}: {asked}");
    }
    assert!(!asked.contains("no()"), "{asked}");

    let output = messages.iter().find_map(|message| match message {
        Message::User(user) => user.tool_use_result.clone(),
        _ => None,
    });
    let output: Value = output.unwrap().decode().unwrap();
    assert_eq!(output["code"], 200);
    assert_eq!(output["codeText"], "OK");
    assert_eq!(output["bytes"], html.len());
    assert_eq!(output["result"], "An apple is 2 francs.");
    assert_eq!(output["url"], server.url("/shop"));
    assert!(output["durationMs"].is_u64());

    let Some(Message::Result(result)) = messages.last() else {
        panic!("no result")
    };
    let small = &result.model_usage["claude-haiku-4-5"];
    assert_eq!((small.input_tokens, small.output_tokens), (1000, 100));
    assert!(small.cost_usd.nanos > 0);
    let all = result
        .model_usage
        .iter()
        .map(|(_, usage)| usage.cost_usd.nanos);
    assert_eq!(result.total_cost_usd.nanos, all.sum::<u64>());
}

/// Without a small model it is that of the conversation, also when it was changed.
#[tokio::test]
async fn tool_8_the_model_of_the_conversation_reads_where_there_is_no_other() {
    let server = WebServer::start([("/", Page::of("text/plain", "plain"))]).await;
    let model = Model::of(json!([
        fetch(&server.url("/")),
        { "expect": { "fields": { "/model": "claude-opus-4-6" } }, "respond": "It is plain." },
        { "respond": "done" },
    ]));
    let agent = agent(&model, &server)
        .model("claude-sonnet-4-6")
        .build()
        .unwrap();
    let session = agent.session();
    session.set_model(Some("claude-opus-4-6"));
    assert_eq!(text(session.prompt("Go.").result().await.unwrap()), "done");
    model.verify();
}

#[tokio::test]
async fn tool_8_a_page_is_fetched_once_in_a_quarter_of_an_hour() {
    let server = WebServer::start([("/", Page::of("text/plain", "x".repeat(150_000)))]).await;
    let url = server.url("/");
    let at = |offset: u64| {
        calls(&[(
            "WebFetch",
            json!({ "url": url, "prompt": "?", "offset": offset }),
        )])
    };
    let model = Model::of(json!([
        at(0), { "respond": "first" },
        at(100_000), { "respond": "second" },
        at(150_000),
        { "respond": "done" },
    ]));
    let agent = agent(&model, &server).build().unwrap();
    assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
    model.verify();
    assert_eq!(server.asked(), ["/"]);
    let requests = model.requests();
    assert!(
        requests[2]
            .to_string()
            .contains("it has 150000 characters. Offset 100000 reads on.")
    );
    assert!(!requests[4].to_string().contains("200000"));
    let (last, is_error) = told_last(&model);
    assert!(
        is_error && last.contains("nothing at offset 150000"),
        "{last}"
    );
}

#[tokio::test]
async fn tool_8_what_is_no_page_is_one_clear_error() {
    let server = WebServer::start([
        (
            "/none",
            Page::Whole("500 Internal Server Error", b"oops".to_vec()),
        ),
        ("/image", Page::of("image/png", "\u{89}PNG")),
        ("/binary", Page::of("application/octet-stream", "a\0b")),
        (
            "/zipped",
            Page::Whole(
                "200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip",
                b"\x1f\x8b".to_vec(),
            ),
        ),
        ("/empty", Page::of("text/html", "<p> <script>1</script>")),
        ("/large", Page::of("text/html", "x".repeat((10 << 20) + 1))),
        (
            "/endless",
            Page::Endless("200 OK\r\ncontent-type: text/html"),
        ),
        (
            "/circle",
            Page::Whole("302 Found\r\nlocation: /circle", Vec::new()),
        ),
        (
            "/away",
            Page::Whole(
                "302 Found\r\nlocation: https://example.com/next",
                Vec::new(),
            ),
        ),
        (
            "/inside",
            Page::Whole(
                "302 Found\r\nlocation: http://127.0.0.1:1/admin",
                Vec::new(),
            ),
        ),
        (
            "/file",
            Page::Whole("302 Found\r\nlocation: file:///etc/passwd", Vec::new()),
        ),
        ("/lost", Page::Whole("302 Found", Vec::new())),
    ])
    .await;
    for (path, expected) in [
        ("/gone", "answers 404 Not Found"),
        ("/none", "answers 500 Internal Server Error"),
        ("/image", "is image/png, and WebFetch reads text only"),
        ("/binary", "is a binary file"),
        ("/zipped", "compressed (gzip), which was not asked for"),
        ("/empty", "the page has no text"),
        ("/large", "longer than 10 MiB"),
        ("/endless", "longer than 10 MiB"),
        ("/circle", "redirects again and again"),
        (
            "/away",
            "redirects to another place, https://example.com/next, which was not fetched",
        ),
        (
            "/inside",
            "redirects to another place, http://127.0.0.1:1/admin, which was not fetched",
        ),
        ("/file", "redirects to something that is no address"),
        ("/lost", "redirects to something that is no address"),
    ] {
        let (told, is_error) = told(&server, &server.url(path)).await;
        assert!(is_error && told.contains(expected), "{path}: {told}");
    }
}

#[tokio::test]
async fn tool_8_a_redirect_within_the_host_is_followed() {
    let server = WebServer::start([
        (
            "/old",
            Page::Whole("301 Moved Permanently\r\nlocation: new", Vec::new()),
        ),
        ("/new", Page::of("text/plain", "here")),
    ])
    .await;
    let model = Model::of(json!([
        fetch(&server.url("/old")),
        { "respond": "It is here." },
        { "respond": "done" },
    ]));
    let agent = agent(&model, &server).build().unwrap();
    assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
    assert_eq!(server.asked(), ["/old", "/new"]);
    assert!(model.requests()[1].to_string().contains("here"));
}

/// Whatever the model asks for and rules allow, nothing of this machine or its network is reached unless it was named.
#[tokio::test]
async fn tool_8_only_the_public_internet_is_reached() {
    let server = WebServer::start([("/", Page::of("text/plain", "secret"))]).await;
    let port = server.port;
    let private = [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://localhost.:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://0177.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[64:ff9b::7f00:1]:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://172.16.0.1/".to_owned(),
        "http://192.168.1.1/".to_owned(),
        "http://100.64.0.1/".to_owned(),
        "http://[fe80::1]/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
    ];
    let others = [
        "file:///etc/passwd".to_owned(),
        "ftp://example.com/".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
        format!("http://example.com@127.0.0.1:{port}/"),
        "https://user:word@example.com/".to_owned(),
        "example.com".to_owned(),
        String::new(),
        format!("https://example.com/{}", "x".repeat(9_000)),
    ];
    for (url, expected) in (private.iter().map(|url| (url, "is not fetched:")))
        .chain(others.iter().map(|url| (url, "")))
    {
        let model = Model::of(json!([fetch(url), { "respond": "done" }]));
        let agent = model
            .agent()
            .tools(["WebFetch"])
            .allowed_tools(["WebFetch"])
            .build()
            .unwrap();
        assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
        model.verify();
        let (told, is_error) = told_last(&model);
        assert!(is_error && told.contains(expected), "{url}: {told}");
        assert!(!told.contains("secret"), "{url}: {told}");
    }
    assert_eq!(server.asked(), Vec::<String>::new());
}

/// Rules name domains; whatever no rule allows is asked about.
#[tokio::test]
async fn tool_8_a_page_is_asked_about_unless_a_rule_names_its_domain() {
    let server = WebServer::start([("/", Page::of("text/plain", "x"))]).await;
    let domain = format!("WebFetch(domain:127.0.0.1:{})", server.port);
    for (allowed, denied, expected) in [
        (Some(domain.as_str()), None, true),
        (Some("WebFetch(domain:example.com)"), None, false),
        (None, None, false),
        (Some("WebFetch"), Some(domain.as_str()), false),
    ] {
        let mut exchanges = vec![fetch(&server.url("/"))];
        exchanges.extend(expected.then(|| json!({ "respond": "read" })));
        exchanges.push(json!({ "respond": "done" }));
        let model = Model::of(json!(exchanges));
        let agent = model
            .agent()
            .tools(["WebFetch"])
            .web_private_hosts([server.host()])
            .allowed_tools(allowed)
            .disallowed_tools(denied)
            .on_permission(|request| async move {
                assert_eq!(request.tool_name, "WebFetch");
                PermissionResponse::deny("not this one")
            })
            .build()
            .unwrap();
        assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
        model.verify();
    }
    assert_eq!(server.asked(), ["/"]);
}

#[tokio::test]
async fn tool_8_a_model_that_fails_leaves_the_session_usable() {
    let server = WebServer::start([("/", Page::of("text/plain", "x"))]).await;
    let model = Model::of(json!([
        fetch(&server.url("/")),
        { "respond": { "error": { "type": "invalid_request_error", "message": "no such thing" } } },
        { "respond": "done" },
    ]));
    let agent = agent(&model, &server).build().unwrap();
    assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
    let (told, is_error) = told_last(&model);
    assert!(
        is_error
            && told.contains("the model that was to read it failed")
            && told.contains("no such thing"),
        "{told}"
    );
}

#[test]
fn tool_8_a_private_host_that_is_none_is_refused() {
    let error = windlass::Agent::builder()
        .api_key("x")
        .web_private_hosts(["http://localhost/"])
        .build()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("web_private_hosts: `http://localhost/` is no domain"),
        "{error}"
    );
}
