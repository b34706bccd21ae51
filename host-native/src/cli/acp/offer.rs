//! What an engine offers once it is ready.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::{RawJson, permission::Mode};

use super::{
    options::{Choices, Model},
    rpc::RpcError,
};
use crate::cli::client::{Client, EngineEvent};

/// The answer of an engine to the first request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Offer {
    current_permission_mode: Option<Mode>,
    models: Vec<Model>,
    commands: Vec<OfferedCommand>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OfferedCommand {
    name: String,
    description: String,
    argument_hint: String,
}

/// Waits until the engine is ready. Returns what can be chosen, and the commands for the editor.
///
/// # Errors
/// No session can begin, for the reason that the engine gives.
pub(super) async fn ready(
    client: &mut Client,
    allows_bypass: bool,
) -> Result<(Choices, Vec<Value>), RpcError> {
    client.initialize();
    let asked = client.request(&json!({"subtype": "get_settings"}));
    let mut offer = Offer::default();
    let model = loop {
        match client.next().await {
            Some(EngineEvent::Ready(ready)) => offer = ready.decode().unwrap_or_default(),
            Some(EngineEvent::Reply(id, Ok(settings))) if id == asked => break model_of(&settings),
            Some(EngineEvent::Refused(problem) | EngineEvent::Reply(_, Err(problem))) => {
                return Err(RpcError::failed(problem));
            }
            Some(_) => {}
            None => return Err(RpcError::failed(client.why_ended().await)),
        }
    };
    let mode = offer.current_permission_mode.unwrap_or_default();
    let choices = Choices::new(mode, model, offer.models, allows_bypass);
    Ok((choices, offer.commands.into_iter().map(available).collect()))
}

/// The model in force, from the settings that the engine reports.
fn model_of(settings: &RawJson) -> String {
    let settings: Value = settings.decode().unwrap_or_default();
    let model = settings["applied"]["model"].as_str();
    model.unwrap_or_default().to_owned()
}

fn available(command: OfferedCommand) -> Value {
    let mut available = json!({"name": command.name, "description": command.description});
    if !command.argument_hint.is_empty() {
        available["input"] = json!({"hint": command.argument_hint});
    }
    available
}
