//! Generates the table of official SDK features, `docs/sdk-features.md`, from `tests/sdk/features.toml` and the tests
//! that passed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};

use crate::junit::Passed;

/// The text above the table.
const HEAD: &str = "\
# The official SDKs on windlass

Written by `cargo xtask test` from `tests/sdk/features.toml` and the outcomes of the tests; do not edit. Each test is a
program that uses the unmodified SDK with this engine. How to do that yourself: [sdk.md](sdk.md).
";

/// The text above the behaviours.
const BEHAVIOURS: &str = "
## What else differs

What a program can notice that was written for the original engine, whichever SDK it uses. Frame by frame, with all fields,
it stands in `tests/recordings/differences.toml`, which is held against recordings of the original.

| | the original | here | because | shown by |
|---|---|---|---|---|
";

/// A row of the list.
struct Feature {
    sdk: Sdk,
    name: String,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sdk {
    Python,
    TypeScript,
}

enum State {
    /// A test shows that it works.
    Shown {
        test: String,
        /// How it differs from the original engine.
        differs: Option<String>,
        /// The variable that must be set for the test to run.
        needs: Option<String>,
    },
    /// It does not exist here, for this reason.
    Missing(String),
}

/// A behaviour of the original engine that is not the same here.
struct Behaviour {
    what: String,
    original: String,
    here: String,
    reason: String,
    /// The test that shows how it is here.
    test: Option<String>,
}

/// The list of features, and of what else differs.
pub(crate) struct Features {
    features: Vec<Feature>,
    behaviours: Vec<Behaviour>,
}

impl Features {
    /// Parses the text of `features.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse().context("the list of features is not TOML")?;
        let rows = table
            .get("feature")
            .and_then(toml::Value::as_array)
            .context("the list has no `[[feature]]`")?;
        let others = table.get("behaviour").and_then(toml::Value::as_array);
        Ok(Self {
            features: rows.iter().map(Feature::read).collect::<Result<_>>()?,
            behaviours: (others.into_iter().flatten())
                .map(Behaviour::read)
                .collect::<Result<_>>()?,
        })
    }

    /// The table, given the names of the tests that passed. Features that do not work are not listed: their test has
    /// failed already.
    pub(crate) fn table(&self, passed: &[Passed]) -> Result<String> {
        let passed: BTreeSet<&str> = passed
            .iter()
            .filter_map(|test| test.name.rsplit("::").next())
            .collect();
        let mut text = HEAD.to_owned();
        for (sdk, title) in [(Sdk::Python, "Python"), (Sdk::TypeScript, "TypeScript")] {
            write!(
                text,
                "\n## {title}\n\n| feature | | shown by |\n|---|---|---|\n"
            )?;
            for feature in self.features.iter().filter(|it| it.sdk == sdk) {
                let name = &feature.name;
                match &feature.state {
                    State::Shown { test, needs, .. }
                        if needs.is_none() && !passed.contains(test.as_str()) =>
                    {
                        bail!("`{name}` is said to be shown by `{test}`, but no such test passed")
                    }
                    State::Shown {
                        test,
                        differs,
                        needs,
                    } => {
                        let how = match (needs, differs) {
                            // Fixed words, independent of the environment, because the table is compared with the committed one.
                            (Some(variable), _) => {
                                format!("not tried by the test command: it needs `${variable}`")
                            }
                            (None, None) => "works".to_owned(),
                            (None, Some(what)) => format!("differs: {what}"),
                        };
                        writeln!(text, "| {name} | {how} | `{test}` |")?;
                    }
                    State::Missing(why) => writeln!(text, "| {name} | not: {why} | |")?,
                }
            }
        }
        self.write_behaviours(&passed, &mut text)?;
        Ok(text)
    }

    fn write_behaviours(&self, passed: &BTreeSet<&str>, text: &mut String) -> Result<()> {
        if self.behaviours.is_empty() {
            return Ok(());
        }
        text.push_str(BEHAVIOURS);
        for behaviour in &self.behaviours {
            let Behaviour {
                what,
                original,
                here,
                reason,
                test,
            } = behaviour;
            let shown = match test {
                Some(test) if !passed.contains(test.as_str()) => {
                    bail!("`{what}` is said to be shown by `{test}`, but no such test passed")
                }
                Some(test) => format!("`{test}` "),
                None => String::new(),
            };
            writeln!(text, "| {what} | {original} | {here} | {reason} | {shown}|")?;
        }
        Ok(())
    }
}

