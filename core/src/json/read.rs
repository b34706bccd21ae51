//! Decodes JSON to types; structures only from objects.
//!
//! Serde's derived readers are compiled for each kind of deserializer, and within it for each type that a value can be read from.
//! A web page has to download all of that. So there is one [`Reader`] here with as few code paths as JSON needs: it reads from a
//! text, passes one type for all parts of a value, and reads structures only from objects. (Serde would also read them, field by
//! field, from arrays. Nobody sends such arrays.) Values, limits and error messages are those of serde_json, and the tests
//! compare both.
//!
//! Fields and variants of our own types are looked up here, in one place, and passed as their index in the list that serde
//! derives: comparing names is then compiled once, not for each type. That list also contains the names of an `alias`, which the
//! indices leave out. No type of this crate has an alias, and types of other crates are read by name.

#[cfg(test)]
mod tests;
mod text;

use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};

use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor,
        value::{
            BorrowedStrDeserializer, MapAccessDeserializer, StringDeserializer, U64Deserializer,
        },
    },
};
use serde_json::{Map, Number, Value, value::RawValue};

use self::text::{Numeral, Reader};
use super::{RAW_VALUE, fault::Fault};

/// Decodes a whole text to a type of this crate.
pub(crate) fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Fault> {
    read::<T, BY_NUMBER>(text)
}

/// Decodes a whole text to a type that may have aliases.
pub(super) fn from_str_by_name<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Fault> {
    read::<T, BY_NAME>(text)
}

fn read<'de, T: Deserialize<'de>, const NAMED: bool>(text: &'de str) -> Result<T, Fault> {
    let mut reader = Reader::new(text);
    match T::deserialize(Typed::<NAMED>(&mut reader)) {
        Ok(value) => reader.end().map(|()| value),
        Err(error) => Err(reader.placed(error)),
    }
}

/// The same for bytes that should be UTF-8.
pub(crate) fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Fault> {
    from_str(text(bytes)?)
}

/// Takes a text, and checks that it is exactly one value.
pub(crate) fn raw(text: String) -> Result<Box<RawValue>, Fault> {
    let mut reader = Reader::new(&text);
    let value = reader.raw()?;
    reader.end()?;
    let value = if value.len() == text.len() {
        text
    } else {
        value.into()
    };
    carried(value)
}

/// Takes a text that is known to be exactly one value.
pub(super) fn carried(value: String) -> Result<Box<RawValue>, Fault> {
    let value: StringDeserializer<Fault> = value.into_deserializer();
    Deserialize::deserialize(MapAccessDeserializer::new(Raw(Some(value))))
}

/// Decodes a text to a tree. (What serde_json derives for its trees would pull in its own reader.)
pub(crate) fn tree(text: &str) -> Result<Value, Fault> {
    let mut reader = Reader::new(text);
    let value = reader.tree()?;
    reader.end()?;
    Ok(value)
}

pub(crate) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    let fault = match core::str::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(fault) => fault,
    };
    let valid = fault.valid_up_to();
    // Bytes that end within a character are treated as a text that ends too early, as within a token.
    let before = bytes.get(..valid).unwrap_or_default();
    let before = core::str::from_utf8(before).unwrap_or_default();
    let mut reader = Reader::new(before);
    match reader.skip().and_then(|()| reader.end()) {
        Err(error) if fault.error_len().is_none() || !error.is_cut() => Err(error),
        _ => Err(Fault::custom(format_args!(
            "no UTF-8 text from byte {valid} on"
        ))),
    }
}

macro_rules! scalars {
    ($($method:ident: $read:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.$read(visitor)
        })*
    };
}

impl<'de> Reader<'de> {
    fn tree(&mut self) -> Result<Value, Fault> {
        Ok(match self.token() {
            Some(b'"') => Value::String(self.string()?.into_owned()),
            Some(b'{') => {
                let mut fields = Map::new();
                self.enter()?;
                while self.next_field()? {
                    let name = self.string()?.into_owned();
                    fields.insert(name, self.tree()?);
                }
                Value::Object(fields)
            }
            Some(b'[') => {
                let mut elements = Vec::new();
                self.enter()?;
                while self.next_element()? {
                    elements.push(self.tree()?);
                }
                Value::Array(elements)
            }
            Some(b'n') => {
                self.word("null")?;
                Value::Null
            }
            Some(b't' | b'f') => Value::Bool(self.truth()?),
            Some(b'-' | b'0'..=b'9') => match self.numeral()? {
                Numeral::Unsigned(number) => number.into(),
                Numeral::Signed(number) => number.into(),
                Numeral::Float(number) => Number::from_f64(number).into(),
            },
            _ => return Err(self.no_value()),
        })
    }
}

/// How the fields and variants of types are identified.
const BY_NAME: bool = true;
const BY_NUMBER: bool = false;

/// Decodes the next value to a type.
struct Typed<'a, 'de, const NAMED: bool>(&'a mut Reader<'de>);

impl<'de, const NAMED: bool> Typed<'_, 'de, NAMED> {
    fn visit_number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if !self.0.at_number() {
            return Err(self.0.mismatch(&visitor));
        }
        match self.0.numeral()? {
            Numeral::Unsigned(number) => visitor.visit_u64(number),
            Numeral::Signed(number) => visitor.visit_i64(number),
            Numeral::Float(number) => visitor.visit_f64(number),
        }
    }

    fn visit_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.token() != Some(b'"') {
            return Err(self.0.mismatch(&visitor));
        }
        match self.0.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }
}

