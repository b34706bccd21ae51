//! Compares the parity list, `tests/parity.toml`, with the tests that passed.
//!
//! A row is a behaviour with an id such as LOOP-7. A test shows it if its name starts with the id, `loop_7_…`. If a
//! row is marked done and no passed test shows it, the test command fails. It also fails if only tests of internal
//! packages show it: they do not show that the behaviour is available to users.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result, bail};

use crate::junit::Passed;

/// The packages whose tests show nothing that a person can use: the loop, the engine as a machine without I/O, and
/// the packages that drive these two randomly.
pub(crate) const INSIDE: [&str; 8] = [
    "windlass-core",
    "windlass-schema",
    "windlass-shell",
    "windlass-engine",
    "windlass-simulate",
    "windlass-fuzz",
    "windlass-scripted-model",
    "windlass-testkit",
];

/// The id of a row: a family and a number.
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
    /// Parses `LOOP-7`.
    fn parse(text: &str) -> Option<Self> {
        let (family, number) = text.split_once('-')?;
        let well_formed = !family.is_empty() && family.chars().all(|c| c.is_ascii_uppercase());
        well_formed.then_some(())?;
        Some(Self {
            family: family.to_owned(),
            number: plain_number(number)?,
        })
    }

    /// Parses the id at the start of a test's name: `modules::loop_7_ends_the_turn`. The number ends at an
    /// underscore, so `loop_11_…` does not show LOOP-1. The list determines whether the family exists.
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

/// A positive number without sign or leading zeros, so that there is only one spelling.
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
    /// Parses the text of `parity.toml`.
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

    /// Compares the list with the tests that passed. A test of an unknown package counts as external, since cargo's
    /// own harness does not report the package.
    pub(crate) fn join(&self, passed: &[Passed]) -> Join {
        let families: BTreeSet<&str> = self.done.keys().map(|id| id.family.as_str()).collect();
        let mut shown = BTreeSet::new();
        let mut outside = BTreeSet::new();
        let mut unknown = BTreeSet::new();
        for test in passed {
            let Some(id) = Id::of_test(&test.name) else {
                continue;
            };
            if self.done.contains_key(&id) {
                let package = test.package.as_deref();
                if !package.is_some_and(|package| INSIDE.contains(&package)) {
                    outside.insert(id.clone());
                }
                shown.insert(id);
            } else if families.contains(id.family.as_str()) {
                unknown.insert(test.name.clone());
            }
        }
        let select = |wanted_done: bool, wanted_shown: bool| {
            let rows = self.done.iter();
            let chosen = rows
                .filter(|&(id, &done)| done == wanted_done && shown.contains(id) == wanted_shown);
            chosen.map(|(id, _)| id.clone()).collect::<Vec<_>>()
        };
        let (hidden, proven): (Vec<Id>, Vec<Id>) =
            (select(true, true).into_iter()).partition(|id| !outside.contains(id));
        Join {
            rows: self.done.len(),
            proven: proven.len(),
            broken: select(true, false),
            hidden,
            ripe: select(false, true),
            unknown: unknown.into_iter().collect(),
        }
    }
}

/// The result of the comparison.
#[derive(Debug)]
pub(crate) struct Join {
    /// The number of rows in the list.
    pub(crate) rows: usize,
    /// Rows marked done and shown by a passed external test.
    pub(crate) proven: usize,
    /// Rows marked done that no passed test shows.
    pub(crate) broken: Vec<Id>,
    /// Rows marked done that only tests of the packages [`INSIDE`] show.
    pub(crate) hidden: Vec<Id>,
    /// Rows marked open although a passed test has their id: perhaps they can be marked done.
    pub(crate) ripe: Vec<Id>,
    /// Passed tests with an id of a known family that is not in the list: perhaps a typo.
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

    fn join_tests(passed: &[Passed]) -> Join {
        List::parse(LIST)
            .expect("the list is well formed")
            .join(passed)
    }

    /// Compares with tests of unknown packages.
    fn join(passed: &[&str]) -> Join {
        let passed: Vec<Passed> = passed.iter().copied().map(Passed::named).collect();
        join_tests(&passed)
    }

    fn of(package: &str, name: &str) -> Passed {
        Passed {
            package: Some(package.to_owned()),
            ..Passed::named(name)
        }
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
    fn a_done_row_that_is_shown_only_inside_is_named() {
        let perm = of("windlass", "modes::perm_2_plan_changes_nothing");
        for package in INSIDE {
            let join = join_tests(&[of(package, "loop_1_init_comes_first"), perm.clone()]);
            assert_eq!(listed(&join.hidden), "LOOP-1", "{package}");
            assert!(join.broken.is_empty());
            assert_eq!(join.proven, 1);
        }
        // One external test is enough, beside any number of others.
        for package in ["windlass", "windlass-callback-loop", "windlass-tests"] {
            let inside = of("windlass-core", "turns::loop_1_init_comes_first");
            let outside = of(package, "engine::loop_1_a_query_begins_with_init");
            let join = join_tests(&[inside, outside, perm.clone()]);
            assert!(join.hidden.is_empty(), "{package}: {:?}", join.hidden);
            assert_eq!(join.proven, 2);
        }
    }

    #[test]
    fn an_open_row_may_be_shown_inside_and_a_row_that_nothing_shows_is_broken_once() {
        let join = join_tests(&[of("windlass-core", "loop_11_retries")]);
        assert!(join.hidden.is_empty());
        assert_eq!(listed(&join.ripe), "LOOP-11");
        assert_eq!(listed(&join.broken), "LOOP-1, PERM-2");
    }

    /// Otherwise, after a package is renamed, its tests would count as external.
    #[test]
    fn the_packages_inside_are_those_of_the_repository() {
        let manifests = [
            include_str!("../../core/Cargo.toml"),
            include_str!("../../core/schema/Cargo.toml"),
            include_str!("../../core/shell/Cargo.toml"),
            include_str!("../../engine/Cargo.toml"),
            include_str!("../../tests/simulate/Cargo.toml"),
            include_str!("../../tests/fuzz/Cargo.toml"),
            include_str!("../../core/scripted-model/Cargo.toml"),
            include_str!("../../tests/testkit/Cargo.toml"),
        ];
        let names = manifests.map(|text| {
            let manifest: toml::Table = text.parse().expect("a manifest");
            manifest["package"]["name"]
                .as_str()
                .expect("a name")
                .to_owned()
        });
        assert_eq!(names, INSIDE);
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
    fn the_documents_say_of_every_open_row_what_is_missing_and_of_no_other() {
        let list =
            List::parse(include_str!("../../tests/parity.toml")).expect("the list is well formed");
        let (_, section) = include_str!("../../docs/behaviour.md")
            .split_once("## What is not there yet")
            .expect("the section");
        let (section, _) = section.split_once("\n## ").expect("another behind it");
        let first_cells = section.lines().filter_map(|line| line.split('|').nth(1));
        let named: BTreeSet<Id> = first_cells
            .flat_map(|cell| cell.split(','))
            .filter_map(|id| Id::parse(id.trim()))
            .collect();
        let open = list.done.iter().filter(|&(_, &done)| !done);
        assert_eq!(named, open.map(|(id, _)| id.clone()).collect());
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
