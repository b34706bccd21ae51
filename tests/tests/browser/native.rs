//! The run here: the driver in virtual time, the file tools as a component in wasmtime over real files.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc};

use futures_util::stream;
use serde_json::{Value, json};
use windlass::plugins::{PluginHost, PluginHostConfig};
use windlass_core::{
    Input, Prompt, Seeded, Session, SessionId, drive,
    host::CancelSignal,
    journal::Recorder,
    session_request::SessionRequest,
    tool::{ToolCall, ToolResult},
};
use windlass_engine::models::ModelTable;
use windlass_testkit::{Script, TestHost};

use crate::facts::{Facts, SEED};

/// What a run left behind.
pub(crate) struct Here {
    /// One message a line.
    pub(crate) messages: String,
}

pub(crate) fn run(facts: &Facts) -> Here {
    let host = host(facts);
    let task = task(facts.cwd());
    let id = Seeded::new(task.seed).uuid();
    let mut session = Session::new(Arc::new(task.spec), id, task.seed);
    let messages = host.run(&mut session, [prompt(facts, id)]).unwrap();
    host.verify().unwrap();
    Here {
        messages: messages.iter().map(|m| m.to_line() + "\n").collect(),
    }
}

/// The journal of the run.
pub(crate) fn journal(facts: &Facts) -> String {
    let host = host(facts);
    let task = task(facts.cwd());
    let id = Seeded::new(task.seed).uuid();
    let mut lines = String::new();
    let mut recorder = Recorder::start(Arc::new(task.spec), id, task.seed, |line| {
        lines += line;
        lines += "\n";
    });
    let inputs = stream::iter([prompt(facts, id)]);
    let driven = host.block_on(drive(&mut recorder, &host, inputs));
    driven.unwrap().unwrap();
    host.verify().unwrap();
    drop(recorder);
    lines
}

/// An engine names prompts itself, and a session that is told their names draws none.
fn prompt(facts: &Facts, id: SessionId) -> Input {
    Input::Prompt(Prompt::text(facts.bundle["prompt"].as_str().unwrap()).with_uuid(id))
}

fn host(facts: &Facts) -> TestHost {
    let bundle = &facts.bundle;
    let script =
        Script::parse_with(bundle["script"].as_str().unwrap(), &[("cwd", facts.cwd())]).unwrap();
    let mut host = TestHost::new(script)
        .cwd(facts.cwd())
        .tool("Bash", recorded_bash(bundle));
    let plugins = PluginHost::new(PluginHostConfig::default());
    let files = Rc::new(plugins.load("files", windlass_builtin::FILES).unwrap());
    for tool in files.tools() {
        let files = Rc::clone(&files);
        host = host.tool(&tool.name, move |call| {
            files.call_blocking(call, &CancelSignal::new())
        });
    }
    host
}

/// What `host-browser/demo/demo.js` makes of its options.
fn task(cwd: &str) -> SessionRequest {
    let declaration = windlass_builtin::declaration(windlass_builtin::FILES).unwrap();
    let declaration: Value = serde_json::from_str(declaration).unwrap();
    let mut tools = declaration["tools"].as_array().unwrap().clone();
    tools.push(json!({
        "name": "Bash",
        "description": "Runs a command. Here: answers what it answered once.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "description": {"type": "string"}},
            "required": ["command"],
        },
        "command_param": "command",
    }));
    let spec = json!({
        "tools": tools,
        "partial_messages": true,
        "progress_interval_ms": 0,
        "permissions": {
            "mode": "acceptEdits",
            "allow": ["Bash(python3 -m unittest:*)"],
            "free_workspace_reads": true,
        },
        "environment": {"cwd": cwd, "version": env!("CARGO_PKG_VERSION")},
    });
    let seed = format!("{SEED:02x}").repeat(32);
    let mut request =
        SessionRequest::parse(&json!({"seed": seed, "spec": spec}).to_string()).unwrap();
    // A page is given the models that are known by name.
    ModelTable::built_in().give_to(&mut request.spec);
    request
}

/// Bash for hosts that have none: the recorded answers, in their order.
fn recorded_bash(bundle: &Value) -> impl FnMut(&ToolCall) -> ToolResult + 'static {
    let cwd = bundle["cwd"].as_str().unwrap().to_owned();
    let calls: VecDeque<Value> = bundle["bash"]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .cloned()
        .collect();
    let calls = RefCell::new(calls);
    move |_| {
        let call = calls.borrow_mut().pop_front().unwrap();
        let text = |field: &str| call[field].as_str().unwrap().replace("${cwd}", &cwd);
        let output = text("stdout") + &text("stderr");
        match call["exit_code"].as_i64().unwrap() {
            0 => ToolResult::text(output),
            code => ToolResult::error(format!("Exit code {code}\n{output}")),
        }
    }
}
