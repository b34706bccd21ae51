//! Lines to files, only ever by appending whole ones.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;
use windlass_core::{RawJson, effect::Entry, json::RawObject};

use super::{
    Appended, CostState, Scribe, ScribeLine, SessionFiles, TranscriptError, scribe::encoded,
};
use crate::{
    LineFile,
    atomic::{self, Readers},
};

/// Writes the transcript of a session and those of its subagents.
///
/// Files and folders are created with the first line; they are for their owner's eyes only. Other programs may append to the
/// same file (the SDKs' functions add titles and tags): nothing of theirs is overwritten.
#[derive(Debug)]
pub struct TranscriptWriter {
    session: PathBuf,
    files: SessionFiles,
    scribe: Scribe,
    open: BTreeMap<Option<String>, OpenFile>,
    /// What could not be written when it was time: it comes first with the next lines.
    unwritten: Vec<ScribeLine>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    lines: LineFile,
}

/// What is said of a subagent beside its transcript; readers find the call that started it here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMeta {
    /// The kind of agent.
    pub agent_type: String,
    /// What it was started for.
    pub description: String,
    /// The call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The agent that started it, if a subagent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<String>,
}

impl TranscriptWriter {
    /// Writes a session that begins.
    #[must_use]
    pub fn new(files: SessionFiles, scribe: Scribe) -> Self {
        let session = files.session(scribe.facts().session_id);
        Self {
            session,
            files,
            scribe,
            open: BTreeMap::new(),
            unwritten: Vec::new(),
        }
    }

    /// Goes on in a file that is there already.
    #[must_use]
    pub fn going_on(self, path: PathBuf) -> Self {
        Self {
            session: path,
            ..self
        }
    }

    /// Begins with lines of another session: a fork. They are written with the first lines of its own.
    #[must_use]
    pub fn beginning_with(mut self, lines: Vec<RawJson>) -> Self {
        let copied = lines
            .into_iter()
            .map(|json| ScribeLine { agent: None, json });
        self.unwritten.splice(0..0, copied);
        self
    }

