//! What can be changed about a run under way, and what an agent says of itself.

use futures_util::stream;
use serde_json::{Value, json};
use windlass::{
    BypassNotAllowed, ControlError, Message, NoInput, Tool, UserInput,
    core::{
        Prompt, RawJson,
        agent::{AgentDefinition, AgentModel},
        permission::Mode,
        tool::ToolDefinition,
        tools::CoreTool,
    },
};

use crate::support::{Guard, Model, calls, messages, text};

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
    assert_eq!(run.interrupt(), Err(ControlError::SinglePrompt));
    assert_eq!(run.stop_task("b1"), Err(ControlError::SinglePrompt));
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
    let agent = model.agent().model("claude-sonnet-4-5").build().unwrap();
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
            json!({"type": "enabled", "budget_tokens": 31_999}),
            json!({"type": "enabled", "budget_tokens": 2048}),
            json!({"type": "enabled", "budget_tokens": 31_999}),
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

#[tokio::test]
async fn api_7_agents_are_listed_with_their_model_and_models_with_what_they_support() {
    let model = Model::says(["hi"]);
    let mut definition = AgentDefinition::new("Reviews changes.", "You review code.");
    definition.model = Some(AgentModel::Haiku);
    let agent = model
        .agent()
        .core_tools([CoreTool::Task])
        .subagent("reviewer", definition)
        .build()
        .unwrap();
    let agents = agent.supported_agents();
    let reviewer = agents.iter().find(|known| known.name == "reviewer");
    let reviewer = serde_json::to_value(reviewer.unwrap()).unwrap();
    assert_eq!(
        reviewer,
        json!({"name": "reviewer", "description": "Reviews changes.", "model": "haiku"})
    );
    let models = agent.supported_models();
    let sonnet = models.iter().find(|known| known.value == "sonnet");
    assert_eq!(sonnet.unwrap().supports_adaptive_thinking, Some(true));
    // The first message of a run says the same by name.
    let said = messages(&mut agent.query("hello")).await;
    let init: Value = serde_json::from_str(&said[0].to_line()).unwrap();
    let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(init["agents"], json!(names));
}

#[tokio::test]
async fn sub_1_an_agent_of_the_builder_does_a_task_with_its_own_prompt_and_tools() {
    let task = json!({"description": "look", "prompt": "Look at it.", "subagent_type": "reviewer"});
    let model = Model::of(json!([
        { "expect": { "tools_include": ["Task", "nod", "shake"] },
          "respond": { "content": [{ "type": "tool_use", "name": "Task", "input": task }] } },
        { "expect": { "last_user_contains": "Look at it.", "system_contains": "You review code.",
                      "absent": ["/tools/1"], "fields": { "/tools/0/name": "nod" } },
          "respond": "It is fine." },
        { "expect": { "last_user_contains": "It is fine." }, "respond": "done" },
    ]));
    let mut definition = AgentDefinition::new("Reviews changes.", "You review code.");
    definition.tools = Some(vec!["nod".to_owned()]);
    let nod = |name: &str| Tool::new(name, "Moves the head", |_: NoInput| async {});
    let agent = model
        .agent()
        .core_tools([CoreTool::Task])
        .subagent("reviewer", definition)
        .tool(nod("nod"))
        .tool(nod("shake"))
        .allowed_tools(["Task(reviewer)"])
        .build()
        .unwrap();
    assert_eq!(text(agent.run("review").await.unwrap()), "done");
    model.verify();
}

#[tokio::test]
async fn sub_4_the_conversation_runs_as_one_of_the_agents() {
    let model = Model::of(json!([
        { "expect": { "system_contains": "You review code." }, "respond": "done" },
    ]));
    let definition = AgentDefinition::new("Reviews changes.", "You review code.");
    let agent = model
        .agent()
        .subagent("reviewer", definition)
        .run_as("reviewer")
        .build()
        .unwrap();
    assert_eq!(text(agent.run("review").await.unwrap()), "done");
    model.verify();
    let nobody = model.agent().run_as("nobody").build().unwrap_err();
    assert!(nobody.to_string().contains("general-purpose"), "{nobody}");
}

/// A tool that never ends, beside the conversation when asked so.
fn endless(guard: Guard) -> (Tool, tokio::sync::mpsc::Receiver<()>) {
    let (starting, started) = tokio::sync::mpsc::channel(4);
    let schema = json!({"type": "object", "properties": {"aside": {"type": "boolean"}}});
    let schema = RawJson::parse(schema.to_string()).unwrap();
    let mut definition = ToolDefinition::new("endless", "Never ends", schema);
    definition.background_param = Some("aside".to_owned());
    let tool = Tool::raw(definition, move |_, context| {
        let (guard, starting) = (guard.clone(), starting.clone());
        async move {
            let _alive = guard;
            starting.send(()).await.unwrap();
            context.cancelled().await;
        }
    });
    (tool, started)
}

#[tokio::test]
async fn api_11_a_task_is_stopped_and_the_session_says_so() {
    let model = Model::of(json!([
        calls(&[("endless", json!({"aside": true}))]),
        { "respond": "started" },
        { "expect": { "last_user_contains": "stopped" }, "respond": "I see" },
    ]));
    let (guard, mut gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let (saying, mut said) = tokio::sync::mpsc::unbounded_channel();
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .on_message(move |message| {
            let line: Value = serde_json::from_str(&message.to_line()).unwrap();
            // Nobody listens any more once the test is over.
            let _ = saying.send(line);
        })
        .build()
        .unwrap();
    let session = agent.session();
    assert_eq!(
        text(session.prompt("go").result().await.unwrap()),
        "started"
    );
    started.recv().await.unwrap();
    let mut told = async |subtype: &str| loop {
        let line = said.recv().await.unwrap();
        if line["subtype"] == subtype {
            return line;
        }
    };
    let task = told("task_started").await["task_id"].clone();
    session.stop_task(task.as_str().unwrap());
    // Nothing is being answered, and still it is told.
    let end = told("task_notification").await;
    assert_eq!(
        (&end["task_id"], &end["status"]),
        (&task, &json!("stopped"))
    );
    let next = session.prompt("and now?").result().await.unwrap();
    assert_eq!(text(next), "I see");
    drop((session, agent));
    assert_eq!(gone.recv().await, None);
    model.verify();
}

#[tokio::test]
async fn api_11_closing_a_run_leaves_nothing_running() {
    let model = Model::of(json!([calls(&[
        ("endless", json!({"aside": true})),
        ("endless", json!({})),
    ])]));
    let (guard, mut gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model.agent().tool(tool).allowed_tools(["endless"]).build();
    let agent = agent.unwrap();
    let run = agent.query("go");
    started.recv().await.unwrap();
    started.recv().await.unwrap();
    run.close().await;
    drop(agent);
    // The last holder of the guard was the tool itself, and nothing has to be waited for.
    assert_eq!(
        gone.try_recv(),
        Err(tokio::sync::mpsc::error::TryRecvError::Disconnected)
    );

    // Closing what has ended already is nothing.
    let model = Model::says(["hi"]);
    let agent = model.agent().build().unwrap();
    let mut run = agent.query("hello");
    while run.next().await.is_some() {}
    run.close().await;
}
