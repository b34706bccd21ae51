//! Words: quoting, expansions, patterns.

use alloc::{string::String, vec::Vec};

use super::{End, Reader, Uses, braces, ends_word};
use crate::{Command, Compound, Part, Redirection, Script, Target, Unparsed, Word, names};

/// A piece of a word before brace lists, the tilde and patterns are recognised.
#[derive(Debug, Clone)]
pub(super) enum Atom {
    /// A character that was not quoted.
    Plain(char),
    /// Text that was quoted.
    Quoted(String),
    /// An expansion.
    Part(Part),
}

/// Process substitutions of one command. Printed for shells that have none, each takes one of the ten descriptors of POSIX.
const MOST_PROCESSES: usize = 4;

/// Adds the words that a word becomes: one, or one for each choice of its brace lists.
pub(super) fn finish(atoms: Vec<Atom>, words: &mut Vec<Word>) -> Result<(), Unparsed> {
    for atoms in braces::expanded(atoms)? {
        words.push(assembled(&atoms)?);
    }
    Ok(())
}

/// A word in a place where brace lists and patterns are not expanded and nothing is split: the value of an assignment, a
/// here-string.
pub(super) fn unsplit(atoms: &[Atom]) -> Result<Word, Unparsed> {
    let mut word = Word::default();
    let mut atoms = atoms;
    if let [Atom::Plain('~'), rest @ ..] = atoms {
        word.parts.push(tilde(rest)?);
        atoms = rest;
    }
    for atom in atoms {
        match atom {
            Atom::Plain('~') => return Err(Unparsed::Unsupported("`~` inside a value")),
            Atom::Plain(c) => push_char(&mut word, *c),
            Atom::Quoted(text) => push_literal(&mut word, text),
            Atom::Part(part) => word.parts.push(quoted(part.clone())),
        }
    }
    if word.parts.is_empty() {
        word.parts.push(Part::Literal(String::new()));
    }
    Ok(word)
}

fn quoted(part: Part) -> Part {
    match part {
        Part::Variable { name, .. } => Part::Variable { name, quoted: true },
        Part::Operation {
            name, operation, ..
        } => Part::Operation {
            name,
            operation,
            quoted: true,
        },
        Part::Substitution { script, .. } => Part::Substitution {
            script,
            quoted: true,
        },
        part => part,
    }
}

/// The tilde in front of this.
fn tilde(behind: &[Atom]) -> Result<Part, Unparsed> {
    match behind.first() {
        None | Some(Atom::Plain('/')) => Ok(Part::Tilde),
        _ => Err(Unparsed::Unsupported("another user's home directory")),
    }
}

pub(super) fn assembled(atoms: &[Atom]) -> Result<Word, Unparsed> {
    refuse_tilde_in_assignment(atoms)?;
    let mut word = Word::default();
    let mut at = 0;
    // Once no bracket closes, none behind it does.
    let mut brackets_close = true;
    while let Some(atom) = atoms.get(at) {
        at += 1;
        match atom {
            Atom::Plain('~') if at == 1 => word.parts.push(tilde(&atoms[1..])?),
            Atom::Plain(c @ ('*' | '?')) => push_pattern(&mut word, |text| text.push(*c)),
            Atom::Plain('[') if brackets_close => match bracket_end(atoms, at)? {
                Some(end) => {
                    push_pattern(&mut word, |text| {
                        text.push('[');
                        text.extend(atoms[at..end].iter().filter_map(|atom| match atom {
                            Atom::Plain(c) => Some(*c),
                            _ => None,
                        }));
                    });
                    at = end;
                }
                None => {
                    brackets_close = false;
                    push_char(&mut word, '[');
                }
            },
            Atom::Plain(c) => push_char(&mut word, *c),
            Atom::Quoted(text) => push_literal(&mut word, text),
            Atom::Part(part) => word.parts.push(part.clone()),
        }
    }
    Ok(word)
}

/// Bash expands `~` in `make PREFIX=~/x`, dash does not.
fn refuse_tilde_in_assignment(atoms: &[Atom]) -> Result<(), Unparsed> {
    if !atoms.iter().any(|atom| matches!(atom, Atom::Plain('~'))) {
        return Ok(());
    }
    let mut previous = None;
    let mut name = String::new();
    let mut is_assignment = false;
    for atom in atoms {
        match atom {
            Atom::Plain('~') if is_assignment && matches!(previous, Some('=' | ':')) => {
                return Err(Unparsed::Unsupported("`~` inside a value"));
            }
            Atom::Plain('=') if names::is_name(&name) => is_assignment = true,
            Atom::Plain(c) => name.push(*c),
            _ => {}
        }
        previous = match atom {
            Atom::Plain(c) => Some(*c),
            _ => None,
        };
        if previous.is_none() && !is_assignment {
            return Ok(());
        }
    }
    Ok(())
}

