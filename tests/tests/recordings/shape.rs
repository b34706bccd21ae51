//! Which fields frames have, and of which JSON kinds they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::Value;

use crate::pattern::fits;

/// What is known of the fields of frames, by the frames' names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tables(pub(crate) BTreeMap<String, Node>);

/// A place in a frame.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub(crate) struct Node {
    /// How often it was there. When read from a table: 0 for sometimes, 1 for always.
    times: usize,
    /// How often it was an object. When read from a table: 1.
    objects: usize,
    pub(crate) kinds: BTreeSet<String>,
    pub(crate) fields: BTreeMap<String, Node>,
    /// The elements of a list, by their `type` where they have one.
    items: BTreeMap<String, Node>,
}

/// What is not looked into, as patterns for `frame: path`.
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct Limits {
    /// Contents that the engine only carries.
    pub(crate) carried: Vec<String>,
    /// Objects whose keys are data, not names of fields.
    pub(crate) keyed: Vec<String>,
}

impl Limits {
    pub(crate) fn is_carried(&self, label: &str, path: &str) -> bool {
        listed(&self.carried, label, path)
    }

    pub(crate) fn is_keyed(&self, label: &str, path: &str) -> bool {
        listed(&self.keyed, label, path)
    }
}

fn listed(patterns: &[String], label: &str, path: &str) -> bool {
    let place = format!("{label}: {path}");
    patterns.iter().any(|pattern| fits(pattern, &place))
}

/// What is not as the tables say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Missing,
    Additional,
    OtherKind,
    /// Found by comparing frames: tables know no values.
    OtherValue,
}

impl Tables {
    /// Takes in a frame.
    pub(crate) fn learn(&mut self, label: &str, frame: &Value, limits: &Limits) {
        let node = self.0.entry(label.to_owned()).or_default();
        node.learn(label, "", frame, limits);
        for (label, line) in inner(label, frame) {
            let node = self.0.entry(label.clone()).or_default();
            node.learn(&label, "", line, limits);
        }
    }

    /// What is wrong with a frame. Frames of unknown names are not looked into: that they are there is wrong.
    pub(crate) fn check(
        &self,
        label: &str,
        frame: &Value,
        limits: &Limits,
        mut report: impl FnMut(&str, Fault, &str, String),
    ) {
        let own = std::iter::once((label.to_owned(), frame));
        for (label, frame) in own.chain(inner(label, frame)) {
            if let Some(node) = self.0.get(&label) {
                node.check(&label, "", frame, limits, &mut |fault, path, detail| {
                    report(&label, fault, path, detail);
                });
            }
        }
    }

    /// The fields at the top of a frame that frames of its name do not always have.
    pub(crate) fn optional<'a>(&self, label: &str, frame: &'a Value) -> BTreeSet<&'a str> {
        let known = self.0.get(label);
        (frame.as_object().into_iter().flatten())
            .map(|(name, _)| name.as_str())
            .filter(|name| {
                let field = known.and_then(|node| Some((node, node.fields.get(*name)?)));
                field.is_some_and(|(node, field)| !field.is_always_in(node))
            })
            .collect()
    }

    /// The tables as text.
    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::new();
        for (label, node) in &self.0 {
            let _ = write!(text, "\n[\"{label}\"]\n");
            node.write(&mut text, "");
        }
        text
    }

    /// # Errors
    /// When the text is not what [`Tables::to_toml`] writes.
    pub(crate) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let tables: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(text)?;
        let read = |fields: BTreeMap<String, String>| {
            let mut node = Node {
                times: 1,
                objects: 1,
                kinds: BTreeSet::from(["object".to_owned()]),
                ..Node::default()
            };
            for (path, kinds) in fields {
                node.place(&path, &kinds);
            }
            node
        };
        let tables = tables.into_iter();
        Ok(Self(
            tables
                .map(|(label, fields)| (label, read(fields)))
                .collect(),
        ))
    }
}

/// Lines of a transcript that a frame hands on are looked at like frames.
fn inner<'a>(label: &str, frame: &'a Value) -> Vec<(String, &'a Value)> {
    if label != "transcript_mirror" {
        return Vec::new();
    }
    let entries = frame["entries"].as_array().into_iter().flatten();
    entries
        .map(|entry| {
            let kind = entry["type"].as_str().unwrap_or("?");
            (format!("transcript/{kind}"), entry)
        })
        .collect()
}

impl Node {
    fn is_always_in(&self, parent: &Self) -> bool {
        self.times == parent.objects
    }

    fn learn(&mut self, label: &str, path: &str, value: &Value, limits: &Limits) {
        self.times += 1;
        self.kinds.insert(kind(value).to_owned());
        if limits.is_carried(label, path) {
            return;
        }
        match value {
            Value::Object(fields) if limits.is_keyed(label, path) => {
                for value in fields.values() {
                    let place = below(path, "*");
                    let node = self.items.entry("*".to_owned()).or_default();
                    node.learn(label, &place, value, limits);
                }
            }
            Value::Object(fields) => {
                self.objects += 1;
                for (name, value) in fields {
                    let node = self.fields.entry(name.clone()).or_default();
                    node.learn(label, &below(path, name), value, limits);
                }
            }
            Value::Array(items) => {
                // A recorder that left something out says so.
                for item in items.iter().filter(|item| !is_cut(item)) {
                    let sort = sort(item);
                    let place = format!("{path}[{sort}]");
                    let node = self.items.entry(sort.to_owned()).or_default();
                    node.learn(label, &place, item, limits);
                }
            }
            _ => {}
        }
    }

