//! Thousands of seeded runs in which everything that can go wrong does, at every moment it can: answers in any
//! order, errors, cut streams, interrupts, denials, lost answers, a host that breaks the contract, a session
//! put away and taken up again. After every step the promises of the machine are checked (`testkit::oracle`).
//!
//! `cargo xtask test` runs more seeds, and `cargo xtask simulate` as many as one likes.

mod rows;
mod worlds;

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::{
    diagram,
    message::{Message, SystemMessage, TaskEnd, TaskKind},
};
use windlass_testkit::{
    FaultKind, Faults, Generated, Incident, IncidentKind, Scene, Sim, SimRun, World as _,
};

/// Runs these seeds; the first that breaks a promise ends the test, with what led to it.
fn runs(sim: &Sim, seeds: std::ops::Range<u64>) -> Vec<SimRun> {
    seeds
        .map(|seed| sim.run(seed).unwrap_or_else(|failure| panic!("{failure}")))
        .collect()
}

#[test]
fn loop_13_whatever_is_interrupted_the_history_stays_valid_and_the_session_usable() {
    runs(&Sim::generated(), 0..150);
}

#[test]
fn loop_5_every_prompt_has_exactly_one_result_and_it_is_last_whatever_happens() {
    let prompts: usize = runs(&Sim::generated(), 10_000..10_150)
        .iter()
        .map(|run| run.prompts)
        .sum();
    assert!(prompts > 400, "{prompts}: too few to mean anything");
}

#[test]
fn card_1_the_same_seed_gives_the_same_outputs_byte_for_byte() {
    for seed in 20_000..20_050 {
        let [first, second] = [0, 1].map(|_| runs(&Sim::generated(), seed..seed + 1));
        assert_eq!(first, second);
    }
}

