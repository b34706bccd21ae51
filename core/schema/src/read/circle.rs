//! Circular references.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::reference::REFERENCES;
use crate::{
    SchemaError,
    named::Named,
    value::{Object, Value},
};

/// Keywords whose schemas apply to the same value as the schema that contains them.
const IN_PLACE: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE_SINGLE: [&str; 4] = ["if", "then", "else", "not"];

/// Refuses a reference that leads back to itself without descending to another part of the value. The references of the schemas
/// are already pointers.
pub(super) fn refuse(root: &Value, schemas: &Named<()>) -> Result<(), SchemaError> {
    /// Whether a schema is being followed.
    enum Way {
        UnderWay,
        Settled,
    }
    let mut followed: Named<Way> = Named::default();
    for (start, ()) in schemas.iter() {
        // Depth first; `None` marks that everything below the schema under it is settled.
        let mut path: Vec<String> = Vec::new();
        let mut left: Vec<Option<String>> = alloc::vec![Some(start.to_owned())];
        while let Some(next) = left.pop() {
            let Some(pointer) = next else {
                if let Some(way) = path.pop().and_then(|done| followed.get_mut(&done)) {
                    *way = Way::Settled;
                }
                continue;
            };
            match followed.get(&pointer) {
                Some(Way::UnderWay) => {
                    let problem = "refers to itself without end; a reference must go through a field or an item";
                    return Err(SchemaError::new(&pointer, problem));
                }
                Some(Way::Settled) => continue,
                None => {}
            }
            let Some(fields) = root.pointer(&pointer).and_then(Value::as_object) else {
                continue;
            };
            path.push(pointer.clone());
            followed.insert(pointer.clone(), Way::UnderWay);
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
