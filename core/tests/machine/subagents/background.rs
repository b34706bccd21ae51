//! Agents that work beside the conversation.

use serde_json::json;
use windlass_core::{Input, Millis, effect::Answer, spec::TaskPolicy};

use super::{
    output, read_result, reads, reply, request, says, spec, system, task, text_of, transcript,
};
use crate::harness::{Bench, Reply};

#[test]
fn tool_25_an_agent_in_the_background_is_answered_at_once() {
    let mut spec = spec(vec![reads("Look")]);
    spec.environment.transcript = "/t/{session_id}.jsonl".into();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    let launched = output(&bench, "t1");
    let id = launched["agentId"].as_str().unwrap().to_owned();
    assert_eq!(
        launched,
        json!({
            "status": "async_launched", "agentId": id, "description": "look around", "prompt": "Task t1",
            "outputFile": transcript(&id), "canReadOutputFile": false,
        })
    );
    assert!(text_of(&read_result(&bench, "t1")).contains(&id));
    says(&mut bench, 0, "I go on.");
    assert_eq!(bench.results().len(), 1);
    assert!(!bench.session.is_idle(), "the agent works on");
    reply(&mut bench, 1, &Reply::call("l", "Look", json!({})));
    bench.finish("l", "x");
    bench.wait(500);
    says(&mut bench, 1, "Found it.");
    assert!(bench.session.is_idle());
    let started = &system(&bench, "task_started")[0];
    assert_eq!(
        (
            &started["task_id"],
            &started["tool_use_id"],
            &started["description"],
            &started["task_type"]
        ),
        (
            &json!(id),
            &json!("t1"),
            &json!("look around"),
            &json!("local_agent")
        )
    );
    let progress = &system(&bench, "task_progress")[0];
    assert_eq!(
        progress["usage"],
        json!({"total_tokens": 15, "tool_uses": 1, "duration_ms": 0})
    );
    assert_eq!(progress["last_tool_name"], "Look");
    let ended = &system(&bench, "task_notification")[0];
    assert_eq!(ended["status"], "completed");
    assert_eq!(
        ended["usage"],
        json!({"total_tokens": 30, "tool_uses": 1, "duration_ms": 500})
    );
    assert_eq!(
        (&ended["task_id"], &ended["output_file"]),
        (&json!(id), &json!(transcript(&id)))
    );
    // The model hears of it with the next prompt, and the books too.
    bench.prompt("what now?");
    let (_, body) = request(&bench, 0);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert!(
        last["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Found it.")
    );
    assert_eq!(last["content"][1]["text"], "what now?");
    let synthetic = bench
        .lines_of("user")
        .into_iter()
        .find(|l| l["isSynthetic"] == true)
        .unwrap();
    assert!(synthetic.to_string().contains("Found it."));
    says(&mut bench, 0, "Thanks.");
    assert_eq!(bench.result().usage.input_tokens, 30);
}

#[test]
fn loop_31_news_of_a_task_join_the_next_tool_results() {
    let mut bench = Bench::new(spec(vec![reads("Look")]));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    reply(&mut bench, 0, &Reply::call("l", "Look", json!({})));
    says(&mut bench, 1, "Found it.");
    bench.finish("l", "x");
    let (_, body) = request(&bench, 0);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["tool_use_id"], "l", "results come first");
    assert!(
        last["content"][1]["text"]
            .as_str()
            .unwrap()
            .contains("Found it.")
    );
}

#[test]
fn loop_31_the_end_of_a_task_can_begin_a_turn_of_its_own() {
    let mut spec = spec(Vec::new());
    spec.tools.tasks = TaskPolicy {
        wake: true,
        ..TaskPolicy::default()
    };
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    says(&mut bench, 0, "I go on.");
    says(&mut bench, 1, "Found it.");
    let (_, body) = request(&bench, 0);
    assert!(body["messages"].to_string().contains("Found it."));
    says(&mut bench, 0, "Good.");
    assert_eq!(
        (bench.results().len(), system(&bench, "init").len()),
        (2, 2)
    );
}

#[test]
fn an_empty_prompt_is_refused_whatever_there_is_to_hear() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    says(&mut bench, 0, "I go on.");
    says(&mut bench, 1, "Found it.");
    bench.prompt("");
    assert!(bench.result().is_error && bench.pending.is_empty());
    bench.prompt("well?");
    assert!(request(&bench, 0).1.to_string().contains("Found it."));
}

#[test]
fn api_11_a_task_can_be_stopped_from_outside() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    says(&mut bench, 0, "I go on.");
    let id = output(&bench, "t1")["agentId"].as_str().unwrap().to_owned();
    bench.input(Input::StopTask("nothing".into()));
    bench.input(Input::StopTask(id.clone()));
    let cancelled = bench.cancelled()[0];
    assert_eq!(cancelled.agent, 1);
    bench.answer(cancelled, Answer::Cancelled);
    let ended = &system(&bench, "task_notification")[0];
    assert_eq!(
        (&ended["task_id"], &ended["status"]),
        (&json!(id), &json!("stopped"))
    );
    assert!(bench.session.is_idle());
}

#[test]
fn sub_2_an_interrupt_leaves_background_agents_at_work() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    bench.interrupt();
    let cancelled = bench.cancelled();
    assert!(cancelled.iter().all(|id| id.agent == 0));
    cancelled
        .into_iter()
        .for_each(|id| bench.answer(id, Answer::Cancelled));
    assert_eq!(bench.results().len(), 1);
    says(&mut bench, 1, "Still found it.");
    assert_eq!(
        system(&bench, "task_notification")[0]["status"],
        "completed"
    );
}

