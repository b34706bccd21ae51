//! `windlass:host/secrets` during a call: keys become headers here, and a component never sees one.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName, HeaderValue, IF_RANGE, RANGE,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    bindings::windlass::host::{http, secrets},
    host::CallState,
    http_calls::{is_free, refused},
    network::{Answered, Outgoing},
    origin::Origin,
    secret::SecretRequest,
};

/// The most secrets in one request.
const MOST: usize = 8;

/// Bytes of the longest prefix and user's name.
const LONGEST: usize = 256;

/// Headers by which an answer could come in a form or in parts in which a repeated secret is not found.
const DISGUISING: [HeaderName; 3] = [ACCEPT_ENCODING, RANGE, IF_RANGE];

impl secrets::Host for CallState {
    fn available(&mut self, name: String) -> wasmtime::Result<bool> {
        self.count_call()?;
        Ok(self.secret(&name, None).is_some())
    }

    fn send(
        &mut self,
        request: http::Request,
        added: Vec<secrets::SecretHeader>,
    ) -> wasmtime::Result<Result<http::Response, http::Failure>> {
        self.count_call()?;
        let mut outgoing = match self.judged(request) {
            Ok(outgoing) => outgoing,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Err(refused) = self.add_secrets(&mut outgoing, &added) {
            return Ok(Err(refused));
        }
        Ok(self.exchange(outgoing, check_encoding)?)
    }
}

impl CallState {
    /// The value of a secret that is declared, granted and there, and meant for this origin.
    fn secret(&self, name: &str, origin: Option<&Origin>) -> Option<SecretString> {
        let granted = self.bound.authority.secret(name)?;
        if origin.is_some_and(|origin| !granted.audience.contains(origin)) {
            return None;
        }
        self.secrets.find(SecretRequest {
            component: &self.component,
            name,
            reference: &granted.reference,
        })
    }

    fn add_secrets(
        &mut self,
        outgoing: &mut Outgoing,
        added: &[secrets::SecretHeader],
    ) -> Result<(), http::Failure> {
        if added.len() > MOST {
            return Err(refused("too many secrets for one request"));
        }
        let disguises = |name: &HeaderName| DISGUISING.contains(name);
        if let Some(name) = outgoing.headers.keys().find(|name| disguises(name)) {
            return Err(refused(&format!(
                "the header `{name}` cannot stand beside a secret"
            )));
        }
        for header in added {
            let name = HeaderName::from_bytes(header.header.as_bytes());
            let name = name.map_err(|_| refused("the name of a secret's header is none"))?;
            if !is_free(&name) || disguises(&name) || outgoing.headers.contains_key(&name) {
                return Err(refused(&format!(
                    "the header `{name}` cannot have a secret, or is set already"
                )));
            }
            let Some(secret) = self.secret(&header.secret, Some(&outgoing.origin)) else {
                let shown: String = header.secret.chars().take(100).collect();
                let origin = &outgoing.origin;
                self.note(&format!("the secret `{shown}` was not sent to {origin}: not granted there, or it has no value"));
                return Err(refused(&format!(
                    "there is no secret `{shown}` for this origin"
                )));
            };
            outgoing.headers.insert(name, self.value(header, &secret)?);
        }
        outgoing
            .headers
            .insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(())
    }

    /// The value of a header with a secret. From now on it is looked for in answers, as it is and as it stands in the header.
    fn value(
        &self,
        header: &secrets::SecretHeader,
        secret: &SecretString,
    ) -> Result<HeaderValue, http::Failure> {
        let user = header.user.as_deref();
        let is_plain =
            |text: &str| text.len() <= LONGEST && !text.contains(|c| !(' '..='~').contains(&c));
        if !is_plain(&header.prefix)
            || user.is_some_and(|user| !is_plain(user) || user.contains(':'))
        {
            return Err(refused(
                "the prefix or user's name of a secret's header is none",
            ));
        }
        let sent = match user {
            None => secret.clone(),
            Some(user) => {
                let pair = format!("{user}:{}", secret.expose_secret());
                SecretString::from(BASE64_STANDARD.encode(pair))
            }
        };
        let used = &self.bound.used_secrets;
        if !used.add(secret.clone()) || !used.add(sent.clone()) {
            return Err(refused("the secret has changed too often"));
        }
        let value = format!("{}{}", header.prefix, sent.expose_secret());
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| refused("the secret has characters that no header has"))?;
        // Keeps it out of debug output and of the compression tables of HTTP/2.
        value.set_sensitive(true);
        Ok(value)
    }
}

/// A compressed answer could repeat the secret unseen.
fn check_encoding(answered: &Answered) -> Result<(), http::Failure> {
    let encodings = answered.headers.get_all(CONTENT_ENCODING);
    let is_identity = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    match encodings.iter().all(is_identity) {
        true => Ok(()),
        false => Err(refused(
            "the answer is compressed, although the request did not accept that",
        )),
    }
}