    /// The transcript of the session (`transcript_path` of hooks). It need not exist yet.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.session
    }

    /// The transcript of a subagent (`agent_transcript_path` of hooks).
    #[must_use]
    pub fn agent_path(&self, agent: &str) -> PathBuf {
        let own = self.files.subagent(self.scribe.facts().session_id, agent);
        let name = own.file_name().unwrap_or_default();
        self.session.with_extension("").join("subagents").join(name)
    }

    /// What makes the lines.
    #[must_use]
    pub fn scribe(&self) -> &Scribe {
        &self.scribe
    }

    /// What makes the lines, to tell it of changes.
    pub fn scribe_mut(&mut self) -> &mut Scribe {
        &mut self.scribe
    }

    /// Appends entries and returns when they are safe; what was appended where. Entries that were written before are
    /// passed over.
    ///
    /// # Errors
    /// [`TranscriptError`]. The entries are kept and written before those of the next call.
    pub fn persist(&mut self, entries: &[Entry]) -> Result<Vec<Appended>, TranscriptError> {
        let mut lines = std::mem::take(&mut self.unwritten);
        lines.extend(self.scribe.write(entries));
        self.append(lines)
    }

    /// Notes the last prompt and the end of the conversation, for listings. To be called when a turn has ended; nothing
    /// happens before the first prompt.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn note_last_prompt(&mut self) -> Result<Vec<Appended>, TranscriptError> {
        match self.scribe.last_prompt() {
            Some(json) => self.append_line(json),
            None => Ok(Vec::new()),
        }
    }

    /// Notes what was spent so far, for who takes the session up.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn note_cost(&mut self, state: &CostState) -> Result<Vec<Appended>, TranscriptError> {
        let line = state.line(self.scribe.facts().session_id);
        self.append_line(line)
    }

    /// Appends a line of another kind to the session's transcript, a title say.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn append_line(&mut self, json: RawJson) -> Result<Vec<Appended>, TranscriptError> {
        let mut lines = std::mem::take(&mut self.unwritten);
        lines.push(ScribeLine { agent: None, json });
        self.append(lines)
    }

    /// Writes what is said of a subagent beside its transcript. As a mirror's entry it has the type `agent_metadata`.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn describe_agent(
        &self,
        agent: &str,
        meta: &AgentMeta,
    ) -> Result<Appended, TranscriptError> {
        let transcript = self.agent_path(agent);
        let path = transcript.with_extension("meta.json");
        let meta = encoded(meta);
        create_folder(&path)?;
        atomic::replace(&path, meta.get().as_bytes(), Readers::Owner)
            .map_err(|error| TranscriptError::new("writing", &path, error))?;
        let mut entry = RawObject::default();
        entry.set("type", RawJson::string("agent_metadata"));
        for (key, value) in RawObject::parse(meta.get()).unwrap_or_default().fields() {
            entry.set(key, value.clone());
        }
        Ok(Appended {
            path: transcript,
            entries: vec![entry.to_raw()],
        })
    }

    /// Forces everything to the disk: a power failure takes nothing of it any more.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn sync(&self) -> Result<(), TranscriptError> {
        for open in self.open.values() {
            let synced = open.lines.sync();
            synced.map_err(|error| TranscriptError::new("writing", &open.path, error))?;
        }
        Ok(())
    }

    fn append(&mut self, lines: Vec<ScribeLine>) -> Result<Vec<Appended>, TranscriptError> {
        let mut groups: BTreeMap<Option<String>, Vec<RawJson>> = BTreeMap::new();
        for line in lines {
            groups.entry(line.agent).or_default().push(line.json);
        }
        let mut appended = Vec::new();
        let mut failure = None;
        for (agent, entries) in groups {
            match self.append_to(agent.as_deref(), &entries) {
                Ok(path) => appended.push(Appended { path, entries }),
                Err(error) => {
                    let lines = entries.into_iter().map(|json| ScribeLine {
                        agent: agent.clone(),
                        json,
                    });
                    self.unwritten.extend(lines);
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(appended), Err)
    }

    fn append_to(
        &mut self,
        agent: Option<&str>,
        entries: &[RawJson],
    ) -> Result<PathBuf, TranscriptError> {
        let key = agent.map(ToOwned::to_owned);
        if !self.open.contains_key(&key) {
            let path = match agent {
                Some(agent) => self.agent_path(agent),
                None => self.session.clone(),
            };
            self.open.insert(key.clone(), OpenFile::open(path)?);
        }
        let Some(open) = self.open.get_mut(&key) else {
            return Ok(self.session.clone()); // it was put there just now
        };
        open.append(entries)?;
        Ok(open.path.clone())
    }
}

impl OpenFile {
    fn open(path: PathBuf) -> Result<Self, TranscriptError> {
        create_folder(&path)?;
        match LineFile::open(&path) {
            Ok(lines) => Ok(Self { path, lines }),
            Err(error) => Err(TranscriptError::new("opening", &path, error)),
        }
    }

    /// All lines by one write, or none.
    fn append(&mut self, entries: &[RawJson]) -> Result<(), TranscriptError> {
        let size = entries.iter().map(|entry| entry.get().len() + 1).sum();
        let mut bytes = Vec::with_capacity(size);
        for entry in entries {
            bytes.extend_from_slice(entry.get().as_bytes());
            bytes.push(b'\n');
        }
        let written = self.lines.append(&bytes);
        written.map_err(|error| TranscriptError::new("writing", &self.path, error))
    }
}

/// The folder of a file, with all above it, for nobody else to read.
pub(super) fn create_folder(path: &Path) -> Result<(), TranscriptError> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let created = builder.create(folder);
    created.map_err(|error| TranscriptError::new("creating", folder, error))
}
