//! Keys that the host adds to requests (`grants.secrets` of the declaration). The plugin never sees their values.
//!
//! ```no_run
//! use windlass_plugin::{ToolError, http::Request, secrets};
//!
//! fn me() -> Result<String, ToolError> {
//!     let request = Request::new("GET", "https://api.example.com/me");
//!     let answer = secrets::send(&request, &[secrets::bearer("API_TOKEN")])?;
//!     answer.text(1 << 20)
//! }
//! # let _ = me;
//! ```

use crate::ToolError;
use crate::bindings::windlass::host::secrets as host;
pub use crate::bindings::windlass::host::secrets::{SecretHeader, available};
use crate::http::{Request, Response};

/// The header `authorization: Bearer …`.
pub fn bearer(secret: impl Into<String>) -> SecretHeader {
    SecretHeader {
        prefix: "Bearer ".to_owned(),
        ..header("authorization", secret)
    }
}

/// The header `authorization: Basic …` with this user's name; the secret is the password.
pub fn basic(user: impl Into<String>, secret: impl Into<String>) -> SecretHeader {
    SecretHeader {
        prefix: "Basic ".to_owned(),
        user: Some(user.into()),
        ..header("authorization", secret)
    }
}

/// A header whose value is the secret alone.
pub fn header(name: impl Into<String>, secret: impl Into<String>) -> SecretHeader {
    SecretHeader {
        header: name.into(),
        secret: secret.into(),
        prefix: String::new(),
        user: None,
    }
}

/// Sends a request with secrets, to an origin that each is meant for.
///
/// # Errors
/// [`ToolError`] with what the host says, such as that there is no such secret.
pub fn send(request: &Request, secrets: &[SecretHeader]) -> Result<Response, ToolError> {
    Ok(host::send(request, secrets)?)
}
