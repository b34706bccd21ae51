//! A prompt, or a conversation, from its first message to its last result.

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
    client::{Client, Heard},
    person::Person,
    question::Question,
    report::Reporter,
    signals::{Signal, Stop},
    start::StartError,
    trust::Trusted,
};

/// How often the line that says what is going on is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Who is in front of the engine; by default nobody.
#[derive(Default)]
pub(crate) struct Front {
    /// Who decides; none where nobody can be asked.
    pub(crate) person: Option<Person>,
    /// The folder that they have just trusted.
    pub(crate) trusted: Option<Trusted>,
}

/// A run of the engine, with whoever is in front of it.
pub(crate) struct Run<'a> {
    client: Client,
    reporter: &'a mut Reporter,
    /// Who decides; none where nobody can be asked.
    person: Option<Person>,
    /// What is noted once a session can begin with what the person was shown.
    trusted: Option<Trusted>,
    /// The person is asked for the next prompt when the last one is answered.
    is_conversation: bool,
    /// A prompt was sent and is not answered.
    is_answering: bool,
    /// A session has begun.
    has_begun: bool,
    /// Which session was asked for.
    asked_for: AskedFor,
    /// Nothing is owed: in a conversation it is the person's turn.
    is_idle: bool,
    /// They see that it is.
    is_prompted: bool,
    /// The last result was an error.
    has_failed: bool,
    /// The signal that stops it.
    stopped: Option<Signal>,
}

/// Why a run ends before the engine does.
enum Left {
    /// Nobody reads what is printed.
    PipeClosed,
    /// All is to stop.
    Stopped(Signal),
    /// No session can begin.
    Refused(String),
    /// The same, and a result has said why.
    NotBegun,
}

/// Runs an engine, prints what comes of it and answers the questions that arise: for one prompt, or without one for what a person
/// types line by line, until they have typed all.
///
/// # Errors
/// [`StartError`] when the engine cannot start.
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
        // What was said about files and settings stands before the first prompt is asked for.
        is_idle: false,
        is_prompted: false,
        has_failed: false,
        stopped: None,
    };
    match run.drive(&mut stops).await {
        Err(Left::PipeClosed) => {
            run.client.stop().await;
            Ok(Exit::PipeClosed)
        }
        Err(Left::Stopped(signal)) => {
            // What came of it until then; a standard output that is gone changes nothing any more.
            let _ = run.reporter.end();
            run.client.stop().await;
            Ok(Exit::Signal(signal))
        }
        Err(Left::Refused(problem)) => {
            run.client.stop().await;
            Err(StartError::Unable(problem))
        }
        Err(Left::NotBegun) => {
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
    async fn drive(&mut self, stops: &mut watch::Receiver<Stop>) -> Result<(), Left> {
        let mut frames = tokio::time::interval(FRAME);
        loop {
            if self.is_conversation && self.is_idle {
                self.next_prompt(stops).await?;
            }
            // In this order: a message that came before a question is shown before it.
            tokio::select! {
                biased;
                Ok(()) = stops.changed() => self.signalled(stops)?,
                heard = self.client.next() => match heard {
                    None => return Ok(()),
                    Some(heard) => self.heard(heard, stops).await?,
                },
                _ = frames.tick(), if self.reporter.is_animated() => printed(self.reporter.tick())?,
            }
        }
    }

    async fn heard(&mut self, heard: Heard, stops: &mut watch::Receiver<Stop>) -> Result<(), Left> {
        match heard {
            Heard::Message(message, line) => {
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
            Heard::Question(question) => self.ask(question, stops).await,
            Heard::Refused(problem) => Err(Left::Refused(problem)),
            Heard::Ready => {
                if let Some(trusted) = self.trusted.take() {
                    trusted.note();
                }
                self.is_idle = !self.is_answering;
                Ok(())
            }
            // Before the first result nothing was owed yet.
            Heard::Idle if self.is_answering => Ok(()),
            Heard::Idle => {
                self.is_idle = true;
                match self.stopped {
                    // It goes on behind an answer that was interrupted.
                    _ if self.is_conversation => self.stopped = None,
                    // What still runs in the background is not waited for.
                    Some(signal) => return Err(Left::Stopped(signal)),
                    None => self.client.finish(),
                }
                Ok(())
            }
        }
    }

    /// A result in the place of a session: the one that was asked for is none, or lacks what it needs. Programs that read results
    /// read this one, others are told as of anything that cannot be used.
    fn not_begun(&mut self, result: &ResultMessage, message: Option<&Message>, line: &str) -> Left {
        if self.reporter.prints_results() {
            return match printed(self.reporter.message(message, line)) {
                Ok(()) => Left::NotBegun,
                Err(left) => left,
            };
        }
        let text = || result.result.clone().unwrap_or_default();
        let problem = (result.errors.as_ref()).map_or_else(text, |errors| errors.join("; "));
        Left::Refused(self.asked_for.with_remedy(problem))
    }

    async fn ask(
        &mut self,
        question: Question,
        stops: &mut watch::Receiver<Stop>,
    ) -> Result<(), Left> {
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

    /// Asks for the next prompt, and sends it; what work in the background says meanwhile is shown. At the end of the input no
    /// more will come.
    async fn next_prompt(&mut self, stops: &mut watch::Receiver<Stop>) -> Result<(), Left> {
        enum Next {
            Signal,
            Line(Option<String>),
            Heard(Option<Heard>),
        }
        let Some(mut person) = self.person.take() else {
            return Ok(()); // a conversation has one
        };
        let next = tokio::select! {
            biased;
            Ok(()) = stops.changed() => Next::Signal,
            heard = self.client.next() => Next::Heard(heard),
            line = person.prompt(!self.is_prompted) => Next::Line(line),
        };
        self.person = Some(person);
        self.is_prompted = true;
        match next {
            Next::Signal => {
                anstream::eprintln!();
                self.signalled(stops)?;
            }
            Next::Heard(Some(heard)) => {
                let is_question = matches!(heard, Heard::Question(_));
                self.heard(heard, stops).await?;
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
                // How single answers ended was seen.
                self.has_failed = false;
                self.client.finish();
            }
            Next::Heard(None) => self.is_conversation = false,
        }
        Ok(())
    }

    /// What a signal changes: what runs is interrupted, or all is over.
    fn signalled(&mut self, stops: &mut watch::Receiver<Stop>) -> Result<(), Left> {
        match *stops.borrow_and_update() {
            Stop::No => Ok(()),
            Stop::Orderly(signal) if self.is_answering => {
                self.stopped = Some(signal);
                self.client.interrupt();
                Ok(())
            }
            Stop::Orderly(signal) | Stop::Now(signal) => Err(Left::Stopped(signal)),
        }
    }

    fn exit(&self) -> Exit {
        match self.stopped {
            // An engine that ends in the middle of an answer has broken.
            _ if !self.has_failed && !self.is_answering => Exit::Done,
            Some(signal) => Exit::Signal(signal),
            None => Exit::Failed,
        }
    }
}

fn printed(done: io::Result<()>) -> Result<(), Left> {
    done.map_err(|error| {
        // Where nobody reads any more: stop quietly, as other programs in a pipe do.
        if error.kind() != io::ErrorKind::BrokenPipe {
            anstream::eprintln!("windlass: standard output cannot be written: {error}");
        }
        Left::PipeClosed
    })
}
