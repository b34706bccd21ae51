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
    sessions: Arc<Mutex<HashMap<SessionId, Arc<TaskOutputs>>>>,
}

impl OutputFiles {
    pub(super) fn new(launch: &Launch) -> Self {
        Self {
            files: Arc::new(SessionFiles::of(&launch.config, &launch.directory())),
            sessions: Arc::default(),
        }
    }

    /// The file for what a command puts out.
    pub(super) fn open(&self, session: SessionId, call: &str) -> Result<String, StoreError> {
        let outputs = {
            // A panic while it is held leaves a map that is whole.
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(TaskOutputs::new(&self.files, session));
            Arc::clone(sessions.entry(session).or_insert_with(new))
        };
        Ok(outputs.begin(call)?.display().to_string())
    }

    /// What a call answers goes into its file, if it has one.
    pub(super) fn answered(
        &self,
        session: SessionId,
        call: &str,
        answer: &Answer,
    ) -> Result<(), StoreError> {
        if !answer.is_last() && !matches!(answer, Answer::Output(_)) {
            return Ok(());
        }
        let outputs = {
            let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.get(&session).cloned()
        };
        let Some(outputs) = outputs else {
            return Ok(());
        };
        match answer.is_last() {
            true => {
                outputs.end(call);
                Ok(())
            }
            false => outputs.answered(call, answer),
        }
    }
}
