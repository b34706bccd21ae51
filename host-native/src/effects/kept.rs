//! The engine's requests to its session store.

use std::collections::BTreeMap;

use windlass_core::{
    SessionId,
    permission::{Destination, PermissionUpdate},
};
use windlass_engine::{
    machine::{LineGroup, LoadedSession},
    settings::{Written, write_permissions, write_texts},
    store::{Batch, Lease, SendStore as _},
    transcript::{SavedSession, Which},
};

use crate::store::{SharedStore, TaskOutputs};

/// The store of an engine's sessions, if there is one.
pub(super) struct Kept {
    store: Option<SharedStore>,
    outputs: Option<TaskOutputs>,
}

impl Kept {
    pub(super) fn new(store: Option<SharedStore>) -> Self {
        Self {
            outputs: store.clone().map(TaskOutputs::new),
            store,
        }
    }

    /// Does not store the output of background commands: the store is read, but not written.
    pub(super) fn without_output(mut self) -> Self {
        self.outputs = None;
        self
    }

    fn store(&self) -> Result<&SharedStore, String> {
        let store = self.store.as_ref();
        store.ok_or_else(|| "nothing is kept of this session".to_owned())
    }

    /// Loads a session to resume; the error is a message for the person.
    pub(super) async fn load(
        &self,
        which: &Which,
        exclusive: bool,
    ) -> Result<Option<LoadedSession>, String> {
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
        loaded.map_err(|error| error.to_string())
    }

    pub(super) async fn create(&self, session: SessionId) -> Result<Lease, String> {
        let lease = self.store()?.create(session).await;
        lease.map_err(|error| error.to_string())
    }

    /// Appends each group atomically: returns the new position, or the error.
    pub(super) async fn append(
        &self,
        lease: &Lease,
        groups: &[LineGroup],
    ) -> Vec<Result<String, String>> {
        let store = match self.store() {
            Ok(store) => store,
            Err(reason) => return groups.iter().map(|_| Err(reason.clone())).collect(),
        };
        let mut results = Vec::with_capacity(groups.len());
        for group in groups {
            let batch = Batch {
                agent: group.agent.as_deref(),
                lines: &group.lines,
                snapshot: None,
            };
            let appended = store.append(lease, batch).await;
            let place = || store.place(lease.session, group.agent.as_deref());
            results.push(appended.map(|()| place()).map_err(|it| it.to_string()));
        }
        results
    }

    /// Stores a document about a subagent, and returns the location of its transcript.
    pub(super) async fn keep(
        &self,
        lease: &Lease,
        agent: &str,
        name: &str,
        document: &[u8],
    ) -> Result<String, String> {
        let store = self.store()?;
        let kept = store.put(lease, name, document).await;
        kept.map(|()| store.place(lease.session, Some(agent)))
            .map_err(|error| error.to_string())
    }

    /// Starts storing the output of a background command, and returns its location.
    pub(super) async fn begin_output(&self, lease: Lease, call: &str) -> Result<String, String> {
        let Some(outputs) = self.outputs() else {
            return Err("nothing is kept of this session".to_owned());
        };
        let begun = outputs.begin(lease, call).await;
        begun.map_err(|error| error.to_string())
    }

    /// Writes permission changes to settings files, and returns the changed settings.
    pub(super) async fn write_permissions(
        &self,
        updates: &[PermissionUpdate],
    ) -> Result<Vec<Written>, String> {
        let written = write_permissions(self.store()?, updates).await;
        written.map_err(|error| error.to_string())
    }

    /// Writes texts to settings files, and returns which were changed.
    pub(super) async fn write_settings(
        &self,
        destination: Destination,
        texts: &BTreeMap<String, String>,
    ) -> Result<Vec<Written>, String> {
        let written = write_texts(self.store()?, destination, texts).await;
        written
            .map(|written| written.into_iter().collect())
            .map_err(|error| error.to_string())
    }

    pub(super) fn outputs(&self) -> Option<TaskOutputs> {
        self.outputs.clone()
    }

    pub(super) fn release(&self, lease: &Lease) {
        if let Some(store) = &self.store {
            store.release(lease);
        }
    }
}
