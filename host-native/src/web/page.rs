//! Fetches a page: from judged addresses, bounded in size and time, as text.

use std::{path::PathBuf, sync::OnceLock, time::Duration};

use reqwest::{
    Client, StatusCode, Url,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION},
    redirect,
};
use rustls::ClientConfig;

use super::{markdown, text};
use crate::{
    http::{root_cause, tls},
    net::{DomainList, InvalidDomain, Target, TargetError},
};

/// The most bytes of a page.
pub(super) const LARGEST: usize = 10 << 20;

/// How long a connection may take to be there.
const CONNECTING: Duration = Duration::from_secs(10);

/// How long a page may take, with all redirects.
const LONGEST: Duration = Duration::from_secs(60);

/// Redirects within a host that are followed.
const MOST_REDIRECTS: usize = 10;

/// Bytes of the longest address.
const LONGEST_ADDRESS: usize = 8 << 10;

const USER_AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));

/// A page as a model reads it.
#[derive(Debug)]
pub(super) struct Page {
    /// Where it was found in the end.
    pub(super) url: String,
    pub(super) status: StatusCode,
    /// Its size as it was sent, in bytes.
    pub(super) bytes: usize,
    /// Its text; Markdown if it was HTML.
    pub(super) text: String,
}

/// Why there is no page, in the words that the model reads.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error(
        "{url} is no address that is fetched: {reason}. Give the whole address of a page, with https://."
    )]
    Address { url: String, reason: TargetError },
    #[error("The address is longer than {LONGEST_ADDRESS} bytes.")]
    LongAddress,
    #[error(
        "{host} is not fetched: {reason}. Pages come from the public internet only, unless whoever runs this program has \
         named the address (WINDLASS_WEB_PRIVATE_HOSTS)."
    )]
    Private { host: String, reason: TargetError },
    #[error("{url} could not be fetched: {reason}.")]
    Unreachable { url: String, reason: String },
    #[error("{url} could not be fetched: it took longer than {} s.", LONGEST.as_secs())]
    TimedOut { url: String },
    #[error(
        "{from} redirects to another place, {to}, which was not fetched. To read that, call WebFetch again with its address."
    )]
    Elsewhere { from: String, to: String },
    #[error("{url} redirects again and again.")]
    Circle { url: String },
    #[error("{url} redirects to something that is no address.")]
    Nowhere { url: String },
    #[error("{url} answers {status}.")]
    Status { url: String, status: StatusCode },
    #[error("{url} is longer than {} MiB, which is the most that is fetched.", LARGEST >> 20)]
    TooLarge { url: String },
    #[error(
        "{url} is {what}, and WebFetch reads text only. If the file itself is needed, download it with a command."
    )]
    NoText { url: String, what: String },
}

/// Where pages may come from, and whom to trust there.
#[derive(Debug)]
pub(super) struct Fetcher {
    hosts: DomainList,
    certificates: Vec<PathBuf>,
    tls: OnceLock<Result<ClientConfig, String>>,
}

impl Fetcher {
    /// Pages of the public internet, and of these addresses although they are private.
    pub(super) fn new(
        private_hosts: &[String],
        certificates: Vec<PathBuf>,
    ) -> Result<Self, InvalidDomain> {
        let mut allowed = vec!["*".to_owned()];
        allowed.extend_from_slice(private_hosts);
        Ok(Self {
            hosts: DomainList::parse(&allowed, &[])?,
            certificates,
            tls: OnceLock::new(),
        })
    }

    /// Fetches a page. No proxy is used: connections go to the addresses that were judged.
    pub(super) async fn fetch(&self, address: &str) -> Result<Page, FetchError> {
        let fetched = tokio::time::timeout(LONGEST, self.follow(address)).await;
        fetched.unwrap_or_else(|_| {
            Err(FetchError::TimedOut {
                url: address.to_owned(),
            })
        })
    }

    async fn follow(&self, address: &str) -> Result<Page, FetchError> {
        let (mut url, mut target) = self.target(address)?;
        for _ in 0..=MOST_REDIRECTS {
            let response = self.get(&url, &target).await?;
            if !response.status().is_redirection() {
                return read(url, response).await;
            }
            let named = response
                .headers()
                .get(LOCATION)
                .and_then(|to| to.to_str().ok());
            let next = named.and_then(|to| url.join(to).ok());
            let next = next.ok_or_else(|| FetchError::Nowhere {
                url: url.to_string(),
            })?;
            let led_to = self.target(next.as_str());
            let (secured, there) = led_to.map_err(|_| FetchError::Nowhere {
                url: url.to_string(),
            })?;
            // Rules were asked about this host and port only.
            if there != target {
                return Err(FetchError::Elsewhere {
                    from: url.into(),
                    to: next.into(),
                });
            }
            (url, target) = (secured, there);
        }
        Err(FetchError::Circle { url: url.into() })
    }

