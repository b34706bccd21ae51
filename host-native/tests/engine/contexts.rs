//! What is in the model's context: instructions, commands, and what a compaction leaves.

use std::{fs, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, expecting, kinds, says};

/// A folder whose project has instructions, among them how to sum up.
fn instructed() -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let text = "Use tabs.\n\n# When summing up\nKeep ticket numbers.\n";
    fs::write(folder.path().join("CLAUDE.md"), text).unwrap();
    folder
}

/// An answer after which the context is nearly full.
fn fills(text: &str) -> Value {
    json!({"respond": {"text": format!("{text} {}", "y".repeat(400)), "usage": {"input_tokens": 190_000, "output_tokens": 10}}})
}

fn long(text: &str) -> String {
    format!("{text} {}", "x".repeat(400))
}

#[tokio::test]
async fn ctx_1_near_the_limit_a_summary_takes_the_place_of_the_beginning_and_instructions_stay() {
    let asked = json!({"messages_contain": "question one"});
    let goes_on = expecting(
        says("Fine."),
        json!({"messages_contain": ["It was about questions.", "Use tabs.", "and now?"]}),
    );
    let script = json!([
        says("One."),
        fills("answer two"),
        expecting(says("It was about questions."), asked),
        goes_on
    ]);
    let mut sdk = Sdk::start_in(instructed(), &["--model", "claude-sonnet-4-6"], script);
    for prompt in ["question one", "question two"] {
        sdk.prompt(&long(prompt)).await;
        let frames = sdk.until("result").await;
        assert!(
            all(&frames, "system compact_boundary").is_empty(),
            "there is room"
        );
    }
    sdk.prompt("and now?").await;
    let frames = sdk.until("result").await;
    let boundary = all(&frames, "system compact_boundary")[0];
    assert_eq!(boundary["compact_metadata"]["trigger"], "auto");
    assert_eq!(frames.last().unwrap()["result"], "Fine.");
    sdk.model.verify().unwrap();
    assert!(!sdk.bodies()[3].to_string().contains("question one"));
}

#[tokio::test]
async fn ctx_1_on_command_the_conversation_is_compacted_unless_a_hook_keeps_it() {
    let script = json!([
        says("One."),
        says("Two."),
        says("In short."),
        says("Three.")
    ]);
    let mut sdk = Sdk::start(&[], script);
    let hook = json!({"PreCompact": [{"hookCallbackIds": ["hook_0"]}]});
    sdk.initialize(json!({ "hooks": hook })).await;
    for prompt in ["question one", "question two"] {
        sdk.prompt(&long(prompt)).await;
        sdk.first("result").await;
    }
    for answer in [json!({"decision": "block", "reason": "not now"}), json!({})] {
        sdk.prompt("/compact").await;
        let asked = sdk.first("control_request hook_callback").await;
        assert_eq!(asked["request"]["input"]["trigger"], "manual");
        sdk.answer(&asked, answer.clone()).await;
        let frames = sdk.until("result").await;
        let is_kept = answer["decision"] == "block";
        assert_eq!(
            all(&frames, "system compact_boundary").is_empty(),
            is_kept,
            "{:?}",
            kinds(&frames)
        );
        assert_eq!(
            frames.last().unwrap().to_string().contains("not now"),
            is_kept
        );
    }
    sdk.prompt("go on").await;
    sdk.first("result").await;
    let last = sdk.bodies().pop().unwrap()["messages"].to_string();
    assert!(
        last.contains("In short.") && !last.contains("question one"),
        "{last}"
    );
}

