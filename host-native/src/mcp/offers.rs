//! What a server offers beside tools: resources and prompts.

use std::collections::BTreeMap;

use rmcp::{
    model::{GetPromptRequestParams, JsonObject},
    service::ServiceError,
};
use serde::Serialize;
use windlass_core::{RawJson, json::JsonError};

use super::{
    connection::Connection,
    listing::{Failure, pages},
};

impl Connection {
    /// Whether the server says that it has resources.
    #[must_use]
    pub fn has_resources(&self) -> bool {
        let peer = self.peer().peer_info();
        peer.is_some_and(|peer| peer.capabilities.resources.is_some())
    }

    /// Whether the server says that it has prompts.
    #[must_use]
    pub fn has_prompts(&self) -> bool {
        let peer = self.peer().peer_info();
        peer.is_some_and(|peer| peer.capabilities.prompts.is_some())
    }

    /// The server's resources, as it lists them; none if it has none.
    ///
    /// # Errors
    /// A message: the server refused, exceeded the timeout of a call, or is gone.
    pub async fn resources(&self) -> Result<Vec<RawJson>, String> {
        if !self.has_resources() {
            return Ok(Vec::new());
        }
        let all = pages(self.peer(), |peer, asked| async move {
            let page = peer.list_resources(Some(asked)).await?;
            Ok((page.resources, page.next_cursor))
        });
        self.listed("resources/list", all).await
    }

    /// The server's prompts, as it lists them; none if it has none.
    ///
    /// # Errors
    /// As with [`resources`](Self::resources).
    pub async fn prompts(&self) -> Result<Vec<RawJson>, String> {
        if !self.has_prompts() {
            return Ok(Vec::new());
        }
        let all = pages(self.peer(), |peer, asked| async move {
            let page = peer.list_prompts(Some(asked)).await?;
            Ok((page.prompts, page.next_cursor))
        });
        self.listed("prompts/list", all).await
    }

    /// The server's answer to `prompts/get`, unchanged.
    ///
    /// # Errors
    /// As with [`resources`](Self::resources).
    pub async fn prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<RawJson, String> {
        let mut parameters = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            let given = arguments.into_iter();
            let given: JsonObject = given.map(|(name, value)| (name, value.into())).collect();
            parameters = parameters.with_arguments(given);
        }
        let asked = self.service().get_prompt(parameters);
        self.within(self.call_limit(), asked).await
    }

    async fn listed<T: Serialize>(
        &self,
        what: &str,
        asked: impl Future<Output = Result<Vec<T>, Failure>>,
    ) -> Result<Vec<RawJson>, String> {
        let limit = self.call_limit();
        let Ok(listed) = tokio::time::timeout(limit, asked).await else {
            return Err(format!(
                "{what}: no answer within {} seconds",
                limit.as_secs_f64()
            ));
        };
        match listed {
            Ok(entries) => {
                let encoded: Result<_, JsonError> = entries.iter().map(RawJson::encode).collect();
                encoded.map_err(|error| format!("{what}: {error}"))
            }
            Err(Failure::Listing(
                ServiceError::TransportClosed | ServiceError::TransportSend(_),
            )) => Err(self.epitaph().await),
            Err(Failure::Listing(ServiceError::McpError(error))) => {
                Err(format!("{what}: {}", error.message))
            }
            Err(Failure::Listing(error)) => Err(format!("{what}: {error}")),
            Err(Failure::Endless(reason)) => Err(format!("{what}: {reason}")),
            Err(failure) => Err(format!("{what}: {failure}")),
        }
    }
}
