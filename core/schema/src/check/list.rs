//! Arrays and their items.

use alloc::{format, vec::Vec};

use super::{Checker, Subject, seen::Seen};
use crate::{
    fault::{Found, Kind, Place},
    value::{Object, Value, short},
};

impl<'s> Checker<'s> {
    pub(super) fn check_items<'v>(
        &self,
        schema: &'s Object,
        items: &'v [Value],
        subject: Subject<'v, '_>,
        seen: &mut Seen,
        found: &mut Found,
    ) {
        let as_list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        // Up to draft-07 a list of `items` had the meaning of `prefixItems`, and `additionalItems` applied to the rest.
        let (first, rest) = match as_list("items") {
            Some(first) => (Some(first), schema.get("additionalItems")),
            None => (as_list("prefixItems"), schema.get("items")),
        };
        let first = first.unwrap_or_default();
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
        if schema.get("uniqueItems") == Some(&Value::Bool(true))
            && let Some(again) = repetition(items)
        {
            let problem = format!("must not hold an item twice; item {again} is a repetition");
            found.add(subject.at, Kind::Other, problem);
        }
        if let Some(wanted) = schema.get("contains") {
            self.check_contains(schema, wanted, items, subject, seen, found);
        }
    }

    fn check_contains<'v>(
        &self,
        schema: &Object,
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
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_count);
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
}

/// The index of the first item that is equal to an earlier one.
fn repetition(items: &[Value]) -> Option<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_unstable_by(|a, b| items[*a].cmp(&items[*b]).then(a.cmp(b)));
    order
        .windows(2)
        .filter(|pair| items[pair[0]] == items[pair[1]])
        .map(|pair| pair[1])
        .min()
}
