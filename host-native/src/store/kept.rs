//! What an engine asks of the store of its sessions.

use windlass_core::SessionId;
use windlass_engine::{
    machine::{LineGroup, LoadedSession},
    store::{Batch, Lease, SendStore as _},
    transcript::{SavedSession, Which},
};

use super::SharedStore;

/// Where the sessions of an engine are kept.
pub(crate) struct Kept(SharedStore);

impl Kept {
    pub(crate) fn new(store: SharedStore) -> Self {
        Self(store)
    }

    /// Reads a session that goes on, in words for the person where it cannot be.
    pub(crate) async fn load(
        &self,
        which: &Which,
        exclusive: bool,
    ) -> Result<Option<LoadedSession>, String> {
        let loaded = match exclusive {
            true => (SavedSession::take(&self.0, which).await).map(|taken| {
                taken.map(|(saved, lease)| LoadedSession {
                    saved,
                    lease: Some(lease.into_lease()),
                })
            }),
            false => (SavedSession::find(&self.0, which).await)
                .map(|found| found.map(|saved| LoadedSession { saved, lease: None })),
        };
        loaded.map_err(|error| error.to_string())
    }

    pub(crate) async fn create(&self, session: SessionId) -> Result<Lease, String> {
        let lease = self.0.create(session).await;
        lease.map_err(|error| error.to_string())
    }

    /// Appends each group in one step: where it stands now, or why it does not.
    pub(crate) async fn append(
        &self,
        lease: &Lease,
        groups: &[LineGroup],
    ) -> Vec<Result<String, String>> {
        let mut results = Vec::with_capacity(groups.len());
        for group in groups {
            let batch = Batch {
                agent: group.agent.as_deref(),
                lines: &group.lines,
                snapshot: None,
            };
            let appended = self.0.append(lease, batch).await;
            let place = || self.0.place(lease.session, group.agent.as_deref());
            results.push(appended.map(|()| place()).map_err(|it| it.to_string()));
        }
        results
    }

    /// Keeps a document about an agent; the place of the agent's transcript.
    pub(crate) async fn keep(
        &self,
        lease: &Lease,
        agent: &str,
        name: &str,
        document: &[u8],
    ) -> Result<String, String> {
        let kept = self.0.put(lease, name, document).await;
        kept.map(|()| self.0.place(lease.session, Some(agent)))
            .map_err(|error| error.to_string())
    }

    pub(crate) fn release(&self, lease: &Lease) {
        self.0.release(lease);
    }
}
