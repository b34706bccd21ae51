//! `--sandbox`: commands that the operating system confines, and what is said where it cannot.

use std::process::{Command, Stdio};

use serde_json::json;
use windlass::{
    core::spec::Environment,
    sandbox::{Sandbox, SandboxSettings},
};

use crate::support::{Done, Windlass, calling, model};

pub(crate) fn is_confined() -> bool {
    let sandbox = Sandbox::new(&SandboxSettings::on(), &Environment::default()).unwrap();
    if !sandbox.is_available() {
        eprintln!(
            "not tried: commands cannot be confined here: {:?}",
            sandbox.lacks()
        );
    }
    sandbox.is_available()
}

#[test]
fn conf_5_commands_run_confined_without_a_question() {
    if !is_confined() {
        return;
    }
    let other = tempfile::tempdir().unwrap();
    let command = format!("touch made; touch {}/made", other.path().display());
    let server = calling("Bash", &json!({ "command": command }), "Done.");
    let windlass = Windlass::asking(&server);
    let done = windlass.run(&["-p", "Make it", "--sandbox", r#"{"enabled": true}"#]);
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("Done.\n", "")
    );
    assert!(windlass.workspace.path().join("made").exists());
    assert!(!other.path().join("made").exists());
}

/// What is compiled here is executed, and what its seals are checked with is a secret: whatever folder of the person is open, no
/// confined command reads, makes, moves or changes either, also where neither was there before.
#[cfg(target_os = "linux")]
#[test]
fn card_3_no_confined_command_reaches_the_cache_or_the_key_of_its_seals() {
    if !is_confined() {
        return;
    }
    let attacks = [
        "cat .local/share/windlass/components.key > $W/key",
        "base64 .local/share/*/* > $W/key",
        "echo evil > .cache/windlass/components/x; ls .cache/windlass/components/* > $W/key",
        "mv .local/share/windlass w; mkdir -p .local/share/windlass; head -c 32 /dev/zero > .local/share/windlass/components.key",
        "mv .local l; mkdir -p .local/share/windlass; head -c 32 /dev/zero > .local/share/windlass/components.key",
        "rm -rf .cache .local; mkdir -p .cache/windlass/components; echo evil > .cache/windlass/components/x",
        "ln -sfn $PWD/elsewhere .cache/windlass; ln -sf /dev/zero .local/share/windlass/components.key",
        "sh -c 'sleep 0.5; cat .local/share/windlass/components.key > $W/key' & sleep 1",
    ];
    let bash =
        |command: &str| json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
    for settings in [
        json!({"enabled": true, "filesystem": {"allowWrite": ["~"]}}),
        json!({"enabled": true, "filesystem": {"allowWrite": ["~/.cache", "~/.local"]}}),
    ] {
        for attack in attacks {
            let script = json!({"exchanges": [
                {"respond": {"content": [bash(&format!("W=$PWD; cd ~; {attack}"))]}},
                {"respond": {"content": [{"type": "tool_use", "name": "Glob", "input": {"pattern": "*"}}]}},
                {"respond": "Done."},
            ]});
            let server = model(&script.to_string());
            let windlass = Windlass::asking(&server);
            let home = windlass.home();
            std::fs::create_dir_all(home.join(".cache")).unwrap();
            std::fs::create_dir_all(home.join(".local/share")).unwrap();
            let mut command = windlass.command(&["-p", "Go", "--sandbox", &settings.to_string()]);
            command.env_remove("XDG_CACHE_HOME");
            let done = Done::of(&command.output().unwrap());
            assert_eq!(done.stdout, "Done.\n", "{attack}: {done:?}");
            let key = std::fs::read(home.join(".local/share/windlass/components.key"));
            let key = key.unwrap_or_else(|error| panic!("{attack}: {error}"));
            assert!(key.len() == 32 && key != [0; 32], "{attack}");
            let taken = std::fs::read(windlass.workspace.path().join("key"));
            assert!(taken.is_err() || taken.unwrap().is_empty(), "{attack}");
            let compiled = home.join(".cache/windlass/components");
            let names = std::fs::read_dir(&compiled).unwrap().flatten();
            let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
            let is_ours = |name: &std::ffi::OsString| {
                name.to_str().is_some_and(|name| name.ends_with(".cwasm"))
            };
            assert!(names.iter().all(is_ours), "{attack}: {names:?}");
        }
    }
}

/// The next command may run outside: what changes programs does not last.
#[test]
fn conf_10_a_confined_command_leaves_its_directory_and_variables_and_no_programs() {
    if !is_confined() {
        return;
    }
    let bash =
        |command: &str| json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
    let script = json!({"exchanges": [
        {"respond": {"content": [bash("cd sub; x=1; ls() { touch forged; }; export PATH=/none NODE_OPTIONS=y")]}},
        {"respond": {"content": [bash("echo \"$x$NODE_OPTIONS\" > kept; ls > listed")]}},
        {"respond": "Done."},
    ]});
    let server = model(&script.to_string());
    let windlass = Windlass::asking(&server);
    std::fs::create_dir(windlass.workspace.path().join("sub")).unwrap();
    let done = windlass.run(&["-p", "Make it", "--sandbox", r#"{"enabled": true}"#]);
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    assert_eq!(windlass.file("sub/kept"), "1\n");
    assert_eq!(windlass.file("sub/listed"), "kept\nlisted\n");
}

#[test]
fn settings_that_cannot_be_understood_are_refused() {
    let windlass = Windlass::new();
    for settings in [
        "on",
        r#"{"enabled": "yes"}"#,
        r#"{"enabled": true, "network": {"allowedDomains": ["https://example.com"]}}"#,
        r#"{"enabled": true, "filesystem": {"denyRead": ["../x"]}}"#,
    ] {
        let mut command = windlass.command(&["-p", "x", "--sandbox", settings]);
        command.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, Some(2), "{settings}: {done:?}");
        assert!(done.stderr.contains("sandbox"), "{settings}: {done:?}");
    }
}

/// The command on a kernel that lets nobody make namespaces: one in which their number is none.
fn without_namespaces(windlass: &Windlass, arguments: &[&str]) -> Option<Done> {
    let wrapped = windlass.command(arguments);
    let mut command = Command::new("unshare");
    command
        .args([
            "-Ur",
            "sh",
            "-c",
            "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
            "sh",
        ])
        .arg(wrapped.get_program())
        .args(wrapped.get_args())
        .current_dir(windlass.workspace.path())
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in wrapped.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let done = command.output().ok().map(|output| Done::of(&output));
    let done = done.filter(|done| !done.stderr.contains("unshare:"));
    if done.is_none() {
        eprintln!("not tried: a kernel without namespaces cannot be had here");
    }
    done
}

#[test]
fn conf_5_where_nothing_can_be_confined_that_is_said_and_nothing_runs_for_it() {
    let server = calling(
        "Bash",
        &json!({"command": "touch made"}),
        "I was not allowed to.",
    );
    let windlass = Windlass::asking(&server);
    let arguments = ["-p", "Make it", "--sandbox", r#"{"enabled": true}"#];
    let Some(done) = without_namespaces(&windlass, &arguments) else {
        return;
    };
    assert!(
        done.stderr.contains("commands are not confined here"),
        "{done:?}"
    );
    assert!(done.stderr.contains("namespaces"), "{done:?}");
    assert!(!windlass.workspace.path().join("made").exists(), "{done:?}");
}

#[test]
fn conf_5_where_nothing_can_be_confined_no_session_begins_if_the_settings_say_so() {
    let server = calling("Bash", &json!({"command": "touch made"}), "Done.");
    let windlass = Windlass::asking(&server);
    let settings = r#"{"enabled": true, "failIfUnavailable": true}"#;
    let Some(done) = without_namespaces(&windlass, &["-p", "Make it", "--sandbox", settings])
    else {
        return;
    };
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(
        done.stderr.contains("failIfUnavailable") && done.stderr.contains("namespaces"),
        "{done:?}"
    );
    assert!(server.requests().is_empty());
}

/// The same for an SDK: the engine ends before the first line.
#[test]
fn conf_5_an_engine_that_cannot_confine_does_not_begin() {
    let windlass = Windlass::new();
    let settings = r#"{"sandbox": {"enabled": true, "failIfUnavailable": true}}"#;
    let arguments = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--settings",
        settings,
    ];
    let Some(done) = without_namespaces(&windlass, &arguments) else {
        return;
    };
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stderr.contains("failIfUnavailable") && done.stderr.contains("namespaces"),
        "{done:?}"
    );
    assert_eq!(done.stdout, "");
}

/// With the weaker sandbox Landlock holds what it can, and what it cannot is not left out in silence.
#[test]
fn conf_12_the_weaker_sandbox_does_without_namespaces() {
    let other = tempfile::tempdir().unwrap();
    let command = format!(
        "touch made; touch {}/made; exec 3<>/dev/tcp/127.0.0.1/1 || echo no network",
        other.path().display()
    );
    let server = calling("Bash", &json!({ "command": command }), "Done.");
    let windlass = Windlass::asking(&server);
    let settings = r#"{"enabled": true, "enableWeakerNestedSandbox": true}"#;
    let Some(done) = without_namespaces(&windlass, &["-p", "Make it", "--sandbox", settings])
    else {
        return;
    };
    if done.stderr.contains("no Landlock") {
        return eprintln!("not tried: the kernel has no Landlock");
    }
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    assert!(windlass.workspace.path().join("made").exists(), "{done:?}");
    assert!(!other.path().join("made").exists());
    let settings = r#"{"enabled": true, "enableWeakerNestedSandbox": true, "filesystem": {"denyRead": ["key"]}}"#;
    let Some(done) = without_namespaces(&windlass, &["-p", "x", "--sandbox", settings]) else {
        return;
    };
    assert!(done.stderr.contains("filesystem.denyRead"), "{done:?}");
}