/// Behind the bracket that closes a bracket expression; none if nothing closes it, which makes it text.
fn bracket_end(atoms: &[Atom], start: usize) -> Result<Option<usize>, Unparsed> {
    const UNCLEAR: Unparsed =
        Unparsed::Unsupported("a bracket expression with quotes or expansions");
    let plain = |at: usize| match atoms.get(at) {
        Some(Atom::Plain(c)) => Ok(Some(*c)),
        Some(_) => Err(UNCLEAR),
        None => Ok(None),
    };
    if start == atoms.len() {
        return Ok(None);
    }
    let mut at = start;
    if let Ok(Some('!' | '^')) = plain(at) {
        at += 1;
    }
    let closes = |atom: &Atom| matches!(atom, Atom::Plain(']'));
    if !atoms[at..].iter().any(closes) {
        return Ok(None);
    }
    if plain(at)? == Some(']') {
        at += 1;
    }
    loop {
        match plain(at)? {
            Some(']') => return Ok(Some(at + 1)),
            Some('/') => return Err(UNCLEAR),
            Some('[') if matches!(plain(at + 1), Ok(Some(':' | '.' | '='))) => {
                return Err(Unparsed::Unsupported("a named class of characters"));
            }
            Some(_) => at += 1,
            None => return Err(UNCLEAR),
        }
    }
}

fn push_char(word: &mut Word, c: char) {
    match word.parts.last_mut() {
        Some(Part::Literal(text)) => text.push(c),
        _ => word.parts.push(Part::Literal(c.into())),
    }
}

fn push_literal(word: &mut Word, new: &str) {
    match word.parts.last_mut() {
        Some(Part::Literal(text)) => text.push_str(new),
        _ => word.parts.push(Part::Literal(new.into())),
    }
}

fn push_pattern(word: &mut Word, add: impl FnOnce(&mut String)) {
    if !matches!(word.parts.last(), Some(Part::Pattern(_))) {
        word.parts.push(Part::Pattern(String::new()));
    }
    if let Some(Part::Pattern(text)) = word.parts.last_mut() {
        add(text);
    }
}

impl<'a> Reader<'a> {
    /// Adds the words that the word here becomes.
    pub(super) fn words_into(&mut self, words: &mut Vec<Word>) -> Result<(), Unparsed> {
        if let Some(text) = self.peek_plain() {
            self.at += text.len();
            words.push(Word::literal(text));
            return Ok(());
        }
        let atoms = self.atoms()?;
        finish(atoms, words)
    }

