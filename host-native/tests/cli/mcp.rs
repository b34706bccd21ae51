//! MCP servers over HTTP in the command line, and `windlass mcp`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    http::{Manners, McpServer, Together},
    support::{Windlass, calling, saying},
};

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

fn body(server: &windlass::model_server::ModelServer, number: usize) -> Value {
    serde_json::from_slice(&server.requests()[number].body).unwrap()
}

#[test]
fn mcp_1_why_a_server_over_http_is_not_there_is_said() {
    let secret = "Bearer sesame-open-the-door";
    let far = McpServer::start(Manners {
        authorization: Some(secret.to_owned()),
        ..Manners::default()
    });
    let config = json!({"mcpServers": {
        "locked": {"type": "http", "url": far.url()},
        "gone": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
    }});
    let server = saying(["Done."]);
    let done = Windlass::asking(&server).run(&["-p", "Hi", "--mcp-config", &config.to_string()]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "Done.\n"));
    for part in [
        "the MCP server locked is not connected: ",
        "without authorization (401)",
        "the MCP server gone is not connected: cannot reach http://127.0.0.1:9/mcp: ",
    ] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
}

#[test]
fn mcp_1_a_header_names_a_variable_and_a_strange_folder_gets_no_request() {
    let secret = "Bearer sesame-open-the-door";
    let far = McpServer::start(Manners {
        authorization: Some(secret.to_owned()),
        ..Manners::default()
    });
    let config = json!({"mcpServers": {"far": {"type": "http", "url": far.url(),
        "headers": {"Authorization": "Bearer ${SESAME}"}}}});
    for is_trusted in [false, true] {
        let server = calling("mcp__far__add", &json!({"a": 2, "b": 3}), "Done.");
        let windlass = Windlass::asking(&server);
        windlass.write(".mcp.json", &config.to_string());
        let flags: &[&str] = if is_trusted { &["--trust"] } else { &[] };
        let words = [&["-p", "Hi", "--allowedTools", "mcp__far"], flags].concat();
        let mut command = windlass.command(&words);
        let output = command
            .env("SESAME", "sesame-open-the-door")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(far.http.requests().is_empty(), !is_trusted);
        let said = body(&server, 1)["messages"].to_string();
        assert_eq!(said.contains("\"5\""), is_trusted, "{said}");
    }
}

