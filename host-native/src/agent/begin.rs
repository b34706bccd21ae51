//! How a session of an agent begins: its servers are started, and what was said before is read.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use windlass_core::{Session, SessionId, Spec, Uuid};
use windlass_engine::transcript::{ResumeError, SavedSession, Which};

use super::{BuildError, Parts, run::RunError};
use crate::{
    host::RunTool,
    store::{Beginning, SessionTranscript, SharedStore},
};

/// Who began the session, for other readers of its transcript.
const ENTRYPOINT: &str = "sdk-rust";

/// What the sessions of an agent go on with.
#[derive(Debug, Clone, Default)]
pub(super) struct Resumes {
    /// None: they begin anew.
    pub(super) session: Option<Which>,
    pub(super) is_fork: bool,
}

/// A session that can be turned, and what belongs to it alone.
pub(super) struct Started {
    pub(super) id: SessionId,
    pub(super) machine: Begun,
    pub(super) tools: Arc<BTreeMap<String, Arc<dyn RunTool>>>,
    /// Who writes its transcript, where one is kept.
    pub(super) transcript: Option<SessionTranscript>,
}

pub(super) enum Begun {
    /// One that begins with its first prompt, to be made of this.
    Anew(Arc<Spec>),
    /// One in which something was said already.
    GoesOn(Box<Session>),
}

impl Resumes {
    /// Whether all of it can be followed, where sessions are kept or are not.
    pub(super) fn check(&self, has_store: bool) -> Result<(), BuildError> {
        match &self.session {
            None if self.is_fork => Err(BuildError::NothingToFork),
            None => Ok(()),
            Some(Which::Session(_)) if !has_store => Err(BuildError::NoStore("resume")),
            Some(Which::Latest) if !has_store => Err(BuildError::NoStore("continue_latest")),
            Some(Which::Session(id)) if Uuid::parse(id).is_none() => {
                Err(BuildError::SessionId(id.clone()))
            }
            _ => Ok(()),
        }
    }

    /// The id that a session will have, where that is known before the store is asked. `drawn` is the one of a new session.
    pub(super) fn id(&self, drawn: SessionId) -> Option<SessionId> {
        match &self.session {
            None => Some(drawn),
            _ if self.is_fork => Some(drawn),
            Some(Which::Session(id)) => Uuid::parse(id),
            Some(Which::Latest) => None,
        }
    }
}

impl Parts {
    /// Begins a session under an id and a seed that were drawn for it. One that goes on has its own id.
    pub(super) async fn begin(
        &self,
        spec: Arc<Spec>,
        drawn: SessionId,
        seed: [u8; 32],
    ) -> Result<Started, RunError> {
        #[cfg(all(unix, feature = "mcp"))]
        let (spec, tools) = self.with_processes(spec).await?;
        #[cfg(not(all(unix, feature = "mcp")))]
        let tools = Arc::clone(&self.tools);
        let Some(store) = &self.store else {
            return Ok(Started {
                id: drawn,
                machine: Begun::Anew(spec),
                tools,
                transcript: None,
            });
        };
        let opened = self.opened(store, spec, drawn, seed).await;
        let (id, machine, transcript) = opened.map_err(|error| RunError::NotResumed {
            reason: error.to_string(),
        })?;
        Ok(Started {
            id,
            machine,
            tools,
            transcript: Some(transcript),
        })
    }

    /// The session that the store has, or a new one in it.
    async fn opened(
        &self,
        store: &SharedStore,
        spec: Arc<Spec>,
        drawn: SessionId,
        seed: [u8; 32],
    ) -> Result<(SessionId, Begun, SessionTranscript), ResumeError> {
        let (saved, lease) = match &self.resumes.session {
            None => (None, None),
            Some(which) if self.resumes.is_fork => (SavedSession::find(store, which).await?, None),
            Some(which) => SavedSession::take(store, which).await?.unzip(),
        };
        let (id, beginning) = match (&saved, lease) {
            (None, _) => (drawn, Beginning::New),
            (Some(saved), Some(lease)) => (saved.id, Beginning::Resumed(saved, lease)),
            (Some(saved), None) => (drawn, Beginning::Fork(saved)),
        };
        let cwd = Path::new(&spec.environment.cwd);
        let transcript =
            SessionTranscript::begin(store.clone(), id, cwd, ENTRYPOINT, beginning).await?;
        let machine = match saved {
            None => Begun::Anew(spec),
            Some(saved) => {
                let spent = saved.cost_state().spent;
                let seed = continued(seed, saved.leaf());
                // What was mended is what the next request would have been refused for.
                let (session, _) = Session::resume_transcript(spec, id, seed, saved.transcript());
                Begun::GoesOn(Box::new(session.counting_on(spent)))
            }
        };
        Ok((id, machine, transcript))
    }
}

/// A seed whose ids are not in the transcript, also where the session began with the same seed.
fn continued(mut seed: [u8; 32], leaf: Option<Uuid>) -> [u8; 32] {
    if let Some(leaf) = leaf {
        for (byte, of_leaf) in seed.iter_mut().zip(leaf.to_string().bytes()) {
            *byte ^= of_leaf;
        }
    }
    seed
}