    /// The word that stands here if it is nothing but characters that mean themselves wherever they stand, as most words are.
    pub(super) fn peek_plain(&self) -> Option<&'a str> {
        let rest = self.rest();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c);
        let end = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(end);
        let is_whole = behind.chars().next().is_none_or(ends_word);
        (is_whole && !text.is_empty()).then_some(text)
    }

    /// The pieces of the word that stands here.
    pub(super) fn atoms(&mut self) -> Result<Vec<Atom>, Unparsed> {
        let mut atoms = Vec::new();
        while let Some(c) = self.peek() {
            if ends_word(c) {
                break;
            }
            self.next();
            match c {
                '\\' => match self.peek() {
                    None => return Err(Unparsed::Unclosed),
                    Some('\n') => {
                        return Err(Unparsed::Unsupported(
                            "a line joined in the middle of a word",
                        ));
                    }
                    Some(c) => {
                        self.next();
                        atoms.push(Atom::Quoted(c.into()));
                    }
                },
                '\'' => {
                    let text = self.single_quoted()?;
                    atoms.push(Atom::Quoted(text));
                }
                '"' => self.double_quoted(&mut atoms)?,
                '$' => self.dollar(&mut atoms, false)?,
                '`' => self.backquoted(&mut atoms, false)?,
                c if c.is_control() => return Err(Unparsed::Unsupported("a control character")),
                c => atoms.push(Atom::Plain(c)),
            }
        }
        if !self.is_bash && braces::may_expand(&atoms) {
            self.only_bash()?;
        }
        // `{fd}>file` opens a descriptor of its own.
        if matches!(self.peek(), Some('<' | '>'))
            && atoms.iter().any(|atom| matches!(atom, Atom::Plain('{')))
        {
            return Err(Unparsed::Unsupported("a descriptor in a variable"));
        }
        Ok(atoms)
    }

    /// A line end inside quotes: it must not be the one behind which here-documents begin.
    fn quoted_line_end(&self) -> Result<(), Unparsed> {
        match self.bodies {
            Some(_) => Err(Unparsed::Unsupported(
                "a here-document whose line ends inside something else",
            )),
            None => Ok(()),
        }
    }

    fn single_quoted(&mut self) -> Result<String, Unparsed> {
        let rest = self.rest();
        let text = &rest[..rest.find('\'').ok_or(Unparsed::Unclosed)?];
        if text.contains('\n') {
            self.quoted_line_end()?;
        }
        self.at += text.len() + 1;
        self.count_lines(text);
        Ok(text.into())
    }

    fn double_quoted(&mut self, atoms: &mut Vec<Atom>) -> Result<(), Unparsed> {
        let mut text = String::new();
        // Even of nothing it makes a word.
        let mut is_empty = true;
        loop {
            match self.next() {
                Some('"') => {
                    if is_empty || !text.is_empty() {
                        atoms.push(Atom::Quoted(text));
                    }
                    return Ok(());
                }
                Some('\\') => match self.next() {
                    Some('\n') => {
                        return Err(Unparsed::Unsupported("a line joined inside quotes"));
                    }
                    Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                    Some(c) => {
                        text.push('\\');
                        text.push(c);
                    }
                    None => return Err(Unparsed::Unclosed),
                },
                Some(c @ ('$' | '`')) => {
                    if !text.is_empty() {
                        atoms.push(Atom::Quoted(core::mem::take(&mut text)));
                    }
                    let before = atoms.len();
                    match c {
                        '$' => self.dollar(atoms, true)?,
                        _ => self.backquoted(atoms, true)?,
                    }
                    is_empty &= atoms.len() == before;
                    continue;
                }
                Some(c) => {
                    if c == '\n' {
                        self.quoted_line_end()?;
                    }
                    text.push(c);
                }
                None => return Err(Unparsed::Unclosed),
            }
            is_empty = false;
        }
    }

    /// What a dollar sign, already taken, begins.
    pub(super) fn dollar(&mut self, atoms: &mut Vec<Atom>, quoted: bool) -> Result<(), Unparsed> {
        let Some(c) = self.peek() else {
            atoms.push(Atom::Quoted("$".into()));
            return Ok(());
        };
        let part = match c {
            '(' => return self.substitution(atoms, quoted),
            '{' => {
                self.next();
                self.parameter(quoted)?
            }
            c if c.is_ascii_alphabetic() || c == '_' => Part::Variable {
                name: self.variable_name()?,
                quoted,
            },
            '?' => {
                self.next();
                self.met.status = true;
                Part::Status
            }
            '\'' if !quoted => {
                self.only_bash()?;
                self.next();
                let text = self.escaped_text()?;
                atoms.push(Atom::Quoted(text));
                return Ok(());
            }
            '"' if !quoted => return Err(Unparsed::Unsupported("`$\"…\"`")),
            '[' => return Err(Unparsed::Unsupported("arithmetic")),
            '@' | '*' | '#' | '$' | '!' | '-' | '0'..='9' => {
                return Err(Unparsed::Unsupported("a special parameter"));
            }
            '\\' if self.peek_second() == Some('\n') => {
                return Err(Unparsed::Unsupported("a line joined behind `$`"));
            }
            _ => {
                atoms.push(Atom::Quoted("$".into()));
                return Ok(());
            }
        };
        atoms.push(Atom::Part(part));
        Ok(())
    }

    pub(super) fn variable_name(&mut self) -> Result<String, Unparsed> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        if !names::is_name(name) {
            return Err(Unparsed::Unsupported("`${…}` with more than a name"));
        }
        if names::is_made_by_the_shell(name) {
            return Err(Unparsed::Unsupported("a variable of the shell itself"));
        }
        self.at += name.len();
        Ok(name.into())
    }

    /// `$(…)`, its dollar sign taken.
    fn substitution(&mut self, atoms: &mut Vec<Atom>, quoted: bool) -> Result<(), Unparsed> {
        if self.rest().starts_with("((") {
            return self.arithmetic(atoms);
        }
        let script = self.in_parentheses()?;
        self.push_substitution(atoms, script, quoted)
    }

    /// The commands in the parentheses that begin here.
    fn in_parentheses(&mut self) -> Result<Script, Unparsed> {
        self.at += 1;
        self.substitutions += 1;
        let script = self.deeper(|reader| reader.script(End::Parenthesis))?;
        if let Some(bodies) = &self.bodies
            && bodies.substitutions == self.substitutions
        {
            return Err(Unparsed::Unclosed);
        }
        self.substitutions -= 1;
        self.at += 1;
        Ok(script)
    }

    /// Takes `<(…)` if it stands here as a whole word.
    pub(super) fn process(&mut self, words: &mut Vec<Word>) -> Result<bool, Unparsed> {
        let follows_blank = self.text[..self.at].ends_with([' ', '\t', '\n']);
        if words.is_empty() || !follows_blank || !self.take("<") {
            return Ok(false);
        }
        if self.peek() != Some('(') {
            self.at -= 1;
            return Ok(false);
        }
        self.only_bash()?;
        let script = self.in_parentheses()?;
        let is_whole = self
            .peek()
            .is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | ')'));
        if !is_whole || script.lists.is_empty() || is_file_alone(&script) {
            return Err(Unparsed::Unsupported("an unusual process substitution"));
        }
        printed_by_bash(&script)?;
        let is_process = |word: &&Word| matches!(word.parts.as_slice(), [Part::Process { .. }]);
        if words.iter().filter(is_process).count() == MOST_PROCESSES {
            return Err(Unparsed::Unsupported(
                "many process substitutions in one command",
            ));
        }
        self.uses.add(Uses {
            processes: true,
            ..Uses::default()
        })?;
        let parts = alloc::vec![Part::Process { script }];
        words.push(Word { parts });
        Ok(true)
    }

    /// `$((…))`, its dollar sign taken: a number.
    fn arithmetic(&mut self, atoms: &mut Vec<Atom>) -> Result<(), Unparsed> {
        const UNCLEAR: Unparsed = Unparsed::Unsupported("arithmetic with more than numbers");
        let rest = &self.rest()["((".len()..];
        let expression = &rest[..rest.find("))").ok_or(UNCLEAR)?];
        // A bracket of the expression's own may stand before the two that close it.
        let brackets = rest[expression.len()..]
            .bytes()
            .take_while(|b| *b == b')')
            .count();
        let expression = &rest[..expression.len() + brackets - 2];
        let result = super::arithmetic::result(expression).ok_or(UNCLEAR)?;
        self.at += expression.len() + "(())".len();
        atoms.push(Atom::Quoted(result));
        Ok(())
    }

    /// `$'…'`, its opening taken: a text with escapes, of which those are read that every reader agrees about.
    fn escaped_text(&mut self) -> Result<String, Unparsed> {
        let mut text = String::new();
        loop {
            match self.next().ok_or(Unparsed::Unclosed)? {
                '\'' => return Ok(text),
                '\\' => text.push(match self.next().ok_or(Unparsed::Unclosed)? {
                    'n' => '\n',
                    't' => '\t',
                    'e' | 'E' => '\u{1b}',
                    c @ ('\\' | '\'' | '"') => c,
                    _ => return Err(Unparsed::Unsupported("an escape in `$'…'`")),
                }),
                c => {
                    if c == '\n' {
                        self.quoted_line_end()?;
                    }
                    text.push(c);
                }
            }
        }
    }

    /// `` `…` ``, its opening taken.
    pub(super) fn backquoted(
        &mut self,
        atoms: &mut Vec<Atom>,
        in_quotes: bool,
    ) -> Result<(), Unparsed> {
        let rest = self.rest();
        let text = &rest[..rest.find('`').ok_or(Unparsed::Unclosed)?];
        if text.contains('\\') || in_quotes && text.contains('"') {
            return Err(Unparsed::Unsupported("quoting inside backquotes"));
        }
        if text.contains('\n') {
            self.quoted_line_end()?;
        }
        let (line, is_bash) = (self.line, self.is_bash);
        let (script, uses) =
            self.deeper(|reader| super::inner_script(text, reader.levels, line, is_bash))?;
        self.uses.add(uses)?;
        self.at += text.len() + 1;
        self.count_lines(text);
        self.met.status |= text.contains("$?");
        self.push_substitution(atoms, script, in_quotes)
    }

    pub(super) fn count_lines(&mut self, text: &str) {
        let lines = text.bytes().filter(|b| *b == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }

    fn push_substitution(
        &mut self,
        atoms: &mut Vec<Atom>,
        script: Script,
        quoted: bool,
    ) -> Result<(), Unparsed> {
        match literal_text(&script).filter(|_| quoted) {
            Some(text) => {
                self.met.folded = true;
                atoms.push(Atom::Quoted(text.into()));
            }
            None if script.lists.is_empty() => {
                return Err(Unparsed::Unsupported("an empty substitution"));
            }
            None if is_file_alone(&script) => {
                return Err(Unparsed::Unsupported("`$(<file)`, which only bash knows"));
            }
            None => {
                printed_by_bash(&script)?;
                atoms.push(Atom::Part(Part::Substitution { script, quoted }));
            }
        }
        Ok(())
    }
}

