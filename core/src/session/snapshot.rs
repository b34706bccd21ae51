//! A session as bytes and back: NDJSON, so that a snapshot can be read with ordinary tools.
//!
//! First a header with the schema version, then the history line by line as the provider sees it,
//! then one line of state. A request body is never part of it: it can be made again.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    Phase, Running, Session, Shared, Thread, compaction::ContextSize, hook::HookRound, run::Run,
    thread::Chosen,
};
use crate::{
    effect::{Entry, Prompt},
    history::{History, HistoryState, Role},
    id::{EffectId, Seeded, SessionId, Uuid},
    json::RawJson,
    message::{ModelUsage, RateLimitStatus},
    money::Usd,
    permission::{Mode, PermissionUpdate, Rule, RuleError, RuleValue, SessionPermissions},
    spec::{Effort, Spec, Thinking},
    tool::Observation,
    tools::Notes,
};

/// The schema version this version writes. New state has a default (`#[serde(default)]`) that means what was
/// before it, so that older snapshots load; where no default can, this number is raised and the old form is
/// read as well. `tests/golden/` holds snapshots of each version.
pub const SNAPSHOT_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    windlass: String,
    version: u32,
}

#[derive(Deserialize)]
struct Line {
    role: Role,
    content: Vec<RawJson>,
}

/// Everything that decides, but for the history and the spec.
#[derive(Serialize, Deserialize)]
struct State {
    id: SessionId,
    ids: Seeded,
    mode: Mode,
    model: Option<String>,
    #[serde(default)]
    thinking: Option<Thinking>,
    #[serde(default)]
    effort: Option<Effort>,
    #[serde(default)]
    steering: VecDeque<Prompt>,
    /// Written by versions that knew no updates: rules to allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    session_allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    permission_updates: Vec<PermissionUpdate>,
    observed: Vec<Observation>,
    turn: u32,
    turn_begun: bool,
    call_ids: BTreeSet<String>,
    cost: Usd,
    model_usage: BTreeMap<String, ModelUsage>,
    last_entry: Option<Uuid>,
    #[serde(deserialize_with = "entries")]
    saving: Vec<Entry>,
    phase: Phase,
    run: Run,
    waiting: VecDeque<Prompt>,
    running: Vec<(EffectId, Running)>,
    history: HistoryState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode_before_plan: Option<Mode>,
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    notes: Notes,
    #[serde(default)]
    context_size: ContextSize,
    /// None in snapshots that did not keep it.
    #[serde(default)]
    rate_limit: Option<RateLimitStatus>,
    /// Snapshots of before there were hooks are of sessions that have begun.
    #[serde(default)]
    is_new: bool,
    #[serde(default)]
    hook_rounds: Vec<HookRound>,
    #[serde(default)]
    pending_context: Vec<RawJson>,
    #[serde(default)]
    occurred: u32,
}

