//! What hooks are told: a session in which much happens, seen by callbacks and by commands of a settings file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use serde_json::{Map, Value, json};

use crate::support::{Sdk, all, calls, says};

/// The events of that session.
const EVENTS: [&str; 11] = [
    "Setup",
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];

/// What a hook was told, and whether the transcript was there by then.
struct Told {
    request: Value,
    has_transcript: bool,
}

impl Told {
    fn input(&self) -> &Value {
        &self.request["input"]
    }
}

/// What hooks are told of a session with an agent, a call, one that fails and one that is asked about; each answers `answer` of
/// its input. Behind it what the model was sent, and the last frames.
async fn eventful(answer: impl Fn(&Value) -> Value) -> (Vec<Told>, Vec<Value>, Vec<Value>) {
    let delegate = json!({"description": "look", "prompt": "Read it.", "subagent_type": "reader"});
    let read = |name: &str| calls("Read", json!({"file_path": format!("${{cwd}}/{name}")}));
    let script = json!([
        calls("Agent", delegate),
        says("It says hello."),
        read("hello.txt"),
        read("none.txt"),
        calls("Bash", json!({"command": "touch asked.txt"})),
        says("All done."),
        says("Well."),
    ]);
    let mut sdk = Sdk::start(&["--permission-prompt-tool=stdio", "--init"], script);
    fs::write(sdk.folder.path().join("hello.txt"), "hello\n").unwrap();
    let matcher = |event: &str| json!([{"hookCallbackIds": [event]}]);
    let hooks: Map<String, Value> = EVENTS
        .iter()
        .map(|event| ((*event).to_owned(), matcher(event)))
        .collect();
    let reader = json!({"description": "reads", "prompt": "You read.", "tools": ["Read"]});
    sdk.initialize(json!({"hooks": hooks, "agents": {"reader": reader}}))
        .await;
    let mut told = Vec::new();
    let mut respond = |request: &Value| {
        if request["subtype"] == "can_use_tool" {
            return json!({"behavior": "deny", "message": "no"});
        }
        let transcript = request["input"]["transcript_path"].as_str().unwrap();
        told.push(Told {
            request: request.clone(),
            has_transcript: Path::new(transcript).is_file(),
        });
        answer(&request["input"])
    };
    let mut frames = Vec::new();
    // What a hook says that nothing waits for is read with the next prompt at the latest.
    for prompt in ["go", "well?"] {
        sdk.prompt(prompt).await;
        frames.extend(sdk.until_answering("result", &mut respond).await);
    }
    sdk.model.verify().unwrap();
    let bodies = sdk.bodies();
    (told, bodies, frames)
}

fn names(input: &Value) -> BTreeSet<&str> {
    input
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test]
async fn hook_3_every_input_has_the_common_fields_and_those_of_its_event() {
    const COMMON: [&str; 4] = ["session_id", "transcript_path", "cwd", "hook_event_name"];
    let (told, ..) = eventful(|_| json!({})).await;
    let of_event: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("Setup", &["trigger"][..]),
        ("SessionStart", &["source"]),
        ("UserPromptSubmit", &["prompt"]),
        ("PreToolUse", &["tool_name", "tool_input", "tool_use_id"]),
        (
            "PostToolUse",
            &["tool_name", "tool_input", "tool_response", "tool_use_id"],
        ),
        (
            "PostToolUseFailure",
            &["tool_name", "tool_input", "tool_use_id", "error"],
        ),
        ("PermissionRequest", &["tool_name", "tool_input"]),
        ("Notification", &["message", "notification_type"]),
        ("SubagentStart", &["agent_id", "agent_type"]),
        (
            "SubagentStop",
            &[
                "stop_hook_active",
                "agent_id",
                "agent_type",
                "agent_transcript_path",
            ],
        ),
        ("Stop", &["stop_hook_active"]),
    ]);
    let mut seen = BTreeSet::new();
    for told in &told {
        let input = told.input();
        let event = input["hook_event_name"].as_str().unwrap();
        let there = names(input);
        let fields = COMMON.iter().chain(of_event[event]);
        for field in fields {
            assert!(there.contains(field), "no {field} in {input}");
        }
        seen.insert(event.to_owned());
    }
    let expected = EVENTS.map(ToOwned::to_owned);
    assert_eq!(seen, BTreeSet::from(expected));
}

