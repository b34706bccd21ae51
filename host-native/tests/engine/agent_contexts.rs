//! What agents are told and may use, and what the conversation hears of them.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, calls_all, expecting, result_text, says};

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

fn task(agent: &str, prompt: &str) -> (&'static str, Value) {
    let input = json!({"description": "look", "prompt": prompt, "subagent_type": agent});
    ("Agent", input)
}

fn starts(agent: &str) -> Value {
    calls_all(&[task(agent, "Look around.")])
}

fn agent_file(folder: &Path, name: &str, prompt: &str) {
    let agents = folder.join(".claude/agents");
    fs::create_dir_all(&agents).unwrap();
    let text = format!("---\nname: {name}\ndescription: Looks.\n---\n{prompt}\n");
    fs::write(agents.join(format!("{name}.md")), text).unwrap();
}

fn folder() -> Arc<tempfile::TempDir> {
    Arc::new(tempfile::tempdir().unwrap())
}

/// The names of the tools that a request offers.
fn tools(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn sub_2_agents_start_fresh_side_by_side_and_only_their_last_words_return() {
    // Each reads a file before it says what is in it: in which order the two are asked is not said.
    let reads = |name: &str| {
        let asked = json!({"messages": 1, "last_user_contains": format!("Read {name}."), "tools_exclude": ["Agent", "Task"]});
        expecting(
            calls("Read", json!({"file_path": format!("${{cwd}}/{name}")})),
            asked,
        )
    };
    let tells = |name: &str, text: &str| {
        expecting(
            says(text),
            json!({"messages": 3, "messages_contain": format!("Read {name}.")}),
        )
    };
    let results = json!({"tool_results": [
        {"id": "toolu_1_1", "contains": "It is about apples."},
        {"id": "toolu_1_2", "contains": "It is about pears."},
    ]});
    let both = calls_all(&[task("reader", "Read a.txt."), task("reader", "Read b.txt.")]);
    let script = json!({"match": "any", "exchanges": [
        expecting(both, json!({"last_user_contains": "Secret plans."})),
        reads("a.txt"),
        reads("b.txt"),
        tells("a.txt", "It is about apples."),
        tells("b.txt", "It is about pears."),
        expecting(says("Fruit."), results),
    ]});
    let mut sdk = Sdk::start(&[], script);
    for name in ["a.txt", "b.txt"] {
        fs::write(sdk.folder.path().join(name), format!("of {name}\n")).unwrap();
    }
    let reader = json!({"description": "reads", "prompt": "You read."});
    sdk.initialize(json!({"agents": {"reader": reader}, "forwardSubagentText": true}))
        .await;
    sdk.prompt("Secret plans.").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "Fruit.");
    sdk.model.verify().unwrap();
    for (call, own, others) in [
        ("toolu_1_1", "a.txt", "b.txt"),
        ("toolu_1_2", "b.txt", "a.txt"),
    ] {
        let of_agent: Vec<&Value> = frames
            .iter()
            .filter(|frame| frame["parent_tool_use_id"] == call)
            .collect();
        let text: String = of_agent
            .iter()
            .map(|frame| frame["message"].to_string())
            .collect();
        assert!(text.contains(&format!("of {own}")), "{text}");
        assert!(!text.contains(others), "{text}");
    }
    // Nothing but the last words is in the conversation, and nothing of the conversation was told to an agent.
    for body in sdk.bodies() {
        let text = body["messages"].to_string();
        let is_main = text.contains("Secret plans.");
        assert_eq!(is_main, tools(&body).contains(&"Agent"));
        assert!(!is_main || !text.contains("of a.txt"), "{text}");
    }
}

