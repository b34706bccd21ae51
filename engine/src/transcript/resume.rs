//! Resuming stored sessions.

mod unfinished;

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::{
    RawJson, SessionId, Uuid,
    context::interruption::{INTERRUPTED, INTERRUPTED_IN_CALLS},
    transcript::Transcript,
};

use super::{CostState, scribe::result_of};
use crate::store::{Leased, Store, StoreError};

/// The session to resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The session with this id.
    Session(String),
    /// The session that was most recently written to.
    Latest,
}

/// How much of a session is resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeOptions {
    /// Resume only up to this message, which may be any line of the transcript (Agent SDK reference, `resumeSessionAt`).
    pub at: Option<String>,
    /// The prompt whose turn is dropped: all lines after the message must belong to this turn (`resumeDropsTurn`).
    pub drops_turn: Option<String>,
}

/// A stored session.
#[derive(Debug, Clone)]
pub struct SavedSession {
    /// The session.
    pub id: SessionId,
    text: Vec<u8>,
    lines: Vec<LineHead>,
    /// The indices of lines, by id. If an id occurs twice, the last line is used.
    by_id: HashMap<Uuid, usize>,
    /// The index of the last line that is resumed; `None` for all.
    cut: Option<usize>,
    transcript: Transcript,
    /// The state of the session after the last line.
    snapshot: Option<Vec<u8>>,
}

/// The properties of a line that are needed without parsing it completely.
#[derive(Debug, Clone)]
pub(super) struct LineHead {
    pub(super) bytes: Range<usize>,
    pub(super) uuid: Uuid,
    pub(super) parent: Option<Uuid>,
    kind: Kind,
    is_aside: bool,
    /// The provider's id of the response.
    response: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A message of the user, or of a program in the user's place.
    Prompt,
    /// The result of a background task.
    News,
    Result,
    Response,
    /// An addition of the engine: a reminder, an attachment, a note.
    Other,
}

/// Why a session cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is no session with this id.
    #[error("No conversation found with session ID: {0}")]
    UnknownSession(String),
    /// There is no line with this id.
    #[error("No message found with message.uuid of: {0}")]
    UnknownMessage(String),
    /// More would be dropped than intended.
    #[error("Resume rejected by --resume-drops-turn: {0}")]
    DropsMore(String),
    /// The store failed, or another process writes to the session.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Which {
    async fn id(&self, store: &impl Store) -> Result<Option<SessionId>, ResumeError> {
        match self {
            Self::Session(text) => match Uuid::try_parse(text).ok() {
                Some(id) => Ok(Some(id)),
                None => Err(ResumeError::UnknownSession(text.clone())),
            },
            Self::Latest => Ok(store.list().await?.first().map(|listed| listed.id)),
        }
    }
}

impl SavedSession {
    /// Acquires the lease for a session and reads it, so that nothing can be added in between. `None` if the latest session
    /// is requested and there is none.
    ///
    /// # Errors
    /// [`ResumeError::UnknownSession`], also for a text that is not a session id; [`ResumeError::Store`].
    pub async fn take<S: Store + Clone>(
        store: &S,
        which: &Which,
    ) -> Result<Option<(Self, Leased<S>)>, ResumeError> {
        let Some(id) = which.id(store).await? else {
            return Ok(None);
        };
        let leased = match Leased::open(store.clone(), id).await {
            Err(StoreError::Unknown(id)) => {
                return Err(ResumeError::UnknownSession(id.to_string()));
            }
            leased => leased?,
        };
        Ok(Some((Self::load(store, id).await?, leased)))
    }

