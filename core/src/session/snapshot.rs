//! Snapshots of sessions as bytes: NDJSON, so that they can be read with ordinary tools.
//!
//! A header with the schema version comes first, then the history line by line as the provider sees it, then the histories of the
//! subagents with their numbers, then one line of state. Request bodies are never part of a snapshot: they can be rebuilt.

use alloc::{
    collections::VecDeque,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    Running, Session, Shared, Thread,
    agents::{Child, ChildFacts},
    background::{Awaited, TaskNotice, Tasks},
    shared::Unreported,
    thread::ThreadState,
};
use crate::{
    effect::{EffectId, Prompt},
    history::{History, HistoryState, Role},
    id::{Seeded, SessionId},
    json::{Fault, JsonError, RawJson, write},
    message::{ModelUsage, RateLimitStatus},
    money::Usd,
    permission::{Mode, PermissionUpdate, Rule, RuleError, RuleValue, SessionPermissions},
    sorted::SortedMap,
    spec::Spec,
    tool::Observation,
};

/// The schema version that this version writes. New state has a default (`#[serde(default)]`) that stands for its absence, so
/// that older snapshots load. Where no default is possible, this number is raised and the old form is still read. `tests/golden/`
/// holds snapshots of each version.
pub const SNAPSHOT_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Header {
    windlass: String,
    version: u32,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: Vec<RawJson>,
}

/// A message of a subagent. Messages of the main thread are on lines of their own, unwrapped.
#[derive(Deserialize)]
struct AgentLine {
    agent: u32,
    message: RawJson,
}

/// All state that affects behaviour and that threads share, except the spec.
#[derive(Serialize, Deserialize)]
struct State {
    id: SessionId,
    ids: Seeded,
    mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode_before_plan: Option<Mode>,
    /// Written by versions without permission updates: rules to allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    session_allow: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    permission_updates: Vec<PermissionUpdate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guarded: Vec<String>,
    observed: Vec<Observation>,
    cost: Usd,
    model_usage: SortedMap<String, ModelUsage>,
    waiting: VecDeque<Prompt>,
    running: Vec<(EffectId, Running)>,
    #[serde(default, skip_serializing_if = "Tasks::is_empty")]
    tasks: Tasks,
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    awaited: SortedMap<String, Awaited>,
    #[serde(default, rename = "news", skip_serializing_if = "SortedMap::is_empty")]
    task_notices: SortedMap<u32, Vec<TaskNotice>>,
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    agent_names: SortedMap<String, String>,
    #[serde(default)]
    agents_numbered: u32,
    #[serde(default)]
    unreported: Unreported,
    /// None in older snapshots without it.
    #[serde(default)]
    rate_limit: Option<RateLimitStatus>,
    /// None in snapshots of version 1, in which its fields were among these.
    main: Option<ThreadState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    children: Vec<ChildState>,
}

#[derive(Serialize, Deserialize)]
struct ChildState {
    number: u32,
    parent_tool_use_id: Option<String>,
    facts: ChildFacts,
    thread: ThreadState,
}

impl Session {
    /// The session as bytes.
    ///
    /// # Errors
    /// [`SnapshotError::NotDrained`] while there are outputs that have not been polled: they would be lost.
    pub fn snapshot(&self) -> Result<Vec<u8>, SnapshotError> {
        // Destructured field by field without `..`, so that a new field cannot be forgotten here.
        let Self {
            shared,
            main,
            children,
            waiting,
            // Not saved: a restored session always expects to be told what is still running.
            awaits_resumed: _,
        } = self;
        let Shared {
            id,
            ids,
            permissions,
            mode_before_plan,
            observed,
            cost,
            model_usage,
            rate_limit,
            running,
            tasks,
            awaited,
            task_notices,
            agent_names,
            agents_numbered,
            unreported,
            out,
            // Only valid until the next input.
            approved_calls: _,
            // Passed in on restore.
            spec: _,
            now: _,
            // Empty between inputs.
            tasks_changed: _,
            agent_requests: _,
            interrupt_main: _,
        } = shared;
        if !out.is_empty() {
            return Err(SnapshotError::NotDrained);
        }
        let header = Header {
            windlass: "snapshot".to_string(),
            version: SNAPSHOT_VERSION,
        };
        let state = State {
            id: *id,
            ids: ids.clone(),
            mode: permissions.mode(),
            mode_before_plan: *mode_before_plan,
            session_allow: Vec::new(),
            permission_updates: permissions.updates().to_vec(),
            guarded: permissions.guarded().to_vec(),
            observed: observed.values().cloned().collect(),
            cost: *cost,
            model_usage: model_usage.clone(),
            waiting: waiting.clone(),
            running: running.iter().map(|(id, r)| (*id, *r)).collect(),
            tasks: tasks.clone(),
            awaited: awaited.clone(),
            task_notices: task_notices.clone(),
            agent_names: agent_names.clone(),
            agents_numbered: *agents_numbered,
            unreported: unreported.clone(),
            rate_limit: Some(*rate_limit),
            main: Some(main.state()),
            children: children.values().map(Child::state).collect(),
        };
        let mut out = Vec::with_capacity(self.main.context.history().encoded_len() + 1024);
        // Strings, numbers and raw JSON only: encoding cannot fail.
        out.extend(write::to_text(&header).into_bytes());
        out.push(b'\n');
        for line in self.main.context.history().lines() {
            out.extend_from_slice(&line);
            out.push(b'\n');
        }
        for (number, child) in &self.children {
            for line in child.thread.context.history().lines() {
                out.extend_from_slice(format!("{{\"agent\":{number},\"message\":").as_bytes());
                out.extend_from_slice(&line);
                out.extend_from_slice(b"}\n");
            }
        }
        out.extend(write::to_text(&state).into_bytes());
        out.push(b'\n');
        Ok(out)
    }

