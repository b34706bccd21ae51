//! The transcript on disk, and its mirror on the wire.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;
use serde_json::Value;
use windlass_core::{RawJson, SessionId, effect::Entry, message::TaskStarted};
use windlass_engine::{
    protocol::{PROTOCOL_VERSION, fit::LONGEST_FRAME},
    transcript::{
        AgentMeta, Appended, CostState, Facts, ResumeError, ResumeOptions, SavedSession, Scribe,
        SessionFiles, TranscriptError, TranscriptWriter,
    },
};

use super::{launch::Launch, output::Output};
use crate::agent::fresh_uuid;

/// Room for what stands around the entries of a mirror frame.
const MIRROR_ROOM: usize = LONGEST_FRAME - 4096;

/// Writes what is to be kept of a session.
pub(super) struct Keeper {
    writer: Mutex<TranscriptWriter>,
    output: Arc<Output>,
    /// Whether what is written is shown too (`--session-mirror`).
    mirrors: bool,
}

/// A session that is taken up.
pub(super) struct TakenUp {
    pub(super) saved: SavedSession,
    /// Under another id, in another file.
    pub(super) is_fork: bool,
}

/// The session that the flags name: its id, and what was said in it.
pub(super) fn taken_up(
    launch: &Launch,
    files: &SessionFiles,
) -> Result<Option<TakenUp>, ResumeError> {
    let flags = &launch.flags;
    let saved = match (&flags.resume, flags.continue_session) {
        (Some(id), _) => Some(SavedSession::find(files, id)?),
        (None, true) => match files.newest()? {
            Some(newest) => Some(SavedSession::load(newest.id, newest.path)?),
            None => None,
        },
        (None, false) => None,
    };
    let options = ResumeOptions {
        at: flags.resume_session_at.clone().filter(|at| !at.is_empty()),
        drops_turn: flags.resume_drops_turn.clone(),
    };
    let saved = saved.map(|saved| saved.truncated(&options)).transpose()?;
    Ok(saved.map(|saved| TakenUp {
        saved,
        is_fork: flags.fork_session,
    }))
}

impl TakenUp {
    /// The id under which it goes on. `given` is that of `--session-id`, which a fork may have.
    pub(super) fn id(&self, given: Option<SessionId>) -> SessionId {
        match self.is_fork {
            true => given.unwrap_or_else(fresh_uuid),
            false => self.saved.id,
        }
    }
}

impl Keeper {
    /// Keeps a session, one that begins or one that is taken up.
    pub(super) fn new(
        launch: &Launch,
        cwd: &str,
        id: SessionId,
        taken_up: Option<&TakenUp>,
        output: Arc<Output>,
    ) -> Self {
        let facts = Facts {
            session_id: id,
            cwd: cwd.to_owned(),
            version: PROTOCOL_VERSION.to_owned(),
            git_branch: branch(Path::new(cwd)),
            entrypoint: launch.entrypoint.clone(),
        };
        let files = SessionFiles::of(&launch.config, Path::new(cwd));
        let scribe = Scribe::new(facts);
        let writer = match taken_up {
            None => TranscriptWriter::new(files, scribe),
            Some(TakenUp {
                saved,
                is_fork: false,
            }) => {
                let scribe = scribe.going_on(saved.ids(), saved.leaf());
                TranscriptWriter::new(files, scribe).going_on(saved.path.clone())
            }
            Some(TakenUp { saved, .. }) => {
                let scribe = scribe.going_on(saved.ids(), saved.leaf());
                TranscriptWriter::new(files, scribe).beginning_with(saved.forked(id))
            }
        };
        Self {
            writer: Mutex::new(writer),
            output,
            mirrors: launch.flags.session_mirror,
        }
    }

    /// Whether a prompt of this id was heard in the session before.
    pub(super) fn knows(&self, uuid: windlass_core::Uuid) -> bool {
        self.with(|writer| writer.scribe().knows(uuid))
    }

