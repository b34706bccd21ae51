//! What `windlass plugin test` says of plugins that do not do what their tests expect.

use std::fs;

use serde_json::json;

use crate::{
    plugin_authoring::{example, with_cargo},
    support::{Done, Windlass},
};

#[test]
fn card_5_a_test_of_a_plugin_fails_where_a_call_is_not_as_expected_or_uses_too_much() {
    let windlass = Windlass::new();
    let declaration = json!({
        "name": "answer", "version": "0.1.0", "wit": "0.1.0",
        "tools": [{"name": "Answer", "description": "Answers.", "input_schema": {"type": "object"}}],
    });
    let body = r#"
        (i32.store8 (i32.const 3000) (i32.const 52))
        (i32.store8 (i32.const 3001) (i32.const 50))
        (call $text (i32.const 3000) (i32.const 2))
    "#;
    let component = windlass.workspace.path().join("answer.wasm");
    fs::write(
        &component,
        crate::guest::declared(&declaration.to_string(), body),
    )
    .unwrap();
    let test = |call: &str| {
        windlass.write("tests/a.json", &format!(r#"{{"calls": [{call}]}}"#));
        windlass.run(&["plugin", "test", "--component", component.to_str().unwrap()])
    };
    let done = test(r#"{"tool": "Answer", "input": {}, "expect": {"text": "42"}}"#);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.ends_with("1 test, 1 call: all as expected\n"),
        "{done:?}"
    );
    for (rest, fault) in [
        (
            r#""expect": {"text": "43"}"#,
            r#"the text is "42", not "43""#,
        ),
        (
            r#""expect": {"contains": "x"}"#,
            r#""x" is not in the text "42""#,
        ),
        (r#""expect": {"isError": true}"#, "it did not fail"),
        (r#""atMost": {"fuel": 1}"#, "fuel is "),
        (
            r#""atMost": {"memoryBytes": 1}"#,
            "memoryBytes is 131072, more than 1",
        ),
        (
            r#""atMost": {"outputBytes": 1}"#,
            "outputBytes is 2, more than 1",
        ),
    ] {
        let done = test(&format!(r#"{{"tool": "Answer", "input": {{}}, {rest}}}"#));
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains(fault), "{fault}: {done:?}");
    }
    // The tools of windlass have the folder of the test, and nothing else.
    windlass.write("secret.txt", "SECRET");
    let path = |name: &str| windlass.workspace.path().join(name).display().to_string();
    for (tool, input) in [
        (
            "Write",
            json!({"file_path": path("new.txt"), "content": "x"}),
        ),
        ("Read", json!({"file_path": path("secret.txt")})),
        ("Grep", json!({"pattern": "SECRET", "path": path("")})),
    ] {
        let call = json!({"tool": tool, "input": input, "expect": {"isError": true}});
        let done = test(&call.to_string());
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(!done.stdout.contains("SECRET:"), "{done:?}");
    }
    assert!(!windlass.workspace.path().join("new.txt").exists());
    let within = r#"{"tool": "Write", "input": {"file_path": "new.txt", "content": "x"}}"#;
    let done = test(within);
    assert_eq!(done.code, Some(0), "{done:?}");

    windlass.write(
        "tests/a.json",
        r#"{"calls": [{"tool": "Answer", "input": {}}], "after": {"x.txt": "y"}}"#,
    );
    let done = windlass.run(&["plugin", "test", "--component", component.to_str().unwrap()]);
    assert!(
        done.stdout.contains("`x.txt` cannot be read at the end"),
        "{done:?}"
    );
}

#[test]
fn card_5_a_test_of_a_plugin_fails_where_hooks_or_requests_are_not_as_expected() {
    let windlass = Windlass::new();
    let test = |name: &str, test: serde_json::Value| {
        windlass.write("tests/a.json", &test.to_string());
        let component = example(name);
        windlass.run(&["plugin", "test", "--component", component.to_str().unwrap()])
    };
    let judged = |input: serde_json::Value, expect: serde_json::Value| {
        let event = json!({"hook": "KnownCommands", "input": input, "expect": expect});
        test("policy", json!({ "hooks": [event] }))
    };
    let curl = json!({"tool_name": "Bash", "tool_input": {"command": "curl example.com"}});
    let done = judged(
        curl.clone(),
        json!({"judgement": "deny", "contains": "no curl"}),
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    for (input, expect, fault) in [
        (curl.clone(), json!({}), "not pass"),
        (curl.clone(), json!({"judgement": "ask"}), "not ask"),
        (
            curl.clone(),
            json!({"judgement": "deny", "contains": "wget"}),
            "\"wget\" is not in",
        ),
        (curl, json!({"isError": true}), "it did not fail"),
        (json!({}), json!({}), "it failed: "),
    ] {
        let done = judged(input, expect);
        assert_eq!(done.code, Some(1), "{fault}: {done:?}");
        assert!(done.stdout.contains(fault), "{fault}: {done:?}");
    }
    let unknown = json!({"hooks": [{"hook": "Nobody"}]});
    let done = test("policy", unknown);
    assert!(done.stdout.contains("has no hook `Nobody`"), "{done:?}");

    let key = "made-up-for-the-test";
    let oslo = "https://api.tomorrow.io/v4/weather/realtime?units=metric&location=Oslo";
    let asked = |request: serde_json::Value, secrets: serde_json::Value| {
        let exchange = json!({"request": request, "response": {"json": {}}});
        let call = json!({"tool": "CurrentWeather", "input": {"place": "Oslo"}});
        test(
            "weather",
            json!({"secrets": secrets, "http": [exchange], "calls": [call]}),
        )
    };
    let secrets = json!({ "TOMORROW_API_KEY": key });
    let done = asked(
        json!({"url": oslo, "headers": {"apikey": key}}),
        secrets.clone(),
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    for wrong in [
        json!({"url": "https://api.tomorrow.io/"}),
        json!({"url": oslo, "method": "POST"}),
        json!({"url": oslo, "headers": {"apikey": "another key"}}),
        json!({"url": oslo, "body": "text"}),
        json!({"url": oslo, "json": {}}),
    ] {
        let done = asked(wrong.clone(), secrets.clone());
        assert_eq!(done.code, Some(1), "{wrong}: {done:?}");
        for fault in [
            "the test has no answer to GET https://api.tomorrow.io",
            "was not sent",
        ] {
            assert!(done.stdout.contains(fault), "{wrong}: {done:?}");
        }
    }
    // Nobody else's secret and no origin that is not declared.
    let done = asked(json!({ "url": oslo }), json!({ "OTHER_KEY": key }));
    assert!(done.complaint(3).contains("`OTHER_KEY`"), "{done:?}");
}

#[test]
fn card_5_a_test_of_a_plugin_gives_it_variables_and_no_others() {
    let windlass = Windlass::new();
    let component = windlass.workspace.path().join("speaks.wasm");
    let asks = json!({"env": ["LANGUAGE"]});
    fs::write(&component, crate::plugin_install::plugin("1.0.0", &asks)).unwrap();
    let test = |env: serde_json::Value, text: &str| {
        let call = json!({"tool": "Speak", "input": {}, "expect": {"text": text}});
        windlass.write(
            "tests/a.json",
            &json!({"env": env, "calls": [call]}).to_string(),
        );
        let args = ["plugin", "test", "--component", component.to_str().unwrap()];
        let mut command = windlass.command(&args);
        command.env("LANGUAGE", "of the environment");
        Done::of(&command.output().unwrap())
    };
    let done = test(json!({"LANGUAGE": "of the test"}), "of the test");
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = test(json!({}), "-");
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = test(json!({"EDITOR": "vi"}), "-");
    assert!(done.complaint(3).contains("EDITOR"), "{done:?}");
}

#[test]
fn card_5_a_test_of_a_plugin_gives_hooks_the_events_that_their_matchers_name() {
    let windlass = Windlass::new();
    let component = windlass.workspace.path().join("policy.wasm");
    let declaration = json!({
        "name": "policy", "version": "0.1.0", "wit": "0.1.0",
        "hooks": [{"name": "Policy", "kind": "judge", "event": "PreToolUse", "matcher": "Write|Edit"}],
    });
    let with = crate::guest::Hooked {
        judge: Some("(call $deny (i32.const 4096) (i32.const 7))"),
        text: "no, no.",
        ..crate::guest::Hooked::default()
    };
    fs::write(
        &component,
        crate::guest::hooked(&declaration.to_string(), &with),
    )
    .unwrap();
    let test = |tool: &str, expect: serde_json::Value| {
        let event = json!({"hook": "Policy", "input": {"tool_name": tool}, "expect": expect});
        windlass.write("tests/a.json", &json!({"hooks": [event]}).to_string());
        windlass.run(&["plugin", "test", "--component", component.to_str().unwrap()])
    };
    for (tool, expect, fault) in [
        ("Write", json!({"judgement": "deny"}), None),
        ("Bash", json!({"heard": false}), None),
        (
            "Bash",
            json!({"judgement": "deny"}),
            Some("not heard: its matcher is `Write|Edit`"),
        ),
        ("Bash", json!({}), Some("not heard")),
        ("Edit", json!({"heard": false}), Some("is about this event")),
    ] {
        let done = test(tool, expect);
        assert_eq!(
            done.code,
            Some(i32::from(fault.is_some())),
            "{tool}: {done:?}"
        );
        assert!(
            done.stdout.contains(fault.unwrap_or_default()),
            "{tool}: {done:?}"
        );
    }
}

/// A component that answers with two bytes, with these limits.
fn answering(windlass: &Windlass, limits: &serde_json::Value) -> String {
    let declaration = json!({
        "name": "answer", "version": "0.1.0", "wit": "0.1.0", "limits": limits,
        "tools": [{"name": "Answer", "description": "Answers.", "input_schema": {"type": "object"}}],
        "grants": {
            "http": [{"origin": "https://api.example.com", "methods": ["GET"]}],
            "secrets": [{
                "name": "TOKEN", "description": "Of a bot.", "audience": ["https://api.example.com"],
            }],
        },
    });
    let body = r#"
        (i32.store16 (i32.const 3000) (i32.const 12852))
        (call $text (i32.const 3000) (i32.const 2))
    "#;
    let component = windlass.workspace.path().join("answer.wasm");
    let bytes = crate::guest::declared(&declaration.to_string(), body);
    fs::write(&component, bytes).unwrap();
    component.to_str().unwrap().to_owned()
}

#[test]
fn card_5_a_test_of_a_plugin_says_what_was_used_of_what_is_declared() {
    let windlass = Windlass::new();
    windlass.write(
        "tests/a.json",
        r#"{"calls": [{"tool": "Answer", "input": {}}]}"#,
    );
    let test = |limits: &serde_json::Value| {
        let component = answering(&windlass, limits);
        let done = windlass.run(&["plugin", "test", "--component", &component]);
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let all = json!({
        "memory_bytes": 200_000, "output_bytes": 100_000, "log_bytes": 3_000, "host_calls": 5_000,
    });
    let used = " · memory 131,072 of 200,000 bytes · 0 of 5,000 host calls · 2 of 100,000 bytes of result · 0 of 3,000 of log\n";
    let shown = test(&all);
    assert!(shown.contains(used), "{shown}");
    let used = " · memory 131,072 bytes · 0 host calls · 2 bytes of result · 0 of log\n";
    let shown = test(&json!({}));
    assert!(shown.contains(used), "{shown}");
}

#[test]
fn card_5_a_test_of_a_plugin_that_cannot_begin_is_named() {
    let windlass = Windlass::new();
    let component = answering(&windlass, &json!({}));
    let test = |more: serde_json::Value| {
        let mut test = json!({"calls": [{"tool": "Answer", "input": {}}]});
        for (key, value) in more.as_object().unwrap() {
            test[key] = value.clone();
        }
        windlass.write("tests/second.json", &test.to_string());
        windlass.run(&["plugin", "test", "--component", &component])
    };
    windlass.write(
        "tests/first.json",
        r#"{"calls": [{"tool": "Answer", "input": {}}]}"#,
    );
    let file = "second.json`: ";
    for (more, said) in [
        (
            json!({"env": {"LANGUAGE": "x"}}),
            "its session cannot start: ",
        ),
        (
            json!({"secrets": {"TOKEN": " 1234567 "}}),
            "the value of the secret `TOKEN` has 7 bytes",
        ),
    ] {
        let complaint = test(more).complaint(3).to_owned();
        for part in [file, said] {
            assert!(complaint.contains(part), "{part}: {complaint}");
        }
    }
    let done = test(json!({"secrets": {"TOKEN": "12345678"}}));
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn card_5_a_build_whose_code_needs_more_memory_than_it_declares_is_refused() {
    let windlass = Windlass::new();
    let run = |args: &[&str]| Done::of(&with_cargo(windlass.command(args)).output().unwrap());
    assert_eq!(run(&["plugin", "new", "tight"]).code, Some(0));
    let source = windlass.workspace.path().join("tight/src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    let tight = text.replace("\"memory_bytes\": 67_108_864", "\"memory_bytes\": 1_000");
    assert_ne!(tight, text);
    fs::write(&source, tight).unwrap();
    let done = run(&["plugin", "build", "tight"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stderr.contains("`memory_bytes` as 1000"), "{done:?}");
    let built = windlass
        .workspace
        .path()
        .join("tight/components/tight.wasm");
    assert!(!built.exists());
}
