//! Turns a session with a host: the only place where effects meet futures.

use alloc::{boxed::Box, vec::Vec};
use core::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::{
    FutureExt, StreamExt,
    stream::{self, SelectAll},
};

use crate::{
    effect::{Answer, Effect, Input, Output},
    host::{CancelSignal, Cancelled, Host},
    id::{EffectId, Millis, Now},
    message::Message,
    session::{HostError, Session},
};

/// What [`drive`] turns: a [`Session`], or something around one that looks on, such as a recorder of the test kit.
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

/// Turns `session` until it is idle and `inputs` has ended. Agents in the background are waited for; other calls in
/// the background are stopped then ([`Input::End`]).
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

/// The same, and `observe` sees each message before the host gets it, and before whatever it announces is done.
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
    let mut running = SelectAll::new();
    let mut controls: Vec<Control> = Vec::new();
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
                    let control = Control::new(id);
                    running.push(perform(host, id, effect, &control));
                    controls.push(control);
                }
                Output::Cancel(id) => control(&controls, id, |c| c.cancel.cancel()),
                Output::Abandon(id) => {
                    control(&controls, id, |c| c.abandon.cancel());
                    controls.retain(|c| c.id != id);
                }
            }
        }
        // Before anything waits: a session that is held across a wait would have to be `Sync`.
        let (deadline, idle) = (session.deadline(), session.is_idle());
        // What begins after the end has to be told of it again.
        told_of_the_end &= idle;
        let mut timer = pin!(async {
            match deadline {
                Some(until) => host.sleep(until).await,
                None => core::future::pending().await,
            }
        });
        let input = poll_fn(|cx| {
            // In turn: neither a stream that is always ready nor somebody who never stops talking keeps the
            // other from being heard.
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
        if let Input::Answer(id, answer) = &input
            && answer.is_last()
        {
            controls.retain(|c| c.id != *id);
        }
        told_of_the_end |= input == Input::End;
        session.handle(host.now(), input)?;
    }
}

/// Whose turn it is to be heard first.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Inputs,
    Answers,
}

impl Turn {
    fn other(self) -> Self {
        match self {
            Self::Inputs => Self::Answers,
            Self::Answers => Self::Inputs,
        }
    }
}

/// How a running effect is stopped.
struct Control {
    id: EffectId,
    /// Stop, and say so.
    cancel: CancelSignal,
    /// Be dropped; nobody listens any more.
    abandon: CancelSignal,
}

impl Control {
    fn new(id: EffectId) -> Self {
        Self {
            id,
            cancel: CancelSignal::new(),
            abandon: CancelSignal::new(),
        }
    }
}

fn control(controls: &[Control], id: EffectId, act: impl Fn(&Control)) {
    controls.iter().filter(|c| c.id == id).for_each(act);
}

/// Starts an effect; its answers come with its id.
fn perform<'h, H: Host>(
    host: &'h H,
    id: EffectId,
    effect: Effect,
    control: &Control,
) -> impl Stream<Item = (EffectId, Answer)> + Unpin + use<'h, H> {
    let cancel = control.cancel.cancelled();
    let answers = match effect {
        Effect::Http(request) => Answers::Http(Guarded::new(host.http(id, request), cancel, true)),
        Effect::CallTool(call) => {
            // A tool hears of the cancellation and ends by itself; only abandoning drops it.
            let answers = host.call_tool(id, call, control.cancel.clone());
            Answers::Tool(Guarded::new(answers, control.abandon.cancelled(), false))
        }
        Effect::ProbeTool(probe) => {
            let answer = host.probe_tool(id, probe).map(Answer::Probed);
            Answers::Probe(Guarded::new(stream::once(answer), cancel, true))
        }
        Effect::RunHook(call) => {
            // As a tool.
            let answers = host.run_hook(id, call, control.cancel.clone());
            Answers::Hook(Guarded::new(answers, control.abandon.cancelled(), false))
        }
        Effect::Resolve(paths) => {
            let answer = host.resolve(id, paths).map(Answer::Resolved);
            Answers::Resolve(Guarded::new(stream::once(answer), cancel, true))
        }
        Effect::AskPermission(request) => {
            let answer = host.ask_permission(id, request).map(Answer::Permission);
            Answers::Ask(Guarded::new(stream::once(answer), cancel, true))
        }
        Effect::Persist(entries) => {
            let answer = host.persist(id, entries).map(|written| match written {
                Ok(()) => Answer::Persisted,
                Err(reason) => Answer::PersistFailed(reason),
            });
            Answers::Persist(Guarded::new(stream::once(answer), cancel, true))
        }
    };
    answers.map(move |answer| (id, answer))
}

/// The answers of one effect: exactly one last one, whatever the host's stream does.
struct Guarded<S> {
    answers: Pin<Box<S>>,
    stop: Cancelled,
    /// Whether being stopped is answered.
    says_cancelled: bool,
    done: bool,
}

impl<S: Stream<Item = Answer>> Guarded<S> {
    fn new(answers: S, stop: Cancelled, says_cancelled: bool) -> Self {
        Self {
            answers: Box::pin(answers),
            stop,
            says_cancelled,
            done: false,
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        if self.done {
            return Poll::Ready(None);
        }
        if Pin::new(&mut self.stop).poll(cx).is_ready() {
            self.done = true;
            return Poll::Ready(self.says_cancelled.then_some(Answer::Cancelled));
        }
        match self.answers.as_mut().poll_next(cx) {
            Poll::Ready(Some(answer)) => {
                self.done = answer.is_last();
                Poll::Ready(Some(answer))
            }
            // A stream that ends without its last answer must not leave the machine waiting.
            Poll::Ready(None) => {
                self.done = true;
                Poll::Ready(Some(Answer::Cancelled))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// One type for the answers of all kinds of effects.
enum Answers<H, T, B, K, R, A, P> {
    Http(Guarded<H>),
    Tool(Guarded<T>),
    Probe(Guarded<B>),
    Hook(Guarded<K>),
    Resolve(Guarded<R>),
    Ask(Guarded<A>),
    Persist(Guarded<P>),
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
            Self::Http(answers) => answers.poll_answer(cx),
            Self::Tool(answers) => answers.poll_answer(cx),
            Self::Probe(answers) => answers.poll_answer(cx),
            Self::Hook(answers) => answers.poll_answer(cx),
            Self::Resolve(answers) => answers.poll_answer(cx),
            Self::Ask(answers) => answers.poll_answer(cx),
            Self::Persist(answers) => answers.poll_answer(cx),
        }
    }
}
