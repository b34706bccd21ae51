//! Worlds that users write: a script, tools, a promise of their own.

use serde_json::json;
use windlass_core::{Output, Spec, effect::Effect, tool::ToolResult, tools::CoreTool};
use windlass_testkit::{
    Faults, Script, Scripted, Sim,
    oracle::{Check, Oracle, View, Violation},
};

use crate::harness::{asking_spec, tool};

fn script() -> Script {
    let call = |name: &str| json!({"content": [{"type": "tool_use", "name": name, "input": {}}]});
    let script = json!({"exchanges": [
        {"respond": call("Test")},
        {"respond": call("Deploy")},
        {"expect": {"last_user_contains": "deployed"}, "respond": "It is out."},
    ]});
    Script::parse(&script.to_string()).unwrap()
}

fn spec() -> Spec {
    asking_spec(vec![tool("Test"), tool("Deploy")])
}

fn world(spec: Spec) -> Scripted {
    Scripted::new(spec, script())
        .prompt("Ship it.")
        .tool("Test", |_| ToolResult::text("all green"))
        .tool("Deploy", |_| ToolResult::text("deployed"))
        .allow_all()
}

#[test]
fn card_6_an_agent_gets_over_whatever_can_be_survived_without_anybody_noticing() {
    let sim = Sim::new(|_| world(spec())).faults(Faults::survivable());
    let mut digests = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let run = sim.run(seed).unwrap_or_else(|failure| panic!("{failure}"));
        let called: Vec<&str> = run.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(called, ["Test", "Deploy"], "{}", run.transcript());
        assert!(run.transcript().contains("assistant text \"It is out.\""));
        digests.insert(run.digest.value());
    }
    assert!(digests.len() > 50, "nothing went wrong: {}", digests.len());
}

/// A promise of this agent: nothing is deployed that was not tested.
#[derive(Default)]
struct TestedFirst {
    tested: bool,
}

impl Oracle for TestedFirst {
    fn name(&self) -> &'static str {
        "tested first"
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        if let Output::Effect(id, Effect::CallTool(call)) = output {
            self.tested |= call.name == "Test";
            if call.name == "Deploy" && !self.tested {
                return Err(Violation::Broken {
                    oracle: self.name(),
                    what: format!("{id} deploys what was not tested"),
                });
            }
        }
        Ok(())
    }
}

#[test]
fn card_6_a_promise_of_ones_own_is_checked_and_a_failure_names_seed_and_steps() {
    let kept = Sim::new(|_| world(spec()).oracle(TestedFirst::default));
    kept.run(1).unwrap();
    let script = r#"{"exchanges": [
        {"respond": {"content": [{"type": "tool_use", "name": "Deploy", "input": {}}]}}, {"respond": "Out."}]}"#;
    let broken = Sim::new(move |_| {
        Scripted::new(spec(), Script::parse(script).unwrap())
            .prompt("Ship it.")
            .tool("Deploy", |_| ToolResult::text("deployed"))
            .allow_all()
            .oracle(TestedFirst::default)
    });
    let failure = broken.run(7).unwrap_err();
    assert_eq!(
        (failure.seed, failure.violation.oracle()),
        (7, "tested first")
    );
    let shown = failure.to_string();
    assert!(shown.starts_with("seed 7, step "), "{shown}");
    assert!(shown.contains("deploys what was not tested"), "{shown}");
    assert!(shown.contains("Ship it."), "{shown}");
}

#[test]
fn card_6_a_script_that_does_not_fit_is_told_in_the_transcript() {
    let sim = Sim::new(|_| {
        Scripted::new(spec(), Script::says(["One."]))
            .prompt("a")
            .prompt("b")
    });
    let run = sim.run(0).unwrap();
    assert!(
        run.transcript().contains("scripted model"),
        "{}",
        run.transcript()
    );
}

/// The server gives an agent's call the id of the call that the agent works on. What comes of the one says nothing of the other.
#[test]
fn an_agents_call_may_have_the_id_of_the_one_it_works_on() {
    let call = |name: &str, input| json!({"content": [{"type": "tool_use", "id": "again", "name": name, "input": input}]});
    let task = json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"});
    let script = json!({"exchanges": [
        {"respond": call("Task", task)},
        {"respond": call("Nowhere", json!({}))},
        {"respond": "There is no such tool."},
        {"expect": {"last_user_contains": "no such tool"}, "respond": "Well."},
    ]});
    let mut spec = spec();
    spec.offer([CoreTool::Task]);
    let sim = Sim::new(move |_| {
        let script = Script::parse(&script.to_string()).unwrap();
        Scripted::new(spec.clone(), script)
            .prompt("Go.")
            .allow_all()
    });
    let run = sim.run(0).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(run.transcript().contains("Well."), "{}", run.transcript());
}
