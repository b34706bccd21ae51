//! Conversations: prompts that see what came before, and what can be changed between them.

use serde_json::json;
use windlass::{
    BypassNotAllowed, Message, NoInput, Tool,
    core::{Input, Prompt, Session, drive, message::SystemMessage, permission::Mode},
};

use crate::support::{Model, calls, messages, text};

#[tokio::test]
async fn loop_16_every_prompt_of_a_session_sees_what_came_before() {
    let model = Model::of(json!([
        { "expect": { "messages": 1, "last_user_contains": "Call me Ishmael" }, "respond": "Hello, Ishmael." },
        { "expect": { "messages": 3, "last_user_contains": "my name" }, "respond": "Ishmael." },
    ]));
    let agent = model.agent().build().unwrap();
    let session = agent.session();
    session.prompt("Call me Ishmael.").result().await.unwrap();
    let result = session.prompt("What is my name?").result().await.unwrap();
    assert_eq!(result.session_id, session.id().await);
    assert_eq!(text(result), "Ishmael.");
    session.close().await;
    model.verify();
}

#[tokio::test]
async fn loop_16_prompts_wait_for_each_other_and_each_has_its_own_messages() {
    let model = Model::says(["one", "two", "three"]);
    let agent = model.agent().build().unwrap();
    let session = agent.session();
    let runs = [
        session.prompt("1"),
        session.prompt("2"),
        session.prompt("3"),
    ];
    let mut answers = Vec::new();
    for run in runs {
        answers.push(text(run.result().await.unwrap()));
    }
    assert_eq!(answers, ["one", "two", "three"]);
    model.verify();
}

#[tokio::test]
async fn sessions_of_one_agent_know_nothing_of_each_other() {
    let model = Model::of(json!([
        { "expect": { "messages": 1 }, "respond": "one" },
        { "expect": { "messages": 1 }, "respond": "two" },
    ]));
    let agent = model.agent().build().unwrap();
    let (one, two) = (agent.session(), agent.session());
    assert_ne!(one.id().await, two.id().await);
    one.prompt("hi").result().await.unwrap();
    two.prompt("hi").result().await.unwrap();
    model.verify();
}

#[tokio::test]
async fn the_model_can_be_changed_between_prompts_and_changed_back() {
    let model = Model::of(json!([
        { "expect": { "model": "model-a" }, "respond": "a" },
        { "expect": { "model": "model-b" }, "respond": "b" },
        { "expect": { "model": "model-a" }, "respond": "a again" },
    ]));
    let agent = model.agent().model("model-a").build().unwrap();
    let session = agent.session();
    session.prompt("1").result().await.unwrap();
    session.set_model(Some("model-b"));
    let messages = messages(&mut session.prompt("2")).await;
    let Some(Message::System(SystemMessage::Init(init))) = messages.first() else {
        panic!("{messages:?}");
    };
    assert_eq!(init.model, "model-b");
    session.set_model(None);
    session.prompt("3").result().await.unwrap();
    model.verify();
}

#[tokio::test]
async fn the_permission_mode_can_be_changed_between_prompts() {
    let model = Model::of(json!([
        calls(&[("change", json!({}))]),
        { "expect": { "tool_results": [{ "is_error": true }] }, "respond": "refused" },
        calls(&[("change", json!({}))]),
        { "expect": { "tool_results": [{ "is_error": true, "contains": "plan mode" }] }, "respond": "refused" },
    ]));
    let change = Tool::new("change", "Changes", |_: NoInput| async {});
    let agent = model.agent().tool(change).build().unwrap();
    let session = agent.session();
    session.prompt("go").result().await.unwrap();
    session.set_permission_mode(Mode::Plan).unwrap();
    session.prompt("go").result().await.unwrap();
    model.verify();
}

#[tokio::test]
async fn perm_2_a_session_cannot_be_switched_to_bypass_without_leave_and_goes_on() {
    let model = Model::says(["still here"]);
    let agent = model.agent().build().unwrap();
    let session = agent.session();
    assert_eq!(
        session.set_permission_mode(Mode::BypassPermissions),
        Err(BypassNotAllowed)
    );
    assert_eq!(
        text(session.prompt("hi").result().await.unwrap()),
        "still here"
    );
}

#[tokio::test]
async fn a_session_that_is_dropped_lets_what_was_said_be_answered() {
    let model = Model::says(["one", "two"]);
    let agent = model.agent().build().unwrap();
    let session = agent.session();
    let (one, two) = (session.prompt("1"), session.prompt("2"));
    drop(session);
    drop(agent);
    assert_eq!(text(one.result().await.unwrap()), "one");
    assert_eq!(text(two.result().await.unwrap()), "two");
}

#[tokio::test]
async fn a_slow_reader_gets_every_message() {
    let model = Model::of(
        json!([{ "respond": { "text": "word ".repeat(2000), "stream": { "delta_chars": 10 } } }]),
    );
    let agent = model.agent().partial_messages(true).build().unwrap();
    let mut run = agent.query("go");
    // Far more than the channel holds comes before anything is read.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    let messages = messages(&mut run).await;
    assert!(messages.len() > 1000, "{}", messages.len());
    assert_eq!(text(run.result().await.unwrap()), "word ".repeat(2000));
}

#[tokio::test]
async fn the_driver_on_the_native_host_can_be_spawned_and_turned_by_hand() {
    let model = Model::says(["by hand"]);
    let agent = model.agent().build().unwrap();
    let (host, mut messages) = agent.host();
    let mut session = Session::new(agent.spec(), windlass::core::Uuid::from_u128(1), [1; 32]);
    // `tokio::spawn` takes it: the driver is `Send` on this host.
    let driver = tokio::spawn(async move {
        let inputs = futures_util::stream::iter([Input::Prompt(Prompt::text("hi"))]);
        drive(&mut session, &host, inputs).await.map(|()| session)
    });
    let mut last = None;
    while let Some(message) = messages.recv().await {
        last = Some(message);
    }
    let session = driver.await.unwrap().unwrap();
    assert!(session.is_idle());
    let Some(Message::Result(result)) = last else {
        panic!("{last:?}");
    };
    assert_eq!(text(result), "by hand");
}
