//! References that never get to another part of the value.

use alloc::{borrow::ToOwned, collections::BTreeSet, format, string::String, vec::Vec};

use super::reference::REFERENCES;
use crate::{
    SchemaError,
    value::{Object, Value},
};

/// Keywords whose schemas are about the very value that the whole is about.
const IN_PLACE: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE_SINGLE: [&str; 4] = ["if", "then", "else", "not"];

/// Refuses a reference that leads back to itself without ever getting to another part of the value. The references of
/// the schemas are pointers already.
pub(super) fn refuse(root: &Value, schemas: &BTreeSet<String>) -> Result<(), SchemaError> {
    let mut settled: BTreeSet<String> = BTreeSet::new();
    for start in schemas {
        // Depth first; `None` marks that all below the one under it is settled.
        let mut path: Vec<String> = Vec::new();
        let mut on_path: BTreeSet<String> = BTreeSet::new();
        let mut left: Vec<Option<String>> = alloc::vec![Some(start.clone())];
        while let Some(next) = left.pop() {
            let Some(pointer) = next else {
                if let Some(done) = path.pop() {
                    on_path.remove(&done);
                    settled.insert(done);
                }
                continue;
            };
            if on_path.contains(&pointer) {
                let problem =
                    "refers to itself without end; a reference must go through a field or an item";
                return Err(SchemaError::new(&pointer, problem));
            }
            if settled.contains(&pointer) {
                continue;
            }
            let Some(fields) = root.pointer(&pointer).and_then(Value::as_object) else {
                continue;
            };
            path.push(pointer.clone());
            on_path.insert(pointer.clone());
            left.push(None);
            left.extend(in_place(fields, &pointer).map(Some));
        }
    }
    Ok(())
}

fn in_place<'a>(fields: &'a Object, pointer: &'a str) -> impl Iterator<Item = String> + 'a {
    let targets = REFERENCES
        .iter()
        .filter_map(|keyword| fields.get(keyword)?.as_str().map(ToOwned::to_owned));
    let parts = IN_PLACE.iter().flat_map(move |keyword| {
        let list = fields.get(keyword).and_then(Value::as_array);
        let count = list.map_or(0, <[Value]>::len);
        (0..count).map(move |i| format!("{pointer}/{keyword}/{i}"))
    });
    let singles = IN_PLACE_SINGLE
        .iter()
        .filter(|keyword| fields.contains(keyword))
        .map(move |keyword| format!("{pointer}/{keyword}"));
    targets.chain(parts).chain(singles)
}
