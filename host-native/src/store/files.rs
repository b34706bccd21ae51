//! Sessions in files, in the layout that the SDKs' session functions read.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use windlass_core::{SessionId, UnixMillis, permission::Destination};
use windlass_engine::store::{
    Batch, Lease, SendStore, StoreError, Stored, StoredSession, is_document_name,
};

use super::{
    open_session::{self, OpenSession},
    place::{SessionFiles, content, failed, is_filled, path_of},
    project_settings::replace_within,
    settings_files::{Replaced, read_settings, replace_settings},
    snapshot,
};
use crate::config_dir::{ConfigDir, NoConfigDir};

/// How long to wait for a session's lock: an engine that was told to end may still hold it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The interval between attempts.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// Keeps the sessions of one working directory in files:
///
/// ```text
/// <config dir>/projects/<key of the working directory>/<session id>.jsonl
/// <config dir>/projects/<key>/<session id>/subagents/agent-<id>.jsonl
/// <config dir>/projects/<key>/<session id>/subagents/agent-<id>.meta.json
/// <config dir>/projects/<key>/<session id>/<session id>.snapshot
/// <config dir>/projects/<key>/<session id>/<name of a document>
/// <config dir>/file-history/<session id>/<document of a checkpoint>
/// ```
///
/// Sessions of other working directories under the same configuration directory are found by their ids and are
/// continued in their own folder; [`list`](SendStore::list) lists only those of its own directory.
///
/// Settings are the files `settings.json` of the configuration directory, and `settings.json` and
/// `settings.local.json` in the working directory's `.claude` folder.
///
/// # Durability
/// Lines count as written once they have been passed to the operating system, with one write per file: killing the
/// process at any moment loses none of them, and readers never see a partial line in the middle of a file. If lines
/// do not fit on the disk, the file is truncated to the last complete line. There is no fsync in between (it would
/// cost every turn tens of milliseconds): a *power failure* loses what was written in the last seconds.
///
/// # Only regular files
/// Transcripts and documents are regular files. A link, a pipe or a device in place of one is refused; the target of
/// a link is neither read nor changed. The folders above them may be links.
///
/// # One writer
/// The lease is the operating system's lock on the transcript, which is released when the process ends;
/// [`open`](SendStore::open) waits a few seconds for a lock that is about to be released. The lock is advisory: the
/// SDKs' functions can add titles and tags meanwhile. On systems or file systems without locks, nothing is locked.
#[derive(Debug, Clone)]
pub struct FileStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    files: SessionFiles,
    config: ConfigDir,
    /// The folder whose project settings are used.
    project: PathBuf,
    open: Mutex<HashMap<SessionId, Arc<Mutex<OpenSession>>>>,
    epochs: AtomicU64,
}

impl FileStore {
    /// The sessions of a working directory, under a configuration directory.
    #[must_use]
    pub fn new(config: &ConfigDir, cwd: impl AsRef<Path>) -> Self {
        Self::with_settings_of(config, cwd.as_ref(), cwd.as_ref())
    }

    /// Like [`new`](Self::new), with the settings of another folder.
    pub(crate) fn with_settings_of(config: &ConfigDir, cwd: &Path, project: &Path) -> Self {
        Self {
            shared: Arc::new(Shared {
                files: SessionFiles::of(config, cwd),
                config: config.clone(),
                project: project.to_path_buf(),
                open: Mutex::default(),
                epochs: AtomicU64::new(0),
            }),
        }
    }

    /// The sessions of a working directory at the place shared with the command line and the SDKs: in
    /// `CLAUDE_CONFIG_DIR`, else in `.claude` in the home directory.
    ///
    /// # Errors
    /// [`NoConfigDir`] if neither is set.
    pub fn of_user(cwd: impl AsRef<Path>) -> Result<Self, NoConfigDir> {
        let config_dir = std::env::var("CLAUDE_CONFIG_DIR").ok();
        let home = etcetera::home_dir().ok();
        let config = ConfigDir::find(config_dir.as_deref(), home.as_deref())?;
        Ok(Self::new(&config, cwd))
    }

    fn open_sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Mutex<OpenSession>>>> {
        // Nothing panics while the lock is held.
        (self.shared.open.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a lease of a transcript that this store has not leased; `take` opens the files.
    fn lease(
        &self,
        session: SessionId,
        transcript: PathBuf,
        take: impl FnOnce(&mut OpenSession) -> Result<(), StoreError>,
    ) -> Result<Lease, StoreError> {
        let mut open = self.open_sessions();
        if open.contains_key(&session) {
            return Err(StoreError::Busy(session));
        }
        let epoch = self.shared.epochs.fetch_add(1, Ordering::Relaxed) + 1;
        let mut opened = OpenSession::new(session, epoch, transcript);
        take(&mut opened)?;
        open.insert(session, Arc::new(Mutex::new(opened)));
        Ok(Lease { session, epoch })
    }

    /// Runs an operation on the files of a lease.
    fn with<T>(
        &self,
        lease: &Lease,
        act: impl FnOnce(&mut OpenSession) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let open = self.open_sessions().get(&lease.session).cloned();
        let open = open.ok_or(StoreError::Stale(lease.session))?;
        // After a panic, the files still know which bytes were not written.
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        match open.epoch == lease.epoch {
            true => act(&mut open),
            false => Err(StoreError::Stale(lease.session)),
        }
    }

    /// The transcript of a session, at its existing or future path.
    fn transcript(&self, session: SessionId) -> Result<PathBuf, StoreError> {
        let files = &self.shared.files;
        Ok(files
            .find(session)?
            .unwrap_or_else(|| files.session(session)))
    }

    fn settings_file(&self, of: Destination) -> Option<PathBuf> {
        self.shared.config.settings_file(&self.shared.project, of)
    }

    /// The transcript that this store writes for a session: the open one, or the default path.
    fn written_transcript(&self, session: SessionId) -> PathBuf {
        let open = self.open_sessions().get(&session).cloned();
        let open = open.map(|open| {
            let open = open.lock().unwrap_or_else(PoisonError::into_inner);
            open.transcript().to_path_buf()
        });
        open.unwrap_or_else(|| self.shared.files.session(session))
    }

    /// The path of a document for the holder of a lease.
    fn written_document(&self, lease: &Lease, name: &str) -> Result<PathBuf, StoreError> {
        if !is_document_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        self.with(lease, |open| {
            let files = &self.shared.files;
            Ok(files.document(lease.session, open.transcript(), name))
        })
    }

    /// Runs file operations on a blocking thread.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        match tokio::task::spawn_blocking(move || act(&store)).await {
            Ok(done) => done,
            Err(lost) => Err(StoreError::failed("working with", "files", lost)),
        }
    }
}

