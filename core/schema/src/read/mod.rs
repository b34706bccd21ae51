//! Reads a schema: every keyword must have a valid value, and every reference must be resolvable.

mod circle;
mod reference;
mod shape;
mod uri;

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use self::{
    reference::{REFERENCES, anchor_in},
    shape::{Shape, are_texts, misfit, shape},
    uri::join,
};
use crate::{
    Schema, SchemaError,
    draft::Draft,
    json,
    named::Named,
    pattern::Pattern,
    value::{Object, Value, short},
};

/// The maximum size of a schema in bytes.
const LONGEST: usize = 1 << 20;

/// The maximum length of the pointer to a part of a schema, in bytes: the pointers to all parts are stored.
const LONGEST_POINTER: usize = 2_048;

pub(crate) fn read(text: &str, draft: Draft) -> Result<Schema, SchemaError> {
    if text.len() > LONGEST {
        let problem = format!("it is longer than {LONGEST} bytes");
        return Err(SchemaError::new("", &problem));
    }
    let mut root = json::read(text)
        .map_err(|error| SchemaError::new("", &format!("cannot be read: {error}")))?;
    let draft = match root.get("$schema").and_then(Value::as_str) {
        Some(name) => known(name, "")?,
        None => draft,
    };
    let mut reader = Reader {
        draft,
        ..Reader::default()
    };
    reader.schema(&root, &Location::default())?;
    let references = reader.resolve_all(&root)?;
    for (place, keyword, target) in references {
        // The place was just read.
        if let Some(Value::Object(fields)) = root.pointer_mut(&place)
            && let Some(slot) = fields.get_mut(keyword)
        {
            *slot = Value::String(target);
        }
    }
    circle::refuse(&root, &reader.read)?;
    Ok(Schema {
        root,
        patterns: reader.patterns,
        draft,
        has_unevaluated: reader.has_unevaluated,
        checks_formats: true,
    })
}

/// The draft in a `$schema`.
fn known(meta_schema: &str, pointer: &str) -> Result<Draft, SchemaError> {
    Draft::of(meta_schema).ok_or_else(|| {
        let problem = format!(
            "the dialect `{meta_schema}` is not known; known are those of draft-04 to 2020-12, such as https://json-schema.org/draft/2020-12/schema"
        );
        SchemaError::new(&format!("{pointer}/$schema"), &problem)
    })
}

/// The position of a schema, and the base of references in it.
#[derive(Clone, Default)]
struct Location {
    pointer: String,
    /// The nearest enclosing schema with an `$id`, or the root.
    resource: String,
    /// The value of that `$id`.
    base: String,
}

impl Location {
    fn below(&self, step: &str) -> Self {
        let mut pointer = self.pointer.clone();
        pointer.push('/');
        for letter in step.chars() {
            match letter {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                letter => pointer.push(letter),
            }
        }
        Self {
            pointer,
            resource: self.resource.clone(),
            base: self.base.clone(),
        }
    }
}

#[derive(Default)]
struct Reader {
    draft: Draft,
    /// Pointers to the schemas that were read.
    read: Named<()>,
    patterns: Named<Pattern>,
    /// Resources by id.
    ids: Named<String>,
    /// Ids by resource.
    bases: Named<String>,
    /// Schemas by resource and anchor ([`anchor_in`]).
    anchors: Named<String>,
    /// How many schemas have each dynamic anchor.
    dynamic_anchors: Named<u32>,
    /// How many schemas have `$recursiveAnchor: true`.
    recursive_anchors: u32,
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
        if self.read.contains(&at.pointer) {
            return Ok(());
        }
        self.read.insert(at.pointer.clone(), ());
        // Up to draft-07, keywords next to a reference are ignored, including `$id`.
        let stands_alone = self.draft == Draft::Draft7 && fields.contains("$ref");
        if let Some(id) = fields.get("$id").and_then(Value::as_str)
            && !stands_alone
        {
            self.identify(id, &mut at);
            self.same_draft(fields, &at)?;
        }
        for (keyword, value) in fields.iter() {
            self.keyword(keyword, value, &at)?;
        }
        Ok(())
    }

    fn identify(&mut self, id: &str, at: &mut Location) {
        let (document, anchor) = id.split_once('#').unwrap_or((id, ""));
        if !document.is_empty() {
            at.base = join(&at.base, document);
            at.resource.clone_from(&at.pointer);
            self.ids.insert(at.base.clone(), at.pointer.clone());
            self.bases.insert(at.pointer.clone(), at.base.clone());
        }
        if !anchor.is_empty() {
            // The notation for anchors up to draft-07.
            let key = anchor_in(&at.resource, anchor);
            self.anchors.insert(key, at.pointer.clone());
        }
    }

    /// A schema with its own `$schema` may use another draft than the enclosing one.
    fn same_draft(&self, fields: &Object, at: &Location) -> Result<(), SchemaError> {
        let Some(name) = fields.get("$schema").and_then(Value::as_str) else {
            return Ok(());
        };
        if known(name, &at.pointer)? == self.draft {
            return Ok(());
        }
        let problem = "must be of the same draft as the schema around it; other drafts within a schema are not supported";
        Err(SchemaError::new(
            &format!("{}/$schema", at.pointer),
            problem,
        ))
    }

    fn keyword(&mut self, keyword: &str, value: &Value, at: &Location) -> Result<(), SchemaError> {
        let Some(shape) = shape(keyword) else {
            return Ok(());
        };
        let here = at.below(keyword);
        if let Some(wanted) = misfit(shape, value) {
            let problem = format!("must be {wanted}, not {}", short(value));
            return Err(SchemaError::new(&here.pointer, &problem));
        }
        match (shape, value) {
            (Shape::Schema, _) => self.schema(value, &here)?,
            (Shape::SchemaOrSchemas, Value::Object(_) | Value::Bool(_)) => {
                self.schema(value, &here)?;
            }
            (Shape::Schemas | Shape::SchemaOrSchemas, Value::Array(schemas)) => {
                for (i, schema) in schemas.iter().enumerate() {
                    self.schema(schema, &here.below(&i.to_string()))?;
                }
            }
            (Shape::NamedSchemas | Shape::NamedSchemasOrTexts, Value::Object(schemas)) => {
                for (name, schema) in schemas.iter() {
                    let place = here.below(name);
                    if keyword == "patternProperties" {
                        self.pattern(name, &place)?;
                    }
                    if shape == Shape::NamedSchemas || !are_texts(schema) {
                        self.schema(schema, &place)?;
                    }
                }
            }
            (Shape::Text | Shape::Pattern, Value::String(text)) => self.text(keyword, text, at)?,
            (Shape::Flag, Value::Bool(true)) if keyword == "$recursiveAnchor" => {
                self.recursive_anchors += 1;
            }
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
}
