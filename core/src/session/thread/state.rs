//! The state of a thread in snapshots, and its restoration.

use alloc::{boxed::Box, collections::VecDeque, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    super::{
        Phase, Shared,
        call::{CallIds, Workplace},
        context::{Context, ContextSize},
        hook::{HookRound, Hooks},
        run::Run,
        turns::Turns,
        writing::Writing,
    },
    Chosen, Thread,
};
use crate::{
    effect::{Entry, Prompt},
    history::{History, HistoryState},
    id::Uuid,
    json::RawJson,
    model::{Effort, Thinking},
    tool::ShellState,
    tools::CoreToolState,
};

/// All state that affects the behaviour of one conversation, except its history.
#[derive(Serialize, Deserialize)]
pub(in crate::session) struct ThreadState {
    model: Option<String>,
    #[serde(default)]
    thinking: Option<Thinking>,
    #[serde(default)]
    effort: Option<Effort>,
    #[serde(default)]
    steering: VecDeque<Prompt>,
    turn: u32,
    turn_begun: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end_written: Option<u32>,
    call_ids: CallIds,
    last_entry: Option<Uuid>,
    #[serde(deserialize_with = "entries")]
    saving: Vec<Entry>,
    phase: Phase,
    run: Run,
    pub(in crate::session) history: HistoryState,
    #[serde(
        default,
        rename = "notes",
        skip_serializing_if = "CoreToolState::is_empty"
    )]
    tool_state: CoreToolState,
    #[serde(default)]
    context_size: ContextSize,
    /// Snapshots from before hooks existed are of sessions that have begun.
    #[serde(default)]
    is_new: bool,
    #[serde(default)]
    hook_rounds: Vec<HookRound>,
    #[serde(default)]
    pending_context: Vec<RawJson>,
    #[serde(default)]
    occurred: u32,
    /// Its working directory, if that has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell: Option<Box<ShellState>>,
}

impl Thread {
    /// All its state that affects behaviour, except its history.
    pub(in crate::session) fn state(&self) -> ThreadState {
        let Self {
            spec,
            hooks,
            workplace,
            chosen,
            steering,
            context,
            turns,
            call_ids,
            writing,
            phase,
            run,
            tool_state,
            // The session stores the numbers of subagents.
            number: _,
            agent: _,
            parent_tool_use_id: _,
            narrowing: _,
            // Not saved because the decoder cannot be: the response is requested again.
            model_call: _,
            // Empty between inputs.
            ended: _,
            suggestion: _,
        } = self;
        let Chosen {
            model,
            thinking,
            effort,
        } = chosen;
        let (turn, turn_begun, end_written) = turns.state();
        let (last_entry, saving) = writing.state();
        let (hook_rounds, pending_context, occurred, is_new) = hooks.state();
        let (left, shell) = workplace.state();
        ThreadState {
            model: model.clone(),
            thinking: *thinking,
            effort: *effort,
            steering: steering.clone(),
            turn,
            turn_begun,
            end_written,
            call_ids: call_ids.clone(),
            last_entry,
            saving,
            phase: *phase,
            run: run.clone(),
            history: context.history().state(),
            tool_state: tool_state.clone(),
            context_size: context.size(),
            is_new,
            hook_rounds,
            pending_context,
            occurred,
            cwd: (workplace.has_moved()).then(|| spec.environment.cwd.clone()),
            left,
            shell,
        }
    }
}

impl ThreadState {
    /// Restores the thread from a fresh one with this history.
    pub(in crate::session) fn restored(
        self,
        shared: &Shared,
        fresh: Thread,
        history: History,
    ) -> Thread {
        let mut thread = Thread {
            steering: self.steering,
            context: Context::restored(history, self.context_size),
            turns: Turns::restored(self.turn, self.turn_begun, self.end_written),
            call_ids: self.call_ids,
            writing: Writing::restored(self.last_entry, self.saving),
            phase: self.phase,
            run: self.run,
            tool_state: self.tool_state,
            hooks: Hooks::restored(
                self.hook_rounds,
                self.pending_context,
                self.occurred,
                self.is_new,
            ),
            workplace: Workplace::restored(self.left, self.shell),
            ..fresh
        };
        let cwd = (self.cwd.as_ref()).unwrap_or(&shared.spec.environment.cwd);
        if thread.spec.environment.cwd != *cwd {
            Arc::make_mut(&mut thread.spec)
                .environment
                .cwd
                .clone_from(cwd);
        }
        let chosen = Chosen {
            model: self.model,
            thinking: self.thinking,
            effort: self.effort,
        };
        thread.choose(shared, chosen);
        thread
    }
}

/// The entries being written; the first snapshots had one entry or none.
fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Entry>, D::Error> {
    let raw = RawJson::deserialize(deserializer)?;
    if raw.get().starts_with('[') {
        raw.read()
    } else {
        let one: Result<Option<Entry>, _> = raw.read();
        one.map(|entry| entry.into_iter().collect())
    }
    .map_err(de::Error::custom)
}
