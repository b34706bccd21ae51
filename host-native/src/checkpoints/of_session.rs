//! Saves files before they are changed, as a session's engine requests, and restores them.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};
use tokio::runtime::Handle;
use windlass_core::{SessionId, Uuid};
use windlass_engine::{
    machine::{Checkpoint, Checkpointed},
    store::Lease,
};

use super::{CheckpointError, Documents, FileCheckpoints, Rewind, RewindError};
use crate::{files::resolve, store::SharedStore};

/// The checkpoints of the running session. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionCheckpoints {
    /// `None`: the session is not stored, and its checkpoints last as long as it runs.
    store: Option<SharedStore>,
    cwd: Arc<Path>,
    /// `None` before they are opened.
    files: Arc<Mutex<Option<FileCheckpoints>>>,
}

/// Why files were not rewound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindFilesError {
    /// The agent does not save checkpoints.
    #[error("no file checkpoints are kept: build the agent with `file_checkpoints(true)`")]
    NotKept,
    /// The checkpoints cannot be used: no session has started yet, or one of their documents cannot be read.
    #[error("{0}")]
    Unusable(String),
    /// The rewind to this message failed.
    #[error(transparent)]
    Rewind(#[from] RewindError),
}

impl SessionCheckpoints {
    /// With this store, for sessions in this directory.
    pub(crate) fn new(store: Option<SharedStore>, cwd: impl Into<Arc<Path>>) -> Self {
        Self {
            store,
            cwd: cwd.into(),
            files: Arc::default(),
        }
    }

    /// Performs the engine's request.
    pub(crate) async fn perform(&self, asked: Checkpoint) -> Result<Checkpointed, String> {
        let cwd = Arc::clone(&self.cwd);
        match asked {
            Checkpoint::Open {
                session,
                lease,
                begins_with,
            } => {
                self.open(session, lease, begins_with).await?;
                Ok(Checkpointed::Line(None))
            }
            Checkpoint::Begin { prompt, at } => {
                let begin = move |files: &mut FileCheckpoints| {
                    files.begin(prompt)?;
                    files.snapshot_line(&cwd, &at.to_rfc3339(), false)
                };
                self.with(begin).await.map(Checkpointed::Line)
            }
            Checkpoint::Before {
                cwd: of_call,
                paths,
                at,
            } => {
                // A path that cannot be resolved cannot be changed either.
                let real = paths.iter().filter_map(|path| resolve(&of_call, path).ok());
                let real: Vec<PathBuf> = real.map(PathBuf::from).collect();
                let keep = move |files: &mut FileCheckpoints| {
                    let mut is_new = false;
                    for path in &real {
                        is_new |= files.before_change(path)?;
                    }
                    match is_new {
                        true => files.snapshot_line(&cwd, &at.to_rfc3339(), true),
                        false => Ok(None),
                    }
                };
                self.with(keep).await.map(Checkpointed::Line)
            }
            Checkpoint::Rewind { message, dry_run } => {
                let unknown = || "No file checkpoint found for this message.".to_owned();
                let message = Uuid::try_parse(&message).ok().ok_or_else(unknown)?;
                let rewound = self.rewind(message, dry_run).await;
                let rewound = rewound.map_err(|error| error.to_string())?;
                Ok(Checkpointed::Rewound(told(&rewound, dry_run)))
            }
            _ => Err("this host keeps no such checkpoint".to_owned()),
        }
    }

    /// Restores the files to their contents at a prompt, or reports what that would change. Once started, it
    /// completes even if the future is dropped.
    pub(crate) async fn rewind(
        &self,
        message: Uuid,
        dry_run: bool,
    ) -> Result<Rewind, RewindFilesError> {
        let rewind = move |files: &mut FileCheckpoints| {
            Ok(match dry_run {
                true => files.preview(message),
                false => files.rewind(message),
            })
        };
        let rewound = self.with(rewind).await;
        Ok(rewound.map_err(RewindFilesError::Unusable)??)
    }

    async fn open(
        &self,
        session: SessionId,
        lease: Option<Lease>,
        begins_with: Option<SessionId>,
    ) -> Result<(), String> {
        let (store, runtime) = (self.store.clone(), Handle::current());
        let opening = move || {
            let documents = match (&store, lease) {
                (Some(store), Some(lease)) => Documents::new(runtime.clone(), store.clone(), lease),
                _ => Documents::in_memory(runtime.clone(), session)
                    .map_err(|error| CheckpointError::of_store(session, error))?,
            };
            match (store, begins_with) {
                (Some(store), Some(from)) => {
                    let from = Documents::of(runtime, store, from);
                    FileCheckpoints::beginning_with(&from, documents)
                }
                _ => FileCheckpoints::open(documents),
            }
        };
        self.blocking(move |files| {
            *files = Some(opening().map_err(|error| error.to_string())?);
            Ok(())
        })
        .await
    }

    async fn with<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut FileCheckpoints) -> Result<T, CheckpointError> + Send + 'static,
    ) -> Result<T, String> {
        self.blocking(move |files| {
            let files = files.as_mut().ok_or("the checkpoints are not open")?;
            act(files).map_err(|error| error.to_string())
        })
        .await
    }

    /// File I/O must not run on the driver's task.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Option<FileCheckpoints>) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let files = Arc::clone(&self.files);
        // After a panic, the index is still valid.
        let acting = move || act(&mut files.lock().unwrap_or_else(PoisonError::into_inner));
        match tokio::task::spawn_blocking(acting).await {
            Ok(done) => done,
            Err(lost) => Err(format!("the checkpoint was not made: {lost}")),
        }
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
