//! The input of a run: one prompt or a stream of them.

use std::fmt;

use futures_util::{Stream, StreamExt, stream::BoxStream};
use windlass_core::Prompt;

/// Text, content blocks, or a stream of either.
pub struct UserInput(pub(super) Kind);

pub(super) enum Kind {
    One(Prompt),
    Stream(BoxStream<'static, Prompt>),
}

impl UserInput {
    /// A stream of user messages. Each is answered in turn, with its own result. The messages of all answers come in
    /// one [`Run`](super::Run), which ends when the stream has ended and everything is answered. The stream is read a
    /// few messages ahead of the answers.
    pub fn stream<S>(messages: S) -> Self
    where
        S: Stream + Send + 'static,
        S::Item: Into<Prompt>,
    {
        Self(Kind::Stream(messages.map(Into::into).boxed()))
    }
}

impl From<Prompt> for UserInput {
    fn from(prompt: Prompt) -> Self {
        Self(Kind::One(prompt))
    }
}

impl From<&str> for UserInput {
    fn from(text: &str) -> Self {
        Self(Kind::One(text.into()))
    }
}

impl From<String> for UserInput {
    fn from(text: String) -> Self {
        Self(Kind::One(text.into()))
    }
}

impl fmt::Debug for UserInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::One(prompt) => f.debug_tuple("UserInput").field(prompt).finish(),
            Kind::Stream(_) => f.write_str("UserInput(stream)"),
        }
    }
}
