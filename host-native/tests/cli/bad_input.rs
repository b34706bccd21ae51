//! Servers that are wrong, broken or not there; models that talk nonsense. Each gives one clear line and
//! an exit code, and nothing hangs.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::support::{Done, Windlass, model, saying};

/// Asks a model that answers the only request like this, without a second try.
fn answered(respond: &Value) -> Done {
    let server = model(&json!({"exchanges": [{"respond": respond}]}).to_string());
    Windlass::asking(&server).run(&["-p", "Hi", "--max-retries", "0"])
}

/// It must end with one line that contains these words.
#[track_caller]
fn fails(respond: &Value, words: &str) {
    let done = answered(respond);
    assert!(done.complaint(1).contains(words), "{done:?}");
}

#[test]
fn loop_9_a_wrong_key_is_said_to_be_wrong() {
    let error = json!({"error": {"type": "authentication_error", "message": "invalid x-api-key"}});
    fails(
        &error,
        "API Error: 401: check the API key (authentication_error: invalid x-api-key)",
    );
}

#[test]
fn loop_9_a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}");
    let done = Windlass::new().run(&["-p", "Hi", "--base-url", &url, "--max-retries", "1"]);
    let complaint = done.complaint(1);
    assert!(
        complaint.contains(&format!("Could not connect to {url}")),
        "{complaint}"
    );
    assert!(complaint.contains("is the server running"), "{complaint}");
}

#[test]
fn loop_9_a_stream_that_breaks_off_is_told() {
    fails(
        &json!({"text": "Half of it", "faults": [{"after_events": 3, "cut": true}]}),
        "broke",
    );
    fails(
        &json!({"text": "Half of it", "faults": [{"after_events": 3, "end": true}]}),
        "closed the stream before the response was complete",
    );
    fails(&json!({"cut": true}), "broke");
}

#[test]
fn loop_11_a_stream_that_breaks_off_is_asked_for_again() {
    let script = json!({"exchanges": [
        {"respond": {"text": "Half of it", "faults": [{"after_events": 4, "cut": true}]}},
        {"expect": {"messages": 1}, "respond": "The whole of it."},
    ]});
    let server = model(&script.to_string());
    let done = Windlass::asking(&server).run(&["Hi"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout
            .contains("the partial answer does not count. Asking again in"),
        "{done:?}"
    );
    assert!(done.stdout.contains("The whole of it.\n"), "{done:?}");
}

#[test]
fn loop_9_what_is_no_response_is_told_apart() {
    let sse = json!({"content-type": "text/event-stream"});
    let html = json!({"content-type": "text/html"});
    fails(
        &json!({"body": "data: {{{ nonsense\n\n", "headers": sse}),
        "something that is not a response",
    );
    fails(
        &json!({"body": "<html><body>Sign in to the wifi</body></html>", "headers": html}),
        "Sign in to the wifi",
    );
    fails(
        &json!({"body": {"hex": "ff fe fd"}, "headers": sse}),
        "the model server",
    );
    fails(
        &json!({"text": "Hello", "faults": [{"after_events": 2, "insert": {"hex": "64 61 74 61 3a 20 ff fe 0a 0a"}}]}),
        "something that is not a response",
    );
}

#[test]
fn loop_9_a_response_without_end_is_cut_off() {
    let endless = json!({"body": {"text": "x".repeat(1 << 16), "repeat": 1100}, "headers": {"content-type": "application/json"}});
    fails(&endless, "is longer than 67108864 bytes");
}

#[test]
fn loop_14_a_model_that_calls_nonsense_is_told_and_goes_on() {
    let script = json!({"exchanges": [
        {"respond": {"content": [
            {"type": "tool_use", "name": "Read", "input_text": "{\"file_path\": "},
            {"type": "tool_use", "name": "Read", "input": {"path": 5}},
            {"type": "tool_use", "name": "Teleport", "input": {}},
        ]}},
        {
            "expect": {"tool_results": [
                {"id": "toolu_1_1", "is_error": true, "contains": "not a JSON object"},
                {"id": "toolu_1_2", "is_error": true, "contains": "not valid"},
                {"id": "toolu_1_3", "is_error": true, "contains": "There is no tool named Teleport"},
            ]},
            "respond": "I see.",
        },
    ]});
    let server = model(&script.to_string());
    let done = Windlass::asking(&server).run(&["-p", "Hi"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "I see.\n"),
        "{done:?}"
    );
}

#[test]
fn an_unexpected_request_misses_loudly() {
    let server =
        model(r#"{"exchanges": [{"expect": {"last_user_contains": "Bye"}, "respond": "Bye."}]}"#);
    let done = Windlass::asking(&server).run(&["-p", "Hi"]);
    let complaint = done.complaint(1);
    assert!(
        complaint.contains("expected contains \"Bye\""),
        "{complaint}"
    );
    assert_eq!(server.misses().len(), 1);
}

#[test]
fn standard_input_that_is_no_text_is_refused() {
    let server = saying([]);
    let done = Windlass::asking(&server).run_with_input(&["-p"], b"ok \xff\xfe");
    assert!(
        done.complaint(3).contains("it is not UTF-8 from byte 3 on"),
        "{done:?}"
    );
    let done = Windlass::asking(&server).run_with_input(&["-p"], &vec![b'x'; (10 << 20) + 1]);
    assert!(done.complaint(3).contains("longer than 10 MiB"), "{done:?}");
}

#[test]
fn a_failed_run_is_a_result_in_json_too() {
    let server = model(
        r#"{"exchanges": [{"respond": {"error": {"type": "invalid_request_error", "message": "no"}}}]}"#,
    );
    let done = Windlass::asking(&server).run(&["Hi", "--output-format", "json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(1), ""));
    let [result] = done.lines().try_into().unwrap();
    // As engines tell it: the run came to its end, and the model server's words are the result.
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["is_error"], true);
    assert!(
        result["result"].as_str().unwrap().contains("no"),
        "{result}"
    );
    let done = Windlass::asking(&server).run(&["Hi", "-p"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(1), ""));
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
}

#[test]
fn loop_9_a_person_sees_that_an_overloaded_server_is_asked_again() {
    let overloaded = r#"{"respond": {"error": {"type": "overloaded_error", "message": "busy"}}}"#;
    let server = model(&format!(
        r#"{{"exchanges": [{overloaded}, {{"respond": "Now."}}]}}"#
    ));
    let done = Windlass::asking(&server).run(&["Hi"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("Asking again"), "{done:?}");
    assert!(done.stdout.contains("Now."), "{done:?}");
}
