//! Parses one line: lists, pipelines and compound commands become simple commands.

use alloc::{string::String, vec::Vec};

use super::{
    budget::Budget,
    evaluated::{builtin_evaluates, is_evaluated_variable, is_numeric, test_evaluates},
    word::Scanner,
};
use crate::{CommandWord, Direction, FileRedirection, SimpleCommand, Unparsed};

/// Parses a line into its simple commands and the texts of its substitutions.
pub(super) fn parse(line: &str, depth: u32, budget: &Budget) -> Result<ParsedLine, Unparsed> {
    if line.contains('\0') || line.contains('\r') {
        return Err(Unparsed::Syntax);
    }
    let mut parser = Parser {
        scanner: Scanner::new(line, depth, budget)?,
        heredocs: Vec::new(),
        brackets: Vec::new(),
        found: Vec::new(),
    };
    parser.lines()?;
    Ok(ParsedLine {
        commands: parser.found,
        substitutions: parser.scanner.nested,
    })
}

/// The parts of a parsed line.
pub(super) struct ParsedLine {
    /// The simple commands, in the order of the text.
    pub(super) commands: Vec<SimpleCommand>,
    /// The command lines of its substitutions, not parsed yet.
    pub(super) substitutions: Vec<String>,
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    /// Here-documents whose bodies begin on the next line.
    heredocs: Vec<Heredoc>,
    /// Open compound commands: the word or sign that closes each.
    brackets: Vec<&'static str>,
    found: Vec<SimpleCommand>,
}

struct Heredoc {
    end: String,
    strip_tabs: bool,
    expands: bool,
}