/// Bash runs a substitution as it prints it anew from its own tree, and loses separators behind here-documents. What is
/// printed here has one for each text that is read.
fn printed_by_bash(script: &Script) -> Result<(), Unparsed> {
    match has_text(script) && !has_text_alone(script) {
        true => Err(Unparsed::Unsupported(
            "a here-document or here-string amid the commands of a substitution",
        )),
        false => Ok(()),
    }
}

/// Whether all there is are a simple command, or a pipeline of such in which nothing is expanded.
fn has_text_alone(script: &Script) -> bool {
    let [list] = script.lists.as_slice() else {
        return false;
    };
    let commands = list.first.commands.as_slice();
    list.rest.is_empty()
        && commands.iter().all(|command| match command {
            Command::Simple(simple) => {
                let mut words = simple.words.iter();
                match commands.len() {
                    1 => !words.any(word_has_text),
                    _ => words.all(|word| word.as_literal().is_some()),
                }
            }
            Command::Compound { .. } => false,
        })
}

/// Whether a text is read by a command of a script.
fn has_text(script: &Script) -> bool {
    let in_redirections = |redirections: &[Redirection]| {
        redirections
            .iter()
            .any(|redirection| matches!(redirection.to, Target::Text(_)))
    };
    let in_command = |command: &Command| match command {
        Command::Simple(simple) => {
            in_redirections(&simple.redirections) || simple.words.iter().any(word_has_text)
        }
        Command::Compound { body, redirections } => {
            in_redirections(redirections) || body_has_text(body)
        }
    };
    script.lists.iter().any(|list| {
        let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
        core::iter::once(&list.first)
            .chain(rest)
            .flat_map(|pipeline| &pipeline.commands)
            .any(in_command)
    })
}

