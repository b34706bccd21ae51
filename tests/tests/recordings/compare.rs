//! Holding frames against what was recorded.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    differences::{Difference, Differences},
    label::{CONVERSATION, lane},
    same::{self, Ids},
    scenario::Scenario,
    seen::{self, Lanes, Seen},
    shape::{Fault, Limits, Tables},
    told::Told,
    value::{self, Reader},
};

/// What came of a comparison.
#[derive(Default)]
pub(crate) struct Compared {
    pub(crate) found: Differences,
    /// How many values were held against recorded ones.
    pub(crate) values: usize,
    ids: Ids,
}

/// What differs between frames and what was recorded in a scenario.
pub(crate) fn compare(
    name: &str,
    scenario: &Scenario,
    tables: &Tables,
    limits: &Limits,
    frames: &[(String, Value)],
) -> Compared {
    let mut compared = Compared::default();
    for (label, frame) in frames {
        tables.check(label, frame, limits, |label, fault, path, detail| {
            let difference = Difference::Field(fault, label.to_owned(), path.to_owned());
            compared.found.add(difference, name, detail);
        });
    }
    let told = Told::of(scenario, scenario);
    let reader = Reader {
        told: &told,
        limits,
    };
    let came = seen::order(tables, &reader, in_order_of_calls(frames));
    let lanes: BTreeSet<&String> = scenario.frames.keys().chain(came.keys()).collect();
    for lane in lanes {
        let of = |lanes: &Lanes| lanes.get(lane).cloned().unwrap_or_default();
        compared.lane(name, &of(&scenario.frames), &of(&came));
    }
    compared
}

/// Results of calls that ran side by side come as each is done. Where nothing comes in between, they are put into the order of
/// their calls: which one was faster is chance.
fn in_order_of_calls(frames: &[(String, Value)]) -> Vec<(&str, &Value)> {
    let mut calls = Vec::new();
    for (_, frame) in frames
        .iter()
        .filter(|(_, frame)| frame["type"] == "assistant")
    {
        let blocks = frame["message"]["content"].as_array().into_iter().flatten();
        calls.extend(blocks.filter_map(|block| block["id"].as_str()));
    }
    let call_of = |index: usize| {
        let id = frames[index].1["message"]["content"][0]["tool_use_id"].as_str()?;
        calls.iter().position(|call| *call == id)
    };
    let mut order: Vec<usize> = (0..frames.len()).collect();
    let conversation = order.iter().copied();
    let conversation: Vec<usize> = conversation
        .filter(|index| lane(&frames[*index].0) == CONVERSATION)
        .collect();
    let are_results =
        |one: &usize, next: &usize| call_of(*one).is_some() && call_of(*next).is_some();
    for places in conversation.chunk_by(are_results) {
        let mut results = places.to_vec();
        results.sort_by_key(|index| call_of(*index));
        for (place, result) in places.iter().zip(results) {
            order[*place] = result;
        }
    }
    let frames = order.into_iter().map(|index| &frames[index]);
    frames
        .map(|(label, frame)| (label.as_str(), frame))
        .collect()
}

impl Compared {
    fn lane(&mut self, scenario: &str, recorded: &[Seen], came: &[Seen]) {
        let mut pairs = common(recorded, came);
        let mut missing: Vec<(usize, &str)> = unpaired(recorded, pairs.iter().map(|pair| pair.0));
        for (at, label) in unpaired(came, pairs.iter().map(|pair| pair.1)) {
            let behind = match at.checked_sub(1) {
                None => "at the beginning".to_owned(),
                Some(before) => format!("behind {}", came[before].name()),
            };
            let difference = match missing.iter().position(|(_, other)| *other == label) {
                None => Difference::FrameAdditional(label.to_owned()),
                Some(index) => {
                    pairs.push((missing.remove(index).0, at));
                    Difference::FrameMoved(label.to_owned())
                }
            };
            self.found.add(difference, scenario, behind);
        }
        for (at, label) in missing {
            let behind = match at.checked_sub(1) {
                None => "was at the beginning".to_owned(),
                Some(before) => format!("was behind {}", recorded[before].name()),
            };
            let difference = Difference::FrameMissing(label.to_owned());
            self.found.add(difference, scenario, behind);
        }
        for (one, other) in pairs {
            self.fields(scenario, &recorded[one], &came[other]);
            self.values(scenario, &recorded[one], &came[other]);
        }
    }