#[test]
fn mcp_1_twenty_servers_start_side_by_side() {
    // None answers before all have been asked.
    let together: Arc<Together> = Arc::default();
    let servers: Vec<McpServer> = (0..20)
        .map(|_| {
            McpServer::start(Manners {
                together: Some((20, Arc::clone(&together))),
                ..Manners::default()
            })
        })
        .collect();
    let configs = servers.iter().enumerate();
    let configs: serde_json::Map<String, Value> = configs
        .map(|(number, server)| {
            (
                format!("s{number}"),
                json!({"type": "http", "url": server.url()}),
            )
        })
        .collect();
    let config = json!({"mcpServers": configs}).to_string();
    let server = saying(["Done."]);
    let done = Windlass::asking(&server).run(&["-p", "Hi", "--mcp-config", &config]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
}

#[test]
fn mcp_1_servers_are_configured_listed_shown_tried_and_removed() {
    let far = McpServer::start(Manners::default());
    let windlass = Windlass::new();
    let file = windlass.home().join(".claude.json");
    std::fs::write(
        &file,
        r#"{"numStartups": 7, "projects": {"/y": {"z": 1.0}}}"#,
    )
    .unwrap();
    windlass.write(".mcp.json", r#"{"other": true, "mcpServers": {}}"#);
    let run = |words: &[&str]| {
        let done = windlass.run(&[&["mcp"], words].concat());
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (Some(0), ""),
            "{words:?}: {done:?}"
        );
        done.stdout
    };
    assert!(run(&["list"]).contains("no MCP servers"));
    let header = "Authorization: Bearer sesame-open-the-door";
    let added = run(&["add", "far", &far.url(), "--header", header]);
    assert!(
        added.contains("far is added for you in this folder"),
        "{added}"
    );
    run(&[
        "add",
        "--transport",
        "sse",
        "old",
        "http://127.0.0.1:9/sse",
        "--scope",
        "user",
    ]);
    run(&[
        "add",
        "notes",
        "--scope",
        "project",
        "-e",
        "NOTE=buy milk",
        "--",
        "python3",
        NOTES,
        "--quiet",
    ]);
    run(&[
        "add-json",
        "more",
        r#"{"type":"http","url":"${MORE:-http://127.0.0.1:9}/mcp"}"#,
    ]);

    // What else the files hold is there.
    let person: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        (&person["numStartups"], &person["projects"]["/y"]),
        (&json!(7), &json!({"z": 1.0}))
    );
    assert_eq!(
        person["mcpServers"]["old"],
        json!({"type": "sse", "url": "http://127.0.0.1:9/sse"})
    );
    let folder = windlass.workspace.path().canonicalize().unwrap();
    let local = &person["projects"][folder.to_str().unwrap()]["mcpServers"];
    assert_eq!(
        local["far"]["headers"]["Authorization"],
        "Bearer sesame-open-the-door"
    );
    let project: Value = serde_json::from_str(&windlass.file(".mcp.json")).unwrap();
    assert_eq!(project["other"], true);
    assert_eq!(
        project["mcpServers"]["notes"],
        json!({"type": "stdio", "command": "python3", "args": [NOTES, "--quiet"], "env": {"NOTE": "buy milk"}})
    );

    let listed = run(&["list"]);
    for part in [
        "far (local): ",
        "(http): connected, 7 tools",
        "old (user): http://127.0.0.1:9/sse (sse): failed: cannot reach",
        "notes (project): python3 ",
        "not tried: this folder is not trusted",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let shown = run(&["get", "far"]);
    for part in [
        "[hidden]",
        "connected (tester 1.2.3)",
        "tools: add, ",
        "resources: note://today, note://logo",
        "prompts: review",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("sesame"), "{shown}");
    let called = run(&[
        "test",
        "far",
        "--call",
        "add",
        "--input",
        r#"{"a": 40, "b": 2}"#,
    ]);
    assert!(called.contains("\"42\""), "{called}");
    assert!(run(&["test", &far.url()]).contains("connected"));

    let removed = run(&["remove", "far"]);
    assert!(removed.contains("far is removed from"), "{removed}");
    run(&["remove", "notes", "--scope", "project"]);
    assert!(!run(&["list"]).contains("far ("));
}

#[test]
fn mcp_1_a_server_that_was_added_is_one_of_sessions() {
    let far = McpServer::start(Manners::default());
    for scope in ["local", "user", "project"] {
        let server = calling("mcp__far__add", &json!({"a": 2, "b": 3}), "Done.");
        let windlass = Windlass::asking(&server);
        assert_eq!(
            windlass
                .run(&["mcp", "add", "far", &far.url(), "-s", scope])
                .code,
            Some(0)
        );
        let trust: &[&str] = if scope == "project" {
            &["--trust"]
        } else {
            &[]
        };
        let words = [&["-p", "Hi", "--allowedTools", "mcp__far"], trust].concat();
        let done = windlass.run(&words);
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{scope}");
        assert!(
            body(&server, 1)["messages"].to_string().contains("\"5\""),
            "{scope}"
        );
    }
}

#[test]
fn mcp_1_what_cannot_be_configured_is_refused_in_a_sentence_and_nothing_is_written() {
    let windlass = Windlass::new();
    for (words, code, said) in [
        (&["add", "a b", "x"][..], 2, "no name of a server"),
        (
            &["add", "a", "ftp://x", "--transport", "http"],
            2,
            "neither http:// nor https://",
        ),
        (
            &["add", "a", "https://x", "--header", "nonsense"],
            2,
            "--header \"NAME: VALUE\"",
        ),
        (
            &["add", "a", "x", "--header", "A: b"],
            2,
            "a program is sent no headers",
        ),
        (
            &["add", "a", "https://x", "--env", "A=b"],
            2,
            "neither arguments nor variables",
        ),
        (&["add-json", "a", "{"], 2, "no JSON"),
        (
            &["add-json", "a", r#"{"type":"ws","url":"wss://x"}"#],
            2,
            "\"ws\"",
        ),
        (&["remove", "a"], 3, "no MCP server a here"),
        (&["get", "a"], 3, "no MCP server a here"),
        (&["test", "a"], 3, "no MCP server a here"),
        (&["test", "http://127.0.0.1:9/mcp"], 1, ""),
    ] {
        let done = windlass.run(&[&["mcp"], words].concat());
        assert_eq!(done.code, Some(code), "{words:?}: {done:?}");
        assert!(done.stderr.contains(said), "{words:?}: {done:?}");
    }
    assert!(!windlass.home().join(".claude.json").exists());
    // A file that cannot be read is not changed.
    windlass.write(".mcp.json", "{");
    let done = windlass.run(&["mcp", "add", "a", "https://x", "--scope", "project"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stderr.contains(".mcp.json is not changed"), "{done:?}");
    assert_eq!(windlass.file(".mcp.json"), "{");
}
