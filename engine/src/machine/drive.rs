//! Runs an engine with a host. This is the only module in which effects meet futures.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use windlass_core::{
    ApprovedCall, EffectId, Message, Millis, Now, SessionId,
    effect::{Answer, Effect as SessionEffect},
    host::CancelSignal,
    running::{OnCancel, RunningEffects, Turn},
};

use super::{
    ConfigNumber, ConnectionId, Effect, Ending, Engine, Fault, Input, Outcome, Output, ServerTool,
    State, Topic,
};
use crate::store::Lease;

/// The number of lines that may wait for the reader; above it, answers to effects are no longer taken in.
const LINES_AHEAD: usize = 256;

/// Performs the effects of an engine. No method requires `Send`: the driver's future is `Send` exactly when the host's
/// futures are.
pub trait EngineHost {
    /// The current time.
    fn now(&self) -> Now;

    /// Completes when the monotonic clock has reached `until`.
    fn sleep(&self, until: Millis) -> impl Future<Output = ()>;

    /// Performs an effect of the session with the tools and hooks of a configuration, following the contract of
    /// [`windlass_core::Host`] for its kind. Permission questions and transcript entries are not passed to this method.
    fn session_effect(
        &self,
        config: ConfigNumber,
        id: EffectId,
        effect: SessionEffect,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer>;

    /// Calls a tool of an MCP server.
    fn server_tool(
        &self,
        id: EffectId,
        call: ServerTool,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer>;

    /// Performs an effect of the engine.
    fn effect(&self, effect: Effect) -> impl Future<Output = Outcome>;

    /// Completes when a line can be written, also if there is no reader any more.
    fn room(&self) -> impl Future<Output = ()>;

    /// Writes a line. Called when there is [`room`](Self::room).
    fn line(&self, line: String);

    /// Delivers a message to the embedding program. The engine waits until it has been accepted.
    fn message(&self, _message: Message) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Tells the embedding program the id of the current session.
    fn opened(&self, _session: SessionId) {}

    /// Tells the embedding program that a call may run, and why, before it runs.
    fn allowed(&self, _call: &ApprovedCall) {}

    /// Tells the embedding program why no further prompts are answered.
    fn fault(&self, _fault: Fault) {}

    /// A warning for the user who started the engine.
    fn warning(&self, text: &str);

    /// The reason why no session begins, for the user.
    fn refusal(&self, text: &str);

    /// A line of the debug log.
    fn note(&self, topic: Topic, text: &str);

    /// A line of a session's journal.
    fn journal(&self, session: SessionId, line: &str);

    /// A session is over, and another one follows it (`/clear`): what was kept for it, such as the memory of plugins, is dropped.
    fn ended(&self, _session: SessionId) {}

    /// A configuration is no longer needed.
    fn forget(&self, config: ConfigNumber);

    /// Releases a lease: the right to write to a session.
    fn release(&self, lease: &Lease);

    /// Closes a connection to an MCP server.
    fn disconnect(&self, connection: ConnectionId);
}

/// Runs an engine until it ends. `inputs` yields lines, the end of the input, server events and the stop signal; answers to
/// effects come from the host.
///
/// While the reader is behind, inputs are still taken in and answers to effects wait. An answer to a question of the engine
/// therefore always reaches its recipient. After a stop signal the driver no longer waits for the reader. Returns how the
/// engine ended, and the lines that had not been written by then.
pub async fn drive<H: EngineHost>(
    engine: &mut Engine,
    host: &H,
    inputs: impl Stream<Item = Input>,
) -> (Ending, VecDeque<String>) {
    let mut inputs = pin!(inputs.fuse());
    let mut session = RunningEffects::default();
    let mut effects = FuturesUnordered::new();
    let mut lines: VecDeque<String> = VecDeque::new();
    let mut ending = None;
    let mut turn = Turn::Inputs;
    loop {
        while let Some(output) = engine.poll() {
            match output {
                Output::Line(line) => lines.push_back(line),
                Output::Opened(session) => host.opened(session),
                Output::Message(message) => host.message(message).await,
                Output::Allowed(call) => host.allowed(&call),
                Output::Fault(fault) => host.fault(fault),
                Output::Session(config, id, effect) => {
                    let on_cancel = OnCancel::of(&effect);
                    session.start(id, on_cancel, |cancel| {
                        let answers = host.session_effect(config, id, effect, cancel);
                        futures_util::future::Either::Left(answers)
                    });
                }
                Output::ServerTool(id, call) => {
                    session.start(id, OnCancel::Signal, |cancel| {
                        let answers = host.server_tool(id, call, cancel);
                        futures_util::future::Either::Right(answers)
                    });
                }
                Output::Cancel(id) => session.cancel(id),
                Output::Abandon(id) => session.abandon(id),
                Output::Effect(number, effect) => effects.push(async move {
                    let outcome = host.effect(effect).await;
                    Input::Done(number, outcome)
                }),
                Output::Warning(text) => host.warning(&text),
                Output::Refusal(text) => host.refusal(&text),
                Output::Note(topic, text) => host.note(topic, &text),
                Output::Journal(id, line) => host.journal(id, &line),
                Output::Ended(session) => host.ended(session),
                Output::Forget(config) => host.forget(config),
                Output::Release(lease) => host.release(&lease),
                Output::Disconnect(connection) => host.disconnect(connection),
                Output::Exit(how) => ending = Some(how),
            }
        }
        if let Some(ending) = ending {
            return (ending, lines);
        }
        let deadline = engine.deadline();
        let mut timer = pin!(async {
            match deadline {
                Some(until) => host.sleep(until).await,
                None => std::future::pending().await,
            }
        });
        let (has_lines, is_behind) = (
            !lines.is_empty(),
            lines.len() >= LINES_AHEAD && engine.state() != State::Stopping,
        );
        let mut room = pin!(host.room());
        let next = poll_fn(|cx: &mut Context<'_>| {
            if has_lines && room.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            for who in [turn, turn.other()] {
                let input = match who {
                    Turn::Inputs => inputs.as_mut().poll_next(cx),
                    Turn::Answers if is_behind => Poll::Pending,
                    Turn::Answers => match effects.poll_next_unpin(cx) {
                        Poll::Ready(Some(done)) => Poll::Ready(Some(done)),
                        _ => (session.poll_next_unpin(cx))
                            .map(|next| next.map(|(id, answer)| Input::Session(id, answer))),
                    },
                };
                if let Poll::Ready(Some(input)) = input {
                    turn = who.other();
                    return Poll::Ready(Some(input));
                }
            }
            let ticks = timer.as_mut().poll(cx);
            ticks.map(|()| Some(Input::Tick))
        })
        .await;
        match next {
            // There is room for a line.
            None => lines.pop_front().into_iter().for_each(|it| host.line(it)),
            Some(input) => engine.handle(host.now(), input),
        }
    }
}
