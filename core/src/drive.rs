//! Runs a session against a host: the only place where effects meet futures.

use alloc::boxed::Box;
use core::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, stream};

use crate::{
    effect::{Answer, Effect, EffectId, Input, Output},
    host::{CancelSignal, Host},
    id::{Millis, Now},
    message::Message,
    running::{OnCancel, RunningEffects, Turn},
    session::{HostError, Session},
};

/// What [`drive`] runs: a [`Session`], or a wrapper around one, such as a recorder of the test kit.
pub trait Machine {
    /// [`Session::handle`].
    ///
    /// # Errors
    /// [`HostError`] if the host or an input broke the contract.
    fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError>;

    /// [`Session::poll`].
    fn poll(&mut self) -> Option<Output>;

    /// [`Session::deadline`].
    fn deadline(&self) -> Option<Millis>;

    /// [`Session::is_idle`].
    fn is_idle(&self) -> bool;
}

impl Machine for Session {
    fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        Self::handle(self, now, input)
    }

    fn poll(&mut self) -> Option<Output> {
        Self::poll(self)
    }

    fn deadline(&self) -> Option<Millis> {
        Self::deadline(self)
    }

    fn is_idle(&self) -> bool {
        Self::is_idle(self)
    }
}

/// Runs `session` until it is idle and `inputs` has ended. Waits for background agents; other background calls are stopped at
/// that point ([`Input::End`]).
///
/// Generic and runtime-agnostic: no task is spawned and nothing needs `Send`; the future is `Send`
/// exactly when the host's futures are. Messages go to [`Host::message`].
///
/// # Errors
/// [`HostError`] if the host or an input broke the contract.
pub async fn drive<M: Machine, H: Host>(
    session: &mut M,
    host: &H,
    inputs: impl Stream<Item = Input>,
) -> Result<(), HostError> {
    drive_observed(session, host, inputs, |_| {}).await
}

/// Like [`drive`], and `observe` sees each message before the host gets it, and before anything the message announces is done.
///
/// # Errors
/// [`HostError`] if the host or an input broke the contract.
pub async fn drive_observed<M: Machine, H: Host>(
    session: &mut M,
    host: &H,
    inputs: impl Stream<Item = Input>,
    mut observe: impl FnMut(&Message),
) -> Result<(), HostError> {
    let mut inputs = pin!(inputs.fuse());
    let mut running = RunningEffects::default();
    let mut turn = Turn::Inputs;
    let mut told_of_the_end = false;
    loop {
        while let Some(output) = session.poll() {
            match output {
                Output::Message(message) => {
                    observe(&message);
                    host.message(message).await;
                }
                Output::Refused(error) => host.refused(error),
                Output::Effect(id, effect) => {
                    let on_cancel = OnCancel::of(&effect);
                    running.start(id, on_cancel, |cancel| perform(host, id, effect, cancel));
                }
                Output::Cancel(id) => running.cancel(id),
                Output::Abandon(id) => running.abandon(id),
            }
        }
        // Evaluated before any await: a session held across an await would have to be `Sync`.
        let (deadline, idle) = (session.deadline(), session.is_idle());
        // Work that starts after [`Input::End`] needs another one.
        told_of_the_end &= idle;
        let mut timer = pin!(async {
            match deadline {
                Some(until) => host.sleep(until).await,
                None => core::future::pending().await,
            }
        });
        let input = poll_fn(|cx| {
            for who in [turn, turn.other()] {
                let next = match who {
                    Turn::Inputs => inputs.as_mut().poll_next(cx),
                    Turn::Answers => running
                        .poll_next_unpin(cx)
                        .map(|next| next.map(|(id, answer)| Input::Answer(id, answer))),
                };
                if let Poll::Ready(Some(input)) = next {
                    turn = who.other();
                    return Poll::Ready(Some(input));
                }
            }
            if idle && inputs.is_done() {
                if running.is_empty() {
                    return Poll::Ready(None);
                }
                if !told_of_the_end {
                    return Poll::Ready(Some(Input::End));
                }
            }
            timer.as_mut().poll(cx).map(|()| Some(Input::Tick))
        })
        .await;
        let Some(input) = input else {
            return Ok(());
        };
        told_of_the_end |= input == Input::End;
        session.handle(host.now(), input)?;
    }
}

/// Performs an effect with the function of the host that is for its kind.
pub fn perform<H: Host>(
    host: &H,
    id: EffectId,
    effect: Effect,
    cancel: CancelSignal,
) -> impl Stream<Item = Answer> + use<'_, H> {
    match effect {
        Effect::Http(request) => Answers::Http(Box::pin(host.http(id, request))),
        Effect::CallTool(call) => Answers::Tool(Box::pin(host.call_tool(id, call, cancel))),
        Effect::ProbeTool(probe) => {
            let answer = host.probe_tool(id, probe).map(Answer::Probed);
            Answers::Probe(Box::pin(stream::once(answer)))
        }
        Effect::RunHook(call) => Answers::Hook(Box::pin(host.run_hook(id, call, cancel))),
        Effect::Resolve(paths) => {
            let answer = host.resolve(id, paths).map(Answer::Resolved);
            Answers::Resolve(Box::pin(stream::once(answer)))
        }
        Effect::AskPermission(request) => {
            let answer = host.ask_permission(id, request).map(Answer::Permission);
            Answers::Ask(Box::pin(stream::once(answer)))
        }
        Effect::Persist(entries) => {
            let answer = host.persist(id, entries).map(|written| match written {
                Ok(()) => Answer::Persisted,
                Err(reason) => Answer::PersistFailed(reason),
            });
            Answers::Persist(Box::pin(stream::once(answer)))
        }
    }
}

/// One stream type for the answers of all kinds of effects.
enum Answers<H, T, B, K, R, A, P> {
    Http(Pin<Box<H>>),
    Tool(Pin<Box<T>>),
    Probe(Pin<Box<B>>),
    Hook(Pin<Box<K>>),
    Resolve(Pin<Box<R>>),
    Ask(Pin<Box<A>>),
    Persist(Pin<Box<P>>),
}

impl<H, T, B, K, R, A, P> Stream for Answers<H, T, B, K, R, A, P>
where
    H: Stream<Item = Answer>,
    T: Stream<Item = Answer>,
    B: Stream<Item = Answer>,
    K: Stream<Item = Answer>,
    R: Stream<Item = Answer>,
    A: Stream<Item = Answer>,
    P: Stream<Item = Answer>,
{
    type Item = Answer;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        match self.get_mut() {
            Self::Http(answers) => answers.as_mut().poll_next(cx),
            Self::Tool(answers) => answers.as_mut().poll_next(cx),
            Self::Probe(answers) => answers.as_mut().poll_next(cx),
            Self::Hook(answers) => answers.as_mut().poll_next(cx),
            Self::Resolve(answers) => answers.as_mut().poll_next(cx),
            Self::Ask(answers) => answers.as_mut().poll_next(cx),
            Self::Persist(answers) => answers.as_mut().poll_next(cx),
        }
    }
}
