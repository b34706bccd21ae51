//! The file tools, raced: somebody swaps folders and links while a model reads, writes and searches.

#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use windlass::plugins::{Cache, PluginHost, PluginHostConfig};

use crate::support::{Model, calls, messages, tool_results};

const SECRET: &str = "TOP-SECRET";

/// Calls in one answer of the model.
const BATCH: usize = 120;

/// Calls in the test command. `WINDLASS_ATTACK_ROUNDS` says how many accesses an attack makes; a call of a tool, which is a session's
/// work, stands for so many of them.
const ROUNDS: usize = 2 * BATCH;
const ACCESSES: usize = 20;

/// Calls in one session: the model's script and the session's history are held in memory.
const OF_SESSION: usize = 10 * BATCH;

/// One call of each kind, again and again.
fn attempt(number: usize) -> (&'static str, Value) {
    let path = "race/d/f";
    match number % 6 {
        0 => ("Read", json!({"file_path": path})),
        1 => (
            "Edit",
            json!({"file_path": path, "old_string": "fine", "new_string": "fine"}),
        ),
        2 => (
            "Write",
            json!({"file_path": format!("race/d/new-{number}"), "content": "written"}),
        ),
        3 => (
            "Grep",
            json!({"pattern": "SECRET", "path": "race", "output_mode": "content"}),
        ),
        4 => ("Glob", json!({"pattern": "**/only-*", "path": "race"})),
        _ => (
            "Write",
            json!({"file_path": format!("race/d/below-{number}/f"), "content": "written"}),
        ),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What the tools of one session answer.
fn session(work: &Path, plugins: &PluginHost, from: usize, count: usize) -> Vec<String> {
    let batches: Vec<Vec<(&str, Value)>> = (from / BATCH..(from + count) / BATCH)
        .map(|batch| (batch * BATCH..(batch + 1) * BATCH).map(attempt).collect())
        .collect();
    let exchanges = batches.iter().map(|batch| calls(batch));
    let exchanges = exchanges.chain([json!({"respond": "done"})]);
    let model = Model::of(exchanges.collect());
    let agent = model
        .agent()
        .builtin_tools()
        .plugin_host(plugins.clone())
        .allowed_tools(["Read(./race/**)", "Edit(./race/**)", "Glob", "Grep"])
        .disallowed_tools(["Read(./closed/**)"])
        .cwd(work)
        .build()
        .unwrap();
    let told = tokio::task::block_in_place(|| {
        let mut run = agent.query("go");
        tokio::runtime::Handle::current().block_on(messages(&mut run))
    });
    tool_results(&told)
}

#[tokio::test(flavor = "multi_thread")]
async fn conf_5_no_tool_reaches_what_a_swapped_link_leads_to() {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse::<usize>().unwrap() / ACCESSES);
    let ground = tempfile::tempdir().unwrap();
    let root = ground.path().canonicalize().unwrap();
    let work = root.join("w");
    let closed = [root.join("outside"), work.join("closed")];
    fs::create_dir_all(work.join("race/d")).unwrap();
    fs::write(work.join("race/d/f"), "fine\n").unwrap();
    for (place, link) in closed.iter().zip(["out", "in"]) {
        fs::create_dir_all(place).unwrap();
        fs::write(place.join("f"), SECRET).unwrap();
        fs::write(place.join("only-here"), SECRET).unwrap();
        symlink(place, work.join("race").join(link)).unwrap();
    }
    let plugins = PluginHost::new(PluginHostConfig {
        cache: Cache::of_user(),
        ..PluginHostConfig::default()
    });
    let stop = AtomicBool::new(false);
    let (tried, through) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let folder = work.join("race/d");
            while !stop.load(Ordering::Relaxed) {
                for link in ["out", "in"] {
                    let link = work.join("race").join(link);
                    for _ in 0..2 {
                        // Both are always there: nobody else renames them.
                        let _ = renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE);
                        std::thread::yield_now();
                    }
                }
            }
        });
        let mut tried = 0;
        let mut through = None;
        while tried < rounds && through.is_none() {
            let count = OF_SESSION.min(rounds - tried).next_multiple_of(BATCH);
            let results = session(&work, &plugins, tried, count);
            let is_through =
                |result: &String| result.contains(SECRET) || result.contains("only-here");
            through = results.iter().find(|result| is_through(result)).cloned();
            if results.len() != count {
                let answered = results.len();
                through = Some(format!("{answered} of {count} calls were answered"));
            }
            tried += count;
        }
        stop.store(true, Ordering::Relaxed);
        (tried, through)
    });
    eprintln!("tried: {tried} calls of tools");
    assert_eq!(through, None);
    for place in &closed {
        assert_eq!(names(place), ["f", "only-here"], "in {}", place.display());
        assert_eq!(fs::read_to_string(place.join("f")).unwrap(), SECRET);
    }
}
