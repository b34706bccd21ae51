//! Reading the JUnit report that nextest writes: which tests passed, which did not.

use anyhow::{Context, Result};

/// The tests of a run by outcome, under the names that the test harness gave them. Skipped ones are in neither.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) passed: Vec<String>,
    pub(crate) failed: Vec<String>,
}

/// Reads a report.
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
            outcome.passed.push(name.to_owned());
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cases_without_failure_error_or_skip_passed() {
        let report = r#"<testsuites><testsuite name="windlass-core">
            <testcase name="a::passes" classname="windlass-core" time="0.1"/>
            <testcase name="a::passes_noisily"><system-out>test a::lies ... ok</system-out></testcase>
            <testcase name="a::fails"><failure type="test failure">assertion</failure></testcase>
            <testcase name="a::does_not_start"><error/></testcase>
            <testcase name="a::waits"><skipped/></testcase>
        </testsuite></testsuites>"#;
        let outcome = read(report).expect("the report is well formed");
        assert_eq!(outcome.passed, ["a::passes", "a::passes_noisily"]);
        assert_eq!(outcome.failed, ["a::fails", "a::does_not_start"]);
    }

    #[test]
    fn a_cut_report_is_an_error() {
        assert!(read("<testsuites><testsuite").is_err());
    }
}