fn word_has_text(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Process { script } => has_text(script),
        _ => false,
    })
}

fn body_has_text(body: &Compound) -> bool {
    match body {
        Compound::Group(script) | Compound::Subshell(script) => has_text(script),
        Compound::For { body, .. } => has_text(body),
        Compound::If { arms, otherwise } => {
            arms.iter()
                .any(|(condition, body)| has_text(condition) || has_text(body))
                || otherwise.as_ref().is_some_and(has_text)
        }
        Compound::While {
            condition, body, ..
        } => has_text(condition) || has_text(body),
        Compound::Case { choices, .. } => choices.iter().any(|choice| has_text(&choice.body)),
    }
}

/// Whether all that stands in a substitution is a redirection.
fn is_file_alone(script: &Script) -> bool {
    match script.lists.as_slice() {
        [list] if list.rest.is_empty() => match list.first.commands.as_slice() {
            [Command::Simple(command)] => {
                command.words.is_empty() && command.assignments.is_empty()
            }
            _ => false,
        },
        _ => false,
    }
}

/// `"$(cat <<'E' … E)"` is a way to write a text: no program need be started to know it.
fn literal_text(script: &Script) -> Option<&str> {
    let [list] = script.lists.as_slice() else {
        return None;
    };
    let [Command::Simple(command)] = list.first.commands.as_slice() else {
        return None;
    };
    let is_plain = list.rest.is_empty()
        && !list.first.negated
        && !list.first.timed
        && command.assignments.is_empty()
        && command.words.len() == 1
        && command.program() == Some("cat");
    match command.redirections.as_slice() {
        [redirection] if is_plain && redirection.descriptor == 0 => match &redirection.to {
            Target::Text(body) => body.as_literal().map(|text| text.trim_end_matches('\n')),
            _ => None,
        },
        _ => None,
    }
}
