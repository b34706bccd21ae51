//! `windlass plugin check`: what a component is, before anybody trusts it.

use std::fmt::Write as _;

use serde_json::json;
use windlass::plugins::{
    DeclaredHook, DeclaredHookKind, DeclaredLimits, DeclaredTool, InspectError, InspectedComponent,
    Inspection, InstanceScope,
};
use windlass_core::tool::Access;

use super::declared_grants;
use crate::cli::{
    Exit,
    plain::{fit, one_line},
    plugin_args::PluginCheckArgs,
    start_error::StartError,
};

/// The columns that the description of a tool may take.
const DESCRIPTION: usize = 72;

/// What a component is: the text, and the exit code 1 where no host would load it.
///
/// # Errors
/// [`StartError`]: the file cannot be read.
pub(super) fn check(args: &PluginCheckArgs) -> Result<(String, Exit), StartError> {
    let component = match InspectedComponent::read(&args.file) {
        Ok(component) => component,
        Err(InspectError::Io(error)) => {
            return Err(StartError::File {
                what: "the component",
                path: args.file.clone(),
                reason: error.to_string(),
            });
        }
        Err(fault) if args.json => {
            let refused = json!({"loads": false, "problem": fault.to_string()});
            return Ok((format!("{refused}\n"), Exit::Failed));
        }
        Err(fault) => {
            let name = args.file.display();
            return Ok((
                format!("{name} would not be loaded: {fault}\n"),
                Exit::Failed,
            ));
        }
    };
    let doubts = doubts(component.inspection());
    let text = match args.json {
        true => format!("{}\n", as_json(&component, &doubts)),
        false => as_text(&component, &doubts),
    };
    Ok((text, Exit::Done))
}

/// What loads, but does not do what its author may think.
fn doubts(inspection: &Inspection) -> Vec<String> {
    let declaration = &inspection.declaration;
    let mut doubts = Vec::new();
    let of_roles = declaration
        .grants
        .directories
        .iter()
        .map(|asked| asked.access);
    let granted = declaration.grants.filesystem.access().max(of_roles.max());
    for tool in &declaration.tools {
        let name = one_line(&tool.name);
        if tool.description.trim().is_empty() {
            doubts.push(format!(
                "{name} has no description: a model cannot know what it is for"
            ));
        }
        let beyond = tool
            .paths
            .iter()
            .filter(|path| granted.is_none_or(|most| path.access > most));
        for path in beyond {
            doubts.push(format!(
                "{name} wants to {} `{}`, but the plugin asks for {}: every call with it is refused",
                verb(path.access),
                one_line(&path.field),
                granted.map_or("no files", |_| "files to read only"),
            ));
        }
    }
    doubts
}

fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

fn as_json(component: &InspectedComponent, doubts: &[String]) -> serde_json::Value {
    let inspection = component.inspection();
    let declaration = &inspection.declaration;
    let limits = &declaration.limits;
    let tool = |tool: &DeclaredTool| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "readOnly": tool.annotations.read_only,
            "paths": tool.paths,
        })
    };
    let hook = |hook: &DeclaredHook| {
        json!({
            "name": hook.name,
            "event": hook.event,
            "matcher": hook.matcher,
            "kind": hook.kind.word(),
            "timeout_ms": hook.timeout_ms,
        })
    };
    json!({
        "loads": true,
        "name": declaration.name,
        "version": declaration.version,
        "wit": declaration.wit,
        "digest": component.digest(),
        "bytes": component.size(),
        "imports": inspection.imports,
        "filesystem": declaration.grants.filesystem.access().map(verb),
        "directories": declared_grants::directories_as_json(&declaration.grants),
        "http": declaration.grants.http,
        "secrets": declared_grants::secrets_as_json(&declaration.grants),
        "env": declaration.grants.env,
        "state": declaration.grants.state,
        "instance": declaration.instance,
        "limits": {
            "memory_bytes": limits.memory_bytes,
            "timeout_ms": limits.timeout_ms,
            "output_bytes": limits.output_bytes,
            "log_bytes": limits.log_bytes,
            "host_calls": limits.host_calls,
            "http_bytes": limits.http_bytes,
        },
        "tools": declaration.tools.iter().map(tool).collect::<Vec<_>>(),
        "hooks": declaration.hooks.iter().map(hook).collect::<Vec<_>>(),
        "doubts": doubts,
    })
}

fn as_text(component: &InspectedComponent, doubts: &[String]) -> String {
    let inspection = component.inspection();
    let declaration = &inspection.declaration;
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {label:<9} {value}");
    };
    line("digest", component.digest());
    line("size", &format!("{} bytes", component.size()));
    line(
        "made for",
        &format!("windlass:plugin {}", one_line(&declaration.wit)),
    );
    line("imports", &listed(&inspection.imports));
    let files = declaration.grants.filesystem.access();
    let files = match files {
        None => "none",
        Some(Access::Read) => "reading, where it is granted",
        Some(Access::Write) => "reading and writing, where it is granted",
    };
    line("files", files);
    for (label, value) in declared_grants::as_lines(&declaration.grants) {
        line(label, &value);
    }
    if declaration.instance == InstanceScope::Session {
        line("instance", "keeps its memory for the session");
    }
    line("limits", &limits(&declaration.limits));
    for tool in &declaration.tools {
        let about = one_line(&tool.description);
        line(
            "tool",
            &format!("{}: {}", one_line(&tool.name), fit(&about, DESCRIPTION)),
        );
        for path in &tool.paths {
            let does = verb(path.access);
            line(
                "",
                &format!("{does}s the file in `{}`", one_line(&path.field)),
            );
        }
    }
    for hook in &declaration.hooks {
        line("hook", &hook_line(hook));
    }
    for doubt in doubts {
        line("but", doubt);
    }
    let (name, version) = (one_line(&declaration.name), one_line(&declaration.version));
    format!("{name} {version}\n{text}")
}

/// A hook with its event, what it runs for, and what it may do.
fn hook_line(hook: &DeclaredHook) -> String {
    let matcher = one_line(&hook.matcher.to_string());
    let of = match matcher.as_str() {
        "" => hook.event.name().to_owned(),
        matcher => format!("{} of {matcher}", hook.event.name()),
    };
    let does = match hook.kind {
        DeclaredHookKind::Judge => "judge: may refuse, ask and narrow",
        DeclaredHookKind::Observer => "observer: sees, and changes nothing",
    };
    format!("{}: {of} ({does})", one_line(&hook.name))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => one_line(&names.join(", ")),
    }
}

fn limits(limits: &DeclaredLimits) -> String {
    let number = |number: Option<String>, of: &str| number.map(|number| format!("{number} {of}"));
    let bytes = |bytes: Option<usize>, of: &str| number(bytes.map(|b| b.to_string()), of);
    let count = |count: Option<u32>, of: &str| number(count.map(|n| n.to_string()), of);
    let all: Vec<String> = [
        bytes(limits.memory_bytes, "bytes of memory"),
        count(limits.timeout_ms, "ms"),
        bytes(limits.output_bytes, "bytes of result"),
        bytes(limits.log_bytes, "bytes of log"),
        count(limits.host_calls, "calls of the host"),
        bytes(limits.http_bytes, "bytes over HTTP"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match all.is_empty() {
        true => "those of the host".to_owned(),
        false => all.join(", "),
    }
}