impl SendStore for FileStore {
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError> {
        let transcript = self.shared.files.session(session);
        // Reported now, not when the first line is lost.
        if is_filled(&transcript)? {
            return Err(StoreError::Exists(session));
        }
        self.lease(session, transcript, |_| Ok(()))
    }

    async fn open(&self, session: SessionId) -> Result<Lease, StoreError> {
        let begun = Instant::now();
        loop {
            let found = self
                .on_a_thread(move |store| store.shared.files.find(session))
                .await?;
            let transcript = found.ok_or(StoreError::Unknown(session))?;
            match self.lease(session, transcript, OpenSession::take) {
                Err(StoreError::Busy(_)) if begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(TRY_AGAIN).await;
                }
                leased => return leased,
            }
        }
    }

    fn release(&self, lease: &Lease) {
        let is_held = self.with(lease, |_| Ok(())).is_ok();
        if is_held {
            self.open_sessions().remove(&lease.session);
        }
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError> {
        // One write to an open file takes less time than a switch to another thread.
        self.with(lease, |open| open.append(batch))
    }

    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError> {
        let agent = agent.map(ToOwned::to_owned);
        self.on_a_thread(move |store| {
            let Some(transcript) = store.shared.files.find(session)? else {
                return Ok(None);
            };
            let path = path_of(&transcript, agent.as_deref());
            let Some(text) = content(&path)? else {
                return Ok(None);
            };
            let snapshot = snapshot::read(&path, text.len() as u64)?;
            Ok(Some(Stored { text, snapshot }))
        })
        .await
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        let path = self.written_document(lease, name)?;
        let document = document.to_vec();
        // This is synced to the disk.
        self.on_a_thread(move |_| open_session::put(&path, &document))
            .await
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.written_document(lease, name)?;
        open_session::extend(&path, bytes)
    }

    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if !is_document_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        let name = name.to_owned();
        self.on_a_thread(move |store| {
            let transcript = store.transcript(session)?;
            content(&store.shared.files.document(session, &transcript, &name))
        })
        .await
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        let all = self.on_a_thread(|store| store.shared.files.all()).await?;
        let listed = all.into_iter().map(|saved| StoredSession {
            id: saved.id,
            modified: unix_millis(saved.modified),
        });
        Ok(listed.collect())
    }

    async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        // Does not wait for another writer.
        let found = self
            .on_a_thread(move |store| store.shared.files.find(session))
            .await?;
        let transcript = found.ok_or(StoreError::Unknown(session))?;
        // A transcript that is to be deleted need not be repaired first.
        let lease = self.lease(session, transcript.clone(), OpenSession::hold)?;
        let removed =
            (self.on_a_thread(move |store| store.shared.files.remove(session, &transcript))).await;
        self.release(&lease);
        removed
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        let transcript = self.written_transcript(session);
        path_of(&transcript, agent).display().to_string()
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        let transcript = self.written_transcript(session);
        let path = self.shared.files.document(session, &transcript, name);
        path.display().to_string()
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(path) = self.settings_file(of) else {
            return Ok(None);
        };
        self.on_a_thread(move |_| {
            let read = read_settings(&path);
            read.map(|text| text.map(String::into_bytes))
                .map_err(|error| failed("reading", &path, error))
        })
        .await
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        let Some(path) = self.settings_file(of) else {
            return Err(StoreError::failed("writing", "settings", "it is no file"));
        };
        let (read, settings) = (read.map(ToOwned::to_owned), settings.to_vec());
        self.on_a_thread(move |store| {
            let replaced = match of {
                // These apply to this project only, so a link must not redirect them elsewhere.
                Destination::ProjectSettings | Destination::LocalSettings => {
                    let project = &store.shared.project;
                    replace_within(project, &path, read.as_deref(), &settings)
                }
                _ => replace_settings(&path, read.as_deref(), &settings),
            };
            match replaced.map_err(|error| failed("writing", &path, error))? {
                Replaced::Yes => Ok(()),
                Replaced::Changed => Err(StoreError::Changed(path.display().to_string())),
            }
        })
        .await
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        let path = self.settings_file(of);
        path.map(|path| path.display().to_string())
    }
}

fn unix_millis(time: SystemTime) -> UnixMillis {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    UnixMillis(since.map_or(0, |since| since.as_millis() as u64))
}
