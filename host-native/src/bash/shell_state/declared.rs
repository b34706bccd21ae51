//! Parses the output of bash's `declare -p`, a single builtin that lists all variables with their attributes.

/// A declared variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    pub(super) name: &'a str,
    /// The letters of its attributes, as in `declare`.
    pub(super) attributes: &'a str,
    /// Its value; `None` for an array, or without a value.
    pub(super) value: Option<Vec<u8>>,
    /// The command that declares it.
    pub(super) command: &'a [u8],
}

impl Declared<'_> {
    pub(super) fn is(&self, attribute: char) -> bool {
        self.attributes.contains(attribute)
    }
}

/// All variables; `None` if a part of the text is not a declaration.
pub(super) fn declared(text: &[u8]) -> Option<Vec<Declared<'_>>> {
    let mut all = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (one, behind) = first(rest)?;
        all.push(one);
        rest = behind;
    }
    Some(all)
}

/// Parses the first declaration, and returns the text after its line.
fn first(text: &[u8]) -> Option<(Declared<'_>, &[u8])> {
    let body = text.strip_prefix(b"declare -")?;
    let blank = body.iter().position(|byte| *byte == b' ')?;
    let (attributes, body) = (&body[..blank], &body[blank + 1..]);
    let is_end = |byte: &u8| matches!(byte, b'=' | b'\n');
    let (name, body) = body.split_at(body.iter().position(is_end)?);
    let (value, body) = match body.strip_prefix(b"=") {
        None => (None, body),
        Some(array) if array.starts_with(b"(") => (None, behind_array(array)?),
        Some(quoted) => {
            let (value, behind) = unquoted(quoted)?;
            (Some(value), behind)
        }
    };
    let behind = body.strip_prefix(b"\n")?;
    let declared = Declared {
        name: std::str::from_utf8(name).ok()?,
        attributes: std::str::from_utf8(attributes).ok()?,
        value,
        command: &text[..text.len() - body.len()],
    };
    Some((declared, behind))
}

/// The text after the elements of an array: brackets in keys and values are quoted.
fn behind_array(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = match text {
            [b')', rest @ ..] => return Some(rest),
            [b'"', ..] | [b'$', b'\'', ..] => unquoted(text)?.1,
            [b'\\', _, rest @ ..] | [_, rest @ ..] => rest,
            [] => return None,
        };
    }
}

/// The contents of a quoted text, `"…"` or `$'…'`, and the text after it.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    match text {
        [b'"', rest @ ..] => double_quoted(rest),
        [b'$', b'\'', rest @ ..] => ansi_quoted(rest),
        _ => None,
    }
}

fn double_quoted(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    loop {
        let (byte, rest) = match text {
            [b'"', rest @ ..] => return Some((value, rest)),
            [b'\\', byte @ (b'"' | b'\\' | b'$' | b'`'), rest @ ..] => (byte, rest),
            [byte, rest @ ..] => (byte, rest),
            [] => return None,
        };
        value.push(*byte);
        text = rest;
    }
}

/// See "ANSI-C Quoting" in the bash manual: only the escapes that bash itself writes.
fn ansi_quoted(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    loop {
        let (byte, rest) = match text {
            [b'\'', rest @ ..] => return Some((value, rest)),
            [b'\\', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
                octal(digits)?
            }
            [b'\\', escape, rest @ ..] => (escaped(*escape)?, rest),
            [byte, rest @ ..] => (*byte, rest),
            [] => return None,
        };
        value.push(byte);
        text = rest;
    }
}

/// Three octal digits.
fn octal(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, rest) = text.split_at_checked(3)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u8::from_str_radix(digits, 8).ok()?, rest))
}

fn escaped(escape: u8) -> Option<u8> {
    Some(match escape {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' | b'\'' | b'"' | b'?' => escape,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child;

    /// The output of bash for variables from its environment.
    fn printed(script: &str, values: &[(&str, &[u8])]) -> Vec<u8> {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        let mut bash = child::command("bash");
        bash.args(["--norc", "-c", script]).env_clear();
        bash.envs(
            values
                .iter()
                .map(|(name, value)| (name, OsStr::from_bytes(value))),
        );
        bash.output().unwrap().stdout
    }

    #[test]
    fn every_value_is_read_as_bash_has_it() {
        let all: Vec<u8> = (1..=255).collect();
        let values: [(&str, &[u8]); 9] = [
            ("ALL", &all),
            ("EMPTY", b""),
            ("LINES_", b"a\nb\n\ndeclare -x FORGED=\"1\"\n"),
            ("QUOTES", b"it's \"quoted\" `x` $y \\ \\\\"),
            ("ESCAPES", b"\\n \\' \\\" \x1b[0m \x07 7"),
            ("BRACKETS", b"([0]=\"a\")"),
            ("WORDS", "ein Wört, 漢字".as_bytes()),
            ("NUMBERS", b"\x011 \x7f9"),
            ("BLANKS", b" \t "),
        ];
        let text = printed("declare -p", &values);
        let declared = declared(&text).unwrap();
        for (name, value) in values {
            let found = declared.iter().find(|one| one.name == name).unwrap();
            assert_eq!(found.value.as_deref(), Some(value), "{name}");
            assert!(found.is('x') && !found.is('r'), "{found:?}");
        }
        assert!(!declared.iter().any(|one| one.name == "FORGED"));
    }

    #[test]
    fn arrays_are_kept_as_the_command_that_makes_them() {
        let script = r#"declare -a list=("a b" ")" $'c\n' "\"(")
declare -A map=([k]="v" ["a )"]=$'x\ty')
declare -r fixed=1
declare -i number=5
declare nothing
declare -p list map fixed number nothing"#;
        let text = printed(script, &[]);
        let declared = declared(&text).unwrap();
        let names: Vec<_> = declared.iter().map(|one| one.name).collect();
        assert_eq!(names, ["list", "map", "fixed", "number", "nothing"]);
        let [list, map, fixed, number, nothing] = declared.as_slice() else {
            panic!("{declared:?}");
        };
        assert!(list.is('a') && map.is('A') && fixed.is('r') && number.is('i'));
        assert_eq!(list.value, None);
        assert!(list.command.starts_with(b"declare -a list=([0]=\"a b\""));
        assert!(list.command.ends_with(b")"), "{list:?}");
        assert_eq!(number.value.as_deref(), Some(&b"5"[..]));
        assert_eq!(nothing.value, None);
    }

    #[test]
    fn what_is_no_declaration_is_refused() {
        for text in [
            "declare",
            "declare -x A=\"1\"",
            "declare -x A=\"1",
            "declare -x A=1\n",
            "declare -x A=\"1\" B\n",
            "declare -a A=([0]=\"1\n",
            "declare -x A=$'\\q'\n",
            "declare -x A=$'\\0'\n",
            "declare -x A=$'\\777'\n",
            "echo x\n",
        ] {
            assert_eq!(declared(text.as_bytes()), None, "{text}");
        }
        assert_eq!(declared(b""), Some(Vec::new()));
    }
}
