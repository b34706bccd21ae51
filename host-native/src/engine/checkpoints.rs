//! Files before they are changed: kept while a session runs, put back when the SDK asks for it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};
use windlass_core::{
    RawJson, SessionId, UnixMillis, Uuid,
    tool::{Access, ToolCall, ToolDefinition},
};
use windlass_engine::protocol::reply::{Reply, ReplyError};

use super::{
    keeping::{Keeper, TakenUp},
    launch::Launch,
};
use crate::{
    checkpoints::{CheckpointError, FileCheckpoints, Rewind},
    files::resolve,
};

/// The checkpoints of the session, for whoever changes files and whoever wants them back. Cloning is cheap.
#[derive(Clone)]
pub(super) struct Checkpoints {
    files: Arc<Mutex<FileCheckpoints>>,
    cwd: Arc<Path>,
    /// Who notes them in the transcript, where one is kept.
    keeper: Option<Arc<Keeper>>,
}

/// Which fields of which tools name files that a call changes.
pub(super) type ChangedFields = BTreeMap<String, Vec<String>>;

/// Those of these tools.
pub(super) fn changed_fields(tools: &[ToolDefinition]) -> ChangedFields {
    let changing = tools.iter().filter(|tool| tool.edits_files());
    changing
        .map(|tool| {
            let written = tool
                .paths
                .iter()
                .filter(|path| path.access == Access::Write);
            let fields = written.map(|path| path.field.clone()).collect();
            (tool.name.clone(), fields)
        })
        .collect()
}

impl Checkpoints {
    /// Those of a session, one that begins or one that is taken up.
    pub(super) fn open(
        launch: &Launch,
        id: SessionId,
        taken_up: Option<&TakenUp>,
        keeper: Option<Arc<Keeper>>,
    ) -> Result<Self, CheckpointError> {
        let folder = launch.config.file_history(id);
        let files = match taken_up.filter(|taken_up| taken_up.is_fork) {
            Some(fork) => {
                let from = launch.config.file_history(fork.saved.id);
                FileCheckpoints::forked(&from, folder)?
            }
            None => FileCheckpoints::open(folder)?,
        };
        Ok(Self {
            files: Arc::new(Mutex::new(files)),
            cwd: launch.directory().into(),
            keeper,
        })
    }

    /// A prompt begins to be answered: there is a place to go back to now.
    pub(super) async fn begin(&self, message: Uuid, at: UnixMillis) -> Result<(), String> {
        let cwd = Arc::clone(&self.cwd);
        let line = self
            .with(move |files| {
                files.begin(message)?;
                files.snapshot_line(&cwd, &at.to_rfc3339(), false)
            })
            .await?;
        self.note(line).await
    }

    /// Keeps what a call is about to change, which are the files that these fields of its input name.
    pub(super) async fn before_call(
        &self,
        call: &ToolCall,
        fields: &[String],
        at: UnixMillis,
    ) -> Result<(), String> {
        let paths = changed_paths(call, fields);
        let cwd = Arc::clone(&self.cwd);
        let line = self
            .with(move |files| {
                let mut is_new = false;
                for path in &paths {
                    is_new |= files.before_change(path)?;
                }
                match is_new {
                    true => files.snapshot_line(&cwd, &at.to_rfc3339(), true),
                    false => Ok(None),
                }
            })
            .await?;
        self.note(line).await
    }

    /// Takes the files back to what they were when a prompt came, or says what that would change.
    pub(super) async fn rewind(&self, message: &str, dry_run: bool) -> Reply {
        let unknown = || "No file checkpoint found for this message.".to_owned();
        let rewound = match Uuid::parse(message) {
            None => Err(unknown()),
            Some(message) => self
                .with(move |files| {
                    Ok(match dry_run {
                        true => files.preview(message),
                        false => files.rewind(message),
                    })
                })
                .await
                .and_then(|rewound| rewound.map_err(|error| error.to_string())),
        };
        match rewound {
            Ok(rewind) => Reply::with(told(&rewind, dry_run)),
            Err(reason) => refused(&reason, dry_run),
        }
    }

    /// Reading and writing files is nothing for the driver's task.
    async fn with<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut FileCheckpoints) -> Result<T, CheckpointError> + Send + 'static,
    ) -> Result<T, String> {
        let files = Arc::clone(&self.files);
        // What a panic leaves is what the index on the disk says.
        let acting = move || act(&mut files.lock().unwrap_or_else(PoisonError::into_inner));
        match tokio::task::spawn_blocking(acting).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(lost) => Err(format!("the checkpoint was not made: {lost}")),
        }
    }

    async fn note(&self, line: Option<RawJson>) -> Result<(), String> {
        match (&self.keeper, line) {
            (Some(keeper), Some(line)) => keeper.raw_line(line).await,
            _ => Ok(()),
        }
    }
}

/// Nothing is kept, so nothing can be taken back.
pub(super) fn not_enabled(dry_run: bool) -> Reply {
    refused("File rewinding is not enabled.", dry_run)
}

/// A question is answered, also with no; what was to be done and was not is an error.
fn refused(reason: &str, dry_run: bool) -> Reply {
    match dry_run {
        true => Reply::with(json!({"canRewind": false, "error": reason})),
        false => ReplyError::new(reason).into(),
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

/// The real paths of what a call changes. What cannot be resolved cannot be changed either.
fn changed_paths(call: &ToolCall, fields: &[String]) -> Vec<PathBuf> {
    let input: Value = call.input.decode().unwrap_or_default();
    let named = fields.iter().filter_map(|field| input[field].as_str());
    named
        .filter_map(|path| resolve(&call.grant.cwd, path).ok())
        .map(PathBuf::from)
        .collect()
}
