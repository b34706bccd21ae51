//! Queries of the SDK: settings, models, rules, skills, output of commands.

use serde_json::{Value, json};
use windlass_core::permission::Source;

use super::Engine;
use crate::protocol::{
    initialize,
    reply::{Reply, ReplyError},
};

impl Engine {
    pub(super) fn settings(&self) -> Value {
        let prepared = self.prepared.as_ref();
        let described = prepared.map(|it| it.config.described_settings());
        let (effective, sources) = described.unwrap_or_else(|| (json!({}), json!([])));
        let effort = prepared.and_then(|it| {
            let model = &it.spec().model;
            let facts = model.catalogue.get(&self.model());
            facts.map_or(model.effort, |facts| facts.effort(model.effort))
        });
        json!({
            "effective": effective, "sources": sources,
            "applied": {"model": self.model(), "effort": effort.map(windlass_core::spec::Effort::name),
                "ultracodeAvailable": false, "ultracodeRequested": false},
        })
    }

    pub(super) fn models(&self) -> Reply {
        let prepared = self.prepared.as_ref();
        let models = prepared.map(|it| it.models());
        Reply::with(json!({"models": initialize::models(&models.unwrap_or_default())}))
    }

    pub(super) fn permission_rules(&self) -> Value {
        let mut rules = Vec::new();
        if let Some(prepared) = &self.prepared {
            let policy = &prepared.spec().policy.permissions;
            let session = self.session.as_ref();
            let all = session.map_or(&policy.rules, |it| {
                it.core_session().permissions().rules(policy)
            });
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
        let environment = self.prepared.as_ref().map(|it| &it.spec().environment);
        let launched = environment.map(|it| it.additional_directories.clone());
        let launched = launched.unwrap_or_default();
        let session = self.session.as_ref().map(|session| session.core_session());
        let directories = match (session, environment) {
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
            "originalCwd": self.cwd(), "managedOnly": false,
        }})
    }

    /// The skills, in the format of the command list.
    pub(super) fn skills(&self) -> Vec<Value> {
        let skills = self.prepared.iter().flat_map(|it| &it.spec().tools.skills);
        skills
            .map(|skill| {
                let hint = skill.argument_hint.as_deref().unwrap_or_default();
                json!({"name": skill.name, "description": skill.description, "argumentHint": hint})
            })
            .collect()
    }

    /// Announces the current list of slash commands.
    pub(super) fn emit_commands(&mut self) {
        let prepared = self.prepared.as_ref();
        let commands = prepared.map(|it| it.spec().initialization().commands);
        let changed = json!({"commands": commands.unwrap_or_default()});
        self.outbox
            .say(|frames| vec![frames.system("commands_changed", changed)]);
    }

    /// The end of a background command's output: at most the last 8 KiB, because applications poll it.
    pub(super) fn task_output(&self, task_id: &str) -> Reply {
        const MOST: usize = 8 * 1024;
        let session = self.session.as_ref().map(|session| session.core_session());
        let output = session.and_then(|session| session.task_output(task_id));
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
    pub(super) fn cwd(&self) -> &str {
        match &self.prepared {
            Some(prepared) => &prepared.spec().environment.cwd,
            None => &self.launch.cwd,
        }
    }
}

/// Where a rule of this source can be edited.
fn editability(source: Source) -> &'static str {
    match source {
        Source::UserSettings | Source::ProjectSettings | Source::LocalSettings => "persistent",
        Source::CliArg | Source::Session => "session",
        _ => "readonly",
    }
}
