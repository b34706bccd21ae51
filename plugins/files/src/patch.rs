//! The difference between two versions of a file, as hunks (`structuredPatch`).

use serde::Serialize;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffTag, group_diff_ops};

/// A run of changed lines with the lines around it, as in a unified diff.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hunk {
    /// The first line in the old version, counted from 1; for an empty range the line before it.
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    /// Each with ` `, `-` or `+` in front, without its line end.
    lines: Vec<String>,
}

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// What a unified diff says where the last line of a file has no line end.
const NO_LINE_END: &str = "\\ No newline at end of file";

/// The hunks that lead from `old` to `new`.
pub(crate) fn structured_patch(old: &str, new: &str) -> Vec<Hunk> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut script = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
    // This implementation of Myers is bounded: for very different inputs it produces a longer script instead of searching
    // further. It is called directly, so that the other algorithms are not part of the component.
    let Ok(()) = myers::diff(&mut script, &old[..], 0..old.len(), &new[..], 0..new.len());
    group_diff_ops(script.into_inner().into_inner().into_ops(), CONTEXT)
        .iter()
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let old_range = first.old_range().start..last.old_range().end;
            let new_range = first.new_range().start..last.new_range().end;
            let mut lines = Vec::new();
            for operation in group {
                let (removed, added) = (operation.old_range(), operation.new_range());
                match operation.tag() {
                    DiffTag::Equal => push(&mut lines, ' ', &old[removed]),
                    DiffTag::Delete => push(&mut lines, '-', &old[removed]),
                    DiffTag::Insert => push(&mut lines, '+', &new[added]),
                    DiffTag::Replace => {
                        push(&mut lines, '-', &old[removed]);
                        push(&mut lines, '+', &new[added]);
                    }
                }
            }
            Some(Hunk {
                old_start: start(&old_range),
                old_lines: old_range.len(),
                new_start: start(&new_range),
                new_lines: new_range.len(),
                lines,
            })
        })
        .collect()
}

fn start(range: &std::ops::Range<usize>) -> usize {
    if range.is_empty() {
        range.start
    } else {
        range.start + 1
    }
}

fn push(lines: &mut Vec<String>, sign: char, piece: &[&str]) {
    for line in piece {
        let text = line.strip_suffix('\n').unwrap_or(line);
        lines.push(format!("{sign}{}", text.strip_suffix('\r').unwrap_or(text)));
        if !line.ends_with('\n') {
            lines.push(NO_LINE_END.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_22_a_patch_has_hunks_with_three_lines_of_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let expected = Hunk {
            old_start: 2,
            old_lines: 7,
            new_start: 2,
            new_lines: 7,
            lines: [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]
                .map(str::to_owned)
                .to_vec(),
        };
        assert_eq!(structured_patch(old, new), [expected]);
    }

    #[test]
    fn tool_22_a_patch_of_distant_changes_has_several_hunks() {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\nfive\n").replace("\n30\n", "\n");
        let hunks = structured_patch(&old, &new);
        assert_eq!(hunks.len(), 2);
        assert_eq!((hunks[1].old_start, hunks[1].old_lines), (27, 7));
        assert_eq!((hunks[1].new_start, hunks[1].new_lines), (27, 6));
    }

    #[test]
    fn tool_22_a_missing_line_end_is_marked() {
        let hunks = structured_patch("a\n", "a\nb");
        assert_eq!(hunks[0].lines, [" a", "+b", NO_LINE_END]);
        assert_eq!(structured_patch("", "a\n")[0].old_start, 0);
    }
}
