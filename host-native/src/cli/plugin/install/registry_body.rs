//! The one way in which anything is read that a registry, or a server that it names, answers: up to a bound, and up to a deadline.

use std::{future::Future, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::registry_fault::RegistryError;

/// How long a manifest, a token or the head of an answer may take.
pub(super) const MANIFEST: Duration = Duration::from_secs(30);

/// The bytes of an error that are looked at for its words.
const ERROR: usize = 64 << 10;

/// By when something has to be there, whatever comes meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    end: Instant,
    time: Duration,
}

impl Deadline {
    /// This time from now on.
    pub(super) fn after(time: Duration) -> Self {
        Self {
            end: Instant::now() + time,
            time,
        }
    }

    /// What comes of an exchange, if it does so in time.
    ///
    /// # Errors
    /// [`RegistryError::Late`], or why the exchange failed.
    pub(super) async fn keep<T>(
        self,
        what: &'static str,
        exchange: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, RegistryError> {
        match timeout_at(self.end, exchange).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(RegistryError::Late {
                what,
                time: self.time,
            }),
        }
    }
}

/// A whole body, if it has at most this many bytes.
///
/// # Errors
/// [`RegistryError`]: it has more, takes too long, or breaks off.
pub(super) async fn whole(
    response: Response,
    what: &'static str,
    most: usize,
    deadline: Deadline,
) -> Result<Bytes, RegistryError> {
    let body = deadline.keep(what, beginning(response, most)).await?;
    match body.goes_on {
        false => Ok(body.bytes),
        true => Err(RegistryError::TooLarge { what, most }),
    }
}

/// What an answer means that is none of those that were asked for. Of its body no more is read than makes the message.
pub(super) async fn refusal(response: Response, deadline: Deadline) -> RegistryError {
    let status = response.status();
    let body = deadline.keep("an error", beginning(response, ERROR)).await;
    // The status says enough where no words come with it.
    let said = body.map(|body| body.bytes).unwrap_or_default();
    RegistryError::answered(status, &said)
}

/// What was read of a body.
struct Beginning {
    bytes: Bytes,
    goes_on: bool,
}

/// At most this many bytes of a body. The connection ends with the response where more of it would come.
async fn beginning(mut response: Response, most: usize) -> Result<Beginning, reqwest::Error> {
    let mut content = BytesMut::new();
    while let Some(piece) = response.chunk().await? {
        let room = most - content.len();
        content.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return Ok(Beginning {
                bytes: content.freeze(),
                goes_on: true,
            });
        }
    }
    Ok(Beginning {
        bytes: content.freeze(),
        goes_on: false,
    })
}