    /// Reads a session without a lease, to start another one from its conversation, or to display it.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub async fn find(store: &impl Store, which: &Which) -> Result<Option<Self>, ResumeError> {
        match which.id(store).await? {
            Some(id) => Ok(Some(Self::load(store, id).await?)),
            None => Ok(None),
        }
    }

    async fn load(store: &impl Store, id: SessionId) -> Result<Self, ResumeError> {
        let stored = store.load(id, None).await?;
        let stored = stored.ok_or_else(|| ResumeError::UnknownSession(id.to_string()))?;
        let snapshot = stored.snapshot.filter(|snapshot| snapshot.is_current);
        Ok(Self {
            snapshot: snapshot.map(|snapshot| snapshot.bytes),
            ..Self::read(id, stored.text)
        })
    }

    /// Parses the lines of a session. Invalid lines are skipped, whatever their size. The running time is linear in the size
    /// of the text.
    #[must_use]
    pub fn read(id: SessionId, text: Vec<u8>) -> Self {
        let lines = heads(&text);
        let by_id = lines.iter().enumerate().map(|(at, l)| (l.uuid, at));
        Self {
            id,
            by_id: by_id.collect(),
            transcript: Transcript::read(&text),
            lines,
            text,
            cut: None,
            snapshot: None,
        }
    }

    /// Limits the session to the part that is to be resumed. The stored data is not changed: the dropped lines become a
    /// branch without continuation.
    ///
    /// # Errors
    /// [`ResumeError::UnknownMessage`], [`ResumeError::DropsMore`].
    pub fn truncated(mut self, options: &ResumeOptions) -> Result<Self, ResumeError> {
        let Some(at) = &options.at else {
            return match &options.drops_turn {
                Some(_) => Err(ResumeError::DropsMore(
                    "it says what --resume-session-at leaves away, and that is not given".into(),
                )),
                None => Ok(self),
            };
        };
        let unknown = || ResumeError::UnknownMessage(at.clone());
        let uuid = Uuid::try_parse(at).ok().ok_or_else(unknown)?;
        let cut = *self.by_id.get(&uuid).ok_or_else(unknown)?;
        if let Some(prompt) = &options.drops_turn {
            self.drops_only(cut, prompt)
                .map_err(ResumeError::DropsMore)?;
        }
        let end = self.lines[cut].bytes.end;
        self.transcript = Transcript::read(&self.text[..end]);
        self.cut = Some(cut);
        self.snapshot = None;
        Ok(self)
    }

    /// The conversation, for the core.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The total cost, including parts that are not resumed.
    #[must_use]
    pub fn cost_state(&self) -> CostState {
        CostState::read(&self.text)
    }

    /// A number that no response and no agent of the session has exceeded, including parts that are not resumed: each of them has written a
    /// line of its own.
    #[must_use]
    pub fn taken_numbers(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// The last line of the conversation, which the next line will refer to.
    #[must_use]
    pub fn leaf(&self) -> Option<Uuid> {
        self.transcript.leaf()
    }

    /// The ids of all lines, including those that are not resumed.
    pub fn ids(&self) -> impl Iterator<Item = Uuid> {
        self.lines.iter().map(|line| line.uuid)
    }

    /// Whether a line has this id.
    #[must_use]
    pub fn contains(&self, uuid: Uuid) -> bool {
        self.by_id.contains_key(&uuid)
    }

    /// The lines of the resumed conversation, which a fork begins with.
    pub(super) fn conversation_lines(&self) -> impl Iterator<Item = (&LineHead, &[u8])> {
        let active = self.active();
        let joins = self.joining(&active);
        let end = self.cut.map_or(self.lines.len(), |cut| cut + 1);
        (0..end)
            .filter(move |at| active.contains(at) || joins.contains(at))
            .map(|at| &self.lines[at])
            .map(|line| (line, &self.text[line.bytes.clone()]))
    }

    /// The indices of the last line of the conversation and its ancestors.
    fn active(&self) -> HashSet<usize> {
        let mut active = HashSet::new();
        let mut next = self.leaf().and_then(|leaf| self.by_id.get(&leaf)).copied();
        // Lines that the engine added after the last message belong to the conversation as well.
        let end = self.cut.map_or(self.lines.len(), |cut| cut + 1);
        if let Some(cut) = self
            .cut
            .filter(|cut| Some(self.lines[*cut].uuid) != self.leaf())
        {
            next = Some(cut)
                .filter(|cut| *cut < end && !self.lines[*cut].is_aside)
                .or(next);
        }
        while let Some(at) = next.filter(|at| active.insert(*at)) {
            next = self.lines[at]
                .parent
                .and_then(|parent| self.by_id.get(&parent).copied());
        }
        active
    }

    /// The indices of lines that are not ancestors but belong to active lines: further blocks of a response, results of
    /// parallel calls, notes.
    fn joining(&self, active: &HashSet<usize>) -> HashSet<usize> {
        let mut joined = HashSet::new();
        for (at, line) in self.lines.iter().enumerate() {
            if active.contains(&at) || line.is_aside {
                continue;
            }
            let parent = line.parent.and_then(|parent| self.by_id.get(&parent));
            let hangs =
                parent.is_some_and(|parent| active.contains(parent) || joined.contains(parent));
            let belongs = match line.kind {
                Kind::Response => {
                    let above = parent.map(|parent| self.lines[*parent].response.as_ref());
                    hangs && line.response.is_some() && above == Some(line.response.as_ref())
                }
                Kind::Result | Kind::Other => hangs,
                Kind::Prompt | Kind::News => false,
            };
            if belongs {
                joined.insert(at);
            }
        }
        joined
    }

    /// Checks that all lines dropped after a line belong to the turn of a prompt; otherwise returns the reason.
    fn drops_only(&self, cut: usize, prompt: &str) -> Result<(), String> {
        let turn = Uuid::try_parse(prompt)
            .ok()
            .and_then(|uuid| self.by_id.get(&uuid).copied());
        let turn = turn.ok_or_else(|| format!("no message {prompt} is in the transcript"))?;
        if turn <= cut {
            return Err(format!("the prompt {prompt} is not behind that message"));
        }
        let active = self.active();
        let joins = self.joining(&active);
        let mut of_turn = HashSet::from([turn]);
        for at in cut + 1..self.lines.len() {
            let line = &self.lines[at];
            let is_live = active.contains(&at) || joins.contains(&at);
            if !is_live || line.is_aside || at == turn {
                continue;
            }
            let parent = line.parent.and_then(|parent| self.by_id.get(&parent));
            let follows = parent.is_some_and(|parent| of_turn.contains(parent));
            match line.kind {
                Kind::Prompt => {
                    return Err(format!("{} is another prompt", line.uuid));
                }
                Kind::News => {
                    return Err(format!("{} is news of a background task", line.uuid));
                }
                _ if !follows => {
                    return Err(format!("{} belongs to an earlier turn", line.uuid));
                }
                _ => {
                    of_turn.insert(at);
                }
            }
        }
        Ok(())
    }
}

