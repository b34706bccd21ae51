//! Components that misbehave: each is stopped, its failure is named, and the host goes on.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod guest;

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use futures_util::FutureExt;
use tempfile::TempDir;
use windlass::{
    files::Files,
    plugins::{Cache, CallLimits, LogSink, Plugin, PluginHost, PluginHostConfig},
};
use windlass_core::{
    host::CancelSignal,
    json::RawJson,
    tool::{Access, FsGrant, GrantRoot, ToolCall, ToolResult},
};

/// Gives the input back.
const ECHO: &str = "(call $text (local.get 2) (local.get 3))";

/// Runs for ever without asking for anything.
const SPIN: &str = "(loop $l (br $l)) (i32.const 0)";

/// Reads the file that the input names (a JSON string) below the first root: its content, or `E` and the error code.
const READ: &str = r#"
    (call $roots (i32.const 2048))
    (call $read (i32.load offset=12 (i32.load (i32.const 2048)))
        (i32.add (local.get 2) (i32.const 1)) (i32.sub (local.get 3) (i32.const 2))
        (f64.const 0) (i32.const 1000) (i32.const 2064))
    (if (result i32) (i32.load8_u (i32.const 2064))
        (then
            (i32.store8 (i32.const 2080) (i32.const 69))
            (i32.store8 (i32.const 2081) (i32.add (i32.load8_u (i32.const 2068)) (i32.const 48)))
            (call $text (i32.const 2080) (i32.const 2)))
        (else (call $text (i32.load (i32.const 2068)) (i32.load (i32.const 2072)))))
"#;

/// Writes the input to the file that the input names, the same way.
const WRITE: &str = r#"
    (call $roots (i32.const 2048))
    (call $write (i32.load offset=12 (i32.load (i32.const 2048)))
        (i32.add (local.get 2) (i32.const 1)) (i32.sub (local.get 3) (i32.const 2))
        (local.get 2) (local.get 3)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 2064))
    (i32.store8 (i32.const 2080) (i32.const 69))
    (i32.store8 (i32.const 2081) (i32.add (i32.load8_u (i32.const 2065)) (i32.const 48)))
    (if (result i32) (i32.load8_u (i32.const 2064))
        (then (call $text (i32.const 2080) (i32.const 2)))
        (else (call $text (local.get 2) (local.get 3))))
"#;

fn load(body: &str) -> Plugin {
    load_with(PluginHostConfig::default(), body)
}

fn load_with(config: PluginHostConfig, body: &str) -> Plugin {
    let component = guest::component(body);
    PluginHost::new(config).load("test", component).unwrap()
}

fn limited(limits: CallLimits) -> PluginHostConfig {
    PluginHostConfig {
        limits,
        ..PluginHostConfig::default()
    }
}

fn call(input: &str) -> ToolCall {
    ToolCall {
        tool_use_id: "toolu_1".into(),
        name: "t".into(),
        input: RawJson::parse(input).unwrap(),
        grant: FsGrant::default(),
        observed: Vec::new(),
        timeout_ms: None,
        agent: None,
        command: None,
        outside_sandbox: false,
        model: None,
        shell: None,
    }
}

fn in_directory(directory: &Path, access: Access, input: &str) -> ToolCall {
    let path = directory
        .canonicalize()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    ToolCall {
        grant: FsGrant {
            cwd: path.clone(),
            roots: vec![GrantRoot { path, access }],
            deny: Vec::new(),
        },
        ..call(input)
    }
}

fn run(plugin: &Plugin, call: &ToolCall) -> ToolResult {
    plugin.call_blocking(call, &CancelSignal::new())
}

/// Runs a guest that must fail, and gives what the model reads of it.
fn failure(plugin: &Plugin) -> String {
    let result = run(plugin, &call("{}"));
    assert!(result.is_error, "{result:?}");
    result.joined_text()
}

