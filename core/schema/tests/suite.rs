//! The public test suite: every case of both drafts is answered rightly, or its schema is refused for a reason that
//! stands in `refused.toml`.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_schema::{Draft, Schema};

/// A schema, and values with what is true of them. As text: numbers must arrive as they are written.
#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Box<RawValue>,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Box<RawValue>,
    valid: bool,
}

/// `refused.toml`: by file, the reasons by the description of the group.
type Refused = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Default)]
struct Count {
    passed: usize,
    refused: usize,
    failed: usize,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "json") {
            found.push(path);
        }
    }
    found.sort();
}

/// Runs the files of a draft; what is wrong is said in `wrong`.
fn run(
    name: &str,
    draft: Draft,
    listed: &Refused,
    met: &mut BTreeSet<(String, String)>,
    wrong: &mut Vec<String>,
) -> Count {
    let suite = folder().join("suite");
    let mut paths = Vec::new();
    files(&suite.join(name), &mut paths);
    assert!(!paths.is_empty(), "{name}");
    let mut count = Count::default();
    for path in paths {
        let file = path.strip_prefix(&suite).unwrap().to_str().unwrap();
        let file = file.replace('\\', "/");
        let groups: Vec<Group> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for group in groups {
            let at = format!("{file}: {}", group.description);
            let key = (file.clone(), group.description.clone());
            let is_listed = listed
                .get(&file)
                .is_some_and(|groups| groups.contains_key(&group.description));
            match Schema::read_as(group.schema.get(), draft) {
                Err(_) if is_listed => {
                    count.refused += group.tests.len();
                    met.insert(key);
                }
                Err(error) => {
                    count.failed += group.tests.len();
                    wrong.push(format!("{at}: refused, and not in refused.toml: {error}"));
                }
                Ok(_) if is_listed => {
                    met.insert(key);
                    wrong.push(format!("{at}: in refused.toml, and not refused"));
                }
                // The other files are for those who take `format` and its like for remarks.
                Ok(schema) => {
                    let asserts =
                        file.contains("/format/") || file.ends_with("optional/content.json");
                    let schema = match asserts {
                        true => schema,
                        false => schema.without_formats(),
                    };
                    for case in &group.tests {
                        let answer = schema.validate(case.data.get());
                        if answer.is_ok() == case.valid {
                            count.passed += 1;
                        } else {
                            count.failed += 1;
                            wrong.push(format!("{at}: {}: {answer:?}", case.description));
                        }
                    }
                }
            }
        }
    }
    count
}

#[test]
fn every_case_of_the_public_suite_is_right_or_refused() {
    let text = fs::read_to_string(folder().join("refused.toml")).unwrap();
    let listed: Refused = toml::from_str(&text).unwrap();
    let (mut met, mut wrong) = (BTreeSet::new(), Vec::new());
    let mut rows = Vec::new();
    for (name, draft) in [
        ("draft2020-12", Draft::Draft2020),
        ("draft7", Draft::Draft7),
    ] {
        let count = run(name, draft, &listed, &mut met, &mut wrong);
        let Count {
            passed,
            refused,
            failed,
        } = count;
        rows.push(format!("| {name} | {passed} | {refused} | {failed} |"));
    }
    for (file, groups) in &listed {
        for (description, reason) in groups {
            if !met.contains(&(file.clone(), description.clone())) {
                wrong.push(format!("{file}: {description}: in refused.toml only"));
            }
            assert!(!reason.is_empty(), "{file}: {description}: no reason");
        }
    }
    let rows = rows.join("\n");
    println!("| draft | passed | refused | failed |\n{rows}");
    assert!(wrong.is_empty(), "{}\n{rows}", wrong.join("\n"));
    let readme = fs::read_to_string(folder().join("../README.md")).unwrap();
    assert!(
        readme.contains(&rows),
        "README.md has other counts:\n{rows}"
    );
}
