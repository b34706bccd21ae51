//! Parses a line to its tree: lists, pipelines and compound commands.
//!
//! Follows the POSIX shell grammar (IEEE 1003.1, chapter 2). Constructs that bash and dash parse differently, or that only one of
//! them supports, are either converted to a form that both parse alike (`&>`, `|&`, `<<<`, brace lists) or refused.

mod arithmetic;
mod assembly;
mod atom;
mod braces;
mod case;
mod command;
mod compound;
mod parameter;
mod redirection;
pub(crate) mod runs;
mod substitution;
mod test;
mod word;

use alloc::vec::Vec;

pub use self::runs::runs_others;
use crate::{AndOr, Command, Junction, Pipeline, Redirection, Script, Target, Unparsed};

/// The maximum length of a line in bytes. Linux passes no longer text to a program as one argument, so no shell could be given
/// more.
const MOST_BYTES: usize = 128 << 10;

/// The maximum nesting depth of compound commands and substitutions.
const MOST_LEVELS: u32 = 24;

/// Parses a line.
///
/// # Errors
/// [`Unparsed`]: it contains something that this grammar does not support.
pub(crate) fn script(text: &str) -> Result<Script, Unparsed> {
    inner_script(text, MOST_LEVELS, 1, true).map(|(script, _)| script)
}

/// Parses the line of a shell inside another one, with a limited nesting depth.
pub(crate) fn nested(text: &str, levels: u32, is_bash: bool) -> Result<Script, Unparsed> {
    inner_script(text, levels, 1, is_bash).map(|(script, _)| script)
}

fn inner_script(
    text: &str,
    levels: u32,
    line: u32,
    is_bash: bool,
) -> Result<(Script, Uses), Unparsed> {
    if text.len() > MOST_BYTES {
        return Err(Unparsed::TooLong);
    }
    // Bash uses two of them as internal markers, even in quotes: after a `$`, one hides that a bracket follows.
    if text.contains(['\0', '\u{1}', '\r', '\u{7f}']) {
        return Err(Unparsed::Unsupported("a control character"));
    }
    let mut reader = Reader {
        text,
        at: 0,
        line,
        levels,
        is_bash,
        substitutions: 0,
        bodies: None,
        met: Met::default(),
        uses: Uses::default(),
    };
    let script = reader.script(End::Text)?;
    match reader.bodies {
        Some(_) => Err(Unparsed::Unclosed),
        None => Ok((script, reader.uses)),
    }
}

/// A line and a position in it.
struct Reader<'a> {
    text: &'a str,
    /// The position in bytes.
    at: usize,
    /// The current line number, from 1.
    line: u32,
    /// The remaining nesting depth.
    levels: u32,
    /// Whether bash parses it. Constructs that only bash supports mean something else in any other shell.
    is_bash: bool,
    /// The number of open substitutions.
    substitutions: u32,
    /// The here-documents whose bodies begin after this line.
    bodies: Option<Bodies>,
    met: Met,
    uses: Uses,
}

/// What a script uses descriptor numbers for.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// A process substitution: printed for shells without support, it needs free descriptors.
    processes: bool,
    /// A redirection of or to a descriptor above 2, or one that closes any.
    descriptors: bool,
}

impl Uses {
    fn add(&mut self, other: Self) -> Result<(), Unparsed> {
        self.processes |= other.processes;
        self.descriptors |= other.descriptors;
        match self.processes && self.descriptors {
            true => Err(Unparsed::Unsupported(
                "a process substitution beside descriptors that are closed or above 2",
            )),
            false => Ok(()),
        }
    }
}

/// What occurs in the words of the current command.
#[derive(Clone, Copy, Default)]
struct Met {
    /// `"$(cat <<'E' … E)"`, which was replaced by its text: a shell that runs it sets `$?`.
    folded: bool,
    /// `$?`
    status: bool,
}

/// The positions of the here-document bodies of a line. They are parsed along with their operators, so that nothing stays open;
/// the end of the line then skips them.
struct Bodies {
    /// The end of the line with the operators.
    line_end: usize,
    /// The position after the last body.
    resume_at: usize,
    /// The number of lines in between.
    lines: u32,
    /// How many substitutions were open: the line must end on the same level.
    substitutions: u32,
}

