//! The stores that windlass brings along keep what all of them promise, and the suite finds those that do not.
#![allow(clippy::unwrap_used)]

use std::{fs, path::PathBuf};

use windlass::store::{
    Batch, ConfigDir, FileStore, Lease, MemoryStore, SendStore, StoreError, Stored, StoredSession,
};
use windlass_core::{SessionId, permission::Destination};
use windlass_engine::store::digest;
use windlass_testkit::store::{Place, check};

#[derive(Default)]
struct Memory(MemoryStore);

impl Place for Memory {
    type Store = MemoryStore;

    async fn store(&self) -> MemoryStore {
        self.0.again()
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Place for Folder {
    type Store = FileStore;

    async fn store(&self) -> FileStore {
        FileStore::new(&ConfigDir::at(self.0.path()), self.0.path().join("work"))
    }

    fn tear(&self, session: SessionId) {
        let store = FileStore::new(&ConfigDir::at(self.0.path()), self.0.path().join("work"));
        let path = PathBuf::from(store.place(session, None));
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - 5]).unwrap();
    }
}

#[tokio::test]
async fn sess_4_memory_keeps_what_stores_promise() {
    assert_eq!(check(Memory::default).await, []);
}

#[cfg(unix)]
#[tokio::test]
async fn sess_4_files_keep_what_stores_promise() {
    assert_eq!(check(Folder::new).await, []);
}

/// What a store may get wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    LosesTheLastLine,
    JoinsAgents,
    NeverBusy,
    TakesStaleLeases,
    KeepsDocumentsOfTheDeleted,
    ListsTheOldestFirst,
    TakesAnyName,
    SnapshotsAreAlwaysCurrent,
    ReplacesWhatItShouldAddTo,
    OverwritesSettings,
}

#[derive(Clone)]
struct Faulty {
    store: MemoryStore,
    fault: Fault,
}

struct FaultyPlace(Faulty);

impl Place for FaultyPlace {
    type Store = Faulty;

    async fn store(&self) -> Faulty {
        let store = match self.0.fault {
            // One holder for all: nobody is another.
            Fault::NeverBusy => self.0.store.clone(),
            _ => self.0.store.again(),
        };
        Faulty {
            store,
            ..self.0.clone()
        }
    }
}

impl SendStore for Faulty {
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError> {
        self.store.create(session).await
    }

    async fn open(&self, session: SessionId) -> Result<Lease, StoreError> {
        match self.store.open(session).await {
            Err(StoreError::Busy(_)) if self.fault == Fault::NeverBusy => {
                let epoch = 1;
                self.store.release(&Lease { session, epoch });
                self.store.open(session).await
            }
            leased => leased,
        }
    }

    fn release(&self, lease: &Lease) {
        if self.fault != Fault::TakesStaleLeases {
            self.store.release(lease);
        }
    }

    async fn append(&self, lease: &Lease, mut batch: Batch<'_>) -> Result<(), StoreError> {
        match self.fault {
            Fault::LosesTheLastLine if batch.lines.len() > 2 => {
                batch.lines = &batch.lines[1..];
            }
            Fault::JoinsAgents => batch.agent = None,
            _ => {}
        }
        self.store.append(lease, batch).await
    }

    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError> {
        let mut stored = self.store.load(session, agent).await?;
        if self.fault == Fault::SnapshotsAreAlwaysCurrent
            && let Some(snapshot) = stored.as_mut().and_then(|stored| stored.snapshot.as_mut())
        {
            snapshot.is_current = true;
        }
        Ok(stored)
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        match self.store.put(lease, name, document).await {
            Err(StoreError::Name(_)) if self.fault == Fault::TakesAnyName => Ok(()),
            done => done,
        }
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.fault {
            Fault::ReplacesWhatItShouldAddTo => self.put(lease, name, bytes).await,
            _ => self.store.extend(lease, name, bytes).await,
        }
    }

    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self.store.get(session, name).await? {
            None if self.fault == Fault::KeepsDocumentsOfTheDeleted && name == "a" => {
                Ok(Some(b"x".to_vec()))
            }
            found => Ok(found),
        }
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        let mut list = self.store.list().await?;
        if self.fault == Fault::ListsTheOldestFirst {
            list.reverse();
        }
        Ok(list)
    }

    async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        self.store.delete(session).await
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        self.store.place(session, agent)
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        self.store.document_place(session, name)
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.settings(of).await
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        let now = self.store.settings(of).await?.map(|now| digest(&now));
        let read = match self.fault {
            Fault::OverwritesSettings => now.as_deref(),
            _ => read,
        };
        self.store.replace_settings(of, read, settings).await
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        self.store.settings_place(of)
    }
}

#[tokio::test]
async fn a_store_that_breaks_a_promise_is_found() {
    for fault in [
        Fault::LosesTheLastLine,
        Fault::JoinsAgents,
        Fault::NeverBusy,
        Fault::TakesStaleLeases,
        Fault::KeepsDocumentsOfTheDeleted,
        Fault::ListsTheOldestFirst,
        Fault::TakesAnyName,
        Fault::SnapshotsAreAlwaysCurrent,
        Fault::ReplacesWhatItShouldAddTo,
        Fault::OverwritesSettings,
    ] {
        let faulty = || {
            FaultyPlace(Faulty {
                store: MemoryStore::default(),
                fault,
            })
        };
        assert_ne!(check(faulty).await, [], "{fault:?}");
    }
}