/// The lines that are entries, in their order.
fn heads(text: &[u8]) -> Vec<LineHead> {
    let mut start = 0;
    let mut heads = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let bytes = start..start + line.len();
        start = bytes.end;
        heads.extend(read_head(line.trim_ascii(), bytes));
    }
    heads
}

fn read_head(line: &[u8], bytes: Range<usize>) -> Option<LineHead> {
    #[derive(Deserialize)]
    struct Form<'a> {
        r#type: String,
        uuid: String,
        #[serde(default, rename = "parentUuid")]
        parent: Option<String>,
        #[serde(default, rename = "logicalParentUuid")]
        logical_parent: Option<String>,
        #[serde(default, rename = "isSidechain")]
        is_sidechain: bool,
        #[serde(default, rename = "isMeta")]
        is_meta: bool,
        #[serde(default, rename = "isCompactSummary")]
        is_summary: bool,
        #[serde(default, rename = "teamName", borrow)]
        team: Option<&'a RawValue>,
        #[serde(default)]
        origin: Option<Origin>,
        #[serde(default, borrow)]
        message: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Origin {
        #[serde(default)]
        kind: String,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(default)]
        id: Option<String>,
        #[serde(default, borrow)]
        content: Option<&'a RawValue>,
    }
    let form: Form<'_> = serde_json::from_slice(line).ok()?;
    let message = form.message;
    let message: Option<Message<'_>> = message.and_then(|m| serde_json::from_str(m.get()).ok());
    let content = message.as_ref().and_then(|message| message.content);
    let blocks = || content.and_then(|c| serde_json::from_str::<Vec<RawJson>>(c.get()).ok());
    let has_result = || {
        blocks()
            .iter()
            .flatten()
            .any(|block| result_of(block).is_some())
    };
    let is_interruption = || content.is_some_and(|content| says_interrupted(content.get()));
    let is_news = form.origin.is_some_and(|o| o.kind == "task-notification");
    let kind = match form.r#type.as_str() {
        "assistant" => Kind::Response,
        "user" if is_news => Kind::News,
        "user" if has_result() => Kind::Result,
        "user" if form.is_meta || form.is_summary || is_interruption() => Kind::Other,
        "user" => Kind::Prompt,
        _ => Kind::Other,
    };
    let parent = form.parent.or(form.logical_parent);
    Some(LineHead {
        bytes,
        uuid: Uuid::try_parse(&form.uuid).ok()?,
        parent: parent.as_deref().and_then(|id| Uuid::try_parse(id).ok()),
        kind,
        is_aside: form.is_sidechain || form.team.is_some(),
        response: message.and_then(|message| message.id),
    })
}

/// Whether a message only says that the user interrupted the answer.
fn says_interrupted(content: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Content {
        Text(String),
        Blocks([Block; 1]),
    }
    #[derive(Deserialize)]
    struct Block {
        text: String,
    }
    let text = match serde_json::from_str(content) {
        Ok(Content::Text(text) | Content::Blocks([Block { text }])) => text,
        Err(_) => return false,
    };
    [INTERRUPTED, INTERRUPTED_IN_CALLS].contains(&text.trim_end())
}
