//! Formats JSON for files: indented, with order and spelling preserved.

use windlass_core::{RawJson, json::RawObject};

/// The value, indented by two blanks per level, followed by a line end.
pub(super) fn pretty(value: &RawJson) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &RawJson, depth: usize, out: &mut String) {
    let object = RawObject::parse(value.get()).ok();
    let array: Option<Vec<RawJson>> = value.decode().ok();
    match (object, array) {
        (Some(object), _) if object.keys().next().is_some() => {
            let fields = object.fields().map(|(key, value)| (Some(key), value));
            list(['{', '}'], fields, depth, out);
        }
        (None, Some(items)) if !items.is_empty() => {
            list(
                ['[', ']'],
                items.iter().map(|item| (None, item)),
                depth,
                out,
            );
        }
        _ => out.push_str(value.get().trim()),
    }
}

fn list<'a>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = (Option<&'a str>, &'a RawJson)>,
    depth: usize,
    out: &mut String,
) {
    let indent = |depth: usize, out: &mut String| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    out.push(open);
    for (number, (key, value)) in items.enumerate() {
        if number > 0 {
            out.push(',');
        }
        indent(depth + 1, out);
        if let Some(key) = key {
            out.push_str(RawJson::string(key).get());
            out.push_str(": ");
        }
        write(value, depth + 1, out);
    }
    indent(depth, out);
    out.push(close);
}