#[tokio::test]
async fn sub_2_an_agent_that_has_ended_goes_on_where_it_was() {
    // A session of this id gives the agent of its first call always the same id.
    let flags = ["--session-id", "4d578cf2-9083-4bdd-9824-64cf7e68b1af"];
    let mut sdk = Sdk::start(
        &flags,
        json!([
            starts("general-purpose"),
            says("I saw a door."),
            says("Seen.")
        ]),
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let output = &all(&frames, "user")[0]["tool_use_result"];
    assert_eq!(output["status"], "completed");
    let (_, mut again) = task("general-purpose", "Open it.");
    again["resume"] = output["agentId"].clone();
    let known = json!({"messages": 3, "messages_contain": "I saw a door.", "last_user_contains": "Open it."});
    let script = json!([
        starts("general-purpose"),
        says("I saw a door."),
        calls("Agent", again),
        expecting(says("It is open."), known),
        says("Done."),
    ]);
    let mut sdk = Sdk::start(&flags, script);
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_3_agents_for_general_work_exploring_and_planning_are_built_in() {
    let tells = |agent: &str| {
        expecting(
            says("Nothing."),
            json!({"messages_contain": format!("As {agent}.")}),
        )
    };
    let names = ["general-purpose", "Explore", "Plan"];
    let all_three = calls_all(&names.map(|name| task(name, &format!("As {name}."))));
    let [one, two, three] = names.map(tells);
    let end = expecting(
        says("Done."),
        json!({"messages": 3, "messages_contain": "go"}),
    );
    let main = expecting(all_three, json!({"last_user_contains": "go"}));
    let script = json!({"match": "any", "exchanges": [main, one, two, three, end]});
    let mut sdk = Sdk::start(&[], script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let offered = all(&frames, "system init")[0]["agents"]
        .as_array()
        .unwrap()
        .clone();
    let bodies = sdk.bodies();
    for name in names {
        assert!(offered.contains(&json!(name)), "{offered:?}");
        let prompt = format!("As {name}.");
        let mut asked = bodies
            .iter()
            .filter(|body| body["messages"].as_array().unwrap().len() == 1);
        let body = asked
            .find(|body| body["messages"].to_string().contains(&prompt))
            .unwrap();
        let tools = tools(body);
        assert!(
            tools.contains(&"Read") && tools.contains(&"Grep"),
            "{name}: {tools:?}"
        );
        // Two of them change nothing.
        for changes in ["Write", "Edit"] {
            assert_eq!(
                tools.contains(&changes),
                name == "general-purpose",
                "{name}: {tools:?}"
            );
        }
    }
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_4_the_settings_name_the_agent_as_which_the_main_thread_runs() {
    let folder = folder();
    agent_file(folder.path(), "pirate", "You are a pirate.");
    let settings = json!({"agent": "pirate"}).to_string();
    fs::write(folder.path().join(".claude/settings.json"), settings).unwrap();
    let spoken = expecting(
        says("Arr."),
        json!({"system_contains": "You are a pirate."}),
    );
    let mut sdk = Sdk::start_in(folder, &[], json!([spoken]));
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Arr.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_5_an_agent_has_the_servers_it_names_its_skills_and_its_reminder() {
    let folder = folder();
    let skill = folder.path().join(".claude/skills/knots");
    fs::create_dir_all(&skill).unwrap();
    fs::write(
        skill.join("SKILL.md"),
        "---\nname: knots\ndescription: About knots\n---\nTie it twice.\n",
    )
    .unwrap();
    let server = |note: &str| json!({"command": "python3", "args": [NOTES], "env": {"NOTE": note}});
    let config =
        json!({"mcpServers": {"ours": server("shared"), "theirs": server("other")}}).to_string();
    let asked = json!({
        "system_contains": ["You keep notes.", "Tie it twice.", "Never shout."],
        "tools_include": ["mcp__ours__read", "mcp__own__read"],
        "tools_exclude": ["mcp__theirs__read"],
    });
    let read = |server: &str| calls(&format!("mcp__{server}__read"), json!({"name": "x"}));
    let script = json!([
        starts("keeper"),
        expecting(read("ours"), asked),
        expecting(
            read("own"),
            json!({"tool_results": [{"contains": "shared (x)"}]})
        ),
        expecting(
            says("Both read."),
            json!({"tool_results": [{"contains": "its own (x)"}]})
        ),
        says("Done."),
    ]);
    let flags = [
        "--mcp-config",
        &config,
        "--allowedTools",
        "mcp__ours,mcp__own",
    ];
    let mut sdk = Sdk::start_in(folder, &flags, script);
    let keeper = json!({
        "description": "keeps", "prompt": "You keep notes.", "skills": ["knots"],
        "mcpServers": ["ours", {"own": server("its own")}],
        "criticalSystemReminder_EXPERIMENTAL": "Never shout.",
    });
    sdk.initialize(json!({"agents": {"keeper": keeper}})).await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_6_an_agent_without_tools_or_model_has_its_parents_and_no_turns_of_it() {
    let folder = folder();
    fs::write(folder.path().join("CLAUDE.md"), "Use tabs.").unwrap();
    let flags = [
        "--model",
        "claude-opus-4-6",
        "--system-prompt",
        "The main prompt.",
    ];
    let agents = json!({
        "plain": {"description": "looks", "prompt": "My own prompt."},
        "inherits": {"description": "looks", "prompt": "My own prompt.", "model": "inherit"},
    });
    for agent in ["plain", "inherits"] {
        let script = json!([starts(agent), says("Nothing."), says("Done.")]);
        let mut sdk = Sdk::start_in(folder.clone(), &flags, script);
        sdk.initialize(json!({ "agents": agents })).await;
        sdk.prompt("Secret plans.").await;
        sdk.first("result").await;
        let [main, own, _] = sdk.bodies().try_into().unwrap();
        assert_eq!(own["model"], "claude-opus-4-6");
        let beside = |name: &&str| {
            !matches!(
                *name,
                "Agent" | "AskUserQuestion" | "ExitPlanMode" | "EnterWorktree" | "TodoWrite"
            )
        };
        let of_main: Vec<&str> = tools(&main).into_iter().filter(beside).collect();
        let of_own: Vec<&str> = tools(&own).into_iter().filter(beside).collect();
        assert_eq!(of_own, of_main);
        assert!(of_own.contains(&"Bash") && of_own.contains(&"Write"));
        let system = own["system"].to_string();
        assert!(system.contains("My own prompt.") && !system.contains("The main prompt."));
        let messages = own["messages"].to_string();
        assert!(messages.contains("Use tabs.") && messages.contains("Look around."));
        assert!(!messages.contains("Secret plans."), "{messages}");
    }
}

#[tokio::test]
async fn sub_7_agents_of_files_are_read_at_the_start_and_one_of_an_option_takes_their_place() {
    let folder = folder();
    agent_file(folder.path(), "looker", "You are of the file.");
    let unknown = json!({"tool_results": [{"contains": "late", "is_error": true}]});
    let script = json!([
        starts("looker"),
        expecting(
            says("Nothing."),
            json!({"system_contains": "You are of the option."})
        ),
        says("Done."),
        starts("late"),
        expecting(says("There is none."), unknown),
    ]);
    let mut sdk = Sdk::start_in(folder.clone(), &[], script);
    let looker = json!({"description": "looks", "prompt": "You are of the option."});
    sdk.initialize(json!({"agents": {"looker": looker}})).await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    agent_file(folder.path(), "late", "You came later.");
    sdk.prompt("again").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "There is none.");
    assert!(!result_text(all(&frames, "user")[0]).is_empty());
    sdk.model.verify().unwrap();

    // Without the option it is the file's.
    let of_file = expecting(
        says("Nothing."),
        json!({"system_contains": "You are of the file."}),
    );
    let mut sdk = Sdk::start_in(
        folder,
        &[],
        json!([starts("looker"), of_file, says("Done.")]),
    );
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    sdk.model.verify().unwrap();
}
