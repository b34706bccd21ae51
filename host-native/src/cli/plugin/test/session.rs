//! A session in which a scripted model calls the tools of a plugin, in a folder of its own.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs, mem,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use secrecy::SecretString;
use serde_json::{Value, json};
use windlass::{
    Agent,
    core::{
        Message,
        tool::{Access, PluginGrant},
    },
    model_server::{ModelServer, Script},
    plugins::{
        Cache, CallLimits, CallUsage, ComponentGrant, Declaration, DeclaredLimits,
        InspectedComponent, PluginHost, PluginHostConfig, SecretSource, StateScope, UsageSink,
    },
};

use super::{
    case::{Call, Case, Content, Remains},
    hook_events::Event,
    recorded::Recording,
};
use crate::cli::plugin::error::AuthorError;

/// Tools that a test may call beside those of the plugin, so that its hooks have something to judge: Read, Glob, Grep, Write and Edit
/// in its folder, and nowhere else.
const BUILT_IN: [&str; 2] = ["Read(./**)", "Edit(./**)"];

/// What became of a call.
pub(super) struct Outcome {
    /// The tool and its input.
    pub(super) call: String,
    /// What the model reads.
    pub(super) text: String,
    /// What it used; none if the component was not called at all.
    pub(super) usage: Option<CallUsage>,
    /// The limits that the plugin declares.
    pub(super) limits: DeclaredLimits,
    /// What is not as the test expects.
    pub(super) faults: Vec<String>,
}

/// What a session showed of one call.
#[derive(Debug, Default)]
struct Seen {
    text: String,
    is_error: bool,
    usage: Option<CallUsage>,
    /// What it requested without being expected to.
    unexpected: Vec<String>,
}

/// What the last call used, until somebody looks.
#[derive(Debug, Clone, Default)]
struct Used(Arc<Mutex<Option<CallUsage>>>);

impl Used {
    fn sink(&self) -> UsageSink {
        let used = self.clone();
        UsageSink::new(move |usage| {
            *used.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
        })
    }

    fn take(&self) -> Option<CallUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What the runs of a test have in common.
struct Ground<'a> {
    component: &'a Path,
    inspected: InspectedComponent,
    declaration: Declaration,
    /// The workspace.
    folder: PathBuf,
    host: PluginHost,
    grant: ComponentGrant,
    recording: Recording,
    used: Used,
}

/// Runs a test: the events of hooks, and the session.
///
/// # Errors
/// [`AuthorError`]: it does not start.
pub(super) async fn run(component: &Path, case: &Case) -> Result<Vec<Outcome>, AuthorError> {
    let inspected = InspectedComponent::read(component);
    let inspected = inspected.map_err(AuthorError::of_component(component))?;
    let declaration = inspected.inspection().declaration.clone();
    let folder = workspace(&case.files)?;
    let real = fs::canonicalize(folder.path()).map_err(AuthorError::at(folder.path()))?;
    for role in case.directories.values() {
        let path = real.join(role);
        fs::create_dir_all(&path).map_err(AuthorError::at(&path))?;
    }
    let used = Used::default();
    let recording = Recording::new(&case.http);
    let ground = Ground {
        component,
        inspected,
        host: host(&used, &recording, case),
        grant: grant(&real, &declaration, case),
        declaration,
        folder: real,
        recording,
        used,
    };
    let mut outcomes = hooks(&ground, &case.hooks).await?;
    if !case.calls.is_empty() {
        outcomes.extend(calls(&ground, case).await?);
    }
    if let Some(last) = outcomes.last_mut() {
        last.faults.extend(ground.recording.unasked());
        last.faults.extend(left_behind(&ground.folder, &case.after));
    }
    Ok(outcomes)
}

/// Gives hooks their events, one after the other.
async fn hooks(ground: &Ground<'_>, events: &[Event]) -> Result<Vec<Outcome>, AuthorError> {
    let unable = |error: &dyn Display| AuthorError::Session(error.to_string());
    let name = ground.component.display().to_string();
    let plugin = ground.host.load_inspected(&name, &ground.inspected);
    let plugin = (plugin.granted(&ground.grant)).map_err(|error| unable(&error))?;
    let mut outcomes = Vec::new();
    for event in events {
        let heard = event.give(&plugin, &ground.folder).await;
        let usage = ground.used.take();
        let mut faults = heard.faults;
        faults.extend(usage.iter().flat_map(|usage| event.at_most.faults(usage)));
        faults.extend(ground.recording.faults());
        outcomes.push(Outcome {
            call: format!("{} {}", event.hook, Value::from(event.input.clone())),
            text: heard.text,
            usage,
            limits: ground.declaration.limits.clone(),
            faults,
        });
    }
    Ok(outcomes)
}

