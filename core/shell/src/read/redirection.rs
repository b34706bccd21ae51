//! Redirections and here-documents.

use alloc::{string::String, vec::Vec};

use super::{Bodies, Met, Reader, Uses, assembly, atom::Atom, ends_word};
use crate::{Part, Redirection, Target, Unparsed, Word};

impl<'a> Reader<'a> {
    /// Consumes a redirection if there is one here.
    pub(super) fn redirection(&mut self, into: &mut Vec<Redirection>) -> Result<bool, Unparsed> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let line = self.line;
        if rest.starts_with("&>") {
            self.only_bash()?;
            self.at += 2;
            let append = self.take(">");
            let path = self.file()?;
            let to = Target::Write { path, append };
            into.extend(
                [(1, to), (2, Target::Duplicate(1))].map(|(descriptor, to)| Redirection {
                    line,
                    descriptor,
                    to,
                }),
            );
            return Ok(true);
        }
        let Some(sign @ ('<' | '>')) = rest[digits..].chars().next() else {
            return Ok(false);
        };
        let descriptor = match rest.as_bytes()[..digits] {
            [] => u8::from(sign == '>'),
            [digit] => digit - b'0',
            _ => return Err(Unparsed::Unsupported("a descriptor above 9")),
        };
        self.at += digits;
        if matches!(self.rest().as_bytes().get(1), Some(b'(')) {
            return Err(Unparsed::Unsupported("a process substitution"));
        }
        let to = self.target()?;
        if descriptor == 0 && to == Target::Close {
            // Programs cannot be started so without a shell, and some report it as an error when they end.
            return Err(Unparsed::Unsupported("a standard input that is closed"));
        }
        self.uses.add(Uses {
            descriptors: descriptor > 2 || matches!(to, Target::Duplicate(3..) | Target::Close),
            ..Uses::default()
        })?;
        into.push(Redirection {
            line,
            descriptor,
            to,
        });
        Ok(true)
    }

    fn target(&mut self) -> Result<Target, Unparsed> {
        if self.take("<<<") {
            self.only_bash()?;
            return self.here_string();
        }
        if self.take("<<") {
            return self.here_document();
        }
        if self.take("<>") {
            return Err(Unparsed::Unsupported("a file opened in both directions"));
        }
        if self.take("<&") || self.take(">&") {
            return self.duplicate();
        }
        if self.take("<") {
            let path = self.file()?;
            return Ok(match path.as_str() {
                "/dev/stdin" => Target::Duplicate(0),
                _ => Target::Read(path),
            });
        }
        let append = self.take(">>");
        if !append && !self.take(">|") {
            self.take(">");
        }
        let path = self.file()?;
        Ok(match path.as_str() {
            "/dev/stdout" => Target::Duplicate(1),
            "/dev/stderr" => Target::Duplicate(2),
            _ => Target::Write { path, append },
        })
    }

    /// Moves to the word after an operator. A number that could be the descriptor of the next operator is taken as such, and then
    /// there is no word.
    fn skip_to_operand(&mut self) -> Result<(), Unparsed> {
        self.skip_blanks()?;
        let rest = self.rest();
        let word = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        let is_number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        let names = is_number || word.starts_with('{') && word.ends_with('}');
        match names && rest[word.len()..].starts_with(['<', '>']) {
            true => Err(Unparsed::Syntax),
            false => Ok(()),
        }
    }

    fn duplicate(&mut self) -> Result<Target, Unparsed> {
        self.skip_to_operand()?;
        let rest = self.rest();
        let word = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        let target = match word.as_bytes() {
            b"-" => Target::Close,
            [digit @ b'0'..=b'9'] => Target::Duplicate(digit - b'0'),
            _ => {
                return Err(Unparsed::Unsupported(
                    "a duplicate of a computed descriptor",
                ));
            }
        };
        self.at += word.len();
        Ok(target)
    }

    /// The name of a file, which must be literal.
    fn file(&mut self) -> Result<String, Unparsed> {
        self.skip_to_operand()?;
        let mut words = Vec::new();
        self.without_folded(|reader| reader.words_into(&mut words))?;
        let path = match words.as_slice() {
            [word] => word.as_literal().filter(|path| !path.is_empty()),
            _ => None,
        };
        let path = path.ok_or(Unparsed::Unsupported("a redirection to a computed file"))?;
        // Some shells open a socket, or a descriptor.
        if ["/dev/tcp", "/dev/udp", "/dev/fd"]
            .iter()
            .any(|begin| path.starts_with(begin))
        {
            return Err(Unparsed::Unsupported(
                "a redirection to a device of the shell",
            ));
        }
        Ok(path.into())
    }

    fn here_string(&mut self) -> Result<Target, Unparsed> {
        self.skip_to_operand()?;
        let atoms = self.atoms()?;
        if atoms.is_empty() {
            return Err(Unparsed::Syntax);
        }
        let mut text = assembly::unsplit(&atoms)?;
        match text.parts.last_mut() {
            Some(Part::Literal(end)) => end.push('\n'),
            _ => text.parts.push(Part::Literal("\n".into())),
        }
        Ok(Target::Text(text))
    }

    /// A here-document, after its `<<`.
    fn here_document(&mut self) -> Result<Target, Unparsed> {
        let strip_tabs = self.take("-");
        self.skip_to_operand()?;
        let (end, is_literal) = self.here_document_end()?;
        let (body, line) = self.here_document_body(end, strip_tabs)?;
        if is_literal {
            return Ok(Target::Text(Word::literal(body)));
        }
        let is_bash = self.is_bash;
        let (text, met, uses) =
            self.deeper(|reader| expanded_body(&body, reader.levels, line, is_bash))?;
        self.met.folded |= met.folded;
        self.met.status |= met.status;
        self.uses.add(uses)?;
        Ok(Target::Text(text))
    }

    /// The delimiter of a here-document, and whether it was quoted, which makes the body literal.
    fn here_document_end(&mut self) -> Result<(&'a str, bool), Unparsed> {
        const UNCLEAR: Unparsed =
            Unparsed::Unsupported("the end of a here-document that is no plain name");
        let text = self.text;
        let rest = &text[self.at..];
        let word = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        let quoted = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
        let inner = quoted('\'')
            .or_else(|| quoted('"'))
            .or_else(|| word.strip_prefix('\\'));
        let end = inner.unwrap_or(word);
        let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        if end.is_empty() || !end.bytes().all(is_name) {
            return Err(UNCLEAR);
        }
        self.at += word.len();
        Ok((end, inner.is_some()))
    }

    /// The lines up to the delimiter, and the number of the first one.
    fn here_document_body(
        &mut self,
        end: &str,
        strip_tabs: bool,
    ) -> Result<(String, u32), Unparsed> {
        let (line_end, start, before) = match &self.bodies {
            Some(bodies) if bodies.substitutions == self.substitutions => {
                (bodies.line_end, bodies.resume_at, bodies.lines)
            }
            Some(_) => return Err(Unparsed::Unsupported("a here-document inside another")),
            None => {
                let length = self.rest().find('\n').ok_or(Unparsed::Unclosed)?;
                (self.at + length, self.at + length + 1, 0)
            }
        };
        let mut body = String::new();
        let mut at = start;
        let mut lines = 0;
        loop {
            let rest = self.text.get(at..).filter(|rest| !rest.is_empty());
            let rest = rest.ok_or(Unparsed::Unclosed)?;
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            at = (at + line.len() + 1).min(self.text.len());
            lines += 1;
            let shown = match strip_tabs {
                true => line.trim_start_matches('\t'),
                false => line,
            };
            if shown == end {
                break;
            }
            if self.substitutions > 0 && shown.starts_with(end) {
                // Bash ends the body there, and runs what follows.
                return Err(Unparsed::Unsupported(
                    "a line in a here-document that begins like its end",
                ));
            }
            body.push_str(shown);
            body.push('\n');
        }
        let first = self.line + before + 1;
        self.bodies = Some(Bodies {
            line_end,
            resume_at: at,
            lines: before + lines,
            substitutions: self.substitutions,
        });
        Ok((body, first))
    }
}

