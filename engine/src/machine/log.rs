//! The transcript of the session: entries and notes become lines, the store keeps them, and the mirror repeats what is kept.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use windlass_core::{
    EffectId, RawJson, Uuid,
    effect::{Answer, Entry},
    message::TaskStarted,
};

use super::{
    Engine,
    io::{Effect, LineGroup, Outcome, Output},
    pending::{Pending, Then, Written},
};
use crate::{
    protocol::{
        PROTOCOL_VERSION,
        frame_limit::LONGEST_FRAME,
        reply::{Reply, ReplyError},
    },
    store::{Lease, file_name},
    transcript::{AgentMeta, CostState, Facts, Line, SavedSession, Scribe, encoded},
};

/// The room for entries in a mirror frame; the rest is for the frame's other fields.
const MIRROR_ROOM: usize = LONGEST_FRAME - 4096;

/// Writes the transcript of a session, in order: one step after another.
#[derive(Debug)]
pub(super) struct TranscriptLog {
    lease: Lease,
    scribe: Scribe,
    /// Lines that are not stored yet. Lines that could not be written are retried with the next lines.
    unwritten: Vec<Line>,
    waiting: VecDeque<(Step, Then)>,
    is_writing: bool,
    /// Whether the transcript exists at the place that hooks are told.
    is_there: bool,
}

#[derive(Debug)]
enum Step {
    /// Create an empty transcript.
    Make,
    Lines(Vec<Line>),
    Agent(Box<TaskStarted>),
    /// Store the state of the session.
    Snapshot(Vec<u8>),
    /// Completes when everything before it has been written or has failed.
    Barrier,
}

impl TranscriptLog {
    pub(super) fn new(lease: Lease, scribe: Scribe) -> Self {
        Self {
            lease,
            scribe,
            unwritten: Vec::new(),
            waiting: VecDeque::new(),
            is_writing: false,
            is_there: false,
        }
    }

    /// Continues the transcript of a stored session.
    pub(super) fn going_on(mut self, saved: &SavedSession) -> Self {
        self.scribe = self.scribe.going_on(saved.ids(), saved.leaf());
        if saved.snapshot().is_some() {
            self.scribe = self.scribe.going_on_with(saved.last_response());
        }
        self.is_there = true;
        self
    }

    /// Begins with lines of another session, which are written together with the first lines of its own.
    pub(super) fn beginning_with(mut self, lines: Vec<RawJson>) -> Self {
        let copied = lines.into_iter().map(|json| Line { agent: None, json });
        self.unwritten.extend(copied);
        self
    }

    /// The lease for the session.
    pub(super) fn lease(&self) -> Lease {
        self.lease.clone()
    }

    /// Whether a prompt with this id is already part of the session.
    pub(super) fn knows(&self, uuid: Uuid) -> bool {
        self.scribe.knows(uuid)
    }
}

impl Engine {
    /// A scribe with the facts that each line states about the session.
    pub(super) fn scribe(&self) -> Scribe {
        Scribe::new(Facts {
            session_id: self.session_id,
            cwd: self.launch.cwd.clone(),
            version: PROTOCOL_VERSION.to_owned(),
            git_branch: self.launch.git_branch.clone(),
            entrypoint: self.launch.entrypoint.clone(),
        })
    }

    /// Whether hooks can be told the transcript's place: the transcript exists, or none is kept.
    pub(super) fn has_transcript(&self) -> bool {
        self.log.as_ref().is_none_or(|log| log.is_there)
    }

    /// Makes the transcript before its first line, for a hook that waits for it.
    pub(super) fn make_transcript(&mut self, hook: EffectId) {
        self.write(Step::Make, Then::Hook(hook));
    }

    /// Appends entries of the session.
    pub(super) fn persist(&mut self, id: EffectId, entries: &[Entry]) {
        match &mut self.log {
            Some(log) => {
                let lines = log.scribe.write(entries);
                self.outbox.write_begun();
                self.write(Step::Lines(lines), Then::Persisted(id));
            }
            // No transcript is kept, so there is nothing to lose.
            None => self.answer_session(id, Answer::Persisted),
        }
    }

    /// Appends a line of another kind, if a transcript is kept.
    pub(super) fn append_line(&mut self, json: RawJson, then: Then) {
        let line = Line { agent: None, json };
        self.write(Step::Lines(vec![line]), then);
    }

