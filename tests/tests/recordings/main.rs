//! Frames as recordings of another engine have them: their order, their types, their fields.
//!
//! `tests/recordings` holds what recordings teach: scenarios (what an SDK says, what the model answers, which frames
//! come in which order) and `frames.toml` (the fields of each frame). Both are written by `write_what_recordings_teach`
//! from the directory that `$WINDLASS_RECORDINGS` names. What is not so here stands in `differences.toml`, with the
//! reason. `$WINDLASS_SCENARIO` picks scenarios by a pattern.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod compare;
mod differences;
mod label;
mod pattern;
mod play;
mod recording;
mod same;
mod scenario;
mod seen;
mod shape;
mod stage;
mod told;
mod usual;
mod value;

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Mutex, thread};

use windlass_tests::artefacts;

use self::{
    compare::Compared,
    differences::{Difference, Differences, Reasons},
    recording::{Recording, VARIABLE},
    scenario::Scenario,
    shape::Tables,
    stage::Stage,
    told::Told,
    value::Reader,
};

/// A file of `tests/recordings`.
fn data(name: &str) -> PathBuf {
    artefacts::repository().join("tests/recordings").join(name)
}

#[test]
fn sdk_1_frames_come_in_the_order_and_with_the_fields_and_values_that_were_recorded() {
    let stage = Stage::read();
    let tables = Tables::parse(&fs::read_to_string(data("frames.toml")).unwrap()).unwrap();
    play_all(&Scenario::all(), &tables, &stage);
}

#[test]
#[ignore = "needs recordings of the original engine"]
fn sdk_1_the_sdks_side_of_recordings_gives_the_recorded_frames() {
    let stage = Stage::read();
    let recordings = recordings(&stage);
    let tables = learn_tables(&recordings, &stage);
    let as_it_was = |scenario: Scenario| scenario;
    let scenarios = learn_scenarios(&recordings, &tables, &stage, as_it_was);
    play_all(&scenarios, &tables, &stage);
}

#[test]
#[ignore = "needs recordings of the original engine"]
fn what_is_committed_is_what_recordings_teach() {
    for (name, text) in written() {
        let committed = fs::read_to_string(data(&name)).unwrap_or_default();
        assert!(
            committed == text,
            "tests/recordings/{name} is not what the recordings teach: {AGAIN}"
        );
    }
}

/// The recordings, which are not part of the repository.
fn recordings(stage: &Stage) -> Vec<Recording> {
    let all = recording::all(stage).unwrap();
    all.unwrap_or_else(|| panic!("${VARIABLE} names no directory of recordings"))
}

/// How the tables are made.
const AGAIN: &str =
    "run `cargo test --workspace --test recordings -- --ignored write_what_recordings_teach`";

#[test]
#[ignore = "writes into the repository"]
fn write_what_recordings_teach() {
    let files = written();
    let scenarios = data("scenarios");
    if scenarios.exists() {
        fs::remove_dir_all(&scenarios).unwrap();
    }
    fs::create_dir_all(&scenarios).unwrap();
    for (name, text) in files {
        fs::write(data(&name), text).unwrap();
    }
}

/// The files that recordings give, by their names.
fn written() -> BTreeMap<String, String> {
    let stage = Stage::read();
    let recordings = recordings(&stage);
    let tables = learn_tables(&recordings, &stage);
    let mut scenarios = learn_scenarios(&recordings, &tables, &stage, Scenario::in_our_words);
    let usual = usual::learn(&scenarios);
    usual::take(&usual, &mut scenarios);
    let head = "# The fields of frames, their JSON kinds, and which are not always there (`? `). Written from recordings,\n\
                # never by hand: tests/tests/recordings.\n";
    let json = |text: serde_json::Result<String>| text.unwrap() + "\n";
    let mut files = BTreeMap::from([
        (
            "frames.toml".to_owned(),
            head.to_owned() + &tables.to_toml(),
        ),
        (
            "values.json".to_owned(),
            json(serde_json::to_string_pretty(&usual)),
        ),
    ]);
    for (name, scenario) in scenarios {
        let text = json(serde_json::to_string_pretty(&scenario));
        files.insert(format!("scenarios/{name}.json"), text);
    }
    files
}

/// The fields of frames that are in recordings.
fn learn_tables(recordings: &[Recording], stage: &Stage) -> Tables {
    let mut tables = Tables::default();
    for recording in recordings {
        for (label, frame) in recording.frames() {
            tables.learn(&label, frame, &stage.limits);
        }
    }
    tables
}

/// The scenarios that are in recordings, in the words in which they are to be played.
fn learn_scenarios(
    recordings: &[Recording],
    tables: &Tables,
    stage: &Stage,
    in_words: impl Fn(Scenario) -> Scenario,
) -> BTreeMap<String, Scenario> {
    let scenario = |recording: &Recording| {
        let recorded = recording.scenario(stage);
        let mut played = in_words(recorded.clone());
        let told = Told::of(&recorded, &played);
        let reader = Reader {
            told: &told,
            limits: &stage.limits,
        };
        let frames = recording.frames();
        let frames = frames.iter().map(|(label, frame)| (label.as_str(), *frame));
        played.frames = seen::order(tables, &reader, frames);
        same::name_ids(&mut played.frames);
        (recording.name.clone(), played)
    };
    recordings.iter().map(scenario).collect()
}

/// Plays scenarios, two at a time, and holds what comes against the tables and the reasons.
fn play_all(all: &BTreeMap<String, Scenario>, tables: &Tables, stage: &Stage) {
    let chosen = std::env::var("WINDLASS_SCENARIO").ok();
    let names = all.keys().map(String::as_str);
    let names = names.filter(|name| {
        let pattern = chosen.as_deref().unwrap_or("*");
        pattern::fits(pattern, name)
    });
    let waiting = Mutex::new(names.collect::<Vec<_>>().into_iter());
    let played = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some(name) = next else { break };
                    let one = play_one(name, all, tables, stage);
                    played.lock().unwrap().push(one);
                }
            });
        }
    });
    let played = played.into_inner().unwrap();
    let frames: usize = played.iter().map(|(_, frames)| frames).sum();
    let values: usize = played.iter().map(|(compared, _)| compared.values).sum();
    let looked_at = format!(
        "{} scenarios, {frames} frames, {values} values",
        played.len()
    );
    let mut differences = Differences::default();
    for (compared, _) in played {
        differences.extend(compared.found);
    }
    Reasons::read()
        .judge(&differences, chosen.is_none())
        .settle(&looked_at);
}

fn play_one(
    name: &str,
    all: &BTreeMap<String, Scenario>,
    tables: &Tables,
    stage: &Stage,
) -> (Compared, usize) {
    let scenario = &all[name];
    let played = play::play(name, all);
    let mut compared = compare::compare(name, scenario, tables, &stage.limits, &played.frames);
    if played.exit != scenario.exit {
        let shown = |code: Option<i32>| code.map_or("a signal".to_owned(), |code| code.to_string());
        let codes = format!(
            "{} in place of {}",
            shown(played.exit),
            shown(scenario.exit)
        );
        compared
            .found
            .add(Difference::Exit(codes), name, played.remarks.clone());
    }
    if let Some(what) = played.hangs {
        compared
            .found
            .add(Difference::Hangs(what), name, played.remarks.clone());
    }
    if std::env::var_os("WINDLASS_SCENARIO").is_some() {
        println!("{name}: {}", played.remarks);
        for (label, frame) in &played.frames {
            println!("{label}\n    {frame}");
        }
    }
    (compared, played.frames.len())
}
