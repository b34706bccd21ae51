//! Compactions of a run: how far the one under way is, and what became of those before it.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Run;
use crate::{
    hook::CompactionTrigger, id::Millis, json::RawJson, message::CompactMetadata, model::ErrorClass,
};

/// So many times at most the request for a summary is cut to about half.
const MOST_SHORTENINGS: u32 = 6;

/// A compaction under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Compacting {
    trigger: CompactionTrigger,
    /// What the summary should keep, besides the usual.
    instructions: String,
    pre_tokens: u64,
    began: Millis,
    /// Attempts of the request as it stands, for the retry policy.
    pub(super) attempt: u32,
    /// How often the conversation was cut to about half because the request was too long itself.
    shortened: u32,
    /// The model called tools in place of writing: it is asked again without any.
    without_tools: bool,
    /// The error that made it necessary, and which holds if it fails.
    because: Option<(ErrorClass, String)>,
    /// The start from the summary, while hooks are looking at it.
    #[serde(default)]
    restart: Option<Restart>,
}

/// A summary that has come, while hooks look at the start from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Restart {
    /// What the model wrote.
    pub(in crate::session) summary: String,
    /// What the hooks add behind it.
    pub(in crate::session) context: Vec<RawJson>,
}

impl Compacting {
    pub(in crate::session) fn trigger(&self) -> CompactionTrigger {
        self.trigger
    }

    /// What the summary should keep, besides the usual.
    pub(in crate::session) fn instructions(&self) -> &str {
        &self.instructions
    }

    /// How often the conversation is to be cut to about half for the request.
    pub(in crate::session) fn shortened(&self) -> u32 {
        self.shortened
    }

    /// Whether the model is asked without tools.
    pub(in crate::session) fn without_tools(&self) -> bool {
        self.without_tools
    }

    /// The error that made it necessary, and which holds if it fails.
    pub(in crate::session) fn into_cause(self) -> Option<(ErrorClass, String)> {
        self.because
    }

    /// What is said of it once it is done.
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
    /// A compaction begins, of so many tokens. With an error that made it necessary it is the only one of its kind in a run.
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

    /// The compaction under way.
    pub(in crate::session) fn compacting(&self) -> Option<&Compacting> {
        self.compacting.as_ref()
    }

    pub(in crate::session) fn is_compacting(&self) -> bool {
        self.compacting.is_some()
    }

    /// The compaction is over, whatever came of it.
    pub(in crate::session) fn end_compaction(&mut self) -> Option<Compacting> {
        self.compacting.take()
    }

    /// Whether a compaction may begin by itself: none has failed.
    pub(in crate::session) fn may_compact(&self) -> bool {
        !self.compaction_failed
    }

    /// Whether one may begin because the server found the request too long: once is enough.
    pub(in crate::session) fn may_compact_because(&self) -> bool {
        !self.compacted_because && !self.compaction_failed
    }

    /// The compaction failed; it is not tried again by itself.
    pub(in crate::session) fn fail_compaction(&mut self) -> Option<Compacting> {
        let compacting = self.compacting.take()?;
        self.compaction_failed = true;
        Some(compacting)
    }

    /// The request for the summary is too long itself: it is made from about half of the conversation, as long as that may
    /// help.
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

    /// The summary has come; hooks look at the start from it.
    pub(in crate::session) fn restart_with(&mut self, summary: String) {
        if let Some(compacting) = &mut self.compacting {
            compacting.restart = Some(Restart {
                summary,
                context: Vec::new(),
            });
        }
    }

    /// The start from a summary that is under way, while hooks look at it.
    pub(in crate::session) fn restart(&mut self) -> Option<&mut Restart> {
        self.compacting.as_mut()?.restart.as_mut()
    }

    /// Whether hooks are looking at the start from a summary that is under way.
    pub(in crate::session) fn is_restarting(&self) -> bool {
        let compacting = self.compacting.as_ref();
        compacting.is_some_and(|compacting| compacting.restart.is_some())
    }

    /// Hooks have looked at it.
    pub(in crate::session) fn take_restart(&mut self) -> Option<Restart> {
        self.compacting.as_mut()?.restart.take()
    }

    /// The conversation begins with a summary now.
    pub(in crate::session) fn compacted(&mut self, trigger: CompactionTrigger) {
        self.summaries += 1;
        self.manual_compaction = trigger == CompactionTrigger::Manual;
    }

    /// Summaries in this run.
    pub(in crate::session) fn summaries(&self) -> u32 {
        self.summaries
    }

    /// Whether the last compaction was all that the prompt asked for.
    pub(in crate::session) fn asked_for_compaction(&self) -> bool {
        self.manual_compaction
    }
}
