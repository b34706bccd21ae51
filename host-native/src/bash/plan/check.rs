//! Checks that a syntax tree can be executed without a shell.

use windlass_shell::{
    AndOr, Command, Compound, MOST_STAGES, Part, Redirection, Runs, Script, Simple, Target, Word,
    is_acted_upon, is_made_by_the_shell, is_name, is_shell_only,
};

use super::{
    builtins,
    session::Session,
    simple::{self, Kind, program_word},
};

/// The maximum nesting of commands.
const MAX_DEPTH: u32 = 64;

/// Why a plan cannot be executed without a shell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A builtin that only a real shell has.
    #[error("line {line}: `{name}` is a builtin that needs a shell")]
    Builtin {
        /// The line number.
        line: u32,
        /// Its name.
        name: String,
    },
    /// An unsupported option or operand of a builtin.
    #[error("line {line}: `{builtin}` cannot be executed with {what}")]
    Operand {
        /// The line number.
        line: u32,
        /// The builtin.
        builtin: String,
        /// The unsupported part.
        what: String,
    },
    /// The name of a program is not literal.
    #[error("line {line}: the name of a program is not literal")]
    Program {
        /// The line number.
        line: u32,
    },
    /// A command line inside of the command line cannot be executed as one.
    #[error("line {line}: the shell `{name}` cannot be executed as part of the line")]
    Shell {
        /// The line number.
        line: u32,
        /// The name of the shell.
        name: String,
    },
    /// A redirection to a file that a real shell would have to open.
    #[error(
        "line {line}: a redirection to a file in the line of a shell that another program starts"
    )]
    File {
        /// The line number.
        line: u32,
    },
    /// A variable that only a real shell supports, or that must not be set.
    #[error(
        "line {line}: the variable `{name}` belongs to the shell, or is one that programs are told of (another name can be set)"
    )]
    Variable {
        /// The line number.
        line: u32,
        /// Its name.
        name: String,
    },
    /// A text with a NUL character, which cannot be passed to a program.
    #[error("line {line}: a NUL character")]
    Nul {
        /// The line number.
        line: u32,
    },
    /// A descriptor above 9.
    #[error("line {line}: the descriptor {number}")]
    Descriptor {
        /// The line number.
        line: u32,
        /// Its number.
        number: u8,
    },
    /// A limit on size or nesting is exceeded.
    #[error("commands stand too deep in one another, or too many in a pipeline")]
    TooMuch,
}

/// Refuses what cannot be executed.
pub(super) fn check(script: &Script, session: &Session) -> Result<(), Refused> {
    let mut check = Check {
        session,
        depth: 0,
        line: 1,
        printed: false,
    };
    check.script(script)
}

struct Check<'a> {
    session: &'a Session,
    depth: u32,
    /// The line of the last simple command.
    line: u32,
    /// This part of the tree will be passed to a real shell as text.
    printed: bool,
}

