//! The parity list, `tests/parity.toml`, joined with the tests that passed.
//!
//! A row is a behaviour with an id such as LOOP-7. A test shows it by the start of its name, `loop_7_…`. A row
//! that is marked done and shown by no passed test is a broken promise, and fails the test command.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result, bail};

/// What a row is called: a family and a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    family: String,
    number: u32,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.family, self.number)
    }
}

impl Id {
    /// Reads `LOOP-7`.
    fn parse(text: &str) -> Option<Self> {
        let (family, number) = text.split_once('-')?;
        let well_formed = !family.is_empty() && family.chars().all(|c| c.is_ascii_uppercase());
        well_formed.then_some(())?;
        Some(Self {
            family: family.to_owned(),
            number: plain_number(number)?,
        })
    }

    /// Reads the id that a test's name begins with: `modules::loop_7_ends_the_turn`. The number ends at an
    /// underscore, so `loop_11_…` does not show LOOP-1. Whether such a family exists is for the list to say.
    fn of_test(name: &str) -> Option<Self> {
        let function = name.rsplit("::").next()?;
        let mut words = function.splitn(3, '_');
        let (family, number, rest) = (words.next()?, words.next()?, words.next()?);
        if rest.is_empty() || !family.chars().all(|c| c.is_ascii_lowercase()) {
            return None;
        }
        Some(Self {
            family: family.to_ascii_uppercase(),
            number: plain_number(number)?,
        })
    }
}

/// A number above zero without sign or leading zeros: one spelling only.
fn plain_number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

/// The list: every id, and whether it is marked done.
#[derive(Debug)]
pub(crate) struct List {
    done: BTreeMap<Id, bool>,
}

impl List {
    /// Reads the text of `parity.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse().context("the parity list is not TOML")?;
        let mut done = BTreeMap::new();
        for (key, row) in &table {
            let id = Id::parse(key)
                .with_context(|| format!("`{key}` is no parity id: they look like LOOP-7"))?;
            let field = |name| {
                row.get(name)
                    .and_then(toml::Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            if field("behaviour").is_none() {
                bail!("{id} has no `behaviour`: say in one sentence what a user can observe");
            }
            let is_done = match field("state") {
                Some("done") => true,
                Some("open") => false,
                _ => bail!("{id} needs `state`, either \"done\" or \"open\""),
            };
            done.insert(id, is_done);
        }
        Ok(Self { done })
    }

    /// How the list stands against the names of the tests that passed.
    pub(crate) fn join<'a>(&self, passed: impl IntoIterator<Item = &'a str>) -> Join {
        let families: BTreeSet<&str> = self.done.keys().map(|id| id.family.as_str()).collect();
        let mut shown = BTreeSet::new();
        let mut unknown = BTreeSet::new();
        for name in passed {
            let Some(id) = Id::of_test(name) else {
                continue;
            };
            if self.done.contains_key(&id) {
                shown.insert(id);
            } else if families.contains(id.family.as_str()) {
                unknown.insert(name.to_owned());
            }
        }
        let select = |wanted_done: bool, wanted_shown: bool| {
            let rows = self.done.iter();
            let chosen = rows
                .filter(|&(id, &done)| done == wanted_done && shown.contains(id) == wanted_shown);
            chosen.map(|(id, _)| id.clone()).collect::<Vec<_>>()
        };
        Join {
            rows: self.done.len(),
            proven: select(true, true).len(),
            broken: select(true, false),
            ripe: select(false, true),
            unknown: unknown.into_iter().collect(),
        }
    }
}

/// The list joined with a test run.
#[derive(Debug)]
pub(crate) struct Join {
    /// Rows in the list.
    pub(crate) rows: usize,
    /// Rows marked done that a passed test shows.
    pub(crate) proven: usize,
    /// Rows marked done that no passed test shows.
    pub(crate) broken: Vec<Id>,
    /// Rows marked open although a passed test bears their id: perhaps time to mark them done.
    pub(crate) ripe: Vec<Id>,
    /// Passed tests that bear an id of a known family which is not in the list: perhaps a slip of the pen.
    pub(crate) unknown: Vec<String>,
}

/// Ids in a row, for a message.
pub(crate) fn listed(ids: &[Id]) -> String {
    ids.iter().map(Id::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        LOOP-1 = { state = "done", behaviour = "a session begins with its description" }
        LOOP-11 = { state = "open", behaviour = "a failed request is made again" }
        PERM-2 = { state = "done", behaviour = "the mode decides what no rule decided" }
    "#;

    fn join(passed: &[&str]) -> Join {
        List::parse(LIST)
            .expect("the list is well formed")
            .join(passed.iter().copied())
    }

    #[test]
    fn a_done_row_is_proven_by_a_passed_test_that_bears_its_id() {
        let join = join(&[
            "turns::loop_1_init_comes_first",
            "perm_2_plan_changes_nothing",
        ]);
        assert_eq!((join.proven, join.rows), (2, 3));
        assert!(join.broken.is_empty() && join.ripe.is_empty() && join.unknown.is_empty());
    }

    #[test]
    fn the_number_in_a_name_ends_at_an_underscore() {
        let join = join(&["loop_11_retries", "perm_2_modes"]);
        assert_eq!(listed(&join.broken), "LOOP-1");
        assert_eq!(listed(&join.ripe), "LOOP-11");
    }

    #[test]
    fn names_that_only_look_like_ids_show_nothing() {
        for name in [
            "loop_1",                 // no behaviour in the name
            "loop_1_",                // nor here
            "loop_01_init",           // another spelling
            "loop1_init",             // no boundary
            "the_loop_1_init",        // not at the start
            "loop_1_init::unrelated", // the id stands on the module, not on the test
            "Loop_1_init",
        ] {
            assert_eq!(listed(&join(&[name]).broken), "LOOP-1, PERM-2", "{name}");
        }
    }

    #[test]
    fn an_unlisted_id_of_a_listed_family_is_reported_and_other_families_are_not() {
        let join = join(&["loop_12_fallback", "utf_8_survives_any_cut"]);
        assert_eq!(join.unknown, ["loop_12_fallback"]);
    }

    #[test]
    fn a_list_that_is_not_well_formed_is_refused_with_the_row_named() {
        for (text, named) in [
            ("LOOP = { state = \"open\", behaviour = \"x\" }", "`LOOP`"),
            (
                "loop-1 = { state = \"open\", behaviour = \"x\" }",
                "`loop-1`",
            ),
            (
                "LOOP-1 = { state = \"maybe\", behaviour = \"x\" }",
                "LOOP-1",
            ),
            ("LOOP-1 = { state = \"open\" }", "LOOP-1"),
            (
                "LOOP-1 = { state = \"open\", behaviour = \"x\" }\nLOOP-1 = { state = \"done\", behaviour = \"x\" }",
                "TOML",
            ),
        ] {
            let error = List::parse(text).expect_err(text);
            assert!(format!("{error:#}").contains(named), "{error:#}");
        }
    }

    #[test]
    fn the_list_of_the_repository_numbers_every_family_without_gaps() {
        let list =
            List::parse(include_str!("../../tests/parity.toml")).expect("the list is well formed");
        let mut numbers: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for id in list.done.keys() {
            numbers.entry(&id.family).or_default().push(id.number);
        }
        for (family, numbers) in numbers {
            let last = u32::try_from(numbers.len()).expect("a short list");
            assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "{family}");
        }
    }
}