#[tokio::test]
async fn ctx_3_instructions_of_the_project_are_in_every_request_and_the_prompt_is_a_text_with_an_addition()
 {
    let read = calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let flags = [
        "--system-prompt",
        "You are a pirate.",
        "--append-system-prompt",
        "Be brief.",
    ];
    let mut sdk = Sdk::start_in(
        instructed(),
        &flags,
        json!([read, says("One."), says("Two.")]),
    );
    for prompt in ["first", "second"] {
        sdk.prompt(prompt).await;
        sdk.first("result").await;
    }
    let bodies = sdk.bodies();
    assert_eq!(bodies.len(), 3);
    for body in bodies {
        let first = body["messages"][0].to_string();
        assert_eq!(first.matches("Use tabs.").count(), 1, "{first}");
        assert!(
            !body["messages"]
                .to_string()
                .replace(&first, "")
                .contains("Use tabs.")
        );
        let system = body["system"].to_string();
        let (prompt, addition) = (system.find("You are a pirate."), system.find("Be brief."));
        assert!(prompt.is_some() && prompt < addition, "{system}");
    }
}

#[tokio::test]
async fn ctx_4_the_boundary_says_why_and_how_much_and_instructions_steer_the_summary() {
    let asked = json!({"messages_contain": ["Keep ticket numbers.", "question one"], "last_user_contains": "memory files"});
    let after = json!({"messages_contain": ["Ticket 7.", "answer three"]});
    let mut third = says("");
    third["respond"] =
        json!({"text": "answer three", "usage": {"input_tokens": 2000, "output_tokens": 1}});
    let script = json!([
        says("One."),
        says("Two."),
        third,
        expecting(says("Ticket 7."), asked),
        expecting(says("Fine."), after)
    ]);
    let mut sdk = Sdk::start_in(instructed(), &[], script);
    for prompt in ["question one", "question two", "question three"] {
        sdk.prompt(&long(prompt)).await;
        sdk.first("result").await;
    }
    sdk.prompt("/compact").await;
    let frames = sdk.until("result").await;
    let metadata = &all(&frames, "system compact_boundary")[0]["compact_metadata"];
    assert_eq!(
        (&metadata["trigger"], &metadata["pre_tokens"]),
        (&json!("manual"), &json!(2001))
    );
    sdk.prompt("go on").await;
    assert_eq!(sdk.first("result").await["result"], "Fine.");
    sdk.model.verify().unwrap();
    let last = sdk.bodies().pop().unwrap()["messages"].to_string();
    assert!(!last.contains("question one"), "{last}");
}

#[tokio::test]
async fn conf_9_commands_are_listed_with_what_they_expect_and_a_prompt_that_begins_with_one_runs_it()
 {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let commands = folder.path().join(".claude/commands");
    fs::create_dir_all(&commands).unwrap();
    let text =
        "---\ndescription: Greets somebody\nargument-hint: [who]\n---\nSay hello to $ARGUMENTS.\n";
    fs::write(commands.join("greet.md"), text).unwrap();
    let greets = expecting(
        says("Hello."),
        json!({"last_user_contains": "Say hello to the cat."}),
    );
    let mut sdk = Sdk::start_in(folder, &[], json!([greets, says("In short.")]));
    let reply = sdk.initialize(json!({})).await;
    let listed = reply["commands"].as_array().unwrap();
    let greet = listed
        .iter()
        .find(|command| command["name"] == "greet")
        .unwrap();
    assert!(
        greet["description"]
            .as_str()
            .unwrap()
            .contains("Greets somebody"),
        "{greet}"
    );
    assert_eq!(greet["argumentHint"], "[who]");
    sdk.prompt("/greet the cat").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "Hello.");
    let init = all(&frames, "system init")[0];
    assert!(
        init["slash_commands"]
            .as_array()
            .unwrap()
            .contains(&json!("greet"))
    );
    // The one that every session has, which the model never sees.
    sdk.prompt("/compact").await;
    let result = sdk.first("result").await;
    assert_eq!(
        (&result["local_command"], &result["is_error"]),
        (&json!("compact"), &json!(false))
    );
    assert!(
        sdk.bodies()
            .iter()
            .all(|body| !body["messages"].to_string().contains("/compact"))
    );
}