#[test]
fn card_3_a_call_does_not_wait_for_a_component_that_is_being_compiled_for_too_long() {
    let impatient = limited(CallLimits {
        compiling: Duration::ZERO,
        ..CallLimits::default()
    });
    // Some thousand functions, which take a while.
    let functions =
        "(func (param i32) (result i32) (i32.mul (local.get 0) (local.get 0)))".repeat(20_000);
    let declaration = r#"{"name":"large","version":"1","wit":"0.1.0","tools":[{"name":"t","description":"d","input_schema":{}}]}"#;
    let component = guest::declared_with(declaration, "", &functions, ECHO);
    let plugin = PluginHost::new(impatient).load("large", component).unwrap();
    let text = failure(&plugin);
    assert!(text.contains("still being compiled"), "{text}");
    // A cancelled call ends as one, whatever is being compiled.
    let cancelled = CancelSignal::new();
    cancelled.cancel();
    let result = plugin.call_blocking(&call("{}"), &cancelled);
    assert!(result.joined_text().contains("cancelled"), "{result:?}");
    // Compiling went on meanwhile.
    let answered = std::iter::repeat_with(|| run(&plugin, &call(r#"{"a":1}"#)))
        .inspect(|_| std::thread::yield_now())
        .find(|result| !result.is_error)
        .unwrap();
    assert_eq!(answered.joined_text(), r#"{"a":1}"#);
}

#[test]
fn card_3_tools_are_listed_without_starting_the_engine() {
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = host.load("echo", guest::component(ECHO)).unwrap();
    assert_eq!(plugin.tools()[0].name, "t");
    assert!(!host.has_started());
    assert_eq!(
        run(&plugin, &call(r#"{"a":1}"#)).joined_text(),
        r#"{"a":1}"#
    );
    assert!(host.has_started());
}

#[test]
fn card_3_every_call_has_a_fresh_instance() {
    let counting = r"
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store8 (i32.const 2048) (i32.add (global.get $calls) (i32.const 48)))
        (call $text (i32.const 2048) (i32.const 1))";
    let plugin = load(counting);
    for _ in 0..3 {
        assert_eq!(run(&plugin, &call("{}")).joined_text(), "1");
    }
}

#[test]
fn card_3_an_endless_loop_ends_at_its_deadline() {
    let plugin = load(SPIN);
    let short = ToolCall {
        timeout_ms: Some(30),
        ..call("{}")
    };
    let result = run(&plugin, &short);
    assert!(result.is_error);
    let text = result.joined_text();
    assert!(text.contains("out of time after 30 ms"), "{text}");
}

#[test]
fn card_3_a_component_that_only_asks_ends_at_its_deadline() {
    let plugin = load("(loop $l (call $roots (i32.const 2048)) (br $l)) (i32.const 0)");
    let short = ToolCall {
        timeout_ms: Some(30),
        ..call("{}")
    };
    let text = run(&plugin, &short).joined_text();
    assert!(text.contains("out of time after 30 ms"), "{text}");
}

#[test]
fn card_3_a_cancelled_call_stops() {
    let plugin = load(SPIN);
    let cancel = CancelSignal::new();
    let from_elsewhere = cancel.clone();
    let text = thread::scope(|scope| {
        let running = scope.spawn(|| plugin.call_blocking(&call("{}"), &cancel));
        from_elsewhere.cancel();
        running.join().unwrap().joined_text()
    });
    assert!(text.contains("cancelled"), "{text}");
}

#[test]
fn card_3_an_abandoned_call_stops() {
    let plugin = load(SPIN);
    plugin.prepare().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut running = Box::pin(plugin.call(call("{}"), CancelSignal::new()));
        // The first poll starts the call on its own thread; then nobody waits for it any more.
        assert!(running.as_mut().now_or_never().is_none());
    });
    // Waits for the thread of the call: if that did not stop, this would hang.
    drop(runtime);
}

#[test]
fn card_3_a_memory_bomb_is_refused_and_named() {
    let limits = CallLimits {
        memory: 8 << 20,
        ..CallLimits::default()
    };
    let bomb = "(loop $l
        (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then unreachable))
        (br $l)) (i32.const 0)";
    let text = failure(&load_with(limited(limits), bomb));
    assert!(
        text.contains("out of memory (its limit is 8 MiB)"),
        "{text}"
    );
}

#[test]
fn card_3_tables_are_capped_like_memory() {
    let bomb = "(loop $l
        (if (i32.eq (table.grow $t (ref.null func) (i32.const 10000)) (i32.const -1)) (then unreachable))
        (br $l)) (i32.const 0)";
    let text = failure(&load(bomb));
    assert!(text.contains("out of memory"), "{text}");
}

#[test]
fn card_3_a_refused_growth_alone_is_no_failure() {
    let modest = format!("(drop (memory.grow (i32.const 65000))) {ECHO}");
    let result = run(&load(&modest), &call("{}"));
    assert_eq!(
        (result.is_error, result.joined_text().as_str()),
        (false, "{}")
    );
}

