//! Reading a schema: every keyword has a value it can have, and every reference leads somewhere.

use alloc::{
    borrow::ToOwned,
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};

use super::{
    Schema, SchemaError,
    named::Named,
    value::{is_type, short},
};
use crate::{json::RawJson, pattern::Pattern};

/// What the value of a keyword must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Schema,
    Schemas,
    NamedSchemas,
    /// `items`: one schema, or (until draft-07) one for each item.
    SchemaOrSchemas,
    /// `dependencies`: a schema or a list of names.
    NamedSchemasOrTexts,
    Count,
    Number,
    PositiveNumber,
    Flag,
    Text,
    Texts,
    NamedTexts,
    Pattern,
    Type,
    Values,
}

fn shape(keyword: &str) -> Option<Shape> {
    Some(match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
            Shape::NamedSchemas
        }
        "items" => Shape::SchemaOrSchemas,
        "dependencies" => Shape::NamedSchemasOrTexts,
        "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
        | "minLength" | "minProperties" => Shape::Count,
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => Shape::Number,
        "multipleOf" => Shape::PositiveNumber,
        "uniqueItems" => Shape::Flag,
        "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$id" | "$recursiveRef" | "$ref"
        | "$schema" | "format" => Shape::Text,
        "required" => Shape::Texts,
        "dependentRequired" => Shape::NamedTexts,
        "pattern" => Shape::Pattern,
        "type" => Shape::Type,
        "enum" => Shape::Values,
        _ => return None,
    })
}