    fn with<T>(&self, act: impl FnOnce(&mut TranscriptWriter) -> T) -> T {
        // A panic in the middle leaves a writer that knows what it has not written.
        act(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Appends entries; returns when they are safe and, where that was asked for, shown.
    pub(super) async fn persist(&self, entries: &[Entry]) -> Result<(), String> {
        // One write to a file that is open: shorter than handing it to another thread.
        let appended = self.with(|writer| writer.persist(entries));
        self.show(appended).await
    }

    /// Notes the end of a turn, for listings, and where something was spent the sum, for who goes on.
    pub(super) async fn turn_ended(&self, spent: Option<&CostState>) {
        let appended = self.with(TranscriptWriter::note_last_prompt);
        // Listings do without; what the conversation needs is written.
        let _ = self.show(appended).await;
        if let Some(spent) = spent {
            let appended = self.with(|writer| writer.note_cost(spent));
            let _ = self.show(appended).await;
        }
    }

    /// Notes what kind of agent begins, for what call, beside its transcript.
    pub(super) async fn agent_begins(&self, task: &TaskStarted) {
        let Some(kind) = &task.subagent_type else {
            return; // it is no agent
        };
        let meta = AgentMeta {
            agent_type: kind.clone(),
            description: task.description.clone(),
            tool_use_id: task.tool_use_id.clone(),
            parent_agent_id: None,
        };
        let described = self.with(|writer| writer.describe_agent(&task.task_id, &meta));
        // The conversation is whole without.
        let _ = self.show(described.map(|one| vec![one])).await;
    }

    /// Appends a line of another kind.
    pub(super) async fn line(&self, line: &Value) -> Result<(), String> {
        let line = RawJson::encode(line).map_err(|error| error.to_string())?;
        self.raw_line(line).await
    }

    /// The same for a line that is one already.
    pub(super) async fn raw_line(&self, line: RawJson) -> Result<(), String> {
        let appended = self.with(|writer| writer.append_line(line));
        self.show(appended).await
    }

    async fn show(&self, appended: Result<Vec<Appended>, TranscriptError>) -> Result<(), String> {
        for appended in appended.map_err(|error| error.to_string())? {
            if self.mirrors {
                for frame in mirror_frames(&appended) {
                    // An entry that is too long by itself is shown with its long texts cut: a longer line would end the
                    // SDK. The file has all of it.
                    self.output.frame(&frame).await;
                }
            }
        }
        Ok(())
    }
}

/// Lines as frames, none of them longer than an SDK reads: several where one would be.
fn mirror_frames(appended: &Appended) -> Vec<impl Serialize> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Mirror<'a> {
        r#type: &'static str,
        file_path: String,
        entries: &'a [RawJson],
    }
    let mut frames = Vec::new();
    let mut rest = appended.entries.as_slice();
    while !rest.is_empty() {
        let mut length = 0;
        let fits = rest.iter().take_while(|entry| {
            length += entry.get().len() + 1;
            length <= MIRROR_ROOM
        });
        // An entry that is too long by itself goes by itself.
        let (entries, behind) = rest.split_at(fits.count().max(1));
        rest = behind;
        frames.push(Mirror {
            r#type: "transcript_mirror",
            file_path: appended.path.display().to_string(),
            entries,
        });
    }
    frames
}

/// The branch that is checked out around a directory; `HEAD` for none, nothing outside of a repository.
fn branch(cwd: &Path) -> Option<String> {
    let git = cwd
        .ancestors()
        .map(|dir| dir.join(".git"))
        .find(|git| git.exists())?;
    let head = match git.is_dir() {
        true => git.join("HEAD"),
        // A worktree names the folder where its own files are.
        false => {
            let text = std::fs::read_to_string(&git).ok()?;
            cwd.join(text.strip_prefix("gitdir:")?.trim()).join("HEAD")
        }
    };
    let head = std::fs::read_to_string(head).ok()?;
    let branch = head
        .trim()
        .strip_prefix("ref: refs/heads/")
        .unwrap_or("HEAD");
    Some(branch.to_owned())
}
