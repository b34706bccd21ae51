//! A session with plugins here, in Node and in Chromium: the same components, the same answers.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use windlass::{
    Agent, Message,
    core::{
        message::SystemMessage,
        tool::{Access, PluginGrant},
    },
    model_server::{ModelServer, Script},
    plugins::with_declaration,
};
use windlass_tests::artefacts;

use crate::{chromium, node, page};

/// The plugins: a tool in JavaScript, a policy and an audit in Rust.
const PLUGINS: [&str; 3] = ["words-js", "policy", "audit"];

/// What all hosts run.
struct Scenario {
    folder: TempDir,
    value: Value,
}

impl Scenario {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (cwd, log) = (root.join("work"), root.join("log"));
        let within = |path: &str| cwd.join(path).display().to_string();
        let call = |name: &str, input: Value| json!({"respond": {"content": [{"type": "tool_use", "name": name, "input": input}]}});
        let exchanges = json!([
            call("CountWords", json!({"file_path": within("text.txt"), "top": 2})),
            call("CountWords", json!({"file_path": root.join("outside.txt")})),
            call("Write", json!({"file_path": within("note.txt"), "content": "by hand\n"})),
            call("Write", json!({"file_path": within("src/note.txt"), "content": "by hand\n"})),
            {"respond": "Counted."},
        ]);
        let value = json!({
            "cwd": cwd,
            "files": {
                within("text.txt"): "tide and tide and wind\n",
                within("src/main.txt"): "main\n",
                root.join("outside.txt").display().to_string(): "not yours\n",
                log.join("audit/begun.txt").display().to_string(): "",
            },
            "plugins": {
                "words-js": {"grant": {"workspace": "read"}},
                "policy": {"grant": {}},
                "audit": {"grant": {"directories": {log.display().to_string(): "write"}}},
            },
            "allowed": ["CountWords", "Write"],
            "prompt": "Count the words.",
            "script": json!({"exchanges": exchanges}).to_string(),
        });
        Self { folder, value }
    }

    /// The scenario as a file, and a directory with the plugins in JavaScript.
    fn for_javascript(&self) -> (PathBuf, PathBuf) {
        let plugins = self.folder.path().join("plugins");
        for name in PLUGINS {
            node::transpile(&component(name, self.folder.path()), name, &plugins);
        }
        let file = self.folder.path().join("scenario.json");
        fs::write(&file, self.value.to_string()).unwrap();
        (file, plugins)
    }

    /// The outcome here, over real files.
    fn here(&self) -> Value {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        for (path, content) in self.value["files"].as_object().unwrap() {
            fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
            fs::write(path, text(content)).unwrap();
        }
        let model =
            ModelServer::start(Script::parse(&text(&self.value["script"])).unwrap()).unwrap();
        let mut agent = Agent::builder()
            .base_url(model.url())
            .api_key("sk-test")
            .cwd(text(&self.value["cwd"]))
            .builtin_tools()
            .allowed_tools(["CountWords", "Write"]);
        let grants = self.value["plugins"].as_object().unwrap();
        for name in PLUGINS {
            agent = agent.plugin_granted(
                component(name, self.folder.path()),
                granted(&grants[name]["grant"]),
            );
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let agent = agent.build().unwrap();
        let prompt = text(&self.value["prompt"]);
        let messages: Vec<Message> =
            runtime.block_on(async { agent.query(prompt).collect().await });
        model
            .verify()
            .unwrap_or_else(|unmet| panic!("{unmet}\n{messages:?}"));
        json!({"ok": true, "answers": answers(&messages), "files": files(&self.value)})
    }
}

/// The component file of a plugin, with its declaration: one in JavaScript or Python is built without, and gets it in this folder.
fn component(name: &str, folder: &Path) -> PathBuf {
    let built = artefacts::plugin(name);
    if !name.ends_with("-js") && !name.ends_with("-python") {
        return built;
    }
    let file = folder.join(format!("{name}.wasm"));
    if !file.exists() {
        let bytes = with_declaration(&fs::read(built).unwrap()).unwrap();
        fs::write(&file, bytes).unwrap();
    }
    file
}

fn granted(grant: &Value) -> PluginGrant {
    let access = |value: &Value| match value.as_str() {
        Some("write") => Access::Write,
        _ => Access::Read,
    };
    let workspace = match &grant["workspace"] {
        Value::Null => PluginGrant::default(),
        given => PluginGrant::workspace(access(given)),
    };
    let directories = grant["directories"].as_object().into_iter().flatten();
    directories.fold(workspace, |grant, (path, given)| {
        grant.directory(path, access(given))
    })
}