impl Session {
    /// The session as bytes.
    ///
    /// # Errors
    /// [`SnapshotError::NotDrained`] while outputs wait to be polled: they would be lost.
    pub fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        if !self.shared.out.is_empty() {
            return Err(SnapshotError::NotDrained);
        }
        let header = Header {
            windlass: "snapshot".to_string(),
            version: SNAPSHOT_VERSION,
        };
        let state = State {
            id: self.shared.id,
            ids: self.shared.ids.clone(),
            mode: self.shared.permissions.mode(),
            model: self.main.chosen.model.clone(),
            thinking: self.main.chosen.thinking,
            effort: self.main.chosen.effort,
            steering: self.main.steering.clone(),
            session_allow: Vec::new(),
            permission_updates: self.shared.permissions.updates().to_vec(),
            observed: self.shared.observed.values().cloned().collect(),
            turn: self.main.turn,
            turn_begun: self.main.turn_begun,
            call_ids: self.main.call_ids.clone(),
            cost: self.shared.cost,
            model_usage: self.shared.model_usage.clone(),
            last_entry: self.main.last_entry,
            saving: self.main.saving.clone(),
            phase: self.main.phase,
            run: self.main.run.clone(),
            waiting: self.waiting.clone(),
            running: self
                .shared
                .running
                .iter()
                .map(|(id, r)| (*id, *r))
                .collect(),
            history: self.main.history.state(),
            mode_before_plan: self.shared.mode_before_plan,
            notes: self.main.notes.clone(),
            context_size: self.main.context_size,
            rate_limit: Some(self.shared.rate_limit),
            is_new: self.main.is_new,
            hook_rounds: self.main.hook_rounds.clone(),
            pending_context: self.main.pending_context.clone(),
            occurred: self.main.occurred,
        };
        let mut out = Vec::with_capacity(self.main.history.encoded_len() + 1024);
        // Strings, numbers and raw JSON only: encoding cannot fail.
        out.extend(serde_json::to_vec(&header).unwrap_or_default());
        out.push(b'\n');
        for line in self.main.history.lines() {
            out.extend_from_slice(&line);
            out.push(b'\n');
        }
        out.extend(serde_json::to_vec(&state).unwrap_or_default());
        out.push(b'\n');
        Ok(out)
    }

    /// A session from its snapshot. Its first input must be [`Input::Resumed`](crate::Input::Resumed).
    ///
    /// # Errors
    /// [`SnapshotError`] with the line and the reason; nothing half-restored exists.
    pub fn restore(spec: Arc<Spec>, snapshot: &[u8]) -> Result<Self, SnapshotError> {
        let text = core::str::from_utf8(snapshot).map_err(|_| SnapshotError::NotASnapshot)?;
        let mut lines: Vec<&str> = text.lines().collect();
        let header: Header = lines
            .first()
            .and_then(|line| serde_json::from_str(line).ok())
            .ok_or(SnapshotError::NotASnapshot)?;
        if header.windlass != "snapshot" {
            return Err(SnapshotError::NotASnapshot);
        }
        if header.version != SNAPSHOT_VERSION {
            return Err(SnapshotError::Version {
                found: header.version,
            });
        }
        let last = lines.len();
        let broken = |line: usize, reason: String| SnapshotError::Line { line, reason };
        let state: State = match lines.pop() {
            Some(line) if last > 1 => {
                serde_json::from_str(line).map_err(|e| broken(last, e.to_string()))?
            }
            _ => return Err(broken(last, "the state line is missing".to_string())),
        };
        let mut messages = Vec::new();
        for (index, line) in lines.iter().enumerate().skip(1) {
            let line: Line =
                serde_json::from_str(line).map_err(|e| broken(index + 1, e.to_string()))?;
            messages.push((line.role, line.content));
        }
        let history = History::restore(messages, state.history).ok_or_else(|| {
            broken(
                last,
                "the state does not belong to this history".to_string(),
            )
        })?;
        let mut updates = state.permission_updates;
        if !state.session_allow.is_empty() {
            let rules: Result<Vec<RuleValue>, RuleError> = state
                .session_allow
                .iter()
                .map(|text| Rule::parse(text).map(|rule| rule.value()))
                .collect();
            let rules = rules.map_err(|e| broken(last, e.to_string()))?;
            updates.insert(0, PermissionUpdate::allow_in_session(rules));
        }
        let permissions =
            SessionPermissions::restore(&spec.permissions, &spec.environment, state.mode, &updates);
        let shared = Shared {
            ids: state.ids,
            permissions: permissions.map_err(|e| broken(last, e.to_string()))?,
            mode_before_plan: state.mode_before_plan,
            observed: state
                .observed
                .into_iter()
                .map(|seen| (seen.path.clone(), seen))
                .collect(),
            rate_limit: state.rate_limit.unwrap_or(RateLimitStatus::Allowed),
            cost: state.cost,
            model_usage: state.model_usage,
            running: state.running.into_iter().collect(),
            // The seed is spent: the generator goes on from where it was.
            ..Shared::new(spec.clone(), state.id, [0; 32])
        };
        let mut main = Thread {
            steering: state.steering,
            history,
            context_size: state.context_size,
            turn: state.turn,
            turn_begun: state.turn_begun,
            call_ids: state.call_ids,
            last_entry: state.last_entry,
            saving: state.saving,
            phase: state.phase,
            run: state.run,
            notes: state.notes,
            is_new: state.is_new,
            hook_rounds: state.hook_rounds,
            pending_context: state.pending_context,
            occurred: state.occurred,
            ..Thread::new(0, spec)
        };
        main.choose(
            &shared,
            Chosen {
                model: state.model,
                thinking: state.thinking,
                effort: state.effort,
            },
        );
        Ok(Self {
            shared,
            main,
            waiting: state.waiting,
            awaits_resumed: true,
        })
    }
}

/// Entries being written; the first snapshots had one or none.
fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Entry>, D::Error> {
    let raw = RawJson::deserialize(deserializer)?;
    if raw.get().starts_with('[') {
        raw.decode()
    } else {
        let one: Result<Option<Entry>, _> = raw.decode();
        one.map(|entry| entry.into_iter().collect())
    }
    .map_err(de::Error::custom)
}

/// Bytes that are no session of this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Outputs wait to be polled.
    #[error("poll the session until it returns nothing before taking a snapshot")]
    NotDrained,
    /// The first line is not a snapshot's header.
    #[error("this is not a windlass snapshot: its first line is not the header")]
    NotASnapshot,
    /// A snapshot of another version.
    #[error(
        "the snapshot has schema version {found}, this version reads {SNAPSHOT_VERSION}: open it with the version that wrote it"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// A line that cannot be read.
    #[error("line {line} of the snapshot cannot be read: {reason}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}
