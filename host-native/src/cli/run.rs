//! Runs a prompt or a conversation, from the first message to the last result.

use std::{io, time::Duration};

use tokio::sync::watch;
use windlass::engine::Launch;
use windlass_core::{
    Message,
    message::{ResultMessage, SystemMessage},
};

use super::{
    Exit,
    asked_for::AskedFor,
    client::{Client, EngineEvent},
    person::Person,
    question::Question,
    report::Reporter,
    signal_listener::Signal,
    signals::Stop,
    start_error::StartError,
    trust::Trusted,
};

/// The interval at which the activity line is redrawn.
const FRAME: Duration = Duration::from_millis(100);

/// The person using the engine; by default nobody.
#[derive(Default)]
pub(crate) struct Front {
    /// Decides permission requests; `None` if nobody can be asked.
    pub(crate) person: Option<Person>,
    /// The folder that the person has just trusted.
    pub(crate) trusted: Option<Trusted>,
}

/// A run of the engine for a person or a program.
pub(crate) struct Run<'a> {
    client: Client,
    reporter: &'a mut Reporter,
    /// Decides permission requests; `None` if nobody can be asked.
    person: Option<Person>,
    /// Recorded once a session can start with what the person was shown.
    trusted: Option<Trusted>,
    /// Whether the person is asked for the next prompt after each answer.
    is_conversation: bool,
    /// Whether a prompt was sent and not answered yet.
    is_answering: bool,
    /// Whether a session has started.
    has_begun: bool,
    /// The requested session.
    asked_for: AskedFor,
    /// Whether nothing is pending: in a conversation it is the person's turn.
    is_idle: bool,
    /// Whether the prompt mark is shown.
    is_prompted: bool,
    /// Whether the last result was an error.
    has_failed: bool,
    /// The signal that stops the run.
    stopped: Option<Signal>,
}

/// Why a run ends before its engine does.
enum EarlyEnd {
    /// The reader of the output is gone.
    PipeClosed,
    /// A signal stops everything.
    Stopped(Signal),
    /// No session can start.
    Refused(String),
    /// The same, and a result has given the reason.
    NotBegun,
}

/// Runs an engine, prints its messages and answers its requests: for one prompt, or without one for the lines that a
/// person types, until the end of the input.
///
/// # Errors
/// [`StartError`] if the engine cannot start.
pub(crate) async fn run(
    launch: Launch,
    prompt: Option<String>,
    front: Front,
    reporter: &mut Reporter,
    mut stops: watch::Receiver<Stop>,
) -> Result<Exit, StartError> {
    let asked_for = AskedFor::by(&launch.flags);
    let mut client = Client::start(launch);
    client.initialize();
    if let Some(prompt) = &prompt {
        client.prompt(prompt);
    }
    let mut run = Run {
        client,
        reporter,
        person: front.person,
        trusted: front.trusted,
        is_conversation: prompt.is_none(),
        is_answering: prompt.is_some(),
        has_begun: false,
        asked_for,
        // Warnings about files and settings must be printed before the first prompt mark.
        is_idle: false,
        is_prompted: false,
        has_failed: false,
        stopped: None,
    };
    match run.drive(&mut stops).await {
        Err(EarlyEnd::PipeClosed) => {
            run.client.stop().await;
            Ok(Exit::PipeClosed)
        }
        Err(EarlyEnd::Stopped(signal)) => {
            // Prints what there is so far; a closed standard output does not matter any more.
            let _ = run.reporter.end();
            run.client.stop().await;
            Ok(Exit::Signal(signal))
        }
        Err(EarlyEnd::Refused(problem)) => {
            run.client.stop().await;
            Err(StartError::Unable(problem))
        }
        Err(EarlyEnd::NotBegun) => {
            let printed = run.reporter.end();
            run.client.stop().await;
            Ok(match printed {
                Ok(()) => Exit::NotStarted,
                Err(_) => Exit::PipeClosed,
            })
        }
        Ok(()) => {
            let exit = run.exit();
            let printed = run.reporter.end();
            run.client.ended().await?;
            Ok(match printed {
                Ok(()) => exit,
                Err(_) => Exit::PipeClosed,
            })
        }
    }
}

