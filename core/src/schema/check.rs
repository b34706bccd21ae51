//! A value against a schema that has been read.

use alloc::{
    borrow::ToOwned,
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::Cell;

use serde_json::{Map, Value};

use super::{
    Schema, SchemaFaults,
    assertion::{check_number, check_size, check_type, check_values},
    fault::{Found, Kind, Place},
    format,
    read::as_count,
    value::{canonical, short},
};

/// No real value is nested deeper in its schema than this.
const DEPTH: u32 = 128;
/// A schema may try ever more combinations of itself; no real value needs so many comparisons.
const STEPS: u32 = 200_000;
/// What stands in lists of the schema is compared with what stands in lists of the value; and steps of patterns.
const WORK: u64 = 20_000_000;
/// Of a long list so many are named.
pub(super) const NAMED: usize = 20;

pub(super) fn check(schema: &Schema, value: &Value) -> Result<(), SchemaFaults> {
    let checker = Checker {
        schema,
        steps: Cell::new(STEPS),
        work: Cell::new(WORK),
    };
    let mut found = Found::default();
    checker.check(&schema.root, value, &Place::Root, DEPTH, &mut found);
    found.into_result()
}

/// What is said of a value that is not checked to its end.
const TOO_MUCH: &str = "is nested too deep, or fits its schema in too many ways";

struct Checker<'s> {
    schema: &'s Schema,
    /// Comparisons that are left.
    steps: Cell<u32>,
    /// Work within comparisons that is left.
    work: Cell<u64>,
}

/// What a schema had something to say about, for `unevaluatedProperties` and `unevaluatedItems`.
#[derive(Default)]
struct Seen {
    fields: BTreeSet<String>,
    items: Items,
}

/// Places in a list: for each, whether it is one of them.
#[derive(Default)]
struct Items(Vec<bool>);

impl Items {
    /// Whether it was none of them.
    fn insert(&mut self, index: usize) -> bool {
        if self.0.len() <= index {
            self.0.resize(index + 1, false);
        }
        !core::mem::replace(&mut self.0[index], true)
    }

    fn extend(&mut self, other: Self) {
        for (index, seen) in other.0.into_iter().enumerate() {
            if seen {
                self.insert(index);
            }
        }
    }
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.fields.extend(other.fields);
        self.items.extend(other.items);
    }
}

