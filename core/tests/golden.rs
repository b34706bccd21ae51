//! Snapshots that earlier versions wrote, one folder for each schema version: whatever was written once loads
//! and goes on.
//!
//! A change of the state that old snapshots do not know has a default that means what was before. Where no
//! default could, `SNAPSHOT_VERSION` is raised, the old form is read as well, and snapshots of the new
//! version get a folder here. No file is ever changed.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, sync::Arc};

use windlass_core::{
    Input, Message, Now, Output, Prompt, RawJson, SNAPSHOT_VERSION, Session, Spec,
    effect::{Answer, Effect, PermissionResponse},
    tool::{ToolDefinition, ToolResult},
    tools::CoreTool,
};
use windlass_testkit::validate_request;

const ANSWER: &str = r#"{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;

/// What the sessions of the files were told.
fn spec() -> Arc<Spec> {
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}}}"#;
    let tool = ToolDefinition::new("Note", "Keeps a note", RawJson::parse(schema).unwrap());
    let mut spec = Spec::with_tools([tool]);
    spec.policy.persist = true;
    spec.offer([CoreTool::Task]);
    spec.policy.permissions.can_ask = true;
    Arc::new(spec)
}

/// Answers everything until nothing is left to do; the messages and the requests.
fn run(session: &mut Session, input: Input) -> (Vec<Message>, Vec<Vec<u8>>) {
    let (mut messages, mut requests) = (Vec::new(), Vec::new());
    let mut inputs = vec![input];
    while let Some(input) = inputs.pop() {
        session.handle(Now::default(), input).unwrap();
        while let Some(output) = session.poll() {
            let (id, answers) = match output {
                Output::Message(message) => {
                    messages.push(message);
                    continue;
                }
                Output::Effect(id, Effect::Http(request)) => {
                    requests.push(request.body_bytes());
                    let head = Answer::HttpHead {
                        status: 200,
                        headers: vec![("content-type".into(), "application/json".into())],
                    };
                    (
                        id,
                        vec![Answer::HttpEnd, Answer::HttpBody(ANSWER.into()), head],
                    )
                }
                Output::Effect(id, Effect::CallTool(_)) => {
                    (id, vec![Answer::Tool(ToolResult::text("noted"))])
                }
                Output::Effect(id, Effect::AskPermission(_)) => {
                    (id, vec![Answer::Permission(PermissionResponse::allow())])
                }
                Output::Effect(id, Effect::Persist(_)) => (id, vec![Answer::Persisted]),
                other => panic!("unexpected {other:?}"),
            };
            inputs.extend(answers.into_iter().map(|answer| Input::Answer(id, answer)));
        }
    }
    (messages, requests)
}

#[test]
fn snapshots_of_every_version_load_and_go_on() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut count = 0;
    for version in 1..=SNAPSHOT_VERSION {
        let folder = golden.join(version.to_string());
        for file in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = file.unwrap().path();
            let name = path.display();
            let snapshot = fs::read(&path).unwrap();
            let mut session =
                Session::restore(spec(), &snapshot).unwrap_or_else(|e| panic!("{name}: {e}"));
            let was_idle = session.is_idle();
            let (messages, _) = run(&mut session, Input::Resumed { live: Vec::new() });
            let results = messages
                .iter()
                .filter(|m| matches!(m, Message::Result(_)))
                .count();
            assert_eq!(results, usize::from(!was_idle), "{name}: {messages:?}");
            assert!(session.is_idle(), "{name}");
            let (_, requests) = run(&mut session, Input::Prompt(Prompt::text("go on")));
            let request = requests.first().unwrap();
            validate_request(request).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
            let request = String::from_utf8_lossy(request);
            assert!(
                request.contains("note x") && request.contains("go on"),
                "{name}"
            );
            count += 1;
        }
    }
    assert!(count >= 6, "{count} files");
}
