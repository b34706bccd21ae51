//! `[[ … ]]`, which dash does not support: it is converted to tests, lists and `case`, which mean the same in both.

use alloc::{string::String, vec::Vec};

use super::{Reader, assembly::unsplit, atom::Atom, case::pattern, ends_word};
use crate::{
    AndOr, Choice, Command, Compound, Junction, Part, Pipeline, Script, Simple, Unparsed, Word,
};

/// Operators for tests of a file or a text.
const UNARY: [&str; 19] = [
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-u", "-w",
    "-x", "-z", "-O",
];

/// Operators that compare files.
const OF_FILES: [&str; 3] = ["-nt", "-ot", "-ef"];

/// Operators that compare numbers, which would evaluate the values of variables.
const OF_NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

const UNCLEAR: Unparsed = Unparsed::Unsupported("`[[` with more than tests of files and texts");

impl Reader<'_> {
    pub(super) fn test(&mut self) -> Result<Compound, Unparsed> {
        self.only_bash()?;
        self.take_keyword("[[")?;
        if !matches!(self.peek(), Some(' ' | '\t')) {
            return Err(UNCLEAR);
        }
        let outer = core::mem::take(&mut self.met);
        let mut tests = 0;
        let list = self.any_of(&mut tests)?;
        self.take_keyword("]]")?;
        let met = core::mem::replace(&mut self.met, outer);
        self.met.status |= met.status;
        // Inside, `$?` keeps its value; in the commands that replace the tests it would change.
        if met.status && (tests > 1 || met.folded) {
            return Err(UNCLEAR);
        }
        Ok(Compound::Group(Script {
            lists: alloc::vec![list],
        }))
    }

    /// Tests joined by `||`.
    fn any_of(&mut self, tests: &mut u32) -> Result<AndOr, Unparsed> {
        let first = self.all_of(tests)?;
        if !self.rest().starts_with("||") {
            return Ok(first);
        }
        // In a list, `&&` does not have higher precedence.
        let first = grouped(first);
        let mut rest = Vec::new();
        while self.take("||") {
            rest.push((Junction::Or, grouped(self.all_of(tests)?)));
        }
        Ok(AndOr { first, rest })
    }

    /// Tests joined by `&&`.
    fn all_of(&mut self, tests: &mut u32) -> Result<AndOr, Unparsed> {
        let first = self.turned(tests)?;
        let mut rest = Vec::new();
        while self.take("&&") {
            rest.push((Junction::And, self.turned(tests)?));
        }
        Ok(AndOr { first, rest })
    }

    /// A test, possibly negated.
    fn turned(&mut self, tests: &mut u32) -> Result<Pipeline, Unparsed> {
        self.skip_blanks()?;
        let mut negated = false;
        while self.keyword() == "!" {
            self.take_keyword("!")?;
            self.skip_blanks()?;
            negated = !negated;
        }
        let mut pipeline = if self.take("(") {
            let inner = self.deeper(|reader| reader.any_of(tests))?;
            if !self.take(")") {
                return Err(UNCLEAR);
            }
            grouped(inner)
        } else {
            *tests += 1;
            self.one_test()?
        };
        pipeline.negated ^= negated;
        self.skip_blanks()?;
        Ok(pipeline)
    }

    fn one_test(&mut self) -> Result<Pipeline, Unparsed> {
        let line = self.line;
        let first = self.operand()?;
        if let Some(operator) = written(&first) {
            if UNARY.contains(&operator.as_str()) {
                let operand = unsplit(&self.operand()?)?;
                return Ok(simple(line, [Word::literal(operator), operand]));
            }
            if operator.starts_with('-') {
                return Err(UNCLEAR);
            }
        }
        let left = unsplit(&first)?;
        let Some(operator) = self.operator()? else {
            return Ok(simple(line, [Word::literal("-n"), left]));
        };
        let right = self.operand()?;
        match operator.as_str() {
            "=" | "==" => compared(line, left, &right),
            "!=" => {
                let mut pipeline = compared(line, left, &right)?;
                pipeline.negated ^= true;
                Ok(pipeline)
            }
            name if OF_FILES.contains(&name) => Ok(simple(
                line,
                [left, Word::literal(operator), unsplit(&right)?],
            )),
            name if OF_NUMBERS.contains(&name) => {
                let right = unsplit(&right)?;
                match is_number(&left) && is_number(&right) {
                    true => Ok(simple(line, [left, Word::literal(operator), right])),
                    false => Err(UNCLEAR),
                }
            }
            _ => Err(UNCLEAR),
        }
    }

    /// A required operand.
    fn operand(&mut self) -> Result<Vec<Atom>, Unparsed> {
        self.skip_blanks()?;
        if matches!(self.keyword(), "]]" | "!") {
            return Err(UNCLEAR);
        }
        let atoms = self.atoms()?;
        match atoms.is_empty() || self.peek() == Some('(') {
            true => Err(UNCLEAR),
            false => Ok(atoms),
        }
    }

    /// The operator after an operand, if there is one.
    fn operator(&mut self) -> Result<Option<String>, Unparsed> {
        self.skip_blanks()?;
        match self.peek() {
            Some('&' | '|' | ')') => return Ok(None),
            Some(c) if !ends_word(c) => {}
            _ => return Err(UNCLEAR),
        }
        if self.keyword() == "]]" {
            return Ok(None);
        }
        written(&self.atoms()?).map(Some).ok_or(UNCLEAR)
    }
}

