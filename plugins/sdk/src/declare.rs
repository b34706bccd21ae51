//! The declaration of a plugin, made of its functions. It runs once, in the author's build.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{HookFacts, Tool, ToolFacts, path::ACCESS};

/// The version of the interfaces in `wit/`.
const WIT: &str = "0.1.0";

/// The declaration of a plugin (`wit/README.md`) as it grows.
#[derive(Debug, Clone)]
pub struct Declaration(Map<String, Value>);

impl Declaration {
    /// One without tools. `grants` and `limits` are JSON objects.
    #[must_use]
    pub fn new(name: &str, version: &str, grants: Value, limits: Value) -> Self {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), name.into());
        fields.insert("version".to_owned(), version.into());
        fields.insert("wit".to_owned(), WIT.into());
        fields.insert("tools".to_owned(), Value::Array(Vec::new()));
        fields.insert("grants".to_owned(), grants);
        fields.insert("limits".to_owned(), limits);
        Self(fields)
    }

    /// How long an instance lasts that the tools run in: `call` or `session`.
    #[must_use]
    pub fn instance(mut self, scope: &str) -> Self {
        self.0.insert("instance".to_owned(), scope.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool<T: Tool>(mut self) -> Self {
        let tool = declared(&T::FACTS, schema::<T::Input>());
        if let Some(Value::Array(tools)) = self.0.get_mut("tools") {
            tools.push(tool);
        }
        self
    }

    /// Adds a hook.
    #[must_use]
    pub fn hook(mut self, facts: HookFacts) -> Self {
        let mut hook = json!({ "name": facts.name, "kind": facts.kind, "event": facts.event });
        if let Some(fields) = hook.as_object_mut() {
            let matcher = facts.matcher.map(|matcher| ("matcher", matcher.into()));
            let timeout = facts
                .timeout_ms
                .map(|timeout| ("timeout_ms", timeout.into()));
            let present = matcher.into_iter().chain(timeout);
            fields.extend(present.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
        }
        let hooks = self
            .0
            .entry("hooks")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(hooks) = hooks {
            hooks.push(hook);
        }
        self
    }

    /// The JSON text.
    #[must_use]
    pub fn into_json(self) -> String {
        Value::Object(self.0).to_string()
    }
}

/// The schema of a type, all in one piece: models read it, and not every one follows references.
fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

fn declared(facts: &ToolFacts, mut schema: Value) -> Value {
    let paths = paths(&mut schema);
    let mut tool = json!({
        "name": facts.name,
        "description": facts.description,
        "input_schema": schema,
        "annotations": {
            "readOnly": facts.read_only,
            "destructive": facts.destructive,
            "idempotent": facts.idempotent,
            "openWorld": facts.open_world,
        },
        "paths": paths,
        "retry": facts.retry,
    });
    if let (Some(timeout), Some(tool)) = (facts.timeout_ms, tool.as_object_mut()) {
        tool.insert("timeout_ms".to_owned(), timeout.into());
    }
    tool
}

/// The fields that are paths. What marks them is taken out of the schema: models would only wonder.
fn paths(schema: &mut Value) -> Vec<Value> {
    let required: Vec<String> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let mut paths = Vec::new();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return paths;
    };
    for (field, property) in properties {
        let Some(access) = property.as_object_mut().and_then(|p| p.remove(ACCESS)) else {
            continue;
        };
        let optional = !required.contains(field);
        paths.push(json!({ "field": field, "access": access, "default_cwd": optional }));
    }
    paths
}
