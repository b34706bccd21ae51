//! The JSON form of a spec: the fields of its parts in one object, under their own names, all of them optional.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Environment, Spec};
use crate::{
    json::{RawJson, RawObject, known_remedy, read},
    tool::CoreTool,
};

/// Fields that belong to no part.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Apart {
    /// The tools of [`Spec::offer`], by name.
    core_tools: Vec<CoreTool>,
    environment: Environment,
}

/// A spec that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub(crate) struct SpecJsonError {
    /// What is wrong, and where.
    pub(crate) reason: String,
    /// What to do about it.
    pub(crate) remedy: &'static str,
}

impl SpecJsonError {
    fn new(reason: impl ToString) -> Self {
        let reason = reason.to_string();
        let remedy = known_remedy(&reason).unwrap_or("correct it, or leave the field out");
        Self { reason, remedy }
    }
}

impl Spec {
    /// Reads a spec that is part of a text.
    ///
    /// # Errors
    /// [`SpecJsonError`] with line and column in the text, or naming the field.
    pub(crate) fn from_json(text: &str, spec: &RawValue) -> Result<Self, SpecJsonError> {
        let mut fields = Fields::read(text, spec)?;
        let names_model = fields.left.iter().any(|field| field.name == "model");
        let apart: Apart = fields.part()?;
        let mut spec = Self {
            model: fields.part()?,
            prompt: fields.part()?,
            tools: fields.part()?,
            stream: fields.part()?,
            policy: fields.part()?,
            environment: apart.environment,
        };
        fields.none_left()?;
        spec.offer(apart.core_tools);
        spec.check().map_err(SpecJsonError::new)?;
        let Some(name) = spec.tools.agent.take() else {
            return Ok(spec);
        };
        let mut as_agent = spec.run_as(&name).map_err(SpecJsonError::new)?;
        if names_model {
            // A model named explicitly takes precedence over the agent's.
            as_agent.model.name = spec.model.name;
        }
        Ok(as_agent)
    }

    /// The spec in the form that [`Spec::from_json`] reads.
    pub(crate) fn to_json(&self) -> RawJson {
        let tools = self.tools.definitions.iter();
        let apart = Apart {
            core_tools: tools.filter_map(|tool| tool.core).collect(),
            environment: self.environment.clone(),
        };
        let parts = [
            object(&self.model),
            object(&self.prompt),
            object(&self.tools),
            object(&self.stream),
            object(&self.policy),
            object(&apart),
        ];
        let mut all = RawObject::default();
        for (name, value) in parts.iter().flat_map(RawObject::fields) {
            if value.get() != "null" {
                all.set(name, value.clone());
            }
        }
        all.to_raw()
    }
}

/// The fields of a spec that have not been read yet.
struct Fields<'a> {
    text: &'a str,
    /// The range of the object in the text, including its brackets.
    object: Range<usize>,
    left: Vec<Field>,
    /// The names of the fields read so far, for error messages.
    known: Vec<&'static str>,
}

struct Field {
    name: String,
    /// Its range in the text: comma, name, colon, value.
    place: Range<usize>,
}

impl<'a> Fields<'a> {
    fn read(text: &'a str, spec: &'a RawValue) -> Result<Self, SpecJsonError> {
        let place = |part: &str| {
            let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
            start..start + part.len()
        };
        let members: Members<'a> = read::from_str(spec.get()).map_err(SpecJsonError::new)?;
        let object = place(spec.get());
        let mut left: Vec<Field> = Vec::new();
        let mut end = object.start + 1;
        for (name, value) in members.0 {
            if left.iter().any(|known| known.name == name) {
                return Err(SpecJsonError::new(format!("duplicate field `{name}`")));
            }
            let place = end..place(value.get()).end;
            end = place.end;
            // A null field counts as absent.
            if value.get() != "null" {
                left.push(Field { name, place });
            }
        }
        Ok(Self {
            text,
            object,
            left,
            known: Vec::new(),
        })
    }

