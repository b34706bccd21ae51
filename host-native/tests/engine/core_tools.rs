//! Tools that work on the session itself: the list of what is to be done, questions, plans, settings, skills.

use std::{fs, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, expecting, result_text, says};

const QUESTION: &str = "control_request can_use_tool";
const ASKING: [&str; 1] = ["--permission-prompt-tool=stdio"];

fn touch(name: &str) -> Value {
    calls("Bash", json!({"command": format!("touch {name}")}))
}

#[tokio::test]
async fn tool_10_todo_write_replaces_the_list_and_tells_the_old_one() {
    let todo = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    let first = json!([todo("read", "completed"), todo("write", "in_progress")]);
    let second = json!([todo("write", "completed")]);
    let bad = json!([{"content": "x", "status": "begun", "activeForm": "x"}]);
    let list = |todos: &Value| calls("TodoWrite", json!({ "todos": todos }));
    let script = json!([list(&first), list(&bad), list(&second), says("Done.")]);
    let mut sdk = Sdk::start(&[], script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let results = all(&frames, "user");
    let output = |place: usize| &results[place]["tool_use_result"];
    assert_eq!(output(0), &json!({"oldTodos": [], "newTodos": first}));
    assert!(result_text(results[0]).contains("1 of 2 done"));
    assert_eq!(results[1]["message"]["content"][0]["is_error"], true);
    assert_eq!(output(2), &json!({"oldTodos": first, "newTodos": second}));
}

#[tokio::test]
async fn tool_11_questions_are_put_to_the_person_and_the_answers_reach_the_model() {
    let question = |text: &str, labels: [&str; 2]| {
        let options = labels.map(|label| json!({"label": label, "description": "why"}));
        json!({"question": text, "header": "Pick", "options": options, "multiSelect": false})
    };
    let questions = json!([
        question("Which?", ["A", "B"]),
        question("How?", ["Fast", "Well"])
    ]);
    let ask = expecting(
        calls("AskUserQuestion", json!({ "questions": questions })),
        json!({"tools_include": ["AskUserQuestion"]}),
    );
    let read = json!({"tool_results": [{"contains": "Which? A", "is_error": false}]});
    let mut sdk = Sdk::start(&ASKING, json!([ask, expecting(says("Thanks."), read)]));
    sdk.prompt("go").await;
    let asked = sdk.first(QUESTION).await;
    let request = &asked["request"];
    assert_eq!(request["tool_name"], "AskUserQuestion");
    assert_eq!(request["input"]["questions"], questions);
    let answers = json!({"Which?": "A", "How?": "in my own words"});
    let input = json!({"questions": questions, "answers": answers});
    sdk.answer(&asked, json!({"behavior": "allow", "updatedInput": input}))
        .await;
    let frames = sdk.until("result").await;
    let result = all(&frames, "user")[0];
    assert!(result_text(result).contains("How? in my own words"));
    assert_eq!(result["tool_use_result"]["answers"], answers);
    sdk.model.verify().unwrap();

    // Where nobody can be asked the model is not offered it.
    let alone = expecting(
        says("Alone."),
        json!({"tools_exclude": ["AskUserQuestion"]}),
    );
    let mut sdk = Sdk::start(&[], json!([alone]));
    sdk.prompt("go").await;
    sdk.first("result").await;
    sdk.model.verify().unwrap();
}

/// A response that presents a plan.
fn plans(input: Value) -> Value {
    json!({"respond": {"content": ["First A, then B.", {"type": "tool_use", "name": "ExitPlanMode", "input": input}]}})
}

#[tokio::test]
async fn tool_12_a_plan_is_presented_and_plan_mode_is_left_where_it_is_approved() {
    for approved in [true, false] {
        let answer = match approved {
            true => json!({"behavior": "allow"}),
            false => json!({"behavior": "deny", "message": "B first."}),
        };
        let expected = match approved {
            true => json!({"tool_results": [{"contains": "approved", "is_error": false}]}),
            false => json!({"tool_results": [{"contains": "B first.", "is_error": true}]}),
        };
        let flags = [ASKING[0], "--permission-mode=plan"];
        let script = json!([
            plans(json!({})),
            expecting(touch("made"), expected),
            says("Done.")
        ]);
        let mut sdk = Sdk::start(&flags, script);
        sdk.prompt("go").await;
        let asked = sdk.first(QUESTION).await;
        assert_eq!(asked["request"]["tool_name"], "ExitPlanMode");
        assert_eq!(asked["request"]["input"]["plan"], "First A, then B.");
        sdk.answer(&asked, answer).await;
        // Outside of plan mode the next call is asked about; in it, it is refused.
        let mut questions = 0;
        let frames = sdk
            .until_answering("result", |_| {
                questions += 1;
                json!({"behavior": "allow", "updatedInput": {"command": "touch made"}})
            })
            .await;
        assert_eq!(questions, usize::from(approved));
        assert_eq!(sdk.folder.path().join("made").exists(), approved);
        let modes: Vec<&Value> = all(&frames, "system status")
            .into_iter()
            .map(|frame| &frame["permissionMode"])
            .collect();
        assert_eq!(modes.contains(&&json!("default")), approved, "{modes:?}");
        sdk.model.verify().unwrap();
    }
}

#[tokio::test]
async fn tool_27_commands_approved_with_a_plan_run_unasked_and_the_output_has_the_plan() {
    let prompts = json!([{"tool": "Bash", "prompt": "touch planned"}]);
    let script = json!([
        plans(json!({ "allowedPrompts": prompts })),
        touch("planned"),
        touch("more"),
        says("Done."),
    ]);
    let mut sdk = Sdk::start(&[ASKING[0], "--permission-mode=plan"], script);
    sdk.prompt("go").await;
    let asked = sdk.first(QUESTION).await;
    assert_eq!(asked["request"]["input"]["allowedPrompts"], prompts);
    let input = json!({"plan": "Only A.", "allowedPrompts": prompts});
    sdk.answer(&asked, json!({"behavior": "allow", "updatedInput": input}))
        .await;
    let mut asked = Vec::new();
    let frames = sdk
        .until_answering("result", |request| {
            asked.push(request["input"]["command"].clone());
            json!({"behavior": "deny", "message": "no"})
        })
        .await;
    assert_eq!(asked, ["touch more"]);
    assert!(sdk.folder.path().join("planned").exists());
    let output = &all(&frames, "user")[0]["tool_use_result"];
    assert_eq!(output["plan"], "Only A.", "the one that was approved");
    assert_eq!(output["isAgent"], false);
}

/// What the tool Config answers to these inputs, and the requests that followed.
async fn configured(inputs: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let config = inputs.iter().map(|input| calls("Config", input.clone()));
    let script: Vec<Value> = config.chain([says("Done.")]).collect();
    let flags = [
        "--tools=Config",
        "--allowedTools=Config",
        "--effort=low",
        "--model=claude-sonnet-4-6",
    ];
    let mut sdk = Sdk::start(&flags, script.into());
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let results = all(&frames, "user").into_iter();
    let outputs = results
        .map(|frame| frame["tool_use_result"].clone())
        .collect();
    (outputs, sdk.bodies())
}

#[tokio::test]
async fn tool_15_config_changes_what_the_next_request_is_made_of() {
    let set = |setting: &str, value: Value| json!({"setting": setting, "value": value});
    let (outputs, bodies) = configured(&[
        set("effort", json!("max")),
        set("thinking", json!(2000)),
        set("model", json!("claude-opus-4-6")),
    ])
    .await;
    assert!(
        outputs.iter().all(|output| output["success"] == true),
        "{outputs:?}"
    );
    let effort = |place: usize| &bodies[place]["output_config"]["effort"];
    assert_eq!((effort(0), effort(1)), (&json!("low"), &json!("max")));
    assert_eq!(bodies[1]["thinking"]["type"], "adaptive");
    assert_eq!(bodies[2]["thinking"]["budget_tokens"], 2000);
    assert_eq!(bodies[2]["model"], "claude-sonnet-4-6");
    assert_eq!(bodies[3]["model"], "claude-opus-4-6");
}

#[tokio::test]
async fn tool_28_config_reads_without_a_value_and_with_one_tells_the_old_and_the_new() {
    let (outputs, _) = configured(&[
        json!({"setting": "effort"}),
        json!({"setting": "effort", "value": "max"}),
        json!({"setting": "effort"}),
        json!({"setting": "effort", "value": "enormous"}),
        json!({"setting": "colour"}),
    ])
    .await;
    let read = |value: &str| json!({"success": true, "operation": "get", "setting": "effort", "value": value});
    assert_eq!(outputs[0], read("low"));
    let changed = json!({"success": true, "operation": "set", "setting": "effort", "previousValue": "low", "newValue": "max"});
    assert_eq!(outputs[1], changed);
    assert_eq!(outputs[2], read("max"));
    for (output, named) in [(&outputs[3], "low, medium, high"), (&outputs[4], "colour")] {
        assert_eq!(output["success"], false);
        assert!(
            output["error"].as_str().unwrap().contains(named),
            "{output}"
        );
    }
}

/// A folder with two skills.
fn skills() -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    for (name, text) in [
        ("knots", "Tie $ARGUMENTS twice. MARLINSPIKE"),
        ("sails", "Hoist them. HALYARD"),
    ] {
        let skill = folder.path().join(".claude/skills").join(name);
        fs::create_dir_all(&skill).unwrap();
        let text = format!("---\nname: {name}\ndescription: About {name}\n---\n{text}\n");
        fs::write(skill.join("SKILL.md"), text).unwrap();
    }
    folder
}

