//! The interface that sends requests to a model.

use futures_util::stream::{BoxStream, StreamExt};
use windlass_core::{
    EffectId,
    effect::{Answer, HttpRequest},
};

use crate::http::ModelEndpoint;

/// Sends requests to a model endpoint. Only the transport knows the address and the key.
///
/// Replace it to send requests by other means than HTTP, or to add what your network requires.
pub trait Transport: Send + Sync {
    /// Sends a request. The stream yields [`Answer::HttpHead`], any number of [`Answer::HttpBody`], then
    /// [`Answer::HttpEnd`]; or [`Answer::HttpFailed`] at any point. Dropping it must end the exchange.
    ///
    /// `id` is the same for the same attempt of the same request, so it can serve as an idempotency key.
    fn send(&self, id: EffectId, request: HttpRequest) -> BoxStream<'static, Answer>;
}

impl<F> Transport for F
where
    F: Fn(EffectId, HttpRequest) -> BoxStream<'static, Answer> + Send + Sync,
{
    fn send(&self, id: EffectId, request: HttpRequest) -> BoxStream<'static, Answer> {
        self(id, request)
    }
}

impl Transport for ModelEndpoint {
    fn send(&self, id: EffectId, request: HttpRequest) -> BoxStream<'static, Answer> {
        self.send_again(request, id.attempt).boxed()
    }
}
