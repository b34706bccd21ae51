use windlass_core::{Spec, provider::openai::ChatCompletions, spec::DEFAULT_MODEL};

use super::*;

fn spec() -> Spec {
    let mut spec = Spec::default();
    ModelTable::built_in().give_to(&mut spec);
    spec
}

#[test]
fn the_data_file_is_read_and_names_only_what_it_has() {
    let table = ModelTable::built_in();
    assert_eq!(table.default, DEFAULT_MODEL);
    let is_known = |model: &String| table.get(model).is_some();
    assert!(table.aliases.values().all(is_known));
    assert!(table.replaced.values().all(is_known));
    assert_eq!(
        table
            .models
            .iter()
            .filter(|model| model.ids.is_empty())
            .count(),
        1
    );
    for model in &table.models {
        assert!(table.betas.contains_key(&model.betas), "{}", model.name);
        assert!(
            model
                .effort
                .is_none_or(|effort| model.efforts.contains(&effort)),
            "{}",
            model.name
        );
        assert!(
            model.usual_output_tokens <= model.max_output_tokens,
            "{}",
            model.name
        );
        assert!(model.efforts.is_sorted(), "{}", model.name);
    }
    for offered in &table.offered {
        assert!(offered.value == "default" || table.aliases.contains_key(&offered.value));
    }
}

#[test]
fn a_model_is_found_by_its_name_or_with_a_date_and_never_by_its_beginning() {
    let spec = spec();
    let prefix = |model: &str| {
        spec.model
            .catalogue
            .get(model)
            .map(|facts| facts.prefix.clone())
    };
    for (model, known) in [
        ("claude-haiku-5-5", "claude-haiku-5-5"),
        ("claude-haiku-5-5-20260901", "claude-haiku-5-5"),
        ("claude-haiku-5", ""),
        ("claude-opus-4-9", ""),
        (
            "claude-opus-4-5-20251101[1m]",
            "claude-opus-4-5-20251101[1m]",
        ),
        ("gpt-4", ""),
    ] {
        assert_eq!(prefix(model).as_deref(), Some(known), "{model}");
    }
    let mut other = Spec::default();
    other.model.provider = std::sync::Arc::new(ChatCompletions::default());
    ModelTable::built_in().give_to(&mut other);
    assert_eq!(other.model.catalogue.get("gpt-4"), None);
    assert!(other.model.catalogue.get("claude-opus-5-5").is_some());
    assert_eq!(resolved_model(&other, "sonnet"), "sonnet");
}

#[test]
fn entries_of_a_price_file_are_stronger_than_the_table() {
    let mut spec = Spec::default();
    let file = r#"{"models":[{"prefix":"claude-opus-5-5","input":1,"output":1,"cache_read":1,"cache_write":1}]}"#;
    spec.model.catalogue = spec.model.catalogue.with_file(file).unwrap();
    ModelTable::built_in().give_to(&mut spec);
    let facts = spec.model.catalogue.get("claude-opus-5-5").unwrap();
    assert_eq!(facts.input.to_string(), "1");
    assert!(spec.model.catalogue.get("claude-opus-5").is_some());
}

#[test]
fn variables_that_make_no_sense_are_named_and_left_out() {
    let variables = ModelVariables::read(|name| match name {
        "MAX_THINKING_TOKENS" => Some("many".to_owned()),
        "CLAUDE_CODE_EFFORT_LEVEL" => Some("huge".to_owned()),
        "ANTHROPIC_MODEL" => Some("  ".to_owned()),
        _ => None,
    });
    assert_eq!(variables.warnings.len(), 2, "{variables:?}");
    assert_eq!((variables.model, variables.effort), (None, None));
}

/// The table of `docs/models.md`.
fn documented(table: &ModelTable) -> String {
    let mut text = String::from(
        "| model | input | output | cache write 5 min | 1 h | cache read | context | output tokens | at most | thinking | effort |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for model in &table.models {
        let ids: Vec<String> = model.ids.iter().map(|id| format!("`{id}`")).collect();
        let name = if ids.is_empty() {
            "any other".to_owned()
        } else {
            ids.join(", ")
        };
        let thinking = serde_json::to_value(model.thinking).unwrap();
        let thinking = thinking.as_str().unwrap().replace('_', " ");
        text.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {thinking} | {} |\n",
            model.input,
            model.output,
            model.cache_write_5m,
            model.cache_write_1h,
            model.cache_read,
            model.context_window,
            model.usual_output_tokens,
            model.max_output_tokens,
            model
                .effort
                .map_or("none", windlass_core::spec::Effort::name),
        ));
    }
    text
}

#[test]
fn the_documentation_has_the_table_as_it_is() {
    let text = include_str!("../../../docs/models.md");
    let table = documented(ModelTable::built_in());
    assert!(
        text.contains(&table),
        "docs/models.md is to have this table:\n\n{table}"
    );
    for variable in VARIABLES {
        assert!(
            text.contains(&format!("`{variable}`")),
            "docs/models.md says nothing of {variable}"
        );
    }
}
