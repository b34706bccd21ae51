//! Prints a run in each of the output formats.

use std::{
    io::{self, Stderr, Stdout, Write as _},
    time::Instant,
};

use windlass::core::{Message, message::ResultMessage};

use super::{
    args::{OutputFormat, RunArgs},
    plain::{clean, one_line},
    render::Screen,
    terminal::Stage,
};

/// The output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Everything as it happens, for people.
    People,
    /// Only the final text.
    Answer,
    /// The result message.
    Json,
    /// Every message, one per line.
    StreamJson,
}

impl Form {
    /// The format requested by the flags.
    pub(crate) fn of(args: &RunArgs) -> Self {
        match args.output_format {
            OutputFormat::Text if args.print => Self::Answer,
            OutputFormat::Text => Self::People,
            OutputFormat::Json => Self::Json,
            OutputFormat::StreamJson => Self::StreamJson,
        }
    }

    /// Whether the model's stream is needed as it arrives.
    pub(crate) fn wants_partial_messages(self, args: &RunArgs) -> bool {
        match self {
            Self::People => true,
            Self::StreamJson => args.include_partial_messages,
            Self::Answer | Self::Json => false,
        }
    }
}

/// Prints a run.
#[derive(Debug)]
pub(crate) struct Reporter {
    form: Form,
    debug: bool,
    started: Instant,
    out: Stage<Stdout>,
    screen: Screen,
    /// Where the run is shown if the answer is for a program.
    aside: Option<Stage<Stderr>>,
    /// The last result, if only that is printed.
    last: Option<Last>,
    /// Whether anything was shown to a person since this was last queried.
    has_shown: bool,
}

/// A result for a program.
#[derive(Debug)]
enum Last {
    /// The message.
    Line(String),
    /// The text of the answer, or the error.
    Answer(Box<ResultMessage>),
}

impl Reporter {
    /// A reporter for this run.
    pub(crate) fn new(form: Form, args: &RunArgs) -> Self {
        let out = Stage::stdout();
        let aside = (args.verbose && form == Form::Answer).then(Stage::stderr);
        let columns = aside.as_ref().map_or(out.columns(), Stage::columns);
        Self {
            form,
            debug: args.debug,
            started: Instant::now(),
            screen: Screen::new(columns, args.verbose),
            out,
            aside,
            last: None,
            has_shown: false,
        }
    }

    /// A reporter for people only.
    pub(crate) fn for_people() -> Self {
        let out = Stage::stdout();
        Self {
            form: Form::People,
            debug: false,
            started: Instant::now(),
            screen: Screen::new(out.columns(), false),
            out,
            aside: None,
            last: None,
            has_shown: false,
        }
    }

    /// Prints a message in this format: the parsed message, if its kind is known, and the original line.
    ///
    /// # Errors
    /// Standard output cannot be written to, usually because the reader is gone.
    pub(crate) fn message(&mut self, message: Option<&Message>, line: &str) -> io::Result<()> {
        if self.debug {
            // A closed standard error is no reason to stop.
            let _ = writeln!(io::stderr(), "{line}");
        }
        let at = self.elapsed_ms();
        match (self.form, message) {
            (Form::StreamJson, _) => self.line(line),
            (_, None) => Ok(()),
            (Form::People, Some(message)) => {
                let text = self.screen.show(message, at);
                if text.is_empty() {
                    return Ok(());
                }
                self.has_shown = true;
                self.out.write(&text)
            }
            (Form::Json, Some(message)) => {
                if matches!(message, Message::Result(_)) {
                    self.last = Some(Last::Line(line.to_owned()));
                }
                Ok(())
            }
            (Form::Answer, Some(message)) => {
                if let Some(aside) = &mut self.aside {
                    let _ = aside.write(&self.screen.show(message, at)); // as above
                }
                if let Message::Result(result) = message {
                    self.last = Some(Last::Answer(Box::new(result.clone())));
                }
                Ok(())
            }
        }
    }

    /// Prints the last result for a program. Background work may have produced one of its own.
    ///
    /// # Errors
    /// As [`Reporter::message`].
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.last.take() {
            None => Ok(()),
            Some(Last::Line(line)) => self.line(&line),
            Some(Last::Answer(result)) => self.answer(&result),
        }
    }

    /// Whether results are printed as messages.
    pub(crate) fn prints_results(&self) -> bool {
        matches!(self.form, Form::Json | Form::StreamJson)
    }

    /// Whether anything was shown to a person since the last call.
    pub(crate) fn has_shown(&mut self) -> bool {
        std::mem::take(&mut self.has_shown)
    }

    /// Whether [`Reporter::tick`] shows anything.
    pub(crate) fn is_animated(&self) -> bool {
        self.form == Form::People && self.out.is_animated()
    }

    /// Updates the activity indicator.
    ///
    /// # Errors
    /// As [`Reporter::message`].
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        let status = self.screen.status(self.elapsed_ms());
        self.out.live(status)
    }

    /// Clears the activity line for other output on the same terminal.
    ///
    /// # Errors
    /// As [`Reporter::message`].
    pub(crate) fn make_room(&mut self) -> io::Result<()> {
        self.out.live(None)?;
        let mut end = String::new();
        self.screen.end_line(&mut end);
        if end.is_empty() {
            Ok(())
        } else {
            self.out.write(&end)
        }
    }

    /// Records that the permission request for a call was answered.
    pub(crate) fn answered(&mut self, tool_use_id: &str) {
        let at = self.elapsed_ms();
        self.screen.answered(tool_use_id, at);
    }

    /// Prints on standard error that a call was denied, if the run itself is not shown.
    pub(crate) fn refused(&self, words: &str) {
        if self.form != Form::People && self.aside.is_none() {
            anstream::eprintln!("windlass: {}", one_line(words));
        }
    }

    fn answer(&mut self, result: &ResultMessage) -> io::Result<()> {
        match (&result.result, &result.errors) {
            (Some(text), _) if result.is_error => {
                anstream::eprintln!("windlass: {}", one_line(text));
                Ok(())
            }
            (Some(text), _) => {
                let end = if text.ends_with('\n') { "" } else { "\n" };
                // A pipe gets the bytes unchanged, a terminal only safe text.
                let text = if self.out.is_terminal() {
                    clean(text)
                } else {
                    text.into()
                };
                self.out.plain(&format!("{text}{end}"))
            }
            (None, Some(errors)) => {
                anstream::eprintln!("windlass: {}", one_line(&errors.join("; ")));
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.plain(&format!("{line}\n"))
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
