//! The transcript of the session, and its mirror on the wire.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use windlass_core::{RawJson, SessionId, Uuid, effect::Entry, message::TaskStarted};
use windlass_engine::{
    protocol::fit::LONGEST_FRAME,
    store::{Appended, Leased, StoreError},
    transcript::{CostState, ResumeError, ResumeOptions, SavedSession, Which},
};

use super::{launch::Launch, output::Output};
use crate::{
    agent::fresh_uuid,
    store::{Beginning, SessionTranscript, SharedStore},
};

/// Room for what stands around the entries of a mirror frame.
const MIRROR_ROOM: usize = LONGEST_FRAME - 4096;

/// Writes what is to be kept of a session.
pub(super) struct Keeper {
    transcript: SessionTranscript,
    output: Arc<Output>,
    /// Whether what is written is shown too (`--session-mirror`).
    mirrors: bool,
}

/// A session that is taken up.
pub(super) struct TakenUp {
    pub(super) saved: SavedSession,
    /// Under another id, in another transcript.
    pub(super) is_fork: bool,
    /// The right to write to it, until its transcript is gone on with.
    lease: Option<Leased<SharedStore>>,
}

/// The session that the flags name: its id, and what was said in it.
pub(super) async fn taken_up(
    launch: &Launch,
    store: &SharedStore,
) -> Result<Option<TakenUp>, ResumeError> {
    let flags = &launch.flags;
    let which = match (&flags.resume, flags.continue_session) {
        (Some(id), _) => Which::Session(id.clone()),
        (None, true) => Which::Latest,
        (None, false) => return Ok(None),
    };
    let (saved, lease) = match flags.fork_session || flags.no_session_persistence {
        true => (SavedSession::find(store, &which).await?, None),
        false => (SavedSession::take(store, &which).await?).unzip(),
    };
    let options = ResumeOptions {
        at: flags.resume_session_at.clone().filter(|at| !at.is_empty()),
        drops_turn: flags.resume_drops_turn.clone(),
    };
    let saved = saved.map(|saved| saved.truncated(&options)).transpose()?;
    Ok(saved.map(|saved| TakenUp {
        saved,
        is_fork: flags.fork_session,
        lease,
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
    ///
    /// # Errors
    /// [`StoreError`], above all when somebody else writes to it.
    pub(super) async fn new(
        launch: &Launch,
        store: SharedStore,
        id: SessionId,
        taken_up: Option<&mut TakenUp>,
        output: Arc<Output>,
    ) -> Result<Self, StoreError> {
        let beginning = match taken_up {
            None => Beginning::New,
            Some(TakenUp { saved, lease, .. }) => match lease.take() {
                Some(lease) => Beginning::Resumed(saved, lease),
                None => Beginning::Fork(saved),
            },
        };
        let (cwd, by) = (launch.directory(), &launch.entrypoint);
        Ok(Self {
            transcript: SessionTranscript::begin(store, id, &cwd, by, beginning).await?,
            output,
            mirrors: launch.flags.session_mirror,
        })
    }

    /// Whether a prompt of this id was heard in the session before.
    pub(super) async fn knows(&self, uuid: Uuid) -> bool {
        self.transcript.knows(uuid).await
    }

    /// Appends entries; returns when they are safe and, where that was asked for, shown.
    pub(super) async fn persist(&self, entries: &[Entry]) -> Result<(), String> {
        let appended = self.transcript.persist(entries).await;
        self.show(appended.map_err(|error| error.to_string())?)
            .await;
        Ok(())
    }

    /// Notes the end of a turn, for listings, and where something was spent the sum, for who goes on.
    pub(super) async fn turn_ended(&self, spent: Option<&CostState>) {
        let appended = self.transcript.turn_ended(spent).await;
        self.show(appended).await;
    }

    /// Notes what kind of agent begins, for what call, beside its transcript.
    pub(super) async fn agent_begins(&self, task: &TaskStarted) {
        let described = self.transcript.agent_begins(task).await;
        self.show(described.into_iter().collect()).await;
    }

    /// Appends a line of another kind.
    pub(super) async fn line(&self, line: &Value) -> Result<(), String> {
        let line = RawJson::encode(line).map_err(|error| error.to_string())?;
        self.raw_line(line).await
    }

    /// The same for a line that is one already.
    pub(super) async fn raw_line(&self, line: RawJson) -> Result<(), String> {
        let appended = self.transcript.append_line(line).await;
        self.show(appended.map_err(|error| error.to_string())?)
            .await;
        Ok(())
    }

    async fn show(&self, appended: Vec<Appended>) {
        for appended in appended.iter().filter(|_| self.mirrors) {
            for frame in mirror_frames(appended) {
                // An entry that is too long by itself is shown with its long texts cut: a longer line would end the SDK. The
                // transcript has all of it.
                self.output.frame(&frame).await;
            }
        }
    }
}

/// Lines as frames, none of them longer than an SDK reads: several where one would be.
fn mirror_frames(appended: &Appended) -> Vec<impl Serialize> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Mirror<'a> {
        r#type: &'static str,
        file_path: &'a str,
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
            file_path: &appended.place,
            entries,
        });
    }
    frames
}
