//! Holding frames against what was recorded.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    differences::{Difference, Differences},
    label::{is_piece, lane},
    scenario::Scenario,
    shape::{Fault, Limits, Tables},
};

/// The order of frames: in each lane their names, each with the fields that such frames do not always have.
pub(crate) fn order<'a>(
    tables: &Tables,
    frames: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> BTreeMap<String, Vec<String>> {
    let mut lanes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (label, frame) in frames {
        if label == "keep_alive" {
            continue;
        }
        let lane = lanes.entry(lane(label).to_owned()).or_default();
        let mut shown = label.to_owned();
        for name in tables.optional(label, frame) {
            shown.push_str(" +");
            shown.push_str(name);
        }
        let repeats = is_piece(label) && lane.last().is_some_and(|last| name(last) == label);
        if !repeats {
            lane.push(shown);
        }
    }
    lanes
}

/// What differs between frames and what was recorded in a scenario.
pub(crate) fn compare(
    name: &str,
    scenario: &Scenario,
    tables: &Tables,
    limits: &Limits,
    frames: &[(String, Value)],
) -> Differences {
    let mut found = Differences::default();
    for (label, frame) in frames {
        tables.check(label, frame, limits, |label, fault, path, detail| {
            let difference = Difference::Field(fault, label.to_owned(), path.to_owned());
            found.add(difference, name, detail);
        });
    }
    let came = order(
        tables,
        frames.iter().map(|(label, frame)| (label.as_str(), frame)),
    );
    let lanes: BTreeSet<&String> = scenario.frames.keys().chain(came.keys()).collect();
    for lane in lanes {
        let of =
            |frames: &BTreeMap<String, Vec<String>>| frames.get(lane).cloned().unwrap_or_default();
        compare_lane(name, &of(&scenario.frames), &of(&came), &mut found);
    }
    found
}

fn compare_lane(scenario: &str, recorded: &[String], came: &[String], found: &mut Differences) {
    let pairs = common(recorded, came);
    let mut missing: Vec<(usize, &str)> = unpaired(recorded, pairs.iter().map(|pair| pair.0));
    for (at, label) in unpaired(came, pairs.iter().map(|pair| pair.1)) {
        let behind = match at.checked_sub(1) {
            None => "at the beginning".to_owned(),
            Some(before) => format!("behind {}", name(&came[before])),
        };
        let difference = match missing.iter().position(|(_, other)| *other == label) {
            None => Difference::FrameAdditional(label.to_owned()),
            Some(index) => {
                missing.remove(index);
                Difference::FrameMoved(label.to_owned())
            }
        };
        found.add(difference, scenario, behind);
    }
    for (at, label) in missing {
        let behind = match at.checked_sub(1) {
            None => "was at the beginning".to_owned(),
            Some(before) => format!("was behind {}", name(&recorded[before])),
        };
        found.add(Difference::FrameMissing(label.to_owned()), scenario, behind);
    }
    for (one, other) in pairs {
        let label = name(&recorded[one]);
        let (recorded, came) = (optional(&recorded[one]), optional(&came[other]));
        for path in recorded.iter().filter(|path| !came.contains(path)) {
            let field = Difference::Field(Fault::Missing, label.to_owned(), (*path).to_owned());
            found.add(field, scenario, "here".to_owned());
        }
        for path in came.iter().filter(|path| !recorded.contains(path)) {
            let field = Difference::Field(Fault::Additional, label.to_owned(), (*path).to_owned());
            found.add(field, scenario, "here".to_owned());
        }
    }
}

/// The name of a frame that is shown with fields.
fn name(shown: &str) -> &str {
    shown.split_once(' ').map_or(shown, |(name, _)| name)
}

fn optional(shown: &str) -> Vec<&str> {
    shown.split(" +").skip(1).collect()
}

fn unpaired(all: &[String], paired: impl Iterator<Item = usize>) -> Vec<(usize, &str)> {
    let paired: Vec<usize> = paired.collect();
    (all.iter().enumerate())
        .filter(|(index, _)| !paired.contains(index))
        .map(|(index, shown)| (index, name(shown)))
        .collect()
}

/// The longest common subsequence of names, as pairs of places.
fn common(one: &[String], other: &[String]) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            lengths[i][j] = match name(&one[i]) == name(&other[j]) {
                true => lengths[i + 1][j + 1] + 1,
                false => lengths[i + 1][j].max(lengths[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < one.len() && j < other.len() {
        if name(&one[i]) == name(&other[j]) {
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
    use super::*;

    #[test]
    fn what_is_missing_new_or_elsewhere_is_told_apart() {
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut found = Differences::default();
        compare_lane("s", &list("a,b,c +x,d"), &list("b,a,c,e"), &mut found);
        let found: Vec<String> = found.0.keys().map(ToString::to_string).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        for wanted in [
            "missing    c: x",
            "missing    d",
            "additional e",
            "moved      a",
        ] {
            assert!(found.iter().any(|one| one == wanted), "{found:?}");
        }
    }
}
