//! Closure tools: what the model is offered, what the closure gets, what the model reads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use windlass::{
    Json, Message, NoInput, Tool, ToolResult,
    core::{
        Host as _, Input, Output, Prompt, Session, drive,
        effect::{Effect, Probed},
        tool::ResultBlock,
        uuid_v4,
    },
};

use crate::support::{Model, calls, done_after, kinds, messages, text, tool_results};

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

fn add() -> Tool {
    Tool::new("add", "Adds two numbers", |input: Add| async move {
        input.a + input.b
    })
}

#[tokio::test]
async fn tool_19_a_closure_is_offered_under_its_name_with_the_schema_of_its_type() {
    let model = Model::of(json!([
        {
            "expect": {
                "tools_include": ["add"],
                "fields": {
                    "/tools/0/name": "add",
                    "/tools/0/description": "Adds two numbers",
                    "/tools/0/input_schema/type": "object",
                    "/tools/0/input_schema/properties/a/type": "integer",
                    "/tools/0/input_schema/properties/b/description": "The second number.",
                    "/tools/0/input_schema/required": ["a", "b"]
                },
                "absent": ["/tools/0/input_schema/title", "/tools/0/input_schema/$schema", "/tools/1"]
            },
            "respond": { "content": [{ "type": "tool_use", "name": "add", "input": { "a": 17, "b": 25 } }] }
        },
        done_after("42", false),
    ]));
    let agent = model
        .agent()
        .tool(add())
        .allowed_tools(["add"])
        .build()
        .unwrap();
    assert_eq!(text(agent.run("What is 17 + 25?").await.unwrap()), "done");
    model.verify();
}

#[tokio::test]
async fn tool_19_calls_run_one_after_another_by_default() {
    let model = Model::of(json!([
        calls(&[("step", json!({})), ("step", json!({})), ("step", json!({}))]),
        { "respond": "done" },
    ]));
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let step = Tool::new("step", "Takes a step", move |_: NoInput| {
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            let together = now.fetch_add(1, Ordering::SeqCst) + 1;
            peak.fetch_max(together, Ordering::SeqCst);
            // Whoever could run beside this one gets every chance to.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
        }
    });
    let agent = model
        .agent()
        .tool(step)
        .allowed_tools(["step"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 1);
    model.verify();
}

