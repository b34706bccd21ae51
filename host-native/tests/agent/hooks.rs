//! Closures as hooks.

use std::{
    process::Command,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use windlass::{
    NoInput, Tool,
    core::{
        hook::{HookEvent, HookInput, HookMatcher, HookOutput, Occurrence},
        permission::Mode,
        tools::CoreTool,
    },
};

use crate::support::{Model, calls, done_after, messages};

fn nod() -> Tool {
    Tool::new("nod", "Nods", |_: NoInput| async { "nodded" })
}

/// What hooks were told, with the id of the call.
type Seen = Arc<Mutex<Vec<(HookInput, Option<String>)>>>;

#[tokio::test]
async fn hook_8_a_closure_gets_input_and_call_id_and_its_denial_holds() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("not now", true)
    ]));
    let seen: Seen = Arc::default();
    let log = Arc::clone(&seen);
    let agent = model
        .agent()
        .tool(nod())
        .allowed_tools(["nod"])
        .hook(HookEvent::PreToolUse, move |input, context| {
            let id = context.tool_use_id().map(str::to_owned);
            log.lock().unwrap().push((input, id));
            async { HookOutput::deny("not now") }
        })
        .build()
        .unwrap();
    messages(&mut agent.query("go")).await;
    model.verify();
    let seen = seen.lock().unwrap();
    let [(input, id)] = seen.as_slice() else {
        panic!("{seen:?}");
    };
    let Occurrence::PreToolUse(call) = &input.event else {
        panic!("{input:?}");
    };
    assert_eq!(call.tool_name, "nod");
    assert_eq!(Some(&call.tool_use_id), id.as_ref());
    assert!(input.cwd.starts_with('/'));
}

#[tokio::test]
async fn hook_7_a_closure_that_panics_or_fails_lets_no_call_through() {
    for fails in [true, false] {
        let model = Model::of(json!([
            calls(&[("nod", json!({}))]),
            done_after("failed", true)
        ]));
        let agent = model
            .agent()
            .tool(nod())
            .allowed_tools(["nod"])
            .hook(HookEvent::PreToolUse, move |_, _| async move {
                assert!(fails, "this hook panics");
                Err::<HookOutput, _>("this hook fails")
            })
            .build()
            .unwrap();
        messages(&mut agent.query("go")).await;
        model.verify();
    }
}

#[tokio::test]
async fn hook_8_the_signal_fires_when_the_time_is_over() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("no answer", true)
    ]));
    let mut slow = HookMatcher::of(HookEvent::PreToolUse);
    slow.timeout_ms = 20;
    let heard: Arc<Mutex<bool>> = Arc::default();
    let flag = Arc::clone(&heard);
    let agent = model
        .agent()
        .tool(nod())
        .hook(slow, move |_, context| {
            let flag = Arc::clone(&flag);
            async move {
                context.cancelled().await;
                *flag.lock().unwrap() = context.is_cancelled();
                HookOutput::allow()
            }
        })
        .build()
        .unwrap();
    messages(&mut agent.query("go")).await;
    model.verify();
    assert!(*heard.lock().unwrap());
}

/// An occurrence from its fields.
fn occurrence(event: HookEvent, mut fields: Value) -> Occurrence {
    fields["hook_event_name"] = event.name().into();
    serde_json::from_value(fields).unwrap()
}

