//! `test` and `[`.

use std::{cmp::Ordering, ffi::OsStr, os::unix::ffi::OsStrExt as _};

use rustix::fs::{Access, AtFlags, FileType, Stat, accessat, statat};
use windlass_shell::Word;

use super::number;
use crate::bash::plan::shell::{Outcome, Shell};

/// The status of an invalid condition.
const NOT_UNDERSTOOD: i32 = 2;

/// The maximum nesting of parentheses.
const MAX_DEPTH: usize = 1000;

/// Unary operators. Bash has three more (`-o`, `-v`, `-R`), which query the shell itself.
const UNARY: &[u8] = b"abcdefghknprstuwxzGLNOS";

/// Binary operators. Bash has one more (`==`).
const BINARY: [&[u8]; 13] = [
    b"=", b"!=", b"<", b">", b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge", b"-nt", b"-ot", b"-ef",
];

/// Refuses operators that query the shell itself: in `-v` and `-R`, the operand can run a substitution. As the only
/// operand, or after a binary operator, such a word is plain text.
pub(super) fn check(operands: &[Word]) -> Result<(), String> {
    let operands = match operands {
        [not, rest @ ..] if not.as_literal() == Some("!") && !rest.is_empty() => rest,
        all => all,
    };
    let may_ask = match operands {
        [] | [_] => &[],
        [operator, _] => std::slice::from_ref(operator),
        [_, operator, _] if operator.as_literal().is_some_and(is_binary) => &[],
        many => many,
    };
    let asks = |word: &str| matches!(word, "-v" | "-R");
    match may_ask
        .iter()
        .filter_map(Word::as_literal)
        .find(|it| asks(it))
    {
        Some(word) => Err(format!("`{word}`")),
        None => Ok(()),
    }
}

fn is_binary(word: &str) -> bool {
    word == "==" || BINARY.contains(&word.as_bytes())
}

impl Shell<'_> {
    pub(super) fn test(&mut self, line: u32, name: &str, operands: &[Vec<u8>]) -> Outcome {
        let operands = match (name, operands.split_last()) {
            ("[", Some((last, operands))) if last == b"]" => operands,
            ("[", _) => {
                let text = match self.voice.is_dash() {
                    true => "[: missing ]",
                    false => "[: missing `]'",
                };
                return self.fail(line, NOT_UNDERSTOOD, text);
            }
            _ => operands,
        };
        let mut condition = Condition {
            shell: self,
            operands,
            at: 0,
            depth: 0,
        };
        match condition.whole() {
            Ok(holds) => self.done(i32::from(!holds)),
            Err(fault) => {
                let text = [name.as_bytes(), b": ", &fault].concat();
                self.fail(line, NOT_UNDERSTOOD, text)
            }
        }
    }
}

/// A condition being parsed. The error is the message to print.
struct Condition<'a, 'p> {
    shell: &'a Shell<'p>,
    operands: &'a [Vec<u8>],
    at: usize,
    /// The current nesting of parentheses.
    depth: usize,
}

type Answer = Result<bool, Vec<u8>>;

