//! What commands put out in the background, in files beside the transcripts of their sessions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_core::{SessionId, effect::Answer};
use windlass_engine::store::StoreError;

use super::launch::Launch;
use crate::store::{SessionFiles, TaskOutputs};

/// The files of all sessions of an engine. Cloning is cheap.
#[derive(Clone)]
pub(super) struct OutputFiles {
    files: Arc<SessionFiles>,
    /// Without transcripts there are no files beside them.
    are_kept: bool,
    sessions: Arc<Mutex<HashMap<SessionId, Arc<TaskOutputs>>>>,
}

impl OutputFiles {
    pub(super) fn new(launch: &Launch) -> Self {
        Self {
            files: Arc::new(SessionFiles::of(&launch.config, &launch.directory())),
            are_kept: !launch.flags.no_session_persistence,
            sessions: Arc::default(),
        }
    }

    fn of(&self, session: SessionId) -> Arc<TaskOutputs> {
        // A panic while it is held leaves a map that is whole.
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(TaskOutputs::new(&self.files, session));
        Arc::clone(sessions.entry(session).or_insert_with(new))
    }

    /// The file for what a command puts out.
    pub(super) fn open(&self, session: SessionId, call: &str) -> Result<String, StoreError> {
        Ok(self.of(session).begin(call)?.display().to_string())
    }

    /// What a call answers goes into its file, if it has one.
    pub(super) fn answered(
        &self,
        session: SessionId,
        call: &str,
        answer: &Answer,
    ) -> Result<(), StoreError> {
        match answer {
            _ if !self.are_kept => Ok(()),
            Answer::Output(_) => self.of(session).answered(call, answer),
            answer if answer.is_last() => {
                self.of(session).end(call);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
