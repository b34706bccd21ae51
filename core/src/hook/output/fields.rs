//! The fields of a hook output, each read with its path.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::HookOutputError;
use crate::json::{RawJson, RawObject};

/// An object whose fields must all be known and occur only once.
pub(in crate::hook) struct Fields {
    /// The path to the object, ending in a dot; empty for the outermost object.
    path: String,
    object: RawObject,
}

/// For fields that are serialised only if set.
#[allow(clippy::trivially_copy_pass_by_ref)] // the shape serde wants
pub(super) fn nothing(set: &bool) -> bool {
    !set
}

impl Fields {
    pub(in crate::hook) fn read(path: &str, json: &RawJson) -> Result<Self, HookOutputError> {
        let object = RawObject::parse(json.get()).map_err(|_| HookOutputError {
            place: match path {
                "" => "the answer".to_owned(),
                path => path.trim_end_matches('.').to_owned(),
            },
            problem: "must be a JSON object".to_owned(),
        })?;
        let fields = Self {
            path: path.to_owned(),
            object,
        };
        match fields.object.duplicate() {
            Some(name) => Err(fields.fault(name, "stands there twice: leave one of the two out")),
            None => Ok(fields),
        }
    }

    /// Refuses fields other than these.
    pub(in crate::hook) fn only(&self, known: &[&str]) -> Result<(), HookOutputError> {
        match self.object.keys().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(self.fault(
                name,
                format!("is unknown here; known are {}", known.join(", ")),
            )),
        }
    }

    pub(in crate::hook) fn fault(&self, name: &str, problem: impl ToString) -> HookOutputError {
        HookOutputError {
            place: format!("{}{name}", self.path),
            problem: problem.to_string(),
        }
    }

    /// The value of a field; null counts as absent.
    pub(in crate::hook) fn raw(&self, name: &str) -> Option<RawJson> {
        self.object
            .get(name)
            .filter(|value| value.get() != "null")
            .cloned()
    }

    fn decoded<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        kind: &str,
    ) -> Result<Option<T>, HookOutputError> {
        let decode = |value: RawJson| {
            value
                .read()
                .map_err(|_| self.fault(name, format!("must be {kind}")))
        };
        self.raw(name).map(decode).transpose()
    }

    pub(in crate::hook) fn boolean(&self, name: &str) -> Result<Option<bool>, HookOutputError> {
        self.decoded(name, "true or false")
    }

    pub(in crate::hook) fn text(&self, name: &str) -> Result<Option<String>, HookOutputError> {
        self.decoded(name, "a text")
    }

    pub(in crate::hook) fn milliseconds(&self, name: &str) -> Result<Option<u64>, HookOutputError> {
        self.decoded(name, "a whole number of milliseconds")
    }

    pub(in crate::hook) fn raw_object(
        &self,
        name: &str,
    ) -> Result<Option<RawJson>, HookOutputError> {
        match self.raw(name) {
            Some(value) if !value.is_object() => Err(self.fault(name, "must be a JSON object")),
            value => Ok(value),
        }
    }

    pub(in crate::hook) fn raw_array(
        &self,
        name: &str,
    ) -> Result<Option<RawJson>, HookOutputError> {
        match self.raw(name) {
            Some(value) if !value.get().starts_with('[') => {
                Err(self.fault(name, "must be a JSON array"))
            }
            value => Ok(value),
        }
    }

    pub(in crate::hook) fn object(&self, name: &str) -> Result<Option<Self>, HookOutputError> {
        self.raw(name)
            .map(|value| Self::read(&format!("{}{name}.", self.path), &value))
            .transpose()
    }

    pub(in crate::hook) fn one_of<T: Copy>(
        &self,
        name: &str,
        known: &[(&str, T)],
    ) -> Result<Option<T>, HookOutputError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        match known.iter().find(|(known, _)| *known == text) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                Err(self.fault(name, format!("\"{text}\" is none of {}", names.join(", "))))
            }
        }
    }
}