#[test]
fn card_3_traps_are_results_with_their_cause() {
    let traps = [
        ("unreachable", "unreachable"),
        ("(i32.div_s (i32.const 1) (i32.const 0))", "divide by zero"),
        ("(call $again (i32.const 0))", "stack exhausted"),
        ("(i32.load (i32.const -4))", "out of bounds"),
    ];
    for (body, cause) in traps {
        let text = failure(&load(body));
        assert!(text.contains("trapped") && text.contains(cause), "{text}");
    }
}

#[test]
fn card_3_lengths_that_a_component_claims_are_not_believed() {
    // A list of four billion blocks; a text that ends outside the memory; the same megabyte ten thousand times.
    let claims = [
        "(i32.store (i32.const 1024) (i32.const 1056)) (i32.store (i32.const 1028) (i32.const -1)) (i32.const 1024)",
        "(call $text (i32.const 0) (i32.const -1))",
        "(i32.const -4)",
        "(drop (memory.grow (i32.const 32)))
         (local.set 0 (i32.const 262144))
         (loop $l
            (i32.store offset=8 (local.get 0) (i32.const 1000000))
            (local.set 0 (i32.add (local.get 0) (i32.const 20)))
            (br_if $l (i32.lt_u (local.get 0) (i32.const 462144))))
         (i32.store (i32.const 1024) (i32.const 262144))
         (i32.store (i32.const 1028) (i32.const 10000))
         (i32.const 1024)",
    ];
    for claim in claims {
        let text = failure(&load(claim));
        assert!(text.contains("trapped"), "{text}");
    }
}

#[test]
fn card_3_results_are_capped_and_checked() {
    let limits = CallLimits {
        content: 10,
        structured: 5,
        observations: 0,
        ..CallLimits::default()
    };
    let structured = |text: &str| {
        let bytes = text.bytes().enumerate();
        let stores: String = bytes
            .map(|(i, b)| format!("(i32.store8 (i32.const {}) (i32.const {b}))", 2048 + i))
            .collect();
        format!(
            "{stores} (i32.store (i32.const 1036) (i32.const 1)) (i32.store (i32.const 1040) (i32.const 2048))
             (i32.store (i32.const 1044) (i32.const {})) {ECHO}",
            text.len()
        )
    };
    let faults = [
        ("(call $text (i32.const 0) (i32.const 11))".to_owned(), "its result has 11 bytes, the limit is 10"),
        (structured("123456"), "its structured output has 6 bytes"),
        (structured("{"), "its structured output is no JSON"),
        (
            format!("(i32.store (i32.const 1052) (i32.const 1)) {ECHO}"),
            "its result has 1 observations, the limit is 0",
        ),
        (
            format!("(i32.store8 (i32.const 1056) (i32.const 1)) {ECHO}"),
            "its image is of the unknown type \"{}\"",
        ),
        (
            "(i32.store8 (i32.const 2048) (i32.const 255)) (call $text (i32.const 2048) (i32.const 1))".to_owned(),
            "trapped",
        ),
    ];
    for (body, fault) in faults {
        let text = failure(&load_with(limited(limits.clone()), &body));
        assert!(text.contains(fault), "{text}");
    }
    let fine = run(&load_with(limited(limits), &structured("{}")), &call("{}"));
    assert_eq!(fine.structured.unwrap().get(), "{}");
}

#[test]
fn card_3_logs_are_capped_and_the_call_goes_on() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&lines);
    let config = PluginHostConfig {
        log: LogSink::new(move |line| {
            into.lock().unwrap().push((
                line.component.to_owned(),
                line.message.len(),
                line.from_host,
            ));
        }),
        limits: CallLimits {
            log: 2500,
            ..CallLimits::default()
        },
        ..PluginHostConfig::default()
    };
    let flood = format!(
        "(loop $l
            (call $log (i32.const 1) (i32.const 4096) (i32.const 1000))
            (local.set 0 (i32.add (local.get 0) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get 0) (i32.const 100000)))) {ECHO}"
    );
    // Parameter 0 is an address; counting starts there, and a hundred thousand is beyond it.
    let result = run(&load_with(config, &flood), &call("{}"));
    assert!(!result.is_error, "{result:?}");
    let lines = lines.lock().unwrap();
    let sizes: Vec<_> = lines.iter().map(|(_, size, _)| *size).collect();
    assert_eq!(sizes, [1000, 1000, 500]);
    assert!(
        lines
            .iter()
            .all(|(name, _, from_host)| name == "test" && !from_host)
    );
}

