//! Outputs of a session as JSON.

use serde::Serialize;
use windlass_core::{
    EffectId, Message, Output,
    effect::{Effect, Entry, PermissionRequest, ResolvePath},
    tool::ToolCall,
};

/// One line for an output; none for a kind that this module does not know yet.
pub(crate) fn to_line(output: &Output) -> Option<String> {
    let form = match output {
        Output::Effect(id, effect) => OutputForm::Effect(*id, EffectForm::of(effect)?),
        Output::Cancel(id) => OutputForm::Cancel(*id),
        Output::Abandon(id) => OutputForm::Abandon(*id),
        Output::Message(message) => OutputForm::Message(message),
        _ => return None,
    };
    serde_json::to_string(&form).ok()
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum OutputForm<'a> {
    Effect(EffectId, EffectForm<'a>),
    Cancel(EffectId),
    Abandon(EffectId),
    Message(&'a Message),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum EffectForm<'a> {
    Http {
        method: &'a str,
        path: &'a str,
        headers: &'a [(String, String)],
        /// Requests are JSON, so they are text.
        body: String,
    },
    Resolve(&'a [ResolvePath]),
    CallTool(&'a ToolCall),
    AskPermission(&'a PermissionRequest),
    Persist(&'a [Entry]),
}

impl<'a> EffectForm<'a> {
    fn of(effect: &'a Effect) -> Option<Self> {
        Some(match effect {
            Effect::Http(request) => Self::Http {
                method: request.method,
                path: &request.path,
                headers: &request.headers,
                body: String::from_utf8(request.body_bytes()).ok()?,
            },
            Effect::Resolve(paths) => Self::Resolve(paths),
            Effect::CallTool(call) => Self::CallTool(call),
            Effect::AskPermission(request) => Self::AskPermission(request),
            Effect::Persist(entries) => Self::Persist(entries),
            _ => return None,
        })
    }
}
