//! Drafts of JSON Schema.

/// A draft of JSON Schema, as far as the differences matter here. Up to draft-07 a `$ref` replaces its schema (keywords next to
/// it are ignored, JSON Schema draft-07, section 8.3); later it is one keyword among others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Draft {
    /// draft-04, draft-06 and draft-07. Syntax that only draft-04 allows (`exclusiveMinimum: true`) is refused.
    Draft7,
    /// 2019-09 and 2020-12.
    #[default]
    Draft2020,
}

impl Draft {
    /// The draft whose meta-schema has this URI; none for any other.
    pub(crate) fn of(meta_schema: &str) -> Option<Self> {
        let address = meta_schema.trim_end_matches(['#', '/']);
        let address = address
            .strip_prefix("http://")
            .or_else(|| address.strip_prefix("https://"))?;
        match address.strip_prefix("json-schema.org/")? {
            "draft-04/schema" | "draft-06/schema" | "draft-07/schema" => Some(Self::Draft7),
            "draft/2019-09/schema" | "draft/2020-12/schema" | "schema" => Some(Self::Draft2020),
            _ => None,
        }
    }
}
