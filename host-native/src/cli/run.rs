//! One prompt from its first message to its result.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use windlass::{Agent, ResultMessage, Run};

use super::{
    Exit,
    question::{Person, Question},
    report::Reporter,
    signals::Stop,
    start::StartError,
};

/// How often the line that says what is going on is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Runs a prompt, prints what comes of it and answers the questions that arise.
pub(crate) async fn run(
    agent: &Agent,
    prompt: String,
    reporter: &mut Reporter,
    mut person: Option<Person>,
    mut questions: mpsc::UnboundedReceiver<Question>,
    mut stops: watch::Receiver<Stop>,
) -> Result<Exit, StartError> {
    let session = agent.session();
    let mut run = session.prompt(prompt.as_str());
    let mut frames = tokio::time::interval(FRAME);
    loop {
        // In this order: a message that came before a question is shown before it.
        let printed = tokio::select! {
            biased;
            Ok(()) = stops.changed() => match stop(&mut stops, &run) {
                None => Ok(()),
                Some(exit) => return Ok(exit),
            },
            message = run.next() => match message {
                None => break,
                Some(message) => reporter.message(&message),
            },
            Some(question) = questions.recv() => match &mut person {
                None => {
                    reporter.refused(&question.refuse());
                    Ok(())
                }
                Some(person) => {
                    let made_room = reporter.make_room();
                    let call = question.tool_use_id().to_owned();
                    tokio::select! {
                        biased;
                        Ok(()) = stops.changed() => {
                            anstream::eprintln!();
                            if let Some(exit) = stop(&mut stops, &run) {
                                return Ok(exit);
                            }
                        }
                        () = person.ask(question) => {}
                    }
                    reporter.answered(&call);
                    made_room
                }
            },
            _ = frames.tick(), if reporter.is_animated() => reporter.tick(),
        };
        if printed.is_err() {
            // Nobody reads any more: stop quietly, as other programs in a pipe do.
            return Ok(Exit::PipeClosed);
        }
    }
    match run.result().await {
        Ok(result) => Ok(exit_of(&result, *stops.borrow())),
        Err(error) => {
            anstream::eprintln!("windlass: {error}");
            Ok(Exit::Failed)
        }
    }
}

/// What a signal changes: the run is interrupted, or all is over.
fn stop(stops: &mut watch::Receiver<Stop>, run: &Run) -> Option<Exit> {
    match *stops.borrow_and_update() {
        Stop::No => None,
        Stop::Orderly(_) => {
            // A run that has ended already needs no interrupt.
            let _ = run.interrupt();
            None
        }
        Stop::Now(signal) => Some(Exit::Signal(signal)),
    }
}

fn exit_of(result: &ResultMessage, stopped: Stop) -> Exit {
    match stopped {
        _ if !result.is_error => Exit::Done,
        Stop::Orderly(signal) | Stop::Now(signal) => Exit::Signal(signal),
        Stop::No => Exit::Failed,
    }
}
