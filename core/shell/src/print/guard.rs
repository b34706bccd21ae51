//! What stands before a command so that nothing that an expansion gives becomes an option.
//!
//! A shell cannot put `./` before what begins with `-` without a function, so the line ends there. What a substitution gives
//! is looked at in a variable before it is used.

use alloc::{format, string::String, vec::Vec};

use super::Printer;
use crate::{Part, Script, Word};

/// The guards of one command.
#[derive(Default)]
pub(super) struct Guards {
    list: Vec<Guard>,
}

struct Guard {
    /// The number of the word.
    word: usize,
    /// The variable that is looked at.
    variable: String,
    /// The substitution that it is set to first.
    script: Option<Script>,
    quoted: bool,
}

impl Guards {
    /// The variable that stands for the substitution at the beginning of a word.
    pub(super) fn of(&self, word: usize) -> Option<&str> {
        let guard = self.list.iter().find(|guard| guard.word == word)?;
        guard.script.as_ref().map(|_| guard.variable.as_str())
    }
}

impl Printer<'_> {
    pub(super) fn guards(&mut self, words: &[Word]) -> Guards {
        let mut list = Vec::new();
        for (word, parts) in words.iter().enumerate() {
            // Behind an unquoted expansion the pieces of a later one may begin words, too.
            let has_unquoted = parts.parts.iter().any(is_unquoted);
            for (number, part) in parts.parts.iter().enumerate() {
                if number > 0 && !has_unquoted {
                    break;
                }
                match part {
                    Part::Variable { name, quoted } => list.push(Guard {
                        word,
                        variable: name.clone(),
                        script: None,
                        quoted: *quoted && !has_unquoted,
                    }),
                    Part::Substitution { script, quoted } if number == 0 => {
                        self.names += 1;
                        list.push(Guard {
                            word,
                            variable: format!("windlass_{}", self.names),
                            script: Some(script.clone()),
                            quoted: *quoted && !has_unquoted,
                        });
                    }
                    _ => {}
                }
            }
        }
        Guards { list }
    }

    pub(super) fn open_guarded(&mut self, guards: &Guards) {
        if guards.list.is_empty() {
            return;
        }
        self.push("{\n");
        // What stands here must not change what `$?` says.
        self.names += 1;
        let status = format!("windlass_{}", self.names);
        self.push(&format!("{status}=$?\n"));
        for guard in &guards.list {
            if let Some(script) = &guard.script {
                self.push(&format!("{}=", guard.variable));
                self.substitution(script, true);
                self.push("\n");
            }
            // Unquoted, every piece begins a word, and a pattern becomes names that nobody has seen.
            let refused = if guard.quoted {
                "(-*)"
            } else {
                "(-*|*[[:space:]]-*|*[*?[]*)"
            };
            self.push(&format!(
                "case \"${{{}-}}\" in\n{refused} 'command' 'printf' '%s\\n' 'a word that was expanded begins with -' >&2\n'exit' 126;;\nesac\n",
                guard.variable
            ));
        }
        self.push(&format!("( 'exit' \"${{{status}}}\" )\n"));
    }

    pub(super) fn close_guarded(&mut self, guards: &Guards) {
        if guards.list.is_empty() {
            return;
        }
        self.line_end();
        self.push("}");
    }
}

fn is_unquoted(part: &Part) -> bool {
    matches!(
        part,
        Part::Variable { quoted: false, .. } | Part::Substitution { quoted: false, .. }
    )
}
