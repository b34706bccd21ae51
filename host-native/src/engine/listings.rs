//! What an SDK can look up: settings, models, rules, hooks, skills, files.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use windlass_core::permission::Source;
use windlass_engine::protocol::reply::{Reply, ReplyError};

use super::actor::Engine;

/// The most that `read_file` gives where no limit is asked for.
const READ_LIMIT: u64 = 512 * 1024;

impl Engine {
    pub(super) fn settings(&self) -> Value {
        let surroundings = self
            .prepared
            .as_ref()
            .map(|it| it.blueprint.surroundings.describe());
        let (effective, sources) = surroundings.unwrap_or_else(|| (json!({}), json!([])));
        let effort = self
            .prepared
            .as_ref()
            .and_then(|it| it.blueprint.spec.effort);
        json!({
            "effective": effective, "sources": sources,
            "applied": {"model": self.model(), "effort": effort.map(windlass_core::spec::Effort::name)},
        })
    }

    pub(super) fn models(&self) -> Reply {
        let models = self
            .prepared
            .as_ref()
            .map(|it| it.blueprint.spec.initialization().models);
        Reply::with(json!({"models": models.unwrap_or_default()}))
    }

    pub(super) fn permission_rules(&self) -> Value {
        let mut rules = Vec::new();
        if let Some(prepared) = &self.prepared {
            let policy = &prepared.blueprint.spec.permissions;
            let session = self
                .live
                .as_ref()
                .map(|live| live.session.look().permissions().clone());
            let all = session
                .as_ref()
                .map_or(&policy.rules, |session| session.rules(policy));
            for (behavior, list) in [
                ("allow", &all.allow),
                ("ask", &all.ask),
                ("deny", &all.deny),
            ] {
                rules.extend(list.iter().map(|rule| {
                    json!({
                        "behavior": behavior, "rule": rule.to_string(), "source": rule.source(),
                        "editability": editability(rule.source()),
                    })
                }));
            }
        }
        let environment = self
            .prepared
            .as_ref()
            .map(|it| &it.blueprint.spec.environment);
        let launched = environment.map(|it| it.additional_directories.clone());
        let launched = launched.unwrap_or_default();
        let session = self.live.as_ref().map(|live| live.session.look());
        let directories = match (&session, environment) {
            (Some(session), Some(environment)) => session.permissions().directories(environment),
            _ => &launched,
        };
        let directories: Vec<Value> = directories
            .iter()
            .map(|path| {
                let source = if launched.contains(path) {
                    "cliArg"
                } else {
                    "session"
                };
                json!({"path": path, "source": source})
            })
            .collect();
        json!({"state": {
            "rules": rules, "workspaceDirectories": directories,
            "originalCwd": self.cwd().display().to_string(), "managedOnly": false,
        }})
    }

    /// The skills, as commands are listed.
    pub(super) fn skills(&self) -> Vec<Value> {
        let skills = self
            .prepared
            .iter()
            .flat_map(|it| &it.blueprint.spec.skills);
        skills
            .map(|skill| {
                let hint = skill.argument_hint.as_deref().unwrap_or_default();
                json!({"name": skill.name, "description": skill.description, "argumentHint": hint})
            })
            .collect()
    }

    /// Says what a prompt may begin with by now.
    pub(super) async fn say_commands(&self) {
        let spec = self.prepared.as_ref().map(|it| &it.blueprint.spec);
        let commands = spec.map(|spec| spec.initialization().commands);
        let changed = json!({"commands": commands.unwrap_or_default()});
        self.output
            .say(|frames| vec![frames.system("commands_changed", changed)])
            .await;
    }

    /// The end of what a background command has put out: at most the last 8 KiB, as those who look at it again and again
    /// want it.
    pub(super) fn task_output(&self, task_id: &str) -> Reply {
        const MOST: usize = 8 * 1024;
        let session = self.live.as_ref().map(|live| live.session.look());
        let output = session
            .as_ref()
            .and_then(|session| session.task_output(task_id));
        let Some(output) = output else {
            let text = format!("no command of this session runs, or ran, as task {task_id}");
            return ReplyError::new(text).into();
        };
        let mut from = output.text.len().saturating_sub(MOST);
        while !output.text.is_char_boundary(from) {
            from += 1;
        }
        Reply::with(json!({
            "output": &output.text[from..], "total_bytes": output.text.len(),
            "truncated": from > 0 || output.is_cut,
        }))
    }

    /// The working directory.
    pub(super) fn cwd(&self) -> PathBuf {
        let of_spec = self
            .prepared
            .as_ref()
            .map(|it| it.blueprint.spec.environment.cwd.clone());
        of_spec.map_or_else(
            || {
                self.launch
                    .cwd
                    .clone()
                    .unwrap_or_else(|| PathBuf::from("."))
            },
            PathBuf::from,
        )
    }
}

/// Where a rule can be changed.
fn editability(source: Source) -> &'static str {
    match source {
        Source::UserSettings | Source::ProjectSettings | Source::LocalSettings => "persistent",
        Source::CliArg | Source::Session => "session",
        _ => "readonly",
    }
}

/// A file, as its reader wants it.
pub(super) fn read_file(
    cwd: &Path,
    path: &str,
    max_bytes: Option<u64>,
    encoding: Option<&str>,
) -> Result<Value, ReplyError> {
    let asked = cwd.join(path);
    let fault = |error: std::io::Error| ReplyError::new(format!("{path}: {error}"));
    let real = fs::canonicalize(&asked).map_err(fault)?;
    let file = fs::File::open(&real).map_err(fault)?;
    if !file.metadata().map_err(fault)?.is_file() {
        return Err(ReplyError::new(format!("{path}: it is not a file")));
    }
    let limit = max_bytes.unwrap_or(READ_LIMIT).min(READ_LIMIT);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(fault)?;
    let (contents, lossy) = match encoding {
        Some("base64") => (STANDARD.encode(&bytes), false),
        _ => match String::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        },
    };
    Ok(
        json!({"contents": contents, "absPath": real.display().to_string(), "lossy": lossy, "requested_path": path}),
    )
}

/// Files of a folder whose names begin with what was typed.
pub(super) fn suggestions(cwd: &Path, query: &str) -> Value {
    const MOST: usize = 20;
    let (folder, begin) = query
        .rsplit_once('/')
        .map_or(("", query), |(folder, begin)| (folder, begin));
    let entries = fs::read_dir(cwd.join(folder))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            name.starts_with(begin) && (begin.starts_with('.') || !name.starts_with('.'))
        })
        .map(|name| match folder {
            "" => name,
            folder => format!("{folder}/{name}"),
        })
        .collect();
    names.sort_unstable();
    names.truncate(MOST);
    let suggestions: Vec<Value> = names
        .into_iter()
        .map(|path| json!({"path": path}))
        .collect();
    json!({"suggestions": suggestions, "cwd": cwd.display().to_string()})
}
