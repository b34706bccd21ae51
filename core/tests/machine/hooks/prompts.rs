//! Hooks around prompts and sessions, and what happens outside.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    HostError, Input, Prompt, Session,
    effect::{Answer, Effect, Stage},
    hook::{
        HookAnswer, HookEvent, HookMatcher, HookOutput, Occurrence,
        input::{self, ConfigSource, SetupTrigger, StartSource},
    },
};
use windlass_testkit::HookStep;

use super::{HookOutputJson, informed, matcher, model, result, texts, told, user_message};
use crate::harness::{Bench, session_id, spec_with};

fn context(event: HookEvent, text: &str) -> HookOutput {
    HookOutputJson::of(event, json!({"additionalContext": text})).read(event)
}

#[test]
fn hook_9_every_input_names_session_transcript_directory_mode_and_event() {
    let mut host = model(&[json!("Hi.")]);
    for event in [
        HookEvent::SessionStart,
        HookEvent::UserPromptSubmit,
        HookEvent::Stop,
    ] {
        host = host.hook(event, |_| HookOutput::default());
    }
    let mut spec = spec_with(vec![]);
    spec.environment.transcript = "/t/{session_id}.jsonl".into();
    let mut session = host.session(spec);
    host.prompt(&mut session, "hello").unwrap();
    let common = |nth: usize, event: &str| {
        let told = told(&host, nth);
        assert_eq!(told["session_id"], session.id().to_string());
        assert_eq!(
            told["transcript_path"],
            format!("/t/{}.jsonl", session.id())
        );
        assert_eq!(told["cwd"], "/work");
        assert_eq!(told["permission_mode"], "bypassPermissions");
        assert_eq!(told["hook_event_name"], event);
        told
    };
    let start = common(0, "SessionStart");
    assert_eq!(start["source"], "startup");
    assert_eq!(start["model"], "claude-sonnet-4-6");
    assert_eq!(common(1, "UserPromptSubmit")["prompt"], "hello");
    let stop = common(2, "Stop");
    assert_eq!(stop["stop_hook_active"], false);
    assert_eq!(stop["last_assistant_message"], "Hi.");
}

#[test]
fn hook_15_a_session_starts_once() {
    let host = model(&[json!("One."), json!("Two.")])
        .hook(HookEvent::SessionStart, |_| HookOutput::default());
    let mut session = host.session(spec_with(vec![]));
    host.prompt(&mut session, "one").unwrap();
    host.prompt(&mut session, "two").unwrap();
    assert_eq!(host.hook_calls().len(), 1);
}

#[test]
fn hook_15_a_session_that_begins_with_a_history_is_resumed() {
    let event = HookEvent::SessionStart;
    let host = model(&[json!("One."), json!("Two.")]).hook(event, |_| HookOutput::default());
    let mut first = host.session(spec_with(vec![]));
    host.prompt(&mut first, "one").unwrap();
    let (mut fork, _) = first.fork(session_id(), [9; 32], None);
    host.prompt(&mut fork, "two").unwrap();
    let sources = [0, 1].map(|nth| told(&host, nth)["source"].clone());
    assert_eq!(sources, [json!("startup"), json!("resume")]);
}

#[test]
fn hook_15_a_host_that_says_how_the_session_starts_is_believed_and_waited_for() {
    let event = HookEvent::SessionStart;
    let host = model(&[json!("Hi.")]).hook_steps(matcher(event, "resume"), move |_| {
        vec![
            HookStep::Work(700),
            HookStep::answer(context(event, "you were here before")),
        ]
    });
    let start = Occurrence::SessionStart(input::SessionStart {
        source: StartSource::Resume,
        agent_type: None,
        model: None,
    });
    let inputs = [Input::Occurred(start), Input::Prompt(Prompt::text("hello"))];
    host.run(&mut host.session(spec_with(vec![])), inputs)
        .unwrap();
    assert_eq!(host.hook_calls().len(), 1);
    assert_eq!(told(&host, 0)["source"], "resume");
    let sent = texts(&user_message(&host, 0));
    assert_eq!(sent, ["hello", "[SessionStart hook] you were here before"]);
    assert_eq!(host.elapsed_ms(), 700);
}

#[test]
fn hook_11_context_of_prompts_and_sessions_stands_behind_the_prompt() {
    let (start, submit) = (HookEvent::SessionStart, HookEvent::UserPromptSubmit);
    // Whoever is done first: the order is that of the events.
    for slow in [0, 1] {
        let host = model(&[json!("Hi.")])
            .hook_steps(matcher(start, ""), move |_| {
                let answer = HookStep::answer(context(start, "it is Monday"));
                vec![HookStep::Work(100 * slow), answer]
            })
            .hook_steps(matcher(submit, ""), move |_| {
                let answer = HookStep::answer(context(submit, "be kind"));
                vec![HookStep::Work(100 - 100 * slow), answer]
            });
        host.prompt(&mut host.session(spec_with(vec![])), "hello")
            .unwrap();
        let sent = texts(&user_message(&host, 0));
        let start = "[SessionStart hook] it is Monday";
        assert_eq!(sent, ["hello", start, "[UserPromptSubmit hook] be kind"]);
    }
}

