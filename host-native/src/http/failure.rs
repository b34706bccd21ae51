//! Error messages for failed exchanges: what failed, where, and what to do.

use std::{error::Error, io, time::Duration};

use windlass_core::effect::{HttpFailure, HttpFailureKind};

/// Describes the cause of a failed exchange.
pub(super) fn of(error: &reqwest::Error, server: &str, idle: Duration) -> HttpFailure {
    let cause = root_cause(error);
    let (kind, message) = if let Some(tls) = find::<rustls::Error>(error) {
        if let rustls::Error::InvalidCertificate(fault) = tls {
            // A retry would get the same certificate.
            (
                HttpFailureKind::Refused,
                format!(
                    "The server at {server} could not be trusted: {fault}. If its certificate was issued by an \
                     authority of your own (a company proxy), name that authority's PEM file in NODE_EXTRA_CA_CERTS."
                ),
            )
        } else {
            (
                HttpFailureKind::Connect,
                format!(
                    "No secure connection with {server}: {tls}. Is the address right, does it speak TLS?"
                ),
            )
        }
    } else if error.is_dns() {
        (
            HttpFailureKind::Connect,
            format!(
                "The name of the server {server} could not be resolved: {cause}. Check the address and the network."
            ),
        )
    } else if error.is_connect() {
        let advice = match error {
            _ if nothing_listens(error) => {
                "Nothing listens there: is the server running, is the address right?"
            }
            _ if error.is_timeout() => {
                "It did not answer in time. Check the address, the network and the proxy."
            }
            _ => "Check the address, the network and the proxy (HTTPS_PROXY, NO_PROXY).",
        };
        (
            HttpFailureKind::Connect,
            format!("Could not connect to {server}: {cause}. {advice}"),
        )
    } else if error.is_timeout() {
        (
            HttpFailureKind::Interrupted,
            format!(
                "The server at {server} sent nothing for {} s, and the connection was given up.",
                idle.as_secs()
            ),
        )
    } else if error.is_builder() {
        (
            HttpFailureKind::Refused,
            format!("The request to {server} cannot be sent: {cause}."),
        )
    } else {
        (
            HttpFailureKind::Interrupted,
            format!(
                "The exchange with {server} broke: {cause}. The server closed the connection or does not speak HTTP."
            ),
        )
    };
    HttpFailure { kind, message }
}

/// Whether the machine is there and refuses the connection.
pub(super) fn nothing_listens(error: &reqwest::Error) -> bool {
    let kind = find::<io::Error>(error).map(io::Error::kind);
    error.is_connect() && kind == Some(io::ErrorKind::ConnectionRefused)
}

/// What to do about a file that was not received as a whole.
pub(super) fn advice_for_download(error: &reqwest::Error) -> &'static str {
    match find::<rustls::Error>(error) {
        Some(rustls::Error::InvalidCertificate(_)) => {
            "If an authority of your own issued the server's certificate, name its PEM file with --ca-file"
        }
        // Cut off without the end that TLS has.
        Some(_) if error.is_connect() => "Is the address right, does the server speak TLS?",
        _ if error.is_redirect() || error.is_builder() => {
            "It leads to an address that is not taken: name one with https:// that has the file itself"
        }
        _ if error.is_connect() => "Check the address, the network and the proxy (HTTPS_PROXY)",
        _ => "The connection ended before the file did: try again",
    }
}

pub(super) fn too_large(server: &str, limit: usize) -> HttpFailure {
    HttpFailure {
        kind: HttpFailureKind::TooLarge,
        message: format!(
            "The response of {server} is longer than {limit} bytes, which is more than is taken. Is it a model server?"
        ),
    }
}

/// The innermost cause, since the message written here replaces those of the outer errors.
pub(crate) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// A cause of a certain type anywhere in the chain.
fn find<'a, E: Error + 'static>(error: &'a reqwest::Error) -> Option<&'a E> {
    let mut next: Option<&'a (dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<E>() {
            return Some(found);
        }
        // `source` of an I/O error skips the error that it wraps, so that one is looked at first.
        let carried = cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match carried {
            Some(carried) => Some(carried),
            None => cause.source(),
        };
    }
    None
}
