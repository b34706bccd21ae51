//! Hooks when the model is done.

use serde_json::{Value, json};
use windlass_core::{
    Input,
    hook::{HookEvent, HookOutput, Occurrence},
    tool::ToolResult,
};
use windlass_testkit::{HookStep, TestHost};

use super::{calls, free_spec, informed, matcher, model, result, texts, told, user_message};
use crate::harness::spec_with;

const STOP: HookEvent = HookEvent::Stop;

fn block(reason: &str) -> HookOutput {
    super::output(json!({"decision": "block", "reason": reason})).read(STOP)
}

fn until_active(host: TestHost) -> TestHost {
    host.hook(STOP, |input| match &input.event {
        Occurrence::Stop(stop) if !stop.stop_hook_active => block("the tests are red"),
        _ => HookOutput::default(),
    })
}

#[test]
fn hook_6_a_blocking_stop_hook_makes_the_loop_go_on() {
    let host = until_active(model(&[
        json!("I am done."),
        calls(&[("Note", json!({}))]),
        json!("Now I am."),
    ]))
    .tool("Note", |_| ToolResult::text("noted"));
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let end = result(&messages);
    assert_eq!(
        (&end["result"], &end["num_turns"]),
        (&json!("Now I am."), &json!(3))
    );
    let sent = texts(&user_message(&host, 1));
    assert_eq!(
        sent,
        ["A hook wants you to go on before you stop: the tests are red"]
    );
    let [first, second] = [0, 1].map(|nth| told(&host, nth));
    assert_eq!(first["stop_hook_active"], false);
    assert_eq!(first["last_assistant_message"], "I am done.");
    assert_eq!(second["stop_hook_active"], true);
    assert_eq!(second["last_assistant_message"], "Now I am.");
    // The application sees that the engine spoke.
    let synthetic = messages.iter().any(|message| {
        let line: Value = serde_json::from_str(&message.to_line()).unwrap();
        line["type"] == "user" && line["isSynthetic"] == true
    });
    assert!(synthetic);
}

#[test]
fn hook_6_after_eight_blocks_in_a_row_the_loop_ends_and_says_so() {
    let answers: Vec<Value> = (0..9).map(|n| json!(format!("Answer {n}."))).collect();
    let host = model(&answers).hook(STOP, |_| block("never"));
    let mut session = host.session(free_spec());
    let messages = host.prompt(&mut session, "go").unwrap();
    let end = result(&messages);
    assert_eq!(
        (&end["subtype"], &end["num_turns"]),
        (&json!("success"), &json!(9))
    );
    assert_eq!(end["result"], "Answer 8.");
    let said = informed(&messages);
    assert!(
        said.last().unwrap().content.contains("8 times in a row"),
        "{said:?}"
    );
    assert_eq!(host.hook_calls().len(), 9);
    host.verify().unwrap();
}

#[test]
fn hook_6_what_a_hook_says_to_go_on_is_in_the_transcript() {
    let mut spec = spec_with(vec![]);
    spec.policy.persist = true;
    let host = until_active(model(&[json!("One."), json!("Two.")]));
    host.prompt(&mut host.session(spec), "go").unwrap();
    let entries = host.entries();
    assert_eq!(entries.len(), 4);
    assert!(entries[2].message.get().contains("the tests are red"));
    assert_eq!(entries[3].parent, Some(entries[2].uuid));
}

#[test]
fn hook_16_a_stop_hook_can_end_the_run_for_good() {
    let host = model(&[json!("One.")])
        .hook(STOP, |_| block("go on"))
        .hook(STOP, |_| {
            super::output(json!({"continue": false, "stopReason": "no more"})).read(STOP)
        });
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(result(&messages)["result"], "One.");
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn hook_6_an_interrupt_ends_a_stop_hook_that_hangs() {
    let host = model(&[json!("One.")])
        .hook_steps(matcher(STOP, ""), |_| vec![HookStep::UntilCancelled])
        .input_at(300, Input::Interrupt);
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.elapsed_ms(), 300);
    assert_eq!(result(&messages)["is_error"], true);
}

#[test]
fn hook_12_an_interrupted_call_is_a_failure_by_interrupt() {
    let event = HookEvent::PostToolUseFailure;
    let host = model(&[calls(&[("Note", json!({}))])])
        .tool_steps("Note", |_| vec![windlass_testkit::ToolStep::UntilCancelled])
        .hook(event, |_| HookOutput::default())
        .input_at(300, Input::Interrupt);
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let told = told(&host, 0);
    assert_eq!(told["is_interrupt"], true);
    assert_eq!(told["tool_use_id"], "toolu_0");
}

#[test]
fn the_result_waits_for_hooks_that_watch_but_not_for_ever() {
    let mut slow = matcher(HookEvent::Notification, "");
    slow.timeout_ms = 4_000;
    let notification = Occurrence::Notification(windlass_core::hook::input::Notification {
        message: "m".into(),
        title: None,
        notification_type: "x".into(),
    });
    let host = model(&[json!("One.")])
        .hook_steps(slow, |_| vec![HookStep::UntilCancelled])
        .hook_steps(matcher(STOP, ""), |_| {
            vec![HookStep::Work(100), HookStep::answer(HookOutput::default())]
        })
        .input_at(50, Input::Occurred(notification));
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(result(&messages)["result"], "One.");
    assert_eq!(host.elapsed_ms(), 4_050);
}