    /// Records the end of a turn for listings and, if something was spent, the total cost for a later resumption.
    pub(super) fn note_turn_end(&mut self, spent: Option<&CostState>, then: Then) {
        let Some(log) = &self.log else {
            return self.then(then, Ok(()));
        };
        let last_prompt = log.scribe.last_prompt();
        let cost = spent.map(|spent| spent.line(log.lease.session));
        let notes = last_prompt.into_iter().chain(cost);
        let notes = notes.map(|json| Line { agent: None, json }).collect();
        self.write(Step::Lines(notes), Then::Nothing);
        self.write(Step::Barrier, then);
    }

    /// Records, beside its transcript, which kind of agent begins and for which call.
    pub(super) fn note_agent(&mut self, task: &TaskStarted, then: Then) {
        match task.subagent_type {
            Some(_) => self.write(Step::Agent(Box::new(task.clone())), then),
            None => self.then(then, Ok(())), // it is no agent
        }
    }

    /// Stores the state of the session, if a transcript is kept.
    pub(super) fn store_snapshot(&mut self, snapshot: Vec<u8>, then: Then) {
        self.write(Step::Snapshot(snapshot), then);
    }

    fn write(&mut self, step: Step, then: Then) {
        let Some(log) = &mut self.log else {
            return self.then(then, Ok(()));
        };
        log.waiting.push_back((step, then));
        self.write_next();
    }

    /// Starts the next step, unless one is in progress.
    fn write_next(&mut self) {
        loop {
            let Some(log) = self.log.as_mut().filter(|log| !log.is_writing) else {
                return;
            };
            let Some((step, then)) = log.waiting.pop_front() else {
                return;
            };
            let effect = match step {
                Step::Barrier => {
                    self.then(then, Ok(()));
                    continue;
                }
                Step::Make if log.is_there => {
                    self.then(then, Ok(()));
                    continue;
                }
                Step::Make => {
                    let nothing = LineGroup::default();
                    Effect::Append(log.lease.clone(), vec![nothing])
                }
                Step::Snapshot(snapshot) => {
                    let only = LineGroup {
                        snapshot: Some(snapshot),
                        ..LineGroup::default()
                    };
                    Effect::Append(log.lease.clone(), vec![only])
                }
                Step::Lines(lines) => {
                    log.unwritten.extend(lines);
                    if log.unwritten.is_empty() {
                        self.then(then, Ok(()));
                        continue;
                    }
                    Effect::Append(log.lease.clone(), groups(&log.unwritten))
                }
                Step::Agent(task) => Effect::Keep {
                    lease: log.lease.clone(),
                    agent: task.task_id.clone(),
                    name: format!("subagents/agent-{}.meta.json", file_name(&task.task_id)),
                    document: encoded(&meta(&task)).get().as_bytes().to_vec(),
                },
            };
            log.is_writing = true;
            let written = match &effect {
                Effect::Append(_, groups) => {
                    Written::Lines(groups.iter().map(LineGroup::only_lines).collect())
                }
                Effect::Keep { document, .. } => Written::Document(document.clone()),
                _ => return,
            };
            self.effect(effect, Pending::Write(written, then));
            return;
        }
    }

    /// Handles the result of writing a step.
    pub(super) fn written(&mut self, written: Written, then: Then, outcome: Outcome) {
        if let Some(log) = &mut self.log {
            log.is_writing = false;
        }
        let result = match (written, outcome) {
            (Written::Lines(groups), Outcome::Appended(results)) => self.appended(groups, results),
            (Written::Document(document), Outcome::Kept(Ok(place))) => {
                self.mirror(&place, &[described(&document)]);
                Ok(())
            }
            (_, Outcome::Kept(Err(reason))) => Err(reason),
            _ => Err("the store answered something else".to_owned()),
        };
        if let Err(reason) = &result {
            self.note(super::Topic::Session, || {
                format!("the transcript: {reason}")
            });
        }
        self.then(then, result);
        self.write_next();
    }