/// Keywords whose schemas are about the very value that the whole is about.
pub(super) const IN_PLACE: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE_SINGLE: [&str; 4] = ["if", "then", "else", "not"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The longest schema, in bytes.
const LONGEST: usize = 1 << 20;

/// The longest way to a part of a schema, in bytes of a pointer: the ways to all parts are kept.
const LONGEST_POINTER: usize = 2_048;

pub(super) fn read(text: &RawJson) -> Result<Schema, SchemaError> {
    if text.get().len() > LONGEST {
        let problem = format!("it is longer than {LONGEST} bytes");
        return Err(SchemaError::new("", &problem));
    }
    let mut root = crate::json::read::tree(text.get())
        .map_err(|error| SchemaError::new("", &format!("cannot be read: {error}")))?;
    let draft = root.get("$schema").and_then(Value::as_str).unwrap_or("");
    let reference_stands_alone = ["draft-03", "draft-04", "draft-06", "draft-07"]
        .iter()
        .any(|old| draft.contains(old));
    let mut reader = Reader::default();
    reader.schema(&root, &Location::default())?;
    let references = reader.resolve_all(&root)?;
    for (place, keyword, target) in references {
        // The place was just read from there.
        if let Some(slot) = root.pointer_mut(&place).and_then(|s| s.get_mut(keyword)) {
            *slot = Value::String(target);
        }
    }
    refuse_circles(&root, &reader.read)?;
    Ok(Schema {
        root,
        patterns: reader.patterns,
        reference_stands_alone,
        has_unevaluated: reader.has_unevaluated,
    })
}

/// Where a schema stands, and what references in it start from.
#[derive(Clone, Default)]
struct Location {
    pointer: String,
    /// The nearest schema around it with an `$id`, or the root.
    resource: String,
    /// That id.
    base: String,
}

impl Location {
    fn below(&self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        Self {
            pointer: format!("{}/{step}", self.pointer),
            ..self.clone()
        }
    }
}

#[derive(Default)]
struct Reader {
    /// Pointers of the schemas that were read.
    read: BTreeSet<String>,
    patterns: Named<Pattern>,
    /// Resources by id.
    ids: Named<String>,
    /// Schemas by resource and anchor ([`anchor_in`]).
    anchors: Named<String>,
    /// How many schemas have one.
    dynamic_anchors: Named<u32>,
    references: Vec<(Location, &'static str, String)>,
    has_unevaluated: bool,
}

impl Reader {
    fn schema(&mut self, schema: &Value, at: &Location) -> Result<(), SchemaError> {
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Bool(_) => return Ok(()),
            other => {
                let problem = format!("a schema is an object, true or false, not {}", short(other));
                return Err(SchemaError::new(&at.pointer, &problem));
            }
        };
        if at.pointer.len() > LONGEST_POINTER {
            let begin: String = at.pointer.chars().take(80).collect();
            let problem = "the names on the way to what is in there are too long";
            return Err(SchemaError::new(&begin, problem));
        }
        let mut at = at.clone();
        if !self.read.insert(at.pointer.clone()) {
            return Ok(());
        }
        if let Some(id) = fields.get("$id").and_then(Value::as_str) {
            self.identify(id, &mut at);
        }
        for (keyword, value) in fields {
            self.keyword(keyword, value, &at)?;
        }
        Ok(())
    }

    fn identify(&mut self, id: &str, at: &mut Location) {
        if let Some(anchor) = id.strip_prefix('#') {
            // Until draft-07 an anchor was spelled so.
            let key = anchor_in(&at.resource, anchor);
            self.anchors.insert(key, at.pointer.clone());
            return;
        }
        at.base = join(&at.base, id.trim_end_matches('#'));
        at.resource.clone_from(&at.pointer);
        self.ids.insert(at.base.clone(), at.pointer.clone());
    }

    fn keyword(&mut self, keyword: &str, value: &Value, at: &Location) -> Result<(), SchemaError> {
        let Some(shape) = shape(keyword) else {
            return Ok(());
        };
        let here = at.below(keyword);
        let refuse = |wanted: &str| {
            let problem = format!("must be {wanted}, not {}", short(value));
            Err(SchemaError::new(&here.pointer, &problem))
        };
        match (shape, value) {
            (Shape::Schema, _) => self.schema(value, &here)?,
            (Shape::SchemaOrSchemas, Value::Object(_) | Value::Bool(_)) => {
                self.schema(value, &here)?;
            }
            (Shape::Schemas | Shape::SchemaOrSchemas, Value::Array(schemas)) => {
                if schemas.is_empty() && shape == Shape::Schemas {
                    return refuse("a list of at least one schema");
                }
                for (i, schema) in schemas.iter().enumerate() {
                    self.schema(schema, &here.below(&i.to_string()))?;
                }
            }
            (Shape::Schemas | Shape::SchemaOrSchemas, _) => return refuse("a list of schemas"),
            (Shape::NamedSchemas | Shape::NamedSchemasOrTexts, Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    let place = here.below(name);
                    if keyword == "patternProperties" {
                        self.pattern(name, &place)?;
                    }
                    if shape == Shape::NamedSchemas || !are_texts(schema) {
                        self.schema(schema, &place)?;
                    }
                }
            }
            (Shape::NamedSchemas | Shape::NamedSchemasOrTexts, _) => {
                return refuse("an object whose values are schemas");
            }
            (Shape::Count, _) if as_count(value).is_none() => {
                return refuse("a whole number from 0");
            }
            (Shape::Number, _) if !value.is_number() => return refuse("a number"),
            (Shape::PositiveNumber, _) if value.as_f64().is_none_or(|n| n <= 0.0) => {
                return refuse("a number greater than 0");
            }
            (Shape::Flag, _) if !value.is_boolean() => return refuse("true or false"),
            (Shape::Texts, _) if !are_texts(value) => return refuse("a list of field names"),
            (Shape::NamedTexts, _)
                if !value
                    .as_object()
                    .is_some_and(|lists| lists.values().all(are_texts)) =>
            {
                return refuse("an object whose values are lists of field names");
            }
            (Shape::Values, _) if !value.is_array() => return refuse("a list of values"),
            (Shape::Type, _) if !is_type_name(value) => {
                return refuse(
                    "one or several of object, array, string, number, integer, boolean, null",
                );
            }
            (Shape::Text | Shape::Pattern, _) => match value.as_str() {
                Some(text) => self.text(keyword, text, at)?,
                None => return refuse("a text"),
            },
            _ => {}
        }
        self.has_unevaluated |= keyword.starts_with("unevaluated");
        Ok(())
    }

    fn text(&mut self, keyword: &str, text: &str, at: &Location) -> Result<(), SchemaError> {
        match keyword {
            "pattern" => self.pattern(text, &at.below(keyword))?,
            "$anchor" | "$dynamicAnchor" => {
                let key = anchor_in(&at.resource, text);
                self.anchors.insert(key, at.pointer.clone());
                if keyword == "$dynamicAnchor" {
                    let known = self.dynamic_anchors.get(text).copied().unwrap_or(0);
                    self.dynamic_anchors.insert(text.to_owned(), known + 1);
                }
            }
            _ => {
                if let Some(keyword) = REFERENCES.iter().find(|known| **known == keyword) {
                    self.references.push((at.clone(), keyword, text.to_owned()));
                }
            }
        }
        Ok(())
    }

    fn pattern(&mut self, text: &str, at: &Location) -> Result<(), SchemaError> {
        if self.patterns.get(text).is_none() {
            let pattern = Pattern::new(text).map_err(|error| {
                let problem = format!("the pattern `{text}` cannot be used: {error}");
                SchemaError::new(&at.pointer, &problem)
            })?;
            self.patterns.insert(text.to_owned(), pattern);
        }
        Ok(())
    }

    /// The pointer that every reference means. What is referred to may stand where no keyword leads
    /// (`#/components/…`): it is read as well, and may refer to more.
    fn resolve_all(
        &mut self,
        root: &Value,
    ) -> Result<Vec<(String, &'static str, String)>, SchemaError> {
        let mut resolved = Vec::new();
        while let Some((at, keyword, reference)) = self.references.pop() {
            let place = at.below(keyword).pointer;
            let target = self.resolve(&at, &reference);
            let Some((target, schema)) =
                target.and_then(|pointer| Some((pointer.clone(), root.pointer(&pointer)?)))
            else {
                let problem = format!(
                    "the reference `{reference}` leads to nothing within this schema; other documents are not followed"
                );
                return Err(SchemaError::new(&place, &problem));
            };
            if keyword == "$dynamicRef" {
                let anchor = reference.rsplit('#').next().unwrap_or("");
                if self.dynamic_anchors.get(anchor).is_some_and(|n| *n > 1) {
                    let problem = format!(
                        "several schemas have the $dynamicAnchor `{anchor}`, which is not supported; use $ref"
                    );
                    return Err(SchemaError::new(&place, &problem));
                }
            }
            let location = Location {
                pointer: target.clone(),
                ..at.clone()
            };
            self.schema(schema, &location)?;
            resolved.push((at.pointer, keyword, target));
        }
        Ok(resolved)
    }

    fn resolve(&self, at: &Location, reference: &str) -> Option<String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match document {
            "" => &at.resource,
            _ => self.ids.get(&join(&at.base, document))?,
        };
        let fragment = percent_decoded(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return Some(format!("{resource}{fragment}"));
        }
        self.anchors.get(&anchor_in(resource, &fragment)).cloned()
    }
}