impl Behaviour {
    fn read(row: &toml::Value) -> Result<Self> {
        let field = |name| {
            row.get(name)
                .and_then(toml::Value::as_str)
                .map(str::to_owned)
        };
        let what = field("what").context("a behaviour has no `what`")?;
        let needed = |name| field(name).with_context(|| format!("`{what}` has no `{name}`"));
        Ok(Self {
            original: needed("original")?,
            here: needed("here")?,
            reason: needed("reason")?,
            test: field("test"),
            what,
        })
    }
}

impl Feature {
    fn read(row: &toml::Value) -> Result<Self> {
        let field = |name| row.get(name).and_then(toml::Value::as_str);
        let name = field("name").context("a feature has no `name`")?.to_owned();
        let sdk = match field("sdk") {
            Some("python") => Sdk::Python,
            Some("typescript") => Sdk::TypeScript,
            _ => bail!("`{name}` needs `sdk`, either \"python\" or \"typescript\""),
        };
        let state = match (field("test"), field("missing")) {
            (_, Some(why)) => State::Missing(why.to_owned()),
            (Some(test), None) => State::Shown {
                test: test.to_owned(),
                differs: field("differs").map(str::to_owned),
                needs: field("needs").map(str::to_owned),
            },
            (None, None) => {
                bail!("`{name}` needs either a `test` that shows it or why it is `missing`")
            }
        };
        Ok(Self { sdk, name, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        [[feature]]
        sdk = "python"
        name = "query()"
        test = "sdk_1_answers"
        [[feature]]
        sdk = "python"
        name = "voice"
        missing = "there is no microphone"
        [[feature]]
        sdk = "typescript"
        name = "query()"
        test = "sdk_2_answers"
        differs = "sooner"
        [[feature]]
        sdk = "typescript"
        name = "two engines"
        test = "sdk_2_two"
        needs = "OTHER"
    "#;

    #[test]
    fn a_row_says_what_its_test_has_shown() {
        let passed = ["a::sdk_1_answers", "sdk_2_answers"].map(Passed::named);
        let table = Features::parse(LIST).unwrap().table(&passed).unwrap();
        for row in [
            "| query() | works | `sdk_1_answers` |",
            "| voice | not: there is no microphone | |",
            "| query() | differs: sooner | `sdk_2_answers` |",
            "| two engines | not tried by the test command: it needs `$OTHER` | `sdk_2_two` |",
        ] {
            assert!(table.contains(row), "{table}");
        }
    }

    #[test]
    fn what_else_differs_has_its_reason() {
        let row = "\n[[behaviour]]\nwhat = \"w\"\noriginal = \"o\"\nhere = \"h\"";
        let whole = format!("{LIST}{row}\nreason = \"r\"\ntest = \"sdk_1_differs\"");
        let passed = ["a::sdk_1_answers", "sdk_2_answers", "sdk_1_differs"].map(Passed::named);
        let table = Features::parse(&whole).unwrap().table(&passed).unwrap();
        assert!(
            table.ends_with("| w | o | h | r | `sdk_1_differs` |\n"),
            "{table}"
        );
        assert!(
            Features::parse(&whole)
                .unwrap()
                .table(&passed[..2])
                .is_err()
        );
        assert!(
            Features::parse(&format!("{LIST}{row}")).is_err(),
            "no reason"
        );
    }

    #[test]
    fn a_row_without_a_passed_test_or_a_reason_is_an_error() {
        let error = Features::parse(LIST).unwrap().table(&[]).unwrap_err();
        assert!(error.to_string().contains("sdk_1_answers"), "{error}");
        let empty = "[[feature]]\nsdk = \"python\"\nname = \"x\"";
        assert!(Features::parse(empty).is_err());
    }

    #[test]
    fn the_list_of_the_repository_can_be_read_and_names_no_test_twice() {
        let list = Features::parse(include_str!("../../tests/sdk/features.toml")).unwrap();
        let mut seen = BTreeSet::new();
        for feature in &list.features {
            if let State::Shown { test, .. } = &feature.state {
                assert!(seen.insert(test), "{test}");
            }
        }
    }
}