impl<'a> Condition<'a, '_> {
    /// Up to four operands are interpreted by their number, as in POSIX; more are parsed as an expression.
    fn whole(&mut self) -> Answer {
        let holds = match self.operands.len() {
            0 => false,
            1 => self.is_text(0),
            2 => self.of_two()?,
            3 => self.of_three()?,
            4 if self.is(0, b"!") => {
                self.at = 1;
                !self.of_three()?
            }
            4 if self.is(0, b"(") && self.is(3, b")") => {
                self.at = 1;
                let holds = self.of_two()?;
                self.at = 4;
                holds
            }
            _ => self.any()?,
        };
        if self.operands.len() > 1 && self.at < self.operands.len() {
            let text = self.text(self.at);
            let in_bash = match text.starts_with(b"-") {
                true => said("syntax error: `", text, "' unexpected"),
                false => b"too many arguments".to_vec(),
            };
            return Err(self.unexpected(self.at.saturating_sub(1), in_bash));
        }
        Ok(holds)
    }

    fn of_two(&mut self) -> Answer {
        if self.is(self.at, b"!") {
            let holds = !self.is_text(self.at + 1);
            self.at += 2;
            return Ok(holds);
        }
        if self.is_unary(self.at) {
            return self.unary();
        }
        let in_bash = said("", self.text(self.at), ": unary operator expected");
        Err(self.unexpected(self.at, in_bash))
    }

    fn of_three(&mut self) -> Answer {
        let (first, middle, last) = (self.at, self.at + 1, self.at + 2);
        if self.is_binary(middle) {
            return self.binary();
        }
        let holds = match self.text(middle) {
            b"-a" => self.is_text(first) && self.is_text(last),
            b"-o" => self.is_text(first) || self.is_text(last),
            _ if self.is(first, b"!") => {
                self.at += 1;
                return Ok(!self.of_two()?);
            }
            _ if self.is(first, b"(") && self.is(last, b")") => self.is_text(middle),
            other => {
                let in_bash = said("", other, ": binary operator expected");
                return Err(self.unexpected(first, in_bash));
            }
        };
        self.at += 3;
        Ok(holds)
    }

    fn any(&mut self) -> Answer {
        let mut holds = self.all()?;
        while self.is(self.at, b"-o") {
            self.at += 1;
            holds |= self.all()?;
        }
        Ok(holds)
    }

    fn all(&mut self) -> Answer {
        let mut holds = self.term()?;
        while self.is(self.at, b"-a") {
            self.at += 1;
            holds &= self.term()?;
        }
        Ok(holds)
    }

    fn term(&mut self) -> Answer {
        let mut negated = false;
        while self.is(self.at, b"!") {
            negated = !negated;
            self.at += 1;
        }
        let holds = if self.is(self.at, b"(") {
            self.at += 1;
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(b"too many brackets".to_vec());
            }
            let holds = self.any()?;
            self.depth -= 1;
            if !self.is(self.at, b")") {
                return Err(match self.operands.get(self.at) {
                    Some(found) => said("`)' expected, found ", found, ""),
                    None => b"`)' expected".to_vec(),
                });
            }
            self.at += 1;
            holds
        } else if self.at >= self.operands.len() {
            return Err(b"argument expected".to_vec());
        } else if self.at + 3 <= self.operands.len() && self.is_binary(self.at + 1) {
            self.binary()?
        } else if self.at + 2 <= self.operands.len() && self.is_unary(self.at) {
            self.unary()?
        } else {
            let holds = self.is_text(self.at);
            self.at += 1;
            holds
        };
        Ok(holds != negated)
    }

    fn unary(&mut self) -> Answer {
        let operator = self.text(self.at).get(1).copied().unwrap_or(0);
        let operand = self.text(self.at + 1);
        self.at += 2;
        let mode = |test: fn(&Stat) -> bool| self.stat(operand).is_some_and(|found| test(&found));
        Ok(match operator {
            b'n' => !operand.is_empty(),
            b'z' => operand.is_empty(),
            b't' => {
                let number = number::whole(operand).and_then(|number| u8::try_from(number).ok());
                let open = number.and_then(|number| self.shell.descriptors.get(number));
                open.is_some_and(rustix::termios::isatty)
            }
            b'r' => self.may(operand, Access::READ_OK),
            b'w' => self.may(operand, Access::WRITE_OK),
            b'x' => self.may(operand, Access::EXEC_OK),
            b'h' | b'L' => {
                let found = self.stat_as(operand, AtFlags::SYMLINK_NOFOLLOW);
                found.is_some_and(|found| kind(&found) == FileType::Symlink)
            }
            b'a' | b'e' => mode(|_| true),
            b'f' => mode(|found| kind(found) == FileType::RegularFile),
            b'd' => mode(|found| kind(found) == FileType::Directory),
            b'b' => mode(|found| kind(found) == FileType::BlockDevice),
            b'c' => mode(|found| kind(found) == FileType::CharacterDevice),
            b'p' => mode(|found| kind(found) == FileType::Fifo),
            b'S' => mode(|found| kind(found) == FileType::Socket),
            b's' => mode(|found| found.st_size > 0),
            b'u' => mode(|found| found.st_mode & 0o4000 != 0),
            b'g' => mode(|found| found.st_mode & 0o2000 != 0),
            b'k' => mode(|found| found.st_mode & 0o1000 != 0),
            b'O' => mode(|found| found.st_uid == rustix::process::geteuid().as_raw()),
            b'G' => mode(|found| found.st_gid == rustix::process::getegid().as_raw()),
            b'N' => mode(|found| changed(found) > read(found)),
            _ => false,
        })
    }

    fn binary(&mut self) -> Answer {
        let (left, operator, right) = (
            self.text(self.at),
            self.text(self.at + 1),
            self.text(self.at + 2),
        );
        self.at += 3;
        let stat = |path: &[u8]| self.stat(path);
        let is_dash = self.shell.voice.is_dash();
        let number = |text: &[u8]| {
            number::whole(text).ok_or_else(|| match is_dash {
                true => said("Illegal number: ", text, ""),
                false => said("", text, ": integer expression expected"),
            })
        };
        let compare = |holds: fn(Ordering) -> bool| -> Answer {
            let left = number(left)?;
            Ok(holds(left.cmp(&number(right)?)))
        };
        match operator {
            b"=" | b"==" => Ok(left == right),
            b"!=" => Ok(left != right),
            b"<" => Ok(left < right),
            b">" => Ok(left > right),
            b"-eq" => compare(Ordering::is_eq),
            b"-ne" => compare(Ordering::is_ne),
            b"-lt" => compare(Ordering::is_lt),
            b"-le" => compare(Ordering::is_le),
            b"-gt" => compare(Ordering::is_gt),
            b"-ge" => compare(Ordering::is_ge),
            b"-nt" => Ok(match (stat(left), stat(right)) {
                (Some(left), Some(right)) => changed(&left) > changed(&right),
                (left, _) => left.is_some(),
            }),
            b"-ot" => Ok(match (stat(left), stat(right)) {
                (Some(left), Some(right)) => changed(&left) < changed(&right),
                (_, right) => right.is_some(),
            }),
            _ => Ok(match (stat(left), stat(right)) {
                (Some(left), Some(right)) => {
                    (left.st_dev, left.st_ino) == (right.st_dev, right.st_ino)
                }
                _ => false,
            }),
        }
    }

    fn stat(&self, path: &[u8]) -> Option<Stat> {
        self.stat_as(path, AtFlags::empty())
    }

    fn stat_as(&self, path: &[u8], flags: AtFlags) -> Option<Stat> {
        statat(
            self.shell.directory.handle(),
            OsStr::from_bytes(path),
            flags,
        )
        .ok()
    }

    fn may(&self, path: &[u8], what: Access) -> bool {
        let directory = self.shell.directory.handle();
        accessat(directory, OsStr::from_bytes(path), what, AtFlags::EACCESS).is_ok()
    }

    fn text(&self, at: usize) -> &'a [u8] {
        let operands = self.operands;
        operands.get(at).map(Vec::as_slice).unwrap_or_default()
    }

    fn is(&self, at: usize, text: &[u8]) -> bool {
        self.operands.get(at).is_some_and(|operand| operand == text)
    }

    fn is_text(&self, at: usize) -> bool {
        !self.text(at).is_empty()
    }

    fn is_binary(&self, at: usize) -> bool {
        BINARY.contains(&self.text(at)) || self.is(at, b"==") && !self.shell.voice.is_dash()
    }

    /// The message of dash, where bash distinguishes several errors.
    fn unexpected(&self, at: usize, in_bash: Vec<u8>) -> Vec<u8> {
        match self.shell.voice.is_dash() {
            true => said("", self.text(at), ": unexpected operator"),
            false => in_bash,
        }
    }

    fn is_unary(&self, at: usize) -> bool {
        matches!(self.text(at), [b'-', operator] if UNARY.contains(operator))
    }
}

fn said(before: &str, text: &[u8], after: &str) -> Vec<u8> {
    [before.as_bytes(), text, after.as_bytes()].concat()
}

fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

fn changed(found: &Stat) -> (i64, u64) {
    (found.st_mtime as _, found.st_mtime_nsec as _)
}

fn read(found: &Stat) -> (i64, u64) {
    (found.st_atime as _, found.st_atime_nsec as _)
}
