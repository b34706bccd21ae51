//! Fields of an input that are paths of files: the host judges them, and the call is granted what follows from that.

use std::{borrow::Cow, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The key by which the schema of a field says that it is a path. The declaration is made of it; it is no part of the schema there.
pub(crate) const ACCESS: &str = "x-windlass-access";

/// The path of a file or directory that a tool reads. In an `Option`, one that is absent stands for the working directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub struct ReadPath(String);

/// The path of a file or directory that a tool changes. In an `Option`, one that is absent stands for the working directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub struct WritePath(String);

macro_rules! path {
    ($name:ident, $access:literal) => {
        impl $name {
            /// A path as the model writes it: absolute, or relative to the working directory.
            #[must_use]
            pub fn new(path: impl Into<String>) -> Self {
                Self(path.into())
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", (ACCESS): $access })
            }
        }
    };
}

path!(ReadPath, "read");
path!(WritePath, "write");