#[test]
fn tool_25_a_running_agent_can_be_put_into_the_background() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    bench.input(Input::Background(Some("t1".into())));
    assert_eq!(output(&bench, "t1")["status"], "async_launched");
    says(&mut bench, 1, "Found it.");
    assert_eq!(system(&bench, "task_notification").len(), 1);
    says(&mut bench, 0, "Good.");
}

#[test]
fn tool_25_nothing_goes_into_the_background_from_a_run_that_is_being_stopped() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    let (id, _) = request(&bench, 1);
    bench.interrupt();
    bench.input(Input::Background(None));
    bench.answer(id, Answer::Cancelled);
    assert!(system(&bench, "task_started").is_empty());
    assert_eq!(bench.results().len(), 1, "the run comes to its end");
    assert!(bench.session.is_idle());
}

#[test]
fn tool_24_task_output_waits_for_an_agent_or_reads_at_once() {
    let start = || {
        let mut bench = Bench::new(spec(Vec::new()));
        bench.prompt("go");
        reply(
            &mut bench,
            0,
            &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
        );
        let id = output(&bench, "t1")["agentId"].as_str().unwrap().to_owned();
        (bench, id)
    };
    let (mut bench, id) = start();
    reply(
        &mut bench,
        0,
        &Reply::call(
            "o",
            "TaskOutput",
            json!({"task_id": id, "block": true, "timeout": 5000}),
        ),
    );
    assert_eq!(bench.session.deadline(), Some(Millis(6_000)));
    says(&mut bench, 1, "Found it.");
    assert!(text_of(&read_result(&bench, "o")).contains("completed\n\nFound it."));
    assert_eq!(output(&bench, "o")["status"], "completed");
    let (_, body) = request(&bench, 0);
    assert_eq!(
        body.to_string().matches("Found it.").count(),
        1,
        "heard once: {body}"
    );

    let (mut bench, id) = start();
    reply(
        &mut bench,
        0,
        &Reply::call("o", "TaskOutput", json!({"task_id": id, "timeout": 5000})),
    );
    bench.tick();
    assert_eq!(output(&bench, "o")["status"], "running");

    let (mut bench, id) = start();
    reply(
        &mut bench,
        0,
        &Reply::call("o", "TaskOutput", json!({"task_id": id, "block": false})),
    );
    assert_eq!(output(&bench, "o")["status"], "running");
    reply(
        &mut bench,
        0,
        &Reply::call("p", "TaskOutput", json!({"task_id": "b1"})),
    );
    assert!(text_of(&read_result(&bench, "p")).contains(&format!("These are running: {id}")));
    reply(
        &mut bench,
        0,
        &Reply::call("s", "TaskStop", json!({"task_id": id})),
    );
    assert_eq!(output(&bench, "s")["task_type"], "local_agent");
    let stopped = bench.cancelled()[0];
    bench.answer(stopped, Answer::Cancelled);
    assert_eq!(system(&bench, "task_notification")[0]["status"], "stopped");
    reply(
        &mut bench,
        0,
        &Reply::call("s2", "TaskStop", json!({"task_id": id})),
    );
    assert!(text_of(&read_result(&bench, "s2")).contains("has ended already: stopped"));
}

#[test]
fn an_agent_that_is_waited_for_is_told_of_where_that_is_wanted() {
    for announced in [false, true] {
        let mut spec = spec(vec![reads("Look")]);
        spec.tools.tasks = TaskPolicy {
            announce_agents: announced,
            ..TaskPolicy::default()
        };
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        reply(
            &mut bench,
            0,
            &Reply::message(&[task("t1", "Explore", json!({}))]),
        );
        reply(&mut bench, 1, &Reply::call("l", "Look", json!({})));
        bench.finish("l", "x");
        bench.wait(500);
        says(&mut bench, 1, "Found it.");
        let told =
            ["task_started", "task_progress", "task_notification"].map(|it| system(&bench, it));
        if !announced {
            assert!(told.iter().all(Vec::is_empty));
            continue;
        }
        let [started, progress, ended] = told.map(|mut it| it.pop().unwrap());
        let id = output(&bench, "t1")["agentId"].clone();
        assert_eq!(started["task_id"], id);
        assert_eq!(
            (&started["subagent_type"], &started["prompt"]),
            (&json!("Explore"), &json!("Task t1"))
        );
        assert_eq!(started["is_backgrounded"], false);
        assert_eq!(
            (&progress["task_id"], &progress["last_tool_name"]),
            (&id, &json!("Look"))
        );
        assert_eq!(
            (&ended["task_id"], &ended["tool_use_id"], &ended["status"]),
            (&id, &json!("t1"), &json!("completed"))
        );
        assert_eq!(ended["summary"], "Found it.");
        assert_eq!(
            ended["usage"],
            json!({"total_tokens": 30, "tool_uses": 1, "duration_ms": 500})
        );
        says(&mut bench, 0, "Done.");
        assert!(bench.session.is_idle());
    }
}

#[test]
fn an_agent_that_is_put_into_the_background_begins_again_as_such() {
    let mut spec = spec(Vec::new());
    spec.tools.tasks.announce_agents = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    bench.input(Input::Background(None));
    says(&mut bench, 0, "I go on.");
    says(&mut bench, 1, "Found it.");
    let started = system(&bench, "task_started");
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["task_id"], started[1]["task_id"]);
    assert_eq!(started[1].get("is_backgrounded"), None);
    assert_eq!(system(&bench, "task_notification").len(), 1);
}
