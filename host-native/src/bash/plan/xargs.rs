//! `xargs`: checks the input that becomes arguments of a program.
//!
//! The input is parsed here, byte by byte, and checked against the rules as the arguments that it will become, in
//! order. Then `xargs` gets the parsed items in an unambiguous form. Ambiguous input is refused, and so is an item
//! that would become an option.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

use windlass_shell::{Runs, Simple, Word};

use super::{
    call::Call,
    file_commands::{FileCommandError, moves_files},
    folders::leads_elsewhere,
    named::{RefusedArgument, base_name},
    redirect::holding,
    shell::{Leave, Shell},
    stream::{Broken, read_all},
};

/// The maximum number of items that are checked.
const MOST_ITEMS: usize = 500_000;

/// The number of bytes of arguments that certainly fit into one call of a program.
const MOST_IN_ONE_CALL: usize = 64 << 10;

const TOO_MANY: &str = "more items than can be held against the rules";

/// How `xargs` parses its input, according to its options.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    /// The placeholder that is replaced by a line (`-I`).
    replaced: Option<String>,
    /// The byte that ends an item (`-0`, `-d`); `None` if blanks do, with quoting.
    delimiter: Option<u8>,
    /// Whether an option makes each call get only a part of the input.
    is_in_parts: bool,
}

/// Why `xargs` is not started.
pub(super) enum RefusedInput {
    /// The input becomes an argument that the program may not be given.
    Argument(RefusedArgument),
    /// The input names files that may not be copied, moved or removed.
    Files(FileCommandError),
}

impl From<RefusedArgument> for RefusedInput {
    fn from(refused: RefusedArgument) -> Self {
        Self::Argument(refused)
    }
}

/// The parsed input.
#[derive(Debug, Default, PartialEq, Eq)]
struct Input {
    /// The items, in order.
    items: Vec<OsString>,
    /// The text that `xargs` gets instead of the original input.
    text: Vec<u8>,
}

impl<'p> Shell<'p> {
    /// Reads this shell's input instead of `xargs`, and returns what in it the program may not be given.
    pub(super) fn refused_by_xargs(
        &mut self,
        call: &Call<'p>,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Result<Option<RefusedInput>, Leave> {
        let refused = |why: RefusedArgument| Ok(Some(why.into()));
        let Some(options) = Options::of(call.simple) else {
            return refused(RefusedArgument::unread("an end of items that is not known"));
        };
        let Some(input) = self.descriptors.get(0) else {
            return Ok(None);
        };
        let bytes = match read_all(input, self.context.control) {
            Ok(bytes) => bytes,
            Err(Broken::Stopped) => return Err(Leave::Stopped),
            Err(Broken::TooMuch) => return refused(RefusedArgument::too_much()),
            // The program cannot read it either.
            Err(Broken::Failed(_)) => return Ok(None),
        };
        let input = match options.read(bytes) {
            Ok(input) => input,
            Err(what) => return refused(RefusedArgument::unread(what)),
        };
        // Without a copy, the input would be lost.
        let Ok(copy) = holding(&input.text) else {
            return refused(RefusedArgument::too_much());
        };
        self.descriptors.set(0, copy);
        let (mut option, mut started) = (None, None);
        let argument = self.refused_input(call, name, arguments, |inner, words| {
            let all = options.arguments(words, &input.items);
            option = options.option_among(words, &input.items);
            started = moves_files(inner).then(|| (inner.to_owned(), words.to_vec()));
            all
        });
        if let Some(refused) = option.or(argument) {
            return Ok(Some(refused.into()));
        }
        let Some((program, words)) = started else {
            return Ok(None);
        };
        let calls = options.calls(&words, &input.items);
        let is_long = |call: &Vec<OsString>| {
            let words = call.iter().map(|word| word.len() + 1);
            words.sum::<usize>() > MOST_IN_ONE_CALL
        };
        let is_in_parts =
            options.is_in_parts || options.replaced.is_none() && calls.iter().any(is_long);
        let files = self.check_file_commands_of_input(&program, &calls, is_in_parts);
        Ok(files.err().map(RefusedInput::Files))
    }
}

