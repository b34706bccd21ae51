//! Checks parts of a value that no other keyword evaluated.

use alloc::vec::Vec;

use super::{Checker, Subject, object::refuse_fields, seen::Seen};
use crate::{
    fault::{Found, Place},
    value::{Object, Value},
};

impl<'s> Checker<'s> {
    pub(super) fn check_unevaluated<'v>(
        &self,
        schema: &'s Object,
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        if let (Some(rest), Value::Object(object)) =
            (schema.get("unevaluatedProperties"), subject.value)
        {
            let mut surplus = Vec::new();
            for (name, field) in object.iter() {
                if seen.fields.contains(name) {
                    continue;
                }
                seen.note(name);
                if rest == &Value::Bool(false) {
                    surplus.push(name);
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

    pub(super) fn note_field(&self, seen: &mut Seen, name: &str) {
        if self.schema.has_unevaluated {
            seen.note(name);
        }
    }

    pub(super) fn note_item(&self, seen: &mut Seen, index: usize) {
        if self.schema.has_unevaluated {
            seen.items.insert(index);
        }
    }
}