#[test]
fn card_1_the_order_of_answers_changes_no_effect_name() {
    let sim = Sim::generated();
    for seed in 0..100 {
        sim.permuted(seed)
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}

/// Wherever a run is when the program ends: what is taken up keeps every promise to the end.
#[test]
fn sess_1_a_run_gets_over_a_crash_at_each_of_its_steps() {
    let sim = Sim::generated();
    let mut crashes = 0;
    for seed in [3, 8] {
        let steps = runs(&sim, seed..seed + 1)[0].steps;
        for step in 1..=steps {
            let run = sim.crashing_at(seed, step);
            let run = run.unwrap_or_else(|failure| panic!("{failure}"));
            assert!(run.faults[&FaultKind::Crash] > 0);
            crashes += 1;
        }
    }
    assert!(crashes > 100, "{crashes}: too few to mean anything");
}

#[test]
fn sess_1_after_every_step_a_session_can_be_put_away_and_taken_up_again() {
    for run in runs(&Sim::generated(), 50_000..50_020) {
        assert_eq!(run.restores.fixed_points, run.steps);
    }
    let always = Faults {
        restore: 1000,
        ..Faults::everything()
    };
    let sim = Sim::new(Generated::new).faults(always).in_every_weather();
    let (mut steps, mut twins) = (0, 0);
    for run in runs(&sim, 51_000..51_020) {
        steps += run.steps;
        twins += run.restores.same_step + run.restores.asked_again;
    }
    assert!(twins * 5 > steps, "{twins} of {steps} steps");
}

/// What is looked at less often happens all the same.
#[test]
fn card_1_a_seed_is_the_same_run_however_often_the_session_is_put_away() {
    let sparse = Faults {
        restore_bytes: false,
        ..Faults::everything()
    };
    let sparse = Sim::generated().faults(sparse);
    for seed in 52_000..52_020 {
        let [whole, sparse] = [&Sim::generated(), &sparse].map(|sim| runs(sim, seed..seed + 1));
        let (whole, sparse) = (&whole[0], &sparse[0]);
        assert_eq!(whole.digest, sparse.digest, "{seed}");
        assert_eq!(whole.restores.same_step, sparse.restores.same_step);
        assert!(whole.restores.fixed_points > 2 * sparse.restores.fixed_points);
    }
}

#[test]
fn every_row_of_the_transition_table_is_taken() {
    let mut rows = rows::Rows::default();
    let mut seeds = 30_000..36_000;
    let bad_weather = Sim::new(Generated::new).faults(Faults {
        restore: 0,
        ..Faults::everything()
    });
    let table: BTreeSet<String> = diagram()
        .lines()
        .filter(|line| line.contains(" : "))
        .map(|line| line.trim().to_owned())
        // A row that leads back to where it began cannot be told from the phases; `loop_12_…` shows it.
        .filter(|row| row != "Calling --> Calling : FallBack")
        // The same; `a_model_that_calls_tools_in_place_of_writing_…` shows it.
        .filter(|row| row != "Compacting --> Compacting : Compact")
        // A refusal of just the request that shows a picture for the first time: few seeds meet it; `loop_9_results_…` shows it.
        .filter(|row| row != "Calling --> SavingResults : Mend")
        .collect();
    while !table.is_subset(&rows.taken)
        && let Some(seed) = seeds.next()
    {
        for run in runs(&bad_weather, seed..seed + 1) {
            run.phases.iter().for_each(|change| rows.note(*change));
        }
    }
    let missing: Vec<&String> = table.difference(&rows.taken).collect();
    assert!(missing.is_empty(), "rows nobody takes: {missing:#?}");
}

/// A world in which nobody is at work shows nothing: what can happen to a conversation must happen to its agents too.
#[test]
fn everything_that_goes_wrong_goes_wrong_beside_agents_too() {
    let mut happened: BTreeSet<Incident> = BTreeSet::new();
    let mut faults: BTreeMap<FaultKind, u64> = BTreeMap::new();
    let all: BTreeSet<Incident> = IncidentKind::ALL
        .into_iter()
        .flat_map(|kind| Scene::ALL.map(|scene| Incident { kind, scene }))
        // Rare: its model is hardly ever cut off beside a call that nobody waits for.
        .filter(|it| it.scene != Scene::BackgroundCall || it.kind != IncidentKind::Cut)
        .collect();
    let mut seeds = 44_300..50_300;
    while !(all.is_subset(&happened) && faults.len() == FaultKind::ALL.len())
        && let Some(seed) = seeds.next()
    {
        for run in runs(&Sim::generated(), seed..seed + 1) {
            happened.extend(run.incidents);
            for (kind, times) in run.faults {
                *faults.entry(kind).or_default() += times;
            }
        }
    }
    let missing: Vec<&Incident> = all.difference(&happened).collect();
    assert!(missing.is_empty(), "what never happens: {missing:#?}");
    assert_eq!(faults.len(), FaultKind::ALL.len(), "only {faults:?}");
}

#[test]
fn the_model_speaks_either_wire_format() {
    let chats = (0..1_000).filter(|seed| {
        let spec = Generated::new(*seed).spec();
        // Only messages of the other wire format need to be put into it.
        spec.model.provider.translator().is_some()
    });
    let chats = chats.count();
    assert!((150..400).contains(&chats), "{chats} of 1000 worlds");
}

#[test]
fn background_tasks_come_to_their_ends_in_every_way() {
    let all: BTreeSet<(&str, &str)> = [
        (TaskKind::LocalAgent, TaskEnd::Completed),
        (TaskKind::LocalAgent, TaskEnd::Failed),
        (TaskKind::LocalAgent, TaskEnd::Stopped),
        (TaskKind::LocalBash, TaskEnd::Completed),
        (TaskKind::LocalBash, TaskEnd::Failed),
    ]
    .map(|(kind, end)| (kind.name(), end.name()))
    .into();
    let mut ends = BTreeSet::new();
    let mut seeds = 42_000..46_000;
    while !all.is_subset(&ends)
        && let Some(seed) = seeds.next()
    {
        let run = runs(&Sim::generated(), seed..seed + 1).remove(0);
        let mut kinds = std::collections::BTreeMap::new();
        for message in &run.messages {
            match message {
                Message::System(SystemMessage::TaskStarted(task)) => {
                    kinds.insert(task.task_id.clone(), task.task_type);
                }
                Message::System(SystemMessage::TaskNotification(task)) => {
                    let kind = kinds[&task.task_id].map(TaskKind::name);
                    ends.insert((kind.unwrap_or_default(), task.status.name()));
                }
                _ => {}
            }
        }
    }
    assert!(all.is_subset(&ends), "not all ends: {ends:?}");
}
