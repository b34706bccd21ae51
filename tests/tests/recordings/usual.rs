//! Values that all recorded frames of a name have in common, which are therefore written down once.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use crate::{data, scenario::Scenario, seen::Seen, value::Values};

/// `tests/recordings/values.json`: common values by the names of frames.
pub(crate) type Usual = BTreeMap<String, Values>;

pub(crate) fn read() -> Usual {
    let path = data("values.json");
    let text = fs::read_to_string(&path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What all frames of a name have in common, where they have it at all.
pub(crate) fn learn(scenarios: &BTreeMap<String, Scenario>) -> Usual {
    let mut met: BTreeMap<&str, BTreeMap<&String, Option<&Value>>> = BTreeMap::new();
    for frame in scenarios
        .values()
        .flat_map(|scenario| scenario.frames.values())
        .flatten()
    {
        let of_name = met.entry(frame.name()).or_default();
        for (key, value) in &frame.values {
            let common = of_name.entry(key).or_insert(Some(value));
            common.take_if(|common| *common != value);
        }
    }
    let common = |values: BTreeMap<&String, Option<&Value>>| {
        let values = values.into_iter();
        let values = values.filter_map(|(key, value)| Some((key.clone(), value?.clone())));
        values.collect()
    };
    let met = met.into_iter();
    met.map(|(name, values)| (name.to_owned(), common(values)))
        .collect()
}

/// Leaves out of scenarios what is common.
pub(crate) fn take(usual: &Usual, scenarios: &mut BTreeMap<String, Scenario>) {
    for (frame, common) in with_common(usual, scenarios) {
        frame.values.retain(|key, _| !common.contains_key(key));
    }
}

/// Puts into scenarios what is common.
pub(crate) fn give(usual: &Usual, scenarios: &mut BTreeMap<String, Scenario>) {
    for (frame, common) in with_common(usual, scenarios) {
        for (key, value) in common {
            frame
                .values
                .entry(key.clone())
                .or_insert_with(|| value.clone());
        }
    }
}

fn with_common<'a>(
    usual: &'a Usual,
    scenarios: &'a mut BTreeMap<String, Scenario>,
) -> impl Iterator<Item = (&'a mut Seen, &'a Values)> {
    let frames = scenarios
        .values_mut()
        .flat_map(|scenario| scenario.frames.values_mut())
        .flatten();
    frames.filter_map(|frame| {
        let common = usual.get(frame.name())?;
        Some((frame, common))
    })
}
