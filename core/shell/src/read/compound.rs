//! Compound commands.

use alloc::vec::Vec;

use super::{End, Reader, ends_word};
use crate::{Command, Compound, Unparsed, names};

impl Reader<'_> {
    /// Parses one stage of a pipeline.
    pub(super) fn command(&mut self) -> Result<Command, Unparsed> {
        if self.rest().starts_with("((") {
            return Err(Unparsed::Unsupported("arithmetic"));
        }
        let body = if self.take("(") {
            let script = self.body(End::Parenthesis)?;
            self.at += 1;
            Compound::Subshell(script)
        } else {
            match self.keyword() {
                "{" => self.group()?,
                "if" => self.conditional()?,
                "while" => self.repeated("while", false)?,
                "until" => self.repeated("until", true)?,
                "for" => self.for_each()?,
                "case" => self.case()?,
                "[[" => self.test()?,
                "select" | "function" | "coproc" => {
                    return Err(Unparsed::Unsupported("a keyword that only bash knows"));
                }
                "}" | "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" => {
                    return Err(Unparsed::Syntax);
                }
                _ => return self.simple().map(Command::Simple),
            }
        };
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks()?;
            if !self.without_folded(|reader| reader.redirection(&mut redirections))? {
                break;
            }
        }
        Ok(Command::Compound { body, redirections })
    }

    fn group(&mut self) -> Result<Compound, Unparsed> {
        self.take_keyword("{")?;
        let script = self.body(End::Keyword(&["}"]))?;
        self.take_keyword("}")?;
        Ok(Compound::Group(script))
    }

    fn conditional(&mut self) -> Result<Compound, Unparsed> {
        let mut arms = Vec::new();
        let mut keyword = "if";
        loop {
            self.take_keyword(keyword)?;
            let condition = self.body(End::Keyword(&["then"]))?;
            self.take_keyword("then")?;
            let body = self.body(End::Keyword(&["elif", "else", "fi"]))?;
            arms.push((condition, body));
            keyword = "elif";
            if self.keyword() != keyword {
                break;
            }
        }
        let mut otherwise = None;
        if self.keyword() == "else" {
            self.take_keyword("else")?;
            otherwise = Some(self.body(End::Keyword(&["fi"]))?);
        }
        self.take_keyword("fi")?;
        Ok(Compound::If { arms, otherwise })
    }

    fn repeated(&mut self, keyword: &str, until: bool) -> Result<Compound, Unparsed> {
        self.take_keyword(keyword)?;
        let condition = self.body(End::Keyword(&["do"]))?;
        let body = self.do_group()?;
        Ok(Compound::While {
            until,
            condition,
            body,
        })
    }

    fn do_group(&mut self) -> Result<crate::Script, Unparsed> {
        self.take_keyword("do")?;
        let body = self.body(End::Keyword(&["done"]))?;
        self.take_keyword("done")?;
        Ok(body)
    }

    fn for_each(&mut self) -> Result<Compound, Unparsed> {
        self.take_keyword("for")?;
        self.skip_blanks()?;
        let name = self.keyword();
        if !names::is_name(name) {
            return Err(Unparsed::Syntax);
        }
        // An upper-case variable may have a meaning for the shell or for programs.
        if !names::is_free_for_loops(name) {
            return Err(Unparsed::Unsupported("a loop over a variable in capitals"));
        }
        self.at += name.len();
        self.skip_blanks()?;
        if self.keyword() != "in" {
            return Err(Unparsed::Unsupported("a loop without `in`"));
        }
        self.take_keyword("in")?;
        let mut words = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.peek() {
                Some(';') if !matches!(self.peek_second(), Some(';' | '&')) => {
                    self.at += 1;
                    break;
                }
                Some('\n') => break,
                Some(c) if !ends_word(c) => {
                    self.without_folded(|reader| reader.words_into(&mut words))?;
                }
                _ => return Err(Unparsed::Syntax),
            }
        }
        self.skip_lines()?;
        let body = self.do_group()?;
        Ok(Compound::For {
            name: name.into(),
            words,
            body,
        })
    }
}
