//! Components that keep their instance for a session: who shares it, what each call has of its own, and when it begins anew.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use windlass::{
    core::{host::CancelSignal, json::RawJson, tool::ToolCall},
    plugins::{
        CallUsage, ComponentGrant, InspectedComponent, Plugin, PluginHost, PluginHostConfig,
        StateScope, UsageSink,
    },
};

use crate::{
    guest::{self, Hooked},
    plugin_probe::{Log, Probe, call, logging, run, said},
    support::{Model, calls},
};

/// Makes the result the number of calls that this instance has had.
pub(crate) const COUNTS: &str =
    "(i32.store (i32.const 2300) (i32.add (i32.load (i32.const 2300)) (i32.const 1)))
    (global.set $len (i32.const 0))
    (call $digit (i32.load (i32.const 2300)))";

/// Traps when the input is `x`, and never ends when it is longer.
const MISBEHAVES: &str = "
    (if (i32.eq (local.get 3) (i32.const 3)) (then unreachable))
    (if (i32.gt_u (local.get 3) (i32.const 3)) (then (loop $l (br $l))))";

fn counting() -> Probe {
    Probe::default().step(COUNTS)
}

fn kept() -> Value {
    json!({"instance": "session"})
}

/// A component that keeps its instance, loaded.
pub(crate) fn loaded(host: &PluginHost, probe: &Probe) -> Plugin {
    probe.granted(host, &kept(), &ComponentGrant::default())
}

#[test]
fn card_5_a_kept_instance_is_of_one_session() {
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = loaded(&host, &counting());
    assert_eq!(said(&plugin, ""), "1");
    assert_eq!(said(&plugin.clone(), ""), "2");
    let other = plugin.for_session();
    assert_eq!(said(&other, ""), "1");
    assert_eq!(said(&plugin, ""), "3");
    assert_eq!(said(&other, ""), "2");
    // One that is granted something else begins anew, too.
    let granted = plugin.granted(&ComponentGrant::default()).unwrap();
    assert_eq!(said(&granted, ""), "1");
    // Whatever does not declare it has a fresh one for each call.
    for asks in [json!({}), json!({"instance": "call"})] {
        let fresh = counting().granted(&host, &asks, &ComponentGrant::default());
        assert_eq!([said(&fresh, ""), said(&fresh, "")], ["1", "1"]);
    }
}

#[test]
fn card_5_what_sessions_remember_does_not_cross_through_a_kept_instance() {
    let host = PluginHost::new(PluginHostConfig::default());
    let asks = json!({"instance": "session", "grants": {"state": "session"}});
    let grant = ComponentGrant::default().state(StateScope::Session);
    let probe = Probe::default().step("(global.set $len (i32.const 0))");
    let one = probe.swap("k").granted(&host, &asks, &grant);
    let two = one.for_session();
    assert_eq!(said(&one, "mine"), "-");
    assert_eq!(said(&two, "other"), "-");
    assert_eq!(said(&one, "x"), "mine");
    assert_eq!(said(&two, "x"), "other");
}

#[tokio::test]
async fn card_5_the_tools_of_a_plugin_share_an_instance_in_a_session_of_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter.wasm");
    let mut asks = kept();
    asks["tools"] = json!(["Probe", "Other"].map(|name| {
        json!({"name": name, "description": "Counts.", "input_schema": {"type": "object"}})
    }));
    fs::write(&path, counting().component(&asks)).unwrap();
    let exchange = |tool: &str, result: &str| {
        let expected =
            json!({"expect": {"tool_results": [{"contains": result}]}, "respond": "done"});
        [calls(&[(tool, json!({"a": 1}))]), expected]
    };
    let exchanges = [
        exchange("Probe", "1"),
        exchange("Other", "2"),
        exchange("Probe", "1"),
    ];
    let model = Model::of(Value::Array(exchanges.concat()));
    let agent = model
        .agent()
        .plugin_granted(&path, ComponentGrant::default())
        .allowed_tools(["Probe", "Other"])
        .cwd(folder.path())
        .build()
        .unwrap();
    let session = agent.session();
    session.prompt("go").result().await.unwrap();
    session.prompt("again").result().await.unwrap();
    agent.session().prompt("go").result().await.unwrap();
    model.verify();
}

