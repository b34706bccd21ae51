//! `xargs`: what it reads becomes arguments of a program. It is read here first, and held against the rules like the arguments that
//! stand in the line; then `xargs` gets it.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
};

use windlass_shell::{Runs, Simple, Word};

use super::{
    named::RefusedArgument,
    redirect::holding,
    shell::{Leave, Shell},
    simple::Call,
    stream::{Broken, read_all},
};

/// The options of `xargs` that matter for what becomes an argument.
struct Options {
    /// The text that stands for a line (`-I`).
    replaced: Option<String>,
    /// What arguments end with (`-d`).
    delimiter: Option<char>,
}

impl<'p> Shell<'p> {
    /// Reads the input of this shell, for `xargs` to read it once more, and says what in it the program may not be given. What
    /// `xargs` leaves of it is there for the commands after it.
    pub(super) fn refused_by_xargs(
        &mut self,
        call: &Call<'p>,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Result<Option<RefusedArgument>, Leave> {
        // Its input is there for the commands behind it.
        let Ok(options) = Options::of(call.simple) else {
            return Ok(Some(RefusedArgument::too_much()));
        };
        let Some(input) = self.descriptors.get(0) else {
            return Ok(None);
        };
        let bytes = match read_all(input, self.surroundings.control) {
            Ok(bytes) => bytes,
            Err(Broken::Stopped) => return Err(Leave::Stopped),
            Err(Broken::TooMuch) => return Ok(Some(RefusedArgument::too_much())),
            // Nor can the program read it.
            Err(Broken::Failed(_)) => return Ok(None),
        };
        let items = options.items(&String::from_utf8_lossy(&bytes));
        // Without a copy there is nothing to be read.
        let Ok(copy) = holding(&bytes) else {
            return Ok(Some(RefusedArgument::too_much()));
        };
        self.descriptors.set(0, copy);
        Ok(self.refused_input(call, name, arguments, |words| {
            options.arguments(words, &items)
        }))
    }
}

impl Options {
    /// The options, which stand before the program.
    fn of(simple: &Simple) -> Result<Self, UnreadEscape> {
        let program = simple.runs.iter().filter_map(|run| match run {
            Runs::Program { at, .. } => usize::try_from(*at).ok(),
            Runs::Script { .. } => None,
        });
        // The words of `xargs` lie before the last program that the command starts.
        let end = program.max().unwrap_or(simple.words.len());
        let own = simple.words.get(..end).unwrap_or_default();
        let mut words = own.iter().filter_map(Word::as_literal);
        let (mut replaced, mut delimiter) = (None, None);
        while let Some(word) = words.next() {
            let mut value = |option: &str| match word.strip_prefix(option)? {
                "" => words.next(),
                attached => Some(attached),
            };
            if let Some(text) = value("-I") {
                replaced = Some(text.to_owned());
            } else if let Some(text) = value("--delimiter=").or_else(|| value("-d")) {
                delimiter = delimited_by(text)?;
            }
        }
        Ok(Self {
            replaced,
            delimiter,
        })
    }

    /// Everything that may become an argument, whichever way `xargs` takes its input apart.
    fn items(&self, text: &str) -> BTreeSet<String> {
        let ends = |c: char| matches!(c, '\n' | '\0') || Some(c) == self.delimiter;
        let whole = text.split(ends).flat_map(|item| [item, item.trim()]);
        let mut items: BTreeSet<String> = whole.map(String::from).collect();
        items.extend(unquoted(text, |c| c.is_ascii_whitespace()));
        // With `-I` the blanks inside of a line stay.
        let lines = unquoted(text, |c| c == '\n').into_iter();
        items.extend(lines.map(|line| line.trim_start().to_owned()));
        items.remove("");
        items
    }

    /// The arguments of a program with these words of its own.
    fn arguments(&self, words: &[OsString], items: &BTreeSet<String>) -> Vec<OsString> {
        let mut arguments = words.to_vec();
        if let Some(replaced) = &self.replaced {
            for word in words.iter().filter_map(|word| word.to_str()) {
                if word.contains(replaced) {
                    arguments.extend(items.iter().map(|item| word.replace(replaced, item).into()));
                }
            }
        }
        arguments.extend(items.iter().map(OsString::from));
        arguments
    }
}

/// An escape of `-d` that is not read here.
#[derive(Debug, PartialEq)]
struct UnreadEscape;

/// What a value of `-d` means: a byte, or its escape in C; none if `xargs` itself refuses it.
fn delimited_by(text: &str) -> Result<Option<char>, UnreadEscape> {
    match text.strip_prefix('\\') {
        Some("" | "\\") => Ok(Some('\\')),
        Some("n") => Ok(Some('\n')),
        Some("t") => Ok(Some('\t')),
        Some("r") => Ok(Some('\r')),
        Some("0") => Ok(Some('\0')),
        Some(_) => Err(UnreadEscape),
        None => Ok(text.chars().next().filter(|_| text.len() == 1)),
    }
}

/// The words of a text with quotes and backslashes, as `xargs` reads them by itself.
fn unquoted(text: &str, ends: impl Fn(char) -> bool) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => word.extend(chars.by_ref().take_while(|inner| *inner != c)),
            '\\' => word.extend(chars.next()),
            c if ends(c) || c == '\0' => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(line: &str, text: &str) -> Vec<String> {
        let script = windlass_shell::read(line).unwrap().script;
        let windlass_shell::Command::Simple(simple) = &script.lists[0].first.commands[0] else {
            panic!("{line} is more than one command");
        };
        let options = Options::of(simple).unwrap();
        let words = simple.words.iter().filter_map(Word::as_literal);
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let arguments = options.arguments(&words, &options.items(text));
        let texts = arguments.iter().map(|it| it.to_string_lossy().into_owned());
        texts.collect()
    }

    #[test]
    fn whatever_may_become_an_argument_is_found() {
        for (line, text, expected) in [
            ("xargs cat", "a b\n c ", &["a", "b", "c", "a b", "c"][..]),
            ("xargs cat", "'a b' \"c\"d \\'e", &["a b", "cd", "'e"]),
            ("xargs -0 cat", "a b\0c\nd", &["a b", "c", "d"]),
            ("xargs -d, cat", "a b,c", &["a b", "c"]),
            ("xargs -d , cat", "a b,c", &["a b", "c"]),
            ("xargs -I{} cat .git/{}", "config\n", &[".git/config"]),
            ("xargs -I @ cat x@", "a b", &["xa b"]),
            ("xargs -I{} tac {}", " my 'd'ocs/s\n", &["my docs/s"]),
            ("xargs -I{} tac s.{} -- -Iz", "t", &["s.t"]),
            ("xargs -dq cut -d , -f1", "aqb", &["a", "b"]),
            ("xargs -d '\\n' cat", "a b\nc", &["a b", "c"]),
        ] {
            let found = items(line, text);
            for item in expected {
                assert!(
                    found.iter().any(|it| it == item),
                    "{line}: {item} in {found:?}"
                );
            }
        }
    }

    #[test]
    fn an_end_of_items_that_is_not_known_is_no_guess() {
        for (value, expected) in [
            (",", Ok(Some(','))),
            ("\\t", Ok(Some('\t'))),
            ("\\", Ok(Some('\\'))),
            ("\\x71", Err(UnreadEscape)),
            ("\\161", Err(UnreadEscape)),
            ("ab", Ok(None)),
            ("\u{e9}", Ok(None)),
            ("", Ok(None)),
        ] {
            assert_eq!(delimited_by(value), expected, "{value}");
        }
    }
}