#[tokio::test]
async fn loop_15_read_only_closures_run_beside_each_other() {
    let model = Model::of(json!([
        calls(&[("meet", json!({})), ("meet", json!({}))]),
        {
            "expect": { "tool_results": [
                { "id": "toolu_1_1", "contains": "met" },
                { "id": "toolu_1_2", "contains": "met" }
            ] },
            "respond": "done"
        },
    ]));
    let barrier = Arc::new(Barrier::new(2));
    // Neither returns before both are there. One after the other they would run out of time.
    let meet = Tool::new("meet", "Waits for another", move |_: NoInput| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            "met"
        }
    })
    .read_only()
    .timeout(Duration::from_secs(20));
    let agent = model
        .agent()
        .tool(meet)
        .allowed_tools(["meet"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn loop_14_an_error_of_a_closure_is_told_to_the_model() {
    let model = Model::of(json!([
        calls(&[("fails", json!({}))]),
        done_after("no such planet", true),
    ]));
    let fails = Tool::new("fails", "Fails", |_: NoInput| async {
        Err::<String, _>("no such planet")
    });
    let agent = model
        .agent()
        .tool(fails)
        .allowed_tools(["fails"])
        .build()
        .unwrap();
    assert_eq!(text(agent.run("go").await.unwrap()), "done");
    model.verify();
}

#[tokio::test]
async fn loop_14_a_panic_of_a_closure_is_told_to_the_model_wherever_it_happens() {
    let model = Model::of(json!([
        calls(&[("early", json!({})), ("late", json!({})), ("blocking", json!({}))]),
        {
            "expect": { "tool_results": [
                { "id": "toolu_1_1", "contains": "panicked: before the future", "is_error": true },
                { "id": "toolu_1_2", "contains": "panicked: in the future 7", "is_error": true },
                { "id": "toolu_1_3", "contains": "panicked: on a thread", "is_error": true }
            ] },
            "respond": "done"
        },
    ]));
    let fail_early = |early: bool| assert!(!early, "before the future");
    let early = Tool::new("early", "Panics", move |_: NoInput| {
        fail_early(true);
        async {}
    });
    let late = Tool::new("late", "Panics", |_: NoInput| async {
        let number = 7;
        assert!(number < 7, "in the future {number}");
    });
    let blocking = Tool::blocking("blocking", "Panics", move |_: NoInput| -> String {
        panic!("on a thread");
    });
    let agent = model
        .agent()
        .tool(early)
        .tool(late)
        .tool(blocking)
        .allowed_tools(["early", "late", "blocking"])
        .build()
        .unwrap();
    assert_eq!(text(agent.run("go").await.unwrap()), "done");
    model.verify();
}

#[tokio::test]
async fn loop_14_an_unknown_tool_and_unusable_inputs_never_reach_a_closure() {
    let model = Model::of(json!([
        { "respond": { "content": [
            { "type": "tool_use", "name": "subtract", "input": {} },
            { "type": "tool_use", "name": "add", "input": { "a": "seventeen", "b": 25 } },
            { "type": "tool_use", "name": "add", "input": { "a": 1 } },
            { "type": "tool_use", "name": "add", "input_text": "{\"a\": 1," }
        ] } },
        {
            "expect": { "tool_results": [
                { "id": "toolu_1_1", "contains": "add", "is_error": true },
                { "id": "toolu_1_2", "contains": "`a`", "is_error": true },
                { "id": "toolu_1_3", "contains": "`b`", "is_error": true },
                { "id": "toolu_1_4", "contains": "JSON", "is_error": true }
            ] },
            "respond": "done"
        },
    ]));
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    let add = Tool::new("add", "Adds", move |input: Add| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { input.a + input.b }
    });
    let agent = model
        .agent()
        .tool(add)
        .allowed_tools(["add"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(called.load(Ordering::SeqCst), 0);
    model.verify();
}

#[tokio::test]
async fn loop_14_an_input_that_only_the_type_refuses_is_told_to_the_model() {
    /// Stricter than its schema, as types with their own parser are.
    #[derive(Deserialize, JsonSchema)]
    struct At {
        #[schemars(with = "String")]
        address: std::net::IpAddr,
    }
    let model = Model::of(json!([
        calls(&[("ping", json!({ "address": "nowhere" }))]),
        done_after("The input of ping does not fit", true),
    ]));
    let ping = Tool::new(
        "ping",
        "Pings",
        |at: At| async move { at.address.to_string() },
    );
    let agent = model
        .agent()
        .tool(ping)
        .allowed_tools(["ping"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_stopped_and_told_to_the_model() {
    let model = Model::of(json!([
        calls(&[("sleeps", json!({}))]),
        done_after("sleeps was stopped", true),
    ]));
    let sleeps = Tool::new("sleeps", "Never ends", |_: NoInput| {
        std::future::pending::<()>()
    });
    let agent = model
        .agent()
        .tool(sleeps)
        .tool_timeout(Duration::from_millis(20))
        .allowed_tools(["sleeps"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn a_blocking_closure_runs_on_a_thread_of_its_own() {
    let model = Model::of(json!([
        calls(&[("add", json!({ "a": 1, "b": 2 }))]),
        done_after("3", false)
    ]));
    let add = Tool::blocking("add", "Adds", |input: Add| input.a + input.b);
    let agent = model
        .agent()
        .tool(add)
        .allowed_tools(["add"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn values_come_as_json_text_for_the_model_and_structured_for_programs() {
    #[derive(Serialize)]
    struct Weather {
        city: &'static str,
        degrees: f64,
    }
    let model = Model::of(json!([
        calls(&[("weather", json!({}))]),
        done_after("{\"city\":\"Lima\",\"degrees\":18.5}", false),
    ]));
    let weather = Tool::new("weather", "Tells the weather", |_: NoInput| async {
        Json(Weather {
            city: "Lima",
            degrees: 18.5,
        })
    });
    let agent = model
        .agent()
        .tool(weather)
        .allowed_tools(["weather"])
        .build()
        .unwrap();
    let messages = messages(&mut agent.query("go")).await;
    let structured = messages.iter().find_map(|message| match message {
        Message::User(user) => user.tool_use_result.clone(),
        _ => None,
    });
    assert_eq!(
        structured.unwrap().get(),
        r#"{"city":"Lima","degrees":18.5}"#
    );
    model.verify();
}

#[tokio::test]
async fn a_closure_may_give_any_block_the_api_knows() {
    let model = Model::of(json!([
        calls(&[("draw", json!({}))]),
        {
            "expect": { "fields": {
                "/messages/2/content/0/content/1/type": "image",
                "/messages/2/content/0/content/1/source/media_type": "image/png"
            } },
            "respond": "done"
        },
    ]));
    let draw = Tool::new("draw", "Draws", |_: NoInput| async {
        let mut result = ToolResult::text("a dot");
        result
            .content
            .push(ResultBlock::image("image/png", "iVBORw0KGgo=".to_owned()));
        result
    });
    let agent = model
        .agent()
        .tool(draw)
        .allowed_tools(["draw"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn a_closure_with_a_context_can_say_what_it_is_doing() {
    let model = Model::of(json!([
        calls(&[("work", json!({}))]),
        done_after("worked", false)
    ]));
    let work = Tool::with_context("work", "Works", |_: NoInput, context| async move {
        context.progress("half way");
        tokio::task::yield_now().await;
        format!("worked for {}", context.call().tool_use_id)
    });
    let agent = model
        .agent()
        .tool(work)
        .allowed_tools(["work"])
        .build()
        .unwrap();
    let messages = messages(&mut agent.query("go")).await;
    assert_eq!(
        kinds(&messages),
        [
            "system",
            "assistant",
            "tool_progress",
            "user",
            "assistant",
            "result"
        ]
    );
    assert_eq!(tool_results(&messages), ["worked for toolu_1_1"]);
    model.verify();
}

#[tokio::test]
async fn a_tool_can_be_defined_at_run_time() {
    let model = Model::of(json!([
        calls(&[("echo", json!({ "anything": [1, 2] }))]),
        done_after("{\"anything\":[1,2]}", false),
    ]));
    let schema = r#"{"type":"object","properties":{"anything":{}}}"#.to_owned();
    let definition = windlass::core::tool::ToolDefinition::new(
        "echo",
        "Says it again",
        windlass::core::RawJson::parse(schema).unwrap(),
    );
    let echo = Tool::raw(definition, |input, _| async move { input.get().to_owned() });
    let agent = model
        .agent()
        .tool(echo)
        .allowed_tools(["echo"])
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn loop_33_a_call_that_takes_long_is_reported_and_a_round_of_calls_is_summed_up() {
    let model = Model::of(json!([
        calls(&[("wait", json!({})), ("fail", json!({}))]),
        { "respond": "done" },
    ]));
    // It ends once it has been reported three times: by the clock, however fast that is.
    let reports = Arc::new(tokio::sync::Semaphore::new(0));
    let (heard, reported) = (Arc::clone(&reports), Arc::clone(&reports));
    let wait = Tool::new("wait", "Waits", move |_: NoInput| {
        let reported = Arc::clone(&reported);
        async move { reported.acquire_many(3).await.unwrap().forget() }
    });
    let fail = Tool::new("fail", "Fails", |_: NoInput| async {
        Err::<String, _>("no ink")
    });
    let agent = model
        .agent()
        .tool(wait)
        .tool(fail)
        .allowed_tools(["wait", "fail"])
        .progress_interval(Duration::from_millis(1))
        .tool_use_summaries(true)
        .on_message(move |message| {
            if message.to_line().contains("\"tool_progress\"") {
                heard.add_permits(1);
            }
        })
        .build()
        .unwrap();
    let said = messages(&mut agent.query("go")).await;
    let lines = said
        .iter()
        .map(|message| serde_json::from_str(&message.to_line()).unwrap());
    let lines: Vec<Value> = lines.collect();
    let of = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
    let waited: Vec<&Value> = of("tool_progress")
        .filter(|line| line["tool_name"] == "wait")
        .collect();
    assert!(waited.len() >= 3, "{lines:?}");
    for report in waited {
        assert_eq!(report["tool_use_id"], "toolu_1_1");
        assert_eq!(report["parent_tool_use_id"], Value::Null);
        assert!(report["elapsed_time_seconds"].is_number(), "{report}");
    }
    let sums: Vec<&Value> = of("tool_use_summary").collect();
    assert_eq!(sums.len(), 1);
    assert_eq!(sums[0]["summary"], "wait, fail (failed)");
    assert_eq!(
        sums[0]["preceding_tool_use_ids"],
        json!(["toolu_1_1", "toolu_1_2"])
    );
    model.verify();

    // Neither comes to those who did not ask for it.
    let model = Model::of(json!([calls(&[("nod", json!({}))]), { "respond": "done" }]));
    let nod = Tool::new("nod", "Nods", |_: NoInput| async {});
    let agent = model
        .agent()
        .tool(nod)
        .allowed_tools(["nod"])
        .progress_interval(Duration::ZERO);
    let said = messages(&mut agent.build().unwrap().query("go")).await;
    assert_eq!(
        kinds(&said),
        ["system", "assistant", "user", "assistant", "result"]
    );
}

/// A session whose call was handed out when the program stopped, taken up again on the same tools.
#[tokio::test]
async fn sess_4_a_tool_finds_out_what_became_of_a_call_that_was_lost() {
    for (found, ran, told) in [
        (
            Probed::Done(ToolResult::text("receipt 12")),
            0,
            "receipt 12",
        ),
        (Probed::NotDone, 1, "paid"),
        (Probed::Unknown, 0, "its outcome is unknown"),
    ] {
        let is_error = found == Probed::Unknown;
        let model = Model::of(json!([
            calls(&[("pay", json!({}))]),
            done_after(told, is_error)
        ]));
        let payments = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&payments);
        let pay = Tool::new("pay", "Pays", move |_: NoInput| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { "paid" }
        })
        .probe(move |probe| {
            assert_eq!((probe.call.name.as_str(), probe.lost.call), ("pay", 1));
            let found = found.clone();
            async move { found }
        });
        let agent = model
            .agent()
            .tool(pay)
            .allowed_tools(["pay"])
            .build()
            .unwrap();
        let (host, _messages) = agent.host();
        let mut session = Session::new(agent.spec(), uuid_v4([1; 16]), [1; 32]);
        let mut inputs = vec![Input::Prompt(Prompt::text("Pay the bill."))];
        let mut is_running = false;
        while !inputs.is_empty() {
            session.handle(host.now(), inputs.remove(0)).unwrap();
            while let Some(output) = session.poll() {
                match output {
                    Output::Effect(id, Effect::Http(request)) => {
                        let answers: Vec<_> = host.http(id, request).collect().await;
                        inputs.extend(answers.into_iter().map(|answer| Input::Answer(id, answer)));
                    }
                    Output::Effect(_, Effect::CallTool(_)) => is_running = true,
                    _ => {}
                }
            }
        }
        assert!(is_running);
        let snapshot = session.snapshot().unwrap();
        let mut session = Session::restore(agent.spec(), &snapshot).unwrap();
        let resumed = stream::iter([Input::Resumed { live: Vec::new() }]);
        drive(&mut session, &host, resumed).await.unwrap();
        assert_eq!(payments.load(Ordering::SeqCst), ran, "{told}");
        model.verify();
    }
}
