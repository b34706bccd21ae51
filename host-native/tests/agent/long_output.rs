//! What becomes of output that is too long to be shown, and of output that is an image.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use windlass::{
    Message,
    core::{
        RawJson,
        hook::{HookEvent, HookInput, HookMatcher, HookOutput, Matcher, Occurrence},
    },
};

use crate::support::{Model, calls, messages, text};

fn structured(messages: &[Message]) -> Value {
    let output = messages.iter().find_map(|message| match message {
        Message::User(user) => user.tool_use_result.clone(),
        _ => None,
    });
    output.unwrap().decode().unwrap()
}

fn bash(command: &str) -> Value {
    calls(&[("Bash", json!({ "command": command }))])
}

/// The model reads the rest without a question, for as long as the agent is there.
#[tokio::test]
async fn tool_23_long_output_is_saved_where_it_can_be_read() {
    let model = Model::of(json!([
        bash("seq 1 100000"),
        {
            "expect": { "tool_results": [{ "contains": "bytes of output are not shown; all of it is in /", "is_error": false }] },
            "respond": { "content": [{ "type": "tool_use", "name": "Read",
                "input": { "file_path": "/the/place", "offset": 50_000, "limit": 2 } }] }
        },
        { "expect": { "tool_results": [{ "contains": "50000\t50000", "is_error": false }] }, "respond": "done" },
    ]));
    // Only the first result says where it is.
    let place: Arc<Mutex<Option<String>>> = Arc::default();
    let (seen, wanted) = (Arc::clone(&place), Arc::clone(&place));
    let of = |event, tool| {
        let mut matcher = HookMatcher::of(event);
        matcher.matcher = Matcher::parse(tool).unwrap();
        matcher
    };
    let folder = tempfile::tempdir().unwrap();
    let agent = model
        .agent()
        .cwd(folder.path())
        .tools(["Bash", "Read"])
        .allowed_tools(["Bash"])
        .hook(of(HookEvent::PostToolUse, "Bash"), move |input: HookInput, _| {
            if let Occurrence::PostToolUse(call) = &input.event {
                let output: Value = call.tool_response.decode().unwrap();
                *seen.lock().unwrap() = output["persistedOutputPath"].as_str().map(str::to_owned);
            }
            async { HookOutput::default() }
        })
        .hook(of(HookEvent::PreToolUse, "Read"), move |input: HookInput, _| {
            let place = wanted.lock().unwrap().clone().unwrap();
            let Occurrence::PreToolUse(call) = &input.event else {
                unreachable!()
            };
            let input = call.tool_input.get().replace("/the/place", &place);
            let answer = json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "updatedInput": serde_json::from_str::<Value>(&input).unwrap() } });
            async move {
                let answer = RawJson::parse(answer.to_string()).unwrap();
                HookOutput::parse(&answer, HookEvent::PreToolUse).unwrap()
            }
        })
        .build()
        .unwrap();
    let mut run = agent.query("Count.");
    let messages = messages(&mut run).await;
    model.verify();
    let output = structured(&messages);
    let all: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(output["persistedOutputSize"], all.len());
    let place = output["persistedOutputPath"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(&place).unwrap(), all);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Path::new(&place).parent().unwrap();
        assert_eq!(
            std::fs::metadata(folder).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
    drop((run, agent));
    while Path::new(&place).exists() {
        tokio::task::yield_now().await;
    }
}

/// Nobody reads the folder beside it.
#[tokio::test]
async fn tool_23_short_output_is_not_saved() {
    let model = Model::of(json!([bash("seq 1 100"), { "respond": "done" }]));
    let agent = model
        .agent()
        .tools(["Bash"])
        .allowed_tools(["Bash"])
        .build()
        .unwrap();
    let messages = messages(&mut agent.query("Count.")).await;
    let output = structured(&messages);
    assert!(output.get("persistedOutputPath").is_none(), "{output}");
    assert!(output.get("persistedOutputSize").is_none(), "{output}");
}

/// A data URL is shown as what it is, also if it is longer than text may be.
#[tokio::test]
async fn tool_23_output_that_is_an_image_is_shown_as_one() {
    let png = |bytes: usize| {
        use base64::Engine as _;
        let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
        image.resize(bytes, 0);
        base64::prelude::BASE64_STANDARD.encode(image)
    };
    for (url, data) in [
        (
            format!("data:image/png;base64,{}", png(100)),
            Some(png(100)),
        ),
        (
            format!("data:image/png;base64,{}", png(90_000)),
            Some(png(90_000)),
        ),
        ("data:image/png;base64,AAAA".to_owned(), None),
        (format!("data:image/tiff;base64,{}", png(100)), None),
        ("data:image/png;base64,!".to_owned(), None),
    ] {
        let model = Model::of(json!([bash("cat picture"), { "respond": "done" }]));
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("picture"), &url).unwrap();
        let agent = model
            .agent()
            .cwd(folder.path())
            .tools(["Bash"])
            .allowed_tools(["Bash"]);
        let agent = agent.build().unwrap();
        let messages = messages(&mut agent.query("Look.")).await;
        assert_eq!(
            structured(&messages)["isImage"],
            data.is_some(),
            "{url:.40}"
        );
        let told = &model.requests()[1]["messages"][2]["content"][0]["content"];
        match data {
            Some(data) => {
                let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
                assert_eq!(told[0]["source"], image["source"]);
                assert_eq!(told.as_array().unwrap().len(), 1);
            }
            None => assert!(told.is_string(), "{told}"),
        }
    }
    let model = Model::of(
        json!([bash("printf data:image/png;base64,iVBORw0KGgo=; exit 3"), { "respond": "done" }]),
    );
    let agent = model
        .agent()
        .tools(["Bash"])
        .allowed_tools(["Bash"])
        .build()
        .unwrap();
    let messages = messages(&mut agent.query("Look.")).await;
    assert_eq!(structured(&messages)["isImage"], false);
    assert_eq!(text(agent_result(&messages)), "done");
}

fn agent_result(messages: &[Message]) -> windlass::ResultMessage {
    match messages.last() {
        Some(Message::Result(result)) => result.clone(),
        _ => panic!("no result"),
    }
}
