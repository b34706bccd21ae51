//! The models that tests use.

use std::sync::OnceLock;

use windlass_core::{Spec, price::Catalogue, spec::DEFAULT_MODEL};

/// The model of a test that names none.
const MODEL: &str = "claude-sonnet-4-6";

/// Gives a spec that knows no models those of tests, whose prices never change; the model is then `claude-sonnet-4-6` unless
/// the spec names another one than the default.
///
/// # Panics
/// If the table of the tests is not of the documented form.
pub fn test_models(spec: &mut Spec) {
    static MODELS: OnceLock<Catalogue> = OnceLock::new();
    if spec.model.catalogue.models().next().is_some() {
        return;
    }
    let models = MODELS.get_or_init(|| {
        let read = Catalogue::default().with_file(include_str!("prices.json"));
        read.unwrap_or_else(|error| panic!("{error}"))
    });
    spec.model.catalogue = models.clone();
    if spec.model.name == DEFAULT_MODEL {
        MODEL.clone_into(&mut spec.model.name);
    }
    for (short, model) in [
        ("sonnet", MODEL),
        ("opus", "claude-opus-4-6"),
        ("haiku", "claude-haiku-4-5"),
    ] {
        spec.model
            .aliases
            .insert(short.to_owned(), model.to_owned());
    }
}
