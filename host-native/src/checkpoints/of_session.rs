//! Files before they are changed: kept while a session runs, as its engine asks for it, and put back.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};
use windlass_core::{RawJson, SessionId, UnixMillis, Uuid};
use windlass_engine::{
    machine::{Checkpoint, Checkpointed},
    store::Lease,
};

use super::{CheckpointError, Documents, FileCheckpoints, Rewind, RewindError};
use crate::{files::resolve, store::SharedStore};

/// The checkpoints of the session that runs. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionCheckpoints {
    /// None: nothing is kept of the session, and its checkpoints last as long as it runs.
    store: Option<SharedStore>,
    cwd: Arc<Path>,
    /// None before they are opened.
    files: Arc<Mutex<Option<FileCheckpoints>>>,
}

/// Why files were not taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindFilesError {
    /// The agent keeps no checkpoints.
    #[error("no file checkpoints are kept: build the agent with `file_checkpoints(true)`")]
    NotKept,
    /// The checkpoints cannot be used: no session has begun yet, or a file of theirs cannot be read.
    #[error("{0}")]
    Unusable(String),
    /// There is no way back to this message.
    #[error(transparent)]
    Rewind(#[from] RewindError),
}

impl SessionCheckpoints {
    /// In this store, for sessions that work in this directory.
    pub(crate) fn new(store: Option<SharedStore>, cwd: impl Into<Arc<Path>>) -> Self {
        Self {
            store,
            cwd: cwd.into(),
            files: Arc::default(),
        }
    }

    /// Does what the engine asks for.
    pub(crate) async fn perform(&self, asked: Checkpoint) -> Result<Checkpointed, String> {
        let said = |error: CheckpointError| error.to_string();
        match asked {
            Checkpoint::Open {
                session,
                lease,
                forked_from,
            } => {
                let opened = self.opened(session, lease, forked_from).await;
                *self.files.lock().await = Some(opened.map_err(said)?);
                Ok(Checkpointed::Line(None))
            }
            Checkpoint::Begin { prompt, at } => {
                let line = self.begun(&mut *self.open().await?, prompt, at).await;
                line.map(Checkpointed::Line).map_err(said)
            }
            Checkpoint::Before {
                cwd: of_call,
                paths,
                at,
            } => {
                // What cannot be resolved cannot be changed either.
                let real = paths.iter().filter_map(|path| resolve(&of_call, path).ok());
                let real: Vec<PathBuf> = real.map(PathBuf::from).collect();
                let line = self.kept(&mut *self.open().await?, &real, at).await;
                line.map(Checkpointed::Line).map_err(said)
            }
            Checkpoint::Rewind { message, dry_run } => {
                let unknown = || "No file checkpoint found for this message.".to_owned();
                let message = Uuid::parse(&message).ok_or_else(unknown)?;
                let rewound = self.rewind(message, dry_run).await;
                let rewound = rewound.map_err(|error| error.to_string())?;
                Ok(Checkpointed::Rewound(told(&rewound, dry_run)))
            }
            _ => Err("this host keeps no such checkpoint".to_owned()),
        }
    }

    /// Takes the files back to what they were when a prompt came, or says what that would change.
    pub(crate) async fn rewind(
        &self,
        message: Uuid,
        dry_run: bool,
    ) -> Result<Rewind, RewindFilesError> {
        let files = self.open().await.map_err(RewindFilesError::Unusable)?;
        Ok(match dry_run {
            true => files.preview(message).await?,
            false => files.rewind(message).await?,
        })
    }

    async fn opened(
        &self,
        session: SessionId,
        lease: Option<Lease>,
        forked_from: Option<SessionId>,
    ) -> Result<FileCheckpoints, CheckpointError> {
        let documents = match (&self.store, lease) {
            (Some(store), Some(lease)) => Documents::new(store.clone(), lease),
            _ => Documents::in_memory(session).await?,
        };
        match (&self.store, forked_from) {
            (Some(store), Some(from)) => {
                let from = Documents::of(store.clone(), from);
                FileCheckpoints::forked(&from, documents).await
            }
            _ => FileCheckpoints::open(documents).await,
        }
    }

    async fn begun(
        &self,
        files: &mut FileCheckpoints,
        prompt: Uuid,
        at: UnixMillis,
    ) -> Result<Option<RawJson>, CheckpointError> {
        files.begin(prompt).await?;
        (files.snapshot_line(&self.cwd, &at.to_rfc3339(), false)).await
    }

    async fn kept(
        &self,
        files: &mut FileCheckpoints,
        paths: &[PathBuf],
        at: UnixMillis,
    ) -> Result<Option<RawJson>, CheckpointError> {
        let mut is_new = false;
        for path in paths {
            is_new |= files.before_change(path).await?;
        }
        match is_new {
            true => (files.snapshot_line(&self.cwd, &at.to_rfc3339(), true)).await,
            false => Ok(None),
        }
    }

    async fn open(&self) -> Result<MappedMutexGuard<'_, FileCheckpoints>, String> {
        MutexGuard::try_map(self.files.lock().await, Option::as_mut)
            .map_err(|_| "the checkpoints are not open".to_owned())
    }
}

fn told(rewind: &Rewind, dry_run: bool) -> Value {
    match dry_run {
        true => json!({
            "canRewind": true, "filesChanged": rewind.files_changed,
            "insertions": rewind.insertions, "deletions": rewind.deletions,
        }),
        false => json!({"canRewind": true, "skippedLinks": rewind.skipped_links}),
    }
}
