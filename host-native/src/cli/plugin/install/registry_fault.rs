//! Why a registry gave no plugin, in words for the person who named it.

use std::time::Duration;

use oci_client::errors::{OciEnvelope, OciErrorCode};
use reqwest::{StatusCode, Url};
use windlass::http::{DownloadError, EndpointError, is_this_machine};

use super::error::InstallError;
use crate::cli::plain::{fit, one_line};

/// The columns that the words of a registry may take: some answer with a page.
const WORDS: usize = 200;

const NOT_THERE: &str =
    "the registry has no such artifact: check the repository and the tag, or digest";
const NOT_LET_IN: &str = "the registry does not let you have it: log in with `docker login`, or name yourself with --username and --password-stdin. Where it has no such repository, it may say the same";

/// What went wrong between a registry and us. What it says itself is cut to [`WORDS`].
#[derive(Debug, thiserror::Error)]
pub(super) enum RegistryError {
    /// No such repository, tag, digest or layer.
    #[error("{NOT_THERE}")]
    NotThere,
    /// The same, but not in the words of a registry.
    #[error("{NOT_THERE}, and whether it is a registry at all")]
    NoSuchPage,
    /// The person is not known, or may not have it.
    #[error("{NOT_LET_IN}")]
    NotLetIn,
    /// Asked too often.
    #[error("the registry takes no more requests at the moment: try again later")]
    TooMany,
    /// An error of its own.
    #[error("the registry failed ({0}): try again later")]
    Failed(u16),
    /// Another error in the words of a registry.
    #[error("the registry says: {0}")]
    Says(String),
    /// Another status.
    #[error(
        "it answered with {status}, as if it were no registry: check the address. It said: {said}"
    )]
    Status {
        /// The status.
        status: u16,
        /// What it says beside it.
        said: String,
    },
    /// Something else answers.
    #[error("its answer is not that of a registry ({0}): check the address")]
    NotAnswer(String),
    /// Artifacts for several platforms.
    #[error(
        "it is a list of images for several platforms, not a component: push the component itself, such as with `wkg oci push`"
    )]
    List,
    /// A manifest has another digest than the one that was named.
    #[error(
        "what it sends is not what it was asked for (it has the digest {0}): the tag or digest may be wrong, or the registry damaged"
    )]
    Digest(String),
    /// More comes than is taken.
    #[error("{what} has more than {most} bytes, the most that are taken")]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// Something took too long.
    #[error("{what} did not come within {} s", .time.as_secs())]
    Late {
        /// What.
        what: &'static str,
        /// The limit.
        time: Duration,
    },
    /// It names another host for tokens.
    #[error(
        "the registry sends to {address} for a token, another host than its own, so nothing was sent there, no login either: if you know that it belongs to the registry, name it with --auth-host {host}"
    )]
    Realm {
        /// Scheme, host and port.
        address: String,
        /// Host and port, as the flag takes it.
        host: String,
    },
    /// It names an address for tokens where others could read along.
    #[error(
        "the registry sends to {0} for a token, which is not an address with https:// alone, so nothing was sent there, no login either: its owner has to change that"
    )]
    UnsafeRealm(String),
    /// It leads to an address where nothing is fetched from.
    #[error(
        "the registry leads to {0}, where nothing is fetched from: an address has https://, no name of a user, and is not of this machine unless the registry is"
    )]
    Redirect(String),
    /// It leads on and on.
    #[error("the registry leads to more than {0} other addresses, one after the other")]
    Redirects(usize),
    /// The exchange broke.
    #[error(transparent)]
    Transport(#[from] reqwest::Error),
    /// Nothing can be sent.
    #[error(transparent)]
    Setup(#[from] EndpointError),
}

impl RegistryError {
    /// What an answer means that is none of those that were asked for.
    pub(super) fn answered(status: StatusCode, body: &[u8]) -> Self {
        let envelope: Option<OciEnvelope> = serde_json::from_slice(body).ok();
        let error = envelope.and_then(|envelope| envelope.errors.into_iter().next());
        match (status.as_u16(), error) {
            (status @ 500.., _) => Self::Failed(status),
            (401 | 403, _) => Self::NotLetIn,
            (429, _) => Self::TooMany,
            (400.., Some(error)) => Self::of_code(&error.code, &error.message),
            (404, None) => Self::NoSuchPage,
            (status, _) => Self::Status {
                status,
                said: words(&String::from_utf8_lossy(body)),
            },
        }
    }

    fn of_code(code: &OciErrorCode, message: &str) -> Self {
        use OciErrorCode as C;

        match code {
            C::BlobUnknown
            | C::ManifestBlobUnknown
            | C::ManifestUnknown
            | C::NameUnknown
            | C::NotFound => Self::NotThere,
            C::Unauthorized | C::Denied => Self::NotLetIn,
            C::Toomanyrequests => Self::TooMany,
            _ => Self::Says(words(message)),
        }
    }

    /// An answer that nobody can read, and why.
    pub(super) fn not_answer(reason: &str) -> Self {
        Self::NotAnswer(words(reason))
    }
}

/// What is wrong, and what to do.
pub(super) fn of(source: &str, error: RegistryError) -> InstallError {
    match error {
        RegistryError::Transport(error) if error.is_connect() && is_here_with_tls(source, &error) => {
            InstallError::Registry {
                source_text: source.to_owned(),
                reason: "it speaks no TLS that is trusted here: a registry on this machine that speaks plain HTTP takes --plain-http, one with a certificate of your own --ca-file FILE".to_owned(),
            }
        }
        RegistryError::Transport(error) => DownloadError::failed(source, &error).into(),
        RegistryError::Setup(error) => error.into(),
        error => InstallError::Registry {
            source_text: source.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Whether something listens on this machine, and TLS with it has failed.
fn is_here_with_tls(source: &str, error: &reqwest::Error) -> bool {
    let address = Url::parse(&source.replacen("oci:", "https:", 1));
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    let mut is_refused = false;
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        is_refused |= io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused);
        cause = error.source();
    }
    !is_refused && address.is_ok_and(|address| is_this_machine(&address))
}

/// Scheme, host and port of an address that a registry names: the rest is its words.
pub(super) fn shown(url: &Url) -> String {
    words(&url.origin().ascii_serialization())
}

/// The beginning of what a registry says, on a line.
pub(super) fn words(text: &str) -> String {
    fit(&one_line(text), WORDS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_5_a_page_in_place_of_an_answer_is_not_printed_whole() {
        let page = format!("<html>\n<p>\u{1b}[31m{}</p></html>", "x".repeat(100_000));
        for (status, remedy) in [
            (204, "check the address"),
            (302, "check the address"),
            (418, "check the address"),
            (404, "check the repository"),
            (429, "try again later"),
            (503, "try again later"),
            (403, "docker login"),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let error = RegistryError::answered(status, page.as_bytes());
            let said = of("oci://example.com/a:1", error).to_string();
            assert!(said.contains(remedy), "{said}");
            assert!(said.len() < 600 && !said.contains('\u{1b}'), "{said}");
        }
        let said = of("oci://example.com/a:1", RegistryError::not_answer(&page)).to_string();
        assert!(
            said.len() < 600 && said.contains("check the address"),
            "{said}"
        );
    }

    #[test]
    fn card_5_what_a_registry_says_is_told_by_its_code() {
        for (status, code, part) in [
            (404, "MANIFEST_UNKNOWN", NOT_THERE),
            (400, "DENIED", NOT_LET_IN),
            (400, "TOOMANYREQUESTS", "no more requests"),
            (400, "OF_ITS_OWN", "the registry says: why"),
        ] {
            let body = format!(r#"{{"errors":[{{"code":"{code}","message":"why"}}]}}"#);
            let status = StatusCode::from_u16(status).unwrap();
            let said = RegistryError::answered(status, body.as_bytes()).to_string();
            assert!(said.contains(part), "{code}: {said}");
            assert!(
                !said.contains("as if it were no registry"),
                "{code}: {said}"
            );
        }
    }
}
