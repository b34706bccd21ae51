//! One session in which everything happens that hooks can be registered for.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_core::{
    Input, Prompt, RawJson, Spec,
    hook::{
        HookAnswer, HookEvent, Occurrence,
        input::{self, ConfigSource, ExpansionType, LoadReason, MemoryType, SetupTrigger},
    },
    tool::ToolResult,
    tools::CoreTool,
};
use windlass_testkit::{HookStep, TestHost};

use super::{calls, matcher, model, told};
use crate::harness::{asking_spec, bash, raw, rules, tool};

fn spec() -> Spec {
    let mut spec = asking_spec(vec![bash(), tool("Note")]);
    spec.offer([CoreTool::Task]);
    spec.policy.permissions.rules.allow = rules(&["Note", "Task"]);
    spec
}

/// What only a host can know of.
fn outside() -> Vec<Occurrence> {
    vec![
        Occurrence::Setup(input::Setup {
            trigger: SetupTrigger::Init,
        }),
        Occurrence::Notification(input::Notification {
            message: "look".into(),
            title: None,
            notification_type: "idle_prompt".into(),
        }),
        Occurrence::TeammateIdle(input::TeammateIdle {
            teammate_name: "ann".into(),
            team_name: "red".into(),
        }),
        Occurrence::TaskCompleted(input::TaskCompleted {
            task_id: "7".into(),
            task_subject: "tidy".into(),
            task_description: None,
            teammate_name: None,
            team_name: None,
        }),
        Occurrence::ConfigChange(input::ConfigChange {
            source: ConfigSource::LocalSettings,
            file_path: None,
        }),
        Occurrence::WorktreeCreate(input::WorktreeCreate { name: "f".into() }),
        Occurrence::WorktreeRemove(input::WorktreeRemove {
            worktree_path: "/wt/f".into(),
        }),
        Occurrence::InstructionsLoaded(input::InstructionsLoaded {
            file_path: "/work/notes.md".into(),
            memory_type: MemoryType::Project,
            load_reason: LoadReason::SessionStart,
            globs: None,
            trigger_file_path: None,
            parent_file_path: None,
        }),
        Occurrence::SessionEnd(input::SessionEnd {
            reason: "logout".into(),
        }),
    ]
}

/// Those that need a session in which something goes wrong or elsewhere: `hooks::answers` shows them.
const ELSEWHERE: [HookEvent; 3] = [
    HookEvent::PermissionDenied,
    HookEvent::StopFailure,
    HookEvent::CwdChanged,
];

fn here() -> impl Iterator<Item = HookEvent> {
    (HookEvent::ALL.into_iter()).filter(|event| !ELSEWHERE.contains(event))
}

/// A prompt that was a command.
fn expanded(text: &str) -> Prompt {
    Prompt {
        expanded_from: Some(input::UserPromptExpansion {
            expansion_type: ExpansionType::SlashCommand,
            command_name: text.into(),
            command_args: String::new(),
            command_source: None,
            prompt: format!("/{text}"),
        }),
        ..Prompt::text(text)
    }
}

/// An agent is sent, a call runs, another is asked about and fails, the conversation is compacted and goes on.
fn eventful(answer: impl Fn(HookEvent) -> HookAnswer + Clone + 'static) -> TestHost {
    let task = json!({"description": "d", "prompt": "Look.", "subagent_type": "general-purpose"});
    let block = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let mut host = model(&[
        calls(&[("Task", task)]),
        json!([block("toolu_in", "Note", json!({}))]),
        json!("The agent's report."),
        json!([block("toolu_ask", "Bash", json!({"command": "make"}))]),
        json!("It does not build."),
        json!("As I said."),
        json!("The summary."),
        json!("Good bye."),
    ])
    .allow_all()
    .tool("Note", |_| ToolResult::text("noted"))
    .tool("Bash", |_| ToolResult::error("no rule to make target"));
    for event in HookEvent::ALL {
        let answer = answer.clone();
        host = host.hook_steps(matcher(event, ""), move |_| {
            vec![HookStep::End(answer(event))]
        });
    }
    let prompts = ["go", "and so?", "/compact"].map(Prompt::text);
    let inputs = (outside().into_iter().map(Input::Occurred))
        .chain(prompts.map(Input::Prompt))
        .chain([Input::Prompt(expanded("bye"))]);
    let mut session = host.session(spec());
    host.run(&mut session, inputs).unwrap();
    host.verify().unwrap();
    host
}

fn silent(_: HookEvent) -> HookAnswer {
    HookAnswer::Output(RawJson::empty_object())
}

/// Everything that the model was ever sent.
fn sent(host: &TestHost) -> String {
    let body = |request: &windlass_core::effect::HttpRequest| {
        String::from_utf8(request.body_bytes()).unwrap()
    };
    host.requests().iter().map(body).collect()
}