    /// The address that is asked in the end, and its host: http becomes https, unless the host is named as private.
    fn target(&self, address: &str) -> Result<(Url, Target), FetchError> {
        if address.len() > LONGEST_ADDRESS {
            return Err(FetchError::LongAddress);
        }
        let no_address = |reason| FetchError::Address {
            url: address.to_owned(),
            reason,
        };
        let target = Target::of_url(address).map_err(no_address)?;
        let unreadable = || no_address(TargetError::Unreadable(address.to_owned()));
        let mut url = Url::parse(address).map_err(|_| unreadable())?;
        url.set_fragment(None);
        // As the host was judged: without a final dot, numbers as addresses.
        url.set_host(Some(&target.host.to_string()))
            .map_err(|_| unreadable())?;
        if url.scheme() == "http" && !self.hosts.names(&target) {
            url.set_scheme("https").map_err(|()| unreadable())?;
        }
        let target = Target::of_url(url.as_str()).map_err(no_address)?;
        Ok((url, target))
    }

    async fn get(&self, url: &Url, target: &Target) -> Result<reqwest::Response, FetchError> {
        let unreachable = |reason: String| FetchError::Unreachable {
            url: url.to_string(),
            reason,
        };
        let addresses = target
            .resolve(&self.hosts)
            .await
            .map_err(|error| match error {
                TargetError::Unresolved { .. } => unreachable(error.to_string()),
                reason => FetchError::Private {
                    host: target.host.to_string(),
                    reason,
                },
            })?;
        // One for each request: connections are made to the addresses that were judged for it.
        let client = Client::builder()
            .tls_backend_preconfigured(self.tls().map_err(&unreachable)?)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .resolve_to_addrs(&target.host.to_string(), &addresses)
            .connect_timeout(CONNECTING)
            .pool_max_idle_per_host(0)
            .user_agent(USER_AGENT)
            .build()
            .map_err(|error| unreachable(root_cause(&error)))?;
        let request = client.get(url.clone()).header(
            ACCEPT,
            "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5",
        );
        let sent = request.send().await;
        sent.map_err(|error| unreachable(root_cause(&error)))
    }

    /// Reads the certificates of the system when the first page is fetched.
    fn tls(&self) -> Result<ClientConfig, String> {
        let made = self
            .tls
            .get_or_init(|| tls::trusting(&self.certificates).map_err(|error| error.to_string()));
        made.clone()
    }
}

/// Reads an answer, if it is text.
async fn read(url: Url, mut response: reqwest::Response) -> Result<Page, FetchError> {
    let status = response.status();
    if !status.is_success() {
        let url = url.into();
        return Err(FetchError::Status { url, status });
    }
    let header = |name| {
        let value = response.headers().get(name);
        let value = value.and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_ascii_lowercase()
    };
    let (kind, encoding) = (header(CONTENT_TYPE), header(CONTENT_ENCODING));
    let no_text = |what: String| FetchError::NoText {
        url: url.to_string(),
        what,
    };
    if !matches!(encoding.as_str(), "" | "identity") {
        return Err(no_text(format!(
            "compressed ({encoding}), which was not asked for"
        )));
    }
    let kind = text::Kind::of(&kind);
    if let text::Kind::Other(name) = &kind {
        return Err(no_text(name.clone()));
    }
    let mut bytes = Vec::new();
    loop {
        let chunk = response
            .chunk()
            .await
            .map_err(|error| FetchError::Unreachable {
                url: url.to_string(),
                reason: root_cause(&error),
            })?;
        let Some(chunk) = chunk else { break };
        if bytes.len() + chunk.len() > LARGEST {
            return Err(FetchError::TooLarge { url: url.into() });
        }
        bytes.extend_from_slice(&chunk);
    }
    let size = bytes.len();
    let address = url.clone();
    // A large page takes a while.
    let read = tokio::task::spawn_blocking(move || {
        let (text, is_html) = text::decode(&bytes, &kind)?;
        Some(match is_html {
            true => markdown::from_html(&text, &address),
            false => text,
        })
    });
    let text = read.await.ok().flatten();
    Ok(Page {
        text: text.ok_or_else(|| no_text("a binary file".to_owned()))?,
        url: url.into(),
        status,
        bytes: size,
    })
}