#[tokio::test]
async fn hook_9_every_input_names_session_directory_mode_and_call_and_a_transcript_that_is_there() {
    let (told, _, frames) = eventful(|_| json!({})).await;
    let init = all(&frames, "system init")[0];
    for told in &told {
        let input = told.input();
        let event = input["hook_event_name"].as_str().unwrap();
        assert_eq!(told.request["callback_id"], event);
        assert_eq!(input["session_id"], init["session_id"], "{event}");
        assert_eq!(input["cwd"], init["cwd"], "{event}");
        let transcript = input["transcript_path"].as_str().unwrap();
        assert!(transcript.contains(init["session_id"].as_str().unwrap()));
        assert!(told.has_transcript, "{event}: no file {transcript}");
        if matches!(
            event,
            "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "Stop"
        ) {
            assert_eq!(input["permission_mode"], "default", "{event}");
        }
        if matches!(event, "PreToolUse" | "PostToolUse" | "PostToolUseFailure") {
            let id = input["tool_use_id"].as_str().unwrap();
            assert!(id.starts_with("toolu_"), "{id}");
            assert_eq!(told.request["tool_use_id"], id);
        }
    }
}

#[tokio::test]
async fn hook_11_context_reaches_the_model_from_the_events_that_allow_it_and_nothing_else_does() {
    let (_, bodies, _) = eventful(|input| {
        let event = input["hook_event_name"].as_str().unwrap();
        // There it would be no answer, and the call would be denied before anybody is asked.
        if event == "PermissionRequest" {
            return json!({});
        }
        let context = format!("Context of {event}.");
        json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})
    })
    .await;
    let sent: String = bodies.iter().map(Value::to_string).collect();
    for event in EVENTS {
        let allowed = !matches!(event, "PermissionRequest" | "SubagentStop" | "Stop");
        let context = format!("Context of {event}.");
        assert_eq!(sent.contains(&context), allowed, "{event}");
    }

    let (_, bodies, frames) = eventful(|input| {
        let event = input["hook_event_name"].as_str().unwrap();
        json!({"systemMessage": format!("Said by {event}.")})
    })
    .await;
    let sent: String = bodies.iter().map(Value::to_string).collect();
    assert!(!sent.contains("Said by"), "{sent}");
    let shown: String = frames.iter().map(Value::to_string).collect();
    for event in EVENTS {
        let said = format!("Said by {event}.");
        assert!(shown.contains(&said), "the person hears {event}");
    }
}

#[tokio::test]
async fn hook_16_stop_events_say_what_was_said_last_and_those_of_agents_which_agent_it_is() {
    let (told, ..) = eventful(|_| json!({})).await;
    let of = |event: &str| {
        let inputs = told.iter().map(Told::input);
        let mut found = inputs.filter(|input| input["hook_event_name"] == event);
        found.next().unwrap().clone()
    };
    let (start, stop) = (of("SubagentStart"), of("SubagentStop"));
    assert_eq!(start["agent_type"], "reader");
    for field in ["agent_id", "agent_type"] {
        assert_eq!(start[field], stop[field]);
    }
    assert_eq!(stop["stop_hook_active"], false);
    assert_eq!(stop["last_assistant_message"], "It says hello.");
    let transcript = stop["agent_transcript_path"].as_str().unwrap();
    let id = start["agent_id"].as_str().unwrap();
    assert!(
        transcript.ends_with(&format!("subagents/agent-{id}.jsonl")),
        "{transcript}"
    );
    let stop = of("Stop");
    assert_eq!(stop["stop_hook_active"], false);
    assert_eq!(stop["last_assistant_message"], "All done.");
    assert!(stop.get("agent_id").is_none());
}