impl Options {
    /// Parses the options before the program. `None` if there is not exactly one `xargs`, or the delimiter is in an
    /// unsupported form.
    fn of(simple: &Simple) -> Option<Self> {
        let inner = simple.runs.iter().filter_map(|run| match run {
            Runs::Program { at, .. } => usize::try_from(*at).ok(),
            Runs::Script { .. } => None,
        });
        let programs: Vec<usize> = std::iter::once(0).chain(inner).collect();
        let is_xargs = |at: &&usize| {
            let name = simple.words.get(**at).and_then(Word::as_literal);
            name.is_some_and(|name| base_name(name) == "xargs")
        };
        // Two of them would parse the same input differently.
        let mut found = programs.iter().filter(is_xargs);
        let (Some(begin), None) = (found.next(), found.next()) else {
            return None;
        };
        let behind = programs.iter().filter(|at| *at > begin);
        let end = behind.min().copied().unwrap_or(simple.words.len());
        let own = simple.words.get(begin + 1..end).unwrap_or_default();
        let mut words = own.iter().filter_map(Word::as_literal);
        let (mut replaced, mut delimiter, mut is_in_parts) = (None, None, false);
        while let Some(word) = words.next() {
            let mut value = |option: &str| match word.strip_prefix(option)? {
                "" => words.next(),
                attached => Some(attached),
            };
            if matches!(word, "-0" | "--null") {
                delimiter = Some(0);
            } else if let Some(text) = value("-I") {
                replaced = Some(text.to_owned());
            } else if let Some(text) = word.strip_prefix("--delimiter=").or_else(|| value("-d")) {
                delimiter = Some(delimited_by(text)?);
            } else {
                let counts = ["-n", "-L", "-s", "--max-args", "--max-lines", "--max-chars"];
                is_in_parts |= counts.iter().any(|option| word.starts_with(option));
                if matches!(word, "-n" | "-P" | "-L" | "-s") {
                    // Its value is not an option.
                    words.next();
                }
            }
        }
        Some(Self {
            is_in_parts: is_in_parts && replaced.is_none(),
            replaced,
            delimiter,
        })
    }

    /// Parses the input; the error describes why it cannot be parsed.
    fn read(&self, bytes: Vec<u8>) -> Result<Input, &'static str> {
        match self.delimiter {
            Some(end) => delimited(bytes, end),
            None => quoted(&bytes, self.replaced.is_some()),
        }
    }

    /// The arguments of a program that has these words of its own.
    fn arguments(&self, words: &[OsString], items: &[OsString]) -> Vec<OsString> {
        let Some(replaced) = &self.replaced else {
            return words.iter().chain(items).cloned().collect();
        };
        let mut arguments = words.to_vec();
        for word in words {
            if find(word.as_bytes(), replaced.as_bytes()).is_some() {
                arguments.extend(items.iter().map(|item| replace(word, replaced, item)));
            }
        }
        arguments
    }

    /// The arguments of each call of a program with these words: one call per item if there is a placeholder, else
    /// one call with all items.
    fn calls(&self, words: &[OsString], items: &[OsString]) -> Vec<Vec<OsString>> {
        let Some(replaced) = &self.replaced else {
            return vec![self.arguments(words, items)];
        };
        let call = |item: &OsString| {
            words
                .iter()
                .map(|word| replace(word, replaced, item))
                .collect()
        };
        items.iter().map(call).collect()
    }

    /// The first argument that becomes an option because of the input.
    fn option_among(&self, words: &[OsString], items: &[OsString]) -> Option<RefusedArgument> {
        let is_option = |text: &OsStr| text.len() > 1 && text.as_bytes().starts_with(b"-");
        if let Some(option) = self.folder_option(words).filter(|_| !items.is_empty()) {
            return Some(RefusedArgument::option(option.clone()));
        }
        if words.iter().any(|word| word == "--") {
            return None; // behind it there are operands only
        }
        let found = match &self.replaced {
            None => items.iter().find(|item| is_option(item)).cloned(),
            Some(replaced) => {
                let words = words.iter().filter(|word| !is_option(word));
                let mut all = words.flat_map(|word| {
                    let items = items.iter().map(move |item| replace(word, replaced, item));
                    items.filter(move |text| text != word)
                });
                all.find(|text| is_option(text))
            }
        };
        found.map(RefusedArgument::option)
    }

    /// The option that would make an item the program's directory: then its relative names would refer to another
    /// folder for each item.
    fn folder_option<'a>(&self, words: &'a [OsString]) -> Option<&'a OsString> {
        let Some(replaced) = &self.replaced else {
            return words.last().filter(|last| leads_elsewhere(last));
        };
        let place = |word: &OsString| find(word.as_bytes(), replaced.as_bytes());
        let attached = words.iter().find(|word| {
            let before = place(word).map(|at| &word.as_bytes()[..at]);
            let option = before.map(|before| before.strip_suffix(b"=").unwrap_or(before));
            option.is_some_and(|option| leads_elsewhere(OsStr::from_bytes(option)))
        });
        let pairs = words.iter().zip(words.iter().skip(1));
        let mut apart =
            pairs.filter(|(option, word)| leads_elsewhere(option) && place(word).is_some());
        attached.or_else(|| apart.next().map(|(option, _)| option))
    }
}

