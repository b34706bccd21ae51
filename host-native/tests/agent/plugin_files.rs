//! Component files that are damaged, or made for another host.

use std::time::Duration;

use serde_json::json;
use windlass::{
    core::host::CancelSignal,
    plugins::{
        CallLimits, ComponentGrant, InspectedComponent, Inspection, LoadFault, PluginHost,
        PluginHostConfig,
    },
};
use windlass_fuzz::Mutator;

use crate::{
    guest,
    plugin_probe::call,
    support::{Model, calls, done_after},
};

/// How many damaged files are tried; `cargo xtask attack` sets more.
fn rounds() -> u64 {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS").ok();
    rounds
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(3_000)
}

/// The same bytes with another text in the place of one, of the same length.
fn with(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let at = bytes
        .windows(old.len())
        .position(|part| part == old.as_bytes());
    let mut changed = bytes.to_vec();
    changed[at.unwrap()..][..new.len()].copy_from_slice(new.as_bytes());
    changed
}

#[test]
fn card_5_a_component_of_another_version_is_refused_when_it_is_loaded() {
    let component = guest::component("(i32.const 0)");
    assert!(Inspection::of(&component).is_ok());
    for (old, new) in [
        (
            "windlass:host/filesystem@0.1.0",
            "windlass:host/filesystem@0.2.0",
        ),
        (
            "windlass:host/filesystem@0.1.0",
            "windlass:host/filesystem@1.1.0",
        ),
        (r#""wit": "0.1.0""#, r#""wit": "0.2.0""#),
    ] {
        let fault = Inspection::of(&with(&component, old, new)).unwrap_err();
        assert!(matches!(fault, LoadFault::Version(_)), "{new}: {fault}");
        let told = fault.to_string();
        let version = &new.trim_end_matches('"')[new.trim_end_matches('"').len() - 5..];
        assert!(told.contains(version) && told.contains("0.1."), "{told}");
    }
    let other = with(
        &component,
        "windlass:host/filesystem",
        "windlass:host/pilesystem",
    );
    let fault = Inspection::of(&other).unwrap_err();
    assert!(matches!(fault, LoadFault::Import(_)), "{fault}");
}

#[test]
fn card_5_a_damaged_component_is_refused_or_runs_and_never_stops_the_host() {
    let seeds = [
        "(i32.const 0)",
        "(call $text (i32.const 3000) (i32.const 5))",
        "(loop $on (br $on)) (i32.const 0)",
    ]
    .map(guest::component);
    let host = PluginHost::new(PluginHostConfig {
        limits: CallLimits {
            time: Duration::from_millis(200),
            ..CallLimits::default()
        },
        ..PluginHostConfig::default()
    });
    let (mut refused, mut run) = (0, 0);
    for number in 0..rounds() {
        let bytes = Mutator::new(number).variant(&seeds);
        let Ok(plugin) = host.load("damaged", bytes) else {
            refused += 1;
            continue;
        };
        // Whatever it is, its call ends with a result.
        let _ = plugin.call_blocking(&call("x"), &CancelSignal::new());
        run += 1;
    }
    assert!(refused > 100 && run > 10, "{refused} refused, {run} run");
}

/// A component whose tool says this letter.
fn saying(letter: u8) -> Vec<u8> {
    let body = format!(
        "(i32.store8 (i32.const 3000) (i32.const {letter})) (call $text (i32.const 3000) (i32.const 1))"
    );
    guest::component(&body)
}

#[tokio::test]
async fn card_5_what_was_inspected_runs_whatever_its_file_has_by_then() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("said.wasm");
    std::fs::write(&path, saying(b'a')).unwrap();
    let inspected = InspectedComponent::read(&path).unwrap();
    assert_eq!(inspected.digest(), Inspection::digest(&saying(b'a')));
    std::fs::write(&path, saying(b'b')).unwrap();
    let model = Model::of(json!([calls(&[("t", json!({}))]), done_after("a", false)]));
    let agent = model
        .agent()
        .plugin_inspected(&path, inspected, ComponentGrant::default())
        .allowed_tools(["t"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();

    // Another file has none of what was granted to this one, and what is no file is not waited for.
    let digest = Inspection::digest(&saying(b'a'));
    let pinned = Model::says(["nobody asks"]);
    let pinned = pinned.agent();
    let pinned = pinned.plugin_pinned(&path, digest, ComponentGrant::default());
    let refused = pinned.build().unwrap_err().to_string();
    assert!(refused.contains("has changed since"), "{refused}");
    for (what, words) in [("folder", "no file but a folder"), ("none", "No such file")] {
        let path = path.with_extension(what);
        if what == "folder" {
            std::fs::create_dir(&path).unwrap();
        }
        let model = Model::says(["nobody asks"]);
        let refused = model.agent().plugin(&path).build().unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    #[cfg(unix)]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let pipe = path.with_extension("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let model = Model::says(["nobody asks"]);
        let refused = model.agent().plugin(&pipe).build().unwrap_err().to_string();
        assert!(refused.contains("pipe"), "{refused}");
    }
}
