//! The options of the installed SDKs against the list of features: an option of which nobody says what becomes of it is a fault.

use std::{collections::BTreeSet, fs, process::Command};

use libtest_mimic::Failed;
use windlass_tests::artefacts;

use crate::features::{self, Feature, Sdk};

/// Every option is in one row of the list, and a row that works has a program that uses it.
pub(crate) fn are_all_told(sdk: Sdk) -> Result<(), Failed> {
    let published = match sdk {
        Sdk::Python => of_python()?,
        Sdk::TypeScript => of_typescript()?,
    };
    assert!(published.len() > 40, "these are not all: {published:?}");
    let rows = features::list().feature;
    let rows: Vec<&Feature> = rows.iter().filter(|row| row.sdk == sdk).collect();
    let mut faults = Vec::new();
    let mut told = BTreeSet::new();
    for row in &rows {
        for option in &row.options {
            if !told.insert(option.clone()) {
                faults.push(format!("{option} is told twice"));
            }
            if !is_used(row, option)? {
                faults.push(format!(
                    "the program of `{}` does not use {option}",
                    row.name
                ));
            }
        }
    }
    let untold = published.difference(&told);
    faults.extend(untold.map(|option| format!("nothing is told of the option {option}")));
    let unknown = told.difference(&published);
    faults.extend(unknown.map(|option| format!("the SDK has no option {option}")));
    match faults.as_slice() {
        [] => Ok(()),
        faults => Err(format!("tests/sdk/features.toml: {}", faults.join("; ")).into()),
    }
}

/// Whether the program of a feature names an option. What is missing is used by none.
fn is_used(row: &Feature, option: &str) -> Result<bool, Failed> {
    let Some(program) = row.program.as_ref().filter(|_| row.missing.is_none()) else {
        return Ok(row.missing.is_some());
    };
    let path = match row.sdk {
        Sdk::Python => format!("tests/sdk/python/{program}.py"),
        Sdk::TypeScript => format!("tests/sdk/typescript/{program}.ts"),
    };
    let text = fs::read_to_string(artefacts::repository().join(path))?;
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Ok(words.any(|word| word == option))
}

/// The fields of `ClaudeAgentOptions`, as the installed package has them.
fn of_python() -> Result<BTreeSet<String>, Failed> {
    const FIELDS: &str = "import dataclasses, claude_agent_sdk as sdk\n\
        for field in dataclasses.fields(sdk.ClaudeAgentOptions): print(field.name)";
    let python = artefacts::sdks().join("python/bin/python");
    let output = Command::new(python).args(["-c", FIELDS]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let names = String::from_utf8(output.stdout)?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// The fields of `Options`, as the types of the installed package have them.
fn of_typescript() -> Result<BTreeSet<String>, Failed> {
    let types = "node/node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts";
    let text = fs::read_to_string(artefacts::sdks().join(types))?.replace("\r\n", "\n");
    let fields = (text.split_once("export declare type Options = {\n"))
        .and_then(|(_, behind)| behind.split_once("\n};"))
        .map(|(fields, _)| fields)
        .ok_or("the package publishes no `Options`")?;
    let name = |line: &str| {
        let field = line.strip_prefix("    ")?;
        let end = field.find(|c: char| !c.is_ascii_alphanumeric())?;
        let is_field = matches!(field.get(end..end + 1)?, "?" | ":" | "(");
        (is_field && end > 0).then(|| field[..end].to_owned())
    };
    Ok(fields.lines().filter_map(name).collect())
}