impl Parser<'_> {
    fn lines(&mut self) -> Result<(), Unparsed> {
        loop {
            self.scanner.skip_blanks();
            match self.scanner.peek() {
                None => break,
                Some('\n') => {
                    self.scanner.next();
                    self.heredoc_bodies()?;
                }
                Some(';') if matches!(self.scanner.peek_at(1), Some(';' | '&')) => {
                    self.next_case_arm()?;
                }
                Some(';' | '&' | '|') => {
                    self.scanner.next();
                }
                Some('(') if self.scanner.take("((") => self.arithmetic()?,
                Some('(') => {
                    self.scanner.next();
                    self.brackets.push(")");
                }
                Some(')') => {
                    self.scanner.next();
                    self.close(")")?;
                    self.redirections_after_compound()?;
                }
                Some(_) => self.command()?,
            }
        }
        if self.heredocs.is_empty() && self.brackets.is_empty() {
            Ok(())
        } else {
            Err(Unparsed::Unclosed)
        }
    }

    fn close(&mut self, bracket: &str) -> Result<(), Unparsed> {
        match self.brackets.pop() {
            Some(open) if open == bracket => Ok(()),
            _ => Err(Unparsed::Syntax),
        }
    }

    /// Parses one simple command, or the keyword that opens, continues or closes a compound one.
    fn command(&mut self) -> Result<(), Unparsed> {
        let mut command = SimpleCommand::default();
        loop {
            self.scanner.skip_blanks();
            if self.redirection(&mut command)? {
                continue;
            }
            let Some(word) = self.scanner.word()? else {
                break;
            };
            if command.words.is_empty() {
                if let Some(name) = assigned_name(&word) {
                    if is_evaluated_variable(&name) {
                        return Err(Unparsed::Unsupported("a variable that is run or evaluated"));
                    }
                    command.assignments.push(name);
                    continue;
                }
                if command.assignments.is_empty() && self.keyword(&word)? {
                    return Ok(());
                }
                if !word.is_literal() {
                    return Err(Unparsed::ComputedProgram);
                }
                self.scanner.skip_blanks();
                if self.scanner.peek() == Some('(') {
                    // The body follows and is listed like any other compound command.
                    return self.empty_parentheses();
                }
            }
            command.words.push(word);
        }
        match self.scanner.peek() {
            None | Some('\n' | ';' | '&' | '|' | ')') => {}
            _ => return Err(Unparsed::Syntax),
        }
        if builtin_evaluates(&command) {
            return Err(Unparsed::Unsupported(
                "a builtin that evaluates what it is given",
            ));
        }
        self.found.push(command);
        Ok(())
    }

    /// The `()` after a function's name.
    fn empty_parentheses(&mut self) -> Result<(), Unparsed> {
        self.scanner.next();
        self.scanner.skip_blanks();
        if self.scanner.take(")") {
            Ok(())
        } else {
            Err(Unparsed::Syntax)
        }
    }

    /// Whether the word is a keyword of a compound command.
    fn keyword(&mut self, word: &CommandWord) -> Result<bool, Unparsed> {
        if word.is_quoted() {
            return Ok(false);
        }
        match word.text() {
            "{" => self.brackets.push("}"),
            "if" => self.brackets.push("fi"),
            "while" | "until" => self.brackets.push("done"),
            "for" | "select" => {
                self.brackets.push("done");
                self.for_header()?;
            }
            "case" => {
                self.brackets.push("esac");
                self.case_header()?;
            }
            "function" => {
                self.scanner.skip_blanks();
                self.scanner.word()?.ok_or(Unparsed::Syntax)?;
                self.scanner.skip_blanks();
                if self.scanner.peek() == Some('(') {
                    self.empty_parentheses()?;
                }
            }
            "then" | "else" | "elif" | "do" | "!" => {}
            end @ ("}" | "fi" | "done" | "esac") => {
                self.close(end)?;
                self.redirections_after_compound()?;
            }
            "coproc" => return Err(Unparsed::Unsupported("coproc")),
            "[[" => self.conditional(word.clone())?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `for NAME [in WORDS]`: the words may be anything; substitutions in them are recorded.
    fn for_header(&mut self) -> Result<(), Unparsed> {
        self.scanner.skip_blanks();
        let name = self.scanner.word()?.ok_or(Unparsed::Syntax)?;
        // An upper-case variable may be one of the shell's, with a side effect.
        if !name.is_literal() || name.text().chars().any(|c| c.is_ascii_uppercase()) {
            return Err(Unparsed::Unsupported("a loop over a variable in capitals"));
        }
        loop {
            self.scanner.skip_blanks();
            match self.scanner.peek() {
                Some('\n' | ';') => return Ok(()),
                _ => {
                    self.scanner.word()?.ok_or(Unparsed::Syntax)?;
                }
            }
        }
    }

    /// `case WORD in`, up to the commands of the first arm.
    fn case_header(&mut self) -> Result<(), Unparsed> {
        self.scanner.skip_blanks();
        self.scanner.word()?.ok_or(Unparsed::Syntax)?;
        self.skip_lines();
        match self.scanner.word()? {
            Some(word) if word.text() == "in" => self.case_patterns(),
            _ => Err(Unparsed::Syntax),
        }
    }

    /// `;;`, `;&` or `;;&`, then the patterns of the next arm.
    fn next_case_arm(&mut self) -> Result<(), Unparsed> {
        if self.brackets.last() != Some(&"esac") {
            return Err(Unparsed::Syntax);
        }
        let ends = [";;&", ";;", ";&"];
        ends.into_iter().find(|sign| self.scanner.take(sign));
        self.case_patterns()
    }

    /// The patterns of an arm with the parenthesis after them, or the end of the `case`.
    fn case_patterns(&mut self) -> Result<(), Unparsed> {
        self.skip_lines();
        let parenthesis = self.scanner.take("(");
        loop {
            self.scanner.skip_blanks();
            let pattern = self.scanner.word()?.ok_or(Unparsed::Syntax)?;
            if !parenthesis && !pattern.is_quoted() && pattern.text() == "esac" {
                self.close("esac")?;
                return self.redirections_after_compound();
            }
            self.scanner.skip_blanks();
            if self.scanner.take(")") {
                return Ok(());
            }
            if !self.scanner.take("|") {
                return Err(Unparsed::Syntax);
            }
        }
    }

    fn skip_lines(&mut self) {
        self.scanner.skip_blanks();
        while self.heredocs.is_empty() && self.scanner.take("\n") {
            self.scanner.skip_blanks();
        }
    }

    /// `[[ … ]]`, after its opening word: a command of its own, whose words are the operands.
    fn conditional(&mut self, opening: CommandWord) -> Result<(), Unparsed> {
        let mut test = SimpleCommand {
            words: alloc::vec![opening],
            ..SimpleCommand::default()
        };
        loop {
            self.scanner.skip_blanks();
            let substitutes = self.scanner.peek_at(1) == Some('(');
            match self.scanner.peek() {
                None => return Err(Unparsed::Unclosed),
                Some('<' | '>') if substitutes => {}
                Some('\n' | '<' | '>' | '(' | ')' | '|' | '&') => {
                    self.scanner.next();
                    continue;
                }
                Some(_) => {}
            }
            let word = self.scanner.word()?.ok_or(Unparsed::Syntax)?;
            let ends = word.text() == "]]" && !word.is_quoted();
            test.words.push(word);
            if ends {
                break;
            }
        }
        if test_evaluates(&test) {
            return Err(Unparsed::Unsupported("a test that evaluates its operands"));
        }
        self.found.push(test);
        self.redirections_after_compound()
    }

    /// `((…))`, after its opening: its effect is computed, so it is listed as a command with a computed word.
    fn arithmetic(&mut self) -> Result<(), Unparsed> {
        let inner = self.scanner.until_closing_parenthesis()?;
        if !self.scanner.take(")") {
            return Err(Unparsed::Unsupported("nested subshells without a space"));
        }
        if !is_numeric(&inner) {
            return Err(Unparsed::Unsupported("arithmetic with variables"));
        }
        self.found.push(SimpleCommand {
            words: alloc::vec![CommandWord::plain("(("), CommandWord::unknown()],
            ..SimpleCommand::default()
        });
        self.redirections_after_compound()
    }

    /// Redirections of a whole compound command become a separate command without words.
    fn redirections_after_compound(&mut self) -> Result<(), Unparsed> {
        let mut whole = SimpleCommand::default();
        loop {
            self.scanner.skip_blanks();
            if !self.redirection(&mut whole)? {
                break;
            }
        }
        if !whole.redirections.is_empty() {
            self.found.push(whole);
        }
        Ok(())
    }

    /// Consumes a redirection if there is one here.
    fn redirection(&mut self, command: &mut SimpleCommand) -> Result<bool, Unparsed> {
        let mut digits = 0;
        while self
            .scanner
            .peek_at(digits)
            .is_some_and(|c| c.is_ascii_digit())
        {
            digits += 1;
        }
        let sign = self.scanner.peek_at(digits);
        let both = sign == Some('&') && digits == 0 && self.scanner.peek_at(1) == Some('>');
        if !both && !matches!(sign, Some('<' | '>')) {
            return Ok(false);
        }
        // `<(…)` is a word.
        if self.scanner.peek_at(digits + 1) == Some('(') {
            return Ok(false);
        }
        for _ in 0..digits + usize::from(both) {
            self.scanner.next();
        }
        self.redirection_target(command)?;
        Ok(true)
    }

    fn redirection_target(&mut self, command: &mut SimpleCommand) -> Result<(), Unparsed> {
        if self.scanner.take("<<<") {
            self.scanner.skip_blanks();
            self.scanner.word()?.ok_or(Unparsed::Syntax)?;
            return Ok(());
        }
        if self.scanner.take("<<") {
            return self.heredoc();
        }
        let writes = ["<>", ">>", ">|", ">&", ">"]
            .into_iter()
            .find(|sign| self.scanner.take(sign));
        let duplicates = writes.is_none() && self.scanner.take("<&");
        if writes.is_none() && !duplicates {
            self.scanner.take("<");
        }
        self.scanner.skip_blanks();
        let target = self.scanner.word()?.ok_or(Unparsed::Syntax)?;
        let is_descriptor =
            |text: &str| text == "-" || text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let duplicates = duplicates || writes == Some(">&");
        let opens_none = target.is_literal()
            && (target.text() == "/dev/null" || duplicates && is_descriptor(target.text()));
        if !opens_none {
            let direction = match writes {
                Some(_) => Direction::Out,
                None => Direction::In,
            };
            command
                .redirections
                .push(FileRedirection { direction, target });
        }
        Ok(())
    }

    fn heredoc(&mut self) -> Result<(), Unparsed> {
        let strip_tabs = self.scanner.take("-");
        self.scanner.skip_blanks();
        let end = self.scanner.word()?.ok_or(Unparsed::Syntax)?;
        if !end.is_literal() {
            return Err(Unparsed::Unsupported("a computed here-document end"));
        }
        self.heredocs.push(Heredoc {
            end: end.text().into(),
            strip_tabs,
            expands: !end.is_quoted(),
        });
        Ok(())
    }

    fn heredoc_bodies(&mut self) -> Result<(), Unparsed> {
        for heredoc in core::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            loop {
                let line = self.scanner.rest_of_line().ok_or(Unparsed::Unclosed)?;
                let shown = if heredoc.strip_tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if shown == heredoc.end {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if heredoc.expands {
                self.scanner.substitutions_of(&body)?;
            }
        }
        Ok(())
    }
}

/// The name in `NAME=value`; no name of a program has this form.
fn assigned_name(word: &CommandWord) -> Option<String> {
    let (name, _) = word.text().split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let first = name.chars().next()?;
    let valid = (first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    valid.then(|| name.into())
}
