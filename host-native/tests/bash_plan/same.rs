//! Lines that do the same as under bash: outputs, status, files.

use super::{lines, support::Folder};

/// Every line of a group does without a shell what it does with one.
fn same(lines: &[&str]) {
    let mut differences = String::new();
    for line in lines {
        let bash = Folder::new().by_bash(line);
        let plan = Folder::new().by_plan(line);
        match plan {
            Err(refused) => differences += &format!("\n--- {line}\nrefused: {refused}\n"),
            Ok(mut plan) if plan != bash => {
                let mut bash = bash;
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
    substitutions: SUBSTITUTIONS,
    variables: VARIABLES,
    environments: ENVIRONMENTS,
}
