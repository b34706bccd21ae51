//! Effects that every engine host performs in the same way: session storage, MCP servers, worktrees.

mod kept;
#[cfg(not(all(unix, feature = "mcp")))]
mod no_servers;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use windlass_core::{SessionId, effect::Answer};
use windlass_engine::{
    machine::{Effect, Outcome},
    store::Lease,
};

use self::kept::Kept;
#[cfg(not(all(unix, feature = "mcp")))]
pub(crate) use self::no_servers::Servers;
#[cfg(all(unix, feature = "mcp"))]
pub(crate) use crate::mcp::Servers;
use crate::{checkpoints::SessionCheckpoints, host::WorktreesToRemove, store::SharedStore};

/// The effects that are the same for every engine on this machine.
pub(crate) struct CommonEffects {
    kept: Kept,
    checkpoints: Option<SessionCheckpoints>,
    pub(crate) servers: Servers,
    worktrees: WorktreesToRemove,
}

impl CommonEffects {
    /// For sessions in this store, or without one.
    pub(crate) fn new(
        store: Option<SharedStore>,
        checkpoints: Option<SessionCheckpoints>,
        servers: Servers,
        worktrees: WorktreesToRemove,
    ) -> Self {
        Self {
            kept: Kept::new(store),
            checkpoints,
            servers,
            worktrees,
        }
    }

    /// The same for sessions that are read from the store but not written.
    pub(crate) fn without_output(mut self) -> Self {
        self.kept = self.kept.without_output();
        self
    }

    /// Performs an effect.
    ///
    /// # Errors
    /// Returns the effect if the host itself must perform it.
    pub(crate) async fn perform(&self, effect: Effect) -> Result<Outcome, Effect> {
        match effect {
            // The future is boxed so that the frequent effects need small futures.
            effect @ (Effect::Create(_) | Effect::Append(..)) => self.kept.perform(effect).await,
            effect => Box::pin(self.perform_rare(effect)).await,
        }
    }

    async fn perform_rare(&self, effect: Effect) -> Result<Outcome, Effect> {
        Ok(match effect {
            Effect::Checkpoint(checkpoint) => Outcome::Checkpointed(match &self.checkpoints {
                Some(checkpoints) => checkpoints.perform(checkpoint).await,
                None => Err("no file checkpoints are kept".to_owned()),
            }),
            Effect::Connect(request) => self.servers.connect(*request).await,
            Effect::Ask(connection, question) => {
                Outcome::Asked(self.servers.ask(connection, question).await)
            }
            Effect::CloseServers(connections) => {
                self.servers.close(&connections).await;
                Outcome::Finished
            }
            Effect::ListWorktrees => Outcome::Worktrees(self.worktrees.list().await),
            Effect::RemoveWorktrees => {
                self.worktrees.remove().await;
                Outcome::Finished
            }
            effect => return self.kept.perform(effect).await,
        })
    }

    /// The answers of a call; the output of a background command is stored on the way. `failed` is called if that fails.
    pub(crate) fn keeping_output(
        &self,
        session: SessionId,
        call: String,
        answers: BoxStream<'static, Answer>,
        failed: impl Fn(&str) + Send + 'static,
    ) -> BoxStream<'static, Answer> {
        let Some(outputs) = self.kept.outputs() else {
            return answers;
        };
        let state = (answers, outputs, call, failed);
        let kept = stream::unfold(state, move |state| async move {
            let (mut answers, outputs, call, failed) = state;
            let answer = answers.next().await?;
            if let Err(error) = outputs.answered(session, &call, &answer).await {
                failed(&format!("the output of {call}: {error}"));
            }
            Some((answer, (answers, outputs, call, failed)))
        });
        kept.boxed()
    }

    /// Releases a session's lease.
    pub(crate) fn release(&self, lease: &Lease) {
        self.kept.release(lease);
    }
}
