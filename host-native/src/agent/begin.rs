//! How the engine of an agent's session is started: with everything it needs, since the program sends no further set-up.

use std::{path::Path, sync::Arc};

use windlass_core::{SessionId, Spec, Uuid};
use windlass_engine::{
    machine::{Configuration, Face, Launch},
    protocol::flags::Flags,
    transcript::Which,
};

use super::{BuildError, Parts};
use crate::store::git_branch;

/// The entry point recorded in the transcript, for other programs that read it.
const ENTRYPOINT: &str = "sdk-rust";

/// Time limit for the hooks of the session's end, in milliseconds. It is long because nothing kills the program meanwhile.
const LAST_HOOKS_MS: u64 = 600_000;

/// Which stored session the agent's sessions resume.
#[derive(Debug, Clone, Default)]
pub(super) struct Resumes {
    /// `None`: they start new.
    pub(super) session: Option<Which>,
    pub(super) is_fork: bool,
}

impl Resumes {
    /// Checks that this can be done, given whether there is a store.
    pub(super) fn check(&self, has_store: bool) -> Result<(), BuildError> {
        match &self.session {
            None if self.is_fork => Err(BuildError::NothingToFork),
            None => Ok(()),
            Some(Which::Session(_)) if !has_store => Err(BuildError::NoStore("resume")),
            Some(Which::Latest) if !has_store => Err(BuildError::NoStore("continue_latest")),
            Some(Which::Session(id)) if Uuid::try_parse(id).is_err() => {
                Err(BuildError::SessionId(id.clone()))
            }
            _ => Ok(()),
        }
    }

    /// The id that a session will have, if it is known before the store is read. `fresh` is the id of a new session.
    pub(super) fn id(&self, fresh: SessionId) -> Option<SessionId> {
        match &self.session {
            None => Some(fresh),
            _ if self.is_fork => Some(fresh),
            Some(Which::Session(id)) => Uuid::try_parse(id).ok(),
            Some(Which::Latest) => None,
        }
    }
}

impl Parts {
    /// The launch options for a session's engine, with the id and seed of a new session. A resumed session keeps its own id.
    pub(super) fn launch(&self, id: SessionId, seed: [u8; 32]) -> Launch {
        let mut flags = Flags {
            fork_session: self.resumes.is_fork,
            no_session_persistence: self.store.is_none(),
            replay_user_messages: self.spec.stream.replay_prompts,
            ..Flags::default()
        };
        match &self.resumes.session {
            None => {}
            Some(Which::Session(id)) => flags.resume = Some(id.clone()),
            Some(Which::Latest) => flags.continue_session = true,
        }
        let cwd = &self.spec.environment.cwd;
        let mut launch = Launch::new(flags, cwd.clone());
        launch.face = Face::Program;
        launch.git_branch = match self.store {
            Some(_) => git_branch(Path::new(cwd)),
            None => None, // only transcripts say it
        };
        ENTRYPOINT.clone_into(&mut launch.entrypoint);
        env!("CARGO_PKG_VERSION").clone_into(&mut launch.version);
        launch.session_id = Some(id);
        launch.session_seed = Some(seed);
        launch.last_hooks_ms = LAST_HOOKS_MS;
        launch.records = self.record.is_some();
        launch.file_checkpoints = self.file_checkpoints;
        launch
    }

    fn spec_of_sessions(&self) -> Arc<Spec> {
        let made = self
            .spec_of_sessions
            .get_or_init(|| match self.spec.stream.replay_prompts {
                true => Arc::clone(&self.spec),
                false => Arc::new({
                    let mut spec = self.spec.as_ref().clone();
                    spec.stream.replay_prompts = true;
                    spec
                }),
            });
        Arc::clone(made)
    }

    /// The configuration of the agent's sessions.
    pub(super) fn configuration(&self) -> Configuration {
        let project = &self.project;
        Configuration {
            // The values from settings files are already in the spec.
            project: Arc::clone(&project.files),
            is_trusted: project.is_trusted,
            runs_programs: project.runs_programs,
            variables: self.variables.clone(),
            ..Configuration::new(0, self.spec_of_sessions())
        }
    }
}