#[test]
fn card_5_a_call_that_does_not_end_well_ends_its_instance() {
    let host = PluginHost::new(PluginHostConfig::default());
    let probe = Probe::default().step(MISBEHAVES).step(COUNTS);
    let plugin = loaded(&host, &probe);
    let begins_anew = || {
        assert_eq!(said(&plugin, ""), "1");
        assert_eq!(said(&plugin, ""), "2");
    };
    begins_anew();
    let trapped = run(&plugin, "x").joined_text();
    assert!(trapped.contains("trapped"), "{trapped}");
    begins_anew();
    let short = ToolCall {
        timeout_ms: Some(30),
        ..call("long")
    };
    let late = plugin.call_blocking(&short, &CancelSignal::new());
    assert!(late.joined_text().contains("ran out of time"), "{late:?}");
    begins_anew();
    let cancelled = CancelSignal::new();
    cancelled.cancel();
    let stopped = plugin.call_blocking(&call("long"), &cancelled);
    assert!(stopped.joined_text().contains("cancelled"), "{stopped:?}");
    begins_anew();
    // Only what trapped three times in a row is benched, with an instance of its own each time.
    for _ in 0..3 {
        run(&plugin, "x");
    }
    let benched = run(&plugin, "").joined_text();
    assert!(benched.contains("trapped 3 times in a row"), "{benched}");
}

#[test]
fn card_3_a_component_that_computes_without_an_end_is_not_run_any_more() {
    let host = PluginHost::new(PluginHostConfig::default());
    let probe = Probe::default().step(MISBEHAVES).step(COUNTS);
    let plugin = loaded(&host, &probe);
    let short = ToolCall {
        timeout_ms: Some(30),
        ..call("long")
    };
    let end = || {
        let ended = plugin.call_blocking(&short, &CancelSignal::new());
        ended.joined_text()
    };
    // Twice is not three times, and what ends well in between begins the count anew.
    for _ in 0..2 {
        assert!(end().contains("ran out of time"));
    }
    assert_eq!(said(&plugin, ""), "1");
    for _ in 0..3 {
        assert!(end().contains("ran out of time"));
    }
    let benched = run(&plugin, "").joined_text();
    assert!(benched.contains("3 times in a row"), "{benched}");
}

#[test]
fn card_5_a_result_that_is_refused_ends_its_instance() {
    let host = PluginHost::new(PluginHostConfig::default());
    let probe = counting()
        .step("(if (i32.eq (local.get 3) (i32.const 3)) (then (call $letter (i32.const 46))))");
    let asks = json!({"instance": "session", "limits": {"output_bytes": 1}});
    let plugin = probe.granted(&host, &asks, &ComponentGrant::default());
    assert_eq!([said(&plugin, ""), said(&plugin, "")], ["1", "2"]);
    let refused = run(&plugin, "x").joined_text();
    assert!(refused.contains("its result has 2 bytes"), "{refused}");
    assert_eq!([said(&plugin, ""), said(&plugin, "")], ["1", "2"]);
}

#[test]
fn card_5_memory_is_bounded_for_as_long_as_an_instance_lasts() {
    let host = PluginHost::new(PluginHostConfig::default());
    let grows = "(if (i32.eq (memory.grow (i32.const 6)) (i32.const -1)) (then unreachable))";
    let asks = json!({"instance": "session", "limits": {"memory_bytes": 2 << 20}});
    let plugin = |growth: &str| {
        let probe = counting().step(growth);
        probe.granted(&host, &asks, &ComponentGrant::default())
    };
    // 18 pages for the first result, and 6 more with each call, of 32.
    let greedy = plugin(grows);
    let mut counts = Vec::new();
    let refused = loop {
        let result = run(&greedy, "");
        match result.is_error {
            true => break result.joined_text(),
            false => counts.push(result.joined_text()),
        }
    };
    assert_eq!(counts, ["1", "2"]);
    assert!(
        refused.contains("out of memory (its limit is 2 MiB)"),
        "{refused}"
    );
    assert_eq!(said(&greedy, ""), "1");
    // One that lives with the refusal has its memory given back all the same.
    let modest = plugin("(drop (memory.grow (i32.const 100)))");
    assert_eq!([said(&modest, ""), said(&modest, "")], ["1", "1"]);
}

