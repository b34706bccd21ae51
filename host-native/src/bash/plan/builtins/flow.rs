//! `exit`, `break` and `continue`.

use super::number::whole;
use crate::bash::plan::{
    message::with_name,
    shell::{Leave, Outcome, Shell},
};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

impl Shell<'_> {
    pub(super) fn exit(&mut self, line: u32, operands: &[Vec<u8>]) -> Outcome {
        let operands = behind_dashes(operands);
        if let Some(first) = operands.first() {
            match whole(first) {
                Some(_) if operands.len() > 1 && !self.voice.is_dash() => {
                    self.complain(line, b"exit: too many arguments");
                    self.status = 1;
                }
                // The system keeps only the low eight bits.
                Some(status) => self.status = i32::from(status.to_le_bytes()[0]),
                None => {
                    self.not_a_number(line, "exit", first);
                    self.status = 2;
                }
            }
        }
        Err(Leave::Exit)
    }

    pub(super) fn leave_loop(&mut self, line: u32, name: &str, operands: &[Vec<u8>]) -> Outcome {
        let operands = behind_dashes(operands);
        self.status = 0;
        if self.loops == 0 {
            if !self.voice.is_dash() {
                let text = format!("{name}: only meaningful in a `for', `while', or `until' loop");
                self.complain(line, text.as_bytes());
            }
            return Ok(());
        }
        let count = match operands.first() {
            None => 1,
            Some(first) => match whole(first) {
                None => {
                    self.not_a_number(line, name, first);
                    self.status = if self.voice.is_dash() { 2 } else { 128 };
                    return Err(Leave::Exit);
                }
                Some(_) if operands.len() > 1 && !self.voice.is_dash() => {
                    self.complain(line, format!("{name}: too many arguments").as_bytes());
                    self.status = 1;
                    return Err(Leave::Exit);
                }
                Some(count) if count <= 0 => {
                    let text = with_name(
                        &format!("{name}: "),
                        OsStr::from_bytes(first),
                        ": loop count out of range",
                    );
                    self.complain(line, &text);
                    self.status = 1;
                    return Err(Leave::Break(self.loops));
                }
                Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
            },
        };
        let count = count.min(self.loops);
        Err(match name {
            "break" => Leave::Break(count),
            _ => Leave::Continue(count),
        })
    }

    fn not_a_number(&self, line: u32, name: &str, text: &[u8]) {
        let text = OsStr::from_bytes(text);
        let text = match self.voice.is_dash() {
            true => with_name(&format!("{name}: Illegal number: "), text, ""),
            false => with_name(&format!("{name}: "), text, ": numeric argument required"),
        };
        self.complain(line, &text);
    }
}

fn behind_dashes(operands: &[Vec<u8>]) -> &[Vec<u8>] {
    match operands.first().map(Vec::as_slice) {
        Some(b"--") => &operands[1..],
        _ => operands,
    }
}
