//! `echo`, as in bash and in dash.

use super::escape::{self, Escapes, Place};
use crate::bash::plan::{
    locale::Locale,
    shell::{Outcome, Shell},
};

impl Shell<'_> {
    pub(super) fn echo(&mut self, line: u32, operands: &[Vec<u8>]) -> Outcome {
        let is_dash = self.voice.is_dash();
        let (mut escapes, mut line_end) = (is_dash, true);
        let mut words = operands;
        while let Some((first, rest)) = words.split_first() {
            let options = first.strip_prefix(b"-").unwrap_or_default();
            let is_option = match is_dash {
                true => options == b"n",
                false => !options.is_empty() && options.iter().all(|b| b"neE".contains(b)),
            };
            if !is_option {
                break;
            }
            for option in options {
                match option {
                    b'n' => line_end = false,
                    b'e' => escapes = true,
                    _ => escapes = false,
                }
            }
            words = rest;
            if is_dash {
                break;
            }
        }
        let which = Escapes {
            place: Place::Echo,
            is_dash,
            is_utf8: Locale::of(&self.variables).is_utf8,
        };
        let mut output = Vec::new();
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                output.push(b' ');
            }
            if !escapes {
                output.extend_from_slice(word);
            } else if escape::expand(word, which, &mut output).is_break() {
                line_end = false;
                break;
            }
        }
        if line_end {
            output.push(b'\n');
        }
        self.status = 0;
        self.print(line, "echo", &output)
    }
}
