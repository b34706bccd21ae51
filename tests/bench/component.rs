//! Calls of component tools: the whole way through the plugin host, against the barest wasmtime host.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use wasmtime::{
    Engine, Store,
    component::{Component, Linker, Val},
};
use windlass::plugins::{Plugin, PluginHost, PluginHostConfig};
use windlass_core::{
    RawJson,
    host::CancelSignal,
    tool::{Access, FsGrant, GrantRoot, ToolCall},
};

use crate::table::{Goal, Table, in_turns, median};

/// Calls in one measurement.
const CALLS: usize = 400;

/// A component whose one tool answers "echo" without looking at its input.
const ECHO: &str = include_str!("echo.wat");

pub(crate) fn measure(table: &mut Table) {
    let bytes = echo();
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = host
        .load("echo", bytes.clone())
        .expect("the echo component loads");
    plugin.prepare().expect("the echo component compiles");
    let bare = Bare::new(&bytes);
    let call = call("echo", &RawJson::empty_object(), FsGrant::default());
    let (ours, floor) = in_turns(
        15,
        || median_us(|| assert!(!plugin.call_blocking(&call, &CancelSignal::new()).is_error)),
        || median_us(|| bare.call()),
    );
    table.pair(
        "fresh-instance call of a trivial tool (bare wasmtime)",
        "µs",
        ours,
        floor,
        Goal::AtMost(1.3),
    );
    let (ours, spawn) = in_turns(
        9,
        || median_us(|| assert!(!plugin.call_blocking(&call, &CancelSignal::new()).is_error)),
        || median_us_of(60, spawn_true),
    );
    table.pair(
        "fresh-instance call of a trivial tool (spawning /bin/true)",
        "µs",
        ours,
        spawn,
        Goal::AtMost(0.2),
    );
}

/// The trivial component, with its declaration.
pub(crate) fn echo() -> Vec<u8> {
    with_declaration(&wat::parse_str(ECHO).expect("the echo component is valid"))
}

/// One call of the files component over a folder, in milliseconds.
pub(crate) fn files_call_ms(folder: &Path, tool: &str, input: &serde_json::Value) -> f64 {
    thread_local! {
        static FILES: Plugin = {
            let host = PluginHost::new(PluginHostConfig::default());
            let plugin = host.load("files", windlass_builtin::FILES).expect("the files component loads");
            plugin.prepare().expect("the files component compiles");
            plugin
        };
    }
    let call = call(
        tool,
        &RawJson::encode(input).expect("JSON"),
        reading(folder),
    );
    FILES.with(|files| {
        let start = Instant::now();
        let result = files.call_blocking(&call, &CancelSignal::new());
        let elapsed = start.elapsed().as_secs_f64() * 1e3;
        assert!(!result.is_error, "{}", result.joined_text());
        elapsed
    })
}

/// A grant for reading a folder, which is a real path.
pub(crate) fn reading(folder: &Path) -> FsGrant {
    let path = folder.display().to_string();
    FsGrant {
        cwd: path.clone(),
        roots: vec![GrantRoot {
            path,
            access: Access::Read,
        }],
        deny: Vec::new(),
    }
}

pub(crate) fn call(name: &str, input: &RawJson, grant: FsGrant) -> ToolCall {
    ToolCall {
        tool_use_id: "toolu_bench".to_owned(),
        name: name.to_owned(),
        input: input.clone(),
        grant,
        observed: Vec::new(),
        timeout_ms: None,
        agent: None,
        command: None,
        outside_sandbox: false,
        model: None,
        shell: None,
    }
}

fn median_us(work: impl FnMut()) -> f64 {
    median_us_of(CALLS, work)
}

fn median_us_of(times: usize, mut work: impl FnMut()) -> f64 {
    median(
        (0..times)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect(),
    )
}

fn spawn_true() {
    let status = Command::new("/bin/true").stdin(Stdio::null()).status();
    assert!(status.is_ok_and(|s| s.success()));
}

/// A wasmtime host without grants, limits, caps, conversion of results or anything else.
struct Bare {
    engine: Engine,
    instance: wasmtime::component::InstancePre<()>,
}

impl Bare {
    fn new(component: &[u8]) -> Self {
        let engine = Engine::default();
        let component = Component::new(&engine, component).expect("the component compiles");
        let instance = Linker::new(&engine)
            .instantiate_pre(&component)
            .expect("the component imports nothing");
        Self { engine, instance }
    }

    fn call(&self) {
        let mut store = Store::new(&self.engine, ());
        let instance = self.instance.instantiate(&mut store).expect("an instance");
        let function = instance.get_func(&mut store, "call").expect("the export");
        let call = Val::Record(vec![
            ("name".to_owned(), Val::String("echo".to_owned())),
            ("input".to_owned(), Val::String("{}".to_owned())),
            ("observed".to_owned(), Val::List(Vec::new())),
        ]);
        let mut results = [Val::Bool(false)];
        function
            .call(&mut store, &[call], &mut results)
            .expect("the call returns");
    }
}

/// Adds the declaration section that every plugin carries.
fn with_declaration(component: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"windlass:plugin";
    let declaration = serde_json::json!({
        "name": "echo",
        "version": "0.1.0",
        "wit": "0.1.0",
        "tools": [{ "name": "echo", "description": "Answers echo", "input_schema": { "type": "object" } }],
    })
    .to_string();
    let mut content = vec![NAME.len() as u8];
    content.extend_from_slice(NAME);
    content.extend_from_slice(declaration.as_bytes());
    let mut out = component.to_vec();
    out.push(0);
    let mut length = content.len();
    // Unsigned LEB128.
    while length >= 0x80 {
        out.push((length as u8 & 0x7f) | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(content);
    out
}
