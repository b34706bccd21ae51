//! The transcript of a session that runs.

use std::path::Path;

use tokio::sync::Mutex;
use windlass_core::{
    Message, SessionId,
    effect::Entry,
    message::{SystemMessage, TaskStarted},
};
use windlass_engine::{
    protocol::PROTOCOL_VERSION,
    store::{AgentMeta, Appended, Leased, SessionWriter, StoreError},
    transcript::{CostState, Facts, SavedSession, Scribe},
};

use super::{SharedStore, git_branch};

/// How the transcript of a session begins.
pub(crate) enum Beginning<'a> {
    /// With its first prompt.
    New,
    /// It goes on where another run of it has ended, under the lease under which it was read.
    Resumed(&'a SavedSession, Leased<SharedStore>),
    /// With what was said in another session.
    Fork(&'a SavedSession),
}

/// Writes what is to be kept of a session, in the order in which it is told.
pub(crate) struct SessionTranscript {
    writer: Mutex<SessionWriter<SharedStore>>,
    /// What was spent by the end of the last turn.
    books: Mutex<CostState>,
}

impl SessionTranscript {
    /// Takes the right to write to a session that begins.
    ///
    /// # Errors
    /// [`StoreError`], above all [`StoreError::Busy`].
    pub(crate) async fn begin(
        store: SharedStore,
        id: SessionId,
        cwd: &Path,
        entrypoint: &str,
        beginning: Beginning<'_>,
    ) -> Result<Self, StoreError> {
        let scribe = Scribe::new(Facts {
            session_id: id,
            cwd: cwd.display().to_string(),
            version: PROTOCOL_VERSION.to_owned(),
            git_branch: git_branch(cwd),
            entrypoint: entrypoint.to_owned(),
        });
        let (writer, books) = match beginning {
            Beginning::New => {
                let leased = Leased::create(store, id).await?;
                (SessionWriter::new(leased, scribe), CostState::default())
            }
            Beginning::Resumed(saved, leased) => {
                let scribe = scribe.going_on(saved.ids(), saved.leaf());
                (SessionWriter::new(leased, scribe), saved.cost_state())
            }
            Beginning::Fork(saved) => {
                let scribe = scribe.going_on(saved.ids(), saved.leaf());
                let leased = Leased::create(store, id).await?;
                let writer = SessionWriter::new(leased, scribe).beginning_with(saved.forked(id));
                (writer, saved.cost_state())
            }
        };
        Ok(Self {
            writer: Mutex::new(writer),
            books: Mutex::new(books),
        })
    }

    /// Appends entries; returns when they are safe.
    ///
    /// # Errors
    /// [`StoreError`]; they come with the next ones then.
    pub(crate) async fn persist(&self, entries: &[Entry]) -> Result<Vec<Appended>, StoreError> {
        self.writer.lock().await.persist(entries).await
    }

    /// Notes what a message says of the session: that a turn has ended and what was spent, that an agent begins.
    pub(crate) async fn note(&self, message: &Message) {
        match message {
            Message::Result(result) => {
                let mut books = self.books.lock().await;
                let before = std::mem::take(&mut *books);
                *books = before.after(result);
                let spent = Some(&*books).filter(|after| after.spent != before.spent);
                self.turn_ended(spent).await;
            }
            Message::System(SystemMessage::TaskStarted(task)) => {
                self.agent_begins(task).await;
            }
            _ => {}
        }
    }

    /// Notes the end of a turn, for listings, and where something was spent the sum, for who goes on. What cannot be noted is
    /// missed by listings only.
    pub(crate) async fn turn_ended(&self, spent: Option<&CostState>) -> Vec<Appended> {
        let mut writer = self.writer.lock().await;
        writer.note_turn_end(spent).await.unwrap_or_default()
    }

    /// Notes what kind of agent begins, for what call, beside its transcript. The conversation is whole without.
    pub(crate) async fn agent_begins(&self, task: &TaskStarted) -> Option<Appended> {
        let kind = task.subagent_type.as_ref()?; // else it is no agent
        let meta = AgentMeta {
            agent_type: kind.clone(),
            description: task.description.clone(),
            tool_use_id: task.tool_use_id.clone(),
            parent_agent_id: None,
        };
        let writer = self.writer.lock().await;
        writer.describe_agent(&task.task_id, &meta).await.ok()
    }
}
