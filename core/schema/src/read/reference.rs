//! Resolves references.

use alloc::{format, string::String, vec::Vec};

use super::{Location, Reader, uri};
use crate::{SchemaError, value::Value};

/// Keywords whose value is a reference.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema with a reference, the keyword, and the schema it refers to; schemas as pointers.
pub(super) type Resolved = (String, &'static str, String);

impl Reader {
    /// Resolves every reference to a pointer. References may point to places that no keyword leads to (`#/components/…`): these
    /// are read as well, and may contain more references.
    pub(super) fn resolve_all(&mut self, root: &Value) -> Result<Vec<Resolved>, SchemaError> {
        let mut resolved = Vec::new();
        let mut dynamic = Vec::new();
        while let Some((at, keyword, reference)) = self.references.pop() {
            let place = at.below(keyword).pointer;
            let found = self.resolve(&at, &reference).and_then(|target| {
                let schema = root.pointer(&target.pointer)?;
                Some((target, schema))
            });
            let Some((target, schema)) = found else {
                let problem = format!(
                    "the reference `{reference}` leads to nothing within this schema; other documents are not followed"
                );
                return Err(SchemaError::new(&place, &problem));
            };
            self.schema(schema, &target)?;
            if keyword != "$ref" {
                dynamic.push((place, reference, schema));
            }
            resolved.push((at.pointer, keyword, target.pointer));
        }
        // The number of anchors is known only after everything has been read.
        for (place, reference, schema) in dynamic {
            self.means_one(&reference, schema)
                .map_err(|problem| SchemaError::new(&place, &problem))?;
        }
        Ok(resolved)
    }

    /// A dynamic reference to a dynamic anchor refers to the outermost of all schemas in the dynamic scope with that anchor
    /// (2020-12 Core, section 8.2.3.2). If there is only one such schema, it refers to that one.
    fn means_one(&self, reference: &str, schema: &Value) -> Result<(), String> {
        let anchor = reference.rsplit('#').next().unwrap_or("");
        let own = schema.get("$dynamicAnchor").and_then(Value::as_str);
        if own == Some(anchor) && self.dynamic_anchors.get(anchor).is_some_and(|n| *n > 1) {
            return Err(format!(
                "several schemas have the $dynamicAnchor `{anchor}`, which is not supported; use $ref"
            ));
        }
        let is_recursive = schema.get("$recursiveAnchor") == Some(&Value::Bool(true));
        if is_recursive && self.recursive_anchors > 1 {
            return Err(
                "several schemas have a $recursiveAnchor, which is not supported; use $ref".into(),
            );
        }
        Ok(())
    }

    fn resolve(&self, at: &Location, reference: &str) -> Option<Location> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match document {
            "" => &at.resource,
            _ => self.ids.get(&uri::join(&at.base, document))?,
        };
        let fragment = uri::percent_decoded(fragment)?;
        let pointer = if fragment.is_empty() || fragment.starts_with('/') {
            format!("{resource}{fragment}")
        } else {
            self.anchors.get(&anchor_in(resource, &fragment))?.clone()
        };
        Some(Location {
            pointer,
            resource: resource.clone(),
            base: self.bases.get(resource).cloned().unwrap_or_default(),
        })
    }
}

/// A key that combines an anchor with its resource.
pub(super) fn anchor_in(resource: &str, anchor: &str) -> String {
    format!("{}#{resource}#{anchor}", resource.len())
}
