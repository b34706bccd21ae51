//! The agent as a component: a host gives it HTTP and a filesystem through WIT, and nothing else.
#![allow(clippy::unwrap_used)]

mod host;

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};
use wasmtime::component::types::ComponentItem;
use windlass_core::tool::{Access, FsGrant, GrantRoot};
use windlass_testkit::Script;

use self::host::{Agent, component};

/// The interfaces whose functions a host gives it.
const INTERFACES: [&str; 4] = [
    "windlass:host/clock@0.1.0",
    "windlass:host/filesystem@0.1.0",
    "windlass:host/http@0.1.0",
    "windlass:host/log@0.1.0",
];

#[test]
fn card_2_the_agent_component_imports_no_function_but_those_of_the_host() {
    let component = component();
    let (engine, shape) = (component.engine(), component.component_type());
    let mut with_functions = BTreeSet::new();
    for (name, item) in shape.imports(engine) {
        let ComponentItem::ComponentInstance(interface) = item.ty else {
            panic!("{name} is imported, which is no interface");
        };
        // Interfaces of types alone give a component nothing to call.
        let is_function = |item| matches!(item, ComponentItem::ComponentFunc(_));
        if interface
            .exports(engine)
            .any(|(_, item)| is_function(item.ty))
        {
            with_functions.insert(name);
        }
    }
    assert_eq!(with_functions, BTreeSet::from(INTERFACES));
    let exports: Vec<&str> = shape.exports(engine).map(|(name, _)| name).collect();
    assert_eq!(exports, ["windlass:agent/conversation@0.1.0"]);
}

#[test]
fn card_2_the_agent_component_reads_and_edits_a_file_through_the_filesystem_of_its_host() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let cwd = root.to_str().unwrap();
    fs::write(root.join("greeting.txt"), "Hello, wrold!\n").unwrap();
    let script = json!({
        "exchanges": [
            {
                "expect": {"tools_include": ["Read", "Write", "Edit", "Glob", "Grep"]},
                "respond": {"content": [
                    "I look at it.",
                    {"type": "tool_use", "name": "Read", "input": {"file_path": "greeting.txt"}},
                    {"type": "tool_use", "name": "Grep", "input": {"pattern": "wr.ld", "output_mode": "content"}},
                ]},
            },
            {
                "expect": {"tool_results": [
                    {"contains": "Hello, wrold!", "is_error": false},
                    {"contains": "greeting.txt", "is_error": false},
                ]},
                "respond": {"content": [{
                    "type": "tool_use",
                    "name": "Edit",
                    "input": {
                        "file_path": format!("{cwd}/greeting.txt"),
                        "old_string": "wrold",
                        "new_string": "world",
                    },
                }]},
            },
            {
                "expect": {"tool_results": [{"is_error": false}]},
                "respond": {"text": "Corrected.", "chunks": {"bytes": 5}},
            },
        ],
    });
    let mut agent = Agent::new(grant(cwd, Access::Write), &script);
    let task = task(json!({"permissions": {"allow": ["Read", "Grep", "Edit"]}}));
    let messages = agent.run(&task).unwrap();
    agent.verify();
    let result = messages.last().unwrap();
    assert_eq!(result["result"], "Corrected.");
    assert_eq!(result["num_turns"], 3);
    assert_eq!(messages[0]["cwd"], cwd);
    let edited = fs::read_to_string(root.join("greeting.txt")).unwrap();
    assert_eq!(edited, "Hello, world!\n");
}

#[test]
fn card_2_the_same_task_gives_the_same_messages() {
    let run = || {
        let script = json!({"exchanges": [{"respond": "Hello."}]});
        let mut agent = Agent::new(grant("/nowhere", Access::Read), &script);
        agent.run(&task(json!({}))).unwrap()
    };
    assert_eq!(run(), run());
}

#[test]
fn card_2_a_failed_request_is_asked_again_when_the_clock_of_the_host_says_so() {
    let script = json!({"exchanges": [
        {"respond": {"error": {"type": "overloaded_error", "message": "Overloaded"}}},
        {"respond": {"cut": true}},
        {"respond": "At last."},
    ]});
    let mut agent = Agent::new(grant("/nowhere", Access::Read), &script);
    let messages = agent.run(&task(json!({}))).unwrap();
    agent.verify();
    let retries: Vec<u64> = messages
        .iter()
        .filter(|message| message["subtype"] == "api_retry")
        .map(|message| message["retry_delay_ms"].as_u64().unwrap())
        .collect();
    assert_eq!(retries.len(), 2);
    assert_eq!(messages.last().unwrap()["result"], "At last.");
    assert_eq!(agent.waited_ms(), retries.iter().sum::<u64>());
}