/// The body of a here-document with an unquoted delimiter: expansions as in double quotes, which are literal here.
fn expanded_body(
    body: &str,
    levels: u32,
    line: u32,
    is_bash: bool,
) -> Result<(Word, Met, Uses), Unparsed> {
    let mut reader = Reader {
        text: body,
        at: 0,
        line,
        levels,
        is_bash,
        substitutions: 0,
        bodies: None,
        met: Met::default(),
        uses: Uses::default(),
    };
    let mut atoms = Vec::new();
    let mut text = String::new();
    while let Some(c) = reader.next() {
        match c {
            '\\' => match reader.peek() {
                Some('\n') => {
                    return Err(Unparsed::Unsupported("a joined line in a here-document"));
                }
                Some(c @ ('$' | '`' | '\\')) => {
                    reader.next();
                    text.push(c);
                }
                _ => text.push('\\'),
            },
            '$' | '`' => {
                if !text.is_empty() {
                    atoms.push(Atom::Quoted(core::mem::take(&mut text)));
                }
                match c {
                    '$' => reader.dollar(&mut atoms, true)?,
                    _ => reader.backquoted(&mut atoms, true)?,
                }
            }
            c => text.push(c),
        }
    }
    atoms.push(Atom::Quoted(text));
    Ok((assembly::unsplit(&atoms)?, reader.met, reader.uses))
}
