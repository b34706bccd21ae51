//! What stands before the conversation, and which model it is asked.

use std::fs;

use serde_json::Value;
use windlass::{core::spec::DEFAULT_MODEL, model_server::ModelServer};

use crate::support::{Windlass, saying};

fn body(server: &ModelServer) -> Value {
    serde_json::from_slice(&server.requests()[0].body).unwrap()
}

/// What a run with these flags sends, with `${cwd}` in the place of its working directory.
fn sent(flags: &[&str], settings: Option<&str>) -> Value {
    let server = saying(["Yes."]);
    let windlass = Windlass::asking(&server);
    if let Some(settings) = settings {
        fs::create_dir_all(windlass.home().join(".claude/output-styles")).unwrap();
        fs::write(windlass.home().join(".claude/settings.json"), settings).unwrap();
        let style = "---\nname: Pirate\ndescription: Arr\n---\nTalk like a pirate.\n";
        fs::write(
            windlass.home().join(".claude/output-styles/pirate.md"),
            style,
        )
        .unwrap();
    }
    let done = windlass.run(&[&["-p", "Hi"], flags].concat());
    assert_eq!(done.stdout, "Yes.\n", "{done:?}");
    let place = windlass.workspace.path().canonicalize().unwrap();
    let sent = body(&server).to_string();
    serde_json::from_str(&sent.replace(place.to_str().unwrap(), "${cwd}")).unwrap()
}

/// The parts of the system prompt that a run with these flags sends.
fn system(flags: &[&str], settings: Option<&str>) -> Vec<String> {
    let sent = sent(flags, settings);
    let parts = sent["system"].as_array().cloned().unwrap_or_default();
    let text = |part: &Value| part["text"].as_str().unwrap().to_owned();
    parts.iter().map(text).collect()
}

#[test]
fn ctx_7_the_preset_tells_of_tools_tone_safety_and_place_and_an_addition_follows_it() {
    let preset = system(&["--append-system-prompt", "Answer in French."], None);
    let all = preset.join("\n");
    for told in ["# Tools", "# Tone", "# Safety"] {
        assert!(all.contains(told), "no {told} in {all}");
    }
    // The place stands in front of the conversation, whatever the system prompt is.
    for flags in [&[][..], &["--system-prompt", ""]] {
        let first = sent(flags, None)["messages"][0].to_string();
        for told in ["${cwd}", std::env::consts::OS, DEFAULT_MODEL] {
            assert!(first.contains(told), "no {told} in {first}");
        }
    }
    assert_eq!(preset.last().unwrap(), "Answer in French.");
    // Without it there is nothing but what was said.
    assert_eq!(system(&["--system-prompt", ""], None), [""; 0]);
    assert_eq!(
        system(&["--system-prompt", "Mine alone."], None),
        ["Mine alone."]
    );
}

#[test]
fn ctx_3_a_style_of_the_settings_changes_the_preset() {
    let usual = system(&[], Some("{}")).join("\n");
    assert!(!usual.contains("pirate") && usual.contains("# Tone"));
    let styled = system(&[], Some(r#"{"outputStyle": "Pirate"}"#)).join("\n");
    assert!(styled.contains("Talk like a pirate.") && styled.contains("# Safety"));
    assert!(!styled.contains("# Tone"));
}

#[test]
fn loop_29_the_model_that_was_chosen_is_asked_and_named_else_the_documented_default() {
    let documented = include_str!("../../../docs/cli.md");
    assert!(documented.contains(&format!("default `{DEFAULT_MODEL}`")));
    for (flags, expected) in [
        (&["--model", "claude-opus-4-6"][..], "claude-opus-4-6"),
        (&["--model", "nobody-knows-1"], "nobody-knows-1"),
        (&[], DEFAULT_MODEL),
    ] {
        let server = saying(["Yes."]);
        let stream = ["-p", "Hi", "--output-format", "stream-json"];
        let done = Windlass::asking(&server).run(&[&stream, flags].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(body(&server)["model"], expected);
        assert_eq!(done.lines()[0]["model"], expected);
    }
}
