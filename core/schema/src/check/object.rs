//! Objects: properties, and dependencies between them.

use alloc::{format, string::String, vec::Vec};

use super::{Checker, NAMED, Subject, seen::Seen};
use crate::{
    fault::{Found, Kind, Place},
    value::{Object, Value},
};

impl<'s> Checker<'s> {
    pub(super) fn check_object<'v>(
        &self,
        schema: &'s Object,
        object: &'v Object,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let required = schema
            .get("required")
            .map(Value::texts)
            .into_iter()
            .flatten();
        let missing: Vec<&str> = required
            .filter(|name| !object.contains(name))
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
        for (name, field) in object.iter() {
            if self.work.get() == 0 {
                // Otherwise reported when the next value is checked, but there may be none.
                self.cut(subject.at, found);
                break;
            }
            let place = Place::Field(subject.at, name);
            if let Some(names) = schema.get("propertyNames") {
                self.check_name(names, name, subject, found);
            }
            let own = properties.and_then(|properties| properties.get(name));
            let matching = patterns
                .into_iter()
                .flat_map(Object::iter)
                .filter(|(pattern, _)| self.matches(pattern, name))
                .map(|(_, schema)| schema);
            let mut is_known = false;
            for schema in own.into_iter().chain(matching) {
                is_known = true;
                self.check(schema, field, &place, subject.depth, found);
            }
            match additional {
                Some(Value::Bool(false)) if !is_known => surplus.push(name),
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
                .flat_map(Object::iter)
                .map(|(name, _)| name);
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

    pub(super) fn check_dependencies<'v>(
        &self,
        schema: &'s Object,
        object: &Object,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let entries = schema.get(keyword).and_then(Value::as_object);
            for (name, then) in entries.into_iter().flat_map(Object::iter) {
                if !object.contains(name) {
                    continue;
                }
                if then.as_array().is_none() {
                    seen.add(self.again(then, subject, found));
                    continue;
                }
                let missing: Vec<&str> = then.texts().filter(|n| !object.contains(n)).collect();
                if !missing.is_empty() {
                    let problem =
                        format!("has the field `{name}` and so needs {}", listed(&missing));
                    found.add(subject.at, Kind::Other, problem);
                }
            }
        }
    }
}

pub(super) fn refuse_fields<'a>(
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

fn listed(names: &[&str]) -> String {
    let named: Vec<String> = names.iter().take(NAMED).map(|n| format!("`{n}`")).collect();
    let rest = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{rest}", named.join(", "))
}
