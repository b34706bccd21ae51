//! Standard output and error: a terminal with colours and a width, or a pipe.

use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};

use anstream::{AutoStream, ColorChoice, adapter::strip_str, stream::RawStream};

use super::os;

/// Returns to the start of the line and clears it.
const ERASE_LINE: &str = "\r\x1b[2K";

/// Permanent text, and below it at most one temporary line.
#[derive(Debug)]
pub(crate) struct Stage<S> {
    out: S,
    colours: bool,
    /// Whether a temporary line can be shown: on a terminal that can clear one.
    animated: bool,
    live: Option<String>,
}

impl Stage<Stdout> {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Self::new(io::stdout())
    }
}

impl Stage<Stderr> {
    /// Standard error.
    pub(crate) fn stderr() -> Self {
        Self::new(io::stderr())
    }
}

impl<S: RawStream + Write> Stage<S> {
    fn new(out: S) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            // Respects NO_COLOR, CLICOLOR and similar variables.
            colours: AutoStream::choice(&out) != ColorChoice::Never,
            animated: out.is_terminal() && !dumb,
            out,
            live: None,
        }
    }

    /// Whether [`Stage::live`] shows anything.
    pub(crate) fn is_animated(&self) -> bool {
        self.animated
    }

    /// Appends permanent text. Styles are stripped if they are not wanted.
    ///
    /// # Errors
    /// The error of the operating system; a broken pipe if the reader is gone.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        self.erase()?;
        self.styled(text)?;
        self.out.flush()
    }

    /// Appends text unchanged, including styles.
    ///
    /// # Errors
    /// As [`Stage::write`].
    pub(crate) fn plain(&mut self, text: &str) -> io::Result<()> {
        self.erase()?;
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// The width of the terminal; `None` if it is not one.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.out.is_terminal().then(os::columns).flatten()
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out.is_terminal()
    }

    /// Shows a temporary line until something else is shown.
    ///
    /// # Errors
    /// As [`Stage::write`].
    pub(crate) fn live(&mut self, line: Option<String>) -> io::Result<()> {
        if !self.animated || self.live == line {
            return Ok(());
        }
        self.erase()?;
        if let Some(line) = &line {
            self.styled(line)?;
        }
        self.live = line;
        self.out.flush()
    }

    fn erase(&mut self) -> io::Result<()> {
        match self.live.take() {
            Some(_) => self.out.write_all(ERASE_LINE.as_bytes()),
            None => Ok(()),
        }
    }

    fn styled(&mut self, text: &str) -> io::Result<()> {
        if self.colours {
            self.out.write_all(text.as_bytes())
        } else {
            write!(self.out, "{}", strip_str(text))
        }
    }
}

/// Whether a person can be asked: questions go to standard error, and answers come from standard input.
pub(crate) fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
