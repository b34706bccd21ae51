//! The JSON Schema of a Rust type, as a tool's input.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;
use windlass_core::RawJson;

/// The schema of `T`, or why it cannot be a tool's input.
pub(super) fn input_schema<T: JsonSchema>() -> Result<RawJson, String> {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.meta_schema = None)
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        // The title is the name of the Rust type, which is of no use to the model.
        fields.remove("title");
    }
    check(&schema)?;
    RawJson::encode(&schema).map_err(|error| error.to_string())
}

/// Checks what the Messages API requires of an input schema.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => Ok(()),
        Some(other) => Err(format!(
            "its input is of JSON type {other}, and a tool takes an object: use a struct with named fields, or NoInput"
        )),
        None => Err(
            "its input has no JSON type `object`: use a struct with named fields, or NoInput"
                .to_owned(),
        ),
    }
}
