//! Parses the JUnit report of nextest: which tests passed and failed, and what they printed about themselves.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// The tests of a run by outcome, under the names of the test harness. Skipped tests are in neither list.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) passed: Vec<Passed>,
    pub(crate) failed: Vec<String>,
}

/// A test that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) name: String,
    /// The package of the test; `None` if it is unknown.
    pub(crate) package: Option<String>,
}

impl Passed {
    /// A test of which only the name is known.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            package: None,
        }
    }
}

/// What tests printed about themselves, if the report contains the output of passed tests (`.config/attack.toml`).
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// How much was tried: the sum of the lines `tried: 1000 accesses`, by unit.
    pub(crate) tried: BTreeMap<String, u64>,
    /// Why something was not tried: the first line `not tried: there is no Landlock` of each test.
    pub(crate) not_tried: Vec<String>,
}

/// The path of nextest's report. The report of an earlier run is removed, so that it cannot be mistaken for that of a
/// run that never started.
pub(crate) fn fresh(workspace: &Workspace) -> Result<PathBuf> {
    // nextest writes below the workspace, wherever cargo's target directory is.
    let report = workspace.root.join("target/nextest/default/junit.xml");
    if report.exists() {
        fs::remove_file(&report).with_context(|| format!("cannot remove {}", report.display()))?;
    }
    Ok(report)
}

/// Parses a report.
pub(crate) fn read(xml: &str) -> Result<Outcome> {
    let document = roxmltree::Document::parse(xml).context("the test report is not XML")?;
    let mut outcome = Outcome::default();
    for case in document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
    {
        let name = case
            .attribute("name")
            .context("a test case in the report has no name")?;
        let has = |tag| case.children().any(|child| child.has_tag_name(tag));
        if has("failure") || has("error") {
            outcome.failed.push(name.to_owned());
        } else if !has("skipped") {
            // The class is the test binary: the package for unit tests, else `package::target`.
            let class = case.attribute("classname").unwrap_or_default();
            let package = class.split("::").next().filter(|name| !name.is_empty());
            outcome.passed.push(Passed {
                package: package.map(str::to_owned),
                ..Passed::named(name)
            });
        }
    }
    Ok(outcome)
}

/// Extracts from a report what tests printed about themselves.
pub(crate) fn said(xml: &str) -> Result<Said> {
    let document = roxmltree::Document::parse(xml).context("the test report is not XML")?;
    let mut said = Said::default();
    for case in document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
    {
        let outputs = case
            .children()
            .filter(|child| child.has_tag_name("system-out") || child.has_tag_name("system-err"));
        let text: Vec<&str> = outputs.filter_map(|output| output.text()).collect();
        let lines = || text.iter().flat_map(|text| text.lines());
        for counted in lines().filter_map(|line| line.strip_prefix("tried: ")) {
            // Other lines that start the same way are ignored.
            let Some((count, what)) = counted.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            *said.tried.entry(what.to_owned()).or_default() += count;
        }
        let not_tried = lines().find_map(|line| line.strip_prefix("not tried: "));
        said.not_tried.extend(not_tried.map(str::to_owned));
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cases_without_failure_error_or_skip_passed() {
        let report = r#"<testsuites><testsuite name="windlass-core">
            <testcase name="a::passes" classname="windlass-core" time="0.1"/>
            <testcase name="a::passes_noisily" classname="windlass::engine"><system-out>test a::lies ... ok</system-out></testcase>
            <testcase name="a::fails"><failure type="test failure">assertion</failure></testcase>
            <testcase name="a::does_not_start"><error/></testcase>
            <testcase name="a::waits"><skipped/></testcase>
            <testcase name="a::passes_nowhere"/>
        </testsuite></testsuites>"#;
        let outcome = read(report).expect("the report is well formed");
        let passed = (outcome.passed.iter())
            .map(|test| (test.name.as_str(), test.package.as_deref()))
            .collect::<Vec<_>>();
        assert_eq!(
            passed,
            [
                ("a::passes", Some("windlass-core")),
                ("a::passes_noisily", Some("windlass")),
                ("a::passes_nowhere", None)
            ]
        );
        assert_eq!(outcome.failed, ["a::fails", "a::does_not_start"]);
    }

    #[test]
    fn what_tests_say_of_themselves_is_summed_up() {
        let report = "<testsuites><testsuite>
            <testcase name='a'><system-out>running 1 test\ntest a ... ok</system-out><system-err>tried: 20 accesses
tried: 3 lines</system-err></testcase>
            <testcase name='b'><system-out>tried: 22 accesses\n</system-out></testcase>
            <testcase name='c'><system-err>not tried: no mount
not tried: no mount</system-err></testcase>
            <testcase name='d'><system-err>it says tried: 5 accesses
tried: much
tried: 1</system-err></testcase>
        </testsuite></testsuites>";
        let said = said(report).expect("the report is well formed");
        let tried: Vec<_> = said
            .tried
            .iter()
            .map(|(what, n)| (what.as_str(), *n))
            .collect();
        assert_eq!(tried, [("accesses", 42), ("lines", 3)]);
        assert_eq!(said.not_tried, ["no mount"]);
    }

    #[test]
    fn a_cut_report_is_an_error() {
        assert!(read("<testsuites><testsuite").is_err());
        assert!(said("<testsuites><testsuite").is_err());
    }
}
