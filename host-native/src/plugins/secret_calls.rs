//! `windlass:host/secrets` during a call: keys become headers here, and a component never sees one.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    authority::GrantedSecret,
    bindings::windlass::host::{http, secrets},
    call_state::CallState,
    disguise::asks_for_disguise,
    http_calls::{is_free, refused},
    network::Outgoing,
    origin::Origin,
    secret::SecretRequest,
};

/// The most secrets in one request.
const MOST: usize = 8;

/// Bytes of the longest prefix and user's name.
const LONGEST: usize = 256;

impl secrets::Host for CallState {
    fn available(&mut self, name: String) -> wasmtime::Result<bool> {
        self.may_go_on()?;
        Ok(self.secret(&name, None).is_some())
    }

    fn send(
        &mut self,
        request: http::Request,
        added: Vec<secrets::SecretHeader>,
    ) -> wasmtime::Result<Result<http::Response, http::Failure>> {
        self.may_go_on()?;
        let mut outgoing = match self.judged(request) {
            Ok(outgoing) => outgoing,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Err(refused) = self.add_secrets(&mut outgoing, &added) {
            return Ok(Err(refused));
        }
        Ok(self.exchange(outgoing)?)
    }
}

impl CallState {
    /// The value of a secret that is declared, granted and there, and meant for this origin.
    fn secret(&self, name: &str, origin: Option<&Origin>) -> Option<SecretString> {
        let granted = self.call.bound.authority.secret(name)?;
        if origin.is_some_and(|origin| !granted.audience.contains(origin)) {
            return None;
        }
        self.value_of(name, granted)
    }

    fn value_of(&self, name: &str, granted: &GrantedSecret) -> Option<SecretString> {
        self.instance.secrets.find(SecretRequest {
            component: &self.instance.component,
            name,
            reference: &granted.reference,
        })
    }

    /// Looks for the values that all granted secrets have now in what comes back. Whether the plugin has used one does not matter:
    /// a server may know it from another session.
    pub(super) fn know_secrets(&self) -> Result<(), http::Failure> {
        let granted = self.call.bound.authority.secrets();
        let values = granted.filter_map(|(name, granted)| self.value_of(name, granted));
        self.know(values)
    }

    fn know(&self, values: impl IntoIterator<Item = SecretString>) -> Result<(), http::Failure> {
        match self.call.bound.known_secrets.add(values) {
            true => Ok(()),
            false => Err(refused("the secrets have changed too often")),
        }
    }

    fn add_secrets(
        &mut self,
        outgoing: &mut Outgoing,
        added: &[secrets::SecretHeader],
    ) -> Result<(), http::Failure> {
        if added.len() > MOST {
            return Err(refused("too many secrets for one request"));
        }
        for header in added {
            let name = HeaderName::from_bytes(header.header.as_bytes());
            let name = name.map_err(|_| refused("the name of a secret's header is none"))?;
            if !is_free(&name) || asks_for_disguise(&name) || outgoing.headers.contains_key(&name) {
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
        self.know([secret.clone(), sent.clone()])?;
        let value = format!("{}{}", header.prefix, sent.expose_secret());
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| refused("the secret has characters that no header has"))?;
        // Keeps it out of debug output and of the compression tables of HTTP/2.
        value.set_sensitive(true);
        Ok(value)
    }
}
