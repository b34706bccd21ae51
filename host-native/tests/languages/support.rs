//! A workspace, a scripted model, and the components that `cargo xtask` built.

use std::{
    env, fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use windlass::{
    Agent, AgentBuilder,
    core::spec::RetryPolicy,
    files::Files,
    model_server::{ModelServer, Script},
    plugins::{
        Cache, LogSink, PluginHost, PluginHostConfig, Resolver, SecretSource, with_declaration,
    },
};

/// The directory of the components that are built from JavaScript and Python: `$WINDLASS_PLUGINS`, else `plugins` in the target
/// directory.
fn plugins() -> PathBuf {
    let beside = || {
        let program = env::current_exe().unwrap();
        let mut above = program.ancestors();
        let target = above.find(|directory| directory.join("CACHEDIR.TAG").is_file());
        target.unwrap_or(Path::new("target")).join("plugins")
    };
    let directory = env::var_os("WINDLASS_PLUGINS").map_or_else(beside, PathBuf::from);
    assert!(
        directory.join("csv-python.wasm").is_file(),
        "the plugins in JavaScript and Python are not in {}: run `cargo xtask test --target languages` first",
        directory.display()
    );
    directory
}

/// Where the programs are that `cargo xtask` installed for the languages.
pub(crate) fn languages() -> PathBuf {
    plugins().join("../languages")
}

/// The component file of a plugin, with its declaration. It is declared once for all tests: each runs in a process of its
/// own, and compiling Python takes seconds.
pub(crate) fn plugin(name: &str) -> PathBuf {
    let built = plugins().join(format!("{name}.wasm"));
    let declared = built.with_extension("declared.wasm");
    let newer = |file: &PathBuf| fs::metadata(file).ok()?.modified().ok();
    if newer(&declared) > newer(&built) {
        return declared;
    }
    let bytes = with_declaration(&fs::read(&built).unwrap()).unwrap();
    let temporary = built.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&temporary, bytes).unwrap();
    fs::rename(temporary, &declared).unwrap();
    declared
}

/// A workspace with a folder beside it, both real paths.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for made in ["work", "outside"] {
            fs::create_dir(folder.path().join(made)).unwrap();
        }
        fs::write(folder.path().join("outside/secret.txt"), "the secret").unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("work").join(name), text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Calls a tool of a plugin once; the result has this text, and is this kind of result.
    pub(crate) async fn call(
        &self,
        (name, tool): (&str, &str),
        input: Value,
        expected: (&str, bool),
        with: impl FnOnce(AgentBuilder) -> AgentBuilder,
    ) {
        let with = |agent: AgentBuilder| with(agent.plugin(plugin(name)));
        self.calls(tool, vec![(input, expected)], with).await;
    }

    /// Calls a tool once after the other; each result has its text, and is this kind of result.
    pub(crate) async fn calls(
        &self,
        tool: &str,
        calls: Vec<(Value, (&str, bool))>,
        with: impl FnOnce(AgentBuilder) -> AgentBuilder,
    ) {
        let mut exchanges: Vec<Value> = Vec::new();
        let mut expect = json!({});
        for (input, (text, is_error)) in calls {
            let called = json!({"content": [{"type": "tool_use", "name": tool, "input": input}]});
            exchanges.push(json!({ "expect": expect, "respond": called }));
            expect = json!({"tool_results": [{"contains": text, "is_error": is_error}]});
        }
        exchanges.push(json!({ "expect": expect, "respond": "done" }));
        let model = model(&exchanges);
        let agent = self.agent(&model).allowed_tools([tool]);
        with(agent).build().unwrap().run("go").await.unwrap();
        if let Err(unmet) = model.verify() {
            panic!("{unmet}");
        }
    }

    /// An agent that works here, without plugins.
    pub(crate) fn agent(&self, model: &ModelServer) -> AgentBuilder {
        Agent::builder()
            .base_url(model.url())
            .api_key("sk-test")
            .retry(RetryPolicy {
                max_retries: 0,
                ..RetryPolicy::default()
            })
            .plugin_host(PluginHost::new(host(LogSink::default())))
            .cwd(self.path("work"))
    }
}

/// A model that follows a script.
pub(crate) fn model(exchanges: &[Value]) -> ModelServer {
    let script = Script::parse(&json!({ "exchanges": exchanges }).to_string()).unwrap();
    ModelServer::start(script).unwrap()
}

/// A component host, and the messages of its components.
pub(crate) fn logged() -> (PluginHost, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let sink = LogSink::new(move |line| {
        if !line.from_host {
            lines.lock().unwrap().push(line.message.to_owned());
        }
    });
    (PluginHost::new(host(sink)), log)
}

/// A component host that finds all servers on this machine, at this port, and has secrets.
pub(crate) fn connected(port: u16, secrets: SecretSource) -> PluginHost {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    PluginHost::new(PluginHostConfig {
        resolver: Resolver::new(move |_, _| Ok(vec![server])),
        secrets,
        ..host(LogSink::default())
    })
}

/// A component host whose compiled components are kept for all these tests.
fn host(log: LogSink) -> PluginHostConfig {
    let kept = plugins();
    PluginHostConfig {
        cache: Some(Cache::at(
            kept.join("compiled"),
            kept.join("key/components.key"),
        )),
        files: Arc::new(Files::default()),
        log,
        ..PluginHostConfig::default()
    }
}
