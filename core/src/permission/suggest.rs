//! Suggestions: permission updates that would let a call run, offered with a permission request so that it need not be repeated.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{
    CallFacts, Cause, Decision, Destination, DirectoryChange, Mode, PermissionUpdate,
    PolicyContext, RuleValue, Verdict,
    command::{self, plain_words},
    domain, glob, judge,
    path::is_under,
};
use crate::tool::Access;

/// Programs whose first argument is a subcommand: a rule for the two words together is useful.
const WITH_SUBCOMMANDS: [&str; 20] = [
    "apt",
    "brew",
    "bun",
    "cargo",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "pip",
    "pnpm",
    "poetry",
    "terraform",
    "uv",
    "yarn",
];

/// Permission updates, the narrowest first, each of which lets a call run that needs permission (Agent SDK reference,
/// `CanUseTool`, `suggestions`). Each one was tried out; if a rule or a hook requires the request, none helps.
#[must_use]
pub fn suggestions(
    policy: &PolicyContext<'_>,
    call: CallFacts<'_>,
    decision: &Decision,
) -> Vec<PermissionUpdate> {
    let asks_for_itself = matches!(decision.cause, Cause::Hook(_) | Cause::AsksThePerson);
    if decision.verdict == Verdict::Allow || asks_for_itself {
        return Vec::new();
    }
    let mut updates = match &decision.cause {
        // Only a rule that a person accepts for exactly this place counts.
        Cause::Authority(_) if call.command.is_none() => vec![exactly(call)],
        Cause::Authority(_) => (of_command(policy, call).into_iter())
            .map(PermissionUpdate::for_session)
            .collect(),
        _ if call.command.is_some() => of_command(policy, call),
        _ if !call.paths.is_empty() => of_paths(policy, call),
        _ => vec![PermissionUpdate::allow(
            vec![of_call(call)],
            Destination::LocalSettings,
        )],
    };
    if policy.mode == Mode::Default && !updates.contains(&accept_edits()) {
        updates.push(accept_edits());
    }
    let helps = |update: &PermissionUpdate| lets_run(core::slice::from_ref(update), policy, call);
    match updates.iter().any(helps) {
        true => updates.retain(helps),
        // A call outside the workspace may need a directory and a mode.
        false if lets_run(&updates, policy, call) => {}
        false => updates.clear(),
    }
    updates
}

/// Whether a call runs without asking after these updates.
fn lets_run(updates: &[PermissionUpdate], policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    let mut rules = policy.rules.clone();
    let mut directories = policy.directories.to_vec();
    let mut mode = policy.mode;
    for update in updates {
        match update {
            PermissionUpdate::AddRules(change) => {
                let source = change.destination.source();
                let added = change.rules.iter().filter_map(|rule| rule.to_rule().ok());
                rules
                    .allow
                    .extend(added.map(|rule| rule.from_source(source)));
            }
            PermissionUpdate::AddDirectories(change) => {
                directories.extend_from_slice(&change.directories);
            }
            PermissionUpdate::SetMode { mode: set, .. } => mode = *set,
            _ => {}
        }
    }
    let after = PolicyContext {
        rules: &rules,
        directories: &directories,
        mode,
        ..*policy
    };
    judge::judge(&after, call, None).verdict == Verdict::Allow
}

fn accept_edits() -> PermissionUpdate {
    PermissionUpdate::SetMode {
        mode: Mode::AcceptEdits,
        destination: Destination::Session,
    }
}

/// A rule for a call that names neither a command nor files.
fn of_call(call: CallFacts<'_>) -> RuleValue {
    let tool = &call.tool.name;
    if let Some(host) = call.url.and_then(domain::host_of) {
        return RuleValue::some(tool, format!("domain:{host}"));
    }
    match call.name {
        Some(name) if RuleValue::some(tool, name).to_rule().is_ok() => RuleValue::some(tool, name),
        _ => RuleValue::tool(tool),
    }
}