    /// The fields that not all frames of the name have.
    fn fields(&mut self, scenario: &str, recorded: &Seen, came: &Seen) {
        let (here, there) = (came.optional(), recorded.optional());
        let missing = there.iter().filter(|path| !here.contains(path));
        let additional = here.iter().filter(|path| !there.contains(path));
        let missing = missing.map(|path| (Fault::Missing, path));
        for (fault, path) in missing.chain(additional.map(|path| (Fault::Additional, path))) {
            let label = recorded.name().to_owned();
            let field = Difference::Field(fault, label, (*path).to_owned());
            self.found.add(field, scenario, "here".to_owned());
        }
    }

    /// The values that are in both.
    fn values(&mut self, scenario: &str, recorded: &Seen, came: &Seen) {
        for (key, was, is) in same::both(&recorded.values, &came.values) {
            self.values += 1;
            if !self.ids.are_same(was, is) {
                let (label, path) = (recorded.name().to_owned(), value::path(key));
                let difference = Difference::Field(Fault::OtherValue, label, path);
                let detail = format!("{is} in place of {was}");
                self.found.add(difference, scenario, detail);
            }
        }
    }
}

fn unpaired(all: &[Seen], paired: impl Iterator<Item = usize>) -> Vec<(usize, &str)> {
    let paired: Vec<usize> = paired.collect();
    (all.iter().enumerate())
        .filter(|(index, _)| !paired.contains(index))
        .map(|(index, seen)| (index, seen.name()))
        .collect()
}

/// The longest common subsequence of names, as pairs of places.
fn common(one: &[Seen], other: &[Seen]) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            lengths[i][j] = match one[i].name() == other[j].name() {
                true => lengths[i + 1][j + 1] + 1,
                false => lengths[i + 1][j].max(lengths[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < one.len() && j < other.len() {
        if one[i].name() == other[j].name() {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_side_by_side_are_held_against_the_order_of_their_calls() {
        let call = |id: &str| json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id}]}});
        let result = |id: &str| json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": id}]}});
        let frames = |ids: [&str; 3]| -> Vec<(String, Value)> {
            let named = |label: &str, frame| (label.to_owned(), frame);
            vec![
                named("assistant/tool_use", call("a")),
                named("assistant/tool_use", call("b")),
                named("assistant/tool_use", call("c")),
                named("user/tool_result", result(ids[0])),
                named("transcript_mirror", json!({})),
                named("user/tool_result", result(ids[1])),
                named("system/status", json!({})),
                named("user/tool_result", result(ids[2])),
            ]
        };
        let ids = |frames: &[(String, Value)]| -> Vec<String> {
            let ordered = in_order_of_calls(frames).into_iter();
            let ids =
                ordered.map(|(_, frame)| frame["message"]["content"][0]["tool_use_id"].clone());
            ids.filter_map(|id| id.as_str().map(str::to_owned))
                .collect()
        };
        assert_eq!(ids(&frames(["b", "a", "c"])), ["a", "b", "c"]);
        // What comes behind something else came later.
        assert_eq!(ids(&frames(["c", "b", "a"])), ["b", "c", "a"]);
    }

    #[test]
    fn what_is_missing_new_or_elsewhere_is_told_apart() {
        let seen = |frame: &str| Seen {
            frame: frame.to_owned(),
            ..Seen::default()
        };
        let list = |text: &str| text.split(',').map(seen).collect::<Vec<_>>();
        let mut compared = Compared::default();
        compared.lane("s", &list("a,b,c +x,d"), &list("b,a,c,e"));
        let found: Vec<String> = compared.found.0.keys().map(ToString::to_string).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        for wanted in [
            "missing     c: x",
            "missing     d",
            "additional  e",
            "moved       a",
        ] {
            assert!(found.iter().any(|one| one == wanted), "{found:?}");
        }
    }

    #[test]
    fn a_value_that_both_have_and_that_is_another_is_found() {
        let seen = |values: Value| Seen {
            frame: "a".to_owned(),
            values: serde_json::from_value(values).unwrap(),
        };
        let recorded =
            seen(json!({"b[x 1].c": 1, "d": "e", "list": "<1 of them>", "list[].x": 1, "f": 1}));
        let came = seen(json!({"b[x 1].c": 2, "d": "e", "list": "<2 of them>", "list[].x": 2}));
        let mut compared = Compared::default();
        compared.lane("s", &[recorded], &[came]);
        let found: Vec<String> = compared.found.0.keys().map(ToString::to_string).collect();
        assert_eq!(found, ["other_value a: b[x].c", "other_value a: list"]);
        assert_eq!(compared.values, 3);
    }
}
