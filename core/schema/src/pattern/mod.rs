//! Regular expressions in the dialect of JSON Schema (ECMA-262, section 22.2), small enough for a web page: no captures, only
//! "does it match", and one table of four kilobytes.
//!
//! All paths through a pattern are followed at once, character by character, so no pattern takes exponential time (patterns may
//! come from untrusted sources: schemas of MCP servers, project settings). Features that such a machine cannot implement – back
//! references – are refused when the pattern is parsed.
//!
//! ```
//! use windlass_schema::pattern::Pattern;
//!
//! let date = Pattern::new(r"^\d{4}-\d{2}-\d{2}$")?;
//! assert!(date.is_match("2026-01-31") && !date.is_match("31 January"));
//! let tools = Pattern::new("Edit|Write|mcp__.*")?;
//! assert!(tools.is_full_match("mcp__files__move") && !tools.is_full_match("NotebookEdit"));
//! # Ok::<(), windlass_schema::pattern::PatternError>(())
//! ```

mod category;
mod parse;
mod program;
mod set;

use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::{cell::Cell, fmt};

use self::program::{Program, Step};

/// The maximum number of steps of a match: a pattern with look-around at every position of a long text would take minutes.
const STEPS: u64 = 10_000_000;

/// A compiled pattern.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    program: Program,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// `\d`, `\w` and `\b` are ASCII, and `.` matches any character but a line end, as in ECMAScript; `^` and `$` match the ends
    /// of the text. Characters are code points, as with ECMAScript's flag `u`. `\p{…}` supports all general categories (`L`,
    /// `Lu`, `Decimal_Number`, `gc=P` …), and `Alphabetic`, `Uppercase`, `Lowercase`, `White_Space`, `ASCII`, `Any`, `Assigned`;
    /// it does not support scripts and other properties. Named groups may also be written as in other dialects, `(?P<name>…)`.
    ///
    /// # Errors
    /// [`PatternError`] with the place and what is wrong there. Also for features of other dialects that are not supported here
    /// (back references, inline flags, atomic groups), and for repetitions that expand to more than ten thousand steps.
    pub fn new(source: &str) -> Result<Self, PatternError> {
        let node = parse::parse(source)?;
        let program = Program::of(&node).ok_or_else(|| PatternError {
            place: 0,
            problem: "unfolds to more steps than a pattern may have; shorten its repetitions"
                .to_owned(),
        })?;
        Ok(Self {
            source: source.to_owned(),
            program,
        })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether any part of the text matches (JSON Schema's `pattern`). A text for which this would take more than ten million
    /// steps does not match.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        let mut steps = STEPS;
        self.is_match_within(text, &mut steps) == Some(true)
    }

    /// The same, limited to and deducted from this number of steps; none if they do not suffice.
    pub(crate) fn is_match_within(&self, text: &str, steps: &mut u64) -> Option<bool> {
        let search = Search::new(text);
        let most = STEPS.min(*steps);
        search.steps_left.set(most);
        let matches = search.run(&self.program, 0, Start::Anywhere, End::Anywhere);
        let left = search.steps_left.get();
        *steps -= most - left;
        (left > 0).then_some(matches)
    }

    /// Whether the whole text matches (a name against a matcher). Limited like [`is_match`](Self::is_match).
    #[must_use]
    pub fn is_full_match(&self, text: &str) -> bool {
        let search = Search::new(text);
        let end = search.text.len();
        search.run(&self.program, 0, Start::Here, End::At(end))
    }
}

/// Whether a text is a pattern of ECMA-262 (the format `regex`), even if it could not be matched here.
pub(crate) fn is_ecmascript(source: &str) -> bool {
    parse::parse_as_ecmascript(source).is_ok()
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {place}: {problem}", place = place + 1)]
pub struct PatternError {
    /// The index of the character at which the error was found, from 0.
    pub place: usize,
    /// What is wrong, and what would be valid.
    pub problem: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Here,
    Anywhere,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Anywhere,
    At(usize),
}

/// A search in a text.
struct Search {
    text: Vec<char>,
    steps_left: Cell<u64>,
}

/// The program steps that wait for the next character, each once.
struct Threads {
    waiting: Vec<usize>,
    /// For every step, the position (plus one) at which it was last reached.
    reached: Vec<usize>,
}

impl Search {
    fn new(text: &str) -> Self {
        Self {
            text: text.chars().collect(),
            steps_left: Cell::new(STEPS),
        }
    }

    fn run(&self, program: &Program, from: usize, start: Start, end: End) -> bool {
        // Starting takes time proportional to the length of the program.
        let left = self.steps_left.get();
        self.steps_left
            .set(left.saturating_sub(program.steps.len() as u64));
        let mut now = Threads::new(program);
        let mut next = Threads::new(program);
        let mut at = from;
        loop {
            let begins = at == from || start == Start::Anywhere;
            if begins && self.follow(program, 0, at, end, &mut now) {
                return true;
            }
            let past_end = matches!(end, End::At(last) if at >= last);
            let Some(c) = self.text.get(at).filter(|_| !past_end) else {
                return false;
            };
            at += 1;
            let mut matched = false;
            for step in now.waiting.drain(..) {
                let Step::One(set) = &program.steps[step] else {
                    continue;
                };
                if set.contains(*c) && self.follow(program, step + 1, at, end, &mut next) {
                    matched = true;
                    break;
                }
            }
            if matched {
                return true;
            }
            core::mem::swap(&mut now, &mut next);
            if now.waiting.is_empty() && start == Start::Here {
                return false;
            }
        }
    }

    /// Follows all paths from a step that consume no character; returns whether one of them is a match.
    fn follow(
        &self,
        program: &Program,
        step: usize,
        at: usize,
        end: End,
        threads: &mut Threads,
    ) -> bool {
        let mut ways = alloc::vec![step];
        while let Some(step) = ways.pop() {
            if core::mem::replace(&mut threads.reached[step], at + 1) == at + 1 {
                continue;
            }
            let left = self.steps_left.get();
            if left == 0 {
                return false;
            }
            self.steps_left.set(left - 1);
            match &program.steps[step] {
                Step::One(_) => threads.waiting.push(step),
                Step::Jump(to) => ways.push(*to),
                Step::Split(a, b) => ways.extend([*a, *b]),
                Step::Begin if at == 0 => ways.push(step + 1),
                Step::End if at == self.text.len() => ways.push(step + 1),
                Step::Boundary { inside } if self.is_boundary(at) != *inside => ways.push(step + 1),
                Step::Look {
                    ahead,
                    negative,
                    program: inner,
                } => {
                    let found = if *ahead {
                        self.run(inner, at, Start::Here, End::Anywhere)
                    } else {
                        self.run(inner, 0, Start::Anywhere, End::At(at))
                    };
                    if found != *negative {
                        ways.push(step + 1);
                    }
                }
                Step::Match if end == End::Anywhere || end == End::At(at) => return true,
                Step::Begin | Step::End | Step::Boundary { .. } | Step::Match => {}
            }
        }
        false
    }

    fn is_boundary(&self, at: usize) -> bool {
        let word = |at: Option<usize>| {
            at.and_then(|at| self.text.get(at))
                .is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_')
        };
        word(at.checked_sub(1)) != word(Some(at))
    }
}

impl Threads {
    fn new(program: &Program) -> Self {
        Self {
            waiting: Vec::new(),
            reached: alloc::vec![0; program.steps.len()],
        }
    }
}