/// The byte that a value of `-d` denotes, literally or as a C escape.
fn delimited_by(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [b'\\'] | b"\\\\" => Some(b'\\'),
        b"\\n" => Some(b'\n'),
        b"\\t" => Some(b'\t'),
        b"\\r" => Some(b'\r'),
        b"\\0" => Some(0),
        [byte] => Some(*byte),
        _ => None,
    }
}

/// Parses items that end with a delimiter; each is taken literally.
fn delimited(bytes: Vec<u8>, end: u8) -> Result<Input, &'static str> {
    if end != 0 && bytes.contains(&0) {
        return Err("a zero byte, at which `xargs` cuts an item off");
    }
    let whole = bytes.strip_suffix(&[end]).unwrap_or(&bytes);
    if memchr::memchr_iter(end, whole).count() >= MOST_ITEMS {
        return Err(TOO_MANY);
    }
    let items = match bytes.is_empty() {
        true => Vec::new(),
        false => {
            let items = whole.split(|byte| *byte == end);
            items
                .map(|item| OsString::from_vec(item.to_vec()))
                .collect()
        }
    };
    Ok(Input { items, text: bytes })
}

/// Parses items separated by blanks, or lines with `-I`; quotes and backslashes remove the meaning of blanks and quotes.
fn quoted(bytes: &[u8], by_line: bool) -> Result<Input, &'static str> {
    let mut input = Input::default();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let items = items_of(line, by_line)?;
        if items.len() + input.items.len() > MOST_ITEMS {
            return Err(TOO_MANY);
        }
        if items.is_empty() {
            continue;
        }
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                input.text.push(b' ');
            }
            escaped(item, &mut input.text);
        }
        // With `-L`, a trailing blank joins the next line.
        if !by_line && line.last().is_some_and(|byte| is_blank(*byte)) {
            input.text.push(b' ');
        }
        input.text.push(b'\n');
        input
            .items
            .extend(items.into_iter().map(OsString::from_vec));
    }
    Ok(input)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The items of a line.
fn items_of(line: &[u8], by_line: bool) -> Result<Vec<Vec<u8>>, &'static str> {
    let begin = line.iter().position(|byte| !is_blank(*byte));
    let mut bytes = line
        .get(begin.unwrap_or(line.len())..)
        .unwrap_or_default()
        .iter()
        .copied();
    let mut items = Vec::new();
    let mut item: Option<Vec<u8>> = None;
    while let Some(byte) = bytes.next() {
        match byte {
            0 | 0x0b | 0x0c | b'\r' => {
                return Err("a control character, which readers take for different things");
            }
            b'\'' | b'"' => {
                let item = item.get_or_insert_default();
                let before = item.len();
                loop {
                    match bytes.next() {
                        None => return Err("a quote that is not closed in its line"),
                        Some(0) => return Err("a zero byte, at which `xargs` cuts an item off"),
                        Some(inner) if inner == byte => break,
                        Some(inner) => item.push(inner),
                    }
                }
                if item.len() == before {
                    return Err("a pair of quotes with nothing between");
                }
            }
            b'\\' => match bytes.next() {
                None => return Err("a backslash at the end of a line"),
                Some(0) => return Err("a zero byte, at which `xargs` cuts an item off"),
                Some(inner) => item.get_or_insert_default().push(inner),
            },
            byte if is_blank(byte) && !by_line => {
                items.extend(item.take());
                if items.len() > MOST_ITEMS {
                    return Err(TOO_MANY);
                }
            }
            byte => item.get_or_insert_default().push(byte),
        }
    }
    items.extend(item);
    Ok(items)
}