#[test]
fn hook_1_every_event_has_its_place_in_a_session() {
    let host = eventful(silent);
    let mut seen: BTreeMap<HookEvent, usize> = BTreeMap::new();
    for nth in 0..host.hook_calls().len() {
        let event = told(&host, nth)["hook_event_name"].clone();
        let event = HookEvent::parse(event.as_str().unwrap()).unwrap();
        assert_eq!(
            host.hook_calls()[nth].event,
            event,
            "its own hook and no other"
        );
        *seen.entry(event).or_default() += 1;
    }
    let expected = [
        (HookEvent::PreToolUse, 3),
        (HookEvent::PostToolUse, 2),
        (HookEvent::PostToolUseFailure, 1),
        (HookEvent::PermissionRequest, 1),
        (HookEvent::UserPromptSubmit, 3), // a command is no prompt
        (HookEvent::Stop, 3),
        (HookEvent::SubagentStart, 1),
        (HookEvent::SubagentStop, 1),
        (HookEvent::PreCompact, 1),
        (HookEvent::SessionStart, 2), // at the beginning, and after the compaction
        (HookEvent::PostToolBatch, 3),
        (HookEvent::PostCompact, 1),
        (HookEvent::UserPromptExpansion, 1),
    ];
    let reported = outside()
        .into_iter()
        .map(|occurrence| (occurrence.event(), 1));
    let mut expected: BTreeMap<_, _> = expected.into_iter().chain(reported).collect();
    // The one from outside, and the question.
    expected.insert(HookEvent::Notification, 2);
    assert_eq!(seen, expected);
    assert!(here().all(|event| seen.contains_key(&event)));
    // What a host may report is what the session has no place for, and how a session starts.
    for event in HookEvent::ALL {
        let known = outside().iter().any(|o| o.event() == event);
        let start = event == HookEvent::SessionStart;
        assert_eq!(event.comes_from_outside(), known || start, "{event:?}");
    }
}

/// The fields of an event beside those that all inputs have: always there, and sometimes.
fn fields(event: HookEvent) -> (&'static [&'static str], &'static [&'static str]) {
    use HookEvent as E;
    match event {
        E::PreToolUse => (&["tool_name", "tool_input", "tool_use_id"], &[]),
        E::PostToolUse => (
            &["tool_name", "tool_input", "tool_response", "tool_use_id"],
            &["duration_ms"],
        ),
        E::PostToolUseFailure => (
            &["tool_name", "tool_input", "tool_use_id", "error"],
            &["is_interrupt", "duration_ms"],
        ),
        E::PermissionRequest => (&["tool_name", "tool_input"], &["permission_suggestions"]),
        E::UserPromptSubmit => (&["prompt"], &[]),
        E::Stop => (&["stop_hook_active"], &["last_assistant_message"]),
        E::SubagentStart => (&["agent_id", "agent_type"], &[]),
        E::SubagentStop => (
            &[
                "stop_hook_active",
                "agent_id",
                "agent_transcript_path",
                "agent_type",
            ],
            &["last_assistant_message"],
        ),
        E::PreCompact => (&["trigger", "custom_instructions"], &[]),
        E::SessionStart => (&["source"], &["agent_type", "model"]),
        E::SessionEnd => (&["reason"], &[]),
        E::Notification => (&["message", "notification_type"], &["title"]),
        E::Setup => (&["trigger"], &[]),
        E::TeammateIdle => (&["teammate_name", "team_name"], &[]),
        E::TaskCompleted => (
            &["task_id", "task_subject"],
            &["task_description", "teammate_name", "team_name"],
        ),
        E::ConfigChange => (&["source"], &["file_path"]),
        E::WorktreeCreate => (&["name"], &[]),
        E::WorktreeRemove => (&["worktree_path"], &[]),
        E::PostToolBatch => (&["tool_calls"], &[]),
        E::PostCompact => (&["trigger", "compact_summary"], &[]),
        E::UserPromptExpansion => (
            &["expansion_type", "command_name", "command_args", "prompt"],
            &["command_source"],
        ),
        E::InstructionsLoaded => (
            &["file_path", "memory_type", "load_reason"],
            &["globs", "trigger_file_path", "parent_file_path"],
        ),
        other => panic!("{other:?} is new: name its fields"),
    }
}