impl Check<'_> {
    fn script(&mut self, script: &Script) -> Result<(), Refused> {
        if self.depth == MAX_DEPTH {
            return Err(Refused::TooMuch);
        }
        self.depth += 1;
        script.lists.iter().try_for_each(|list| self.list(list))?;
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self, list: &AndOr) -> Result<(), Refused> {
        let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
        for pipeline in std::iter::once(&list.first).chain(rest) {
            if pipeline.commands.len() > MOST_STAGES {
                return Err(Refused::TooMuch);
            }
            for command in &pipeline.commands {
                match command {
                    Command::Simple(simple) => self.simple(simple)?,
                    Command::Compound { body, redirections } => {
                        self.redirections(redirections)?;
                        self.compound(body)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn compound(&mut self, body: &Compound) -> Result<(), Refused> {
        match body {
            Compound::Group(script) | Compound::Subshell(script) => self.script(script),
            Compound::For { name, words, body } => {
                self.sets(name)?;
                self.words(words)?;
                self.script(body)
            }
            Compound::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.script(condition)?;
                    self.script(body)?;
                }
                otherwise.iter().try_for_each(|body| self.script(body))
            }
            Compound::While {
                condition, body, ..
            } => {
                self.script(condition)?;
                self.script(body)
            }
            Compound::Case { word, choices } => {
                self.word(word)?;
                let mut choices = choices.iter();
                choices.try_for_each(|choice| {
                    self.words(&choice.patterns)?;
                    self.script(&choice.body)
                })
            }
        }
    }

    fn simple(&mut self, command: &Simple) -> Result<(), Refused> {
        self.line = command.line;
        let line = self.line;
        for assignment in &command.assignments {
            self.sets(&assignment.name)?;
            self.word(&assignment.value)?;
        }
        self.words(&command.words)?;
        self.redirections(&command.redirections)?;
        if command.words.is_empty() {
            return Ok(());
        }
        let program = program_word(command);
        let name = command.words[program].as_literal();
        let name = name.ok_or(Refused::Program { line })?;
        // After `command` comes a name, or something unsupported.
        if program > 0 && name.starts_with('-') {
            return Err(self.operand(name));
        }
        if is_shell_only(name) {
            let name = name.to_owned();
            return Err(Refused::Builtin { line, name });
        }
        self.runs(command, name)?;
        match simple::kind(command) {
            Kind::Builtin(builtin) => {
                let operands = &command.words[program + 1..];
                builtins::check(builtin, operands).map_err(|what| Refused::Operand {
                    line,
                    builtin: name.to_owned(),
                    what,
                })
            }
            _ => Ok(()),
        }
    }

    fn operand(&self, what: &str) -> Refused {
        Refused::Operand {
            line: self.line,
            builtin: "command".to_owned(),
            what: format!("`{what}`"),
        }
    }

    /// Checks what a command runs in turn: named programs, and command lines for known shells.
    fn runs(&mut self, command: &Simple, name: &str) -> Result<(), Refused> {
        let line = command.line;
        let word = |at: u32| {
            let at = usize::try_from(at).ok()?;
            command.words.get(at)?.as_literal()
        };
        for runs in &command.runs {
            match runs {
                Runs::Program { at, end } => {
                    let ends = usize::try_from(*end).is_ok_and(|end| end <= command.words.len());
                    if word(*at).is_none() || at >= end || !ends {
                        return Err(Refused::Program { line });
                    }
                }
                Runs::Script { at, script } => {
                    if word(*at).is_none() {
                        let name = name.to_owned();
                        return Err(Refused::Shell { line, name });
                    }
                    let is_own = matches!(simple::kind(command), Kind::Shell(_));
                    let before = self.printed;
                    self.printed |= !is_own || simple::dialect(self.session, name).is_none();
                    self.script(script)?;
                    self.printed = before;
                }
            }
        }
        Ok(())
    }

    fn redirections(&mut self, redirections: &[Redirection]) -> Result<(), Refused> {
        for redirection in redirections {
            let (line, number) = (redirection.line, redirection.descriptor);
            if number > 9 {
                return Err(Refused::Descriptor { line, number });
            }
            match &redirection.to {
                // A real shell would open it by its name.
                Target::Read(path) | Target::Write { path, .. }
                    if self.printed && path != "/dev/null" =>
                {
                    return Err(Refused::File { line });
                }
                Target::Read(path) | Target::Write { path, .. } => self.text(path)?,
                Target::Duplicate(_) | Target::Close => {}
                Target::Text(word) => self.word(word)?,
            }
        }
        Ok(())
    }

    fn words(&mut self, words: &[Word]) -> Result<(), Refused> {
        words.iter().try_for_each(|word| self.word(word))
    }

    fn word(&mut self, word: &Word) -> Result<(), Refused> {
        for part in &word.parts {
            match part {
                Part::Literal(text) | Part::Pattern(text) => self.text(text)?,
                Part::Tilde | Part::Status => {}
                Part::Variable { name, .. } | Part::Operation { name, .. } => {
                    if !is_name(name) || is_made_by_the_shell(name) {
                        return Err(self.variable(name));
                    }
                }
                Part::Substitution { script, .. } | Part::Process { script } => {
                    self.script(script)?;
                }
            }
        }
        Ok(())
    }

    fn text(&self, text: &str) -> Result<(), Refused> {
        match text.contains('\0') {
            true => Err(Refused::Nul { line: self.line }),
            false => Ok(()),
        }
    }

    fn sets(&self, name: &str) -> Result<(), Refused> {
        // The environment of programs is defined by the session, not by the line.
        let is_told = self.session.variables.is_exported(name);
        // Changes of the locale are supported here.
        let is_acted_upon = is_acted_upon(name) && !name.starts_with("LC_");
        let is_the_shells = is_made_by_the_shell(name) || is_acted_upon;
        if !is_name(name) || is_the_shells || is_told {
            return Err(self.variable(name));
        }
        Ok(())
    }

    fn variable(&self, name: &str) -> Refused {
        Refused::Variable {
            line: self.line,
            name: name.to_owned(),
        }
    }
}
