//! What an editor can choose for a session: its permission mode and its model.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::permission::Mode;

/// The option for the permission mode.
pub(super) const MODE: &str = "mode";

/// The option for the model.
pub(super) const MODEL: &str = "model";

/// The values in force, and those that there are.
#[derive(Debug)]
pub(super) struct Choices {
    pub(super) mode: Mode,
    pub(super) model: String,
    models: Vec<Model>,
    allows_bypass: bool,
}

/// A model that can be chosen, as the engine lists it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Model {
    value: String,
    display_name: String,
    description: String,
}

impl Choices {
    /// `model` is the one in force, whether or not it is listed.
    pub(super) fn new(mode: Mode, model: String, models: Vec<Model>, allows_bypass: bool) -> Self {
        let mut choices = Self {
            mode,
            model,
            models,
            allows_bypass,
        };
        if !choices.models.iter().any(|it| it.value == choices.model) {
            choices.models.insert(
                0,
                Model {
                    value: choices.model.clone(),
                    display_name: choices.model.clone(),
                    description: String::new(),
                },
            );
        }
        choices
    }

    /// The modes, for editors that show them by themselves.
    pub(super) fn modes(&self) -> Value {
        let modes = self.offered().map(|mode| {
            let (name, description) = words(mode);
            json!({"id": mode.name(), "name": name, "description": description})
        });
        let modes: Vec<Value> = modes.collect();
        json!({"currentModeId": self.mode.name(), "availableModes": modes})
    }

    /// Everything as options.
    pub(super) fn options(&self) -> Value {
        let modes = self.offered().map(|mode| {
            let (name, description) = words(mode);
            json!({"value": mode.name(), "name": name, "description": description})
        });
        let modes: Vec<Value> = modes.collect();
        let models = self.models.iter().map(|model| {
            let name = match model.display_name.as_str() {
                "" => &model.value,
                name => name,
            };
            json!({"value": model.value, "name": name, "description": model.description})
        });
        let models: Vec<Value> = models.collect();
        json!([
            {"id": MODE, "name": "Mode", "category": "mode", "type": "select",
             "currentValue": self.mode.name(), "options": modes},
            {"id": MODEL, "name": "Model", "category": "model", "type": "select",
             "currentValue": self.model, "options": models},
        ])
    }

    /// Whether a model is listed.
    pub(super) fn has_model(&self, name: &str) -> bool {
        self.models.iter().any(|model| model.value == name)
    }

    fn offered(&self) -> impl Iterator<Item = Mode> {
        Mode::ALL.into_iter().filter(|mode| match mode {
            Mode::BypassPermissions => self.allows_bypass,
            // It is `acceptEdits` under another name.
            Mode::Auto => self.mode == Mode::Auto,
            _ => true,
        })
    }
}

/// The name of a mode for people, and what it does.
fn words(mode: Mode) -> (&'static str, &'static str) {
    match mode {
        Mode::Default => ("Ask", "Asks about every change that no rule allows"),
        Mode::AcceptEdits => (
            "Accept edits",
            "Edits files of the workspace without asking",
        ),
        Mode::Auto => ("Auto", "Edits files of the workspace without asking"),
        Mode::Plan => ("Plan", "Changes nothing, and makes a plan"),
        Mode::DontAsk => ("Never ask", "Denies what no rule allows"),
        Mode::BypassPermissions => ("Bypass", "Runs everything that no rule denies"),
    }
}