#[test]
fn card_3_no_network_is_handed_out() {
    let ask = "(call $send (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
            (i32.const 0) (i32.const 0) (i32.const 2048))
        (if (i32.eqz (i32.load8_u (i32.const 2048))) (then unreachable))
        (call $text (i32.load (i32.const 2056)) (i32.load (i32.const 2060)))";
    let result = run(&load(ask), &call("{}"));
    assert_eq!(
        result.joined_text(),
        "this component was granted no network"
    );
}

#[test]
fn card_3_a_component_reaches_its_grant_and_nothing_else() {
    let ground = TempDir::new().unwrap();
    let granted = ground.path().join("w");
    fs::create_dir(&granted).unwrap();
    fs::write(granted.join("ok"), "inside").unwrap();
    fs::write(ground.path().join("secret"), "SECRET").unwrap();
    symlink("../secret", granted.join("link")).unwrap();
    symlink("..", granted.join("up")).unwrap();
    let reader = load(READ);
    let read = |path: &str| {
        let input = format!("\"{path}\"");
        run(&reader, &in_directory(&granted, Access::Read, &input)).joined_text()
    };
    assert_eq!(read("ok"), "inside");
    for path in [
        "../secret",
        "link",
        "link/",
        "up/secret",
        "/etc/passwd",
        "missing",
    ] {
        assert_eq!(read(path), "E0", "{path}: not found");
    }
    let writer = load(WRITE);
    let write = |access, path: &str| {
        let input = format!("\"{path}\"");
        run(&writer, &in_directory(&granted, access, &input)).joined_text()
    };
    assert_eq!(write(Access::Read, "ok"), "E4", "read-only");
    assert_eq!(write(Access::Read, "new"), "E4");
    assert_eq!(write(Access::Write, "../new"), "E0");
    assert_eq!(write(Access::Write, "up/new"), "E0");
    assert_eq!(fs::read_to_string(granted.join("ok")).unwrap(), "inside");
    assert_eq!(
        fs::read_to_string(ground.path().join("secret")).unwrap(),
        "SECRET"
    );
    assert_eq!(write(Access::Write, "made/new"), "\"made/new\"");
    assert_eq!(
        fs::read_to_string(granted.join("made/new")).unwrap(),
        "\"made/new\""
    );
    assert_eq!(fs::read_dir(ground.path()).unwrap().count(), 2);
}

#[test]
fn card_3_without_a_grant_there_are_no_roots() {
    let count = "(call $roots (i32.const 2048))
        (i32.store8 (i32.const 2080) (i32.add (i32.load (i32.const 2052)) (i32.const 48)))
        (call $text (i32.const 2080) (i32.const 1))";
    assert_eq!(run(&load(count), &call("{}")).joined_text(), "0");
}

