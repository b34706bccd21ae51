//! Questions of servers to the person (`elicitation/create`).

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use tokio::sync::{Notify, oneshot};
use windlass_core::RawJson;

/// How many questions of a server may wait for their answers; further ones are declined.
const MOST_WAITING: usize = 8;

/// The questions of one server that nobody has taken yet.
#[derive(Debug, Default)]
pub(super) struct Elicitations {
    /// Whether somebody takes them; otherwise the server is told not to ask.
    are_taken: bool,
    waiting: Mutex<VecDeque<Elicitation>>,
    came: Notify,
}

/// A question of a server.
#[derive(Debug)]
pub(crate) struct Elicitation {
    /// What it asks: the parameters of the request.
    pub(crate) asked: RawJson,
    answer: oneshot::Sender<ElicitResult>,
}

impl Elicitation {
    /// Whether the server does not wait any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.answer.is_closed()
    }

    /// Answers it with `{"action", "content"?}`; anything else declines.
    pub(crate) fn answer(self, answer: &RawJson) {
        let answer = answer.decode().unwrap_or_else(|_| declined());
        // A server that is gone needs no answer.
        let _ = self.answer.send(answer);
    }
}

impl Elicitations {
    /// Questions that somebody takes with [`next`](Self::next).
    pub(super) fn taken() -> Self {
        Self {
            are_taken: true,
            ..Self::default()
        }
    }

    pub(super) fn are_taken(&self) -> bool {
        self.are_taken
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Elicitation>> {
        // A panic while the lock is held leaves a valid list.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The person's answer to a question. Without a person it is declined.
    pub(super) async fn ask(&self, asked: &ElicitRequestParams) -> ElicitResult {
        let Ok(asked) = RawJson::encode(asked) else {
            return declined();
        };
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            waiting.retain(|question| !question.is_given_up());
            if !self.are_taken || waiting.len() >= MOST_WAITING {
                return declined();
            }
            waiting.push_back(Elicitation { asked, answer });
        }
        self.came.notify_one();
        answered.await.unwrap_or_else(|_| declined())
    }

    /// The next question, once there is one. Each is given out once.
    pub(super) async fn next(&self) -> Elicitation {
        loop {
            let next = self.waiting().pop_front();
            match next {
                Some(question) => return question,
                // A notification is kept if nobody waits, so none is missed.
                None => self.came.notified().await,
            }
        }
    }
}

fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}
