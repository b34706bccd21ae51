//! Compactions of a run: the state of the current one, and the outcome of earlier ones.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Run;
use crate::{
    hook::CompactionTrigger, id::Millis, json::RawJson, message::CompactMetadata, model::ErrorClass,
};

/// How many times, at most, the conversation for a summary request is cut to about half.
const MOST_SHORTENINGS: u32 = 6;

/// A compaction in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Compacting {
    trigger: CompactionTrigger,
    /// Additional instructions for the summary.
    instructions: String,
    pre_tokens: u64,
    began: Millis,
    /// Attempts of the current request, for the retry policy.
    pub(super) attempt: u32,
    /// How often the conversation was cut to about half because the summary request itself was too long.
    shortened: u32,
    /// Whether the model called tools instead of writing the summary, and is asked again without tools.
    without_tools: bool,
    /// The error that triggered the compaction; it is reported if the compaction fails.
    because: Option<(ErrorClass, String)>,
    /// The restart from the summary, while hooks run on it.
    #[serde(default)]
    restart: Option<Restart>,
}

/// A summary, while hooks run on the restart from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Restart {
    /// What the model wrote.
    pub(in crate::session) summary: String,
    /// The text that hooks append to it.
    pub(in crate::session) context: Vec<RawJson>,
}

impl Compacting {
    pub(in crate::session) fn trigger(&self) -> CompactionTrigger {
        self.trigger
    }

    /// Additional instructions for the summary.
    pub(in crate::session) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// How often to cut the conversation to about half for the request.
    pub(in crate::session) fn shortened(&self) -> u32 {
        self.shortened
    }

    /// Whether the model is asked without tools.
    pub(in crate::session) fn without_tools(&self) -> bool {
        self.without_tools
    }

    /// The error that triggered the compaction; it is reported if the compaction fails.
    pub(in crate::session) fn into_cause(self) -> Option<(ErrorClass, String)> {
        self.because
    }

    /// The metadata of the compaction once it is done.
    pub(in crate::session) fn metadata(&self, post_tokens: u64, now: Millis) -> CompactMetadata {
        CompactMetadata {
            trigger: self.trigger,
            pre_tokens: self.pre_tokens,
            post_tokens: Some(post_tokens),
            duration_ms: Some(now.since(self.began)),
        }
    }
}

impl Run {
    /// Starts a compaction of a conversation with this many tokens. One that was triggered by an error is allowed once per run.
    pub(in crate::session) fn begin_compaction(
        &mut self,
        trigger: CompactionTrigger,
        instructions: String,
        because: Option<(ErrorClass, String)>,
        pre_tokens: u64,
        now: Millis,
    ) {
        self.compacted_because |= because.is_some();
        self.compacting = Some(Compacting {
            trigger,
            instructions,
            pre_tokens,
            began: now,
            attempt: 0,
            shortened: 0,
            without_tools: false,
            because,
            restart: None,
        });
    }

    /// The compaction in progress.
    pub(in crate::session) fn compacting(&self) -> Option<&Compacting> {
        self.compacting.as_ref()
    }

    pub(in crate::session) fn is_compacting(&self) -> bool {
        self.compacting.is_some()
    }

    /// Ends the compaction, whatever its outcome.
    pub(in crate::session) fn end_compaction(&mut self) -> Option<Compacting> {
        self.compacting.take()
    }

    /// Whether an automatic compaction may start: none has failed in this run.
    pub(in crate::session) fn may_compact(&self) -> bool {
        !self.compaction_failed
    }

    /// Whether a compaction may start because the server found the request too long: once per run.
    pub(in crate::session) fn may_compact_because(&self) -> bool {
        !self.compacted_because && !self.compaction_failed
    }

    /// The compaction failed; no automatic one is tried again in this run.
    pub(in crate::session) fn fail_compaction(&mut self) -> Option<Compacting> {
        let compacting = self.compacting.take()?;
        self.compaction_failed = true;
        Some(compacting)
    }

    /// The summary request itself is too long: it is built from about half of the conversation, as long as that may help.
    pub(in crate::session) fn shorten(&mut self) -> bool {
        let may_help = |compacting: &&mut Compacting| compacting.shortened < MOST_SHORTENINGS;
        let Some(compacting) = self.compacting.as_mut().filter(may_help) else {
            return false;
        };
        compacting.shortened += 1;
        compacting.attempt = 0;
        true
    }

    /// The model wrote no summary: it is asked again without tools, if it had any.
    pub(in crate::session) fn do_without_tools(&mut self) -> bool {
        let has_tools = |compacting: &&mut Compacting| !compacting.without_tools;
        let Some(compacting) = self.compacting.as_mut().filter(has_tools) else {
            return false;
        };
        compacting.without_tools = true;
        compacting.attempt = 0;
        true
    }

    /// The summary has arrived; hooks run on the restart from it.
    pub(in crate::session) fn restart_with(&mut self, summary: String) {
        if let Some(compacting) = &mut self.compacting {
            compacting.restart = Some(Restart {
                summary,
                context: Vec::new(),
            });
        }
    }

    /// The restart in progress, while hooks run on it.
    pub(in crate::session) fn restart(&mut self) -> Option<&mut Restart> {
        self.compacting.as_mut()?.restart.as_mut()
    }

    /// Whether hooks are running on a restart.
    pub(in crate::session) fn is_restarting(&self) -> bool {
        let compacting = self.compacting.as_ref();
        compacting.is_some_and(|compacting| compacting.restart.is_some())
    }

    /// Takes the restart after its hooks have run.
    pub(in crate::session) fn take_restart(&mut self) -> Option<Restart> {
        self.compacting.as_mut()?.restart.take()
    }

    /// The conversation now begins with a summary.
    pub(in crate::session) fn compacted(&mut self, trigger: CompactionTrigger) {
        self.summaries += 1;
        self.manual_compaction = trigger == CompactionTrigger::Manual;
    }

    /// The number of summaries in this run.
    pub(in crate::session) fn summaries(&self) -> u32 {
        self.summaries
    }

    /// Whether the last compaction was all that the prompt asked for.
    pub(in crate::session) fn asked_for_compaction(&self) -> bool {
        self.manual_compaction
    }
}
