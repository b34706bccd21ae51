//! The shortest line that still fails.

use std::io;

use crate::{
    lines::Line,
    reading::Reading,
    stage::Stage,
    trial::{Fault, Tried, try_line},
};

/// Parts that are taken out at most.
const MOST: usize = 600;

/// Takes parts out of a line as long as it fails in the same way.
///
/// # Errors
/// When the stage cannot be used.
pub fn shrink(
    line: &Line,
    fault: &Fault,
    reading: &dyn Reading,
    stage: &Stage,
) -> io::Result<(Line, Fault)> {
    let mut best = (line.clone(), fault.clone());
    let mut tries = 0;
    let mut size = line.text.chars().count() / 2;
    while size > 0 {
        let mut at = 0;
        let mut found = false;
        loop {
            let chars: Vec<char> = best.0.text.chars().collect();
            if at >= chars.len() || tries > MOST {
                break;
            }
            tries += 1;
            let end = (at + size).min(chars.len());
            let shorter = Line {
                text: chars[..at].iter().chain(&chars[end..]).collect(),
                ..best.0.clone()
            };
            match try_line(&shorter, reading, stage)? {
                Tried::Faulty(fault) if fault.is_like(&best.1) => {
                    best = (shorter, fault);
                    found = true;
                }
                _ => at += size,
            }
        }
        if !found || size > 1 {
            size /= 2;
        }
    }
    Ok(best)
}
