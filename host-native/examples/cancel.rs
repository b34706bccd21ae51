//! Two ways to stop: an interrupt ends a prompt gracefully and the session continues; an abort ends the run at once.

use std::time::Duration;

use tokio::sync::mpsc;
use windlass::{
    Agent, Message, NoInput, RunError, Tool,
    model_server::{ModelServer, Script},
};

const SCRIPT: &str = r#"{ "exchanges": [
    { "respond": { "content": [{ "type": "tool_use", "name": "ponder", "input": {} }] } },
    { "respond": { "content": [{ "type": "tool_use", "name": "ponder", "input": {} }] } },
    { "expect": { "last_user_contains": "still there" }, "respond": "Yes." }
] }"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;
    let (starting, mut started) = mpsc::channel(1);
    let ponder = Tool::new("ponder", "Thinks for an hour", move |_: NoInput| {
        let starting = starting.clone();
        async move {
            // The receiver may be gone, which does not matter.
            let _ = starting.send(()).await;
            tokio::time::sleep(Duration::from_secs(3600)).await;
            "42"
        }
    });
    let agent = Agent::builder()
        .base_url(model.url())
        .tool(ponder)
        .allowed_tools(["ponder"])
        .build()?;
    let session = agent.session();

    // An interrupt: the messages continue to the result, which says what happened.
    let mut run = session.prompt("What is the answer?");
    started.recv().await;
    session.interrupt();
    while let Some(message) = run.next().await {
        if let Message::Result(result) = message {
            println!("interrupted: {:?}", result.errors.unwrap_or_default());
        }
    }

    // An abort: there are no further messages, and the caller gets an error. The handle can be passed anywhere: to a
    // signal handler, to a button.
    let run = session.prompt("What is it now?");
    let abort = run.abort_handle();
    started.recv().await;
    abort.abort();
    match run.result().await {
        Err(RunError::Aborted) => println!("aborted"),
        other => println!("unexpected: {other:?}"),
    }

    // The session can be used after either of them.
    let result = session.prompt("Are you still there?").result().await?;
    println!("{}", result.result.unwrap_or_default());

    model.verify()?;
    Ok(())
}
