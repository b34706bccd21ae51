//! A session in which a scripted model calls the tools of a plugin, in a folder of its own.

use std::{
    collections::BTreeMap,
    fs, mem,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};
use windlass::{
    Agent,
    core::{
        Message,
        tool::{Access, PluginGrant},
    },
    model_server::{ModelServer, Script},
    plugins::{
        CallUsage, ComponentGrant, Declaration, Inspection, PluginHost, PluginHostConfig,
        StateScope, UsageSink,
    },
};

use super::case::{Call, Case, Content, Remains};
use crate::cli::plugin::error::AuthorError;

/// Tools that a test may call beside those of the plugin, so that its hooks have something to judge.
const BUILT_IN: [&str; 5] = ["Read", "Write", "Edit", "Glob", "Grep"];

/// What became of a call.
pub(super) struct Outcome {
    /// The tool and its input.
    pub(super) call: String,
    /// What the model reads.
    pub(super) text: String,
    /// What it used; none if the component was not called at all.
    pub(super) usage: Option<CallUsage>,
    /// The limit of memory that the plugin declares, in bytes.
    pub(super) memory_limit: Option<usize>,
    /// What is not as the test expects.
    pub(super) faults: Vec<String>,
}

/// What a session showed of one call.
#[derive(Debug, Default)]
struct Seen {
    text: String,
    is_error: bool,
    usage: Option<CallUsage>,
}

/// Runs the session of a test.
///
/// # Errors
/// [`AuthorError`]: the session does not start.
pub(super) async fn run(component: &Path, case: &Case) -> Result<Vec<Outcome>, AuthorError> {
    let session = |error: &dyn std::fmt::Display| AuthorError::Session(error.to_string());
    let bytes = fs::read(component).map_err(AuthorError::at(component))?;
    let declaration = Inspection::of(&bytes)?.declaration;
    let folder = workspace(&case.files)?;
    let real = fs::canonicalize(folder.path()).map_err(AuthorError::at(folder.path()))?;
    let server = ModelServer::start(script(case)?).map_err(|error| session(&error))?;

    let used = Arc::<Mutex<Option<CallUsage>>>::default();
    let seen = Arc::<Mutex<Vec<Seen>>>::default();
    let agent = Agent::builder()
        .api_key("none")
        .base_url(server.url())
        .model("claude-sonnet-4-6")
        .cwd(folder.path())
        .plugin_host(host(Arc::clone(&used)))
        .builtin_tools()
        .plugin_granted(component, grant(&real, &declaration))
        .allowed_tools(BUILT_IN)
        .allowed_tools(declaration.tools.iter().map(|tool| tool.name.as_str()))
        .on_message(watch(Arc::clone(&seen), used))
        .build()
        .map_err(|error| session(&error))?;
    agent.run("go").await.map_err(|error| session(&error))?;
    server.verify().map_err(|unmet| session(&unmet))?;

    let mut seen = mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
    let outcomes = case.calls.iter().map(|call| {
        judge(
            call,
            seen.next().unwrap_or_default(),
            declaration.limits.memory_bytes,
        )
    });
    let mut outcomes: Vec<Outcome> = outcomes.collect();
    if let Some(last) = outcomes.last_mut() {
        last.faults.extend(left_behind(folder.path(), &case.after));
    }
    Ok(outcomes)
}

/// What a test grants: the workspace, by its path, so that hooks reach it too, and memory for the session. No network and no
/// secret, because a test has neither.
fn grant(workspace: &Path, declaration: &Declaration) -> ComponentGrant {
    let path = workspace.to_string_lossy().into_owned();
    let directories = PluginGrant::default().directory(path, Access::Write);
    ComponentGrant::from(directories).state(declaration.grants.state.min(StateScope::Session))
}

/// A folder with these files.
fn workspace(files: &BTreeMap<String, Content>) -> Result<tempfile::TempDir, AuthorError> {
    let folder = tempfile::tempdir().map_err(AuthorError::at(std::env::temp_dir()))?;
    for (name, content) in files {
        let path = folder.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(AuthorError::at(parent))?;
        }
        let bytes = content
            .bytes()
            .map_err(|error| AuthorError::Session(error.to_string()))?;
        fs::write(&path, bytes).map_err(AuthorError::at(&path))?;
    }
    Ok(folder)
}

/// A model that makes the calls one after the other.
fn script(case: &Case) -> Result<Script, AuthorError> {
    let calls = case.calls.iter().map(|call| {
        let mut block = json!({"type": "tool_use", "name": call.tool, "input": call.input});
        if let Some(id) = &call.id {
            block["id"] = id.as_str().into();
        }
        json!({"respond": {"content": [block]}})
    });
    let exchanges: Vec<Value> = calls.chain([json!({"respond": "done"})]).collect();
    let script = json!({ "exchanges": exchanges }).to_string();
    Script::parse(&script).map_err(|error| AuthorError::Session(error.to_string()))
}

/// A host that compiles anew and says what each call used.
fn host(used: Arc<Mutex<Option<CallUsage>>>) -> PluginHost {
    let usage = UsageSink::new(move |usage| {
        *used.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
    });
    PluginHost::new(PluginHostConfig {
        usage: Some(usage),
        ..PluginHostConfig::default()
    })
}

/// Notes the result of every call, and what it used.
fn watch(
    seen: Arc<Mutex<Vec<Seen>>>,
    used: Arc<Mutex<Option<CallUsage>>>,
) -> impl Fn(&Message) + Send + Sync {
    move |message| {
        let Ok(message) = serde_json::to_value(message) else {
            return;
        };
        if message["type"] != "user" {
            return;
        }
        let blocks = message["message"]["content"].as_array();
        for block in blocks.into_iter().flatten() {
            if block["type"] == "tool_result" {
                seen.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(Seen {
                        text: text(&block["content"]),
                        is_error: block["is_error"] == true,
                        usage: used.lock().unwrap_or_else(PoisonError::into_inner).take(),
                    });
            }
        }
    }
}

/// The text of a tool result: a string, or blocks of which some are texts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn judge(call: &Call, seen: Seen, memory_limit: Option<usize>) -> Outcome {
    let mut faults = call.expect.faults(&seen.text, seen.is_error);
    if let Some(usage) = &seen.usage {
        faults.extend(call.at_most.faults(usage));
    }
    Outcome {
        call: format!("{} {}", call.tool, call.input),
        text: seen.text,
        usage: seen.usage,
        memory_limit,
        faults,
    }
}

/// Files that are not as the test expects them at the end.
fn left_behind(folder: &Path, after: &BTreeMap<String, Remains>) -> Vec<String> {
    after
        .iter()
        .filter_map(
            |(name, expected)| match fs::read_to_string(folder.join(name)) {
                Ok(text) => expected.fault(name, &text),
                Err(error) => Some(format!("`{name}` cannot be read at the end: {error}")),
            },
        )
        .collect()
}
