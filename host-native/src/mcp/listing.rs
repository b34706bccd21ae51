//! What a server offers: lists that come in pages, each with an end.

use std::fmt;

use rmcp::{
    Peer, RoleClient,
    model::{PaginatedRequestParams, Tool as Listed},
    service::{ClientInitializeError, ServiceError},
};
use windlass_core::{
    json::{JsonError, RawJson},
    permission::server_tool_name,
    tool::{Annotations, ToolDefinition},
};
use windlass_engine::mcp::Pages;

/// Why the exchange with a server failed.
pub(super) enum Failure {
    Introduction(Box<ClientInitializeError>),
    Listing(ServiceError),
    Endless(String),
    Tool(String, JsonError),
}

/// Lists the server's current tools.
pub(super) async fn list(
    peer: &Peer<RoleClient>,
    server: &str,
) -> Result<Vec<(ToolDefinition, String)>, Failure> {
    let listed = pages(peer, |peer, asked| async move {
        let page = peer.list_tools(Some(asked)).await?;
        Ok((page.tools, page.next_cursor))
    });
    let listed = listed.await?;
    listed
        .into_iter()
        .map(|tool| definition(server, tool))
        .collect()
}

/// All entries of a list that comes page by page, from a request for one page: its entries, and the cursor of the next one.
pub(super) async fn pages<T, F>(
    peer: &Peer<RoleClient>,
    page: impl Fn(Peer<RoleClient>, PaginatedRequestParams) -> F,
) -> Result<Vec<T>, Failure>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut seen = Pages::default();
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let asked = PaginatedRequestParams::default().with_cursor(cursor.take());
        let (entries, next) = page(peer.clone(), asked).await.map_err(Failure::Listing)?;
        cursor = seen.next(entries.len(), next).map_err(Failure::Endless)?;
        all.extend(entries);
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

/// The definition for the model, with the tool's name on the server.
fn definition(server: &str, tool: Listed) -> Result<(ToolDefinition, String), Failure> {
    let name = tool.name.into_owned();
    let read = || -> Result<ToolDefinition, JsonError> {
        let schema = RawJson::encode(&*tool.input_schema)?;
        let description = tool.description.unwrap_or_default().into_owned();
        let mut definition =
            ToolDefinition::new(server_tool_name(server, &name), description, schema);
        if let Some(hints) = tool.annotations {
            definition.annotations = RawJson::encode(&hints)?.decode::<Annotations>()?;
        }
        Ok(definition)
    };
    match read() {
        Ok(definition) => Ok((definition, name)),
        Err(error) => Err(Failure::Tool(name, error)),
    }
}

impl Failure {
    /// Whether the server is gone, as opposed to having sent something wrong.
    pub(super) fn is_an_end(&self) -> bool {
        match self {
            Self::Introduction(error) => matches!(
                **error,
                ClientInitializeError::ConnectionClosed(_)
                    | ClientInitializeError::TransportError { .. }
            ),
            Self::Listing(error) => matches!(
                error,
                ServiceError::TransportClosed | ServiceError::TransportSend(_)
            ),
            Self::Endless(_) | Self::Tool(..) => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Introduction(error) => write!(f, "initialize: {error}"),
            Self::Listing(error) => write!(f, "tools/list: {error}"),
            Self::Endless(reason) => write!(f, "tools/list: {reason}"),
            Self::Tool(name, error) => write!(f, "the tool `{name}`: {error}"),
        }
    }
}
