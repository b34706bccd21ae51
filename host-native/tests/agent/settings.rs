//! An agent that is told to read settings files and what a project brings along; by itself it reads none.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;
use windlass::{AgentBuilder, BuildError, settings::SettingSource};

use crate::support::{Model, calls, messages, text, tool_results};

/// A project with files of every kind.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let hook = json!({"type": "command", "command": "touch hooked"});
    let settings = json!({
        "permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(touch:*)", "Bash(printenv:*)"]},
        "hooks": {"UserPromptSubmit": [{"hooks": [hook]}]},
        "env": {"GREETING": "hello from settings"},
        "model": "model-of-settings",
    });
    file(".claude/settings.json", &settings.to_string());
    file("CLAUDE.md", "Always answer in rhymes.");
    file(
        ".claude/skills/rhyme/SKILL.md",
        "---\nname: rhyme\ndescription: Finds rhymes.\n---\nThink.",
    );
    file(
        ".claude/agents/poet.md",
        "---\nname: poet\ndescription: Writes poems.\n---\nYou are a poet.",
    );
    file(
        ".claude/commands/shout.md",
        "---\nmodel: model-of-command\nallowed-tools: Bash(mkdir:*)\n---\nShout: $ARGUMENTS!",
    );
    folder
}

/// With the project's files, and none of the person who runs the test.
fn reading(model: &Model, project: &Path) -> AgentBuilder {
    (model.agent().builtin_tools())
        .cwd(project)
        .config_dir(project.join("nobody"))
        .setting_sources([SettingSource::User, SettingSource::Project])
}

#[tokio::test]
async fn conf_1_an_agent_reads_the_settings_it_is_told_to_and_no_others() {
    let project = project();
    let exchanges = json!([
        calls(&[("Bash", json!({"command": "rm -f CLAUDE.md"}))]),
        {"respond": "done"},
    ]);
    // By itself it reads nothing: only its own rule counts.
    let model = Model::of(exchanges.clone());
    let own = (model.agent().builtin_tools()).cwd(project.path());
    let own = own.allowed_tools(["Bash(rm:*)"]).build().unwrap();
    own.run("go").await.unwrap();
    assert!(!project.path().join("CLAUDE.md").exists());
    assert!(!project.path().join("hooked").exists());
    assert_ne!(model.requests()[0]["model"], "model-of-settings");

    fs::write(project.path().join("CLAUDE.md"), "Rhyme.").unwrap();
    let model = Model::of(exchanges);
    let told = reading(&model, project.path()).allowed_tools(["Bash(rm:*)"]);
    let said = messages(&mut told.build().unwrap().query("go")).await;
    assert!(project.path().join("CLAUDE.md").exists());
    assert!(tool_results(&said)[0].contains("Bash(rm:*)"), "{said:?}");
    assert_eq!(model.requests()[0]["model"], "model-of-settings");
}

#[tokio::test]
async fn conf_1_an_agent_that_reads_settings_reads_those_of_the_organisation() {
    let project = project();
    let file = project.path().join("managed.json");
    fs::write(&file, r#"{"permissions": {"deny": ["Bash(mkdir:*)"]}}"#).unwrap();
    let model = Model::of(json!([
        calls(&[("Bash", json!({"command": "mkdir made"}))]),
        {"respond": "done"},
    ]));
    let told = reading(&model, project.path()).managed_settings(&file);
    let told = told.allowed_tools(["Bash(mkdir:*)"]).build().unwrap();
    told.run("go").await.unwrap();
    assert!(!project.path().join("made").exists());

    fs::write(&file, "{").unwrap();
    let refused = reading(&model, project.path())
        .managed_settings(&file)
        .build();
    let said = refused.err().unwrap().to_string();
    assert!(said.contains("managed.json"), "{said}");
}

#[tokio::test]
async fn conf_1_what_a_project_widens_or_starts_counts_once_it_is_trusted() {
    for is_trusted in [false, true] {
        let project = project();
        let model = Model::of(json!([
            calls(&[("Bash", json!({"command": "touch allowed"}))]),
            calls(&[("Bash", json!({"command": "printenv GREETING > /dev/null && touch set"}))]),
            {"respond": "done"},
        ]));
        let agent = reading(&model, project.path()).trust_project(is_trusted);
        let agent = agent.build().unwrap();
        let done = text(agent.run("go").await.unwrap());
        assert_eq!(done, "done");
        for name in ["allowed", "hooked", "set"] {
            let made = project.path().join(name).exists();
            assert_eq!(made, is_trusted, "{name}: {:?}", agent.warnings());
        }
        let warned = agent.warnings().join("\n");
        for what in ["the hook `touch hooked`", "GREETING", "allow Bash(touch:*)"] {
            assert_eq!(warned.contains(what), !is_trusted, "{what}: {warned}");
        }
    }
}

#[tokio::test]
async fn conf_1_instructions_skills_and_agents_of_a_project_reach_the_model() {
    let project = project();
    let model = Model::says(["ok"]);
    let agent = reading(&model, project.path()).model("model-of-mine");
    let agent = agent.build().unwrap();
    agent.run("go").await.unwrap();
    let request = model.requests()[0].to_string();
    assert!(request.contains("Always answer in rhymes."), "{request}");
    // What the builder says is stronger.
    assert!(request.contains("model-of-mine"), "{request}");
    let spec = agent.spec();
    assert!(spec.tools.skills.iter().any(|skill| skill.name == "rhyme"));
    assert!(spec.tools.agents.get("poet").is_some());
}

/// What a command allows counts as far as its folder is trusted.
#[tokio::test]
async fn conf_1_a_prompt_that_begins_with_a_command_is_what_the_command_says() {
    for is_trusted in [false, true] {
        let project = project();
        let model = Model::of(json!([
            {"respond": "before"},
            calls(&[("Bash", json!({"command": "mkdir made"}))]),
            {"respond": "shouted"},
            {"respond": "after"},
        ]));
        let agent = reading(&model, project.path()).trust_project(is_trusted);
        let session = agent.build().unwrap().session();
        for prompt in ["one", "/shout two words", "/unknown three"] {
            session.prompt(prompt).result().await.unwrap();
        }
        let asked: Vec<(String, String)> = (model.requests().iter())
            .map(|request| {
                let last = request["messages"].as_array().unwrap().last().unwrap();
                (request["model"].to_string(), last.to_string())
            })
            .collect();
        let said = [
            ("model-of-settings", "one"),
            ("model-of-command", "Shout: two words!"),
            ("model-of-command", "tool_result"),
            ("model-of-settings", "/unknown three"),
        ];
        for ((model, last), (expected, text)) in asked.iter().zip(said) {
            assert!(model.contains(expected) && last.contains(text), "{asked:?}");
        }
        assert_eq!(asked.len(), said.len());
        assert_eq!(project.path().join("made").exists(), is_trusted);
        session.close().await;
    }
}

#[test]
fn conf_1_settings_that_cannot_be_read_build_no_agent() {
    let project = project();
    let model = Model::says([]);
    for (text, words) in [
        ("{", "settings.json"),
        (r#"{"permissions": {"deny": ["Bash(("]}}"#, "Bash(("),
        (r#"{"permissions": {"Deny": ["Bash"]}}"#, "permissions.deny"),
    ] {
        fs::write(project.path().join(".claude/settings.json"), text).unwrap();
        let built = reading(&model, project.path()).build();
        let error: BuildError = built.err().unwrap();
        assert!(error.to_string().contains(words), "{error}");
    }
}
