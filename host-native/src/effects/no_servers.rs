//! Stand-in for MCP servers when the feature `mcp` is off.

use std::collections::BTreeMap;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use windlass_core::{EffectId, RawJson, effect::Answer, host::CancelSignal};
use windlass_engine::machine::{
    ConnectRequest, ConnectionId, Input, Outcome, Question, ServerTool,
};

/// No servers.
pub(crate) struct Servers;

const NONE: &str = "MCP servers need the feature `mcp`";

#[allow(
    clippy::unused_self,
    clippy::unused_async,
    reason = "as with the feature"
)]
impl Servers {
    pub(crate) fn configurations(&self) -> BTreeMap<String, RawJson> {
        BTreeMap::new()
    }

    pub(crate) fn is_named(&self, _: &ConnectRequest) -> bool {
        false
    }

    pub(crate) async fn connect(&self, _: ConnectRequest) -> Outcome {
        Outcome::Connected(Err(NONE.to_owned()))
    }

    pub(crate) fn newly_closed(&self) -> Option<Input> {
        None
    }

    pub(crate) fn call(
        &self,
        _: EffectId,
        _: ServerTool,
        _: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        stream::empty().boxed()
    }

    pub(crate) async fn ask(&self, _: ConnectionId, _: Question) -> Result<RawJson, String> {
        Err(NONE.to_owned())
    }

    pub(crate) fn disconnect(&self, _: ConnectionId) {}

    pub(crate) async fn close(&self, _: &[ConnectionId]) {}
}