/// What ends a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The end of the text.
    Text,
    /// `)`, which is not consumed.
    Parenthesis,
    /// One of these words, which is not consumed.
    Keyword(&'static [&'static str]),
    /// `;;` or `esac`, which is not consumed.
    Choice,
}

/// Whether a character ends a word.
fn ends_word(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        // `at` only moves over whole characters.
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    /// Consumes a character that is not a line end of a list; line ends inside quotes are counted here.
    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    /// Consumes a text if it is here.
    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Consumes the end of a line, including its here-documents.
    fn line_end(&mut self) -> Result<(), Unparsed> {
        match self.bodies.take() {
            None => {
                self.next();
            }
            Some(bodies)
                if bodies.line_end == self.at && bodies.substitutions == self.substitutions =>
            {
                self.at = bodies.resume_at;
                self.line += bodies.lines + 1;
            }
            Some(_) => {
                return Err(Unparsed::Unsupported(
                    "a here-document whose line ends inside something else",
                ));
            }
        }
        Ok(())
    }

    /// Skips blanks, line continuations between words, and comments.
    fn skip_blanks(&mut self) -> Result<(), Unparsed> {
        loop {
            let before = self.text[..self.at].chars().next_back();
            let follows_blank = before.is_none_or(|c| matches!(c, ' ' | '\t' | '\n'));
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                // Only where it cannot be inside a word or operator.
                Some('\\') if self.peek_second() == Some('\n') && follows_blank => {
                    if self.bodies.is_some() {
                        return Err(Unparsed::Unsupported("a joined line with a here-document"));
                    }
                    self.at += 2;
                    self.line += 1;
                    self.skip_blanks_of_joined_line()?;
                }
                Some('#') if before.is_none_or(ends_word) => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += length;
                }
                _ => return Ok(()),
            }
        }
    }

    /// After a line continuation, parsers differ in how they treat a comment or another line end.
    fn skip_blanks_of_joined_line(&mut self) -> Result<(), Unparsed> {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        match self.peek() {
            Some('#') => Err(Unparsed::Unsupported("a comment behind a joined line")),
            _ => Ok(()),
        }
    }

    fn skip_lines(&mut self) -> Result<(), Unparsed> {
        self.skip_blanks()?;
        while self.peek() == Some('\n') {
            self.line_end()?;
            self.skip_blanks()?;
        }
        Ok(())
    }

    /// The word at this position if it could be a keyword: nothing quoted, nothing expanded.
    fn keyword(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(ends_word).unwrap_or(rest.len())]
    }

    fn take_keyword(&mut self, keyword: &str) -> Result<(), Unparsed> {
        if self.keyword() != keyword {
            return Err(Unparsed::Syntax);
        }
        self.at += keyword.len();
        Ok(())
    }

    /// Runs a function one nesting level deeper.
    fn deeper<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Unparsed>,
    ) -> Result<T, Unparsed> {
        self.levels = self.levels.checked_sub(1).ok_or(Unparsed::TooDeep)?;
        let done = work(self)?;
        self.levels += 1;
        Ok(done)
    }

    /// Parses something in which no text may come from `cat`: what follows could use the status.
    fn without_folded<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Unparsed>,
    ) -> Result<T, Unparsed> {
        let before = core::mem::take(&mut self.met.folded);
        let done = work(self)?;
        match core::mem::replace(&mut self.met.folded, before) {
            true => Err(Unparsed::Unsupported("a text from `cat` in this place")),
            false => Ok(done),
        }
    }

    /// Refuses constructs that only bash supports, if another shell parses the line.
    fn only_bash(&self) -> Result<(), Unparsed> {
        match self.is_bash {
            true => Ok(()),
            false => Err(Unparsed::Unsupported(
                "what only bash knows, for another shell",
            )),
        }
    }

    fn is_at(&self, end: End) -> Result<bool, Unparsed> {
        match (self.peek(), end) {
            (None, End::Text) => Ok(true),
            (None, _) => Err(Unparsed::Unclosed),
            (Some(')'), End::Parenthesis) => Ok(true),
            (Some(')'), _) => Err(Unparsed::Syntax),
            (Some(_), End::Keyword(words)) => Ok(words.contains(&self.keyword())),
            (Some(_), End::Choice) => Ok(self.rest().starts_with(";;") || self.keyword() == "esac"),
            (Some(_), _) => Ok(false),
        }
    }

    fn script(&mut self, end: End) -> Result<Script, Unparsed> {
        let mut lists = Vec::new();
        loop {
            self.skip_lines()?;
            if self.is_at(end)? {
                return Ok(Script { lists });
            }
            lists.push(self.and_or()?);
            self.skip_blanks()?;
            match self.peek() {
                Some('\n') => self.line_end()?,
                Some(';') if end == End::Choice && self.peek_second() == Some(';') => {}
                Some(';') if matches!(self.peek_second(), Some(';' | '&')) => {
                    return Err(Unparsed::Syntax);
                }
                Some(';') => self.at += 1,
                Some('&') => return Err(Unparsed::Unsupported("a command in the background")),
                _ if self.is_at(end)? && !matches!(end, End::Keyword(_) | End::Choice) => {}
                _ => return Err(Unparsed::Syntax),
            }
        }
    }

    /// Parses a script that must not be empty.
    fn body(&mut self, end: End) -> Result<Script, Unparsed> {
        let script = self.deeper(|reader| reader.script(end))?;
        if script.lists.is_empty() {
            return Err(Unparsed::Syntax);
        }
        Ok(script)
    }

    fn and_or(&mut self) -> Result<AndOr, Unparsed> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks()?;
            let junction = if self.take("&&") {
                Junction::And
            } else if self.take("||") {
                Junction::Or
            } else {
                return Ok(AndOr { first, rest });
            };
            self.skip_lines()?;
            rest.push((junction, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Unparsed> {
        let (mut negated, mut timed) = (false, false);
        loop {
            match self.keyword() {
                "!" if !negated => negated = true,
                "time" if !timed => {
                    self.only_bash()?;
                    if self.substitutions > 0 {
                        // Bash reports a syntax error there, before some commands.
                        return Err(Unparsed::Unsupported("`time` in a substitution"));
                    }
                    timed = true;
                    let behind = self.rest()["time".len()..].trim_start_matches([' ', '\t']);
                    if behind.is_empty()
                        || behind.starts_with(['-', '\n', ';', '&', '|', ')', '<', '>', '#', '\\'])
                    {
                        return Err(Unparsed::Unsupported(
                            "`time` without a command, or with options",
                        ));
                    }
                }
                "!" | "time" => return Err(Unparsed::Unsupported("`!` or `time` twice")),
                _ => break,
            }
            self.at += self.keyword().len();
            self.skip_blanks()?;
        }
        let mut commands = Vec::new();
        loop {
            let mut command = self.command()?;
            self.skip_blanks()?;
            if self.rest().starts_with("||") || !self.take("|") {
                commands.push(command);
                if negated && is_led_compound(&commands) {
                    // If the redirection fails, dash negates the status and bash does not.
                    return Err(Unparsed::Unsupported(
                        "`!` before a compound command with redirections",
                    ));
                }
                return Ok(Pipeline {
                    negated,
                    timed,
                    commands,
                });
            }
            if self.take("&") {
                self.only_bash()?;
                let line = self.line;
                redirections_of(&mut command).push(Redirection {
                    line,
                    descriptor: 2,
                    to: Target::Duplicate(1),
                });
            }
            commands.push(command);
            self.skip_lines()?;
        }
    }
}

/// Whether this is only one compound command with redirections.
fn is_led_compound(commands: &[Command]) -> bool {
    matches!(commands, [Command::Compound { redirections, .. }] if !redirections.is_empty())
}

fn redirections_of(command: &mut Command) -> &mut Vec<Redirection> {
    match command {
        Command::Simple(simple) => &mut simple.redirections,
        Command::Compound { redirections, .. } => redirections,
    }
}
