//! The tool result of a command.

use std::time::Duration;

use serde::Serialize;
use windlass_core::{json::RawJson, tool::ToolResult};

use super::{
    exit::{self, Exit},
    image,
    process::Finished,
    saved::SavedOutput,
};
use crate::sandbox::Spawner;

/// The structured output (Agent SDK reference, `BashOutput`).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    stdout: &'a str,
    stderr: &'a str,
    interrupted: bool,
    is_image: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_code_interpretation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    persisted_output_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    persisted_output_size: Option<u64>,
}

pub(super) fn result(
    command: &str,
    finished: &Finished,
    time: Option<Duration>,
    spawner: &Spawner,
) -> ToolResult {
    let stdout = finished.stdout.shown();
    let mut stderr = finished.stderr.shown();
    if let Some(violations) = spawner.violations(&stderr) {
        if !stderr.is_empty() && !stderr.ends_with('\n') {
            stderr.push('\n');
        }
        stderr.push_str(&violations);
    }
    let until_then = match stdout.trim().is_empty() && stderr.trim().is_empty() {
        true => "It had written nothing.",
        false => "Its output until then:",
    };
    let (headline, meaning, is_error) = match finished.exit {
        Exit::Code(0) => (None, None, false),
        Exit::Code(code) => match exit::meaning(command, code, stderr.trim().is_empty()) {
            // Rules prevented a part of it, so it is an error whatever the exit code.
            Some(_) if finished.withheld => (Some(format!("Exit code {code}")), None, true),
            Some(meaning) => (None, Some(meaning), false),
            None => (Some(format!("Exit code {code}")), None, true),
        },
        Exit::Signal(signal) => (Some(format!("Ended by signal {signal}")), None, true),
        Exit::OutOfTime => (
            Some(format!(
                "The command was stopped: it ran out of time after {} ms. {until_then}",
                time.unwrap_or_default().as_millis()
            )),
            None,
            true,
        ),
        Exit::Cancelled => (
            Some(format!("The command was interrupted. {until_then}")),
            None,
            true,
        ),
    };
    let parts = [headline.as_deref(), Some(&stdout), Some(&stderr), meaning];
    let parts: Vec<&str> = parts
        .into_iter()
        .flatten()
        .map(str::trim_end)
        .filter(|part| !part.is_empty())
        .collect();
    let text = if parts.is_empty() {
        "(no output)".to_owned()
    } else {
        parts.join("\n")
    };
    let image = image::of(&finished.stdout).filter(|_| !is_error);
    let saved = finished.stdout.saved().or_else(|| finished.stderr.saved());
    let structured = RawJson::encode(&Output {
        stdout: &stdout,
        stderr: &stderr,
        persisted_output_path: saved.map(|saved| saved.path().display().to_string()),
        persisted_output_size: saved.map(SavedOutput::size),
        interrupted: matches!(finished.exit, Exit::OutOfTime | Exit::Cancelled),
        is_image: image.is_some(),
        return_code_interpretation: meaning,
    });
    let shown = match image {
        // The picture, in place of its text.
        Some(image) => ToolResult {
            content: vec![image],
            ..ToolResult::default()
        },
        None => ToolResult::text(text),
    };
    ToolResult {
        is_error,
        // Strings, numbers and booleans only: encoding cannot fail.
        structured: structured.ok(),
        ..shown
    }
}
