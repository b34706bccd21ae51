//! What is looked at in frames, in their order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    label::{is_piece, lane},
    shape::Tables,
    value::{Reader, Values},
};

/// A frame: its name, and behind it the fields that frames of this name do not always have; its values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    pub(crate) frame: String,
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub(crate) values: Values,
}

/// Frames by lane.
pub(crate) type Lanes = BTreeMap<String, Vec<Seen>>;

impl Seen {
    pub(crate) fn name(&self) -> &str {
        self.frame
            .split_once(' ')
            .map_or(&self.frame, |(name, _)| name)
    }

    pub(crate) fn optional(&self) -> Vec<&str> {
        self.frame.split(" +").skip(1).collect()
    }
}

/// The order of frames.
pub(crate) fn order<'a>(
    tables: &Tables,
    reader: &Reader<'_>,
    frames: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> Lanes {
    let mut lanes = Lanes::new();
    for (label, frame) in frames {
        if label == "keep_alive" {
            continue;
        }
        let lane = lanes.entry(lane(label).to_owned()).or_default();
        let repeats = is_piece(label) && lane.last().is_some_and(|last| last.name() == label);
        if repeats {
            continue;
        }
        let mut shown = label.to_owned();
        for name in tables.optional(label, frame) {
            shown.push_str(" +");
            shown.push_str(name);
        }
        let values = match is_piece(label) {
            true => Values::new(),
            false => reader.values(label, frame),
        };
        lane.push(Seen {
            frame: shown,
            values,
        });
    }
    lanes
}
