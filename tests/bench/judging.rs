//! Judging a command line: reading it, looking where its files lead, and holding each command against the rules.

use std::{hint::black_box, time::Instant};

use windlass_core::{
    RawJson,
    permission::{
        CallSubject, CommandLine, Mode, PathFact, PolicyContext, Rule, Rules, Verdict, judge,
    },
    spec::Environment,
    tool::ToolDefinition,
};

use crate::table::{Goal, Table, median};

/// A line of 40 words, as agents write them.
const LINE: &str = "cd core && cargo test -p windlass-core -- --nocapture 2>&1 | grep -E '^(test result|error)' && \
    git add src/lib.rs src/parse.rs && git commit -q -m \"core: accept trailing commas\" && \
    for f in a b; do echo \"$f\" done; done";

const WORDS: usize = 40;

const RULES: [&str; 10] = [
    "Bash(npm run:*)",
    "Bash(cargo build:*)",
    "Bash(cargo test:*)",
    "Bash(git status:*)",
    "Bash(git add:*)",
    "Bash(git commit:*)",
    "Bash(git log:*)",
    "Bash(grep:*)",
    "Bash(head:*)",
    "Bash(echo:*)",
];

/// Lines judged for one measurement.
const TIMES: u32 = 2_000;

pub(crate) fn measure(table: &mut Table) {
    assert_eq!(
        LINE.split_whitespace().count(),
        WORDS,
        "the line has other words"
    );
    let rules = Rules {
        allow: RULES
            .iter()
            .map(|rule| Rule::parse(rule).expect("these are rules"))
            .collect(),
        ..Rules::default()
    };
    let environment = Environment {
        cwd: "/work".into(),
        ..Environment::default()
    };
    let policy = PolicyContext::new(&rules, Mode::Default, &environment);
    let mut tool = ToolDefinition::new("Bash", "", RawJson::empty_object());
    tool.command_param = Some("command".into());
    // As a session does: the line is read, its files are resolved, it is judged, and what runs is made of it.
    let judged = || {
        let line = CommandLine::read(LINE, "/work");
        let paths: Vec<PathFact> = line
            .paths()
            .into_iter()
            .map(|asked| PathFact {
                path: asked.path.clone(),
                access: asked.access,
                written: asked.path,
            })
            .collect();
        let subject = CallSubject {
            command: Some(line),
            ..CallSubject::default()
        };
        let facts = subject.facts(&tool, &paths);
        assert_eq!(judge(&policy, facts, None).verdict, Verdict::Allow);
        let line = facts.command.expect("it was set");
        line.plan(&policy, &tool, &paths).expect("it can be run")
    };
    let microseconds = || {
        let start = Instant::now();
        for _ in 0..TIMES {
            black_box(judged());
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES)
    };
    let values = (0..15).map(|_| microseconds()).collect();
    table.value(
        "judge a command line of 40 words by ten rules",
        "µs",
        median(values),
        Goal::AtMost(20.0),
    );
}
