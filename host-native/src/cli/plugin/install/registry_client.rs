//! What is asked of a registry: manifests and layers, and nothing of anybody whom it names but where it keeps them.
//!
//! `oci-client` has a transport of its own, which is not used: it sends a login wherever a registry says, reads answers without an
//! end, and follows addresses in manifests. Here each hop is ours to judge.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use reqwest::{
    Client, RequestBuilder, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderValue, LOCATION},
};
use windlass::http::{download_client, is_this_machine};

use super::{
    registry_body::{Deadline, MANIFEST, refusal, whole},
    registry_fault::{RegistryError, shown},
    registry_login::Login,
    registry_token::{self, Challenge, is_protected},
};

/// Bytes of the largest manifest.
const LARGEST_MANIFEST: usize = 4 << 20;

/// What a manifest may be. Registries that have a list instead send it all the same, and it is told apart.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";

/// How many times a registry may name another address, such as that of a storage.
const MOST_REDIRECTS: usize = 5;

/// A repository of a registry.
pub(super) struct RegistryClient<'a> {
    client: Client,
    /// Scheme, host and port.
    registry: Url,
    repository: &'a str,
    /// Who may be told of the login beside the registry.
    auth_hosts: &'a [String],
    login: Option<Login>,
    /// What the registry has asked for.
    authorization: Authorization,
}

/// How the registry, and nobody else, is told who asks.
enum Authorization {
    /// Not at all, until it asks.
    Nobody,
    Login,
    Token(HeaderValue),
}

/// The head of an answer.
struct Answer {
    response: Response,
    /// By when a small body has to be there.
    deadline: Deadline,
    /// Whether the registry itself answers, and not whom it has led to.
    is_own: bool,
}

impl<'a> RegistryClient<'a> {
    /// A client. Nothing is sent yet.
    ///
    /// # Errors
    /// [`RegistryError::Setup`].
    pub(super) fn new(
        registry: Url,
        repository: &'a str,
        auth_hosts: &'a [String],
        login: Option<Login>,
        certificates: &[PathBuf],
    ) -> Result<Self, RegistryError> {
        Ok(Self {
            client: download_client(&registry, certificates)?,
            registry,
            repository,
            auth_hosts,
            login,
            authorization: Authorization::Nobody,
        })
    }

    /// The bytes of a manifest, by its tag or digest. Whether they have that digest is for the caller to check.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub(super) async fn manifest(&mut self, name: &str) -> Result<Bytes, RegistryError> {
        let answer = self.get("manifests", name, Some(MANIFESTS)).await?;
        let (what, most) = ("its manifest", LARGEST_MANIFEST);
        whole(answer.response, what, most, answer.deadline).await
    }

    /// The bytes of a layer, by its digest, if they are at most this many. Whether they have that digest is for the caller to check.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub(super) async fn layer(
        &mut self,
        digest: &str,
        most: usize,
        time: Duration,
    ) -> Result<Bytes, RegistryError> {
        let deadline = Deadline::after(time);
        let answer = self.get("blobs", digest, None).await?;
        whole(answer.response, "a layer", most, deadline).await
    }

    /// Asks for something, and once more where the registry wants to be told first who asks.
    async fn get(
        &mut self,
        kind: &str,
        name: &str,
        accept: Option<&'static str>,
    ) -> Result<Answer, RegistryError> {
        let path = format!("v2/{}/{kind}/{name}", self.repository);
        let url = self.registry.join(&path);
        let url = url.map_err(|error| RegistryError::not_answer(&error.to_string()))?;
        let mut answer = self.follow(url.clone(), accept).await?;
        // What a storage asks for is nothing that the registry asks for.
        if answer.response.status() == StatusCode::UNAUTHORIZED && answer.is_own {
            let challenge = Challenge::of(answer.response.headers());
            drop(answer);
            self.authorization = self.authorize(challenge).await?;
            answer = self.follow(url, accept).await?;
        }
        match answer.response.status() {
            StatusCode::OK => Ok(answer),
            _ => Err(refusal(answer.response, answer.deadline).await),
        }
    }

    /// Sends a request to the registry, and after it to where it leads.
    async fn follow(
        &self,
        mut url: Url,
        accept: Option<&'static str>,
    ) -> Result<Answer, RegistryError> {
        let deadline = Deadline::after(MANIFEST);
        let mut is_own = true;
        for _ in 0..=MOST_REDIRECTS {
            let mut request = self.client.get(url.clone());
            if let Some(accept) = accept {
                request = request.header(ACCEPT, accept);
            }
            // It is told who asks until it leads away, and not again where somebody else leads back.
            if is_own {
                request = self.authorized(request);
            }
            let response = deadline.keep("its answer", request.send()).await?;
            let Some(next) = self.redirect(&url, &response)? else {
                return Ok(Answer {
                    response,
                    deadline,
                    is_own,
                });
            };
            is_own &= next.origin() == self.registry.origin();
            url = next;
        }
        Err(RegistryError::Redirects(MOST_REDIRECTS))
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        match (&self.authorization, &self.login) {
            (Authorization::Token(token), _) => request.header(AUTHORIZATION, token),
            (Authorization::Login, Some(Login { name, password })) => {
                request.basic_auth(name, Some(password))
            }
            _ => request,
        }
    }

    /// Where an answer leads, if it does.
    fn redirect(&self, url: &Url, response: &Response) -> Result<Option<Url>, RegistryError> {
        if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let location = response.headers().get(LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let next = location.and_then(|location| url.join(location).ok());
        let next = next.ok_or_else(|| {
            RegistryError::not_answer("it leads to another address and names none")
        })?;
        // What listens on this machine is no storage of a registry elsewhere.
        let leads_here = is_this_machine(&next) && !is_this_machine(&self.registry);
        match is_protected(&next, &self.registry) && !leads_here {
            true => Ok(Some(next)),
            false => Err(RegistryError::Redirect(shown(&next))),
        }
    }

    /// Does what the registry wants of whoever asks.
    async fn authorize(
        &self,
        challenge: Option<Challenge>,
    ) -> Result<Authorization, RegistryError> {
        match challenge {
            Some(Challenge::Basic) if self.login.is_some() => Ok(Authorization::Login),
            Some(Challenge::Bearer { realm, service }) => {
                let address = registry_token::address(&realm, &self.registry, self.auth_hosts)?;
                let (service, login) = (service.as_deref(), self.login.as_ref());
                let fetched =
                    registry_token::fetch(&self.client, address, service, self.repository, login);
                Ok(Authorization::Token(fetched.await?))
            }
            Some(Challenge::Basic) | None => Err(RegistryError::NotLetIn),
        }
    }
}
