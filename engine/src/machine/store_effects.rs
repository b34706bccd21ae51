//! The effects of an engine that a session store performs, the same for every host.

use windlass_core::SessionId;

use super::io::{Effect, LineGroup, LoadedSession, Outcome};
use crate::{
    settings::{write_permissions, write_texts},
    store::{Batch, Lease, Store},
    transcript::{SavedSession, Which},
};

/// The store of an engine's sessions, if there is one.
#[derive(Debug, Clone)]
pub struct StoreEffects<S> {
    store: Option<S>,
}

impl<S: Store + Clone> StoreEffects<S> {
    /// For sessions in this store; without one, nothing can be loaded or kept.
    pub fn new(store: Option<S>) -> Self {
        Self { store }
    }

    /// Performs an effect.
    ///
    /// # Errors
    /// Returns the effect if no store performs it.
    pub async fn perform(&self, effect: Effect) -> Result<Outcome, Effect> {
        match effect {
            Effect::Create(session) => Ok(Outcome::Leased(self.create(session).await)),
            Effect::Append(lease, groups) => {
                Ok(Outcome::Appended(self.append(&lease, &groups).await))
            }
            // The future is boxed so that the frequent effects need small futures.
            effect => Box::pin(self.perform_rare(effect)).await,
        }
    }

    async fn perform_rare(&self, effect: Effect) -> Result<Outcome, Effect> {
        Ok(match effect {
            Effect::Load { which, exclusive } => {
                Outcome::Loaded(self.load(&which, exclusive).await)
            }
            Effect::Keep {
                lease,
                agent,
                name,
                document,
            } => Outcome::Kept(self.keep(&lease, &agent, &name, &document).await),
            Effect::WritePermissions(updates) => Outcome::Written(match self.store() {
                Ok(store) => write_permissions(store, &updates).await.map_err(text),
                Err(reason) => Err(reason),
            }),
            Effect::WriteSettings(destination, texts) => Outcome::Written(match self.store() {
                Ok(store) => (write_texts(store, destination, &texts).await)
                    .map(|written| written.into_iter().collect())
                    .map_err(text),
                Err(reason) => Err(reason),
            }),
            effect => return Err(effect),
        })
    }

    /// Releases a session's lease.
    pub fn release(&self, lease: &Lease) {
        if let Some(store) = &self.store {
            store.release(lease);
        }
    }

    fn store(&self) -> Result<&S, String> {
        let store = self.store.as_ref();
        store.ok_or_else(|| "nothing is kept of this session".to_owned())
    }

    /// Loads a session to resume; the error is a message for the person.
    async fn load(&self, which: &Which, exclusive: bool) -> Result<Option<LoadedSession>, String> {
        let store = self.store()?;
        let loaded = match exclusive {
            true => (SavedSession::take(store, which).await).map(|taken| {
                taken.map(|(saved, lease)| LoadedSession {
                    saved,
                    lease: Some(lease.into_lease()),
                })
            }),
            false => (SavedSession::find(store, which).await)
                .map(|found| found.map(|saved| LoadedSession { saved, lease: None })),
        };
        loaded.map_err(text)
    }

    async fn create(&self, session: SessionId) -> Result<Lease, String> {
        self.store()?.create(session).await.map_err(text)
    }

    /// Appends each group atomically: returns the new position, or the error.
    async fn append(&self, lease: &Lease, groups: &[LineGroup]) -> Vec<Result<String, String>> {
        let store = match self.store() {
            Ok(store) => store,
            Err(reason) => return groups.iter().map(|_| Err(reason.clone())).collect(),
        };
        let mut results = Vec::with_capacity(groups.len());
        for group in groups {
            let batch = Batch {
                agent: group.agent.as_deref(),
                lines: &group.lines,
                snapshot: group.snapshot.as_deref(),
            };
            let appended = store.append(lease, batch).await;
            let place = || store.place(lease.session, group.agent.as_deref());
            results.push(appended.map(|()| place()).map_err(text));
        }
        results
    }

    /// Stores a document about a subagent, and returns the location of its transcript.
    async fn keep(
        &self,
        lease: &Lease,
        agent: &str,
        name: &str,
        document: &[u8],
    ) -> Result<String, String> {
        let store = self.store()?;
        let kept = store.put(lease, name, document).await;
        kept.map(|()| store.place(lease.session, Some(agent)))
            .map_err(text)
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
