//! Process substitutions, for shells that have none too: each is the first stage of a pipeline, and its second has the rest of
//! the command in it. `diff <(A) <(B)` is printed as
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
//! The reader refuses lines in which another redirection has one of these numbers.

use alloc::format;

use super::Printer;
use crate::{Part, Script, Word};

/// Where the standard input of the command is kept.
const INPUT: u8 = 9;

/// The descriptor of the first process substitution. Those of the others are below it.
const FIRST: u8 = 8;

impl Printer<'_> {
    /// Prints what runs beside a command with these words, and tells how many process substitutions these are.
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

    /// The commands of a process substitution, before which there are so many others.
    fn beside(&mut self, script: &Script, others: u8) {
        self.push("{\n");
        self.group(script);
        self.push(&format!("}} 0<&{INPUT} {INPUT}<&-"));
        for other in 0..others {
            self.push(&format!(" {}<&-", descriptor(other)));
        }
        self.push(" |\n{\n");
    }

    /// The file that the next process substitution of a command is.
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

/// That of the process substitution before which there are so many others. The reader takes no more than there are numbers.
fn descriptor(others: u8) -> u8 {
    FIRST.saturating_sub(others)
}

fn process(word: &Word) -> Option<&Script> {
    match word.parts.as_slice() {
        [Part::Process { script }] => Some(script),
        _ => None,
    }
}