/// An anchor and the resource in which it stands, as one name.
fn anchor_in(resource: &str, anchor: &str) -> String {
    format!("{}#{resource}#{anchor}", resource.len())
}

/// A reference that leads back to itself without ever getting to another part of the value.
fn refuse_circles(root: &Value, schemas: &BTreeSet<String>) -> Result<(), SchemaError> {
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

fn in_place<'a>(
    fields: &'a Map<String, Value>,
    pointer: &'a str,
) -> impl Iterator<Item = String> + 'a {
    let targets = REFERENCES
        .iter()
        .filter_map(|keyword| fields.get(*keyword)?.as_str().map(ToOwned::to_owned));
    let parts = IN_PLACE.iter().flat_map(move |keyword| {
        let count = fields
            .get(*keyword)
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        (0..count).map(move |i| format!("{pointer}/{keyword}/{i}"))
    });
    let singles = IN_PLACE_SINGLE
        .iter()
        .filter(|keyword| fields.contains_key(**keyword))
        .map(move |keyword| format!("{pointer}/{keyword}"));
    targets.chain(parts).chain(singles)
}

fn are_texts(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(Value::is_string))
}

fn is_type_name(value: &Value) -> bool {
    let known = |name: &Value| {
        name.as_str()
            .is_some_and(|name| is_type(&Value::Null, name).is_some())
    };
    match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(known),
        name => known(name),
    }
}

/// A count may be written 3.0.
pub(super) fn as_count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let n = value.as_f64().filter(|n| *n >= 0.0 && n % 1.0 == 0.0)?;
        Some(n as u64)
    })
}

/// A reference to a document from the address of another: enough of RFC 3986 for what schemas use.
fn join(base: &str, reference: &str) -> String {
    let has_scheme = reference
        .split_once(':')
        .is_some_and(|(scheme, _)| !scheme.contains('/'));
    if has_scheme || base.is_empty() {
        return reference.to_owned();
    }
    let host = base.find("://").map_or(0, |at| at + 3);
    let path = base[host..].find('/').map_or(base.len(), |at| host + at);
    if reference.starts_with('/') {
        return [&base[..path], reference].concat();
    }
    let folder = base[path..]
        .rfind('/')
        .map_or(base.len(), |at| path + at + 1);
    let slash = if folder == path { "/" } else { "" };
    [&base[..folder], slash, reference].concat()
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(out).ok()
}