#[test]
fn hook_11_a_program_says_context_in_plain_text() {
    let event = HookEvent::UserPromptSubmit;
    let host = model(&[json!("Hi.")]).hook_steps(matcher(event, ""), |_| {
        vec![HookStep::End(HookAnswer::Exited {
            code: Some(0),
            stdout: "branch: main\n".into(),
            stderr: String::new(),
        })]
    });
    host.prompt(&mut host.session(spec_with(vec![])), "hello")
        .unwrap();
    let sent = texts(&user_message(&host, 0));
    assert_eq!(sent, ["hello", "[UserPromptSubmit hook] branch: main"]);
}

#[test]
fn hook_4_a_refused_prompt_never_enters_and_the_session_goes_on() {
    let event = HookEvent::UserPromptSubmit;
    let host = model(&[json!("Hi.")]).hook(event, move |input| {
        let Occurrence::UserPromptSubmit(submitted) = &input.event else {
            panic!("{input:?}");
        };
        match submitted.prompt.contains("password") {
            true => super::output(json!({"decision": "block", "reason": "no secrets"})).read(event),
            false => HookOutput::default(),
        }
    });
    let mut session = host.session(spec_with(vec![]));
    let messages = host.prompt(&mut session, "my password is …").unwrap();
    let refused = result(&messages);
    assert_eq!(
        (&refused["subtype"], &refused["num_turns"]),
        (&json!("success"), &json!(0))
    );
    assert_eq!(refused["result"], "A hook refused the prompt: no secrets");
    assert!(informed(&messages)[0].content.contains("no secrets"));
    assert_eq!(session.history().message_count(), 0);
    assert!(host.requests().is_empty());
    host.prompt(&mut session, "hello").unwrap();
    assert_eq!(texts(&user_message(&host, 0)), ["hello"]);
}

#[test]
fn hook_14_a_hook_ends_the_run_before_the_model_is_asked() {
    let event = HookEvent::SessionStart;
    let host = model(&[json!("Never asked for.")]).hook(event, move |_| {
        super::output(json!({"continue": false, "stopReason": "closed"})).read(event)
    });
    let messages = host
        .prompt(&mut host.session(spec_with(vec![])), "hello")
        .unwrap();
    assert_eq!(result(&messages)["result"], "closed");
    assert!(host.requests().is_empty());
}

/// One of every occurrence that a host reports, with what its input says beside the common fields.
fn outside() -> Vec<(Occurrence, Value)> {
    vec![
        (
            Occurrence::Notification(input::Notification {
                message: "look".into(),
                title: Some("Hey".into()),
                notification_type: "idle_prompt".into(),
            }),
            json!({"message": "look", "title": "Hey", "notification_type": "idle_prompt"}),
        ),
        (
            Occurrence::SessionEnd(input::SessionEnd {
                reason: "logout".into(),
            }),
            json!({"reason": "logout"}),
        ),
        (
            Occurrence::Setup(input::Setup {
                trigger: SetupTrigger::Init,
            }),
            json!({"trigger": "init"}),
        ),
        (
            Occurrence::TeammateIdle(input::TeammateIdle {
                teammate_name: "ann".into(),
                team_name: "red".into(),
            }),
            json!({"teammate_name": "ann", "team_name": "red"}),
        ),
        (
            Occurrence::TaskCompleted(input::TaskCompleted {
                task_id: "7".into(),
                task_subject: "tidy".into(),
                task_description: None,
                teammate_name: None,
                team_name: None,
            }),
            json!({"task_id": "7", "task_subject": "tidy"}),
        ),
        (
            Occurrence::ConfigChange(input::ConfigChange {
                source: ConfigSource::LocalSettings,
                file_path: Some("/work/s.json".into()),
            }),
            json!({"source": "local_settings", "file_path": "/work/s.json"}),
        ),
        (
            Occurrence::WorktreeCreate(input::WorktreeCreate { name: "f".into() }),
            json!({"name": "f"}),
        ),
        (
            Occurrence::WorktreeRemove(input::WorktreeRemove {
                worktree_path: "/wt/f".into(),
            }),
            json!({"worktree_path": "/wt/f"}),
        ),
        (
            Occurrence::InstructionsLoaded(input::InstructionsLoaded {
                file_path: "/work/notes.md".into(),
                memory_type: input::MemoryType::Local,
                load_reason: input::LoadReason::Include,
                globs: None,
                trigger_file_path: None,
                parent_file_path: Some("/work/other.md".into()),
            }),
            json!({"file_path": "/work/notes.md", "memory_type": "Local", "load_reason": "include", "parent_file_path": "/work/other.md"}),
        ),
    ]
}

