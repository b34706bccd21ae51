//! `cargo xtask bench`: what windlass costs, as ratios against baselines measured in the same run.
//!
//! Absolute times drift with the machine; a ratio of two things measured in turns does not. Every
//! figure is the median over several rounds, ours and the baseline taking turns.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

mod browser;
mod command;
mod component;
mod decode;
mod engine;
mod flat;
mod idle;
mod installed;
mod judging;
mod kept;
mod plugins;
mod process;
mod search;
mod server;
mod session;
mod size;
mod start;
mod table;

use std::process::ExitCode;

use table::Table;

/// Clients run in processes of their own, so that their CPU time and memory are theirs alone.
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["idle", count] => idle::client(count),
        ["client", kind, url, turns] => session::client(kind, url, turns),
        ["kept", kind, url, folder] => kept::client(kind, url, folder),
        ["engine", program, url, cache] => engine::client(program, url, cache),
        only => run(only),
    }
}

/// A group of figures: its name, and what measures it.
type Part = (&'static str, fn(&mut Table));

fn run(only: &[&str]) -> ExitCode {
    let parts: [Part; 14] = [
        // A process starts others the more slowly the larger it is, and the groups behind make this one large.
        ("command", command::measure),
        ("session", session::measure),
        ("kept", kept::measure),
        ("idle", idle::measure),
        ("decode", decode::measure),
        ("judging", judging::measure),
        ("component", component::measure),
        ("plugins", plugins::measure),
        ("search", search::measure),
        ("start", start::measure),
        ("installed", installed::measure),
        ("engine", engine::measure),
        ("size", size::measure),
        ("browser", browser::measure),
    ];
    if let Some(unknown) = only
        .iter()
        .find(|o| parts.iter().all(|(name, _)| name != *o))
    {
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "there is no benchmark named {unknown}: the names are {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    }
    let mut table = Table::default();
    for (name, measure) in parts {
        if only.is_empty() || only.contains(&name) {
            eprintln!("measuring {name} …");
            measure(&mut table);
        }
    }
    println!("{table}");
    ExitCode::SUCCESS
}
