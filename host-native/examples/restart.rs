//! A program that restarts and continues its conversation.
//!
//! `cargo run --example restart` needs neither network nor key. Each call of `ask` represents a separate run of the
//! program: the runs share only the store. With `FileStore::of_user(".")?`, the sessions are shared with the command
//! line.

use std::{error::Error, path::Path};

use windlass::{
    Agent,
    model_server::{ModelServer, Script},
    store::{ConfigDir, FileStore},
};

const SCRIPT: &str = r#"{ "exchanges": [
    { "expect": { "messages": 1 }, "respond": "Hello, Ishmael." },
    { "expect": { "messages": 3, "last_user_contains": "my name" }, "respond": "Ishmael." }
] }"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;
    let folder = tempfile::tempdir()?;
    for prompt in ["Call me Ishmael.", "What is my name?"] {
        println!("{}", ask(prompt, &model.url(), folder.path()).await?);
    }
    model.verify()?;
    Ok(())
}

/// What the program does each time it is started.
async fn ask(prompt: &str, url: &str, folder: &Path) -> Result<String, Box<dyn Error>> {
    let agent = Agent::builder()
        .base_url(url)
        .store(FileStore::new(&ConfigDir::at(folder), "."))
        .continue_latest()
        .build()?;
    Ok(agent.run(prompt).await?.result.unwrap_or_default())
}