impl<'de, const NAMED: bool> Deserializer<'de> for Typed<'_, 'de, NAMED> {
    type Error = Fault;

    scalars! {
        deserialize_i8: visit_number
        deserialize_i16: visit_number
        deserialize_i32: visit_number
        deserialize_i64: visit_number
        deserialize_i128: visit_number
        deserialize_u8: visit_number
        deserialize_u16: visit_number
        deserialize_u32: visit_number
        deserialize_u64: visit_number
        deserialize_u128: visit_number
        deserialize_f32: visit_number
        deserialize_f64: visit_number
        deserialize_char: visit_string
        deserialize_str: visit_string
        deserialize_string: visit_string
        deserialize_bytes: deserialize_any
        deserialize_byte_buf: deserialize_any
        deserialize_identifier: visit_string
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.token() {
            Some(b'"') => self.visit_string(visitor),
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.deserialize_seq(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'-' | b'0'..=b'9') => self.visit_number(visitor),
            _ => Err(self.0.no_value()),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.token() {
            Some(b't' | b'f') => visitor.visit_bool(self.0.truth()?),
            _ => Err(self.0.mismatch(&visitor)),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.token() != Some(b'n') {
            return Err(self.0.mismatch(&visitor));
        }
        self.0.word("null")?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.token() != Some(b'n') {
            return visitor.visit_some(self);
        }
        self.0.word("null")?;
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == RAW_VALUE {
            let text = BorrowedStrDeserializer::new(self.0.raw()?);
            return visitor.visit_map(Raw(Some(text)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let level = self.0.open(b'[', &visitor)?;
        let value = visitor.visit_seq(Parts::<NAMED>(&mut *self.0))?;
        self.0.leave(level, b']').map(|()| value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let level = self.0.open(b'{', &visitor)?;
        let value = visitor.visit_map(Parts::<NAMED>(&mut *self.0))?;
        self.0.leave(level, b'}').map(|()| value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if NAMED {
            return self.deserialize_map(visitor);
        }
        // (Without the name of the type, which the author of the JSON does not know.)
        let level = self.0.open(b'{', &"an object")?;
        let value = visitor.visit_map(Fields(&mut *self.0, fields))?;
        self.0.leave(level, b'}').map(|()| value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let level = self.0.open_variant()?;
        let value = visitor.visit_enum(Variant::<NAMED> {
            reader: &mut *self.0,
            variants,
            has_content: level.is_some(),
        })?;
        match level {
            None => Ok(value),
            Some(level) => self.0.leave(level, b'}').map(|()| value),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.0.skip()?;
        visitor.visit_unit()
    }
}

/// The elements of an object or array.
struct Parts<'a, 'de, const NAMED: bool>(&'a mut Reader<'de>);

impl<'de, const NAMED: bool> SeqAccess<'de> for Parts<'_, 'de, NAMED> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        if !self.0.next_element()? {
            return Ok(None);
        }
        seed.deserialize(Typed::<NAMED>(&mut *self.0)).map(Some)
    }
}

impl<'de, const NAMED: bool> MapAccess<'de> for Parts<'_, 'de, NAMED> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        if !self.0.next_field()? {
            return Ok(None);
        }
        seed.deserialize(Typed::<NAMED>(&mut *self.0)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(Typed::<NAMED>(&mut *self.0))
    }
}

/// The fields of a structure, by their index in this list.
struct Fields<'a, 'de>(&'a mut Reader<'de>, &'static [&'static str]);

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some(number) = self.0.next_field_of(self.1)? else {
            return Ok(None);
        };
        // A type that denies unknown fields refuses the index of an unknown one.
        seed.deserialize(U64Deserializer::new(number))
            .map(Some)
            .map_err(|_: Fault| self.0.unknown_field(self.1))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(Typed::<BY_NUMBER>(&mut *self.0))
    }
}

/// A variant by its name: a string, or an object with its content as the only field.
struct Variant<'a, 'de, const NAMED: bool> {
    reader: &'a mut Reader<'de>,
    variants: &'static [&'static str],
    has_content: bool,
}

impl<'de, const NAMED: bool> EnumAccess<'de> for Variant<'_, 'de, NAMED> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Fault> {
        let variant = if NAMED {
            seed.deserialize(Typed::<NAMED>(&mut *self.reader))
        } else {
            let number = self.reader.number_in(self.variants)?;
            seed.deserialize(U64Deserializer::new(number))
                .map_err(|_: Fault| self.reader.unknown_variant(self.variants))
        };
        Ok((variant?, self))
    }
}
impl<'a, 'de, const NAMED: bool> Variant<'a, 'de, NAMED> {
    fn content(self, expected: &str) -> Result<Typed<'a, 'de, NAMED>, Fault> {
        if !self.has_content {
            return Err(Fault::invalid_type(Unexpected::UnitVariant, &expected));
        }
        Ok(Typed(self.reader))
    }
}

impl<'de, const NAMED: bool> VariantAccess<'de> for Variant<'_, 'de, NAMED> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.has_content {
            true => Deserialize::deserialize(Typed::<NAMED>(self.reader)),
            false => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.content("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.content("tuple variant")?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.content("struct variant")?
            .deserialize_struct("", fields, visitor)
    }
}

/// Raw text in the form that serde_json requests: an object with one field.
struct Raw<T>(Option<T>);

impl<'de, T: Deserializer<'de, Error = Fault>> MapAccess<'de> for Raw<T> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        if self.0.is_none() {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW_VALUE))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        match self.0.take() {
            Some(text) => seed.deserialize(text),
            None => Err(Fault::custom("a text that is carried has one value")),
        }
    }
}