    /// Restores a session from a snapshot. Its first input must be [`Input::Resumed`](crate::Input::Resumed).
    ///
    /// # Errors
    /// [`SnapshotError`] with the line and the reason.
    pub fn restore(spec: Arc<Spec>, snapshot: &[u8]) -> Result<Self, SnapshotError> {
        let text = core::str::from_utf8(snapshot).map_err(|_| SnapshotError::NotASnapshot)?;
        let mut lines: Vec<&str> = text.lines().collect();
        let header: Header = lines
            .first()
            .and_then(|line| crate::json::read::from_str(line).ok())
            .ok_or(SnapshotError::NotASnapshot)?;
        if header.windlass != "snapshot" {
            return Err(SnapshotError::NotASnapshot);
        }
        if !(1..=SNAPSHOT_VERSION).contains(&header.version) {
            return Err(SnapshotError::Version {
                found: header.version,
            });
        }
        let last = lines.len();
        let remedy = match snapshot.ends_with(b"\n") {
            true => {
                "restore the bytes as they were written, or resume the transcript of the session"
            }
            false => {
                "it was cut off: restore an earlier one, or resume the transcript of the session"
            }
        };
        let broken = |line: usize, reason: String| SnapshotError::Line {
            line,
            reason,
            remedy,
        };
        let in_state = |e: Fault| broken(last, e.to_string());
        let foreign = || {
            broken(
                last,
                "the state does not belong to this history".to_string(),
            )
        };
        let (state, main): (State, ThreadState) = match lines.pop() {
            Some(line) if last > 1 => {
                let mut state: State = crate::json::read::from_str(line).map_err(in_state)?;
                let main = match state.main.take() {
                    Some(main) => main,
                    None => crate::json::read::from_str(line).map_err(in_state)?,
                };
                (state, main)
            }
            _ => return Err(broken(last, "the state line is missing".to_string())),
        };
        let mut histories: SortedMap<u32, Vec<(Role, Vec<RawJson>)>> = SortedMap::new();
        for (index, line) in lines.iter().enumerate().skip(1) {
            let (number, message) = history_line(line).map_err(|e| broken(index + 1, e.reason))?;
            let messages = histories.or_default(number);
            messages.push((message.role, message.content));
        }
        let mut history_of = |number: u32, state: HistoryState| {
            let messages = histories.remove(&number).unwrap_or_default();
            History::restore(messages, state).ok_or_else(foreign)
        };
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
        let permissions = SessionPermissions::restore(
            &spec.policy.permissions,
            &spec.environment,
            state.mode,
            &updates,
        );
        let shared = Shared {
            ids: state.ids,
            permissions: permissions
                .map_err(|e| broken(last, e.to_string()))?
                .with_guarded(state.guarded),
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
            tasks: state.tasks,
            awaited: state.awaited,
            task_notices: state.task_notices,
            agent_names: state.agent_names,
            agents_numbered: state.agents_numbered,
            unreported: state.unreported,
            // The seed is not needed: the state of the generator is restored.
            ..Shared::new(spec.clone(), state.id, [0; 32])
        };
        let history = history_of(0, main.history)?;
        let main = main.restored(&shared, Thread::new(0, spec), history);
        let mut children = SortedMap::new();
        for child in state.children {
            let history = history_of(child.number, child.thread.history)?;
            let number = child.number;
            children.insert(number, child.restored(&shared, &main, history));
        }
        if !histories.is_empty() {
            return Err(foreign());
        }
        Ok(Self {
            shared,
            main,
            children,
            waiting: state.waiting,
            awaits_resumed: true,
        })
    }
}

/// The thread number and the message of a line of history.
fn history_line(line: &str) -> Result<(u32, Message), JsonError> {
    if let Ok(line) = crate::json::read::from_str::<AgentLine>(line) {
        return Ok((line.agent, line.message.read()?));
    }
    Ok((0, crate::json::read::from_str(line)?))
}

impl Child {
    fn state(&self) -> ChildState {
        ChildState {
            number: self.thread.number(),
            parent_tool_use_id: self.thread.parent_tool_use_id(),
            facts: self.facts.clone(),
            thread: self.thread.state(),
        }
    }
}

impl ChildState {
    /// Restores a subagent. The spec of its thread is derived from the current spec of the main thread.
    fn restored(self, shared: &Shared, main: &Thread, history: History) -> Child {
        let child = Child::with(main, self.number, self.facts);
        let mut thread = self.thread.restored(shared, child.thread, history);
        thread.answer_call(self.parent_tool_use_id);
        Child { thread, ..child }
    }
}

/// An invalid snapshot, or a session that cannot be saved now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// There are outputs that have not been polled.
    #[error("poll the session until it returns nothing before taking a snapshot")]
    NotDrained,
    /// The first line is not a snapshot's header.
    #[error(
        "line 1: this is no windlass snapshot: one begins with a line such as {{\"windlass\":\"snapshot\",\"version\":{SNAPSHOT_VERSION}}}; hand in the bytes that `Session::snapshot` gave, whole and as they were"
    )]
    NotASnapshot,
    /// A snapshot of another version.
    #[error(
        "line 1: the snapshot has schema version {found}, this version reads up to {SNAPSHOT_VERSION}: open it with the version that wrote it"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// A line that cannot be read.
    #[error("line {line} of the snapshot cannot be read: {reason}; {remedy}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        remedy: &'static str,
    },
}