impl Run<'_> {
    async fn drive(&mut self, stops: &mut watch::Receiver<Stop>) -> Result<(), EarlyEnd> {
        let mut frames = tokio::time::interval(FRAME);
        loop {
            if self.is_conversation && self.is_idle {
                self.next_prompt(stops).await?;
            }
            // In this order, so that a message before a question is shown before it.
            tokio::select! {
                biased;
                Ok(()) = stops.changed() => self.signalled(stops)?,
                event = self.client.next() => match event {
                    None => return Ok(()),
                    Some(event) => self.handle(event, stops).await?,
                },
                _ = frames.tick(), if self.reporter.is_animated() => printed(self.reporter.tick())?,
            }
        }
    }

    async fn handle(
        &mut self,
        event: EngineEvent,
        stops: &mut watch::Receiver<Stop>,
    ) -> Result<(), EarlyEnd> {
        match event {
            EngineEvent::Message(message, line) => {
                self.has_begun |= matches!(
                    message.as_deref(),
                    Some(Message::System(SystemMessage::Init(_)))
                );
                if let Some(Message::Result(result)) = message.as_deref() {
                    if result.is_error && !self.has_begun && self.stopped.is_none() {
                        return Err(self.not_begun(result, message.as_deref(), &line));
                    }
                    self.has_failed = result.is_error;
                    self.is_answering = false;
                }
                printed(self.reporter.message(message.as_deref(), &line))?;
                self.is_prompted &= !self.reporter.has_shown();
                Ok(())
            }
            EngineEvent::Question(question) => self.ask(question, stops).await,
            EngineEvent::Refused(problem) => Err(EarlyEnd::Refused(problem)),
            EngineEvent::Ready(_) => {
                if let Some(trusted) = self.trusted.take() {
                    trusted.note();
                }
                self.is_idle = !self.is_answering;
                Ok(())
            }
            // Nothing waits for the answer to an interrupt.
            EngineEvent::Reply(..) => Ok(()),
            // Before the first result, this only means that nothing has started yet.
            EngineEvent::Idle if self.is_answering => Ok(()),
            EngineEvent::Idle => {
                self.is_idle = true;
                match self.stopped {
                    // A conversation continues after an interrupted answer.
                    _ if self.is_conversation => self.stopped = None,
                    // Background work is not waited for.
                    Some(signal) => return Err(EarlyEnd::Stopped(signal)),
                    None => self.client.finish(),
                }
                Ok(())
            }
        }
    }

    /// Handles a result that comes instead of a session: the requested one does not exist, or something that it needs
    /// is missing. Programs that read results get this one; people get an error message.
    fn not_begun(
        &mut self,
        result: &ResultMessage,
        message: Option<&Message>,
        line: &str,
    ) -> EarlyEnd {
        if self.reporter.prints_results() {
            return match printed(self.reporter.message(message, line)) {
                Ok(()) => EarlyEnd::NotBegun,
                Err(end) => end,
            };
        }
        let text = || result.result.clone().unwrap_or_default();
        let problem = (result.errors.as_ref()).map_or_else(text, |errors| errors.join("; "));
        EarlyEnd::Refused(self.asked_for.with_remedy(problem))
    }

    async fn ask(
        &mut self,
        question: Question,
        stops: &mut watch::Receiver<Stop>,
    ) -> Result<(), EarlyEnd> {
        let Some(person) = &mut self.person else {
            self.reporter.refused(&question.refuse());
            return Ok(());
        };
        let made_room = self.reporter.make_room();
        let call = question.tool_use_id().to_owned();
        let is_stopped = tokio::select! {
            biased;
            Ok(()) = stops.changed() => true,
            () = person.ask(question) => false,
        };
        if is_stopped {
            anstream::eprintln!();
            self.signalled(stops)?;
        }
        self.reporter.answered(&call);
        printed(made_room)
    }

    /// Asks for the next prompt and sends it; meanwhile, messages of background work are shown. At the end of the
    /// input, the engine's input is ended.
    async fn next_prompt(&mut self, stops: &mut watch::Receiver<Stop>) -> Result<(), EarlyEnd> {
        enum Next {
            Signal,
            Line(Option<String>),
            Event(Option<EngineEvent>),
        }
        let Some(mut person) = self.person.take() else {
            return Ok(()); // a conversation has one
        };
        let next = tokio::select! {
            biased;
            Ok(()) = stops.changed() => Next::Signal,
            event = self.client.next() => Next::Event(event),
            line = person.prompt(!self.is_prompted) => Next::Line(line),
        };
        self.person = Some(person);
        self.is_prompted = true;
        match next {
            Next::Signal => {
                anstream::eprintln!();
                self.signalled(stops)?;
            }
            Next::Event(Some(event)) => {
                let is_question = matches!(event, EngineEvent::Question(_));
                self.handle(event, stops).await?;
                self.is_prompted &= !is_question;
            }
            Next::Line(Some(line)) => {
                self.client.prompt(&line);
                self.is_answering = true;
                self.is_idle = false;
                self.is_prompted = false;
            }
            Next::Line(None) => {
                self.is_conversation = false;
                // The errors of individual answers were shown.
                self.has_failed = false;
                self.client.finish();
            }
            Next::Event(None) => self.is_conversation = false,
        }
        Ok(())
    }

    /// Handles a signal: interrupts the current turn, or ends the run.
    fn signalled(&mut self, stops: &mut watch::Receiver<Stop>) -> Result<(), EarlyEnd> {
        match *stops.borrow_and_update() {
            Stop::No => Ok(()),
            Stop::Orderly(signal) if self.is_answering => {
                self.stopped = Some(signal);
                self.client.interrupt();
                Ok(())
            }
            Stop::Orderly(signal) | Stop::Now(signal) => Err(EarlyEnd::Stopped(signal)),
        }
    }

    fn exit(&self) -> Exit {
        match self.stopped {
            // If the engine ends during an answer, it has failed.
            _ if !self.has_failed && !self.is_answering => Exit::Done,
            Some(signal) => Exit::Signal(signal),
            None => Exit::Failed,
        }
    }
}

fn printed(done: io::Result<()>) -> Result<(), EarlyEnd> {
    done.map_err(|error| {
        // If the reader is gone, stop quietly like other programs in a pipe.
        if error.kind() != io::ErrorKind::BrokenPipe {
            anstream::eprintln!("windlass: standard output cannot be written: {error}");
        }
        EarlyEnd::PipeClosed
    })
}
