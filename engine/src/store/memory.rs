//! A store in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use windlass_core::{SessionId, UnixMillis, permission::Destination};

use super::{
    Batch, Lease, SendStore, Snapshot, StoreError, Stored, StoredSession, digest, is_document_name,
};

/// Keeps sessions in memory: for tests, and for sessions that need not outlive the process.
///
/// A clone is the same store. [`again`](Self::again) creates another store over the same sessions, as another process would
/// have: a session that one of them writes to is closed to the other until the lease is released or the store is dropped. It
/// has no clock: [`StoredSession::modified`] counts the appends.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    sessions: Arc<Mutex<Sessions>>,
    /// The holder of its leases, which end with the last clone.
    holder: Arc<Holder>,
}

#[derive(Debug, Default)]
struct Holder;

#[derive(Debug, Default)]
struct Sessions {
    kept: BTreeMap<SessionId, Kept>,
    appends: u64,
    settings: BTreeMap<&'static str, Vec<u8>>,
}

#[derive(Debug, Default)]
struct Kept {
    transcripts: BTreeMap<Option<String>, Stored>,
    documents: BTreeMap<String, Vec<u8>>,
    /// The epoch of the last lease.
    epoch: u64,
    writer: Option<Weak<Holder>>,
    modified: u64,
}

impl Kept {
    fn is_leased(&self) -> bool {
        (self.writer.as_ref()).is_some_and(|holder| holder.strong_count() > 0)
    }

    fn lease(&mut self, session: SessionId, holder: &Arc<Holder>) -> Result<Lease, StoreError> {
        if self.is_leased() {
            return Err(StoreError::Busy(session));
        }
        self.epoch += 1;
        self.writer = Some(Arc::downgrade(holder));
        Ok(Lease {
            session,
            epoch: self.epoch,
        })
    }
}

impl Sessions {
    fn written(&mut self, lease: &Lease) -> Result<&mut Kept, StoreError> {
        let kept = self.kept.get_mut(&lease.session);
        kept.filter(|kept| kept.epoch == lease.epoch && kept.is_leased())
            .ok_or(StoreError::Stale(lease.session))
    }

    fn existing(&mut self, session: SessionId) -> Result<&mut Kept, StoreError> {
        let kept = self.kept.get_mut(&session);
        kept.filter(|kept| !kept.transcripts.is_empty())
            .ok_or(StoreError::Unknown(session))
    }
}

impl MemoryStore {
    /// Another store over the same sessions.
    #[must_use]
    pub fn again(&self) -> Self {
        Self {
            sessions: Arc::clone(&self.sessions),
            holder: Arc::default(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // No code panics while holding the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SendStore for MemoryStore {
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError> {
        let mut sessions = self.sessions();
        let kept = sessions.kept.entry(session).or_default();
        match kept.transcripts.is_empty() {
            true => kept.lease(session, &self.holder),
            false => Err(StoreError::Exists(session)),
        }
    }

    async fn open(&self, session: SessionId) -> Result<Lease, StoreError> {
        (self.sessions().existing(session)?).lease(session, &self.holder)
    }

    fn release(&self, lease: &Lease) {
        if let Ok(kept) = self.sessions().written(lease) {
            kept.writer = None;
        }
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError> {
        let mut sessions = self.sessions();
        sessions.appends += 1;
        let modified = sessions.appends;
        let kept = sessions.written(lease)?;
        if batch.lines.is_empty() && batch.snapshot.is_none() {
            return Ok(()); // there is no file to be made
        }
        let agent = batch.agent.map(ToOwned::to_owned);
        let stored = kept.transcripts.entry(agent).or_default();
        for line in batch.lines {
            stored.text.extend_from_slice(line.get().as_bytes());
            stored.text.push(b'\n');
        }
        match batch.snapshot {
            Some(bytes) => {
                stored.snapshot = Some(Snapshot {
                    bytes: bytes.to_vec(),
                    is_current: true,
                });
            }
            None => {
                if let Some(snapshot) = &mut stored.snapshot {
                    snapshot.is_current &= batch.lines.is_empty();
                }
            }
        }
        kept.modified = modified;
        Ok(())
    }

    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError> {
        let sessions = self.sessions();
        let kept = sessions.kept.get(&session);
        let agent = agent.map(ToOwned::to_owned);
        Ok(kept.and_then(|kept| kept.transcripts.get(&agent).cloned()))
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        if !is_document_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        let mut sessions = self.sessions();
        let kept = sessions.written(lease)?;
        kept.documents.insert(name.to_owned(), document.to_vec());
        Ok(())
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        if !is_document_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        let mut sessions = self.sessions();
        let kept = sessions.written(lease)?;
        let document = kept.documents.entry(name.to_owned()).or_default();
        document.extend_from_slice(bytes);
        Ok(())
    }

    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sessions = self.sessions();
        let kept = sessions.kept.get(&session);
        Ok(kept.and_then(|kept| kept.documents.get(name).cloned()))
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        let sessions = self.sessions();
        let filled = (sessions.kept.iter()).filter(|(_, kept)| !kept.transcripts.is_empty());
        let mut listed: Vec<StoredSession> = filled
            .map(|(id, kept)| StoredSession {
                id: *id,
                modified: UnixMillis(kept.modified),
            })
            .collect();
        listed.sort_by_key(|session| std::cmp::Reverse((session.modified, session.id)));
        Ok(listed)
    }

    async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        let mut sessions = self.sessions();
        let kept = sessions.existing(session)?;
        if kept.is_leased() {
            return Err(StoreError::Busy(session));
        }
        // The epoch of the last lease is kept, so that earlier leases stay stale.
        *kept = Kept {
            epoch: kept.epoch,
            ..Kept::default()
        };
        Ok(())
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        match agent {
            None => format!("memory:{session}"),
            Some(agent) => format!("memory:{session}/{agent}"),
        }
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        format!("memory:{session}/{name}")
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        let sessions = self.sessions();
        Ok(key(of).and_then(|key| sessions.settings.get(key).cloned()))
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        let Some(key) = key(of) else {
            return Err(StoreError::failed("writing", "memory", "it is not kept"));
        };
        let mut sessions = self.sessions();
        let now = sessions.settings.get(key).map(|now| digest(now));
        if now.as_deref() != read {
            return Err(StoreError::Changed(format!("memory:{key}")));
        }
        sessions.settings.insert(key, settings.to_vec());
        Ok(())
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        key(of).map(|key| format!("memory:{key}"))
    }
}

/// The key under which settings are kept.
fn key(of: Destination) -> Option<&'static str> {
    match of {
        Destination::UserSettings => Some("user-settings"),
        Destination::ProjectSettings => Some("project-settings"),
        Destination::LocalSettings => Some("local-settings"),
        Destination::Session | Destination::CliArg => None,
    }
}
