//! What a scenario says itself: in frames that is no engine's word, and comes as it was given.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scenario::Scenario;

/// Texts of a recording, and what stands for them in what is played.
#[derive(Default)]
pub(crate) struct Told(BTreeMap<String, String>);

impl Told {
    /// What is said in a scenario as it was recorded, and in the same one as it is played.
    pub(crate) fn of(recorded: &Scenario, played: &Scenario) -> Self {
        let mut told = Self::default();
        told.learn(&said(recorded), &said(played));
        told
    }

    /// What stands for a text that the scenario says.
    pub(crate) fn get(&self, text: &str) -> Option<&str> {
        self.0.get(text).map(String::as_str)
    }

    fn learn(&mut self, recorded: &Value, played: &Value) {
        match (recorded, played) {
            (Value::String(recorded), Value::String(played)) => {
                self.0.insert(recorded.clone(), played.clone());
            }
            (Value::Array(recorded), Value::Array(played)) => {
                let both = recorded.iter().zip(played);
                both.for_each(|(recorded, played)| self.learn(recorded, played));
            }
            (Value::Object(recorded), Value::Object(played)) => {
                let both = recorded.values().zip(played.values());
                both.for_each(|(recorded, played)| self.learn(recorded, played));
            }
            _ => {}
        }
    }
}

/// Everything but the frames that came.
fn said(scenario: &Scenario) -> Value {
    serde_json::json!([
        scenario.flags,
        scenario.environment,
        scenario.files,
        scenario.steps,
        scenario.answers,
        scenario.exchanges,
    ])
}
