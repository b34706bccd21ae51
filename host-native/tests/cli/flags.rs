//! What a flag or a variable of its own does, seen from outside.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Windlass, calling, saying};

#[test]
fn perm_11_a_further_folder_is_read_unasked() {
    for (is_named, is_read) in [(true, true), (false, false)] {
        let further = tempfile::tempdir().unwrap();
        let note = further.path().join("note.txt");
        fs::write(&note, "Buy milk\n").unwrap();
        let server = calling("Read", &json!({ "file_path": note }), "Done.");
        let windlass = Windlass::asking(&server);
        let mut command = windlass.command(&["-p", "go"]);
        if is_named {
            command.arg("--add-dir").arg(further.path());
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let answered = String::from_utf8_lossy(&server.requests()[1].body).into_owned();
        assert_eq!(answered.contains("Buy milk"), is_read, "{answered}");
    }
}

/// As JSON and as a file, before the settings of the person.
#[test]
fn conf_1_settings_of_a_flag_are_stronger_than_files() {
    let of_flag = json!({"model": "claude-opus-4-6"}).to_string();
    for (flags, model) in [
        (&["--settings", of_flag.as_str()][..], "claude-opus-4-6"),
        (&["--settings", "further.json"], "claude-opus-4-6"),
        (&[], "claude-haiku-4-5"),
    ] {
        let server = saying(["Hello."]);
        let windlass = Windlass::asking(&server);
        windlass.write("further.json", &of_flag);
        fs::create_dir_all(windlass.home().join(".claude")).unwrap();
        let of_person = json!({"model": "claude-haiku-4-5"}).to_string();
        fs::write(windlass.home().join(".claude/settings.json"), of_person).unwrap();
        let done = windlass.run(&[&["-p", "Hi"], flags].concat());
        assert_eq!(done.stdout, "Hello.\n", "{done:?}");
        let body: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
        assert_eq!(body["model"], model, "{flags:?}");
    }
}

#[test]
fn loop_20_beta_features_are_named_to_the_server() {
    let server = saying(["Hello."]);
    let done = Windlass::asking(&server).run(&[
        "-p",
        "Hi",
        "--betas",
        "context-1m-2025-08-07",
        "other-2026-01-01",
    ]);
    assert_eq!(done.stdout, "Hello.\n", "{done:?}");
    let headers = &server.requests()[0].headers;
    let betas = headers.iter().find(|(name, _)| name == "anthropic-beta");
    let (_, betas) = betas.expect("the header");
    for named in ["context-1m-2025-08-07", "other-2026-01-01"] {
        assert!(betas.split(',').any(|beta| beta.trim() == named), "{betas}");
    }
}

#[test]
fn compiled_components_are_kept_where_the_variable_says() {
    let server = calling("Glob", &json!({"pattern": "*"}), "Done.");
    let windlass = Windlass::asking(&server);
    let cache = windlass.home().join("elsewhere");
    let mut command = windlass.command(&["-p", "go"]);
    let output = command.env("XDG_CACHE_HOME", &cache).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let kept = fs::read_dir(cache.join("windlass/components")).unwrap();
    assert!(kept.count() > 0);
    assert!(!windlass.home().join(".cache").exists());
}
