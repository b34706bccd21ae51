//! The faults of a simulation, their probabilities, and the faults that occurred.

/// The probabilities of faults, in parts per thousand: of the operations of their kind, or of the steps of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// Model exchanges that fail before they begin, or are answered by a busy server: a retry helps.
    pub model_busy: u16,
    /// Model exchanges that are cut at some byte.
    pub model_cut: u16,
    /// Model exchanges that a retry does not help: refusals, invalid streams, other documents.
    pub model_broken: u16,
    /// Model exchanges after whose last byte the server stays silent.
    pub model_silent: u16,
    /// Tool calls that fail, or that the host drops.
    pub tool: u16,
    /// Transcript writes that fail.
    pub persist: u16,
    /// Paths that cannot be resolved, or are resolved wrongly.
    pub resolve: u16,
    /// Permission questions that are not answered, or are answered by ending the run.
    pub permission: u16,
    /// Hooks that crash, return invalid output, hang, or end the run.
    pub hook: u16,
    /// Steps at which the run is interrupted.
    pub interrupt: u16,
    /// Steps at which the session is saved and restored, with some of its effects lost.
    pub crash: u16,
    /// Whether a crash loses calls and questions too. Without, only requests and writes are lost.
    pub crash_loses_calls: bool,
    /// Steps at which the mode or model is changed, or an external event occurs.
    pub settings: u16,
    /// Steps at which the host violates the contract.
    pub breach: u16,
    /// Steps before which the session is saved and restored; the restored one must then behave like the original.
    pub restore: u16,
    /// Whether it is also saved, restored and saved again at every step: the bytes must be identical. This takes most of the
    /// time of a run and does not affect it otherwise.
    pub restore_bytes: bool,
    /// The number of steps after which no more faults are injected.
    pub steps: u64,
}

impl Faults {
    /// No faults; answers arrive in any order, and are divided into pieces anywhere.
    #[must_use]
    pub fn none() -> Self {
        Self {
            model_busy: 0,
            model_cut: 0,
            model_broken: 0,
            model_silent: 0,
            tool: 0,
            persist: 0,
            resolve: 0,
            permission: 0,
            hook: 0,
            interrupt: 0,
            crash: 0,
            crash_loses_calls: false,
            settings: 0,
            breach: 0,
            restore: 1000,
            restore_bytes: true,
            steps: 200,
        }
    }

    /// Faults from which an agent recovers by itself: lost connections, busy servers, cut streams, silent servers, and
    /// crashes in which nothing is lost that cannot be repeated.
    #[must_use]
    pub fn survivable() -> Self {
        Self {
            model_busy: 80,
            model_cut: 80,
            model_silent: 50,
            crash: 10,
            ..Self::none()
        }
    }

    /// All faults, with high probabilities.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            model_busy: 80,
            model_cut: 100,
            model_broken: 120,
            model_silent: 100,
            tool: 150,
            persist: 120,
            resolve: 150,
            permission: 120,
            hook: 120,
            interrupt: 30,
            crash: 20,
            crash_loses_calls: true,
            settings: 40,
            breach: 8,
            restore: 80,
            restore_bytes: true,
            steps: 120,
        }
    }

    /// The same faults, with probabilities divided by this number.
    #[must_use]
    pub fn rarer(&self, times: u16) -> Self {
        let times = times.max(1);
        Self {
            model_busy: self.model_busy / times,
            model_cut: self.model_cut / times,
            model_broken: self.model_broken / times,
            model_silent: self.model_silent / times,
            tool: self.tool / times,
            persist: self.persist / times,
            resolve: self.resolve / times,
            permission: self.permission / times,
            hook: self.hook / times,
            interrupt: self.interrupt / times,
            crash: self.crash / times,
            settings: self.settings / times,
            breach: self.breach / times,
            ..self.clone()
        }
    }

    /// The same faults without those that are tied to a step: with another order of answers they would occur elsewhere.
    /// Questions and hooks that end the run are left out too, because the order determines what has been done by then; see
    /// [`Sim::permuted`](super::Sim::permuted).
    #[must_use]
    pub fn independent_of_order(&self) -> Self {
        Self {
            interrupt: 0,
            crash: 0,
            settings: 0,
            breach: 0,
            ..self.clone()
        }
    }
}

/// A fault or unusual event of a run: one or more for each kind of [`Faults`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// There was no connection to the model, or it broke before the response began.
    Unreachable,
    /// The server was busy: 429, 500, 503, 529.
    Busy,
    /// The request was rejected permanently: 4xx, too large, or closed or cancelled without a response.
    RefusedRequest,
    /// The stream broke off at some byte.
    CutStream,
    /// The stream contained invalid data.
    GarbledStream,
    /// The stream contained an error event.
    ErrorInStream,
    /// Another document was sent in place of a response.
    OtherDocument,
    /// The server did not close its response.
    SilentServer,
    /// A tool failed, or gave no result.
    FailedTool,
    /// The host dropped a call.
    DroppedTool,
    /// A transcript write failed.
    FailedWrite,
    /// The host dropped a write.
    DroppedWrite,
    /// A path could not be resolved, or was resolved wrongly.
    WrongPath,
    /// A permission question was not answered.
    Unanswered,
    /// A permission question was answered by ending the run.
    StoppedByPerson,
    /// A hook crashed, returned invalid output, or was dropped by the host.
    FailedHook,
    /// A hook ended the run.
    StoppedByHook,
    /// A hook did not answer.
    HangingHook,
    /// A hook was stopped by its timeout.
    TimedOutHook,
    /// The run was interrupted.
    Interrupt,
    /// The session was saved and restored.
    Crash,
    /// An effect was lost in a crash.
    LostEffect,
    /// Settings were changed, or an external event occurred.
    Settings,
    /// The host violated the contract.
    Breach,
    /// An effect completed before one that was issued earlier.
    Overtaken,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [Self; 25] = [
        Self::Unreachable,
        Self::Busy,
        Self::RefusedRequest,
        Self::CutStream,
        Self::GarbledStream,
        Self::ErrorInStream,
        Self::OtherDocument,
        Self::SilentServer,
        Self::FailedTool,
        Self::DroppedTool,
        Self::FailedWrite,
        Self::DroppedWrite,
        Self::WrongPath,
        Self::Unanswered,
        Self::StoppedByPerson,
        Self::FailedHook,
        Self::StoppedByHook,
        Self::HangingHook,
        Self::TimedOutHook,
        Self::Interrupt,
        Self::Crash,
        Self::LostEffect,
        Self::Settings,
        Self::Breach,
        Self::Overtaken,
    ];
}
