//! The judge is seen to find something: pointed at the scanner that was given up, it finds every class of lines that
//! got through.
#![allow(clippy::unwrap_used)]

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
                Detect::Aborts => true,
            }
        };
        let found: Vec<_> = class.lines.iter().filter(through).collect();
        println!(
            "{:>2} of {:>2}: {}",
            found.len(),
            class.lines.len(),
            class.name
        );
        for (_, text) in class.lines.iter().filter(|line| !through(line)) {
            println!("    held: {text:?}");
        }
        if found.is_empty() {
            missed.push(class.name);
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
