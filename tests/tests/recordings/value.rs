//! The values of frames, with a mark in the place of what is new in every run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    shape::{self, Limits},
    told::Told,
};

/// The values of a frame by their paths. Where a list has several elements of one sort, the later ones have a number:
/// `message.content[text 1].text`.
pub(crate) type Values = BTreeMap<String, Value>;

/// Text that only people and models read.
const WORDS: &str = "<words>";
/// A moment.
const TIME: &str = "<time>";
/// How long something took.
const DURATION: &str = "<duration>";
/// What something has cost, by the prices that an engine knows.
const COST: &str = "<cost>";
/// A number that the system has given, or that counts what one side alone has asked.
const COUNT: &str = "<count>";

/// Reads the values of frames.
pub(crate) struct Reader<'a> {
    pub(crate) told: &'a Told,
    pub(crate) limits: &'a Limits,
}

impl Reader<'_> {
    pub(crate) fn values(&self, label: &str, frame: &Value) -> Values {
        let mut values = Values::new();
        self.read(label, "", frame, &mut values);
        values
    }

    fn read(&self, label: &str, key: &str, value: &Value, values: &mut Values) {
        let path = path(key);
        let below = |name: &str| match key {
            "" => name.to_owned(),
            key => format!("{key}.{name}"),
        };
        match value {
            _ if is_cut(value) => {}
            _ if self.limits.is_carried(label, &path) => {
                values.insert(key.to_owned(), self.normal(name(&path), value));
            }
            Value::Object(fields) if self.limits.is_keyed(label, &path) => {
                for (number, value) in fields.values().enumerate() {
                    self.read(label, &below(&numbered("*", number)), value, values);
                }
            }
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    self.read(label, &below(name), value, values);
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                values.insert(key.to_owned(), format!("<{} of them>", items.len()).into());
                let mut met: BTreeMap<&str, usize> = BTreeMap::new();
                for item in items {
                    let sort = sort(item);
                    let number = met.entry(sort).or_default();
                    let key = format!("{key}[{}]", numbered(sort, *number));
                    *number += 1;
                    self.read(label, &key, item, values);
                }
            }
            _ => {
                values.insert(key.to_owned(), self.normal(name(&path), value));
            }
        }
    }

    /// A value with marks; `name` is the field that it is in.
    fn normal(&self, name: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => self.normal_text(name, text).into(),
            Value::Number(_) => mark_of_number(name).map_or_else(|| value.clone(), Value::from),
            Value::Array(items) => items.iter().map(|item| self.normal(name, item)).collect(),
            Value::Object(fields) => {
                let normal =
                    |(name, value): (&String, &Value)| (name.clone(), self.normal(name, value));
                Value::Object(fields.iter().map(normal).collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn normal_text(&self, name: &str, text: &str) -> String {
        if let Some(told) = self.told.get(text) {
            told.to_owned()
        } else if text.contains(char::is_whitespace) {
            WORDS.to_owned()
        } else if has_uuid(text) || is_id(name) && is_made(text) {
            id(text)
        } else if is_time(text) {
            TIME.to_owned()
        } else {
            text.to_owned()
        }
    }
}

fn id(text: &str) -> String {
    format!("<id {text}>")
}

fn mark_of_number(name: &str) -> Option<&'static str> {
    let ends_with = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends_with(&["_ms", "Ms", "duration", "Duration", "_seconds", "Seconds"]) {
        Some(DURATION)
    } else if ends_with(&["timestamp", "Time", "_time", "_at", "At"]) {
        Some(TIME)
    } else if ends_with(&["cost_usd", "costUSD"]) {
        Some(COST)
    } else if name == "pid" || name == "id" {
        Some(COUNT)
    } else {
        None
    }
}

fn is_id(name: &str) -> bool {
    let ends = ["_id", "Id", "_ids", "Ids", "uuid", "Uuid", "uuids"];
    name == "id" || ends.iter().any(|end| name.ends_with(end))
}

/// Whether a machine has made up a name: those of people are words.
fn is_made(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether there is a UUID in a text. The path of a file that is named after one is new in every run too.
fn has_uuid(text: &str) -> bool {
    const SHAPE: &[u8] = b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    let fits = |window: &[u8]| {
        (window.iter().zip(SHAPE)).all(|(byte, shape)| match shape {
            b'x' => byte.is_ascii_hexdigit(),
            sign => byte == sign,
        })
    };
    text.as_bytes().windows(SHAPE.len()).any(fits)
}

/// `2026-11-21T21:02:52.599Z`
fn is_time(text: &str) -> bool {
    let shape = text
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    let shape: Vec<u8> = shape.collect();
    shape.starts_with(b"0000-00-00T00:00:00")
}

fn numbered(sort: &str, number: usize) -> String {
    match number {
        0 => sort.to_owned(),
        number => format!("{sort} {number}"),
    }
}

/// The path without the numbers of elements.
pub(crate) fn path(key: &str) -> String {
    let mut path = String::new();
    let mut rest = key;
    while let Some((head, tail)) = rest.split_once(' ') {
        path.push_str(head);
        rest = tail.trim_start_matches(|sign: char| sign.is_ascii_digit());
    }
    path + rest
}

/// The last name of a path.
fn name(path: &str) -> &str {
    let name = path.rsplit('.').next().unwrap_or_default();
    name.split('[').next().unwrap_or_default()
}

/// Whether it holds a list in which the recorder left something out.
fn is_cut(value: &Value) -> bool {
    let items = value.as_array();
    let mut items = items.into_iter().flatten();
    items.any(|item| shape::is_cut(item) || is_cut(item))
}

fn sort(item: &Value) -> &str {
    item["type"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_new_in_every_run_has_a_mark_and_the_rest_is_as_it_is() {
        let reader = Reader {
            told: &Told::default(),
            limits: &Limits::default(),
        };
        let frame = json!({
            "state": "idle",
            "session_id": "s1",
            "path": "/a/350d2d25-b45a-45d6-bed5-5d9f1f70bedc.jsonl",
            "timestamp": "2026-11-21T21:02:52.599Z",
            "cost": {"total_cost_usd": 0.5, "duration_ms": 7, "turns": 2},
            "text": "Good morning.",
            "list": ["a", "b"],
            "blocks": [{"type": "x", "y": 1}, {"type": "x", "y": 2}],
        });
        let expected = json!({
            "state": "idle",
            "session_id": "<id s1>",
            "path": "<id /a/350d2d25-b45a-45d6-bed5-5d9f1f70bedc.jsonl>",
            "timestamp": TIME,
            "cost.total_cost_usd": COST,
            "cost.duration_ms": DURATION,
            "cost.turns": 2,
            "text": WORDS,
            "list": ["a", "b"],
            "blocks": "<2 of them>",
            "blocks[x].type": "x",
            "blocks[x].y": 1,
            "blocks[x 1].type": "x",
            "blocks[x 1].y": 2,
        });
        assert_eq!(json!(reader.values("a", &frame)), expected);
        assert_eq!(path("blocks[x 1].y"), "blocks[x].y");
    }
}
