//! What can be changed about a run under way, and what an agent says of itself.

use futures_util::stream;
use serde_json::json;
use windlass::{
    BypassNotAllowed, ControlError, Message, NoInput, Tool, UserInput,
    core::{Prompt, permission::Mode},
};

use crate::support::{Model, calls, messages, text};

#[tokio::test]
async fn api_3_a_run_of_one_prompt_cannot_be_changed_and_says_what_can() {
    let model = Model::says(["hi"]);
    let agent = model.agent().build().unwrap();
    let mut run = agent.query("hello");
    assert_eq!(
        run.set_model(Some("other")),
        Err(ControlError::SinglePrompt)
    );
    assert_eq!(
        run.set_permission_mode(Mode::Plan),
        Err(ControlError::SinglePrompt)
    );
    assert_eq!(run.steer("and?"), Err(ControlError::SinglePrompt));
    let error = run.set_max_thinking_tokens(None).unwrap_err().to_string();
    assert!(error.contains("UserInput::stream"), "{error}");
    messages(&mut run).await;
    model.verify();
}

/// A tool that waits until the test has said what it wants to say.
fn waiting_tool() -> (
    Tool,
    tokio::sync::mpsc::Receiver<()>,
    tokio::sync::mpsc::Sender<()>,
) {
    let (began, begun) = tokio::sync::mpsc::channel(1);
    let (go_on, goes_on) = tokio::sync::mpsc::channel::<()>(1);
    let goes_on = std::sync::Arc::new(tokio::sync::Mutex::new(goes_on));
    let tool = Tool::new("wait", "Waits", move |_: NoInput| {
        let (began, goes_on) = (began.clone(), std::sync::Arc::clone(&goes_on));
        async move {
            began.send(()).await.unwrap();
            goes_on.lock().await.recv().await;
        }
    });
    (tool, begun, go_on)
}

#[tokio::test]
async fn api_3_mode_model_and_thinking_change_within_a_streamed_run() {
    let model = Model::of(json!([
        calls(&[("wait", json!({}))]),
        { "expect": { "model": "model-b" }, "respond": "done" },
    ]));
    let (tool, mut begun, go_on) = waiting_tool();
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["wait"])
        .build()
        .unwrap();
    let mut run = agent.query(UserInput::stream(stream::iter(["go"])));
    let reader = tokio::spawn(async move {
        begun.recv().await.unwrap();
    });
    while !reader.is_finished() {
        run.next().await.unwrap();
    }
    run.set_model(Some("model-b")).unwrap();
    run.set_permission_mode(Mode::Plan).unwrap();
    assert_eq!(
        run.set_permission_mode(Mode::BypassPermissions),
        Err(ControlError::BypassNotAllowed(BypassNotAllowed))
    );
    go_on.send(()).await.unwrap();
    let said = messages(&mut run).await;
    let told = |message: &&Message| message.to_line().contains("\"permissionMode\":\"plan\"");
    assert!(said.iter().any(|message| told(&message)), "{said:?}");
    assert_eq!(run.set_model(None), Err(ControlError::Ended));
    model.verify();
}

#[tokio::test]
async fn api_4_the_thinking_budget_is_in_the_next_request() {
    let model = Model::says(["one", "two", "three"]);
    let agent = model.agent().model("claude-sonnet-4-6").build().unwrap();
    let session = agent.session();
    session.prompt("1").result().await.unwrap();
    session.set_max_thinking_tokens(Some(2048));
    session.prompt("2").result().await.unwrap();
    session.set_max_thinking_tokens(None);
    session.prompt("3").result().await.unwrap();
    let thinking: Vec<_> = model
        .requests()
        .iter()
        .map(|body| body["thinking"].clone())
        .collect();
    assert_eq!(
        thinking,
        [
            json!({"type": "adaptive"}),
            json!({"type": "enabled", "budget_tokens": 2048}),
            json!({"type": "adaptive"}),
        ]
    );
}

#[tokio::test]
async fn api_11_a_message_joins_the_answer_under_way() {
    let model = Model::of(json!([
        calls(&[("wait", json!({}))]),
        { "expect": { "last_user_contains": "only the kitchen" }, "respond": "the kitchen is tidy" },
        { "expect": { "last_user_contains": "thank you" }, "respond": "welcome" },
    ]));
    let (tool, mut begun, go_on) = waiting_tool();
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["wait"])
        .build()
        .unwrap();
    let session = agent.session();
    let run = session.prompt("tidy up");
    begun.recv().await.unwrap();
    assert!(session.steer("only the kitchen"));
    go_on.send(()).await.unwrap();
    assert_eq!(text(run.result().await.unwrap()), "the kitchen is tidy");
    assert!(!session.steer("too late"), "nothing is being answered");
    let thanks = session.prompt("thank you").result().await.unwrap();
    assert_eq!(text(thanks), "welcome");
    model.verify();
}

#[tokio::test]
async fn api_11_a_message_too_late_to_join_is_answered_in_the_same_run() {
    let model = Model::says(["one", "two", "three"]);
    let agent = model.agent().build().unwrap();
    let session = agent.session();
    let mut run = session.prompt("first");
    run.next().await.unwrap();
    assert!(session.steer(Prompt::text("second")));
    let said = messages(&mut run).await;
    let results = said.iter().filter(|m| matches!(m, Message::Result(_)));
    assert_eq!(results.count(), 2);
    let third = session.prompt("third").result().await.unwrap();
    assert_eq!(text(third), "three");
    model.verify();
}

#[tokio::test]
async fn api_6_an_agent_says_what_it_offers() {
    let model = Model::says(["unused"]);
    let agent = model.agent().build().unwrap();
    let offered = agent.initialization();
    assert_eq!(offered.models, agent.supported_models());
    assert_eq!(offered.commands, agent.supported_commands());
    assert_eq!(offered.account, agent.account_info());
    let agents = agent.supported_agents();
    assert!(agents.iter().any(|known| known.name == "general-purpose"));
    assert_eq!(offered.output_style, "default");
}
