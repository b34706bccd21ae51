use alloc::{string::String, vec::Vec};

use super::{HookInput, Occurrence};
use crate::{hook::HookEvent, id::uuid_v4, json::RawJson, permission::Mode};

const COMMON: &str = r#""session_id":"01010101-0101-4101-8101-010101010101","transcript_path":"/t/x.jsonl","cwd":"/work","permission_mode":"acceptEdits""#;

/// An input of every event with all its fields, as the reference writes it.
fn inputs() -> Vec<(HookEvent, &'static str)> {
    use HookEvent as E;
    alloc::vec![
        (
            E::PreToolUse,
            r#""tool_name":"Bash","tool_input":{"b":1,"a":2.50},"tool_use_id":"toolu_1""#
        ),
        (
            E::PostToolUse,
            r#""tool_name":"Read","tool_input":{},"tool_response":[1,{"z":0}],"tool_use_id":"toolu_1","duration_ms":12"#
        ),
        (
            E::PostToolUseFailure,
            r#""tool_name":"Read","tool_input":{},"tool_use_id":"toolu_1","error":"no","is_interrupt":false,"duration_ms":12"#
        ),
        (
            E::Notification,
            r#""message":"m","title":"t","notification_type":"permission_prompt""#
        ),
        (E::UserPromptSubmit, r#""prompt":"hello""#),
        (
            E::SessionStart,
            r#""source":"resume","agent_type":"reviewer","model":"m""#
        ),
        (E::SessionEnd, r#""reason":"other""#),
        (
            E::Stop,
            r#""stop_hook_active":true,"last_assistant_message":"done""#
        ),
        (
            E::SubagentStart,
            r#""agent_id":"a1","agent_type":"explore""#
        ),
        (
            E::SubagentStop,
            r#""stop_hook_active":false,"agent_id":"a1","agent_transcript_path":"/t/a1.jsonl","agent_type":"explore","last_assistant_message":"x""#
        ),
        (
            E::PreCompact,
            r#""trigger":"auto","custom_instructions":null"#
        ),
        (
            E::PermissionRequest,
            r#""tool_name":"Bash","tool_input":{},"permission_suggestions":[{"type":"setMode"}]"#
        ),
        (E::Setup, r#""trigger":"maintenance""#),
        (
            E::TeammateIdle,
            r#""teammate_name":"ann","team_name":"red""#
        ),
        (
            E::TaskCompleted,
            r#""task_id":"7","task_subject":"s","task_description":"d","teammate_name":"ann","team_name":"red""#
        ),
        (
            E::ConfigChange,
            r#""source":"policy_settings","file_path":"/etc/x.json""#
        ),
        (E::WorktreeCreate, r#""name":"feature""#),
        (E::WorktreeRemove, r#""worktree_path":"/wt/feature""#),
        (
            E::PostToolBatch,
            r#""tool_calls":[{"tool_name":"Read","tool_input":{"a":2.50},"tool_use_id":"toolu_1","tool_response":"x"}]"#
        ),
        (
            E::PermissionDenied,
            r#""tool_name":"Bash","tool_input":{},"tool_use_id":"toolu_1","reason":"a rule""#
        ),
        (
            E::PostCompact,
            r#""trigger":"manual","compact_summary":"so far""#
        ),
        (
            E::StopFailure,
            r#""error":"rate_limit","error_details":"too many","last_assistant_message":"x""#
        ),
        (
            E::UserPromptExpansion,
            r#""expansion_type":"slash_command","command_name":"fix","command_args":"it","command_source":"project","prompt":"/fix it""#
        ),
        (
            E::InstructionsLoaded,
            r#""file_path":"/work/notes.md","memory_type":"Project","load_reason":"include","globs":["*.rs"],"trigger_file_path":"/work/a.rs","parent_file_path":"/work/AGENTS.md""#
        ),
        (
            E::CwdChanged,
            r#""old_cwd":"/work","new_cwd":"/wt/feature""#
        ),
    ]
}

#[test]
fn hook_3_every_input_has_the_common_fields_and_those_of_its_event() {
    let inputs = inputs();
    assert_eq!(inputs.len(), HookEvent::ALL.len());
    for (event, fields) in inputs {
        let text = alloc::format!(
            r#"{{{COMMON},"hook_event_name":"{}",{fields}}}"#,
            event.name()
        );
        let input: HookInput = RawJson::parse(text.as_str()).unwrap().decode().unwrap();
        assert_eq!(input.event.event(), event);
        assert_eq!(input.permission_mode, Some(Mode::AcceptEdits));
        // Field by field, in order; values of unknown form byte for byte.
        assert_eq!(RawJson::encode(&input).unwrap().get(), text);
    }
}

#[test]
fn hook_17_what_is_optional_may_be_absent() {
    for (event, fields) in [
        (HookEvent::ConfigChange, r#""source":"skills""#),
        (
            HookEvent::TaskCompleted,
            r#""task_id":"7","task_subject":"s""#,
        ),
        (
            HookEvent::Notification,
            r#""message":"m","notification_type":"x""#,
        ),
        (HookEvent::SessionStart, r#""source":"startup""#),
        (HookEvent::Stop, r#""stop_hook_active":false"#),
    ] {
        let text = alloc::format!(r#"{{"hook_event_name":"{}",{fields}}}"#, event.name());
        let read: Occurrence = RawJson::parse(text.as_str()).unwrap().decode().unwrap();
        assert_eq!(RawJson::encode(&read).unwrap().get(), text);
    }
}

#[test]
fn hook_9_inside_a_subagent_the_input_names_it() {
    let text = alloc::format!(
        r#"{{{COMMON},"agent_id":"a1","agent_type":"explore","hook_event_name":"UserPromptSubmit","prompt":"p"}}"#
    );
    let input: HookInput = RawJson::parse(text.as_str()).unwrap().decode().unwrap();
    assert_eq!(input.agent.as_ref().unwrap().agent_id, "a1");
    assert_eq!(RawJson::encode(&input).unwrap().get(), text);
    assert_eq!(input.session_id, uuid_v4([1; 16]));
}

#[test]
fn a_hook_is_named_by_its_event_and_what_it_is_about() {
    let names: Vec<String> = inputs()
        .into_iter()
        .map(|(event, fields)| {
            let text = alloc::format!(r#"{{"hook_event_name":"{}",{fields}}}"#, event.name());
            let read: Occurrence = RawJson::parse(text).unwrap().decode().unwrap();
            read.hook_name()
        })
        .collect();
    assert_eq!(names[0], "PreToolUse:Bash");
    assert_eq!(names[5], "SessionStart:resume");
    assert_eq!(names[7], "Stop");
    assert_eq!(names[10], "PreCompact:auto");
    assert_eq!(names[19], "PermissionDenied:Bash");
    assert_eq!(names[22], "UserPromptExpansion:fix");
}
