//! What may go wrong, how often, and what did.

/// How often what goes wrong: in parts per thousand, of the things of its kind or of the steps of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// Model exchanges that fail before they begin or are answered by a busy server: worth another try.
    pub model_busy: u16,
    /// Model exchanges that are cut at some byte.
    pub model_cut: u16,
    /// Model exchanges that another try does not mend: refusals, nonsense in the stream, other documents.
    pub model_broken: u16,
    /// Model exchanges after whose last byte the server stays silent.
    pub model_silent: u16,
    /// Tool calls that fail, or that the host drops.
    pub tool: u16,
    /// Transcript writes that fail.
    pub persist: u16,
    /// Paths that cannot be resolved, or are resolved wrongly.
    pub resolve: u16,
    /// Questions that nobody answers, or that are answered by ending the run.
    pub permission: u16,
    /// Hooks that crash, talk nonsense, hang, or end the run.
    pub hook: u16,
    /// Steps at which the run is interrupted.
    pub interrupt: u16,
    /// Steps at which the session is put away and taken up again, with some of its effects lost.
    pub crash: u16,
    /// Whether a crash loses calls and questions too. Without, only requests and writes are lost.
    pub crash_loses_calls: bool,
    /// Steps at which mode or model are changed, or something happens outside.
    pub settings: u16,
    /// Steps at which the host breaks the contract.
    pub breach: u16,
    /// Steps before which the session is put away and taken up again, and must then do what the one that stayed does.
    pub restore: u16,
    /// Whether it is put away, taken up and put away again at every step, too, and not only at those: the bytes must be the same.
    /// That takes most of the time of a run, and changes nothing else of it.
    pub restore_bytes: bool,
    /// Steps after which nothing more goes wrong.
    pub steps: u64,
}

impl Faults {
    /// Nothing goes wrong; answers come in any order, and pieces of answers are cut anywhere.
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

    /// What an agent gets over by itself: lost connections, busy servers, cut streams, silent servers, and crashes in
    /// which nothing is lost that cannot be done again.
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

    /// Everything, all the time.
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

    /// These, each so many times less often.
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

    /// These, without what happens at a step: in another order of answers it would happen elsewhere. Questions that end the
    /// run and hooks that do stay away, too, as what else is done by then is up to the order; see
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

/// Something that goes wrong in a run, or is out of the ordinary: one of each kind of [`Faults`], and of the ways in
/// which it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// No connection to the model, or one that broke before the answer began.
    Unreachable,
    /// A busy server: 429, 500, 503, 529.
    Busy,
    /// A request that is refused for good: 4xx, too large, ended or cancelled without an answer.
    RefusedRequest,
    /// A stream that broke off at some byte.
    CutStream,
    /// A stream with nonsense in it.
    GarbledStream,
    /// An error as an event of a stream.
    ErrorInStream,
    /// Another document in place of a response.
    OtherDocument,
    /// A server that does not close its answer.
    SilentServer,
    /// A tool that failed, or gave nothing.
    FailedTool,
    /// A call that the host dropped.
    DroppedTool,
    /// A transcript that could not be written.
    FailedWrite,
    /// A write that the host dropped.
    DroppedWrite,
    /// A path that could not be resolved, or was resolved wrongly.
    WrongPath,
    /// A question that nobody answered.
    Unanswered,
    /// A question that was answered by ending the run.
    StoppedByPerson,
    /// A hook that crashed, talked nonsense, or that the host dropped.
    FailedHook,
    /// A hook that ended the run.
    StoppedByHook,
    /// A hook that does not answer.
    HangingHook,
    /// A hook that was stopped because its time was over.
    TimedOutHook,
    /// The run was interrupted.
    Interrupt,
    /// The session was put away and taken up again.
    Crash,
    /// An effect that was lost in a crash.
    LostEffect,
    /// Other settings, or something from outside.
    Settings,
    /// A host that broke the contract.
    Breach,
    /// An effect that came to its end before another that was asked for before it.
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
