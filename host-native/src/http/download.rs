//! A file from the web, over TLS and with a bound.

use std::{path::PathBuf, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::{Client, StatusCode, Url, redirect};

use super::{EndpointError, failure, is_this_machine, tls, user_agent};

/// How many times a server may name another address.
const MOST_REDIRECTS: usize = 5;

/// How long it may take to connect, and to send nothing.
const CONNECT: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(60);

/// A file that was not received as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The address is none of a file, or speaks no TLS.
    #[error("`{url}` is no address that is downloaded from: {reason}")]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS or the client cannot be set up.
    #[error(transparent)]
    Setup(#[from] EndpointError),
    /// The server has something else to say.
    #[error("{url} was answered with {status}: check the address")]
    Status {
        /// The address.
        url: String,
        /// The status.
        status: StatusCode,
    },
    /// It has more bytes than are taken.
    #[error("{url} has more than {most} bytes, the most that are taken")]
    TooLarge {
        /// The address.
        url: String,
        /// The limit in bytes.
        most: usize,
    },
    /// The exchange failed, or ended before the file did.
    #[error("{url} could not be downloaded as a whole: {reason}. {advice}")]
    Failed {
        /// The address.
        url: String,
        /// Why.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
}

impl DownloadError {
    /// What a failed exchange with this address means.
    #[must_use]
    pub fn failed(url: &str, error: &reqwest::Error) -> Self {
        Self::Failed {
            url: url.to_owned(),
            reason: failure::root_cause(error),
            advice: failure::advice_for_download(error),
        }
    }
}

/// Downloads a file of at most this many bytes from an address with `https`, trusting the system's certificates and those in these
/// files (PEM). Redirects are followed to addresses with `https` alone. No credentials are sent.
///
/// # Errors
/// [`DownloadError`], with the address.
pub async fn download(
    url: &str,
    most: usize,
    certificates: &[PathBuf],
) -> Result<Bytes, DownloadError> {
    let address = address(url)?;
    let redirects = redirect::Policy::limited(MOST_REDIRECTS);
    let client = client_for(&address, redirects, certificates)?;
    let failed = |error: reqwest::Error| DownloadError::failed(url, &error);
    let mut response = client.get(address).send().await.map_err(failed)?;
    if response.status() != StatusCode::OK {
        return Err(DownloadError::Status {
            url: url.to_owned(),
            status: response.status(),
        });
    }
    let mut content = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(failed)? {
        if piece.len() > most - content.len() {
            let url = url.to_owned();
            return Err(DownloadError::TooLarge { url, most });
        }
        content.extend_from_slice(&piece);
    }
    Ok(content.freeze())
}

/// A client for whoever follows redirects by hand, as credentials need it: it follows none. It speaks TLS, trusting as [`download`]
/// does, and nothing else unless the address of the server begins with `http://`. It waits 30 s for a connection, and 60 s for
/// anything to come.
///
/// # Errors
/// [`EndpointError`], which says what to change.
pub fn download_client(server: &Url, certificates: &[PathBuf]) -> Result<Client, EndpointError> {
    client_for(server, redirect::Policy::none(), certificates)
}

fn client_for(
    server: &Url,
    redirects: redirect::Policy,
    certificates: &[PathBuf],
) -> Result<Client, EndpointError> {
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls::trusting(certificates)?)
        .https_only(server.scheme() != "http")
        .user_agent(user_agent(None))
        .redirect(redirects)
        .connect_timeout(CONNECT)
        .read_timeout(IDLE);
    if is_this_machine(server) {
        builder = builder.no_proxy();
    }
    builder
        .build()
        .map_err(|error| EndpointError::Client(failure::root_cause(&error)))
}

fn address(url: &str) -> Result<Url, DownloadError> {
    let unusable = |reason: String| DownloadError::Address {
        url: url.to_owned(),
        reason,
    };
    let address = Url::parse(url).map_err(|error| unusable(error.to_string()))?;
    if address.scheme() != "https" {
        return Err(unusable("it must begin with https://".to_owned()));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err(unusable("it contains a user name or password".to_owned()));
    }
    Ok(address)
}
