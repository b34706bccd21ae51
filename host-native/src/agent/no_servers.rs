//! Without the feature `mcp` there are no servers that are programs.

use std::collections::BTreeMap;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use windlass_core::{EffectId, RawJson, effect::Answer, host::CancelSignal};
use windlass_engine::machine::{ConnectRequest, ConnectionId, Input, Offer, Question, ServerTool};

/// None.
pub(super) struct Servers;

const NONE: &str = "MCP servers that are programs need the feature `mcp`";

#[allow(
    clippy::unused_self,
    clippy::unused_async,
    reason = "as with the feature"
)]
impl Servers {
    pub(super) fn configurations(&self) -> BTreeMap<String, RawJson> {
        BTreeMap::new()
    }

    pub(super) fn is_named(&self, _: &ConnectRequest) -> bool {
        false
    }

    pub(super) async fn connect(&self, _: ConnectRequest) -> Result<Offer, String> {
        Err(NONE.to_owned())
    }

    pub(super) fn newly_closed(&self) -> Option<Input> {
        None
    }

    pub(super) fn call(
        &self,
        _: EffectId,
        _: ServerTool,
        _: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        stream::empty().boxed()
    }

    pub(super) async fn ask(&self, _: ConnectionId, _: Question) -> Result<RawJson, String> {
        Err(NONE.to_owned())
    }

    pub(super) fn disconnect(&self, _: ConnectionId) {}

    pub(super) async fn close(&self, _: &[ConnectionId]) {}
}