    fn check(
        &self,
        label: &str,
        path: &str,
        value: &Value,
        limits: &Limits,
        report: &mut impl FnMut(Fault, &str, String),
    ) {
        let found = kind(value);
        if !self.kinds.contains(found) {
            let known: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
            let detail = format!("{found} in place of {}", known.join("|"));
            report(Fault::OtherKind, path, detail);
            return;
        }
        if limits.is_carried(label, path) {
            return;
        }
        match value {
            Value::Object(fields) if limits.is_keyed(label, path) => {
                for value in fields.values() {
                    if let Some(node) = self.items.get("*") {
                        node.check(label, &below(path, "*"), value, limits, report);
                    }
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let place = below(path, name);
                    match self.fields.get(name) {
                        Some(node) => node.check(label, &place, value, limits, report),
                        None => report(Fault::Additional, &place, found_as(value)),
                    }
                }
                for (name, node) in &self.fields {
                    if node.is_always_in(self) && !fields.contains_key(name) {
                        let kinds: Vec<&str> = node.kinds.iter().map(String::as_str).collect();
                        report(Fault::Missing, &below(path, name), kinds.join("|"));
                    }
                }
            }
            // Of lists that were always empty nothing is known.
            Value::Array(items) if !self.items.is_empty() => {
                for item in items {
                    let sort = sort(item);
                    let place = format!("{path}[{sort}]");
                    match self.items.get(sort) {
                        Some(node) => node.check(label, &place, item, limits, report),
                        None => report(Fault::Additional, &place, found_as(item)),
                    }
                }
            }
            _ => {}
        }
    }

    fn write(&self, text: &mut String, path: &str) {
        let fields = self.fields.iter().map(|(name, node)| {
            let sometimes = !node.is_always_in(self);
            (below(path, name), node, sometimes)
        });
        let items = self.items.iter().map(|(sort, node)| {
            let place = match sort.as_str() {
                "*" => below(path, "*"),
                sort => format!("{path}[{sort}]"),
            };
            (place, node, false)
        });
        for (place, node, sometimes) in fields.chain(items) {
            let kinds: Vec<&str> = node.kinds.iter().map(String::as_str).collect();
            let mark = if sometimes { "? " } else { "" };
            let _ = writeln!(text, "\"{place}\" = \"{mark}{}\"", kinds.join("|"));
            node.write(text, &place);
        }
    }

    /// Puts what a line of a table says where it belongs.
    fn place(&mut self, path: &str, kinds: &str) {
        let mut node = self;
        for step in steps(path) {
            node = match step {
                Step::Field(name) => node.fields.entry(name).or_default(),
                Step::Item(sort) => node.items.entry(sort).or_default(),
            };
        }
        let (times, kinds) = match kinds.strip_prefix("? ") {
            Some(kinds) => (0, kinds),
            None => (1, kinds),
        };
        node.times = times;
        node.objects = 1;
        node.kinds = kinds.split('|').map(str::to_owned).collect();
    }
}

enum Step {
    Field(String),
    Item(String),
}

/// A path, taken apart: `a.b[text].*`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, items) = part.split_at(part.find('[').unwrap_or(part.len()));
        match name {
            "" => {}
            "*" => steps.push(Step::Item("*".to_owned())),
            name => steps.push(Step::Field(name.to_owned())),
        }
        for sort in items.split(']').filter_map(|item| item.strip_prefix('[')) {
            steps.push(Step::Item(sort.to_owned()));
        }
    }
    steps
}

fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

fn sort(item: &Value) -> &str {
    item["type"].as_str().unwrap_or_default()
}

/// What stands in recordings for the rest of a list.
pub(crate) fn is_cut(item: &Value) -> bool {
    item.as_str().is_some_and(|text| text.starts_with('…'))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn found_as(value: &Value) -> String {
    let mut shown = value.to_string();
    if let Some((end, _)) = shown.char_indices().nth(60) {
        shown.truncate(end);
        shown.push('…');
    }
    format!("{}: {shown}", kind(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(tables: &Tables, frame: &Value) -> Vec<(Fault, String)> {
        let mut faults = Vec::new();
        let limits = Limits::default();
        tables.check("a", frame, &limits, |_, fault, path, _| {
            faults.push((fault, path.to_owned()));
        });
        faults
    }

    #[test]
    fn tables_know_what_is_always_there_and_survive_being_written() {
        let mut tables = Tables::default();
        let limits = Limits::default();
        let list = json!([{"type": "text", "text": "x"}, "…+3 more"]);
        tables.learn("a", &json!({"x": 1, "list": list}), &limits);
        tables.learn("a", &json!({"x": null, "y": {"z": true}}), &limits);
        let read = Tables::parse(&tables.to_toml()).unwrap();
        assert_eq!(read.to_toml(), tables.to_toml());
        for tables in [tables, read] {
            assert_eq!(faults(&tables, &json!({"x": 2, "y": {"z": false}})), []);
            let wrong = json!({"x": "2", "y": {}, "w": 1, "list": [{"type": "image"}]});
            assert_eq!(
                faults(&tables, &wrong),
                [
                    (Fault::Additional, "list[image]".to_owned()),
                    (Fault::Additional, "w".to_owned()),
                    (Fault::OtherKind, "x".to_owned()),
                    (Fault::Missing, "y.z".to_owned()),
                ]
            );
            assert_eq!(
                faults(&tables, &json!({})),
                [(Fault::Missing, "x".to_owned())]
            );
        }
    }
}
