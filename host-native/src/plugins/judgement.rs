//! The judgement of a component, translated to that of the core, which has no *allow* either.

use std::collections::BTreeSet;

use serde::Deserialize;
use windlass_core::{
    hook::{HookCall, HookEvent, Judgement, Narrowing},
    tool::{Access, DenyPattern},
};

use super::{bindings::judge::windlass::plugin::hooks as wit, outcome::CallError, result::within};

/// Bytes of a reason, which the model or a person reads.
pub(super) const MAX_REASON: usize = 16 << 10;

/// Paths in a narrowing.
const MAX_PATHS: usize = 1000;

/// Bytes of a path pattern, as of a path.
const MAX_PATTERN: usize = 4096;

/// The core's form of a judgement. What cannot be kept is an error, and so refuses the call: a judge must be able to rely on
/// what it said. `enforcing` are the tools whose files the host resolves.
pub(super) fn translated(
    judgement: wit::Judgement,
    call: &HookCall,
    enforcing: &BTreeSet<String>,
) -> Result<Judgement, CallError> {
    use HookEvent::{PermissionRequest, PreToolUse};
    let event = call.event;
    match judgement {
        wit::Judgement::Pass => Ok(Judgement::Pass),
        wit::Judgement::Deny(reason) => Ok(Judgement::Deny {
            reason: checked(reason)?,
        }),
        wit::Judgement::Ask(reason) if matches!(event, PreToolUse | PermissionRequest) => {
            Ok(Judgement::Ask {
                reason: checked(reason)?,
            })
        }
        wit::Judgement::Ask(_) => Err(misplaced("ask", event)),
        wit::Judgement::Narrow(narrowing) if event == PreToolUse => {
            narrowed(narrowing, call, enforcing).map(Judgement::Narrow)
        }
        wit::Judgement::Narrow(_) => Err(misplaced("narrow", event)),
    }
}

fn checked(reason: String) -> Result<String, CallError> {
    within("reason", reason.len(), "bytes", MAX_REASON)?;
    Ok(reason)
}

fn misplaced(judgement: &str, event: HookEvent) -> CallError {
    malformed(format!(
        "`{judgement}`, which {} has no place for",
        event.name()
    ))
}

fn malformed(fault: String) -> CallError {
    CallError::Malformed {
        what: "judgement",
        fault,
    }
}

fn narrowed(
    narrowing: wit::Narrowing,
    call: &HookCall,
    enforcing: &BTreeSet<String>,
) -> Result<Narrowing, CallError> {
    let paths = narrowing.deny_paths;
    within("judgement", paths.len(), "paths", MAX_PATHS)?;
    if !paths.is_empty() {
        let tool = tool_name(call);
        if !tool.as_ref().is_some_and(|tool| enforcing.contains(tool)) {
            let tool = tool.unwrap_or_default();
            return Err(malformed(format!(
                "a narrowing of paths, which does not hold for {tool}, whose files this host does not resolve"
            )));
        }
    }
    let patterns: Result<Vec<_>, _> = paths.into_iter().map(pattern).collect();
    Ok(Narrowing {
        deny_paths: Narrowing::closing(patterns?).map_err(malformed)?,
        timeout_ms: narrowing.timeout_ms,
    })
}

/// The name of the tool that is called.
fn tool_name(call: &HookCall) -> Option<String> {
    #[derive(Deserialize)]
    struct OfCall {
        tool_name: String,
    }
    let of_call: OfCall = call.input.decode().ok()?;
    Some(of_call.tool_name)
}

fn pattern(path: wit::DeniedPath) -> Result<DenyPattern, CallError> {
    let pattern = path.pattern;
    within("path pattern", pattern.len(), "bytes", MAX_PATTERN)?;
    // Of Windows, and here relative to some directory.
    if !cfg!(windows) && pattern.as_bytes().get(1..3) == Some(b":/") {
        return Err(malformed(format!(
            "the path pattern {pattern}: it must be absolute, begin with `**/`, or be a name alone"
        )));
    }
    Ok(DenyPattern {
        pattern,
        access: match path.access {
            wit::DeniedAccess::Read => Access::Read,
            wit::DeniedAccess::Write => Access::Write,
        },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use windlass_core::{RawJson, hook::HookKind};

    use super::*;

    fn call(event: HookEvent, tool: &str) -> HookCall {
        HookCall {
            hook: "p:h".to_owned(),
            event,
            input: RawJson::parse(format!(r#"{{"tool_name":"{tool}"}}"#)).unwrap(),
            tool_use_id: None,
            timeout_ms: 1,
            kind: HookKind::Narrowing,
            deny: Vec::new(),
        }
    }

    fn narrow(pattern: &str) -> wit::Judgement {
        wit::Judgement::Narrow(wit::Narrowing {
            deny_paths: vec![wit::DeniedPath {
                pattern: pattern.to_owned(),
                access: wit::DeniedAccess::Read,
            }],
            timeout_ms: None,
        })
    }

    #[test]
    fn hook_5_what_a_judge_says_and_nobody_can_keep_is_a_failure() {
        let enforcing = BTreeSet::from(["Read".to_owned()]);
        let translated = |said, event, tool: &str| translated(said, &call(event, tool), &enforcing);
        let before = HookEvent::PreToolUse;
        for (pattern, closed) in [
            ("/work/secrets/**", &["/work/secrets/**"][..]),
            ("**/.env", &["/**/.env"]),
            ("*.pem", &["/**/*.pem"]),
            ("secrets/", &["/**/secrets/"]),
            // As they are compared with resolved paths.
            ("*.{txt,pem}", &["/**/*.txt", "/**/*.pem"]),
            ("**/./secrets//**", &["/**/secrets/**"]),
        ] {
            let said = translated(narrow(pattern), before, "Read").unwrap();
            let Judgement::Narrow(narrowing) = said else {
                panic!("{said:?}");
            };
            let paths = narrowing.deny_paths.iter();
            let paths: Vec<&str> = paths.map(|path| path.pattern.as_str()).collect();
            assert_eq!(paths, closed, "{pattern}");
        }
        let long = "x".repeat(MAX_REASON + 1);
        let of_4_kib = |at| wit::DeniedPath {
            pattern: format!("/{at}/{}", "?*a/**/".repeat(580)),
            access: wit::DeniedAccess::Read,
        };
        let heavy = wit::Judgement::Narrow(wit::Narrowing {
            deny_paths: (0..17).map(of_4_kib).collect(),
            timeout_ms: None,
        });
        for (said, event, tool, part) in [
            (narrow("secrets/a.txt"), before, "Read", "must be absolute"),
            (narrow("c:/secrets"), before, "Read", "must be absolute"),
            (narrow(""), before, "Read", "must be absolute"),
            (narrow("/work/{a,..}/b"), before, "Read", "lead up"),
            (narrow("/a*/../b"), before, "Read", "lead up"),
            (narrow("/[a"), before, "Read", "the path pattern /[a"),
            (heavy, before, "Read", "65536 bytes"),
            (narrow("/work/**"), before, "Bash", "does not hold for Bash"),
            (
                narrow("/work/**"),
                HookEvent::PermissionRequest,
                "Read",
                "no place for",
            ),
            (
                wit::Judgement::Ask("?".to_owned()),
                HookEvent::UserPromptSubmit,
                "",
                "no place for",
            ),
            (wit::Judgement::Deny(long), before, "Read", "16384"),
        ] {
            let error = translated(said, event, tool).unwrap_err().to_string();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