    fn appended(
        &mut self,
        groups: Vec<LineGroup>,
        results: Vec<Result<String, String>>,
    ) -> Result<(), String> {
        let mut failure = None;
        for (group, result) in groups.into_iter().zip(results) {
            match result {
                Ok(place) => {
                    if let Some(log) = &mut self.log {
                        log.is_there |= group.agent.is_none();
                        // A group without lines only created the transcript; no line has been stored.
                        let count = group.lines.len();
                        log.unwritten
                            .retain(|line| count == 0 || line.agent != group.agent);
                    }
                    self.mirror(&place, &group.lines);
                }
                Err(reason) => {
                    failure.get_or_insert(reason);
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Performs the follow-up of a step.
    fn then(&mut self, then: Then, result: Result<(), String>) {
        match then {
            Then::Nothing => {}
            Then::Persisted(id) => {
                self.outbox.write_ended();
                let answer = match result {
                    Ok(()) => Answer::Persisted,
                    Err(reason) => Answer::PersistFailed(reason),
                };
                self.answer_session(id, answer);
            }
            Then::Message => self.emit_held(),
            Then::Reply(id) => {
                let reply = result.map_or_else(|it| ReplyError::new(it).into(), |()| Reply::done());
                self.reply(&id, &reply);
                self.unblock();
            }
            Then::Warn => {
                if let Err(reason) = result {
                    self.warn(&format!("the title is not kept: {reason}"));
                }
            }
            Then::Call(id) => self.checkpoint_kept(id, result),
            Then::Hook(id) => self.transcript_made(id),
            Then::Ask(ids) => self.ask_kept(ids),
            Then::End => self.turn_end_noted(),
        }
    }

    /// Repeats stored lines as mirror frames, if requested (`--session-mirror`).
    fn mirror(&mut self, place: &str, entries: &[RawJson]) {
        if !self.launch.flags.session_mirror {
            return;
        }
        // The texts of a single entry that is too long are cut, because the SDK fails on a longer line. The transcript has
        // the complete entry.
        for frame in mirror_frames(place, entries) {
            self.outbox.frame(&frame);
        }
    }

    /// Closes the transcript, if everything has been written.
    pub(super) fn close_log_if_written(&mut self) {
        let is_written = |log: &TranscriptLog| !log.is_writing && log.waiting.is_empty();
        if self.log.as_ref().is_some_and(is_written) {
            self.close_log();
        }
    }

    /// Closes the transcript and releases its lease.
    pub(super) fn close_log(&mut self) {
        if let Some(log) = self.log.take() {
            self.outbox.write_no_more();
            self.outbox.push(Output::Release(log.lease));
        }
    }
}

/// Groups lines by transcript, so that each transcript is written in one step.
fn groups(lines: &[Line]) -> Vec<LineGroup> {
    let mut groups: BTreeMap<Option<String>, Vec<RawJson>> = BTreeMap::new();
    for line in lines {
        let group = groups.entry(line.agent.clone()).or_default();
        group.push(line.json.clone());
    }
    groups
        .into_iter()
        .map(|(agent, lines)| LineGroup {
            agent,
            lines,
            snapshot: None,
        })
        .collect()
}

fn meta(task: &TaskStarted) -> AgentMeta {
    AgentMeta {
        agent_type: task.subagent_type.clone().unwrap_or_default(),
        description: task.description.clone(),
        tool_use_id: task.tool_use_id.clone(),
        parent_agent_id: None,
    }
}

/// The document about an agent as an entry of the mirror.
fn described(document: &[u8]) -> RawJson {
    let text = String::from_utf8_lossy(document);
    let mut entry = windlass_core::json::RawObject::default();
    entry.set("type", RawJson::string("agent_metadata"));
    let fields = windlass_core::json::RawObject::parse(&text).unwrap_or_default();
    for (key, value) in fields.fields() {
        entry.set(key, value.clone());
    }
    entry.to_raw()
}

/// Splits lines into mirror frames, none of which exceeds the length that an SDK reads.
fn mirror_frames<'l>(place: &'l str, entries: &'l [RawJson]) -> Vec<impl Serialize + 'l> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Mirror<'a> {
        r#type: &'static str,
        file_path: &'a str,
        entries: &'a [RawJson],
    }
    let mut frames = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let mut length = 0;
        let fits = rest.iter().take_while(|entry| {
            length += entry.get().len() + 1;
            length <= MIRROR_ROOM
        });
        // A single entry that is too long gets a frame of its own.
        let (entries, behind) = rest.split_at(fits.count().max(1));
        rest = behind;
        frames.push(Mirror {
            r#type: "transcript_mirror",
            file_path: place,
            entries,
        });
    }
    frames
}