/// Exactly this line; for a single command of a well-known kind, also commands with the same beginning.
fn of_command(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Vec<PermissionUpdate> {
    let Some(line) = call.command else {
        return Vec::new();
    };
    let tool = &call.tool.name;
    let allow = |content: String| {
        let value = RuleValue::some(tool, content);
        // Only a rule that can be parsed is suggested.
        let readable = value.to_rule().is_ok();
        readable.then(|| PermissionUpdate::allow(vec![value], Destination::LocalSettings))
    };
    // A rule for exactly this line only applies in the working directory.
    let exact = (line.directory() == policy.environment.cwd)
        .then(|| command::escape(line.text().trim()))
        .and_then(allow);
    let mut commands = line.commands();
    let only = commands.next().filter(|_| commands.next().is_none());
    let prefix = only
        .filter(|command| command.assignments.is_empty() && !command.writes_file())
        .and_then(plain_words)
        .and_then(|words| beginning(&words))
        .and_then(allow);
    exact.into_iter().chain(prefix).collect()
}

fn beginning(words: &[String]) -> Option<String> {
    let is_word = |text: &&String| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let [program, rest @ ..] = words else {
        return None;
    };
    if !WITH_SUBCOMMANDS.contains(&program.as_str()) {
        return None;
    }
    let subcommand = rest
        .first()
        .filter(is_word)
        .filter(|w| !w.starts_with('-'))?;
    let more = matches!(subcommand.as_str(), "run" | "exec" | "compose" | "x");
    let script = rest.get(1).filter(|w| more && !w.starts_with('-'));
    if more && script.is_none() {
        return None;
    }
    let all: Vec<&str> = [Some(program), Some(subcommand), script]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    Some(format!("{}:*", all.join(" ")))
}

/// For files outside of the workspace, their directories; for reading, the directory that contains them.
fn of_paths(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Vec<PermissionUpdate> {
    let mut named: Vec<String> = Vec::new();
    let mut directories: Vec<String> = Vec::new();
    let mut readable: Vec<String> = Vec::new();
    for fact in call.paths {
        let root = policy
            .workspace_roots()
            .filter(|root| is_under(root, &fact.path))
            .max_by_key(|root| root.len());
        let directory = match root {
            Some(root) => root,
            None => directory_of(&fact.path),
        };
        if directory == "/" {
            // The root directory is not offered.
            return vec![exactly(call)];
        }
        if is_of_plugin(call) && !named.iter().any(|known| known == directory) {
            named.push(directory.to_string());
        }
        let list = if fact.access == Access::Write {
            &mut directories
        } else {
            &mut readable
        };
        let known = fact.access == Access::Write && root.is_some();
        if !known && !list.iter().any(|known| known == directory) {
            list.push(directory.to_string());
        }
    }
    let below = |tool: &str, directories: &[String]| {
        let rule =
            |directory: &String| RuleValue::some(tool, format!("/{}/**", glob::escape(directory)));
        let rules = directories.iter().map(rule).collect();
        PermissionUpdate::allow(rules, Destination::Session)
    };
    let mut updates = Vec::new();
    if !named.is_empty() {
        updates.push(below(&call.tool.name, &named));
    } else if !readable.is_empty() {
        updates.push(below("Read", &readable));
    }
    if !directories.is_empty() {
        updates.push(PermissionUpdate::AddDirectories(DirectoryChange {
            directories,
            destination: Destination::Session,
        }));
        if policy.mode == Mode::Default {
            updates.push(accept_edits());
        }
    }
    if updates.is_empty() && policy.mode != Mode::Default {
        updates.push(exactly(call));
    }
    updates
}

/// A rule for exactly the files of a call.
fn exactly(call: CallFacts<'_>) -> PermissionUpdate {
    let rules = call.paths.iter().map(|fact| {
        let tool = match fact.access {
            _ if is_of_plugin(call) => call.tool.name.as_str(),
            Access::Write => "Edit",
            _ => "Read",
        };
        RuleValue::some(tool, format!("/{}", glob::escape(&fact.path)))
    });
    PermissionUpdate::allow(rules.collect(), Destination::Session)
}

/// Whether a call is one of a tool that somebody else has made: a rule for it says nothing about others.
fn is_of_plugin(call: CallFacts<'_>) -> bool {
    call.tool.grant.is_some()
}

fn directory_of(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

/// The first rule among suggestions, as text, for a plain "always allow".
#[must_use]
pub fn first_rule(suggestions: &[PermissionUpdate]) -> Option<String> {
    suggestions.iter().find_map(|update| match update {
        PermissionUpdate::AddRules(change) => change.rules.first().map(ToString::to_string),
        _ => None,
    })
}
