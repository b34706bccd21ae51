//! `windlass models`: the models that are known by name, with prices and limits.

use std::fs;

use serde_json::json;
use windlass_core::{
    Spec,
    price::{ModelFacts, ThinkingForm},
};
use windlass_engine::models::ModelTable;

use super::{Exit, args::ModelsArgs, start_error::StartError, terminal::Stage};

/// Prints the table.
///
/// # Errors
/// [`StartError`] if the price file cannot be used.
pub(super) fn models(args: &ModelsArgs) -> Result<Exit, StartError> {
    let mut spec = Spec::default();
    if let Some(path) = &args.prices {
        let unusable = |reason: String| StartError::File {
            what: "--prices",
            path: path.clone(),
            reason,
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let read = spec.model.catalogue.with_file(&text);
        spec.model.catalogue = read.map_err(|error| unusable(error.to_string()))?;
    }
    let table = ModelTable::built_in();
    table.give_to(&mut spec);
    let text = match args.json {
        true => as_json(table, &spec),
        false => as_table(table, &spec),
    };
    Ok(match Stage::stdout().write(&text) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::PipeClosed,
    })
}

fn as_json(table: &ModelTable, spec: &Spec) -> String {
    let models: Vec<&ModelFacts> = spec.model.catalogue.models().collect();
    let whole = json!({
        "date": table.date, "source": table.source, "default": table.default,
        "aliases": table.aliases, "replaced": table.replaced, "models": models,
    });
    format!("{whole:#}\n")
}

fn as_table(table: &ModelTable, spec: &Spec) -> String {
    let head = [
        "model", "input", "output", "write 5m", "write 1h", "read", "context", "output", "at most",
        "thinking", "effort",
    ];
    let mut rows: Vec<Vec<String>> = vec![head.map(ToOwned::to_owned).to_vec()];
    rows.extend(spec.model.catalogue.models().map(row));
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = format!(
        "Models as of {}, in dollars per million tokens.\n\n",
        table.date
    );
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text.push_str("\nShort names:");
    for (short, model) in &table.aliases {
        text.push_str(&format!("\n  {short} is {model}"));
    }
    for (old, new) in &table.replaced {
        text.push_str(&format!("\n  {old} is gone: {new} takes its place"));
    }
    text.push('\n');
    text
}

fn row(facts: &ModelFacts) -> Vec<String> {
    let hour = facts
        .cache_write_1h
        .map_or_else(|| "twice input".to_owned(), |price| price.to_string());
    let name = match facts.prefix.as_str() {
        "" => "any other",
        name => name,
    };
    let thinking = match facts.thinking {
        ThinkingForm::Asked => "where asked",
        ThinkingForm::None => "none",
        ThinkingForm::Adaptive => "adaptive",
        ThinkingForm::AlwaysAdaptive => "adaptive, always",
        ThinkingForm::Budget => "budget",
    };
    vec![
        name.to_owned(),
        facts.input.to_string(),
        facts.output.to_string(),
        facts.cache_write.to_string(),
        hour,
        facts.cache_read.to_string(),
        facts.context_window.to_string(),
        facts.output_limit(None).to_string(),
        facts.max_output_tokens.to_string(),
        thinking.to_owned(),
        facts
            .effort
            .map_or("-", windlass_core::spec::Effort::name)
            .to_owned(),
    ]
}