    /// Reads the fields of a part.
    fn part<T: DeserializeOwned>(&mut self) -> Result<T, SpecJsonError> {
        let text = self.take(names::<T>());
        read::from_str(&text).map_err(SpecJsonError::new)
    }

    /// Takes the fields of these names out, as a text with nothing else in it.
    fn take(&mut self, names: &'static [&'static str]) -> String {
        self.known.extend(names);
        let all = self.left.drain(..);
        let (own, others) = all.partition(|field: &Field| names.contains(&field.name.as_str()));
        self.left = others;
        self.only(&own)
    }

    /// The text with everything blanked out except the brackets of the object and these fields. Positions stay the same, so that
    /// a reader reports errors at the right line and column.
    fn only(&self, fields: &[Field]) -> String {
        let text = self.text.as_bytes();
        let mut only: Vec<u8> = text
            .iter()
            .map(|byte| if *byte == b'\n' { b'\n' } else { b' ' })
            .collect();
        let brackets = [self.object.start, self.object.end.saturating_sub(1)].map(|at| at..at + 1);
        for place in fields.iter().map(|field| &field.place).chain(&brackets) {
            if let (Some(to), Some(from)) = (only.get_mut(place.clone()), text.get(place.clone())) {
                to.copy_from_slice(from);
            }
        }
        // The first field is not preceded by a comma.
        let first = fields.first().map_or(0..0, |field| field.place.clone());
        let comma = only.get_mut(first).into_iter().flatten();
        if let Some(comma) = comma
            .take_while(|byte| **byte != b'"')
            .find(|byte| **byte == b',')
        {
            *comma = b' ';
        }
        // Only whole values and blanks: no character is cut.
        String::from_utf8(only).unwrap_or_default()
    }

    /// # Errors
    /// There is an unknown field.
    fn none_left(mut self) -> Result<(), SpecJsonError> {
        let Some(field) = self.left.first() else {
            return Ok(());
        };
        self.known.sort_unstable();
        Err(SpecJsonError::new(format!(
            "unknown field `{}`, expected one of `{}`",
            field.name,
            self.known.join("`, `")
        )))
    }
}

/// The error that ends [`names`]: no value is read.
#[derive(Debug)]
struct Unread;

impl fmt::Display for Unread {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl core::error::Error for Unread {}

impl serde::de::Error for Unread {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// The names of the fields of a part, as derived by serde.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Names<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Names<'_> {
        type Error = Unread;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            _visitor: V,
        ) -> Result<V::Value, Unread> {
            *self.0 = fields;
            Err(Unread)
        }

        fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Unread> {
            Err(Unread)
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &[&str] = &[];
    // Only the names are wanted; deserialising always fails.
    let _ = T::deserialize(Names(&mut names)).is_ok();
    names
}

/// The members of an object, each a slice of the text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// The fields of a part. Their names are strings: encoding cannot fail.
fn object<T: Serialize>(part: &T) -> RawObject {
    let json = RawJson::encode(part).unwrap_or_else(|_| RawJson::empty_object());
    json.read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::{
        super::{ModelSpec, PolicySpec, PromptSpec, StreamSpec, ToolSpec},
        *,
    };

    #[test]
    fn no_two_parts_have_a_field_of_the_same_name_and_all_are_written() {
        let parts = [
            names::<ModelSpec>(),
            names::<PromptSpec>(),
            names::<ToolSpec>(),
            names::<StreamSpec>(),
            names::<PolicySpec>(),
            names::<Apart>(),
        ];
        let different: BTreeSet<&str> = parts.concat().into_iter().collect();
        assert_eq!(different.len(), parts.concat().len(), "{parts:?}");
        let spec = Spec::default();
        let (model, tools) = (object(&spec.model), object(&spec.tools));
        let written: Vec<&str> = model.keys().chain(tools.keys()).collect();
        assert_eq!(written, [parts[0], parts[2]].concat());
    }
}
