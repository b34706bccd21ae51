//! The kinds of closure tools: async or blocking, read-only or changing, with progress, structured results, and
//! errors for the model.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::{
    Agent, Json, Message, NoInput, Tool,
    model_server::{ModelServer, Script},
};

/// The doc comments of fields are what the model reads about them.
#[derive(Deserialize, JsonSchema)]
struct Remember {
    /// What the note is called.
    title: String,
    /// The note.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Recall {
    /// What the note is called.
    title: String,
}

#[derive(Serialize)]
struct Count {
    notes: usize,
}

const SCRIPT: &str = r#"{ "exchanges": [
    { "respond": { "content": [
        { "type": "tool_use", "name": "remember", "input": { "title": "milk", "text": "two litres" } },
        { "type": "tool_use", "name": "recall", "input": { "title": "bread" } },
        { "type": "tool_use", "name": "count", "input": {} },
        { "type": "tool_use", "name": "tidy", "input": {} }
    ] } },
    {
        "expect": { "tool_results": [
            { "id": "toolu_1_1", "is_error": false },
            { "id": "toolu_1_2", "contains": "no note is called bread", "is_error": true },
            { "id": "toolu_1_3", "contains": "{\"notes\":1}" },
            { "id": "toolu_1_4", "contains": "tidied 1 note" }
        ] },
        "respond": "There is one note, about milk."
    }
] }"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;
    let notes = Arc::new(Mutex::new(BTreeMap::new()));

    // Tools that change something run one after another, in the order of the model's calls.
    let kept = Arc::clone(&notes);
    let remember = Tool::new("remember", "Keeps a note", move |note: Remember| {
        let kept = Arc::clone(&kept);
        async move {
            kept.lock()
                .map_err(|_| "the notes are lost")?
                .insert(note.title, note.text);
            Ok::<_, &str>("kept")
        }
    });

    // An error goes to the model, which may try something else.
    let kept = Arc::clone(&notes);
    let recall = Tool::new("recall", "Finds a note", move |wanted: Recall| {
        let note = kept
            .lock()
            .ok()
            .and_then(|notes| notes.get(&wanted.title).cloned());
        async move { note.ok_or_else(|| format!("no note is called {}", wanted.title)) }
    })
    // Read-only tools may run concurrently.
    .read_only();

    // A closure that blocks runs on its own thread. `Json` gives programs the value and the model its text.
    let kept = Arc::clone(&notes);
    let count = Tool::blocking("count", "Counts the notes", move |_: NoInput| {
        kept.lock()
            .map(|notes| Json(Count { notes: notes.len() }))
            .map_err(|e| e.to_string())
    })
    .read_only();

    // With its context, a closure can report progress and notice a cancellation.
    let kept = Arc::clone(&notes);
    let tidy = Tool::with_context("tidy", "Tidies up", move |_: NoInput, context| {
        let number = kept.lock().map_or(0, |notes| notes.len());
        async move {
            for note in 1..=number {
                if context.is_cancelled() {
                    return format!("stopped before note {note}");
                }
                context.progress(format!("note {note} of {number}"));
                tokio::task::yield_now().await;
            }
            format!("tidied {number} note(s)")
        }
    });

    let agent = Agent::builder()
        .base_url(model.url())
        .tool(remember)
        .tool(recall)
        .tool(count)
        .tool(tidy)
        .allowed_tools(["remember", "recall", "count", "tidy"])
        .build()?;
    let mut run = agent.query("Keep a note about milk and tidy up.");
    while let Some(message) = run.next().await {
        match message {
            Message::User(user) => println!("result:   {:?}", user.message.content),
            Message::ToolProgress(progress) => println!("progress: {}", progress.tool_name),
            _ => {}
        }
    }
    println!("{}", run.result().await?.result.unwrap_or_default());

    model.verify()?;
    Ok(())
}