#[tokio::test]
async fn tool_17_skill_gives_the_text_of_a_skill_that_may_be_invoked() {
    let invoke = |name: &str| calls("Skill", json!({"skill": name, "args": "it"}));
    let read = |text: &str, is_error: bool| json!({"tool_results": [{"contains": text, "is_error": is_error}]});
    let script = json!([
        invoke("knots"),
        expecting(invoke("sails"), read("Tie it twice.", false)),
        expecting(invoke("kites"), read("sails", true)),
        expecting(says("Done."), read("no skill named kites", true)),
    ]);
    let mut sdk = Sdk::start_in(
        skills(),
        &["--allowedTools=Skill(knots),Skill(kites)"],
        script,
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let output = &all(&frames, "user")[0]["tool_use_result"];
    assert_eq!(
        (&output["success"], &output["commandName"]),
        (&json!(true), &json!("knots"))
    );
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn ctx_8_of_a_skill_only_its_description_is_sent_until_it_is_invoked() {
    let script = json!([calls("Skill", json!({"skill": "knots"})), says("Done.")]);
    let mut sdk = Sdk::start_in(skills(), &["--allowedTools=Skill"], script);
    sdk.prompt("go").await;
    sdk.first("result").await;
    let sent: Vec<String> = sdk.bodies().iter().map(Value::to_string).collect();
    for request in &sent {
        assert!(request.contains("About knots") && request.contains("About sails"));
        assert!(!request.contains("HALYARD"));
    }
    assert!(!sent[0].contains("MARLINSPIKE") && sent[1].contains("MARLINSPIKE"));
}