/// A folder whose settings have these events written down, each by a command.
fn noting(events: &[&str]) -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    // By one write: two of them may run beside each other.
    let note = r#"told=$(cat); printf '%s\n' "$told" >> "$CLAUDE_PROJECT_DIR/told.jsonl""#;
    let hook = json!([{"hooks": [{"type": "command", "command": note}]}]);
    let hooks: Map<String, Value> = events
        .iter()
        .map(|event| ((*event).to_owned(), hook.clone()))
        .collect();
    fs::create_dir(folder.path().join(".claude")).unwrap();
    let settings = json!({ "hooks": hooks }).to_string();
    fs::write(folder.path().join(".claude/settings.json"), settings).unwrap();
    folder
}

/// What was written down, the events with what brought them about.
fn noted(folder: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder.join("told.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .map(|input: Value| {
            let causes = ["trigger", "source", "reason", "notification_type"];
            let cause = causes.iter().find_map(|name| input[*name].as_str());
            let event = input["hook_event_name"].as_str().unwrap().to_owned();
            let cause = match input.get("custom_instructions") {
                Some(words) => format!("{} {words}", cause.unwrap()),
                None => cause.unwrap().to_owned(),
            };
            (event, cause)
        })
        .collect()
}

#[tokio::test]
async fn hook_15_events_of_the_session_say_what_brought_them_about() {
    let events = [
        "Setup",
        "SessionStart",
        "SessionEnd",
        "PreCompact",
        "Notification",
    ];
    let folder = noting(&events);
    let long = format!("answer {}", "y".repeat(400));
    let full =
        json!({"respond": {"text": long, "usage": {"input_tokens": 190_000, "output_tokens": 10}}});
    let flags = ["--permission-prompt-tool=stdio", "--init"];
    let touch = calls("Bash", json!({"command": "touch made.txt"}));
    let script = json!([
        says("Hello."),
        says(&long),
        says(&long),
        says("Names: a.rs."),
        touch,
        says("No.")
    ]);
    let mut sdk = Sdk::start_in(folder.clone(), &flags, script);
    for prompt in ["hi", "/clear", "one", "two", "/compact keep the names"] {
        sdk.prompt(prompt).await;
        sdk.first("result").await;
    }
    sdk.prompt("touch it").await;
    sdk.until_answering("result", |_| json!({"behavior": "deny", "message": "no"}))
        .await;
    sdk.close().await;
    let script = json!([full, says("In short."), says("Fine.")]);
    let flags = [
        "--continue",
        "--maintenance",
        "--model",
        "claude-sonnet-4-6",
    ];
    let mut sdk = Sdk::start_in(folder.clone(), &flags, script);
    for prompt in ["three", "four"] {
        sdk.prompt(prompt).await;
        sdk.first("result").await;
    }
    sdk.close().await;
    let told = noted(folder.path());
    let told: Vec<(&str, &str)> = told
        .iter()
        .map(|(event, cause)| (event.as_str(), cause.as_str()))
        .collect();
    // The setup and the start of a session are told beside each other.
    let (begun, told): (Vec<_>, Vec<_>) = (told.into_iter())
        .partition(|it| matches!(*it, ("Setup", _) | ("SessionStart", "startup" | "resume")));
    for wanted in [
        ("Setup", "init"),
        ("SessionStart", "startup"),
        ("Setup", "maintenance"),
        ("SessionStart", "resume"),
    ] {
        assert!(begun.contains(&wanted), "{begun:?}");
    }
    assert_eq!(begun.len(), 4, "{begun:?}");
    assert_eq!(
        told,
        [
            ("SessionEnd", "clear"),
            ("SessionStart", "clear"),
            ("PreCompact", "manual \"keep the names\""),
            ("SessionStart", "compact"),
            ("Notification", "permission_prompt"),
            ("SessionEnd", "other"),
            ("PreCompact", "auto null"),
            ("SessionStart", "compact"),
            ("SessionEnd", "other"),
        ]
    );
}
