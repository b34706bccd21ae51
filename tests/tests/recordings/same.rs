//! Whether values are the same in two runs.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{seen::Lanes, value::Values};

/// An id that is in a recording only once.
const ONCE: &str = "<id>";

/// Which id of a run stands for which id of the recording.
#[derive(Default)]
pub(crate) struct Ids {
    of_recorded: BTreeMap<String, String>,
    of_came: BTreeMap<String, String>,
}

impl Ids {
    /// Whether a value is what was recorded. Ids are free, but what was one id is one, and what were two are two.
    pub(crate) fn are_same(&mut self, recorded: &Value, came: &Value) -> bool {
        match (recorded, came) {
            (Value::String(recorded), Value::String(came)) if is_id(recorded) && is_id(came) => {
                self.are_one(recorded, came)
            }
            (Value::Array(recorded), Value::Array(came)) => {
                let both = recorded.iter().zip(came);
                recorded.len() == came.len()
                    && both.fold(true, |same, (recorded, came)| {
                        self.are_same(recorded, came) && same
                    })
            }
            (Value::Object(recorded), Value::Object(came)) => {
                recorded.len() == came.len()
                    && recorded.iter().fold(true, |same, (name, value)| {
                        let came = came.get(name);
                        came.is_some_and(|came| self.are_same(value, came)) && same
                    })
            }
            _ => recorded == came,
        }
    }

    fn are_one(&mut self, recorded: &str, came: &str) -> bool {
        match (self.of_recorded.get(recorded), self.of_came.get(came)) {
            (None, None) => {
                if recorded != ONCE {
                    self.of_recorded
                        .insert(recorded.to_owned(), came.to_owned());
                }
                self.of_came.insert(came.to_owned(), recorded.to_owned());
                true
            }
            (Some(partner), _) => partner == came,
            (None, Some(_)) => false,
        }
    }
}

/// Names the ids of a recording by the order in which they appear: what they were is nobody's business.
pub(crate) fn name_ids(lanes: &mut Lanes) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for_ids(lanes, &mut |id| *times.entry(id.clone()).or_default() += 1);
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for_ids(lanes, &mut |id| {
        let next = names.len() + 1;
        *id = match times.get(id) {
            Some(1) => ONCE.to_owned(),
            _ => (names.entry(id.clone()))
                .or_insert_with(|| format!("<id {next}>"))
                .clone(),
        };
    });
}

fn for_ids(lanes: &mut Lanes, visit: &mut impl FnMut(&mut String)) {
    let frames = lanes.values_mut().flatten();
    for value in frames.flat_map(|frame| frame.values.values_mut()) {
        for_ids_of(value, visit);
    }
}

fn for_ids_of(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) if is_id(text) => visit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| for_ids_of(item, visit)),
        Value::Object(fields) => fields.values_mut().for_each(|item| for_ids_of(item, visit)),
        _ => {}
    }
}

fn is_id(text: &str) -> bool {
    text.starts_with("<id") && text.ends_with('>')
}

/// The values of a frame and those that were recorded, where both are.
pub(crate) fn both<'a>(
    recorded: &'a Values,
    came: &'a Values,
) -> impl Iterator<Item = (&'a str, &'a Value, &'a Value)> {
    let both = recorded
        .iter()
        .filter_map(|(key, value)| Some((key.as_str(), value, came.get(key)?)));
    let lengths = both.clone().filter(|(_, recorded, came)| recorded != came);
    let other_lists: Vec<String> = lengths.map(|(key, ..)| format!("{key}[")).collect();
    // Lists of another length are one difference: which of their elements belong together is not known.
    both.filter(move |(key, ..)| {
        !other_lists
            .iter()
            .any(|list| key.starts_with(list.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_free_but_one_stays_one_and_two_stay_two() {
        let mut ids = Ids::default();
        let mut are_same =
            |recorded: &str, came: &str| ids.are_same(&recorded.into(), &came.into());
        assert!(are_same("<id 1>", "<id x>") && are_same("<id 1>", "<id x>"));
        assert!(!are_same("<id 1>", "<id y>"), "one has become two");
        assert!(!are_same("<id 2>", "<id x>"), "two have become one");
        assert!(are_same(ONCE, "<id z>") && are_same(ONCE, "<id w>"));
        assert!(
            !are_same(ONCE, "<id z>"),
            "one that was there once is there again"
        );
        assert!(!are_same("<id 3>", "idle"), "no id any more");
    }

    #[test]
    fn values_are_looked_into() {
        let mut ids = Ids::default();
        assert!(ids.are_same(&json!({"a": [1, "<id 1>"]}), &json!({"a": [1, "<id x>"]})));
        assert!(!ids.are_same(&json!({"a": [2]}), &json!({"a": [1]})));
        assert!(!ids.are_same(&json!({"a": 1}), &json!({"b": 1})));
    }
}
