//! `case`, and the patterns it shares with `[[`.

use alloc::vec::Vec;

use super::{
    End, Reader,
    assembly::{assembled, unsplit},
    atom::Atom,
};
use crate::{Choice, Compound, Part, Script, Unparsed, Word};

impl Reader<'_> {
    pub(super) fn case(&mut self) -> Result<Compound, Unparsed> {
        self.take_keyword("case")?;
        self.skip_blanks()?;
        let atoms = self.without_folded(Self::atoms)?;
        if atoms.is_empty() {
            return Err(Unparsed::Syntax);
        }
        let word = unsplit(&atoms)?;
        self.skip_lines()?;
        self.take_keyword("in")?;
        self.skip_lines()?;
        let mut choices = Vec::new();
        while self.keyword() != "esac" {
            choices.push(self.choice()?);
            self.skip_lines()?;
        }
        self.take_keyword("esac")?;
        Ok(Compound::Case { word, choices })
    }

    fn choice(&mut self) -> Result<Choice, Unparsed> {
        self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks()?;
            let atoms = self.atoms()?;
            patterns.push(pattern(&atoms)?);
            self.skip_blanks()?;
            if self.take(")") {
                break;
            }
            if !self.take("|") {
                return Err(Unparsed::Syntax);
            }
        }
        let body: Script = self.deeper(|reader| reader.script(End::Choice))?;
        if self.take(";;") && self.peek() == Some('&') {
            return Err(Unparsed::Unsupported("`;;&`, which only bash knows"));
        }
        Ok(Choice { patterns, body })
    }
}

/// A pattern that a text is compared with, in which everything is literal.
pub(super) fn pattern(atoms: &[Atom]) -> Result<Word, Unparsed> {
    const COMPUTED: Unparsed = Unparsed::Unsupported("a pattern that is computed");
    if atoms.is_empty() {
        return Err(Unparsed::Syntax);
    }
    let word = assembled(atoms)?;
    for part in &word.parts {
        match part {
            Part::Literal(_) => {}
            // In dash it is an ordinary character.
            Part::Pattern(text) if text.contains("[^") => {
                return Err(Unparsed::Unsupported("`[^…]`"));
            }
            Part::Pattern(_) => {}
            _ => return Err(COMPUTED),
        }
    }
    match word.as_literal() {
        Some("esac") => Err(Unparsed::Unsupported("`esac` as a pattern")),
        _ => Ok(word),
    }
}
