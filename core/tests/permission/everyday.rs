//! Everyday lines: what coding agents and people write, with the rules that people have. How many of them run unasked
//! is what a stricter reading of commands must not cost.
//!
//! One file per group in `everyday/`. A block begins with `rules:` (and `mode:` above it); a line with `+` is covered by
//! them, so that whoever wrote the rules expects it to run, and one with `-` is not; `|` continues a line, `#` is a comment.
//! `everyday/before.txt` holds what came of each line before commands ran in their judged form only.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use windlass_core::permission::{Mode, Rules, Verdict};

use super::{Call, parsed, verdict};

/// The groups, by the names of their files.
const GROUPS: [&str; 7] = [
    "git",
    "builds",
    "pipes",
    "expansions",
    "cd",
    "searches",
    "redirections",
];

/// The least lines of a group, and of all together.
const LEAST: (usize, usize) = (50, 500);

/// A line as it stands in the corpus.
struct Line {
    group: &'static str,
    mode: Mode,
    rules: Vec<String>,
    covered: bool,
    text: String,
}

impl Line {
    fn passes(&self) -> bool {
        let texts: Vec<&str> = self.rules.iter().map(String::as_str).collect();
        let rules = Rules {
            allow: parsed(&texts),
            ..Rules::default()
        };
        verdict(&rules, self.mode, &Call::new("Bash", &self.text)) == Verdict::Allow
    }
}

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/permission/everyday");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn corpus() -> Vec<Line> {
    GROUPS.into_iter().flat_map(lines_of).collect()
}

fn lines_of(group: &'static str) -> Vec<Line> {
    let text = file(&format!("{group}.txt"));
    let mut lines: Vec<Line> = Vec::new();
    let (mut mode, mut next_mode, mut rules) = (Mode::Default, Mode::Default, Vec::new());
    for row in text.lines() {
        if let Some(rest) = row.strip_prefix("rules: ") {
            rules = split_rules(rest);
            mode = std::mem::replace(&mut next_mode, Mode::Default);
        } else if let Some(name) = row.strip_prefix("mode: ") {
            next_mode = Mode::parse(name).unwrap();
        } else if let Some(rest) = row.strip_prefix('|') {
            let line = lines.last_mut().unwrap();
            line.text.push('\n');
            line.text.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        } else if let Some((sign @ ("+" | "-"), text)) = row.split_once(' ') {
            lines.push(Line {
                group,
                mode,
                rules: rules.clone(),
                covered: sign == "+",
                text: text.to_owned(),
            });
        } else {
            assert!(row.is_empty() || row.starts_with('#'), "{group}: {row}");
        }
    }
    lines
}

/// Rules one after the other: each ends with its parenthesis.
fn split_rules(text: &str) -> Vec<String> {
    let rules = text.split_inclusive(')');
    rules.map(|rule| rule.trim().to_owned()).collect()
}

/// What came of each line once: whether it ran unasked.
fn recorded() -> BTreeMap<(String, String), bool> {
    let text = file("before.txt");
    let rows = text.lines().filter(|row| !row.starts_with('#'));
    let entry = |row: &str| {
        let mut fields = row.splitn(3, ' ');
        let mut next = || fields.next().unwrap().to_owned();
        let (outcome, group, line) = (next(), next(), next());
        let line: String = serde_json::from_str(&line).unwrap();
        ((group, line), outcome == "runs")
    };
    rows.map(entry).collect()
}

/// The corpus with its outcomes, as `before.txt` has them.
fn table(corpus: &[Line]) -> String {
    let mut out = String::from(
        "# Whether each line ran unasked before commands ran in their judged form only.\n",
    );
    for line in corpus {
        let outcome = if line.passes() { "runs" } else { "asks" };
        let text = serde_json::to_string(&line.text).unwrap();
        writeln!(out, "{outcome} {} {text}", line.group).unwrap();
    }
    out
}

/// So many of so many.
#[derive(Default, Clone, Copy)]
struct Share {
    passed: usize,
    of: usize,
}

impl Share {
    fn count(lines: impl Iterator<Item = bool>) -> Self {
        lines.fold(Self::default(), |share, passed| Self {
            passed: share.passed + usize::from(passed),
            of: share.of + 1,
        })
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = 100.0 * self.passed as f64 / self.of as f64;
        write!(f, "{:>3} of {:>3} ({percent:5.1} %)", self.passed, self.of)
    }
}

#[test]
fn perm_4_as_many_everyday_lines_run_unasked_as_before() {
    let (corpus, before) = (corpus(), recorded());
    assert!(corpus.len() >= LEAST.1, "{} lines", corpus.len());
    assert_eq!(
        before.len(),
        corpus.len(),
        "before.txt is about other lines"
    );
    let was = |line: &Line| before[&(line.group.to_owned(), line.text.clone())];
    let mut fallen = Vec::new();
    for group in GROUPS {
        let lines = || corpus.iter().filter(|line| line.group == group);
        let (earlier, now) = (
            Share::count(lines().map(was)),
            Share::count(lines().map(Line::passes)),
        );
        let covered = Share::count(lines().filter(|line| line.covered).map(Line::passes));
        println!("{group:<13} before {earlier}   now {now}   of what the rules cover {covered}");
        assert!(now.of >= LEAST.0, "{group} has {} lines", now.of);
        for line in lines().filter(|line| was(line) && !line.passes()) {
            println!("  asks now: {}", line.text);
        }
        if now.passed < earlier.passed {
            fallen.push(group);
        }
    }
    assert!(fallen.is_empty(), "fewer lines run unasked: {fallen:?}");
}

#[test]
fn perm_4_what_no_rule_covers_of_everyday_lines_is_asked_about() {
    let corpus = corpus();
    let slipped: Vec<&str> = corpus
        .iter()
        .filter(|line| !line.covered && line.passes())
        .map(|line| line.text.as_str())
        .collect();
    assert!(slipped.is_empty(), "{slipped:#?}");
}

#[test]
fn perm_4_of_everyday_lines_that_rules_cover_95_of_100_run_unasked() {
    let corpus = corpus();
    let covered: Vec<&Line> = corpus.iter().filter(|line| line.covered).collect();
    let share = Share::count(covered.iter().map(|line| line.passes()));
    for line in covered.iter().filter(|line| !line.passes()) {
        println!("asks ({}): {}", line.group, line.text);
    }
    println!("{share}");
    assert!(share.passed * 100 >= share.of * 95, "{share}");
}

/// Writes the table down: `cargo test -p windlass-core --test permission record_ -- --ignored`. Only ever run on purpose.
#[test]
#[ignore = "writes everyday/before.txt anew"]
fn record_what_came_of_everyday_lines() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/permission/everyday/before.txt");
    fs::write(path, table(&corpus())).unwrap();
    assert_eq!(recorded().len(), corpus().len());
}
