//! How runs end before they are done: aborts, interrupts, drops and faults.

use futures_util::stream;
use serde_json::json;
use tokio::sync::mpsc;
use windlass::{
    Message, NoInput, RunError, Tool, UserInput,
    core::{
        effect::{PermissionRequest, PermissionResponse},
        message::ResultSubtype,
    },
};

use crate::support::{Guard, Model, calls, kinds, messages, text, tool_results};

/// A tool that never ends. It says when it has started, and its future holds the guard.
fn endless(guard: Guard) -> (Tool, mpsc::Receiver<()>) {
    let (starting, started) = mpsc::channel(8);
    let tool = Tool::new("endless", "Never ends", move |_: NoInput| {
        let (guard, starting) = (guard.clone(), starting.clone());
        async move {
            let _guard = guard;
            starting.send(()).await.unwrap();
            std::future::pending::<()>().await;
        }
    });
    (tool, started)
}

#[tokio::test]
async fn api_2_an_abort_stops_the_tool_and_the_caller_gets_aborted() {
    let model = Model::of(json!([calls(&[("endless", json!({}))])]));
    let (guard, mut gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .build()
        .unwrap();
    let mut run = agent.query("go");
    let abort = run.abort_handle();
    started.recv().await.unwrap();
    abort.abort();
    assert!(run.next().await.is_none(), "no message after an abort");
    assert_eq!(run.result().await.unwrap_err(), RunError::Aborted);
    drop(agent); // and with it the tool's own copy of the guard
    assert!(
        gone.recv().await.is_none(),
        "the future of the call is dropped"
    );
    model.verify();
}

#[tokio::test]
async fn api_2_an_abort_stops_the_model() {
    let model = Model::of(json!([{
        "respond": { "text": "Never to be finished.", "faults": [{ "after_events": 3, "hang": true }] }
    }]));
    let agent = model.agent().partial_messages(true).build().unwrap();
    let session = agent.session();
    let mut run = session.prompt("go");
    while !matches!(run.next().await, Some(Message::StreamEvent(_))) {}
    run.abort_handle().abort();
    assert_eq!(run.result().await.unwrap_err(), RunError::Aborted);
    // The driver ends only when the exchange has: it would wait for the hanging server for ever.
    session.close().await;
}

#[tokio::test]
async fn api_2_an_abort_from_another_task_ends_a_run_that_nobody_reads() {
    let model = Model::of(json!([calls(&[("endless", json!({}))])]));
    let (guard, mut gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .build()
        .unwrap();
    let run = agent.query("go");
    let abort = run.abort_handle();
    let waiting = tokio::spawn(run.result());
    started.recv().await.unwrap();
    tokio::spawn(async move { abort.abort() });
    assert_eq!(waiting.await.unwrap().unwrap_err(), RunError::Aborted);
    drop(agent);
    assert!(gone.recv().await.is_none());
}

#[tokio::test]
async fn api_2_a_run_that_is_dropped_stops_its_work() {
    let model = Model::of(json!([calls(&[("endless", json!({}))])]));
    let (guard, mut gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .build()
        .unwrap();
    let run = agent.query("go");
    started.recv().await.unwrap();
    drop(run);
    drop(agent);
    assert!(gone.recv().await.is_none());
}

#[tokio::test]
async fn api_2_a_session_goes_on_after_an_abort_with_a_valid_history() {
    let model = Model::of(json!([
        calls(&[("endless", json!({}))]),
        {
            // What was running is answered, so that the API takes the history; then comes the new prompt.
            "expect": {
                "last_user_contains": "still there?",
                "fields": { "/messages/2/content/0/tool_use_id": "toolu_1_1", "/messages/2/content/0/is_error": true }
            },
            "respond": "Yes."
        },
    ]));
    let (guard, _gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .build()
        .unwrap();
    let session = agent.session();
    let run = session.prompt("go");
    started.recv().await.unwrap();
    run.abort_handle().abort();
    assert_eq!(run.result().await.unwrap_err(), RunError::Aborted);
    assert_eq!(
        text(session.prompt("still there?").result().await.unwrap()),
        "Yes."
    );
    model.verify();
}

#[tokio::test]
async fn api_2_aborting_a_prompt_that_waits_leaves_the_running_one_alone() {
    let model = Model::of(json!([
        calls(&[("wait", json!({}))]),
        { "respond": "first" },
        { "expect": { "last_user_contains": "third" }, "respond": "third" },
    ]));
    let (release, released) = tokio::sync::watch::channel(false);
    let wait = Tool::new("wait", "Waits", move |_: NoInput| {
        let mut released = released.clone();
        async move {
            released.wait_for(|open| *open).await.unwrap();
        }
    });
    let agent = model
        .agent()
        .tool(wait)
        .allowed_tools(["wait"])
        .build()
        .unwrap();
    let session = agent.session();
    let first = session.prompt("first");
    let second = session.prompt("second");
    let third = session.prompt("third");
    second.abort_handle().abort();
    assert_eq!(second.result().await.unwrap_err(), RunError::Aborted);
    release.send(true).unwrap();
    assert_eq!(text(first.result().await.unwrap()), "first");
    assert_eq!(text(third.result().await.unwrap()), "third");
    model.verify();
}

#[tokio::test]
async fn an_abort_after_the_end_changes_nothing() {
    let model = Model::says(["done"]);
    let agent = model.agent().build().unwrap();
    let mut run = agent.query("go");
    let abort = run.abort_handle();
    messages(&mut run).await;
    abort.abort();
    assert_eq!(text(run.result().await.unwrap()), "done");
}

#[tokio::test]
async fn loop_13_an_interrupt_ends_a_run_with_a_result_and_the_session_stays_usable() {
    let model = Model::of(json!([
        calls(&[("endless", json!({})), ("endless", json!({}))]),
        {
            "expect": {
                "last_user_contains": "and now?",
                "fields": {
                    "/messages/2/content/0/tool_use_id": "toolu_1_1",
                    "/messages/2/content/1/tool_use_id": "toolu_1_2"
                }
            },
            "respond": "Now it is over."
        },
    ]));
    let (guard, _gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .build()
        .unwrap();
    let session = agent.session();
    let mut run = session.prompt("go");
    started.recv().await.unwrap();
    session.interrupt();
    let messages = messages(&mut run).await;
    assert_eq!(
        kinds(&messages),
        ["system", "assistant", "user", "user", "result"]
    );
    let result = run.result().await.unwrap();
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    assert_eq!(
        text(session.prompt("and now?").result().await.unwrap()),
        "Now it is over."
    );
    model.verify();
}

#[tokio::test]
async fn loop_13_a_closure_that_hears_of_the_interrupt_may_end_by_itself() {
    let model = Model::of(json!([calls(&[("patient", json!({}))])]));
    let (starting, mut started) = mpsc::channel(1);
    let patient = Tool::with_context(
        "patient",
        "Waits to be stopped",
        move |_: NoInput, context| {
            let starting = starting.clone();
            async move {
                starting.send(()).await.unwrap();
                context.cancelled().await;
                "saved what there was"
            }
        },
    );
    let agent = model
        .agent()
        .tool(patient)
        .allowed_tools(["patient"])
        .build()
        .unwrap();
    let session = agent.session();
    let mut run = session.prompt("go");
    started.recv().await.unwrap();
    run.interrupt().unwrap();
    let messages = messages(&mut run).await;
    assert_eq!(tool_results(&messages), ["saved what there was"]);
    let result = run.result().await.unwrap();
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    model.verify();
}

#[tokio::test]
async fn loop_13_an_interrupt_takes_back_a_question() {
    let model = Model::of(json!([calls(&[("nod", json!({}))]), { "respond": "Fine." }]));
    let (asking, mut asked) = mpsc::channel::<PermissionRequest>(1);
    let nod = Tool::new("nod", "Nods", |_: NoInput| async {});
    let agent = model
        .agent()
        .tool(nod)
        .on_permission(move |request| {
            let asking = asking.clone();
            async move {
                asking.send(request).await.unwrap();
                std::future::pending::<PermissionResponse>().await
            }
        })
        .build()
        .unwrap();
    let session = agent.session();
    let run = session.prompt("go");
    assert_eq!(asked.recv().await.unwrap().tool_name, "nod");
    session.interrupt();
    let result = run.result().await.unwrap();
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    assert_eq!(
        text(session.prompt("never mind").result().await.unwrap()),
        "Fine."
    );
    model.verify();
}

#[tokio::test]
async fn loop_13_an_interrupt_when_nothing_runs_is_nothing() {
    let model = Model::says(["one", "two"]);
    let agent = model.agent().build().unwrap();
    let session = agent.session();
    session.interrupt();
    assert_eq!(text(session.prompt("1").result().await.unwrap()), "one");
    session.interrupt();
    assert_eq!(text(session.prompt("2").result().await.unwrap()), "two");
    model.verify();
}

#[tokio::test]
async fn loop_9_a_model_that_cannot_be_asked_is_a_result_not_an_error() {
    let model = Model::of(json!([{
        "respond": { "error": { "type": "authentication_error", "message": "invalid x-api-key" } }
    }]));
    let agent = model.agent().build().unwrap();
    let result = agent.run("hi").await.unwrap();
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    assert!(result.errors.unwrap()[0].contains("invalid x-api-key"));
}

#[test]
fn without_a_runtime_a_run_says_so_instead_of_panicking() {
    let model = Model::says([]);
    let agent = model.agent().build().unwrap();
    let run = agent.query("hi");
    let streamed = agent.query(UserInput::stream(stream::iter(["hi"])));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let result = runtime.block_on(run.result());
    assert_eq!(result.unwrap_err(), RunError::NoRuntime);
    let result = runtime.block_on(streamed.result());
    assert_eq!(result.unwrap_err(), RunError::NoRuntime);
}

#[test]
fn a_runtime_that_is_shut_down_ends_its_runs() {
    let model = Model::of(json!([calls(&[("endless", json!({}))])]));
    let (guard, _gone) = Guard::new();
    let (tool, mut started) = endless(guard);
    let agent = model
        .agent()
        .tool(tool)
        .allowed_tools(["endless"])
        .build()
        .unwrap();
    let first = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let run = {
        let _entered = first.enter();
        agent.query("go")
    };
    let second = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    second.block_on(started.recv()).unwrap();
    first.shutdown_background();
    assert_eq!(
        second.block_on(run.result()).unwrap_err(),
        RunError::RuntimeShutDown
    );
}

#[tokio::test]
async fn a_panic_of_a_callback_ends_the_run_with_what_it_said() {
    let model = Model::says(["hi"]);
    let agent = model
        .agent()
        .on_message(|_| panic!("the callback is broken"))
        .build()
        .unwrap();
    let session = agent.session();
    let broken = || RunError::Panicked {
        text: "the callback is broken".to_owned(),
    };
    assert_eq!(session.prompt("hi").result().await.unwrap_err(), broken());
    assert_eq!(
        session.prompt("again").result().await.unwrap_err(),
        broken()
    );
}

#[tokio::test]
async fn a_panic_in_a_stream_of_messages_ends_the_run_with_what_it_said() {
    let model = Model::says(["one"]);
    let agent = model.agent().build().unwrap();
    let prompts = stream::unfold(0, |number| async move {
        assert!(number < 1, "out of questions");
        Some(("hi", number + 1))
    });
    let error = agent.run(UserInput::stream(prompts)).await.unwrap_err();
    assert_eq!(
        error,
        RunError::Panicked {
            text: "out of questions".to_owned()
        }
    );
}