#[test]
fn card_3_what_is_no_tool_component_is_refused_with_the_reason() {
    let host = PluginHost::new(PluginHostConfig::default());
    let declared = |text: &str| guest::declared(text, ECHO);
    let with = |old: &str, new: &str| declared(&guest::DECLARATION.replace(old, new));
    let component = |text: &str| {
        let mut bytes = wat::parse_str(text).unwrap();
        guest::append_declaration(&mut bytes, guest::DECLARATION);
        bytes
    };
    let mut cut = guest::component(ECHO);
    cut.truncate(cut.len() - 5);
    let cases = [
        (b"#!/bin/sh".to_vec(), "not WebAssembly"),
        (Vec::new(), "not WebAssembly"),
        (wat::parse_str("(module)").unwrap(), "core module"),
        (wat::parse_str("(component)").unwrap(), "declares no tools"),
        (cut, "damaged"),
        (
            component("(component)"),
            "does not export the function `call`",
        ),
        (
            component(r#"(component (import "wasi:http/types@0.2.0" (instance)))"#),
            "imports `wasi:http/types@0.2.0`",
        ),
        (
            component(r#"(component (import "windlass:host/process@0.1.0" (instance)))"#),
            "imports `windlass:host/process@0.1.0`",
        ),
        (
            component(r#"(component (import "f" (func)))"#),
            "imports `f`",
        ),
        (declared("not json"), "declaration cannot be read"),
        (declared("{}"), "declaration cannot be read"),
        (
            with("\"wit\": \"0.1.0\"", "\"wit\": \"2.0.0\""),
            "version 2.0.0",
        ),
        (with("\"t\"", "\"a b\""), "tool name `a b`"),
        (
            with("{ \"type\": \"object\" }", "3"),
            "input schema of the tool `t`",
        ),
    ];
    for (bytes, reason) in cases {
        let error = host.load("strange", bytes).unwrap_err().to_string();
        assert!(
            error.contains("`strange`") && error.contains(reason),
            "{error}"
        );
    }
    assert!(!host.has_started());
}

#[test]
fn card_3_imports_of_another_shape_fail_at_the_call_with_a_message() {
    let mut bytes = wat::parse_str(
        r#"(component
            (import "windlass:host/log@0.1.0" (instance (export "log" (func (param "x" u32)))))
            (core module $m (func (export "call")))
            (core instance $i (instantiate $m))
            (func (export "call") (canon lift (core func $i "call"))))"#,
    )
    .unwrap();
    guest::append_declaration(&mut bytes, guest::DECLARATION);
    let host = PluginHost::new(PluginHostConfig::default());
    let text = failure(&host.load("test", bytes).unwrap());
    assert!(
        text.contains("`test` cannot be run") && text.contains("windlass:host/log"),
        "{text}"
    );
}

#[test]
fn card_3_a_grant_that_cannot_be_enforced_stops_the_call() {
    let mut bad = call("{}");
    bad.grant.roots.push(GrantRoot {
        path: "relative".into(),
        access: Access::Write,
    });
    let result = run(&load(ECHO), &bad);
    assert!(result.is_error);
    assert!(result.joined_text().contains("`relative`"), "{result:?}");
}

#[test]
fn card_3_compiled_components_are_kept_privately_and_found_again() {
    let ground = TempDir::new().unwrap();
    let directory = ground.path().join("cache/components");
    let key = ground.path().join("data/components.key");
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&warnings);
    let config = PluginHostConfig {
        cache: Some(Cache::at(directory.clone(), key.clone())),
        files: Arc::new(Files::new([directory.clone(), key.clone()])),
        log: LogSink::new(move |line| into.lock().unwrap().push(line.message.to_owned())),
        ..PluginHostConfig::default()
    };
    let entries = || -> Vec<_> {
        let all = fs::read_dir(&directory).unwrap();
        all.map(|e| e.unwrap().path()).collect()
    };
    let echo = || run(&load_with(config.clone(), ECHO), &call("[7]")).joined_text();

    assert_eq!(echo(), "[7]");
    let [kept] = <[_; 1]>::try_from(entries()).unwrap();
    assert_eq!(
        fs::metadata(&directory).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert_eq!(
        fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let compiled = fs::read(&kept).unwrap();
    let written = fs::metadata(&kept).unwrap().ino();
    assert_eq!(echo(), "[7]");
    assert_eq!(
        fs::metadata(&kept).unwrap().ino(),
        written,
        "it was loaded, not made anew"
    );
    assert_eq!(entries(), std::slice::from_ref(&kept));

    // A damaged file is compiled anew and replaced.
    fs::write(&kept, b"garbage").unwrap();
    assert_eq!(echo(), "[7]");
    assert_eq!(fs::read(&kept).unwrap().len(), compiled.len());

    // A file that others could have written is not loaded; a directory of that kind is not used.
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(echo(), "[7]");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o022, 0);
    assert_eq!(*warnings.lock().unwrap(), [""; 0]);
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(echo(), "[7]");
    let warnings = warnings.lock().unwrap();
    assert!(warnings[0].contains("cannot be used"), "{warnings:?}");
}

#[test]
fn card_3_native_code_that_was_put_into_the_cache_does_not_run() {
    const EVIL: &str =
        "(i32.store8 (i32.const 2048) (i32.const 33)) (call $text (i32.const 2048) (i32.const 1))";
    let ground = TempDir::new().unwrap();
    let at = |name: &str| ground.path().join(name);
    let cache = |of: &str| PluginHostConfig {
        cache: Some(Cache::at(
            at(&format!("{of}/components")),
            at(&format!("{of}/components.key")),
        )),
        ..PluginHostConfig::default()
    };
    let only = |of: &str| {
        let mut entries = fs::read_dir(at(&format!("{of}/components"))).unwrap();
        entries.next().unwrap().unwrap().path()
    };
    let run_in = |of: &str, body: &str| run(&load_with(cache(of), body), &call("7")).joined_text();
    // What windlass itself makes of it: for another user, who has another key, and for this one under its own name.
    assert_eq!(run_in("other", EVIL), "!");
    assert_eq!(run_in("own", EVIL), "!");
    let own = only("own");
    let (of_other, of_own) = (fs::read(only("other")).unwrap(), fs::read(&own).unwrap());
    fs::remove_file(&own).unwrap();
    assert_eq!(run_in("own", ECHO), "7");
    let kept = only("own");
    let genuine = fs::read(&kept).unwrap();
    let mut changed = genuine.clone();
    *changed.last_mut().unwrap() ^= 1;
    let attacks: [(&str, &[u8]); 7] = [
        ("code without a seal", &of_own[32..]),
        ("sealed by another", &of_other),
        ("sealed under another name", &of_own),
        (
            "with the seal of what was there",
            &[&genuine[..32], &of_own[32..]].concat(),
        ),
        ("changed in one bit", &changed),
        ("cut short", &genuine[..20]),
        ("nothing", b""),
    ];
    for (what, content) in attacks {
        fs::write(&kept, content).unwrap();
        assert_eq!(run_in("own", ECHO), "7", "{what}");
        assert_eq!(fs::read(&kept).unwrap(), genuine, "{what}: it is mended");
    }
    fs::remove_file(&kept).unwrap();
    fs::write(at("evil.bin"), &of_own).unwrap();
    symlink(at("evil.bin"), &kept).unwrap();
    assert_eq!(run_in("own", ECHO), "7", "a link");
}

#[test]
fn card_3_a_key_that_others_could_have_read_seals_nothing() {
    let ground = TempDir::new().unwrap();
    let directory = ground.path().join("cache");
    let key = ground.path().join("data/key");
    let config = PluginHostConfig {
        cache: Some(Cache::at(directory.clone(), key.clone())),
        ..PluginHostConfig::default()
    };
    let echo = || run(&load_with(config.clone(), ECHO), &call("7")).joined_text();
    assert_eq!(echo(), "7");
    let first = fs::read(&key).unwrap();
    let spoil: [&dyn Fn(); 4] = [
        &|| fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap(),
        &|| fs::write(&key, "short").unwrap(),
        &|| fs::write(&key, [7; 33]).unwrap(),
        &|| {
            let known = ground.path().join("known");
            fs::write(&known, [7; 32]).unwrap();
            fs::set_permissions(&known, fs::Permissions::from_mode(0o600)).unwrap();
            fs::remove_file(&key).unwrap();
            symlink(known, &key).unwrap();
        },
    ];
    let mut keys = vec![first];
    for spoil in spoil {
        spoil();
        assert_eq!(echo(), "7");
        let made = fs::read(&key).unwrap();
        assert!(made.len() == 32 && !keys.contains(&made) && made != [7; 32]);
        assert!(!key.is_symlink());
        keys.push(made);
    }
}

#[test]
fn card_3_refusals_are_told_to_the_host_and_not_to_the_component() {
    let ground = TempDir::new().unwrap();
    symlink("/etc/passwd", ground.path().join("link")).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&lines);
    let config = PluginHostConfig {
        log: LogSink::new(move |line| {
            assert!(line.from_host);
            into.lock().unwrap().push(line.message.to_owned());
        }),
        ..PluginHostConfig::default()
    };
    let plugin = load_with(config, READ);
    let result = run(
        &plugin,
        &in_directory(ground.path(), Access::Read, "\"link\""),
    );
    assert_eq!(result.joined_text(), "E0");
    let lines = lines.lock().unwrap();
    assert!(
        lines[0].ends_with("link: its link leads out of the tree"),
        "{lines:?}"
    );
}

#[test]
fn card_3_calls_run_beside_each_other() {
    let plugin = load(SPIN);
    let quick = load(ECHO);
    let cancel = CancelSignal::new();
    thread::scope(|scope| {
        let spinning: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| plugin.call_blocking(&call("{}"), &cancel)))
            .collect();
        assert_eq!(run(&quick, &call("[1]")).joined_text(), "[1]");
        cancel.cancel();
        for call in spinning {
            assert!(call.join().unwrap().is_error);
        }
    });
}