/// Writes an item unambiguously: with a backslash before each byte that may be special.
fn escaped(item: &[u8], text: &mut Vec<u8>) {
    for byte in item {
        if !(byte.is_ascii_alphanumeric() || b"._/-".contains(byte)) {
            text.push(b'\\');
        }
        text.push(*byte);
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    match part.is_empty() {
        true => None,
        false => text.windows(part.len()).position(|found| found == part),
    }
}

/// A word with each placeholder replaced by an item.
fn replace(word: &OsStr, part: &str, item: &OsStr) -> OsString {
    let mut rest = word.as_bytes();
    let mut replaced = Vec::new();
    while let Some(at) = find(rest, part.as_bytes()) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(item.as_bytes());
        rest = &rest[at + part.len()..];
    }
    replaced.extend_from_slice(rest);
    OsString::from_vec(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Option<Options> {
        let script = windlass_shell::read(line).unwrap().script;
        let windlass_shell::Command::Simple(simple) = &script.lists[0].first.commands[0] else {
            panic!("{line} is more than one command");
        };
        Options::of(simple)
    }

    fn items(line: &str, text: &str) -> Vec<String> {
        let input = options(line).unwrap().read(text.into()).unwrap();
        let texts = input
            .items
            .iter()
            .map(|it| it.to_string_lossy().into_owned());
        texts.collect()
    }

    #[test]
    fn the_input_is_taken_apart_as_xargs_does() {
        for (line, text, expected) in [
            ("xargs cat", "a b\n c ", &["a", "b", "c"][..]),
            ("xargs cat", "'a b' \"c\"d \\'e", &["a b", "cd", "'e"]),
            ("xargs cat", "", &[]),
            ("xargs -n 1 cat", "a\n\n \nb", &["a", "b"]),
            ("xargs -0 cat", "a b\0c\nd", &["a b", "c\nd"]),
            ("xargs -0 cat", "a\0\0b\0", &["a", "", "b"]),
            ("xargs -d, cat", "a b,c", &["a b", "c"]),
            ("xargs -d , cat", "a b,c,", &["a b", "c"]),
            ("xargs -d '\\n' cat", "a 'b\nc\n", &["a 'b", "c"]),
            ("xargs -dq cut -d , -f1", "aqb", &["a", "b"]),
            (
                "xargs -I{} cat {}",
                "my 'd'ocs/s \n  x y\n",
                &["my docs/s ", "x y"],
            ),
            ("timeout 5 xargs -0 cat", "a\0b", &["a", "b"]),
            ("xargs -n 5 -0 cat", "a b", &["a b"]),
            // The placeholder may be its own name.
            ("xargs -I xargs cat xargs", "a b\nc", &["a b", "c"]),
        ] {
            assert_eq!(items(line, text), expected, "{line}: {text:?}");
        }
    }

    /// `xargs` parses the rewritten input to the same items.
    #[test]
    fn what_is_written_anew_is_read_as_the_same() {
        for line in [
            "xargs cat",
            "xargs -I{} cat {}",
            "xargs -0 cat",
            "xargs -d, cat",
        ] {
            let options = options(line).unwrap();
            for text in [
                "a b\n 'c d'\\ e\n",
                "x\ty 'ü\"' \n\nz\\\\",
                "%s ${x} * ? [a]",
                "a, b",
            ] {
                let read = options.read(text.into()).unwrap();
                let again = options.read(read.text.clone()).unwrap();
                assert_eq!(again.items, read.items, "{line}: {text:?}");
            }
        }
    }

    #[test]
    fn what_readers_take_apart_differently_is_refused() {
        for (line, text) in [
            ("xargs cat", "a \u{b}b"),
            ("xargs cat", "a \u{c}b"),
            ("xargs cat", "a\r\n"),
            ("xargs cat", "a\0b"),
            ("xargs cat", "'a\0b'"),
            ("xargs cat", "\\\0"),
            ("xargs cat", "'a\nb'"),
            ("xargs cat", "a '' b"),
            ("xargs cat", "a\\\nb"),
            ("xargs -d, cat", "a\0b"),
            ("xargs -I{} cat {}", "a\u{c}"),
        ] {
            let read = options(line).unwrap().read(text.into());
            assert!(read.is_err(), "{line}: {text:?}: {read:?}");
        }
    }

    #[test]
    fn an_end_of_items_that_is_not_known_is_no_guess() {
        for (value, expected) in [
            (",", Some(b',')),
            ("\\t", Some(b'\t')),
            ("\\", Some(b'\\')),
            ("\\0", Some(0)),
            ("\\x71", None),
            ("\\161", None),
            ("ab", None),
            ("\u{e9}", None),
            ("", None),
        ] {
            assert_eq!(delimited_by(value), expected, "{value}");
        }
    }
}