#[tokio::test]
async fn hook_1_an_embedding_program_raises_every_event_that_only_it_can_know_of() {
    use HookEvent as E;
    let outside = [
        (
            E::TeammateIdle,
            json!({"teammate_name": "ann", "team_name": "red"}),
        ),
        (
            E::TaskCompleted,
            json!({"task_id": "7", "task_subject": "tidy"}),
        ),
        (E::ConfigChange, json!({"source": "policy_settings"})),
        (E::WorktreeCreate, json!({"name": "f"})),
        (E::WorktreeRemove, json!({"worktree_path": "/wt/f"})),
        (
            E::Notification,
            json!({"message": "look", "notification_type": "idle_prompt"}),
        ),
        (E::Setup, json!({"trigger": "init"})),
        (E::SessionStart, json!({"source": "startup"})),
        (
            E::InstructionsLoaded,
            json!({"file_path": "/n.md", "memory_type": "Project", "load_reason": "session_start"}),
        ),
    ];
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let model = Model::says([]);
    let mut builder = model.agent();
    for event in HookEvent::ALL {
        let heard = Arc::clone(&heard);
        builder = builder.hook(event, move |input, _| {
            heard
                .lock()
                .unwrap()
                .push(serde_json::to_value(&input).unwrap());
            async { HookOutput::default() }
        });
    }
    let session = builder.build().unwrap().session();
    for (event, fields) in &outside {
        let told = session.occurred(occurrence(*event, fields.clone()));
        assert_eq!(told, Ok(()), "{event:?}");
    }
    let known = [
        (E::UserPromptSubmit, json!({"prompt": "go"})),
        (E::SessionEnd, json!({"reason": "logout"})),
    ];
    for (event, fields) in known {
        let refused = session.occurred(occurrence(event, fields)).unwrap_err();
        assert!(refused.to_string().contains(event.name()), "{refused}");
    }
    session.close().await;
    let mut heard = std::mem::take(&mut *heard.lock().unwrap());
    let end = heard.pop().unwrap();
    assert_eq!(
        (&end["hook_event_name"], &end["reason"]),
        (&json!("SessionEnd"), &json!("other"))
    );
    assert_eq!(heard.len(), outside.len(), "{heard:?}");
    for (event, fields) in outside {
        let name = event.name();
        let place = heard
            .iter()
            .position(|told| told["hook_event_name"] == name);
        let told = heard.swap_remove(place.unwrap_or_else(|| panic!("no {name}")));
        for (field, value) in fields.as_object().unwrap() {
            assert_eq!(told[field], *value, "{name}.{field}");
        }
    }
    let known: Vec<_> = HookEvent::ALL
        .into_iter()
        .filter(|e| e.comes_from_outside())
        .collect();
    assert_eq!(known.len(), 10, "a new one is to be added above: {known:?}");
}

#[tokio::test]
async fn hook_17_closures_hear_of_the_worktree_of_an_agent_and_of_its_end() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["init", "--quiet"][..],
        &[
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b.c",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "x",
        ],
    ] {
        let ran = Command::new("git")
            .args(arguments)
            .current_dir(folder.path())
            .status();
        assert!(ran.unwrap().success());
    }
    let task = json!({"description": "d", "prompt": "Look.", "subagent_type": "general-purpose",
        "isolation": "worktree"});
    let script = json!([calls(&[("Task", task)]), {"respond": "Seen."}, {"respond": "Done."}]);
    let model = Model::of(script);
    let heard: Arc<Mutex<Vec<Occurrence>>> = Arc::default();
    let mut builder = model
        .agent()
        .cwd(folder.path())
        .core_tools([CoreTool::Task, CoreTool::EnterWorktree])
        .permission_mode(Mode::AcceptEdits)
        .allowed_tools(["Task"]);
    for event in [HookEvent::WorktreeCreate, HookEvent::WorktreeRemove] {
        let heard = Arc::clone(&heard);
        builder = builder.hook(event, move |input, _| {
            if let Occurrence::WorktreeRemove(gone) = &input.event {
                let is_there = std::path::Path::new(&gone.worktree_path).is_dir();
                assert!(is_there, "it is told before it goes");
            }
            heard.lock().unwrap().push(input.event);
            async { HookOutput::default() }
        });
    }
    let session = builder.build().unwrap().session();
    messages(&mut session.prompt("go")).await;
    model.verify();
    session.close().await;
    let heard = heard.lock().unwrap();
    let [
        Occurrence::WorktreeCreate(made),
        Occurrence::WorktreeRemove(gone),
    ] = heard.as_slice()
    else {
        panic!("{heard:?}");
    };
    assert!(gone.worktree_path.ends_with(&made.name), "{gone:?}");
    assert!(!std::path::Path::new(&gone.worktree_path).exists());
}