/// What `runPlugins` in `tests/browser/plugins.js` makes of the messages.
fn answers(messages: &[Message]) -> Vec<Value> {
    let mut answers = Vec::new();
    for message in messages {
        match message {
            Message::User(user) => {
                let user: Value = serde_json::to_value(user).unwrap();
                for block in user["message"]["content"].as_array().unwrap() {
                    if block["type"] == "tool_result" {
                        let text = match &block["content"] {
                            Value::String(text) => text.clone(),
                            blocks => texts(blocks),
                        };
                        let error = block["is_error"].as_bool().unwrap_or(false);
                        answers.push(
                            json!({"call": block["tool_use_id"], "error": error, "text": text}),
                        );
                    }
                }
            }
            Message::System(SystemMessage::HookResponse(hook)) => answers.push(json!({
                "hook": hook.hook_name, "outcome": hook.outcome, "output": hook.output,
            })),
            _ => {}
        }
    }
    answers
}

fn texts(blocks: &Value) -> String {
    let texts: Vec<&str> = blocks
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}

/// The files of the scenario's folders afterwards.
fn files(scenario: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let cwd = Path::new(scenario["cwd"].as_str().unwrap());
    let root = cwd.parent().unwrap();
    let mut left = vec![cwd.to_owned(), root.join("log"), root.join("outside.txt")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else {
            found.insert(
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            );
        }
    }
    found
}

#[test]
fn card_3_the_same_components_give_the_same_answers_natively_in_node_and_in_chromium() {
    let scenario = Scenario::new();
    let (file, plugins) = scenario.for_javascript();
    let in_node: Value = serde_json::from_str(&node::plugins(&plugins, &file)).unwrap();
    let report = chromium::report_of("/tests/plugins.html", &scenario.value, &plugins);
    let in_chromium: Value = serde_json::from_str(&report).unwrap();
    let mut in_workers = scenario.value.clone();
    in_workers["inWorkers"] = json!(true);
    let report = chromium::report_of("/tests/plugins.html", &in_workers, &plugins);
    let in_workers: Value = serde_json::from_str(&report).unwrap();
    let here = scenario.here();
    assert_eq!(in_node, here);
    assert_eq!(in_chromium, here);
    assert_eq!(in_workers, here);

    // The tool counts, the closed file stays closed, the policy refuses, and the audit has written down what ran.
    let answers = here["answers"].to_string();
    for part in [
        "5 words, 3 different",
        "the policy allows writing below src only",
    ] {
        assert!(answers.contains(part), "{part}: {answers}");
    }
    assert!(!answers.contains("not yours"), "{answers}");
    let written = here["files"].to_string();
    assert!(written.contains(r#"\"tool\":\"CountWords\""#), "{written}");
}

/// A component that never ends, grows, or asks for what it was not granted, in a Worker of a page.
#[test]
fn card_5_components_in_workers_of_a_page_are_ended_and_bounded() {
    node::test("worker-plugins.test.js");
}

/// URLs, redirects, headers, sizes, floods, and servers that repeat secrets: in Node, and in a Worker of a page.
#[test]
fn card_5_components_in_javascript_send_requests_and_secrets_as_granted() {
    node::test("network.test.js");
}

/// Declarations, grants, hooks, and every notation of a secret.
#[test]
fn card_5_components_in_javascript_are_granted_origins_and_secrets_that_they_ask_for() {
    node::test("network-grants.test.js");
}

/// Components in JavaScript, Python and Rust, in Node, in a page and in a Worker of one.
#[test]
fn card_5_real_components_have_requests_secrets_and_files_in_javascript_as_granted() {
    test_components(
        "components.test.js",
        &["connected-js", "connected-python", "weather"],
    );
}

/// What Python's own functions reach, and how it is ended.
#[test]
fn card_5_components_in_python_have_wasi_in_javascript_as_granted() {
    test_components(
        "python-components.test.js",
        &["csv-python", "misbehaves-python"],
    );
}

/// Components as files, which become JavaScript where they are loaded: in Node, and in a Worker of a page.
#[test]
fn card_5_a_component_is_loaded_as_it_is() {
    let components = page::components();
    let folder = components.path().to_owned();
    node::test_in_newer(
        "load-components.test.js",
        [("WINDLASS_PAGE_COMPONENTS", folder)],
    );
}

/// Runs a file of tests with what jco makes of these components.
fn test_components(file: &str, names: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let transpiled = folder.path().join("transpiled");
    for name in names {
        node::transpile(&component(name, folder.path()), name, &transpiled);
    }
    node::test_in_newer(file, [("WINDLASS_TRANSPILED", transpiled)]);
}

/// The view of files, whole writes, the log, handles, and what there is nothing of.
#[test]
fn card_5_wasi_in_javascript_has_nothing_behind_it_that_was_not_granted() {
    node::test("wasi.test.js");
}

#[test]
fn card_5_durable_state_in_javascript_is_kept_as_granted() {
    node::test("plugin-state.test.js");
}

#[test]
fn card_5_names_are_judged_before_a_component_in_node_reaches_them() {
    node::test("judged-fetch.test.js");
}

#[test]
fn card_5_results_of_components_in_javascript_count_as_natively() {
    node::test("component-results.test.js");
}

#[test]
fn card_5_instances_in_javascript_are_kept_for_a_session() {
    node::test("kept-instances.test.js");
}
