//! JSON into types, structures from objects only.
//!
//! What serde derives reads a structure from an object or, field by field, from an array. Nobody sends such arrays, and
//! the code for them is a quarter of what a page would have to fetch of the core. So everything is read through
//! [`ObjectsOnly`], which never offers an array to a structure; the compiler leaves that code away, and such input is
//! refused.

use core::fmt;

use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, EnumAccess, Error as _, IgnoredAny, MapAccess, SeqAccess,
        VariantAccess, Visitor,
    },
};

/// Under this name serde_json asks itself for text that is carried and not read.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Reads a whole text.
pub(crate) fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(ObjectsOnly(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// The same for bytes that should be UTF-8.
pub(crate) fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    // One reader for both: half the code.
    match core::str::from_utf8(bytes) {
        Ok(text) => from_str(text),
        Err(fault) => Err(no_text(bytes, fault.valid_up_to(), fault.error_len())),
    }
}

/// Why bytes are no text. Those that end within a character are a text that was cut, as it would be within a token.
fn no_text(bytes: &[u8], valid: usize, fault: Option<usize>) -> serde_json::Error {
    let before = bytes.get(..valid).unwrap_or_default();
    let before = core::str::from_utf8(before).unwrap_or_default();
    match from_str::<IgnoredAny>(before) {
        Err(error) if fault.is_none() || !error.is_eof() => error,
        _ => serde_json::Error::custom(format_args!("no UTF-8 text from byte {valid} on")),
    }
}

/// A deserializer that gives structures objects only, at every depth.
struct ObjectsOnly<D>(D);

macro_rules! forward {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        })*
    };
}

macro_rules! forward_nested {
    ($($method:ident($($name:ident: $type:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Nested(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectsOnly<D> {
    type Error = D::Error;

    forward! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string
        deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_identifier
        deserialize_ignored_any
    }

    forward_nested! {
        deserialize_any()
        deserialize_option()
        deserialize_seq()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if name == RAW_VALUE {
            return self.0.deserialize_newtype_struct(name, visitor);
        }
        self.0.deserialize_newtype_struct(name, Nested(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Object(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// A visitor whose parts are read through [`ObjectsOnly`] too.
struct Nested<V>(V);

macro_rules! forward_visits {
    ($($method:ident: $type:ty)*) => {
        $(fn $method<E: serde::de::Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Nested<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    forward_visits! {
        visit_bool: bool
        visit_i64: i64
        visit_i128: i128
        visit_u64: u64
        visit_u128: u128
        visit_f64: f64
        visit_char: char
        visit_str: &str
        visit_borrowed_str: &'de str
        visit_string: alloc::string::String
        visit_bytes: &[u8]
        visit_borrowed_bytes: &'de [u8]
        visit_byte_buf: alloc::vec::Vec<u8>
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(ObjectsOnly(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(ObjectsOnly(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Parts(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Parts(fields))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Parts(variant))
    }
}

/// A visitor of a structure: it is shown objects and nothing else.
struct Object<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Parts(fields))
    }
}

/// What a value is made of, each part read through [`ObjectsOnly`].
struct Parts<A>(A);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Parts<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Part(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Parts<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        // A name has no parts.
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.0.next_value_seed(Part(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Parts<A> {
    type Error = A::Error;
    type Variant = Parts<A::Variant>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Self::Variant), A::Error> {
        let (name, content) = self.0.variant_seed(seed)?;
        Ok((name, Parts(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Parts<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        self.0.newtype_variant_seed(Part(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Nested(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Object(visitor))
    }
}

/// A part that is yet to be read.
struct Part<T>(T);

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Part<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.0.deserialize(ObjectsOnly(deserializer))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::{
        string::{String, ToString as _},
        vec::Vec,
    };

    use serde::Deserialize;
    use serde_json::{json, value::RawValue};

    use super::{from_slice, from_str};

    #[derive(Debug, PartialEq, Deserialize)]
    struct Pair {
        name: String,
        #[serde(default)]
        inner: Option<Inner>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner(Vec<Kind>);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Plain,
        Number(i64),
        Both(u8, u8),
        Fields { on: bool },
    }

    #[test]
    fn every_shape_is_read_at_every_depth() {
        let text =
            r#"{"name":"a","inner":["plain",{"number":-1},{"both":[1,2]},{"fields":{"on":true}}]}"#;
        let read: Pair = from_slice(text.as_bytes()).unwrap();
        let kinds = alloc::vec![
            Kind::Plain,
            Kind::Number(-1),
            Kind::Both(1, 2),
            Kind::Fields { on: true }
        ];
        assert_eq!(read.inner, Some(Inner(kinds)));
        assert_eq!(
            from_str::<serde_json::Value>("[1,{}]").unwrap(),
            json!([1, {}])
        );
        let raw: &RawValue = from_str(" {\"b\": 1.50} ").unwrap();
        assert_eq!(raw.get(), "{\"b\": 1.50}");
    }

    #[test]
    fn an_array_is_no_structure() {
        for (text, at) in [
            (r#"["a"]"#, "line 1 column 0"),
            (r#"{"name":"a","inner":[{"fields":[true]}]}"#, "line 1"),
            (r#"{"name":"a"} x"#, "line 1 column 14"),
        ] {
            let error = from_str::<Pair>(text).unwrap_err().to_string();
            assert!(error.contains(at), "{error}");
        }
        let error = from_slice::<String>(b"\"a\xff\"").unwrap_err();
        assert!(error.to_string().contains("byte 2"), "{error}");
        let cut = from_slice::<String>("\"aü".as_bytes().split_last().unwrap().1).unwrap_err();
        assert!(cut.is_eof(), "{cut}");
    }
}
