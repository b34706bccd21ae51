//! From the names of hosts to addresses that a request may go to. Each plugin looks up few names at a time, so that none of them
//! takes the threads of others.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Semaphore;

use super::origin::Origin;
use crate::net::{DomainList, Target};

/// The most names that a plugin has looked up at the same time. A system cannot be told to stop: it goes on, for half a minute or
/// longer, when nobody waits any more.
const AT_ONCE: usize = 2;

type FindAddresses = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// How the names of hosts become addresses. Whatever comes out, a connection is made only to a public address, or to one of this
/// machine or a private network that the granted origin names.
#[derive(Clone, Default)]
pub struct Resolver(Option<Arc<FindAddresses>>);

impl Resolver {
    /// The system's resolver. The default.
    #[must_use]
    pub fn of_system() -> Self {
        Self::default()
    }

    /// A function that is given a name and a port. It may block.
    pub fn new(
        find: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(find)))
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

/// The lookups of all plugins of a host.
pub(super) struct NamesOfHost {
    resolver: Resolver,
    turns: Mutex<BTreeMap<Arc<str>, Arc<Semaphore>>>,
}

impl NamesOfHost {
    pub(super) fn new(resolver: Resolver) -> Self {
        Self {
            resolver,
            turns: Mutex::default(),
        }
    }

    /// Those of one plugin, over all of its calls.
    pub(super) fn of(&self, component: &Arc<str>) -> Names {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let turns = turns.entry(Arc::clone(component));
        let turns = turns.or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE)));
        Names {
            resolver: self.resolver.clone(),
            turns: Arc::clone(turns),
        }
    }
}

/// The lookups of one plugin.
pub(super) struct Names {
    resolver: Resolver,
    turns: Arc<Semaphore>,
}

impl Names {
    /// The addresses of an origin: each is public, or one that the origin itself names. What is not encrypted stays on this
    /// machine.
    ///
    /// # Errors
    /// Why there is none, for the host's log.
    pub(super) async fn addresses(&self, origin: &Origin) -> Result<Vec<SocketAddr>, String> {
        let addresses = self.judged(origin).await?;
        let leaves = |address: &&SocketAddr| !address.ip().is_loopback();
        match addresses
            .iter()
            .find(leaves)
            .filter(|_| !origin.is_encrypted())
        {
            Some(address) => Err(format!("it is {}, which is not this machine", address.ip())),
            None => Ok(addresses),
        }
    }

    async fn judged(&self, origin: &Origin) -> Result<Vec<SocketAddr>, String> {
        let named = format!("{}:{}", origin.host(), origin.port());
        let list = DomainList::parse(&[named], &[]).map_err(|error| error.to_string())?;
        let target =
            Target::new(origin.host(), origin.port()).map_err(|error| error.to_string())?;
        if !target.is_name() {
            return resolved(&target, &list).await;
        }
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|error| error.to_string())?;
        let found = match self.resolver.0.clone() {
            // Whoever waits for it may go; it has its turn until the thread that it takes is free again.
            None => tokio::spawn(async move {
                let found = resolved(&target, &list).await;
                drop(turn);
                found
            }),
            Some(find) => {
                let (host, port) = (origin.host().to_owned(), origin.port());
                tokio::task::spawn_blocking(move || {
                    let found = find(&host, port).map_err(|error| error.to_string());
                    drop(turn);
                    let found = found?;
                    target
                        .judged(&list, found)
                        .map_err(|error| error.to_string())
                })
            }
        };
        found.await.map_err(|error| error.to_string())?
    }
}

async fn resolved(target: &Target, list: &DomainList) -> Result<Vec<SocketAddr>, String> {
    let found = target.resolve(list).await;
    found.map_err(|error| error.to_string())
}