/// The text of a word without quotes and expansions.
fn written(atoms: &[Atom]) -> Option<String> {
    let plain = |atom: &Atom| match atom {
        Atom::Plain(c) => Some(*c),
        _ => None,
    };
    atoms.iter().map(plain).collect()
}

/// The comparison of a text with a text or a pattern.
fn compared(line: u32, left: Word, right: &[Atom]) -> Result<Pipeline, Unparsed> {
    let is_unclear = |atom: &Atom| match atom {
        Atom::Plain('~') => true,
        // Unquoted, it would be a pattern.
        Atom::Part(Part::Variable { quoted, .. } | Part::Operation { quoted, .. }) => !quoted,
        Atom::Part(Part::Substitution { quoted, .. }) => !quoted,
        _ => false,
    };
    if right.iter().any(is_unclear) {
        return Err(UNCLEAR);
    }
    let has_pattern = |atom: &Atom| matches!(atom, Atom::Plain('*' | '?' | '['));
    if !right.iter().any(has_pattern) {
        return Ok(simple(line, [left, Word::literal("="), unsplit(right)?]));
    }
    let choice = |pattern, program| Choice {
        patterns: alloc::vec![pattern],
        body: Script {
            lists: alloc::vec![AndOr {
                first: run(line, alloc::vec![Word::literal(program)]),
                rest: Vec::new(),
            }],
        },
    };
    let anything = Word {
        parts: alloc::vec![Part::Pattern("*".into())],
    };
    let choices = alloc::vec![choice(pattern(right)?, "true"), choice(anything, "false"),];
    Ok(single(Command::Compound {
        body: Compound::Case {
            word: left,
            choices,
        },
        redirections: Vec::new(),
    }))
}

/// Whether a word is a number for every shell: `$?`, or digits without a leading zero.
fn is_number(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Status] => true,
        [Part::Literal(text)] => {
            text == "0"
                || text.len() < 10
                    && !text.is_empty()
                    && !text.starts_with('0')
                    && text.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    }
}

/// `[ WORDS ]`
fn simple<const COUNT: usize>(line: u32, operands: [Word; COUNT]) -> Pipeline {
    let mut words = alloc::vec![Word::literal("[")];
    words.extend(operands);
    words.push(Word::literal("]"));
    run(line, words)
}

fn run(line: u32, words: Vec<Word>) -> Pipeline {
    single(Command::Simple(Simple {
        line,
        words,
        ..Simple::default()
    }))
}

fn single(command: Command) -> Pipeline {
    Pipeline {
        negated: false,
        timed: false,
        commands: alloc::vec![command],
    }
}

/// A list as one command.
fn grouped(list: AndOr) -> Pipeline {
    if list.rest.is_empty() {
        return list.first;
    }
    single(Command::Compound {
        body: Compound::Group(Script {
            lists: alloc::vec![list],
        }),
        redirections: Vec::new(),
    })
}