#[test]
fn hook_3_a_session_gives_every_hook_the_common_fields_and_those_of_its_event() {
    const COMMON: [&str; 5] = [
        "session_id",
        "transcript_path",
        "cwd",
        "permission_mode",
        "hook_event_name",
    ];
    let host = eventful(silent);
    let mut by_event: BTreeMap<HookEvent, Vec<Value>> = BTreeMap::new();
    for nth in 0..host.hook_calls().len() {
        let input = told(&host, nth);
        let event = HookEvent::parse(input["hook_event_name"].as_str().unwrap()).unwrap();
        let (always, sometimes) = fields(event);
        let given: Vec<&str> = input
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        for field in COMMON.iter().chain(always) {
            assert!(given.contains(field), "{event:?} lacks {field}: {input}");
        }
        // Inside of an agent every input names it.
        let of_agent = ["agent_id", "agent_type"];
        for field in &given {
            let known = [&COMMON[..], always, sometimes, &of_agent]
                .concat()
                .contains(field);
            assert!(known, "{event:?} has {field}: {input}");
        }
        assert_eq!(input["cwd"], "/work", "{event:?}");
        assert_eq!(
            input["session_id"],
            by_event
                .values()
                .flatten()
                .next()
                .map_or(input["session_id"].clone(), |first| first["session_id"]
                    .clone(),)
        );
        by_event.entry(event).or_default().push(input);
    }
    let all = |event: HookEvent, field: &str| -> Value {
        by_event[&event]
            .iter()
            .map(|input| input[field].clone())
            .collect()
    };
    use HookEvent as E;
    // What they say is what happened.
    assert_eq!(
        all(E::PreToolUse, "tool_name"),
        json!(["Task", "Note", "Bash"])
    );
    assert_eq!(
        all(E::PreToolUse, "tool_use_id"),
        json!(["toolu_0", "toolu_in", "toolu_ask"])
    );
    assert_eq!(
        by_event[&E::PreToolUse][2]["tool_input"],
        json!({"command": "make"})
    );
    assert_eq!(by_event[&E::PostToolUse][0]["tool_response"], "noted");
    assert_eq!(
        all(E::PostToolUseFailure, "error"),
        json!(["no rule to make target"])
    );
    assert_eq!(all(E::PermissionRequest, "tool_name"), json!(["Bash"]));
    assert_eq!(
        all(E::UserPromptSubmit, "prompt"),
        json!(["go", "and so?", "bye"])
    );
    assert_eq!(
        all(E::Stop, "last_assistant_message"),
        json!(["It does not build.", "As I said.", "Good bye."])
    );
    assert_eq!(
        all(E::Stop, "stop_hook_active"),
        json!([false, false, false])
    );
    assert_eq!(
        all(E::SubagentStart, "agent_type"),
        json!(["general-purpose"])
    );
    assert_eq!(
        all(E::SubagentStart, "agent_id"),
        all(E::SubagentStop, "agent_id")
    );
    assert_eq!(
        all(E::SubagentStop, "last_assistant_message"),
        json!(["The agent's report."])
    );
    assert_eq!(all(E::PreCompact, "trigger"), json!(["manual"]));
    assert_eq!(
        all(E::SessionStart, "source"),
        json!(["startup", "compact"])
    );
    assert_eq!(all(E::SessionEnd, "reason"), json!(["logout"]));
    assert_eq!(all(E::ConfigChange, "source"), json!(["local_settings"]));
    assert_eq!(all(E::WorktreeRemove, "worktree_path"), json!(["/wt/f"]));
    // The call inside of the agent names it, those of the main thread name nobody.
    assert_eq!(by_event[&E::PreToolUse][1]["agent_type"], "general-purpose");
    assert_eq!(by_event[&E::PreToolUse][2].get("agent_id"), None);
}

#[test]
fn hook_11_context_reaches_the_model_from_the_events_that_allow_it_and_from_no_other() {
    let host = eventful(|event| {
        HookAnswer::Output(raw(&json!({
            "hookSpecificOutput": {
                "hookEventName": event.name(),
                "additionalContext": format!("Context of {}.", event.name()),
            },
        })))
    });
    let sent = sent(&host);
    for event in HookEvent::ALL {
        let context = format!("[{0} hook] Context of {0}.", event.name());
        assert_eq!(sent.contains(&context), event.takes_context(), "{event:?}");
        let words = format!("Context of {}.", event.name());
        assert_eq!(sent.contains(&words), event.takes_context(), "{event:?}");
    }
    let allowed = HookEvent::ALL.into_iter().filter(|e| e.takes_context());
    assert_eq!(allowed.count(), 10);
}

#[test]
fn hook_11_what_a_hook_says_besides_never_reaches_the_model() {
    let spoken = eventful(|event| {
        HookAnswer::Output(raw(&json!({
            "systemMessage": format!("Said by {}.", event.name()),
            "suppressOutput": true,
        })))
    });
    let quiet = eventful(silent);
    assert_eq!(sent(&spoken), sent(&quiet));
    let said = |event: HookEvent| {
        let words = format!("Said by {}.", event.name());
        (spoken.messages().iter()).any(|message| message.to_line().contains(&words))
    };
    assert!(here().all(said), "the person hears it");

    // The plain words of a program are context where the row of the event says so.
    let printed = eventful(|event| HookAnswer::Exited {
        code: Some(0),
        stdout: format!("Printed by {}.", event.name()),
        stderr: format!("Muttered by {}.", event.name()),
    });
    let sent = sent(&printed);
    for event in HookEvent::ALL {
        let context = matches!(event, HookEvent::UserPromptSubmit | HookEvent::SessionStart);
        let words = format!("Printed by {}.", event.name());
        assert_eq!(sent.contains(&words), context, "{event:?}");
    }
    assert!(!sent.contains("Muttered"));
}
