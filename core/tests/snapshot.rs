//! A session is a value: put away at any point and taken up again, it goes on as if nothing had been.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use windlass_core::{
    EffectId, Input, Millis, Now, Output, Prompt, RawJson, Session, Spec, UnixMillis,
    effect::{Answer, Effect, PermissionResponse, Stage},
    permission::Mode,
    tool::{RetryClass, ToolDefinition, ToolResult},
    uuid_v4,
};

const SEED: [u8; 32] = [3; 32];

fn spec() -> Arc<Spec> {
    let mut tool = ToolDefinition::new(
        "Note",
        "Keeps a note",
        RawJson::parse(r#"{"type":"object","properties":{"text":{"type":"string"}}}"#).unwrap(),
    );
    tool.retry = RetryClass::RunAgain;
    let mut spec = Spec::with_tools([tool]);
    spec.policy.persist = true;
    spec.policy.permissions.can_ask = true;
    spec.policy.permissions.mode = Mode::Default;
    Arc::new(spec)
}

fn sse(body: &str) -> Vec<Answer> {
    vec![
        Answer::HttpHead {
            status: 200,
            headers: vec![("content-type".into(), "text/event-stream".into())],
        },
        Answer::HttpBody(Bytes::from(body.to_owned())),
        Answer::HttpEnd,
    ]
}

const CALLS: &str = concat!(
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"claude-sonnet-4-6\",\"usage\":{\"input_tokens\":10}}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Note\",\"input\":{}}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"text\\\":\\\"x\\\"}\"}}\n\n",
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);
const DONE: &str = concat!(
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m2\",\"model\":\"claude-sonnet-4-6\",\"usage\":{\"input_tokens\":20}}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"done\"}}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

/// Answers every effect at once; a model call that is asked again gets the same response.
struct Host {
    responses: Vec<&'static str>,
    served: Option<&'static str>,
}

impl Host {
    fn answers(&mut self, effect: &Effect) -> Vec<Answer> {
        match effect {
            Effect::Http(_) => {
                let response = self.responses.remove(0);
                self.served = Some(response);
                sse(response)
            }
            Effect::CallTool(_) => vec![Answer::Tool(ToolResult::text("noted"))],
            Effect::AskPermission(_) => vec![Answer::Permission(PermissionResponse::allow())],
            Effect::Persist(_) => vec![Answer::Persisted],
            other => panic!("unexpected {other:?}"),
        }
    }
}

fn now(step: u64) -> Now {
    Now {
        mono: Millis(step * 10),
        wall: UnixMillis(1_700_000_000_000 + step * 10),
    }
}

/// Runs the conversation; before input number `cut` the session goes through a snapshot. The
/// effects that were running then either live on in the host (but for the model's response, which
/// nobody can take up in its middle) or are lost.
fn run(cut: Option<usize>, live: bool) -> (Vec<String>, usize) {
    let spec = spec();
    let mut session = Session::new(spec.clone(), uuid_v4([9; 16]), SEED);
    let mut host = Host {
        responses: vec![CALLS, DONE],
        served: None,
    };
    let mut queue = vec![Input::Prompt(Prompt::text("note x"))];
    let mut pending: Vec<EffectId> = Vec::new();
    let mut messages = Vec::new();
    let mut step = 0;
    loop {
        let input = if cut == Some(step) {
            let bytes = session.snapshot().unwrap();
            session = Session::restore(spec.clone(), &bytes).unwrap();
            assert_eq!(
                session.snapshot().unwrap(),
                bytes,
                "restoring changes nothing"
            );
            let (kept, lost): (Vec<_>, Vec<_>) = std::mem::take(&mut pending)
                .into_iter()
                .partition(|id| live && id.stage != Stage::Model);
            queue.retain(|input| !matches!(input, Input::Answer(id, _) if lost.contains(id)));
            if lost.iter().any(|id| id.stage == Stage::Model) {
                host.responses.insert(0, host.served.unwrap());
            }
            pending = kept.clone();
            Input::Resumed { live: kept }
        } else if queue.is_empty() {
            break;
        } else {
            queue.remove(0)
        };
        if let Input::Answer(id, answer) = &input
            && answer.is_last()
        {
            pending.retain(|p| p != id);
        }
        session.handle(now(step as u64), input).unwrap();
        while let Some(output) = session.poll() {
            match output {
                Output::Message(message) => messages.push(message.to_line()),
                Output::Effect(id, effect) => {
                    pending.push(id);
                    let answers = host.answers(&effect);
                    queue.extend(answers.into_iter().map(|a| Input::Answer(id, a)));
                }
                other => panic!("unexpected {other:?}"),
            }
        }
        step += 1;
        assert!(step < 100, "the conversation does not end");
    }
    assert!(session.is_idle() && pending.is_empty());
    (messages, step)
}

fn kinds(messages: &[String]) -> Vec<String> {
    messages
        .iter()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let subtype = value["subtype"].as_str().unwrap_or("");
            format!("{}{}", value["type"].as_str().unwrap(), subtype)
        })
        .collect()
}

