//! What is printed becomes lines of the log, while it comes: no more of it is kept than the line that has not ended.

use crate::plugins::host::{CallState, LogLevel};

/// Bytes of the longest line; a longer one becomes several.
const LINE: usize = 4096;

/// Standard output or standard error.
#[derive(Debug, Default)]
#[allow(unreachable_pub)] // The generated code re-exports it.
pub struct Printed {
    is_error: bool,
    /// The line so far.
    line: Vec<u8>,
}

impl Printed {
    pub(super) fn to_output() -> Self {
        Self::default()
    }

    pub(super) fn to_error() -> Self {
        Self {
            is_error: true,
            ..Self::default()
        }
    }
}

impl CallState {
    /// Writes the lines that these bytes end, as far as the log still takes some. What it does not take is not kept either.
    pub(super) fn print(&mut self, printed: &mut Printed, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (mut rest, ends) = match line {
                [line @ .., b'\n'] => (line, true),
                line => (line, false),
            };
            while self.log_left > 0 && printed.line.len() + rest.len() > LINE {
                let (fits, more) = rest.split_at(LINE - printed.line.len());
                printed.line.extend_from_slice(fits);
                rest = more;
                self.print_piece(printed);
            }
            if self.log_left == 0 {
                printed.line.clear();
                return;
            }
            printed.line.extend_from_slice(rest);
            if ends {
                self.print_line(printed);
            }
        }
    }

    /// Writes the line so far, though it has not ended.
    pub(super) fn print_line(&mut self, printed: &mut Printed) {
        let line = std::mem::take(&mut printed.line);
        let level = match printed.is_error {
            true => LogLevel::Warn,
            false => LogLevel::Info,
        };
        self.log_line(level, &String::from_utf8_lossy(&line));
    }

    /// Writes the beginning of a long line, without the first bytes of a character whose last ones are still to come.
    fn print_piece(&mut self, printed: &mut Printed) {
        let whole = match std::str::from_utf8(&printed.line) {
            Err(fault) if fault.error_len().is_none() => fault.valid_up_to(),
            _ => printed.line.len(),
        };
        let begun = printed.line.split_off(whole);
        self.print_line(printed);
        printed.line = begun;
    }
}
