//! What is at the other end of a connection: a program of our own, or an address.

use std::sync::Arc;

use super::{process::Process, trouble::Exchanges, wire::Fault};

/// The other end of a connection.
pub(super) enum Link {
    /// A program, and why this side gave up the connection, if it did.
    Program(Process, Fault),
    /// A server over HTTP.
    Http(Arc<Exchanges>),
}

impl Link {
    /// Ends it, and waits for that.
    pub(super) async fn end(&self) {
        match self {
            Self::Program(process, _) => process.end().await,
            Self::Http(exchanges) => exchanges.farewell().await,
        }
    }

    /// The error message for a call that the server of this name did not answer.
    pub(super) async fn epitaph(&self, name: &str) -> String {
        let how = match self {
            Self::Program(process, fault) => match fault.get() {
                Some(fault) => fault.clone(),
                None => process.epitaph().await,
            },
            // The next call connects anew.
            Self::Http(exchanges) => {
                let trouble = exchanges.trouble();
                let how = trouble
                    .as_ref()
                    .map_or("it ended its answer before the result", |it| it.text());
                return format!("The MCP server {name} failed: {how}.");
            }
        };
        format!(
            "The MCP server {name} is not there any more: {how}. Its tools fail until it is connected anew."
        )
    }
}