#[test]
fn hook_17_what_happens_outside_is_reported_by_the_host_and_reaches_the_hooks() {
    let mut host = model(&[json!("Never asked for.")]);
    for event in HookEvent::ALL {
        host = host.hook(event, |_| HookOutput::default());
    }
    let mut session = host.session(spec_with(vec![]));
    let occurrences = outside();
    let inputs = occurrences
        .iter()
        .map(|(occurrence, _)| Input::Occurred(occurrence.clone()));
    host.run(&mut session, inputs).unwrap();
    assert_eq!(host.hook_calls().len(), occurrences.len());
    for (nth, (occurrence, fields)) in occurrences.iter().enumerate() {
        let told = told(&host, nth);
        assert_eq!(told["hook_event_name"], occurrence.event().name());
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&told[name], value);
        }
        let common = [
            "session_id",
            "transcript_path",
            "cwd",
            "permission_mode",
            "hook_event_name",
        ];
        let known = |name: &&String| !common.contains(&name.as_str());
        let own: Vec<&String> = told.as_object().unwrap().keys().filter(known).collect();
        assert_eq!(own.len(), fields.as_object().unwrap().len(), "{told}");
    }
    assert!(session.is_idle());
}

#[test]
fn hook_11_context_from_outside_waits_for_the_next_message() {
    let event = HookEvent::Notification;
    let host = model(&[json!("Hi.")]).hook(event, move |_| context(event, "the build is red"));
    let (notification, _) = outside().remove(0);
    let mut session = host.session(spec_with(vec![]));
    host.run(&mut session, [Input::Occurred(notification)])
        .unwrap();
    assert!(host.requests().is_empty());
    host.prompt(&mut session, "hello").unwrap();
    let sent = texts(&user_message(&host, 0));
    assert_eq!(sent, ["hello", "[Notification hook] the build is red"]);
}

#[test]
fn hook_1_a_host_cannot_report_what_the_session_knows_itself() {
    let mut session = Session::new(Arc::new(spec_with(vec![])), session_id(), [1; 32]);
    let stop = Occurrence::Stop(input::Stop {
        stop_hook_active: false,
        last_assistant_message: None,
    });
    let refused = session.handle(windlass_core::Now::default(), Input::Occurred(stop));
    assert_eq!(refused, Err(HostError::NotFromOutside(HookEvent::Stop)));
    assert!(session.is_idle());
}

#[test]
fn hook_2_the_name_of_a_hooks_effect_does_not_depend_on_the_order_of_answers() {
    let mut spec = spec_with(vec![]);
    spec.policy.hooks = vec![HookMatcher::new(
        HookEvent::UserPromptSubmit,
        ["one", "two", "three"],
    )];
    let ids = |order: [usize; 3]| {
        let mut bench = Bench::new(spec.clone());
        bench.prompt("hello");
        let hooks: Vec<_> = bench.pending.iter().map(|(id, _)| *id).collect();
        assert_eq!(hooks.len(), 3);
        for nth in order {
            let empty = windlass_core::RawJson::empty_object();
            bench.answer(hooks[nth], Answer::Hook(HookAnswer::Output(empty)));
        }
        bench.says("Hi.");
        let outputs = bench.outputs.iter();
        outputs
            .filter_map(|output| match output {
                windlass_core::Output::Effect(id, _) => Some(id.to_string()),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let first = ids([0, 1, 2]);
    assert!(
        first[1].ends_with("/0/1/0/UserPromptSubmit-hook-2/1"),
        "{first:?}"
    );
    for order in [[2, 1, 0], [1, 0, 2]] {
        assert_eq!(ids(order), first);
    }
}

#[test]
fn hook_7_a_restored_session_issues_lost_hooks_again_under_their_names() {
    let mut spec = spec_with(vec![]);
    spec.policy.hooks = vec![HookMatcher::new(
        HookEvent::UserPromptSubmit,
        ["one", "two"],
    )];
    let mut bench = Bench::new(spec.clone());
    bench.prompt("hello");
    let hooks: Vec<_> = bench.pending.iter().cloned().collect();
    let block = json!({"decision": "block", "reason": "no"});
    let blocks = Answer::Hook(HookAnswer::Output(super::json_of(&block)));
    bench.answer(hooks[0].0, blocks);
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(spec), &snapshot).unwrap();
    bench.pending.clear();
    bench.input(Input::Resumed { live: vec![] });
    let again: Vec<_> = bench.pending.iter().cloned().collect();
    assert_eq!(again, hooks[1..]);
    let (id, Effect::RunHook(call)) = bench.of(Stage::Hook(HookEvent::UserPromptSubmit, 2)) else {
        panic!("no hook");
    };
    assert_eq!(call.hook, "two");
    // What was said before the crash still counts.
    let empty = windlass_core::RawJson::empty_object();
    bench.answer(id, Answer::Hook(HookAnswer::Output(empty)));
    assert!(bench.result().result.as_deref().unwrap().contains("no"));
}