#[test]
fn a_snapshot_between_any_two_inputs_changes_nothing_that_is_seen() {
    let (plain, steps) = run(None, true);
    assert!(steps > 8, "{steps}");
    for live in [true, false] {
        for cut in 0..steps {
            let (messages, _) = run(Some(cut), live);
            assert_eq!(
                kinds(&messages),
                kinds(&plain),
                "cut before input {cut}, effects live: {live}"
            );
        }
    }
}

#[test]
fn a_call_that_must_not_be_repeated_is_reported_as_unknown_after_a_crash() {
    let mut only_once = (*spec()).clone();
    only_once.tools.definitions[0].retry = RetryClass::Never;
    only_once.tools.definitions[0].annotations.read_only = true;
    only_once.policy.permissions.rules.allow =
        vec![windlass_core::permission::Rule::parse("Note").unwrap()];
    only_once.policy.persist = false;
    let only_once = Arc::new(only_once);
    let mut session = Session::new(only_once.clone(), uuid_v4([9; 16]), SEED);
    session
        .handle(now(0), Input::Prompt(Prompt::text("note x")))
        .unwrap();
    let model = outputs(&mut session)
        .into_iter()
        .find_map(|output| match output {
            Output::Effect(id, Effect::Http(_)) => Some(id),
            _ => None,
        })
        .unwrap();
    for answer in sse(CALLS) {
        session
            .handle(now(1), Input::Answer(model, answer))
            .unwrap();
    }
    let called = outputs(&mut session);
    assert!(
        called
            .iter()
            .any(|o| matches!(o, Output::Effect(_, Effect::CallTool(_))))
    );

    let bytes = session.snapshot().unwrap();
    let mut restored = Session::restore(only_once, &bytes).unwrap();
    restored
        .handle(now(2), Input::Resumed { live: Vec::new() })
        .unwrap();
    let after = outputs(&mut restored);
    assert!(
        !after
            .iter()
            .any(|o| matches!(o, Output::Effect(_, Effect::CallTool(_)))),
        "the call is not repeated"
    );
    let request = after
        .iter()
        .find_map(|output| match output {
            Output::Effect(_, Effect::Http(request)) => Some(request.body_bytes()),
            _ => None,
        })
        .unwrap();
    let request = String::from_utf8(request).unwrap();
    assert!(request.contains("its outcome is unknown"), "{request}");
}

fn outputs(session: &mut Session) -> Vec<Output> {
    std::iter::from_fn(|| session.poll()).collect()
}

#[test]
fn a_restored_session_wants_to_know_what_is_still_running() {
    let session = Session::new(spec(), uuid_v4([9; 16]), SEED);
    let bytes = session.snapshot().unwrap();
    let mut restored = Session::restore(spec(), &bytes).unwrap();
    let refused = restored.handle(now(0), Input::Prompt(Prompt::text("hi")));
    assert_eq!(refused, Err(windlass_core::HostError::NotResumed));
}

#[test]
fn what_is_no_snapshot_is_refused_with_its_place() {
    let cases = [
        ("", "line 1"),
        (
            "{\"windlass\":\"journal\",\"version\":1}\n{}\n",
            "line 1: this is no windlass snapshot",
        ),
        (
            "{\"windlass\":\"snapshot\",\"version\":99}\n{}\n",
            "version 99",
        ),
        ("{\"windlass\":\"snapshot\",\"version\":1}\n", "line 1"),
        (
            "{\"windlass\":\"snapshot\",\"version\":1}\nnonsense\n{}\n",
            "line 3",
        ),
        ("{\"windlass\":\"snapshot\",\"version\":1}\n{}\n", "line 2"),
    ];
    for (text, expected) in cases {
        let error = Session::restore(spec(), text.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{text:?} gave {error}");
    }
}