/// What is being checked, and where.
#[derive(Clone, Copy)]
pub(super) struct Subject<'v, 'p> {
    pub(super) value: &'v Value,
    pub(super) at: &'p Place<'p>,
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
        self.spend_on_lists(fields);
        if depth == 0 || left == 0 || self.work.get() == 0 {
            found.add(at, Kind::Other, TOO_MUCH.to_owned());
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
                if self.schema.reference_stands_alone {
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

    /// What the lists of a schema cost each value that is held against them.
    fn spend_on_lists(&self, schema: &Map<String, Value>) {
        let list = |name: &str| {
            schema
                .get(name)
                .and_then(Value::as_array)
                .map_or(0, Vec::len)
        };
        // Values that may be equal are written out to be compared.
        let work = list("required") + 4 * list("enum");
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
        // Every pattern of the schema was made ready when it was read.
        if self.work.get() == 0 {
            return false;
        }
        let pattern = self.schema.patterns.get(pattern);
        // A question by itself costs something, too.
        self.spend(20 + text.len() as u64);
        let mut left = self.work.get();
        let matches = pattern.is_some_and(|pattern| pattern.is_match_within(text, &mut left));
        self.work.set(left);
        matches
    }

    fn check_text(
        &self,
        schema: &Map<String, Value>,
        text: &str,
        subject: Subject<'_, '_>,
        found: &mut Found,
    ) {
        let keyword = |name: &str| schema.get(name).and_then(Value::as_str);
        if let Some(pattern) = keyword("pattern")
            && !self.matches(pattern, text)
        {
            let problem = format!("must match the pattern {pattern}");
            found.add(subject.at, Kind::Other, problem);
        }
        if let Some(looks) = keyword("format").and_then(|format| format::misfit(format, text)) {
            found.add(subject.at, Kind::Other, format!("must be {looks}"));
        }
    }

    fn check_object<'v>(
        &self,
        schema: &'s Map<String, Value>,
        object: &'v Map<String, Value>,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let required = schema.get("required").map(texts).into_iter().flatten();
        let missing: Vec<&str> = required
            .filter(|name| !object.contains_key(*name))
            .take(NAMED + 1)
            .collect();
        if !missing.is_empty() {
            let s = if missing.len() > 1 { "s" } else { "" };
            let problem = format!("lacks the required field{s} {}", listed(&missing));
            found.add(subject.at, Kind::Other, problem);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let additional = schema.get("additionalProperties");
        let mut surplus = Vec::new();
        for (name, field) in object {
            if self.work.get() == 0 {
                // Said where the next value is checked; here there may be none.
                found.add(subject.at, Kind::Other, TOO_MUCH.to_owned());
                break;
            }
            let place = Place::Field(subject.at, name);
            if let Some(names) = schema.get("propertyNames") {
                self.check_name(names, name, subject, found);
            }
            let own = properties.and_then(|properties| properties.get(name));
            let matching = patterns
                .into_iter()
                .flatten()
                .filter(|(pattern, _)| self.matches(pattern, name))
                .map(|(_, schema)| schema);
            let mut is_known = false;
            for schema in own.into_iter().chain(matching) {
                is_known = true;
                self.check(schema, field, &place, subject.depth, found);
            }
            match additional {
                Some(Value::Bool(false)) if !is_known => surplus.push(name.as_str()),
                Some(schema) if !is_known => {
                    self.check(schema, field, &place, subject.depth, found);
                }
                _ => {}
            }
            if is_known || additional.is_some() {
                self.note_field(seen, name);
            }
        }
        if !surplus.is_empty() {
            let known = properties
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str());
            refuse_fields(subject.at, &surplus, known, found);
        }
    }

    fn check_name(
        &self,
        schema: &'s Value,
        name: &str,
        subject: Subject<'_, '_>,
        found: &mut Found,
    ) {
        let value = Value::from(name);
        let named = Subject {
            value: &value,
            ..subject
        };
        let faults = self.try_schema(schema, named).err();
        if let Some(faults) = faults {
            for problem in faults.problems() {
                let problem = format!("has the field `{name}`, whose name {problem}");
                found.add(subject.at, Kind::Other, problem);
            }
        }
    }

    fn check_dependencies<'v>(
        &self,
        schema: &'s Map<String, Value>,
        object: &Map<String, Value>,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let entries = schema.get(keyword).and_then(Value::as_object);
            for (name, then) in entries.into_iter().flatten() {
                if !object.contains_key(name) {
                    continue;
                }
                if !then.is_array() {
                    seen.add(self.again(then, subject, found));
                    continue;
                }
                let missing: Vec<&str> = texts(then).filter(|n| !object.contains_key(*n)).collect();
                if !missing.is_empty() {
                    let problem =
                        format!("has the field `{name}` and so needs {}", listed(&missing));
                    found.add(subject.at, Kind::Other, problem);
                }
            }
        }
    }

    fn check_items<'v>(
        &self,
        schema: &'s Map<String, Value>,
        items: &'v [Value],
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let as_list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        // Until draft-07 a list of `items` was what `prefixItems` is now, and `additionalItems` the rest.
        let (first, rest) = match as_list("items") {
            Some(first) => (Some(first), schema.get("additionalItems")),
            None => (as_list("prefixItems"), schema.get("items")),
        };
        let first = first.map_or(&[][..], Vec::as_slice);
        for (i, item) in items.iter().enumerate() {
            let Some(schema) = first.get(i).or(rest) else {
                break;
            };
            if schema == &Value::Bool(false) {
                let problem = format!("must have at most {i} items");
                found.add(subject.at, Kind::Other, problem);
                break;
            }
            let place = Place::Item(subject.at, i);
            self.check(schema, item, &place, subject.depth, found);
            self.note_item(seen, i);
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut known = BTreeSet::new();
            if let Some(again) = items.iter().position(|item| !known.insert(canonical(item))) {
                let problem = format!("must not hold an item twice; item {again} is a repetition");
                found.add(subject.at, Kind::Other, problem);
            }
        }
        if let Some(wanted) = schema.get("contains") {
            self.check_contains(schema, wanted, items, subject, seen, found);
        }
    }

    fn check_contains<'v>(
        &self,
        schema: &Map<String, Value>,
        wanted: &'s Value,
        items: &'v [Value],
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let mut count = 0;
        for (i, value) in items.iter().enumerate() {
            let at = &Place::Item(subject.at, i);
            let item = Subject {
                value,
                at,
                depth: subject.depth,
            };
            if self.try_schema(wanted, item).is_ok() {
                count += 1;
                self.note_item(seen, i);
            }
        }
        let bound = |keyword: &str| schema.get(keyword).and_then(as_count);
        let min = bound("minContains").unwrap_or(1);
        let max = bound("maxContains").unwrap_or(u64::MAX);
        let words = if count < min {
            format!("at least {min}")
        } else if count > max {
            format!("at most {max}")
        } else {
            return;
        };
        let problem = format!("must hold {words} items of the form {}", short(wanted));
        found.add(subject.at, Kind::Other, problem);
    }

    fn check_combinations<'v>(
        &self,
        schema: &'s Map<String, Value>,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            seen.add(self.again(part, subject, found));
        }
        if let Some(forms) = list("anyOf") {
            let mut misfits = Vec::new();
            let mut fits = false;
            for form in forms {
                match self.try_schema(form, subject) {
                    Ok(more) => {
                        seen.add(more);
                        fits = true;
                        // The others matter only to who asks what they looked at.
                        if !self.schema.has_unevaluated {
                            break;
                        }
                    }
                    Err(faults) => misfits.push(faults),
                }
            }
            if !fits {
                found.add_misfits(subject.at, misfits);
            }
        }
        if let Some(forms) = list("oneOf") {
            self.check_one_of(forms, subject, seen, found);
        }
        if let Some(unwanted) = schema.get("not")
            && self.try_schema(unwanted, subject).is_ok()
        {
            let problem = format!("must not be of the form {}", short(unwanted));
            found.add(subject.at, Kind::Other, problem);
        }
    }

    fn check_one_of<'v>(
        &self,
        forms: &'s [Value],
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let mut misfits = Vec::new();
        let mut fitting = Vec::new();
        for (i, form) in forms.iter().enumerate() {
            match self.try_schema(form, subject) {
                Ok(more) => {
                    seen.add(more);
                    fitting.push((i + 1).to_string());
                }
                Err(faults) => misfits.push(faults),
            }
        }
        match fitting.as_slice() {
            [] => found.add_misfits(subject.at, misfits),
            [_] => {}
            several => {
                let problem = format!(
                    "must fit exactly one of the allowed forms, and fits numbers {}",
                    several.join(" and ")
                );
                found.add(subject.at, Kind::Other, problem);
            }
        }
    }

    fn check_condition<'v>(
        &self,
        schema: &'s Map<String, Value>,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let Some(condition) = schema.get("if") else {
            return;
        };
        let then = match self.try_schema(condition, subject) {
            Ok(more) => {
                seen.add(more);
                schema.get("then")
            }
            Err(_) => schema.get("else"),
        };
        if let Some(then) = then {
            seen.add(self.again(then, subject, found));
        }
    }

    fn check_unevaluated<'v>(
        &self,
        schema: &'s Map<String, Value>,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        if let (Some(rest), Value::Object(object)) =
            (schema.get("unevaluatedProperties"), subject.value)
        {
            let mut surplus = Vec::new();
            for (name, field) in object {
                if !seen.fields.insert(name.clone()) {
                    continue;
                }
                if rest == &Value::Bool(false) {
                    surplus.push(name.as_str());
                } else {
                    let place = Place::Field(subject.at, name);
                    self.check(rest, field, &place, subject.depth, found);
                }
            }
            if !surplus.is_empty() {
                refuse_fields(subject.at, &surplus, [].into_iter(), found);
            }
        }
        if let (Some(rest), Value::Array(items)) = (schema.get("unevaluatedItems"), subject.value) {
            for (i, item) in items.iter().enumerate() {
                if seen.items.insert(i) {
                    let place = Place::Item(subject.at, i);
                    self.check(rest, item, &place, subject.depth, found);
                }
            }
        }
    }

    fn note_field(&self, seen: &mut Seen, name: &str) {
        if self.schema.has_unevaluated {
            seen.fields.insert(name.to_owned());
        }
    }

    fn note_item(&self, seen: &mut Seen, index: usize) {
        if self.schema.has_unevaluated {
            seen.items.insert(index);
        }
    }
}

fn refuse_fields<'a>(
    at: &Place<'_>,
    surplus: &[&str],
    known: impl Iterator<Item = &'a str>,
    found: &mut Found,
) {
    let s = if surplus.len() > 1 { "s" } else { "" };
    let mut problem = format!("has no place for the field{s} {}", listed(surplus));
    let known: Vec<&str> = known.take(NAMED + 1).collect();
    if !known.is_empty() {
        problem.push_str(&format!(" (its fields are {})", listed(&known)));
    }
    found.add(at, Kind::Other, problem);
}

/// The texts of a list.
pub(super) fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn listed(names: &[&str]) -> String {
    let named: Vec<String> = names.iter().take(NAMED).map(|n| format!("`{n}`")).collect();
    let rest = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{rest}", named.join(", "))
}
