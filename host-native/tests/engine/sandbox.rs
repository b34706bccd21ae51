//! The option `sandbox` of the SDKs: commands that the operating system confines.

use serde_json::{Value, json};
use windlass::{
    core::spec::Environment,
    sandbox::{Sandbox, SandboxSettings},
};

use crate::support::{Sdk, calls, kinds, result_text, says};

/// Whether anything can be confined here; else a test says that it was not tried.
fn is_confined() -> bool {
    let sandbox = Sandbox::new(&SandboxSettings::on(), &Environment::default()).unwrap();
    if !sandbox.is_available() {
        eprintln!(
            "not tried: commands cannot be confined here: {:?}",
            sandbox.lacks()
        );
    }
    sandbox.is_available()
}

fn bash(command: &str) -> Value {
    calls("Bash", json!({ "command": command }))
}

fn outside(command: &str) -> Value {
    calls(
        "Bash",
        json!({"command": command, "dangerouslyDisableSandbox": true}),
    )
}

/// The flags of an SDK that was given the option `sandbox`, with a callback for permissions.
fn flags(sandbox: &Value) -> [String; 4] {
    let settings = json!({ "sandbox": sandbox }).to_string();
    ["--settings", &settings, "--permission-prompt-tool", "stdio"].map(str::to_owned)
}

fn start(sandbox: &Value, exchanges: Value) -> Sdk {
    let flags = flags(sandbox);
    Sdk::start(&flags.each_ref().map(String::as_str), exchanges)
}

/// The texts of tool results up to the end of the answer, where nobody may be asked.
async fn unasked(sdk: &mut Sdk) -> Vec<String> {
    let frames = sdk.until("result").await;
    let asked = kinds(&frames)
        .iter()
        .any(|kind| kind.contains("can_use_tool"));
    assert!(!asked, "{frames:?}");
    frames
        .iter()
        .filter(|frame| frame["type"] == "user")
        .map(result_text)
        .collect()
}

#[tokio::test]
async fn conf_10_a_confined_command_runs_unasked_and_stays_inside() {
    if !is_confined() {
        return;
    }
    let secret = tempfile::NamedTempFile::new().unwrap();
    let elsewhere = secret.path().display();
    let mut sdk = start(
        &json!({"enabled": true}),
        json!([
            bash("f() { echo $((1+1)) > made; }; f; cat made"),
            bash(&format!("echo evil > {elsewhere}")),
            says("Done.")
        ]),
    );
    sdk.prompt("go").await;
    let results = unasked(&mut sdk).await;
    assert_eq!(results[0], "2");
    assert!(results[1].contains("<sandbox_violations>"), "{results:?}");
    assert!(results[1].contains(&elsewhere.to_string()), "{results:?}");
    assert_eq!(std::fs::read(secret.path()).unwrap(), b"");
    // The model is told what the field does here.
    let body = sdk.model.requests()[0].body.clone();
    let body = String::from_utf8_lossy(&body);
    assert!(
        body.contains("Runs the command outside of the sandbox"),
        "{body}"
    );
}

#[tokio::test]
async fn conf_10_without_auto_allow_a_confined_command_is_asked_about() {
    if !is_confined() {
        return;
    }
    let mut sdk = start(
        &json!({"enabled": true, "autoAllowBashIfSandboxed": false}),
        json!([bash("touch made /tmp/outside-of-all"), says("Done.")]),
    );
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    sdk.answer(
        &question,
        json!({"behavior": "allow", "updatedInput": question["request"]["input"]}),
    )
    .await;
    unasked(&mut sdk).await;
    assert!(sdk.folder.path().join("made").exists());
    assert!(!std::path::Path::new("/tmp/outside-of-all").exists());
}

#[tokio::test]
async fn conf_10_rules_that_deny_or_ask_hold_in_the_sandbox() {
    if !is_confined() {
        return;
    }
    let settings = json!({
        "sandbox": {"enabled": true},
        "permissions": {"deny": ["Bash(rm:*)", "Read(./key)"], "ask": ["Bash(git push:*)"]}
    })
    .to_string();
    let mut sdk = Sdk::start(
        &["--settings", &settings, "--permission-prompt-tool", "stdio"],
        json!([
            bash("rm file"),
            bash("python3 -c 'print(open(\"key\").read())' || base64 k*"),
            bash("git push"),
            says("Done.")
        ]),
    );
    for (name, text) in [("file", "kept"), ("key", "the secret text")] {
        std::fs::write(sdk.folder.path().join(name), text).unwrap();
    }
    sdk.prompt("go").await;
    let frames = sdk.until("control_request can_use_tool").await;
    let question = frames.last().unwrap();
    assert_eq!(question["request"]["input"]["command"], "git push");
    let results: Vec<String> = frames
        .iter()
        .filter(|it| it["type"] == "user")
        .map(result_text)
        .collect();
    assert!(results[0].contains("denied"), "{results:?}");
    assert!(
        !results[1].contains("the secret text") && !results[1].contains("dGhlIHNl"),
        "{results:?}"
    );
    assert!(sdk.folder.path().join("file").exists());
}

