//! The tutorial for plugins (`docs/plugins.md`), followed to the letter.

use std::path::Path;

use serde_json::json;
use windlass::model_server::ModelServer;

use crate::{
    plugin_authoring::{COMPONENTIZE_PY, COMPONENTIZE_QJS, installed, with_cargo},
    support::{Done, Windlass},
};

const TUTORIAL: &str = include_str!("../../../docs/plugins.md");

/// A section of it.
fn section(title: &str) -> &'static str {
    let (_, section) = TUTORIAL.split_once(&format!("\n## {title}\n")).unwrap();
    section.split("\n## ").next().unwrap()
}

/// What a page says to do.
enum Step<'a> {
    /// Put this text into a file.
    Write { path: &'a str, text: String },
    /// Run a command, which prints these lines.
    Run {
        command: &'a str,
        output: Vec<&'a str>,
    },
}

/// The steps of a section: blocks of a console, and other blocks for the file that the text before them names last.
fn steps(section: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut lines = section.lines();
    let mut file = None;
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            let quoted = line.split('`').skip(1).step_by(2);
            file = quoted
                .filter(|word| word.starts_with("count/"))
                .last()
                .or(file);
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if language != "console" {
            let path = file.take().expect("a block belongs to a file");
            let text = block.join("\n");
            steps.push(Step::Write { path, text });
            continue;
        }
        for line in block {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step::Run {
                    command,
                    output: Vec::new(),
                }),
                (None, Some(Step::Run { output, .. })) => output.push(line),
                (None, _) => panic!("no command before {line:?}"),
            }
        }
    }
    steps
}

/// Whether the lines are those of the page, where `…` stands for anything.
fn is_like(said: &[&str], expected: &[&str]) -> bool {
    match (said, expected) {
        ([], []) => true,
        (_, [dots, rest @ ..]) if dots.trim() == "…" => {
            (0..=said.len()).any(|skipped| is_like(&said[skipped..], rest))
        }
        ([line, said @ ..], [pattern, expected @ ..]) => {
            is_line_like(line, pattern) && is_like(said, expected)
        }
        _ => false,
    }
}

fn is_line_like(line: &str, pattern: &str) -> bool {
    match pattern.split_once('…') {
        None => line == pattern,
        Some((start, end)) => {
            let rest = line.strip_prefix(start);
            rest.is_some_and(|rest| rest.ends_with(end))
        }
    }
}

/// Does what a section says, and returns the number of its commands.
fn follow(section: &str, windlass: &Windlass, tools: &[(&str, &str)]) -> usize {
    let program = Path::new(env!("CARGO_BIN_EXE_windlass"));
    let mut path = vec![program.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut commands = 0;
    for step in steps(section) {
        match step {
            Step::Write { path, text } => windlass.write(path, &text),
            Step::Run { command, output } => {
                let mut shell = with_cargo(windlass.program("sh", &["-c", command]));
                shell
                    .env("PATH", std::env::join_paths(&path).unwrap())
                    .env("ANTHROPIC_API_KEY", "none")
                    .envs(tools.iter().map(|(name, path)| (name, installed(path))));
                let done = Done::of(&shell.output().unwrap());
                assert_eq!(done.code, Some(0), "{command}: {done:?}");
                let said: Vec<&str> = done.stdout.lines().collect();
                assert!(
                    is_like(&said, &output),
                    "{command}: {done:?}, not {output:#?}"
                );
                commands += 1;
            }
        }
    }
    commands
}

#[test]
fn card_5_the_tutorial_for_plugins_in_rust_works_to_the_letter() {
    let script = json!({"exchanges": [
        {
            "expect": {"tools_include": ["CountLines", "CountWords"]},
            "respond": {"content": [{"type": "tool_use", "name": "CountWords", "input": {"file_path": "notes.txt"}}]},
        },
        {
            "expect": {"tool_results": [{"contains": "3", "is_error": false}]},
            "respond": "It has three words.",
        },
    ]});
    let script = windlass::model_server::Script::parse(&script.to_string()).unwrap();
    let server = ModelServer::start(script).unwrap();
    let windlass = Windlass::asking(&server);
    let commands = follow(section("Writing one in Rust"), &windlass, &[]);
    assert!(commands > 4, "{commands}");
    server.verify().unwrap();
}

#[test]
fn card_5_the_tutorial_for_plugins_in_javascript_works_to_the_letter() {
    let section = section("Writing one in JavaScript");
    assert_eq!(follow(section, &Windlass::new(), &[COMPONENTIZE_QJS]), 3);
}

#[test]
fn card_5_the_tutorial_for_plugins_in_python_works_to_the_letter() {
    let section = section("Writing one in Python");
    assert_eq!(follow(section, &Windlass::new(), &[COMPONENTIZE_PY]), 3);
}
