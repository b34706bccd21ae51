//! What a person or a program calls a model, and the model that is meant.

use std::collections::BTreeMap;

use windlass_core::{Spec, agent::AgentModel, price::ModelFacts};

use super::table::LONG_CONTEXT_MARK;

/// Resolves a model name: a full name, a short name (in any case), or the name of a model that another one has replaced. A name
/// that ends in `[1m]` keeps that only where it changes something.
#[must_use]
pub fn resolved_model(spec: &Spec, name: &str) -> String {
    let (bare, is_long) = split_mark(name.trim());
    let model = &spec.model;
    let known = match model.aliases.get(&bare.to_ascii_lowercase()) {
        Some(known) => known.clone(),
        None => match AgentModel::from(bare.to_owned()) {
            AgentModel::Inherit => model.name.clone(),
            _ => bare.to_owned(),
        },
    };
    let long = format!("{known}{LONG_CONTEXT_MARK}");
    let has_long = || model.catalogue.models().any(|facts| facts.prefix == long);
    if is_long && has_long() { long } else { known }
}

/// Whether a short name asks for a longer context, which its model has anyway.
#[must_use]
pub fn is_long_alias(spec: &Spec, name: &str) -> bool {
    let (bare, is_long) = split_mark(name.trim());
    is_long && spec.model.aliases.get(&bare.to_ascii_lowercase()).is_some()
}

/// Whether the models that settings restrict a session to (`availableModels`) include this one. The default always is.
#[must_use]
pub fn is_available(spec: &Spec, available: Option<&[String]>, name: &str) -> bool {
    let Some(available) = available else {
        return true;
    };
    let meant = resolved_model(spec, name);
    let is = |entry: &String| {
        entry.eq_ignore_ascii_case(name.trim()) || resolved_model(spec, entry) == meant
    };
    name == "default" || available.iter().any(is)
}

/// A name without the mark of the longer context, and whether it had one.
fn split_mark(name: &str) -> (&str, bool) {
    let at = name.len().saturating_sub(LONG_CONTEXT_MARK.len());
    match name.split_at_checked(at) {
        Some((bare, mark)) if mark.eq_ignore_ascii_case(LONG_CONTEXT_MARK) => (bare, true),
        _ => (name, false),
    }
}

/// Makes requests carry other names than models have (`modelOverrides`), by the models' own names.
pub fn send_as(spec: &mut Spec, names: &BTreeMap<String, String>) {
    let renamed: Vec<ModelFacts> = names
        .iter()
        .filter_map(|(model, sent)| {
            let model = resolved_model(spec, model);
            let facts = spec.model.catalogue.get(&model)?;
            Some(ModelFacts {
                prefix: model.clone(),
                exact: true,
                sent_as: Some(sent.clone()),
                ..facts.clone()
            })
        })
        .collect();
    if !renamed.is_empty() {
        spec.model.catalogue = spec.model.catalogue.clone().with(renamed);
    }
}
