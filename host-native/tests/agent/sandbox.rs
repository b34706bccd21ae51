//! Commands that the operating system confines, through the library.

use serde_json::json;
use windlass::sandbox::{Sandbox, SandboxSettings};
use windlass_core::spec::Environment;

use crate::support::{Model, calls, done_after};

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

#[tokio::test]
async fn conf_5_commands_of_an_agent_run_confined_and_unasked() {
    if !is_confined() {
        return;
    }
    let (workspace, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = other.path().join("made");
    let command = format!(
        "touch made; touch {}; cat made && echo ran",
        outside.display()
    );
    let model = Model::of(json!([
        calls(&[("Bash", json!({ "command": command }))]),
        done_after("sandbox_violations", false),
    ]));
    let agent = model
        .agent()
        .tools(["Bash"])
        .cwd(workspace.path())
        .sandbox(SandboxSettings::on())
        .build()
        .unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.result.as_deref(), Some("done"));
    model.verify();
    assert!(workspace.path().join("made").exists() && !outside.exists());
}

#[test]
fn settings_that_cannot_be_understood_build_no_agent() {
    let settings: SandboxSettings =
        serde_json::from_value(json!({"enabled": true, "excludedCommands": ["*"]})).unwrap();
    let model = Model::says(["hi"]);
    let error = model.agent().sandbox(settings).build().unwrap_err();
    assert!(error.to_string().contains("excludedCommands"), "{error}");
}
