//! Checks before a command, so that no expansion becomes an option.
//!
//! A shell cannot put `./` in front of a text that begins with `-` without a function, so the line exits in that case. The output
//! of a substitution is stored in a variable and checked before it is used.

use alloc::{format, string::String, vec::Vec};

use super::{Printer, quote};
use crate::{Part, Script, Word, takes_number};

/// The checks before one command.
#[derive(Default)]
pub(super) struct Guards {
    list: Vec<Guard>,
}

struct Guard {
    /// The index of the word, and of the part in it.
    place: (usize, usize),
    /// The expansion that is checked, without quotes.
    expansion: String,
    /// The variable that stores the output of this substitution.
    held: Option<(String, Script)>,
    /// The values to refuse, as patterns of `case`. If none, the guard only preserves the order of substitutions.
    refused: Option<&'static str>,
}

/// If quoted, the expansion can only begin one word.
const OPTION: &str = "(-*)";
/// If unquoted, every field begins a word, and a pattern could expand to unknown file names.
const OPTIONS: &str = "(-*|*[[:space:]]-*|*[*?[]*)";
/// After the letter of an option.
const NO_NUMBER: &str = "(''|*[!0-9]*)";

impl Guards {
    /// The variable that stores a substitution.
    pub(super) fn of(&self, word: usize, part: usize) -> Option<&str> {
        let guard = self.list.iter().find(|guard| guard.place == (word, part))?;
        guard.held.as_ref().map(|(name, _)| name.as_str())
    }
}

impl Printer<'_> {
    pub(super) fn guards(&mut self, words: &[Word]) -> Guards {
        let mut list = Vec::new();
        for (number, word) in words.iter().enumerate() {
            if takes_number(word) {
                list.extend(self.guard((number, 1), &word.parts[1], Some(NO_NUMBER)));
                continue;
            }
            // After an unquoted expansion, the fields of a later one may begin words, too.
            let refused = match word.parts.iter().any(is_unquoted) {
                true => OPTIONS,
                false => OPTION,
            };
            let looked_at = if refused == OPTIONS {
                word.parts.len()
            } else {
                1
            };
            for (at, part) in word.parts.iter().enumerate().take(looked_at) {
                list.extend(self.guard((number, at), part, Some(refused)));
            }
        }
        self.keep_order(words, &mut list);
        Guards { list }
    }

    /// If one substitution runs before its command, all of them must, since a shell runs them from left to right.
    fn keep_order(&mut self, words: &[Word], list: &mut Vec<Guard>) {
        if list.iter().all(|guard| guard.held.is_none()) {
            return;
        }
        for (number, word) in words.iter().enumerate() {
            for (at, part) in word.parts.iter().enumerate() {
                let place = (number, at);
                let is_guarded = list.iter().any(|guard| guard.place == place);
                if matches!(part, Part::Substitution { .. }) && !is_guarded {
                    list.extend(self.guard(place, part, None));
                }
            }
        }
        list.sort_by_key(|guard| guard.place);
    }

    fn guard(
        &mut self,
        place: (usize, usize),
        part: &Part,
        refused: Option<&'static str>,
    ) -> Option<Guard> {
        let (expansion, held) = match part {
            Part::Variable { name, .. } => (format!("${{{name}-}}"), None),
            Part::Operation {
                name, operation, ..
            } => (quote::operation(name, operation), None),
            Part::Substitution { script, .. } => {
                let name = self.name();
                (format!("${{{name}-}}"), Some((name, script.clone())))
            }
            _ => return None,
        };
        Some(Guard {
            place,
            expansion,
            held,
            refused,
        })
    }

    pub(super) fn open_guarded(&mut self, guards: &Guards) {
        if guards.list.is_empty() {
            return;
        }
        self.push("{\n");
        // The checks must not change `$?`.
        let status = self.name();
        self.push(&format!("{status}=$?\n"));
        for guard in &guards.list {
            if let Some((name, script)) = &guard.held {
                self.push(&format!("( 'exit' \"${{{status}}}\" )\n{name}="));
                self.substitution(script, true);
                self.push("\n");
            }
            let Some(refused) = guard.refused else {
                continue;
            };
            self.push(&format!(
                "case \"{}\" in\n{refused} 'command' 'printf' '%s\\n' 'a word that was expanded is not what it may be' >&2\n'exit' 126;;\nesac\n",
                guard.expansion
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
        Part::Variable { quoted: false, .. }
            | Part::Operation { quoted: false, .. }
            | Part::Substitution { quoted: false, .. }
    )
}
