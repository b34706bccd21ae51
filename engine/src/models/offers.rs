//! The models that an application is offered (`initialize`, `list_models`).

use windlass_core::{
    Spec,
    initialization::ModelInfo,
    money::Usd,
    price::{ModelFacts, ThinkingForm},
};

use super::{
    names::{is_available, resolved_model},
    table::{ModelTable, speaks_messages},
};

/// The models that a session with this spec can choose, the default first. `available`: those that settings restrict it to.
/// A model in use that is none of them has a row of its own.
#[must_use]
pub fn offered_models(spec: &Spec, available: Option<&[String]>) -> Vec<ModelInfo> {
    let table = ModelTable::built_in();
    let mut models = Vec::new();
    if speaks_messages(spec) {
        for offered in &table.offered {
            if !is_available(spec, available, &offered.value) {
                continue;
            }
            let model = match offered.value.as_str() {
                "default" => default_model(spec),
                alias => resolved_model(spec, alias),
            };
            let name = table
                .get(&model)
                .map_or(model.as_str(), |known| &known.name);
            let about = offered.about.replace("{name}", name);
            models.push(info(spec, &offered.value, &offered.name, &about, &model));
        }
    }
    let is_offered = |models: &[ModelInfo]| {
        let mut resolved = models.iter().filter_map(|it| it.resolved_model.as_deref());
        resolved.any(|model| model == spec.model.name)
    };
    if !is_offered(&models) {
        let model = &spec.model.name;
        let (name, about) = match table.get(model) {
            Some(known) => (known.name.as_str(), known.name.as_str()),
            None => (model.as_str(), "Custom model"),
        };
        models.push(info(spec, model, name, about, model));
    }
    models
}

/// The model that `default` stands for.
fn default_model(spec: &Spec) -> String {
    let named = spec.model.aliases.get("opus");
    named
        .cloned()
        .unwrap_or_else(|| ModelTable::built_in().default.clone())
}

fn info(spec: &Spec, value: &str, name: &str, about: &str, model: &str) -> ModelInfo {
    let facts = spec.model.catalogue.get(model);
    let priced = facts.filter(|facts| !facts.prefix.is_empty());
    let description = match priced {
        Some(facts) => format!("{about} · {}", price(facts)),
        None => about.to_owned(),
    };
    let efforts = facts.map(|facts| facts.efforts.clone());
    let thinking = facts.map_or(ThinkingForm::None, |facts| facts.thinking);
    let is_adaptive = matches!(
        thinking,
        ThinkingForm::Adaptive | ThinkingForm::AlwaysAdaptive
    );
    ModelInfo {
        value: value.to_owned(),
        display_name: name.to_owned(),
        description,
        supports_effort: efforts.as_ref().map(|levels| !levels.is_empty()),
        supported_effort_levels: efforts.filter(|levels| !levels.is_empty()),
        supports_adaptive_thinking: Some(is_adaptive),
        resolved_model: Some(model.to_owned()),
        supports_fast_mode: facts
            .is_some_and(|facts| facts.fast_factor > 0)
            .then_some(true),
        supports_thinking_off: Some(thinking != ThinkingForm::AlwaysAdaptive),
    }
}

/// `$4/$20 per Mtok`, with what long prompts cost.
fn price(facts: &ModelFacts) -> String {
    let pair = |factor: u64| {
        format!(
            "{}/{}",
            dollars(facts.input, factor),
            dollars(facts.output, factor)
        )
    };
    match facts.dear_above {
        0 => format!("{} per Mtok", pair(1)),
        above => format!(
            "{} per Mtok ({} for prompts over {}k)",
            pair(1),
            pair(5),
            above / 1000
        ),
    }
}

/// `$4`, `$0.10`.
fn dollars(price: Usd, factor: u64) -> String {
    let cents = price.nanos.saturating_mul(factor) / 10_000_000;
    match cents % 100 {
        0 => format!("${}", cents / 100),
        part => format!("${}.{part:02}", cents / 100),
    }
}
