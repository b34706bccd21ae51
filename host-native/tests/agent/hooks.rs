//! Closures as hooks.

use std::sync::{Arc, Mutex};

use serde_json::json;
use windlass::{
    NoInput, Tool,
    core::hook::{HookEvent, HookInput, HookMatcher, HookOutput, Occurrence},
};

use crate::support::{Model, calls, done_after, messages};

fn nod() -> Tool {
    Tool::new("nod", "Nods", |_: NoInput| async { "nodded" })
}

/// What hooks were told, with the id of the call.
type Seen = Arc<Mutex<Vec<(HookInput, Option<String>)>>>;

#[tokio::test]
async fn hook_8_a_closure_gets_input_and_call_id_and_its_denial_holds() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("not now", true)
    ]));
    let seen: Seen = Arc::default();
    let log = Arc::clone(&seen);
    let agent = model
        .agent()
        .tool(nod())
        .allowed_tools(["nod"])
        .hook(HookEvent::PreToolUse, move |input, context| {
            let id = context.tool_use_id().map(str::to_owned);
            log.lock().unwrap().push((input, id));
            async { HookOutput::deny("not now") }
        })
        .build()
        .unwrap();
    messages(&mut agent.query("go")).await;
    model.verify();
    let seen = seen.lock().unwrap();
    let [(input, id)] = seen.as_slice() else {
        panic!("{seen:?}");
    };
    let Occurrence::PreToolUse(call) = &input.event else {
        panic!("{input:?}");
    };
    assert_eq!(call.tool_name, "nod");
    assert_eq!(Some(&call.tool_use_id), id.as_ref());
    assert!(input.cwd.starts_with('/'));
}

#[tokio::test]
async fn hook_7_a_closure_that_panics_or_fails_lets_no_call_through() {
    for fails in [true, false] {
        let model = Model::of(json!([
            calls(&[("nod", json!({}))]),
            done_after("failed", true)
        ]));
        let agent = model
            .agent()
            .tool(nod())
            .allowed_tools(["nod"])
            .hook(HookEvent::PreToolUse, move |_, _| async move {
                assert!(fails, "this hook panics");
                Err::<HookOutput, _>("this hook fails")
            })
            .build()
            .unwrap();
        messages(&mut agent.query("go")).await;
        model.verify();
    }
}

#[tokio::test]
async fn hook_8_the_signal_fires_when_the_time_is_over() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("no answer", true)
    ]));
    let mut slow = HookMatcher::of(HookEvent::PreToolUse);
    slow.timeout_ms = 20;
    let heard: Arc<Mutex<bool>> = Arc::default();
    let flag = Arc::clone(&heard);
    let agent = model
        .agent()
        .tool(nod())
        .hook(slow, move |_, context| {
            let flag = Arc::clone(&flag);
            async move {
                context.cancelled().await;
                *flag.lock().unwrap() = context.is_cancelled();
                HookOutput::allow()
            }
        })
        .build()
        .unwrap();
    messages(&mut agent.query("go")).await;
    model.verify();
    assert!(*heard.lock().unwrap());
}
