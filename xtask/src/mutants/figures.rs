//! What became of mutants: read from the lists that cargo-mutants writes, and counted.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The names of mutants by what became of them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcomes {
    /// Some test failed.
    caught: Vec<String>,
    /// Every test passed.
    missed: Vec<String>,
    /// The tests did not end.
    timeout: Vec<String>,
    /// The compiler did not take it.
    unviable: Vec<String>,
}

impl Outcomes {
    /// Reads the lists below a `mutants.out`: one name a line, and a list for each outcome.
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let list = |name: &str| -> Result<Vec<String>> {
            let path = directory.join(name);
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        Ok(Self {
            caught: list("caught.txt")?,
            missed: list("missed.txt")?,
            timeout: list("timeout.txt")?,
            unviable: list("unviable.txt")?,
        })
    }

    /// Whether the mutant of this name was tried.
    pub(super) fn has(&self, name: &str) -> bool {
        let all = [&self.caught, &self.missed, &self.timeout, &self.unviable];
        all.iter().any(|names| names.iter().any(|it| it == name))
    }

    /// Those whose names are chosen.
    pub(super) fn only(&self, is_chosen: impl Fn(&str) -> bool) -> Self {
        let of = |names: &[String]| {
            let chosen = names.iter().filter(|name| is_chosen(name));
            chosen.cloned().collect()
        };
        Self {
            caught: of(&self.caught),
            missed: of(&self.missed),
            timeout: of(&self.timeout),
            unviable: of(&self.unviable),
        }
    }

    fn counts(&self) -> [usize; 5] {
        let by_outcome = [
            self.caught.len(),
            self.missed.len(),
            self.timeout.len(),
            self.unviable.len(),
        ];
        let [caught, missed, timeout, unviable] = by_outcome;
        [by_outcome.iter().sum(), caught, missed, timeout, unviable]
    }
}

/// For each package how many mutants there are and what became of those in the sample, their sum, and the names of those that
/// no test noticed.
pub(super) fn table(rows: &[(&str, usize, Outcomes)]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, columns: [&str; 6]| {
        let [all, sampled, caught, missed, timeout, unviable] = columns;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{name:<24} {all:>7} {sampled:>7} {caught:>7} {missed:>7} {timeout:>8} {unviable:>8}"
        );
    };
    let head = [
        "mutants", "sampled", "caught", "missed", "timeouts", "unviable",
    ];
    line("package", head);
    let mut sum = [0; 6];
    for (package, all, outcomes) in rows {
        let [sampled, caught, missed, timeout, unviable] = outcomes.counts();
        let columns = [*all, sampled, caught, missed, timeout, unviable];
        line(
            package,
            columns
                .map(|count| count.to_string())
                .each_ref()
                .map(String::as_str),
        );
        (0..6).for_each(|column| sum[column] += columns[column]);
    }
    line(
        "all",
        sum.map(|count| count.to_string())
            .each_ref()
            .map(String::as_str),
    );
    for (what, of) in [("missed", 0), ("timeout", 1)] {
        for (_, _, outcomes) in rows {
            let names = [&outcomes.missed, &outcomes.timeout][of];
            for name in names {
                let _ = writeln!(text, "{what}: {name}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUGHT: &str = "core/src/a.rs:1:5: replace f -> bool with true";
    const MISSED: &str = "core/src/a.rs:9:7: replace < with <= in g";
    const TIMEOUT: &str = "core/src/b.rs:3:5: replace h with ()";

    fn written(lists: [&str; 4]) -> Result<Outcomes> {
        let directory = tempfile::tempdir().expect("a temporary folder");
        let names = ["caught.txt", "missed.txt", "timeout.txt", "unviable.txt"];
        for (name, list) in names.iter().zip(lists) {
            fs::write(directory.path().join(name), list).expect("a file");
        }
        Outcomes::read(directory.path())
    }

    #[test]
    fn a_name_a_line_is_read_from_each_list() {
        let outcomes = written([&format!("{CAUGHT}\n"), "", &format!("{TIMEOUT}\n"), ""]);
        let outcomes = outcomes.expect("they are there");
        assert_eq!(outcomes.caught, [CAUGHT]);
        assert_eq!(outcomes.timeout, [TIMEOUT]);
        assert_eq!(outcomes.counts(), [2, 1, 0, 1, 0]);
        assert!(outcomes.has(CAUGHT) && outcomes.has(TIMEOUT) && !outcomes.has(MISSED));
        let one = outcomes.only(|name| name == TIMEOUT);
        assert_eq!(one.counts(), [1, 0, 0, 1, 0]);
    }

    #[test]
    fn a_list_that_is_not_there_is_named() {
        let nowhere = tempfile::tempdir().expect("a temporary folder");
        let error = Outcomes::read(nowhere.path()).expect_err("there is nothing");
        assert!(error.to_string().contains("caught.txt"), "{error:#}");
    }

    #[test]
    fn the_table_has_a_row_for_each_package_and_names_what_was_not_noticed() {
        let two = format!("{CAUGHT}\n{CAUGHT}\n");
        let core = written([&two, MISSED, TIMEOUT, ""]).expect("they are there");
        let rows = [
            ("windlass-core", 2_000, core),
            ("windlass-shell", 300, Outcomes::default()),
        ];
        let expected = format!(
            "\
package                  mutants sampled  caught  missed timeouts unviable
windlass-core               2000       4       2       1        1        0
windlass-shell               300       0       0       0        0        0
all                         2300       4       2       1        1        0
missed: {MISSED}
timeout: {TIMEOUT}
"
        );
        assert_eq!(table(&rows), expected);
    }
}
