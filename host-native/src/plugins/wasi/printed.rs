//! What is printed becomes lines of the log, while it comes: no more of it is kept than the line that has not ended.

/// Bytes of the longest line; a longer one becomes several.
const LINE: usize = 4096;

/// Standard output or standard error.
#[derive(Debug, Default)]
#[allow(unreachable_pub)] // The generated code re-exports it.
pub struct Printed {
    pub(super) is_error: bool,
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

    /// Tells the lines that these bytes end, as long as the answer is that more is taken. What is not taken is not kept either.
    pub(super) fn take(&mut self, bytes: &[u8], mut tell: impl FnMut(&str) -> bool) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (mut rest, ends) = match line {
                [line @ .., b'\n'] => (line, true),
                line => (line, false),
            };
            let mut goes_on = true;
            while goes_on && self.line.len() + rest.len() > LINE {
                let (fits, more) = rest.split_at(LINE - self.line.len());
                self.line.extend_from_slice(fits);
                rest = more;
                goes_on = tell(&self.piece());
            }
            if goes_on {
                self.line.extend_from_slice(rest);
                goes_on = !ends || tell(&self.end());
            }
            if !goes_on {
                self.line.clear();
                return;
            }
        }
    }

    /// Takes the line so far, though it may not have ended.
    pub(super) fn end(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        String::from_utf8_lossy(&line).into_owned()
    }

    /// Takes the beginning of a long line, without the first bytes of a character whose last ones are still to come.
    fn piece(&mut self) -> String {
        let whole = match std::str::from_utf8(&self.line) {
            Err(fault) if fault.error_len().is_none() => fault.valid_up_to(),
            _ => self.line.len(),
        };
        let begun = self.line.split_off(whole);
        let piece = self.end();
        self.line = begun;
        piece
    }
}
