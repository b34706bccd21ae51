//! Opens the session's transcript and checkpoints: of a session to be resumed, or of a new one.

use super::{
    Engine, State,
    io::{Checkpoint, Effect, Ending, Fault, LoadedSession, Output},
    log::TranscriptLog,
    pending::Pending,
    state::Step,
};
use crate::{
    store::Lease,
    transcript::{ResumeOptions, SavedSession, Which},
};

/// How long an engine that cannot begin a session waits for the first input of the SDK, in milliseconds.
const FIRST_WORDS_MS: u64 = 1_000;

/// A session to be resumed.
#[derive(Debug)]
pub(super) struct ResumedSession {
    pub(super) saved: SavedSession,
    /// Whether it continues under another id, in another transcript.
    pub(super) is_fork: bool,
    /// The lease for it, until its transcript is continued.
    lease: Option<Lease>,
}

impl Engine {
    /// Loads the session to be resumed, if there is one.
    pub(super) fn open(&mut self) {
        let flags = &self.launch.flags;
        let which = match (&flags.resume, flags.continue_session) {
            (Some(id), _) => Which::Session(id.clone()),
            (None, true) => Which::Latest,
            (None, false) => return self.keep(),
        };
        let exclusive = !flags.fork_session && !flags.no_session_persistence;
        self.effect(Effect::Load { which, exclusive }, Pending::Load);
    }

    /// Handles the result of loading the session.
    pub(super) fn loaded(&mut self, loaded: Result<Option<LoadedSession>, String>) {
        let flags = &self.launch.flags;
        let options = ResumeOptions {
            at: flags.resume_session_at.clone().filter(|at| !at.is_empty()),
            drops_turn: flags.resume_drops_turn.clone(),
        };
        let is_fork = flags.fork_session;
        let resumed = loaded.and_then(|loaded| {
            let Some(LoadedSession { saved, lease }) = loaded else {
                return Ok(None);
            };
            match saved.truncated(&options) {
                Ok(saved) => Ok(Some(ResumedSession {
                    saved,
                    is_fork,
                    lease,
                })),
                Err(error) => {
                    let release = lease.map(Output::Release);
                    release.into_iter().for_each(|it| self.outbox.push(it));
                    Err(error.to_string())
                }
            }
        });
        match resumed {
            Ok(resumed) => {
                // An embedding program learns it from the id of its session.
                if resumed.is_none() && self.launch.face.has_lines() {
                    self.warn("there is no session here that could go on: a new one begins");
                }
                if let Some(resumed) = resumed.as_ref().filter(|it| !it.is_fork) {
                    self.session_id = resumed.saved.id;
                }
                self.resumed = resumed;
                self.keep();
            }
            Err(problem) => self.not_opened(&problem),
        }
    }

    /// Opens the transcript under the session's id; the checkpoints follow.
    pub(super) fn keep(&mut self) {
        let lease = self.resumed.as_mut().and_then(|it| it.lease.take());
        let is_new = self.resumed.as_ref().is_none_or(|it| it.is_fork);
        let persists = !self.launch.flags.no_session_persistence;
        // An id given by the caller must not be in use, even if nothing is persisted.
        let is_given = is_new
            && self.launch.face.has_lines()
            && self.launch.session_id == Some(self.session_id);
        match lease {
            Some(lease) => self.leased(Ok(lease)),
            None if persists || is_given => {
                let create = Effect::Create(self.session_id);
                self.effect(create, Pending::Lease);
            }
            None => self.kept(),
        }
    }

    /// Handles the result of acquiring the lease.
    pub(super) fn leased(&mut self, lease: Result<Lease, String>) {
        let lease = match lease {
            Ok(lease) => lease,
            Err(problem) => return self.not_opened(&problem),
        };
        if self.launch.flags.no_session_persistence {
            self.outbox.push(Output::Release(lease));
            return self.kept();
        }
        let log = TranscriptLog::new(lease, self.scribe());
        self.log = Some(match &self.resumed {
            None => log,
            Some(ResumedSession { saved, is_fork, .. }) => {
                let log = log.going_on(saved);
                match is_fork {
                    true => log.beginning_with(saved.forked(self.session_id)),
                    false => log,
                }
            }
        });
        self.kept();
    }

    /// The transcript is ready: opens the checkpoints.
    fn kept(&mut self) {
        if !self.launch.file_checkpoints {
            return self.checkpoints_opened(Ok(()));
        }
        let resumed = self.resumed.as_ref();
        let begins_with = resumed.filter(|it| it.is_fork || self.log.is_none());
        let open = Checkpoint::Open {
            session: self.session_id,
            lease: self.log.as_ref().map(TranscriptLog::lease),
            begins_with: begins_with.map(|it| it.saved.id),
        };
        self.effect(Effect::Checkpoint(open), Pending::OpenCheckpoints);
    }

    pub(super) fn checkpoints_opened(&mut self, opened: Result<(), String>) {
        self.keeps_files = self.launch.file_checkpoints && opened.is_ok();
        match (opened, self.state) {
            (Ok(()), State::Opening) => {
                self.step(Step::Opened);
                self.unblock();
                self.opened_for_program();
            }
            (Err(problem), State::Opening) => self.not_opened(&problem),
            (opened, _) => {
                if let Err(problem) = opened {
                    self.warn(&problem); // there are no checkpoints then, and rewinding says so
                }
                self.cleared();
            }
        }
    }

    /// Reports that no session can begin: to an SDK as a result and to the user as text, to an embedding program as a fault.
    fn not_opened(&mut self, problem: &str) {
        if self.state != State::Opening {
            self.warn(problem);
            return self.kept();
        }
        self.step(Step::NotOpened);
        self.close_log();
        if !self.launch.face.has_lines() {
            let fault = Fault::NotOpened(problem.to_owned());
            self.outbox.push(Output::Fault(fault));
            return self.heard();
        }
        if self.launch.tells_refusals {
            self.outbox.push(Output::Refusal(problem.to_owned()));
        }
        self.outbox.refuse(problem);
        // An SDK that cannot write its first request because the engine has exited would report that failure instead of the
        // result.
        let heard_already = !self.inbox.is_empty();
        self.refused_at = Some(self.now.mono.after(FIRST_WORDS_MS));
        if heard_already {
            self.heard();
        }
    }

    /// The first input of the SDK has arrived, or none will: ends an engine that cannot begin a session.
    pub(super) fn heard(&mut self) {
        if self.state == State::Refused {
            self.refused_at = None;
            self.step(Step::End);
            self.outbox
                .push(Output::Exit(Ending::Done { failed: true }));
        }
    }
}
