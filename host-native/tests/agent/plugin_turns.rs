//! Whose turn it is in an instance that is kept: one call runs, a bounded number wait, and who waits can be stopped.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread::{self, ThreadId},
};

use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use serde_json::json;
use windlass::{
    core::{host::CancelSignal, tool::ToolCall},
    plugins::{ComponentGrant, LogSink, Plugin, PluginHost, PluginHostConfig},
};

use crate::{
    plugin_instances::{COUNTS, loaded},
    plugin_probe::{Probe, call, said},
};

/// A host on which a call stands still at its first line in the log until it is let go.
fn halting() -> (PluginHost, mpsc::Receiver<()>, mpsc::Sender<()>) {
    halting_with(None)
}

/// The same, with so many bytes of memory for all components.
fn halting_with(memory: Option<usize>) -> (PluginHost, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (begun, begins) = mpsc::channel();
    let (goes, let_go) = mpsc::channel();
    let let_go = Mutex::new(let_go);
    let host = PluginHost::new(PluginHostConfig {
        log: LogSink::new(move |_| {
            let _ = begun.send(());
            // Whoever is done with waiting lets all go.
            let _ = let_go.lock().unwrap().recv();
        }),
        memory,
        ..PluginHostConfig::default()
    });
    (host, begins, goes)
}

const LOGS_AND_COUNTS: &str = "(call $log (i32.const 1) (i32.const 2300) (i32.const 1))";

#[test]
fn card_5_calls_wait_for_the_one_that_runs_and_are_stopped_while_they_wait() {
    let (host, begins, let_go) = halting();
    let plugin = loaded(&host, &Probe::default().step(LOGS_AND_COUNTS).step(COUNTS));
    plugin.prepare().unwrap();
    let cancel = CancelSignal::new();
    thread::scope(|scope| {
        let first = scope.spawn(|| said(&plugin, ""));
        begins.recv().unwrap();
        // Waiting takes of the time of a call.
        let short = ToolCall {
            timeout_ms: Some(30),
            ..call("")
        };
        let late = plugin
            .call_blocking(&short, &CancelSignal::new())
            .joined_text();
        assert!(
            late.contains("another call of its component `probe` was still running after 30 ms"),
            "{late}"
        );
        let waiting = scope.spawn(|| plugin.call_blocking(&call(""), &cancel).joined_text());
        cancel.cancel();
        let stopped = waiting.join().unwrap();
        assert!(stopped.contains("cancelled"), "{stopped}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut abandoned = Box::pin(plugin.call(call(""), CancelSignal::new()));
            assert!(abandoned.as_mut().now_or_never().is_none());
        });
        drop(runtime);
        let late = runtime_call(&plugin, &short);
        assert!(late.contains("was still running after 30 ms"), "{late}");
        let other = plugin.for_session();
        let elsewhere = scope.spawn(move || said(&other, ""));
        // Another session waits for nobody.
        begins.recv().unwrap();
        drop(let_go);
        assert_eq!(first.join().unwrap(), "1");
        assert_eq!(elsewhere.join().unwrap(), "1");
    });
    // None of those that were stopped has run.
    assert_eq!(said(&plugin, ""), "2");
}

/// The text of a call on a runtime.
fn runtime_call(plugin: &Plugin, call: &ToolCall) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let result = runtime.block_on(plugin.call(call.clone(), CancelSignal::new()));
    result.joined_text()
}

#[tokio::test]
async fn card_5_no_more_calls_wait_for_an_instance_than_a_number() {
    let (host, begins, let_go) = halting();
    let plugin = loaded(
        &host,
        &Probe::default()
            .step(LOGS_AND_COUNTS)
            .step("(call $letter (i32.const 46))"),
    );
    let first = tokio::spawn({
        let plugin = plugin.clone();
        async move { plugin.call(call(""), CancelSignal::new()).await }
    });
    tokio::task::spawn_blocking(move || begins.recv())
        .await
        .unwrap()
        .unwrap();
    let mut waiting: FuturesUnordered<_> = (0..70)
        .map(|_| plugin.call(call(""), CancelSignal::new()))
        .collect();
    // The others wait as long as the first one is not let go.
    for _ in 0..6 {
        let refused = waiting.next().await.unwrap().joined_text();
        assert!(
            refused.contains("64 calls wait for its component `probe`"),
            "{refused}"
        );
    }
    drop(let_go);
    assert!(!first.await.unwrap().is_error);
    while let Some(result) = waiting.next().await {
        assert!(!result.is_error, "{result:?}");
    }
}

#[test]
fn card_5_calls_beside_each_other_do_not_run_in_one_instance_at_once() {
    let lines: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
    let told = Arc::clone(&lines);
    let host = PluginHost::new(PluginHostConfig {
        log: LogSink::new(move |_| told.lock().unwrap().push(thread::current().id())),
        ..PluginHostConfig::default()
    });
    let probe = Probe::default()
        .step(LOGS_AND_COUNTS)
        .step("(local.set 0 (i32.load (i32.const 2300)))")
        .step(COUNTS)
        .step("(if (i32.ne (i32.load (i32.const 2300)) (i32.add (local.get 0) (i32.const 1))) (then unreachable))")
        .step(LOGS_AND_COUNTS);
    let plugin = loaded(&host, &probe);
    let mut counts: Vec<_> = thread::scope(|scope| {
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| said(&plugin, ""))).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    counts.sort();
    assert_eq!(counts.concat(), "12345678");
    // Two lines of a call, and none of another one between them.
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 16);
    assert!(lines.chunks(2).all(|of_call| of_call[0] == of_call[1]));
}

#[test]
fn card_3_components_wait_for_memory_that_others_have() {
    // Each may need 256 MiB, so two of different components run at one time.
    let (host, begins, let_go) = halting_with(Some(512 << 20));
    let plugin = || {
        let probe = Probe::default().step(LOGS_AND_COUNTS).step(COUNTS);
        let plugin = probe.granted(&host, &json!({}), &ComponentGrant::default());
        plugin.prepare().unwrap();
        plugin
    };
    let (one, two, three) = (plugin(), plugin(), plugin());
    thread::scope(|scope| {
        let first = scope.spawn(|| said(&one, ""));
        begins.recv().unwrap();
        let refused = |plugin: &Plugin| {
            let short = ToolCall {
                timeout_ms: Some(30),
                ..call("")
            };
            let result = plugin.call_blocking(&short, &CancelSignal::new());
            let text = result.joined_text();
            assert!(
                text.contains("of 512 MiB for all, also after 30 ms"),
                "{text}"
            );
        };
        refused(&one); // there is room for other components only
        let second = scope.spawn(|| said(&two, ""));
        begins.recv().unwrap();
        refused(&three);
        let third = scope.spawn(|| said(&three, ""));
        drop(let_go);
        for run in [first, second, third] {
            assert_eq!(run.join().unwrap(), "1");
        }
    });
}

#[test]
fn card_3_instances_that_wait_hold_no_more_memory_than_a_host_lets_them() {
    for (memory, second) in [(None, "2"), (Some(0), "1")] {
        let host = PluginHost::new(PluginHostConfig {
            memory,
            ..PluginHostConfig::default()
        });
        let plugin = loaded(&host, &Probe::default().step(COUNTS));
        assert_eq!(said(&plugin, ""), "1");
        assert_eq!(said(&plugin, ""), second);
    }
}
