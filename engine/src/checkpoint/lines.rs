//! Counts the lines in which two texts differ.

use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// If either text has more differing lines than this, these lines are counted as replaced.
const MOST_LINES: usize = 4_000;

/// The number of lines added in the second text, and of lines removed from the first.
#[must_use]
pub fn changed_lines(from: &[u8], to: &[u8]) -> (u64, u64) {
    let from: Vec<&[u8]> = from.split_inclusive(|byte| *byte == b'\n').collect();
    let to: Vec<&[u8]> = to.split_inclusive(|byte| *byte == b'\n').collect();
    let same = |(a, b): &(&&[u8], &&[u8])| a == b;
    let before = from.iter().zip(&to).take_while(same).count();
    let (from, to) = (&from[before..], &to[before..]);
    let behind = from
        .iter()
        .rev()
        .zip(to.iter().rev())
        .take_while(same)
        .count();
    let (from, to) = (&from[..from.len() - behind], &to[..to.len() - behind]);
    if from.len().max(to.len()) > MOST_LINES {
        return (to.len() as u64, from.len() as u64);
    }
    let mut counts = (0, 0);
    for operation in capture_diff_slices(Algorithm::Myers, from, to) {
        for change in operation.iter_changes(from, to) {
            match change.tag() {
                ChangeTag::Insert => counts.0 += 1,
                ChangeTag::Delete => counts.1 += 1,
                ChangeTag::Equal => {}
            }
        }
    }
    counts
}
