//! Inputs of a session as JSON, one a line, with the time at which they came.

use serde::{Deserialize, Serialize};
use windlass_core::{
    EffectId, Input, Now, Prompt,
    effect::{Answer, HttpFailure, PermissionResponse, ResolvedPath},
    permission::Mode,
    tool::ToolResult,
};

/// An input and its time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// When it came.
    pub now: Now,
    /// What came.
    pub input: InputForm,
}

/// [`Input`] in a form that JSON can carry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputForm {
    /// A user message.
    Prompt(Prompt),
    /// Stop.
    Interrupt,
    /// Another permission mode.
    SetMode(Mode),
    /// Another model.
    SetModel(Option<String>),
    /// After a restore.
    Resumed(Vec<EffectId>),
    /// A deadline.
    Tick,
    /// An answer to an effect.
    Answer(EffectId, AnswerForm),
}

/// [`Answer`] in a form that JSON can carry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// Status and headers.
    HttpHead(u16, Vec<(String, String)>),
    /// Bytes of the body; they may end inside a character, so they are no text.
    HttpBody(Vec<u8>),
    /// The end of the body.
    HttpEnd,
    /// The exchange failed.
    HttpFailed(HttpFailure),
    /// Real paths.
    Resolved(Vec<Result<ResolvedPath, String>>),
    /// A tool is alive.
    Progress(String),
    /// A tool is done.
    Tool(ToolResult),
    /// A decision.
    Permission(PermissionResponse),
    /// Entries are safe.
    Persisted,
    /// Entries are not safe.
    PersistFailed(String),
    /// Cancelled.
    Cancelled,
}

impl From<InputForm> for Input {
    fn from(form: InputForm) -> Self {
        match form {
            InputForm::Prompt(prompt) => Self::Prompt(prompt),
            InputForm::Interrupt => Self::Interrupt,
            InputForm::SetMode(mode) => Self::SetMode(mode),
            InputForm::SetModel(model) => Self::SetModel(model),
            InputForm::Resumed(live) => Self::Resumed { live },
            InputForm::Tick => Self::Tick,
            InputForm::Answer(id, answer) => Self::Answer(id, answer.into()),
        }
    }
}

impl From<AnswerForm> for Answer {
    fn from(form: AnswerForm) -> Self {
        match form {
            AnswerForm::HttpHead(status, headers) => Self::HttpHead { status, headers },
            AnswerForm::HttpBody(bytes) => Self::HttpBody(bytes.into()),
            AnswerForm::HttpEnd => Self::HttpEnd,
            AnswerForm::HttpFailed(failure) => Self::HttpFailed(failure),
            AnswerForm::Resolved(paths) => Self::Resolved(paths),
            AnswerForm::Progress(text) => Self::Progress(text),
            AnswerForm::Tool(result) => Self::Tool(result),
            AnswerForm::Permission(response) => Self::Permission(response),
            AnswerForm::Persisted => Self::Persisted,
            AnswerForm::PersistFailed(reason) => Self::PersistFailed(reason),
            AnswerForm::Cancelled => Self::Cancelled,
        }
    }
}
