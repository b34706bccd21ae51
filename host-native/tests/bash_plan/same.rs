//! Lines that do the same as under bash: outputs, status, files.

use super::{lines, support::Folder};

/// Every line of a group does without a shell what it does with one.
fn same(lines: &[&str]) {
    let mut differences = String::new();
    for line in lines {
        let mut bash = Folder::new().by_bash(line);
        let mut plan = Folder::new().by_plan(line);
        if line.contains("time") {
            // No two runs take the same time.
            bash.stderr = without_numbers(&bash.stderr);
            plan = plan.map(|plan| super::support::Done {
                stderr: without_numbers(&plan.stderr),
                ..plan
            });
        }
        match plan {
            Err(refused) => differences += &format!("\n--- {line}\nrefused: {refused}\n"),
            Ok(mut plan) if plan != bash => {
                let in_bash = bash.files.clone();
                bash.files
                    .retain(|name, text| plan.files.get(name) != Some(text));
                plan.files
                    .retain(|name, text| in_bash.get(name) != Some(text));
                let mut difference = format!("\n--- {line}\n");
                for (what, bash, plan) in [
                    (
                        "ending",
                        format!("{:?}", bash.ending),
                        format!("{:?}", plan.ending),
                    ),
                    ("stdout", bash.stdout, plan.stdout),
                    ("stderr", bash.stderr, plan.stderr),
                    (
                        "files",
                        format!("{:?}", bash.files),
                        format!("{:?}", plan.files),
                    ),
                ] {
                    if bash != plan {
                        difference += &format!("{what}: bash {bash:?}\n{what}: plan {plan:?}\n");
                    }
                }
                differences += &difference;
            }
            Ok(_) => {}
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

fn without_numbers(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit(), "")
}

macro_rules! groups {
    ($($name:ident: $group:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                same(lines::$group);
            }
        )*
    };
}

groups! {
    lists_and_statuses: LISTS,
    pipelines: PIPELINES,
    subshells_groups_and_loops: COMPOUND,
    redirections: REDIRECTIONS,
    here_texts: TEXTS,
    programs_that_start_or_do_not: PROGRAMS,
    wrappers: WRAPPERS,
    shells_within: SHELLS,
    changing_directory: DIRECTORIES,
    echo: ECHO,
    printf: PRINTF,
    conditions: CONDITIONS,
    exit_break_and_continue: FLOW,
    words: WORDS,
    patterns: PATTERNS,
    process_substitutions: PROCESSES,
    cases_and_tests_of_bash: CASES,
    substitutions: SUBSTITUTIONS,
    variables: VARIABLES,
    environments: ENVIRONMENTS,
}

/// A locale that is not that of UTF-8, or that the system does not have, is that of the C language.
#[test]
fn perm_3_characters_are_those_of_the_locale_that_the_system_has() {
    for (language, expected) in [
        ("C", "\\u00E9 \\U0001F600 A 195\n"),
        ("xx_XX.UTF-8", "\\u00E9 \\U0001F600 A 195\n"),
        ("C.UTF-8", "\u{e9} \u{1f600} A 233\n"),
    ] {
        let folder = Folder::new();
        let line = "echo -en '\\u00e9 \\U1F600 \\u41 '; printf '%d\\n' \"'\u{e9}\"";
        let session = folder.session_with([("LANG", language)]);
        let (done, _) = folder.run_in(&folder.plan(line), &session).unwrap();
        assert_eq!(done.stdout, expected, "{language}");
    }
}
