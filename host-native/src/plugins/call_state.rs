//! What the host knows during a call: what is the call's, and what is the instance's that it runs in.
//!
//! An instance may serve one call or the calls of a session, one after the other. What a call may do and use is the call's: it is made
//! as one value for each call, and nothing of it is there in the next one. The instance keeps what it is made of, and names: a handle
//! that a component kept from an earlier call is a name or a number, and is looked up in what the present call has.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::SystemTime,
};

use super::{
    authority::Bound,
    limits::{CallLimits, Meter},
    log_sink::{LogLevel, LogLine, LogSink},
    memory_budget::Reserved,
    network::{Exchanges, Network},
    outcome::{Stopped, Watch},
    progress::Reports,
    secret::SecretSource,
    wasi::{handles::Handles, listings::Listings, open_files::OpenFiles},
};
use crate::files::Reach;

/// The most lines that the host writes about refusals of one call, beside those of files.
const MAX_NOTES: u32 = 100;

/// How many handles of `windlass:host` an instance holds at most at one time. Each uses some host memory outside of linear memory.
const MAX_HANDLES: u32 = 100_000;

/// How many names of directory trees an instance knows at most; each call may bring others.
const MAX_TREES: usize = 10_000;

/// The data of a store.
pub(super) struct CallState {
    pub(super) call: CallPart,
    pub(super) instance: InstancePart,
}

/// What is a call's own: all of its authority and all of its budgets, and what it opened.
pub(super) struct CallPart {
    pub(super) watch: Watch,
    pub(super) reach: Reach,
    pub(super) bound: Bound,
    pub(super) reports: Reports,
    /// The number of bytes of log messages that are still accepted.
    pub(super) log_left: usize,
    /// The bytes of the result.
    pub(super) output: usize,
    /// The number of calls of the host so far, and how many there may be.
    pub(super) calls: u32,
    pub(super) most_calls: u32,
    /// The number of lines that the host itself may still write about the call.
    pub(super) notes_left: u32,
    pub(super) exchanges: Exchanges,
    pub(super) files: OpenFiles,
    pub(super) listings: Listings,
    /// When the call began.
    pub(super) started: SystemTime,
    /// The memory that was taken for it, unless its component is part of the host.
    pub(super) memory: Option<Reserved>,
}

impl CallPart {
    /// What a call has when it begins.
    pub(super) fn new(
        watch: Watch,
        reach: Reach,
        bound: Bound,
        reports: Reports,
        limits: &CallLimits,
    ) -> Self {
        Self {
            watch,
            reach,
            bound,
            reports,
            log_left: limits.log,
            output: 0,
            calls: 0,
            most_calls: limits.host_calls,
            notes_left: MAX_NOTES,
            exchanges: Exchanges::new(limits.http),
            files: OpenFiles::default(),
            listings: Listings::default(),
            started: SystemTime::now(),
            memory: None,
        }
    }

    /// What an instance has while it waits for its next call: nothing, and no time.
    pub(super) fn none(nothing: Reach, limits: &CallLimits) -> Self {
        let (bound, reports) = (Bound::default(), Reports::new(None));
        Self::new(Watch::ended(), nothing, bound, reports, limits)
    }
}

/// What lasts as long as an instance. Nothing in it is authority over files, the network or secrets, and no budget but those of memory.
pub(super) struct InstancePart {
    pub(super) component: Arc<str>,
    pub(super) log: LogSink,
    pub(super) network: Arc<Network>,
    pub(super) secrets: SecretSource,
    /// In place of the environment of this process.
    pub(super) variables: Option<Arc<BTreeMap<String, String>>>,
    pub(super) meter: Meter,
    /// What the handles of WASI stand for.
    pub(super) handles: Handles,
    /// The names of the directory trees that handles of `windlass:host` stand for.
    pub(super) trees: Vec<Arc<str>>,
    /// The directory trees that the component was told when it asked WASI for them, which libraries do once.
    told: Option<BTreeSet<String>>,
    /// The number of handles of `windlass:host`.
    held: u32,
    /// How many numbers there were.
    numbers: u64,
}