#[test]
fn card_5_each_call_in_a_kept_instance_has_budgets_and_figures_of_its_own() {
    let log = Log::default();
    let used: Arc<Mutex<Vec<CallUsage>>> = Arc::default();
    let taken = Arc::clone(&used);
    let host = PluginHost::new(PluginHostConfig {
        usage: Some(UsageSink::new(move |usage| {
            taken.lock().unwrap().push(usage)
        })),
        ..logging(&log)
    });
    // As many calls of the host as the input has characters, each with a line of 3 bytes.
    let probe = Probe::default().step(
        "(local.set 0 (i32.sub (local.get 3) (i32.const 2)))
        (loop $l
            (call $log (i32.const 1) (i32.const 3072) (i32.const 3))
            (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
            (br_if $l (local.get 0)))",
    );
    let asks = json!({"instance": "session", "limits": {"host_calls": 6, "log_bytes": 12}});
    let mut probe = probe.step(COUNTS);
    probe.text("abc");
    let plugin = probe.granted(&host, &asks, &ComponentGrant::default());
    for count in ["1", "2", "3"] {
        assert_eq!(said(&plugin, "1234"), count);
    }
    assert_eq!(log.lines(), 12);
    let figures = used.lock().unwrap().clone();
    for usage in &figures {
        assert_eq!((usage.host_calls, usage.log, usage.output), (4, 12, 1));
    }
    assert_eq!(figures[1].fuel, figures[2].fuel);
    assert!(figures[1].fuel <= figures[0].fuel, "{figures:?}");
    let many = run(&plugin, "1234567").joined_text();
    assert!(many.contains("called the host more than 6 times"), "{many}");
    assert_eq!(said(&plugin, "1"), "1");
}

#[test]
fn card_5_the_longest_idle_instance_ends_where_too_many_are_kept() {
    let host = |most| {
        PluginHost::new(PluginHostConfig {
            kept_instances: Some(most),
            ..PluginHostConfig::default()
        })
    };
    let two = host(2);
    let a = loaded(&two, &counting());
    let (b, c) = (a.for_session(), a.for_session());
    assert_eq!([said(&a, ""), said(&b, ""), said(&a, "")], ["1", "1", "2"]);
    // The third is one too many, and `b` has been idle longest.
    assert_eq!([said(&c, ""), said(&a, ""), said(&c, "")], ["1", "3", "2"]);
    assert_eq!(said(&b, ""), "1");
    // A session that has ended takes no room.
    drop(c);
    assert_eq!([said(&a, ""), said(&b, "")], ["1", "2"]);
    let none = loaded(&host(0), &counting());
    assert_eq!([said(&none, ""), said(&none, "")], ["1", "1"]);
}

#[tokio::test]
async fn card_5_hooks_never_run_in_an_instance_that_is_kept() {
    let counts = "(i32.store (i32.const 3000) (i32.add (i32.load (i32.const 3000)) (i32.const 1)))";
    let judge = format!(
        "{counts} (if (result i32) (i32.eq (i32.load (i32.const 3000)) (i32.const 1))
            (then (call $pass)) (else (call $deny (i32.const 4096) (i32.const 4))))"
    );
    let call_body = format!("{counts} (call $text (i32.const 4096) (i32.load (i32.const 3000)))");
    let hook = json!({"name": "h", "event": "PreToolUse", "kind": "judge"});
    let tool = json!({"name": "Probe", "description": "A test.", "input_schema": {}});
    let declaration = |tools: &[&Value]| {
        json!({"name": "test", "version": "0.1.0", "wit": "0.1.0", "instance": "session",
            "tools": tools, "hooks": [hook]})
        .to_string()
    };
    let bytes = |tools: &[&Value]| {
        let with = Hooked {
            call: Some(&call_body),
            judge: Some(&judge),
            text: "deny",
            ..Hooked::default()
        };
        guest::hooked(&declaration(tools), &with)
    };
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = host.load("test", bytes(&[&tool])).unwrap();
    assert_eq!(
        plugin
            .call(call(""), CancelSignal::new())
            .await
            .joined_text(),
        "d"
    );
    assert_eq!(
        plugin
            .call(call(""), CancelSignal::new())
            .await
            .joined_text(),
        "de"
    );
    for _ in 0..2 {
        let input = RawJson::parse(r#"{"cwd": "/", "tool_name": "t", "tool_input": {}}"#).unwrap();
        let answer = plugin.try_hook("h", input, None).await.unwrap().unwrap();
        assert!(!answer.get().contains("deny"), "{answer:?}");
    }
    assert_eq!(
        plugin
            .call(call(""), CancelSignal::new())
            .await
            .joined_text(),
        "den"
    );
    let refused = host.load("test", bytes(&[])).unwrap_err().to_string();
    assert!(refused.contains("only tools keep an instance"), "{refused}");
}

#[test]
fn card_5_whoever_installs_a_component_sees_that_it_keeps_its_memory() {
    let asks = |declared: &Value| {
        let component = InspectedComponent::of(counting().component(declared)).unwrap();
        component.inspection().asks()
    };
    let told = "keep its memory for the session".to_owned();
    assert!(asks(&kept()).contains(&told));
    assert!(!asks(&json!({"instance": "call"})).contains(&told));
    let host = PluginHost::new(PluginHostConfig::default());
    for scope in [json!("forever"), json!("Session"), json!(1), Value::Null] {
        let bytes = counting().component(&json!({"instance": scope}));
        let refused = host.load("test", bytes).unwrap_err().to_string();
        assert!(
            refused.contains("its declaration cannot be read"),
            "{refused}"
        );
    }
}
