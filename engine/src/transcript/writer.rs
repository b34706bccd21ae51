//! Writes the entries of a running session to a store.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_core::{RawJson, effect::Entry, json::RawObject};

use super::{CostState, Line, Scribe, encoded};
use crate::store::{Batch, Leased, Store, StoreError, file_name};

/// Writes the transcripts of a session and of its subagents.
///
/// Other programs may append to the same transcripts (the SDKs' functions add titles and tags); their lines are preserved.
#[derive(Debug)]
pub struct SessionWriter<S: Store> {
    leased: Leased<S>,
    scribe: Scribe,
    /// Lines that could not be written; they are retried with the next lines.
    unwritten: Vec<Line>,
}

/// Lines that were appended to a transcript, as shown by `--session-mirror`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The place of the transcript ([`Store::place`]).
    pub place: String,
    /// The lines, as JSON objects.
    pub entries: Vec<RawJson>,
}

/// Metadata of a subagent, stored beside its transcript. Readers use it to find the call that started the subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMeta {
    /// The kind of agent.
    pub agent_type: String,
    /// The description given when it was started.
    pub description: String,
    /// The call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The id of the agent that started it, if that was a subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<String>,
}

impl<S: Store> SessionWriter<S> {
    /// A writer that uses this lease.
    #[must_use]
    pub fn new(leased: Leased<S>, scribe: Scribe) -> Self {
        Self {
            leased,
            scribe,
            unwritten: Vec::new(),
        }
    }

    /// Begins with lines of another session: a fork. They are written with the first lines of its own.
    #[must_use]
    pub fn beginning_with(mut self, lines: Vec<RawJson>) -> Self {
        let copied = lines.into_iter().map(|json| Line { agent: None, json });
        self.unwritten.splice(0..0, copied);
        self
    }

    /// The scribe that converts entries to lines.
    #[must_use]
    pub fn scribe(&self) -> &Scribe {
        &self.scribe
    }

    /// Appends entries and returns when they are safe. Returns what was appended to which transcript. Entries that were
    /// written before are skipped.
    ///
    /// # Errors
    /// [`StoreError`]. The entries are kept and retried with those of the next call; likewise if this future is dropped
    /// before it completes.
    pub async fn persist(&mut self, entries: &[Entry]) -> Result<Vec<Appended>, StoreError> {
        let lines = self.scribe.write(entries);
        self.append(lines).await
    }

    /// Records the end of a turn in one append: the last prompt and the end of the conversation, for listings, and the total
    /// cost if it has changed, for a later resumption. Nothing is recorded about prompts before the first one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn note_turn_end(
        &mut self,
        spent: Option<&CostState>,
    ) -> Result<Vec<Appended>, StoreError> {
        let session = self.leased.lease.session;
        let noted = self.scribe.last_prompt().into_iter();
        let noted = noted.chain(spent.map(|spent| spent.line(session)));
        let lines: Vec<Line> = noted.map(|json| Line { agent: None, json }).collect();
        match lines.is_empty() {
            true => Ok(Vec::new()),
            false => self.append(lines).await,
        }
    }

    /// Appends a line of another type to the session's transcript, such as a title.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn append_line(&mut self, json: RawJson) -> Result<Vec<Appended>, StoreError> {
        self.append(vec![Line { agent: None, json }]).await
    }

    /// Stores the metadata of a subagent beside its transcript. Its mirror entry has the type `agent_metadata`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn describe_agent(
        &self,
        agent: &str,
        meta: &AgentMeta,
    ) -> Result<Appended, StoreError> {
        let Leased { store, lease, .. } = &self.leased;
        let meta = encoded(meta);
        let name = format!("subagents/agent-{}.meta.json", file_name(agent));
        (store.put(lease, &name, meta.get().as_bytes())).await?;
        let mut entry = RawObject::default();
        entry.set("type", RawJson::string("agent_metadata"));
        for (key, value) in RawObject::parse(meta.get()).unwrap_or_default().fields() {
            entry.set(key, value.clone());
        }
        Ok(Appended {
            place: store.place(lease.session, Some(agent)),
            entries: vec![entry.to_raw()],
        })
    }

    /// Appends the lines of each transcript in one step. A line stays unwritten until the store has confirmed it.
    async fn append(&mut self, lines: Vec<Line>) -> Result<Vec<Appended>, StoreError> {
        let Leased { store, lease, .. } = &self.leased;
        let mut groups: BTreeMap<Option<String>, Vec<RawJson>> = BTreeMap::new();
        self.unwritten.extend(lines);
        for line in &self.unwritten {
            let group = groups.entry(line.agent.clone()).or_default();
            group.push(line.json.clone());
        }
        let mut appended = Vec::new();
        let mut failure = None;
        for (agent, entries) in groups {
            let batch = Batch {
                agent: agent.as_deref(),
                lines: &entries,
                snapshot: None,
            };
            match store.append(lease, batch).await {
                Ok(()) => {
                    self.unwritten.retain(|line| line.agent != agent);
                    let place = store.place(lease.session, agent.as_deref());
                    appended.push(Appended { place, entries });
                }
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(appended), Err)
    }
}
