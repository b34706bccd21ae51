//! Validates a value against a schema.

mod assertion;
mod combination;
mod content;
mod list;
mod object;
mod seen;
mod unevaluated;

use alloc::{borrow::ToOwned, format};
use core::cell::Cell;

use self::{
    assertion::{check_number, check_size, check_type, check_values},
    content::check_content,
    seen::Seen,
};
use crate::{
    Draft, Schema, SchemaFaults,
    fault::{Found, Kind, Place},
    format,
    value::{Object, Value},
};

/// The maximum nesting depth of a check; no real value needs more.
const DEPTH: u32 = 128;
/// The maximum number of schema applications. A schema may combine itself in ever more ways; no real value needs so many.
const STEPS: u32 = 200_000;
/// The maximum work within them: comparisons with the lists of a schema, and steps of patterns.
const WORK: u64 = 20_000_000;
/// How many elements of a long list are named.
const NAMED: usize = 20;

pub(crate) fn check(schema: &Schema, value: &Value) -> Result<(), SchemaFaults> {
    let checker = Checker {
        schema,
        steps: Cell::new(STEPS),
        work: Cell::new(WORK),
        is_cut: Cell::new(false),
    };
    let mut found = Found::default();
    checker.check(&schema.root, value, &Place::Root, DEPTH, &mut found);
    // What was not checked may have been below a `not`.
    if found.is_empty() && checker.is_cut.get() {
        found.add(&Place::Root, Kind::Other, TOO_MUCH.to_owned());
    }
    found.into_result()
}

/// The problem reported for a value that was not checked completely.
const TOO_MUCH: &str = "is nested too deep, or fits its schema in too many ways";

struct Checker<'s> {
    schema: &'s Schema,
    /// The remaining schema applications.
    steps: Cell<u32>,
    /// The remaining work.
    work: Cell<u64>,
    /// Whether something was not checked completely.
    is_cut: Cell<bool>,
}

/// The value that is checked, and its place.
#[derive(Clone, Copy)]
struct Subject<'v, 'p> {
    value: &'v Value,
    at: &'p Place<'p>,
    depth: u32,
}

impl<'s> Checker<'s> {
    fn check<'v>(
        &self,
        schema: &'s Value,
        value: &'v Value,
        at: &Place<'_>,
        depth: u32,
        found: &mut Found,
    ) -> Seen {
        let mut seen = Seen::default();
        let Some(fields) = schema.as_object() else {
            if schema == &Value::Bool(false) {
                found.add(at, Kind::Other, "is not allowed".to_owned());
            }
            return seen;
        };
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        self.spend_on_lists(fields, value);
        if depth == 0 || left == 0 || self.work.get() == 0 {
            self.cut(at, found);
            return seen;
        }
        let subject = Subject {
            value,
            at,
            depth: depth - 1,
        };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let target = fields.get(keyword).and_then(Value::as_str);
            if let Some(target) = target.and_then(|pointer| self.schema.root.pointer(pointer)) {
                seen.add(self.check(target, value, at, depth - 1, found));
                if keyword == "$ref" && self.schema.draft == Draft::Draft7 {
                    return seen;
                }
            }
        }
        check_type(fields, subject, found);
        check_values(fields, subject, found);
        check_size(fields, subject, found);
        match value {
            Value::Number(_) => check_number(fields, subject, found),
            Value::String(text) => self.check_text(fields, text, subject, found),
            Value::Array(items) => self.check_items(fields, items, subject, &mut seen, found),
            Value::Object(object) => {
                self.check_object(fields, object, subject, &mut seen, found);
                self.check_dependencies(fields, object, subject, &mut seen, found);
            }
            Value::Null | Value::Bool(_) => {}
        }
        self.check_combinations(fields, subject, &mut seen, found);
        self.check_condition(fields, subject, &mut seen, found);
        if self.schema.has_unevaluated {
            self.check_unevaluated(fields, subject, &mut seen, found);
        }
        seen
    }

    /// Stops checking this part.
    fn cut(&self, at: &Place<'_>, found: &mut Found) {
        self.is_cut.set(true);
        found.add(at, Kind::Other, TOO_MUCH.to_owned());
    }

    /// Counts the work of comparing a value with the lists of a schema.
    fn spend_on_lists(&self, schema: &Object, value: &Value) {
        let list = |name: &str| {
            schema
                .get(name)
                .and_then(Value::as_array)
                .map_or(0, <[Value]>::len)
        };
        // A number is parsed again for each comparison.
        let digits = value.as_number().map_or(0, |n| n.as_str().len() / 16);
        let work = list("required") + (4 + digits) * list("enum") + digits;
        self.spend(work as u64);
    }

    fn spend(&self, work: u64) {
        self.work.set(self.work.get().saturating_sub(work));
    }

    /// Checks the same value against another schema.
    fn again<'v>(&self, schema: &'s Value, subject: Subject<'v, '_>, found: &mut Found) -> Seen {
        self.check(schema, subject.value, subject.at, subject.depth, found)
    }

    fn try_schema<'v>(&self, schema: &'s Value, subject: Subject<'v, '_>) -> Result<Seen, Found> {
        let mut found = Found::default();
        let seen = self.again(schema, subject, &mut found);
        if found.is_empty() {
            Ok(seen)
        } else {
            Err(found)
        }
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        // Every pattern of the schema was compiled when the schema was read.
        if self.work.get() == 0 {
            self.is_cut.set(true);
            return false;
        }
        let pattern = self.schema.patterns.get(pattern);
        // Every match has a base cost.
        self.spend(20 + text.len() as u64);
        let mut left = self.work.get();
        let matches = pattern.and_then(|pattern| pattern.is_match_within(text, &mut left));
        self.work.set(left);
        if matches.is_none() {
            self.is_cut.set(true);
        }
        matches == Some(true)
    }

    fn check_text(&self, schema: &Object, text: &str, subject: Subject<'_, '_>, found: &mut Found) {
        let keyword = |name: &str| schema.get(name).and_then(Value::as_str);
        if let Some(pattern) = keyword("pattern")
            && !self.matches(pattern, text)
        {
            let problem = format!("must match the pattern {pattern}");
            found.add(subject.at, Kind::Other, problem);
        }
        let format = keyword("format").filter(|_| self.schema.checks_formats);
        if let Some(looks) = format.and_then(|format| format::misfit(format, text)) {
            found.add(subject.at, Kind::Other, format!("must be {looks}"));
        }
        if self.schema.checks_formats && self.schema.draft == Draft::Draft7 {
            check_content(schema, text, subject, found);
        }
    }
}