/// Runs the session in which the model makes the calls.
async fn calls(ground: &Ground<'_>, case: &Case) -> Result<Vec<Outcome>, AuthorError> {
    let unable = |error: &dyn Display| AuthorError::Session(error.to_string());
    let server = ModelServer::start(script(case)?).map_err(|error| unable(&error))?;
    let tools = ground.declaration.tools.iter();
    let seen = Arc::<Mutex<Vec<Seen>>>::default();
    let agent = Agent::builder()
        .api_key("none")
        .base_url(server.url())
        .model("claude-sonnet-4-6")
        .cwd(&ground.folder)
        .plugin_host(ground.host.clone())
        .builtin_tools()
        .plugin_inspected(
            ground.component,
            ground.inspected.clone(),
            ground.grant.clone(),
        )
        .allowed_tools(BUILT_IN)
        .allowed_tools(tools.map(|tool| tool.name.as_str()))
        .on_message(watch(Arc::clone(&seen), ground))
        .build()
        .map_err(|error| unable(&error))?;
    agent.run("go").await.map_err(|error| unable(&error))?;
    server.verify().map_err(|unmet| unable(&unmet))?;

    let mut seen = mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
    let outcomes = case.calls.iter().map(|call| {
        let limits = ground.declaration.limits.clone();
        judge(call, seen.next().unwrap_or_default(), limits)
    });
    Ok(outcomes.collect())
}

/// What a test grants: the workspace, by its path, so that hooks reach it too, memory for the session, the secrets and
/// variables that it has values for, the folders that it names for roles, with the declared access, and, if it has answers to requests, the declared
/// origins.
fn grant(workspace: &Path, declaration: &Declaration, case: &Case) -> ComponentGrant {
    let path = workspace.to_string_lossy().into_owned();
    let directories = PluginGrant::default().directory(path, Access::Write);
    let state = declaration.grants.state.min(StateScope::Session);
    let mut grant = ComponentGrant::from(directories).state(state);
    if !case.http.is_empty() {
        grant.http.clone_from(&declaration.grants.http);
    }
    for (role, folder) in &case.directories {
        let mut asked = declaration.grants.directories.iter();
        let access = asked.find(|asked| asked.role == *role);
        let access = access.map_or(Access::Read, |asked| asked.access);
        grant = grant.role(role, workspace.join(folder).to_string_lossy(), access);
    }
    for name in case.env.keys() {
        grant = grant.env(name);
    }
    let secrets = case.secrets.keys();
    secrets.fold(grant, |grant, name| grant.secret(name, name))
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

/// How long a call waits for its component to be compiled: a test is not about that, and one in Python takes a minute on a slow machine.
const COMPILING: Duration = Duration::from_mins(10);

/// A host that says what each call used, and has neither a network nor any secret or variable but those of the test.
fn host(used: &Used, recording: &Recording, case: &Case) -> PluginHost {
    let secrets = case.secrets.clone();
    let secrets = SecretSource::new(move |wanted| {
        let value = secrets.get(wanted.reference)?;
        Some(SecretString::from(value.as_str()))
    });
    PluginHost::new(PluginHostConfig {
        cache: Cache::of_user(),
        limits: CallLimits {
            compiling: COMPILING,
            ..CallLimits::default()
        },
        usage: Some(used.sink()),
        recorded: Some(recording.network()),
        secrets,
        variables: Some(Arc::new(case.env.clone())),
        ..PluginHostConfig::default()
    })
}

/// Notes the result of every call, and what it used.
fn watch(
    seen: Arc<Mutex<Vec<Seen>>>,
    ground: &Ground<'_>,
) -> impl Fn(&Message) + Send + Sync + use<> {
    let (used, recording) = (ground.used.clone(), ground.recording.clone());
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
                        usage: used.take(),
                        unexpected: recording.faults(),
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

fn judge(call: &Call, seen: Seen, limits: DeclaredLimits) -> Outcome {
    let mut faults = call.expect.faults(&seen.text, seen.is_error);
    faults.extend(seen.unexpected);
    if let Some(usage) = &seen.usage {
        faults.extend(call.at_most.faults(usage));
    }
    Outcome {
        call: format!("{} {}", call.tool, call.input),
        text: seen.text,
        usage: seen.usage,
        limits,
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
