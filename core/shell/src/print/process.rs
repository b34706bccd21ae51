//! Process substitutions, also for shells that do not support them: each is the first stage of a pipeline whose second stage
//! contains the rest of the command. `diff <(A) <(B)` is printed as
//!
//! ```sh
//! {
//! { A; } 0<&9 9<&- |
//! {
//! { B; } 0<&9 9<&- 8<&- |
//! {
//! { diff /dev/fd/8 /dev/fd/7; } 0<&9 9<&-
//! } 7<&0
//! } 8<&0
//! } 9<&0
//! ```
//!
//! The parser refuses lines in which another redirection uses one of these descriptors.

use alloc::format;

use super::Printer;
use crate::{Part, Script, Word};

/// The descriptor that holds the standard input of the command.
const INPUT: u8 = 9;

/// The descriptor of the first process substitution. The others use the ones below.
const FIRST: u8 = 8;

impl Printer<'_> {
    /// Prints the process substitutions in these words, and returns their number.
    pub(super) fn open_processes(&mut self, words: &[Word]) -> u8 {
        let mut count = 0;
        for script in words.iter().filter_map(process) {
            if count == 0 {
                self.push("{\n");
            }
            self.beside(script, count);
            count = count.saturating_add(1);
        }
        if count > 0 {
            self.push("{\n");
        }
        count
    }

    /// Prints the commands of a process substitution; `others` is the number of those before it.
    fn beside(&mut self, script: &Script, others: u8) {
        self.push("{\n");
        self.group(script);
        self.push(&format!("}} 0<&{INPUT} {INPUT}<&-"));
        for other in 0..others {
            self.push(&format!(" {}<&-", descriptor(other)));
        }
        self.push(" |\n{\n");
    }

    /// Prints the file name of the next process substitution of a command.
    pub(super) fn process_name(&mut self) {
        self.push(&format!("'/dev/fd/{}'", descriptor(self.named)));
        self.named = self.named.saturating_add(1);
    }

    pub(super) fn close_processes(&mut self, count: u8) {
        if count == 0 {
            return;
        }
        self.line_end();
        self.push(&format!("}} 0<&{INPUT} {INPUT}<&-"));
        for number in (0..count).rev() {
            self.push(&format!("\n}} {}<&0", descriptor(number)));
        }
        self.push(&format!("\n}} {INPUT}<&0"));
    }
}

/// The descriptor of a process substitution; `others` is the number of those before it. The parser limits their number.
fn descriptor(others: u8) -> u8 {
    FIRST.saturating_sub(others)
}

fn process(word: &Word) -> Option<&Script> {
    match word.parts.as_slice() {
        [Part::Process { script }] => Some(script),
        _ => None,
    }
}