impl InstancePart {
    /// One of a component that has not begun.
    pub(super) fn new(
        component: Arc<str>,
        log: LogSink,
        network: Arc<Network>,
        secrets: SecretSource,
        variables: Option<Arc<BTreeMap<String, String>>>,
        limits: &CallLimits,
    ) -> Self {
        Self {
            component,
            log,
            network,
            secrets,
            variables,
            meter: Meter::new(limits),
            handles: Handles::default(),
            trees: Vec::new(),
            told: None,
            held: 0,
            numbers: 0,
        }
    }

    /// A number that nothing in this instance had before.
    pub(super) fn number(&mut self) -> u64 {
        // No instance lives to see the end of them.
        self.numbers = self.numbers.wrapping_add(1);
        self.numbers
    }

    /// Notes that the component was told these directory trees as all that there are.
    pub(super) fn tell(&mut self, trees: &[String]) {
        self.told = Some(trees.iter().cloned().collect());
    }

    /// Whether a call with this reach has directory trees that the component would not find, as it does not ask for them again.
    pub(super) fn would_miss(&self, reach: &mut Reach) -> bool {
        let told = self.told.as_ref();
        told.is_some_and(|told| reach.roots().any(|root| !told.contains(&root.path)))
    }

    /// Counts one more handle of a directory tree, and gives the number of its name.
    pub(super) fn hold_tree(&mut self, path: &str) -> Result<u32, Stopped> {
        self.hold()?;
        let known = self.trees.iter().position(|tree| **tree == *path);
        let index = known.unwrap_or(self.trees.len());
        if known.is_none() {
            if index >= MAX_TREES {
                return Err(Stopped::Handles);
            }
            self.trees.push(path.into());
        }
        u32::try_from(index).map_err(|_| Stopped::Handles)
    }

    /// Counts one more handle of `windlass:host`.
    pub(super) fn hold(&mut self) -> Result<(), Stopped> {
        self.held += 1;
        match self.held > MAX_HANDLES {
            true => Err(Stopped::Handles),
            false => Ok(()),
        }
    }

    /// One of them was dropped.
    pub(super) fn let_go(&mut self) {
        self.held = self.held.saturating_sub(1);
    }
}

impl CallState {
    /// What every function of the host is linked with ([`Runtime`](super::engine::Runtime)): wasmtime gets the state of a call from
    /// here and nowhere else, so that none of them, and no end of a handle, is reached without having been counted.
    pub(super) fn entered(&mut self) -> &mut Self {
        self.call.calls = self.call.calls.saturating_add(1);
        self
    }

    /// Ends calls that have timed out, were cancelled, or have called the host too often. wasmtime asks this regularly; functions
    /// that take time or memory of the host begin with it, too.
    pub(super) fn may_go_on(&self) -> Result<(), Stopped> {
        self.call.watch.check()?;
        self.may_call()
    }

    /// Ends calls that have called the host too often.
    pub(super) fn may_call(&self) -> Result<(), Stopped> {
        match self.call.calls > self.call.most_calls {
            true => Err(Stopped::HostCalls),
            false => Ok(()),
        }
    }

    /// Writes a line of the host to the log: what a component is not told.
    pub(super) fn note(&mut self, message: &str) {
        let Some(left) = self.call.notes_left.checked_sub(1) else {
            return;
        };
        self.call.notes_left = left;
        self.instance.log.write(LogLine {
            component: &self.instance.component,
            level: LogLevel::Info,
            message,
            from_host: true,
        });
    }

    /// Writes a message of the component to the log, as far as the call has not logged too much.
    pub(super) fn log_line(&mut self, level: LogLevel, message: &str) {
        let end = message.floor_char_boundary(self.call.log_left);
        self.call.log_left -= end;
        if end > 0 {
            self.instance.log.write(LogLine {
                component: &self.instance.component,
                level,
                message: &message[..end],
                from_host: false,
            });
        }
    }

    /// Writes the refusals of the call to the log.
    pub(super) fn report_refusals(&self) {
        for refusal in self.call.reach.refusals() {
            self.instance.log.write(LogLine {
                component: &self.instance.component,
                level: LogLevel::Info,
                message: &format!("refused {}: {}", refusal.path, refusal.reason),
                from_host: true,
            });
        }
    }
}