#[test]
fn card_2_a_deny_rule_keeps_a_file_from_the_tools_that_walk_past_it() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let cwd = root.to_str().unwrap();
    fs::write(root.join("open.txt"), "token\n").unwrap();
    fs::write(root.join("secret.txt"), "token\n").unwrap();
    let script = json!({"exchanges": [
        {"respond": {"content": [
            {"type": "tool_use", "name": "Grep", "input": {"pattern": "token"}},
            {"type": "tool_use", "name": "Read", "input": {"file_path": "secret.txt"}},
        ]}},
        {"respond": "So."},
    ]});
    let mut agent = Agent::new(grant(cwd, Access::Read), &script);
    let rules = json!({"permissions": {"allow": ["Read", "Grep"], "deny": ["Read(secret.txt)"]}});
    let messages = agent.run(&task(rules)).unwrap();
    let results: Vec<String> = messages
        .iter()
        .filter(|message| message["type"] == "user")
        .map(|message| message["message"]["content"].to_string())
        .collect();
    let found = results
        .iter()
        .find(|text| text.contains("open.txt"))
        .unwrap();
    assert!(!found.contains("secret.txt"), "{found}");
    assert!(
        results.iter().any(|text| text.contains("was denied")),
        "{results:?}"
    );
}

#[cfg(unix)]
#[test]
fn card_2_a_link_does_not_lead_around_a_rule() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let cwd = root.to_str().unwrap();
    fs::write(root.join("secret.txt"), "token\n").unwrap();
    std::os::unix::fs::symlink("secret.txt", root.join("harmless.txt")).unwrap();
    let script = json!({"exchanges": [
        {"respond": {"content": [
            {"type": "tool_use", "name": "Read", "input": {"file_path": "harmless.txt"}},
        ]}},
        {
            "expect": {"tool_results": [{"is_error": true, "contains": "link"}]},
            "respond": "So.",
        },
    ]});
    let mut agent = Agent::new(grant(cwd, Access::Read), &script);
    let rules = json!({"permissions": {"allow": ["Read"], "deny": ["Read(secret.txt)"]}});
    agent.run(&task(rules)).unwrap();
    agent.verify();
}

#[test]
fn card_2_an_interrupt_ends_the_run_and_the_result_says_so() {
    let script = json!({"exchanges": [{"respond": {"content": [
        {"type": "tool_use", "name": "Glob", "input": {"pattern": "*"}},
    ]}}]});
    let mut agent = Agent::new(grant("/nowhere", Access::Read), &script);
    let session = agent.start(&task(json!({}))).unwrap();
    assert_eq!(agent.next(session).unwrap()["subtype"], "init");
    agent.interrupt(session);
    let mut last = Value::Null;
    while let Some(message) = agent.next(session) {
        last = message;
    }
    assert_eq!(last["subtype"], "error_during_execution");
    assert_eq!(agent.next(session), None);
}

#[test]
fn card_2_a_task_that_cannot_be_started_is_refused_in_one_sentence() {
    let script = json!({"exchanges": [{"respond": "Never."}]});
    let mut agent = Agent::new(grant("/nowhere", Access::Read), &script);
    for (task, named) in [
        ("", "the session request is not usable"),
        ("{}", "seed"),
        (&json!({"seed": "00".repeat(32)}).to_string(), "prompt"),
        (
            &task(json!({"tools": [{"name": "X", "description": "", "input_schema": {}}]})),
            "spec.tools",
        ),
    ] {
        let refused = agent.start(task).unwrap_err();
        assert!(refused.contains(named), "{task}: {refused}");
    }
}

fn task(spec: Value) -> String {
    json!({"seed": "07".repeat(32), "prompt": "Correct the greeting.", "spec": spec}).to_string()
}

fn grant(path: &str, access: Access) -> FsGrant {
    FsGrant {
        cwd: path.to_owned(),
        roots: vec![GrantRoot {
            path: path.to_owned(),
            access,
        }],
        deny: Vec::new(),
    }
}

impl Agent {
    fn new(grant: FsGrant, script: &Value) -> Self {
        Self::with_script(grant, Script::parse(&script.to_string()).unwrap())
    }

    fn run(&mut self, task: &str) -> Result<Vec<Value>, String> {
        let session = self.start(task)?;
        Ok(std::iter::from_fn(|| self.next(session)).collect())
    }
}
