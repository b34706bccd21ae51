//! `windlass plugin check`: what a component is, before anybody trusts it.

use std::io;

use serde_json::json;
use windlass::plugins::{
    DeclaredHook, DeclaredHookKind, DeclaredLimits, DeclaredTool, InspectError, InspectedComponent,
    Inspection, InstanceScope, LoadFault,
};
use windlass_core::tool::{Access, PathParam};

use super::{
    declared_grants,
    install::{CheckedFolder, check_folder},
    report::Report,
};
use crate::cli::{
    Exit,
    plain::{fit, one_line},
    plugin_args::PluginCheckArgs,
    start_error::StartError,
};

/// The columns that the description of a tool may take.
const DESCRIPTION: usize = 72;

/// What a component or a folder is: the text, and the exit code 1 where no host would load it.
///
/// # Errors
/// [`StartError`]: it cannot be read.
pub(super) fn check(args: &PluginCheckArgs) -> Result<(Report, Exit), StartError> {
    if args.file.is_dir() {
        return Ok(match check_folder(&args.file) {
            Ok(folder) if args.json => (Report::of_json(&folder_as_json(&folder)), Exit::Done),
            Ok(folder) => (folder_as_text(&folder), Exit::Done),
            Err(fault) => refused(args, &fault.to_string()),
        });
    }
    let component = match InspectedComponent::read(&args.file) {
        Ok(component) => component,
        Err(InspectError::Io(error)) => {
            return Err(StartError::File {
                what: "the component",
                path: args.file.clone(),
                reason: match error.kind() {
                    io::ErrorKind::NotFound => {
                        "there is no such file. Name a component (.wasm) or the folder of a plugin on this machine".to_owned()
                    }
                    _ => error.to_string(),
                },
            });
        }
        Err(InspectError::Fault(fault)) => return Ok(refused(args, &with_remedy(&fault))),
        Err(fault) => return Ok(refused(args, &fault.to_string())),
    };
    if let Err(fault) = component.check_code() {
        return Ok(refused(args, &with_remedy(&fault)));
    }
    let report = match args.json {
        true => Report::of_json(&as_json(&component)),
        false => as_text(&component),
    };
    Ok((report, Exit::Done))
}

/// What is wrong, and what to do. What a file is, this command says itself.
fn with_remedy(fault: &LoadFault) -> String {
    format!("{fault}: {}", fault.remedy())
}

/// What no host would load.
fn refused(args: &PluginCheckArgs, problem: &str) -> (Report, Exit) {
    let report = match args.json {
        true => Report::of_json(&json!({"loads": false, "problem": problem})),
        false => {
            let mut report = Report::default();
            let name = args.file.display();
            report.line(&format!("{name} would not be loaded: {problem}"));
            report
        }
    };
    (report, Exit::Failed)
}

fn folder_as_json(folder: &CheckedFolder) -> serde_json::Value {
    let components = folder.components.iter().map(|(file, component)| {
        let mut value = as_json(component);
        value["file"] = json!(file);
        value
    });
    json!({
        "loads": true,
        "folder": true,
        "name": folder.name,
        "version": folder.version,
        "digest": folder.digest,
        "programs": folder.programs,
        "commands": folder.texts.commands,
        "agents": folder.texts.agents,
        "skills": folder.texts.skills,
        "output_styles": folder.texts.output_styles,
        "doubts": folder.texts.doubts,
        "components": components.collect::<Vec<_>>(),
    })
}

/// A folder, and below it its components.
fn folder_as_text(folder: &CheckedFolder) -> Report {
    let mut report = Report::default();
    report.line(&format!("{} {}", folder.name, folder.version));
    report.labelled("digest", &folder.digest);
    for program in &folder.programs {
        report.labelled("asks to", program);
    }
    for (kind, names) in folder.texts.kinds() {
        report.labelled(kind, &listed(names));
    }
    if folder.components.is_empty() {
        report.labelled("holds", "no components");
    }
    for file in folder.components.keys() {
        report.labelled("holds", file);
    }
    for doubt in &folder.texts.doubts {
        report.labelled("but", doubt);
    }
    let components = folder.components.values();
    components.fold(report, |report, component| report.with(&as_text(component)))
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
        let has_field = |path: &&PathParam| tool.has_field(&path.field);
        for path in tool.paths.iter().filter(|path| !has_field(path)) {
            doubts.push(format!(
                "{name} has the path `{}`, which its input_schema does not have as a property: a model does not know of it",
                one_line(&path.field)
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

fn as_json(component: &InspectedComponent) -> serde_json::Value {
    let inspection = component.inspection();
    let doubts = doubts(inspection);
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

fn as_text(component: &InspectedComponent) -> Report {
    let inspection = component.inspection();
    let declaration = &inspection.declaration;
    let mut report = Report::default();
    report.line(&format!("{} {}", declaration.name, declaration.version));
    report.labelled("digest", component.digest());
    report.labelled("size", &format!("{} bytes", component.size()));
    report.labelled("made for", &format!("windlass:plugin {}", declaration.wit));
    report.labelled("imports", &listed(&inspection.imports));
    let files = declaration.grants.filesystem.access();
    let files = match files {
        None => "none",
        Some(Access::Read) => "reading, where it is granted",
        Some(Access::Write) => "reading and writing, where it is granted",
    };
    report.labelled("files", files);
    for (label, value) in declared_grants::as_lines(&declaration.grants) {
        report.labelled(label, &value);
    }
    if declaration.instance == InstanceScope::Session {
        report.labelled("instance", "keeps its memory for the session");
    }
    report.labelled("limits", &limits(&declaration.limits));
    for tool in &declaration.tools {
        let about = one_line(&tool.description);
        report.labelled(
            "tool",
            &format!("{}: {}", tool.name, fit(&about, DESCRIPTION)),
        );
        for path in &tool.paths {
            let does = verb(path.access);
            report.labelled("", &format!("{does}s the file in `{}`", path.field));
        }
    }
    for hook in &declaration.hooks {
        report.labelled("hook", &hook_line(hook));
    }
    for doubt in &doubts(inspection) {
        report.labelled("but", doubt);
    }
    report
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
