//! The demonstration, and the scripted model on its own.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::Windlass;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/demo");

#[test]
fn loop_6_the_demonstration_repairs_its_project() {
    let windlass = Windlass::new();
    let done = windlass.run(&["demo", "--fast", "--keep"]);
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (Some(0), ""),
        "{}",
        done.stdout
    );
    for part in [
        "  ✗ Bash python3 -m unittest -q",
        "    FAILED (failures=2)",
        "  ✓ Read tests/test_discounts.py · 23 lines",
        "  ✓ Grep \"volume_percent\" in shop · 3 lines",
        "  ✓ Glob **/*.py · 9 files",
        "  ✓ Edit shop/discounts.py · -1 +1",
        "  ✓ Bash python3 -m unittest -q · OK",
        "  9 turns · 4,976 in · 1,016 out · 17,725 cached · $0.0392",
        "  ✓ python3 -m unittest -q · Ran 10 tests",
        "  ✓ changed: shop/discounts.py, nothing else",
        "  ✓ the model was asked what its script expects",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} is missing:\n{}",
            done.stdout
        );
    }
    let kept = done
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("The project is in "))
        .unwrap();
    let repaired = fs::read_to_string(Path::new(kept).join("shop/discounts.py")).unwrap();
    assert!(
        repaired.contains("bisect.bisect_right(_STARTS, copies)"),
        "{repaired}"
    );
}

#[test]
fn without_python_the_demonstration_says_what_is_missing() {
    let windlass = Windlass::new();
    let output = windlass
        .command(&["demo"])
        .env("PATH", windlass.workspace.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("python3") && said.contains("Install Python"),
        "{said}"
    );
}

/// What the browser is told that Bash answered must be what Bash answers.
#[test]
fn the_recorded_commands_answer_as_recorded() {
    let recorded: Value =
        serde_json::from_str(&fs::read_to_string(format!("{DEMO}/bash.json")).unwrap()).unwrap();
    let script: Value =
        serde_json::from_str(&fs::read_to_string(format!("{DEMO}/script.json")).unwrap()).unwrap();
    let calls = |tool: &'static str| {
        let blocks = script["exchanges"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|e| e["respond"]["content"].as_array());
        blocks
            .flatten()
            .filter(move |block| block["name"] == tool)
            .map(|block| block["input"].clone())
    };
    let project = tempfile::tempdir().unwrap();
    let root = project.path().canonicalize().unwrap();
    assert!(
        Command::new("cp")
            .args(["-r", &format!("{DEMO}/project/."), root.to_str().unwrap()])
            .status()
            .unwrap()
            .success()
    );

    let answers = recorded["calls"].as_array().unwrap();
    let commands: Vec<Value> = calls("Bash")
        .map(|input| input["command"].clone())
        .collect();
    assert_eq!(
        answers
            .iter()
            .map(|a| a["command"].clone())
            .collect::<Vec<_>>(),
        commands
    );
    for (index, answer) in answers.iter().enumerate() {
        if index == 1 {
            for edit in calls("Edit") {
                let file = edit["file_path"]
                    .as_str()
                    .unwrap()
                    .replace("${cwd}", root.to_str().unwrap());
                let text = fs::read_to_string(&file).unwrap();
                let (old, new) = (
                    edit["old_string"].as_str().unwrap(),
                    edit["new_string"].as_str().unwrap(),
                );
                assert_eq!(text.matches(old).count(), 1, "{old}");
                fs::write(&file, text.replace(old, new)).unwrap();
            }
        }
        let command = answer["command"].as_str().unwrap();
        let output = Command::new("bash")
            .args(["-c", command])
            .current_dir(&root)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code().map(i64::from),
            answer["exit_code"].as_i64()
        );
        for (stream, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
            let recorded = answer[stream]
                .as_str()
                .unwrap()
                .replace("${cwd}", root.to_str().unwrap());
            assert_eq!(
                essence(&String::from_utf8(bytes).unwrap()),
                essence(&recorded)
            );
        }
    }
}

/// The verdict without what differs between versions of Python and between runs.
fn essence(report: &str) -> Vec<String> {
    let telling = |line: &&str| {
        ["FAIL: ", "AssertionError", "Ran ", "OK", "FAILED"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let without_details = |line: &str| {
        line.split([' ', '('])
            .take_while(|w| !w.starts_with("tests.") && *w != "in")
            .collect::<Vec<_>>()
            .join(" ")
    };
    report
        .lines()
        .filter(telling)
        .map(without_details)
        .collect()
}

#[test]
fn the_scripted_model_is_served_until_a_signal_and_tells_whether_it_was_followed() {
    let windlass = Windlass::new();
    windlass.write(
        "script.json",
        r#"{"variables": {"name": null}, "exchanges": [{"respond": "Hello, ${name}."}]}"#,
    );
    for (ask, code) in [(true, 0), (false, 1)] {
        let args = ["model", "serve", "script.json", "--set", "name=Ada"];
        let mut server = windlass
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        if ask {
            let done = windlass.run(&["-p", "Hi", "--base-url", url.trim()]);
            assert_eq!(done.stdout, "Hello, Ada.\n", "{done:?}");
        }
        kill_process(Pid::from_child(&server), Signal::INT).unwrap();
        let mut said = String::new();
        server
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(server.wait().unwrap().code(), Some(code), "{said}");
    }
    let done = windlass.run(&["model", "serve", "no-such.json"]);
    assert!(
        done.complaint(3).contains("the script `no-such.json`"),
        "{done:?}"
    );
    windlass.write("script.json", r#"{"exchanges": []}"#);
    let done = windlass.run(&["model", "serve", "script.json"]);
    assert_eq!(done.code, Some(3), "{done:?}");
}