#[tokio::test]
async fn conf_10_leaving_the_sandbox_is_asked_about_and_seen() {
    if !is_confined() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("made");
    let mut sdk = start(
        &json!({"enabled": true}),
        json!([outside(&format!("touch {}", path.display())), says("Done.")]),
    );
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    assert_eq!(
        question["request"]["input"]["dangerouslyDisableSandbox"],
        true
    );
    sdk.answer(
        &question,
        json!({"behavior": "allow", "updatedInput": question["request"]["input"]}),
    )
    .await;
    unasked(&mut sdk).await;
    assert!(path.exists());
}

#[tokio::test]
async fn conf_10_leaving_the_sandbox_is_refused_where_the_settings_say_so() {
    if !is_confined() {
        return;
    }
    let mut sdk = start(
        &json!({"enabled": true, "allowUnsandboxedCommands": false}),
        json!([outside("touch made"), says("Done.")]),
    );
    sdk.prompt("go").await;
    let results = unasked(&mut sdk).await;
    assert!(
        results[0].contains("no command leave the sandbox"),
        "{results:?}"
    );
    assert!(!sdk.folder.path().join("made").exists());
}

/// Excluded is a line of which every command is: a single other one keeps all of it inside.
#[tokio::test]
async fn conf_10_excluded_commands_run_outside_and_are_judged() {
    if !is_confined() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let settings = json!({
        "sandbox": {"enabled": true, "excludedCommands": ["mkdir"]},
        "permissions": {"allow": ["Bash(mkdir:*)"]}
    })
    .to_string();
    let line = |text: &str| bash(&text.replace("${place}", &place.path().display().to_string()));
    let mut sdk = Sdk::start(
        &["--settings", &settings, "--permission-prompt-tool", "stdio"],
        json!([
            line("mkdir ${place}/alone"),
            line("mkdir ${place}/with; touch ${place}/other"),
            line("mkdir $(touch ${place}/hidden) ${place}/computed"),
            says("Done.")
        ]),
    );
    sdk.prompt("go").await;
    unasked(&mut sdk).await;
    assert!(path("alone").exists());
    for name in ["with", "other", "hidden", "computed"] {
        assert!(!path(name).exists(), "{name}");
    }
}

/// An excluded command is not confined, so nothing lets it run unasked for that.
#[tokio::test]
async fn conf_10_an_excluded_command_without_a_rule_is_asked_about() {
    if !is_confined() {
        return;
    }
    let mut sdk = start(
        &json!({"enabled": true, "excludedCommands": ["touch"]}),
        json!([bash("touch made"), says("Done.")]),
    );
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    assert_eq!(question["request"]["input"]["command"], "touch made");
}

#[tokio::test]
async fn conf_11_hosts_of_the_option_are_reached_and_no_others() {
    if !is_confined() {
        return;
    }
    let mut sdk = start(
        &json!({"enabled": true, "network": {"allowedDomains": ["localhost"]}}),
        json!([
            bash(
                "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://localhost:1/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"
            ),
            bash(
                "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT evil.test:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3"
            ),
            says("Done.")
        ]),
    );
    sdk.prompt("go").await;
    let results = unasked(&mut sdk).await;
    // Nobody listens there, but it may be tried.
    assert!(results[0].contains("502"), "{results:?}");
    assert!(
        results[1].contains("403") && results[1].contains("network: evil.test:443 is not among"),
        "{results:?}"
    );
}

#[tokio::test]
async fn conf_12_the_option_opens_and_closes_files() {
    if !is_confined() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let mut sdk = start(
        &json!({"enabled": true, "filesystem": {"allowWrite": [root], "denyWrite": ["lock"], "denyRead": ["key"]}}),
        json!([
            bash(&format!(
                "echo x > {}/new; echo x > lock; cat key",
                root.display()
            )),
            says("Done.")
        ]),
    );
    for name in ["lock", "key"] {
        std::fs::write(sdk.folder.path().join(name), "as it was").unwrap();
    }
    sdk.prompt("go").await;
    let results = unasked(&mut sdk).await;
    assert!(root.join("new").exists(), "{results:?}");
    assert!(!results[0].contains("as it was"), "{results:?}");
    assert_eq!(
        std::fs::read_to_string(sdk.folder.path().join("lock")).unwrap(),
        "as it was"
    );
}

/// A line whose commands are allowed one by one runs as it was judged, and confined.
#[tokio::test]
async fn conf_10_a_line_that_rules_allow_runs_confined_as_it_was_judged() {
    if !is_confined() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let settings = json!({
        "sandbox": {"enabled": true, "autoAllowBashIfSandboxed": false},
        "permissions": {"allow": ["Bash(echo:*)", "Bash(tee:*)", "Bash(ls:*)"]}
    })
    .to_string();
    let line = format!(
        "echo 'one two' | tee made {}/evil; ls *",
        place.path().display()
    );
    let mut sdk = Sdk::start(
        &["--settings", &settings, "--permission-prompt-tool", "stdio"],
        json!([bash(&line), says("Done.")]),
    );
    sdk.prompt("go").await;
    let results = unasked(&mut sdk).await;
    assert!(
        results[0].contains("one two") && results[0].contains("made"),
        "{results:?}"
    );
    assert!(results[0].contains("<sandbox_violations>"), "{results:?}");
    assert!(!place.path().join("evil").exists());
}
