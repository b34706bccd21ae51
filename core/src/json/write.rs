//! Encodes types as compact JSON.
//!
//! The counterpart of [`read`](super::read), for the same reason: what serde derives is compiled for each kind of serializer, and
//! that of serde_json has two paths for every field, one of them for raw text. Here all parts of a value are written through one
//! type. The output is the same as that of serde_json, and the tests compare both.

#[cfg(test)]
mod tests;

use alloc::string::{String, ToString as _};
use core::fmt::{Display, Write as _};

use serde::{
    Serialize,
    ser::{
        Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
        SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
    },
};

use super::{RAW_VALUE, fault::Fault, number, string};

/// Encodes a value as JSON text.
pub(crate) fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    let mut writer = Writer {
        out: String::with_capacity(MOST_FIT),
        ..Writer::default()
    };
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

/// The initial capacity in bytes: most texts fit without reallocation.
const MOST_FIT: usize = 256;

/// Encodes a value that JSON can represent, as all of ours can; empty for any other.
pub(crate) fn to_text<T: Serialize + ?Sized>(value: &T) -> String {
    to_string(value).unwrap_or_default()
}

#[derive(Default)]
struct Writer {
    out: String,
    /// After the bracket that opens an object or array.
    opened: bool,
    /// Before the name of a field.
    named: bool,
    /// Before raw JSON text.
    carried: bool,
}

impl Writer {
    fn open(&mut self, brackets: Brackets) -> Result<Parts<'_>, Fault> {
        if self.named {
            return Err(no_name());
        }
        self.out.push_str(brackets.opening());
        self.opened = true;
        Ok(Parts {
            writer: self,
            brackets,
        })
    }

    /// Opens an object whose only field is the variant, and in it the brackets of its parts.
    fn open_variant(&mut self, name: &str, brackets: Brackets) -> Result<Parts<'_>, Fault> {
        self.open_content(name)?;
        self.open(brackets)
    }

    fn open_content(&mut self, name: &str) -> Result<(), Fault> {
        self.open(Brackets::Object)?;
        self.field(name);
        Ok(())
    }

    fn separate(&mut self) {
        if !core::mem::replace(&mut self.opened, false) {
            self.out.push(',');
        }
    }

    fn close(&mut self, brackets: Brackets) {
        self.out.push_str(brackets.closing());
        self.opened = false;
    }

    fn field(&mut self, name: &str) {
        if name == RAW_VALUE {
            self.carried = true;
            return;
        }
        self.separate();
        string::write(name, &mut self.out);
        self.out.push(':');
    }

    /// Writes a number or a word, in quotation marks if it is the name of a field.
    fn plain(&mut self, value: impl Display) {
        let mark = if core::mem::replace(&mut self.named, false) {
            "\""
        } else {
            ""
        };
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{mark}{value}{mark}");
    }

    fn null(&mut self) -> Result<(), Fault> {
        if self.named {
            return Err(no_name());
        }
        self.out.push_str("null");
        Ok(())
    }
}

fn no_name() -> Fault {
    Fault::custom("key must be a string")
}

/// The brackets around parts.
#[derive(Clone, Copy)]
enum Brackets {
    Object,
    Array,
    /// Also the object that represents a variant.
    ObjectOfVariant,
    ArrayOfVariant,
    /// None: the content is one raw text.
    None,
}

impl Brackets {
    fn opening(self) -> &'static str {
        match self {
            Self::Object | Self::ObjectOfVariant => "{",
            Self::Array | Self::ArrayOfVariant => "[",
            Self::None => "",
        }
    }

    fn closing(self) -> &'static str {
        match self {
            Self::Object => "}",
            Self::Array => "]",
            Self::ObjectOfVariant => "}}",
            Self::ArrayOfVariant => "]}",
            Self::None => "",
        }
    }
}

macro_rules! plain {
    ($($method:ident: $type:ty)*) => {
        $(fn $method(self, value: $type) -> Result<(), Fault> {
            self.plain(value);
            Ok(())
        })*
    };
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    plain! {
        serialize_bool: bool
        serialize_i64: i64
        serialize_i128: i128
        serialize_u64: u64
        serialize_u128: u128
    }

    fn serialize_i8(self, value: i8) -> Result<(), Fault> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Fault> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Fault> {
        self.serialize_i64(value.into())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Fault> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Fault> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Fault> {
        self.serialize_u64(value.into())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Fault> {
        // The shortest text for single precision may differ; no value of ours has that type.
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Fault> {
        if !value.is_finite() {
            // JSON cannot represent NaN and infinities.
            return self.null();
        }
        if core::mem::replace(&mut self.named, false) {
            self.out.push('"');
            number::write(value, &mut self.out);
            self.out.push('"');
        } else {
            number::write(value, &mut self.out);
        }
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Fault> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        self.named = false;
        if core::mem::replace(&mut self.carried, false) {
            self.out.push_str(value);
        } else {
            string::write(value, &mut self.out);
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Fault> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        self.null()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Fault> {
        self.null()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Fault> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.open_content(variant)?;
        value.serialize(&mut *self)?;
        self.close(Brackets::Object);
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Parts<'a>, Fault> {
        self.open(Brackets::Array)
    }

    fn serialize_tuple(self, _len: usize) -> Result<Parts<'a>, Fault> {
        self.open(Brackets::Array)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Parts<'a>, Fault> {
        self.open(Brackets::Array)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Parts<'a>, Fault> {
        self.open_variant(variant, Brackets::ArrayOfVariant)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Parts<'a>, Fault> {
        self.open(Brackets::Object)
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Parts<'a>, Fault> {
        self.open(if name == RAW_VALUE {
            Brackets::None
        } else {
            Brackets::Object
        })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Parts<'a>, Fault> {
        self.open_variant(variant, Brackets::ObjectOfVariant)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Fault> {
        self.serialize_str(&value.to_string())
    }
}

/// The elements of an object or array.
struct Parts<'a> {
    writer: &'a mut Writer,
    brackets: Brackets,
}

impl Parts<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.writer.separate();
        value.serialize(&mut *self.writer)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Fault> {
        self.writer.field(name);
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Result<(), Fault> {
        self.writer.close(self.brackets);
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident: $method:ident)*) => {
        $(impl $trait for Parts<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.element(value)
            }

            fn end(self) -> Result<(), Fault> {
                self.close()
            }
        })*
    };
}

elements! {
    SerializeSeq: serialize_element
    SerializeTuple: serialize_element
    SerializeTupleStruct: serialize_field
    SerializeTupleVariant: serialize_field
}

macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl $trait for Parts<'_> {
            type Ok = ();
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Fault> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Fault> {
                self.close()
            }
        })*
    };
}

fields!(SerializeStruct SerializeStructVariant);

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.writer.separate();
        self.writer.named = true;
        key.serialize(&mut *self.writer)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.writer.out.push(':');
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Fault> {
        self.close()
    }
}
