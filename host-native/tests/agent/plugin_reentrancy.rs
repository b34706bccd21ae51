//! Components that call the host, trap or do not come back while the host hands something over to them or takes something from
//! them: the call ends with one error, nothing of it is carried out, and the next call works.

use std::time::Duration;

use windlass::{
    core::{
        host::CancelSignal,
        tool::{ToolCall, ToolResult},
    },
    plugins::{CallLimits, Plugin, PluginHost, PluginHostConfig},
};

use crate::{
    guest,
    plugin_probe::{Log, call, logging},
    wasi_guest::Ground,
};

/// An input of at least so many bytes is what such a guest misbehaves at.
const LONG: usize = 5000;

const FIELDS: &str = "(global $armed (mut i32) (i32.const 0)) (data (i32.const 3000) \"again\")";

const ARMS: &str = "(global.set $armed (i32.gt_u (local.get 3) (i32.const 5000)))";

/// Answers with the number of calls that its instance has had.
const COUNTS: &str = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store8 (i32.const 3010) (i32.add (i32.const 48) (global.get $calls)))
    (call $text (i32.const 3010) (i32.const 1))";

/// The same with an instance that is kept, or with one for each call.
fn declaration(instance: &str) -> String {
    guest::DECLARATION.replacen('{', &format!("{{ \"instance\": \"{instance}\","), 1)
}

/// Does this in the allocator, while the host lowers the result of a call into memory.
fn while_a_result_is_lowered(declaration: &str, what: &str) -> Vec<u8> {
    let once = format!("(if (global.get $armed) (then (global.set $armed (i32.const 0)) {what}))");
    let body = format!("{ARMS} (call $roots (i32.const 2048)) {COUNTS}");
    guest::allocating(declaration, &once, FIELDS, &body)
}

/// The same while the host lowers the arguments of the call.
fn while_arguments_are_lowered(declaration: &str, what: &str) -> Vec<u8> {
    let large = format!("(if (i32.gt_u (local.get 3) (i32.const 5000)) (then {what}))");
    guest::allocating(declaration, &large, FIELDS, COUNTS)
}

/// The same when the host has taken what the call gave.
fn after_the_call(declaration: &str, what: &str) -> Vec<u8> {
    let cleans = format!(
        "{FIELDS} (func (export \"cabi_post_call\") (param i32) (if (global.get $armed) (then {what})))"
    );
    guest::declared_with(declaration, "", &cleans, &format!("{ARMS} {COUNTS}"))
}

fn run(plugin: &Plugin, ground: &Ground, input: &str) -> ToolResult {
    let call = ToolCall {
        name: "t".into(),
        grant: ground.grant(),
        ..call(input)
    };
    plugin.call_blocking(&call, &CancelSignal::new())
}

/// Whether a call failed, and its text.
fn end(result: &ToolResult) -> (bool, String) {
    (result.is_error, result.joined_text())
}

fn counted(number: &str) -> (bool, String) {
    (false, number.to_owned())
}

#[test]
fn card_3_a_host_call_within_the_lowering_of_a_result_is_a_trap_and_the_next_call_works() {
    let ground = Ground::new();
    let long = "x".repeat(LONG);
    let expected =
        "The tool failed: its component trapped (wasm trap: cannot leave component instance).";
    for what in [
        "(call $log (i32.const 1) (i32.const 3000) (i32.const 5))",
        // One that would come back to the allocator, with a result of its own.
        "(call $roots (i32.const 2100))",
    ] {
        // What is kept is not used any more after a trap.
        for (instance, counts) in [("call", ["1", "1", "1"]), ("session", ["1", "2", "1"])] {
            let declaration = declaration(instance);
            for (when, component) in [
                ("result", while_a_result_is_lowered(&declaration, what)),
                ("arguments", while_arguments_are_lowered(&declaration, what)),
                ("after", after_the_call(&declaration, what)),
            ] {
                let log = Log::default();
                let host = PluginHost::new(logging(&log));
                let plugin = host.load("test", component).unwrap();
                let case = format!("{when}, {instance}: {what}");
                for number in &counts[..2] {
                    assert_eq!(end(&run(&plugin, &ground, "")), counted(number), "{case}");
                }
                let again = end(&run(&plugin, &ground, &long));
                assert_eq!(again, (true, expected.to_owned()), "{case}");
                assert_eq!(
                    end(&run(&plugin, &ground, "")),
                    counted(counts[2]),
                    "{case}"
                );
                assert!(!log.text().contains("again"), "{case}: {}", log.text());
            }
        }
    }
}

#[test]
fn card_3_an_allocator_that_loops_traps_or_lies_ends_its_call_and_the_next_call_works() {
    let ground = Ground::new();
    let long = "x".repeat(LONG);
    let host = PluginHost::new(PluginHostConfig {
        limits: CallLimits {
            time: Duration::from_secs(1),
            ..CallLimits::default()
        },
        ..PluginHostConfig::default()
    });
    for (what, expected) in [
        (
            "(loop $on (br $on))",
            "The tool was stopped: it ran out of time after 1000 ms.",
        ),
        (
            "unreachable",
            "The tool failed: its component trapped (wasm trap: wasm `unreachable` instruction executed).",
        ),
        (
            "(return (i32.const 1))",
            "The tool failed: its component trapped (realloc return: result not aligned).",
        ),
        (
            "(return (i32.const -8))",
            "The tool failed: its component trapped (realloc return: beyond end of memory).",
        ),
    ] {
        let component = while_a_result_is_lowered(guest::DECLARATION, what);
        let plugin = host.load("test", component).unwrap();
        assert_eq!(end(&run(&plugin, &ground, "")), counted("1"), "{what}");
        let lied = end(&run(&plugin, &ground, &long));
        assert_eq!(lied, (true, expected.to_owned()), "{what}");
        assert_eq!(end(&run(&plugin, &ground, "")), counted("1"), "{what}");
    }
}
