//! `windlass permissions`: evaluates rules and settings.

use serde::Serialize;
use windlass::engine::{ExplainError, explain_call, lint_settings};
use windlass_core::permission::RuleValue;

use super::{
    Exit,
    args::{ExplainArgs, LintArgs, PermissionsCommand},
    launch::permissions_only,
    plain::clean,
    start_error::StartError,
    terminal::Stage,
};

/// Runs the command.
///
/// # Errors
/// [`StartError`]: invalid flags or settings, or an invalid call.
pub(crate) fn permissions(command: PermissionsCommand) -> Result<Exit, StartError> {
    match command {
        PermissionsCommand::Explain(args) => explain(&args),
        PermissionsCommand::Lint(args) => lint(&args),
    }
}

fn explain(args: &ExplainArgs) -> Result<Exit, StartError> {
    let launch = permissions_only(&args.permissions)?;
    let explanation = explain_call(&launch, &call(&args.call)).map_err(|error| match error {
        ExplainError::Start(error) => error.into(),
        other => StartError::Usage(other.to_string()),
    })?;
    print(&explanation, &explanation.to_string(), args.json)
}

/// Exits with 1 if there are findings.
fn lint(args: &LintArgs) -> Result<Exit, StartError> {
    let launch = permissions_only(&args.permissions)?;
    let findings = lint_settings(&launch)?;
    let text = match findings.as_slice() {
        [] => "Every rule does what it seems to.\n".to_owned(),
        findings => (findings.iter())
            .map(|finding| format!("{finding}\n"))
            .collect(),
    };
    let exit = print(&findings, &text, args.json)?;
    Ok(match findings.is_empty() {
        true => exit,
        false => Exit::Failed,
    })
}

/// Parses a call written like a rule: the tool, and the text in parentheses unchanged.
fn call(text: &str) -> RuleValue {
    let text = text.trim();
    let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let (tool, content) = match parts {
        Some((tool, content)) => (tool, Some(content.to_owned())),
        None => (text, None),
    };
    RuleValue {
        tool_name: tool.to_owned(),
        rule_content: content,
    }
}

fn print(value: &impl Serialize, text: &str, as_json: bool) -> Result<Exit, StartError> {
    let mut out = Stage::stdout();
    let printed = if as_json {
        let json = serde_json::to_string(value);
        let json = json.map_err(|error| StartError::Unable(error.to_string()))?;
        out.plain(&format!("{json}\n"))
    } else {
        out.write(&clean(text))
    };
    Ok(match printed {
        Ok(()) => Exit::Done,
        Err(_) => Exit::PipeClosed,
    })
}
