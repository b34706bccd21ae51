//! The judge is seen to find something: pointed at the scanner that was given up, it finds every class of lines that
//! got through.
#![allow(clippy::unwrap_used)]

use std::{
    io::Write as _,
    os::unix::process::ExitStatusExt as _,
    process::{Command, Stdio},
};

use windlass_shell_judge::{
    CLASSES, Detect, Fault, Former, Line, Permissions, Reading, Stage, Tried, try_line, written_out,
};

fn line(permissions: &str, text: &str) -> Line {
    Line {
        seed: 0,
        permissions: Permissions::named(permissions).unwrap(),
        text: text.to_owned(),
    }
}

/// Whether judging a line ends the process that does so.
fn aborts(text: &str) -> bool {
    let mut program = Command::new(env!("CARGO_BIN_EXE_shell-judge"))
        .arg("--former-reads")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    program
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    program.wait().unwrap().signal().is_some()
}

#[test]
fn every_class_got_through_the_former_design() {
    let stage = Stage::new().unwrap();
    let mut missed = Vec::new();
    for class in CLASSES {
        assert!(
            class.lines.len() >= 5,
            "{}: {} lines",
            class.name,
            class.lines.len()
        );
        let through = |(permissions, text): &&(&str, &str)| {
            let line = line(permissions, &written_out(text));
            match class.detect {
                Detect::Runs => {
                    matches!(
                        try_line(&line, &Former, &stage).unwrap(),
                        Tried::Faulty(Fault::Ran { .. } | Fault::Wrote { .. })
                    )
                }
                Detect::Passes => Former
                    .passes(&line.text, &line.permissions, &stage)
                    .is_some(),
                Detect::Aborts => aborts(&line.text),
            }
        };
        let found: Vec<_> = match class.detect {
            // One is enough: some of them take a minute.
            Detect::Aborts => class.lines.iter().find(through).into_iter().collect(),
            _ => class.lines.iter().filter(through).collect(),
        };
        println!(
            "{:>2} of {:>2}: {}",
            found.len(),
            class.lines.len(),
            class.name
        );
        if found.is_empty() {
            missed.push(class.name);
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
