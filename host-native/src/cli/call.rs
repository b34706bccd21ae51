//! Short descriptions of a tool call and its result.

use serde_json::{Map, Value};
use windlass_core::{RawJson, permission::visible};

use super::plain::one_line;

/// A short description of a call's input, without the tool's name: the command, the file, the pattern.
pub(crate) fn input_in_short(tool: &str, input: &RawJson, cwd: &str) -> String {
    let Ok(fields) = input.decode::<Map<String, Value>>() else {
        return one_line(input.get());
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let path = |field: &str| text(field).map(|path| below(path, cwd));
    let place = path("path").map(|path| format!(" in {path}"));
    let short = match tool {
        "Bash" => text("command").map(visible),
        "Read" => path("file_path").map(|path| path.to_owned() + &lines_wanted(&fields)),
        "Write" | "Edit" => path("file_path").map(str::to_owned),
        "NotebookEdit" => path("notebook_path").map(str::to_owned),
        "WebFetch" => text("url").map(visible),
        "WebSearch" => text("query").map(str::to_owned),
        "Glob" => text("pattern").map(|pattern| pattern.to_owned() + &place.unwrap_or_default()),
        "Task" | "Agent" => text("description").map(str::to_owned),
        "Skill" => text("skill").map(str::to_owned),
        "TodoWrite" => {
            let todos = fields.get("todos").and_then(Value::as_array);
            todos.map(|todos| count(todos.len() as u64, "task"))
        }
        "AskUserQuestion" => {
            let first = fields
                .get("questions")
                .and_then(|all| all.pointer("/0/question"));
            first.and_then(Value::as_str).map(str::to_owned)
        }
        "ExitPlanMode" => Some(String::new()),
        "Grep" => text("pattern").map(|pattern| {
            let files = text("glob").map(|glob| format!(" ({glob})"));
            format!(
                "{pattern:?}{}{}",
                place.unwrap_or_default(),
                files.unwrap_or_default()
            )
        }),
        _ => None,
    };
    let short = short.or_else(|| match fields.values().collect::<Vec<_>>().as_slice() {
        [] => Some(String::new()),
        [Value::String(only)] => Some(only.clone()),
        _ => None,
    });
    one_line(short.as_deref().unwrap_or(input.get()))
}

/// A path relative to the working directory, if it is below it.
pub(crate) fn below<'a>(path: &'a str, cwd: &str) -> &'a str {
    match path.strip_prefix(cwd) {
        Some("" | "/") => ".",
        Some(rest) => rest.strip_prefix('/').unwrap_or(path),
        None => path,
    }
}

/// The line range of a Read, if it has one (`:10-19`).
fn lines_wanted(fields: &Map<String, Value>) -> String {
    let number = |field: &str| fields.get(field).and_then(Value::as_u64);
    match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (Some(first), None) => format!(":{first}-"),
        (first, Some(count)) => {
            let first = first.unwrap_or(1).max(1);
            format!(":{first}-{}", first.saturating_add(count).saturating_sub(1))
        }
    }
}

/// A short description of a successful result, from its structured output; `None` if there is none.
pub(crate) fn outcome_in_short(tool: &str, output: Option<&RawJson>) -> Option<String> {
    let output: Value = output?.decode().ok()?;
    let number = |pointer: &str| output.pointer(pointer).and_then(Value::as_u64);
    match tool {
        "Bash" => last_line(&output, ["/stdout", "/stderr"]),
        "Read" => {
            let text = output.pointer("/file/content").and_then(Value::as_str);
            // The tool also counts the empty text after the last line end; people do not.
            let lines = text.map(|text| text.lines().count() as u64);
            lines
                .or_else(|| number("/file/numLines"))
                .map(|n| count(n, "line"))
        }
        "Write" => {
            let content = output.get("content")?.as_str()?;
            Some(count(content.lines().count() as u64, "line"))
        }
        "Edit" => changed_lines(&output),
        "Glob" => number("/numFiles").map(|n| count(n, "file")),
        "Grep" => match output.get("mode").and_then(Value::as_str) {
            Some("content") => number("/numLines").map(|n| count(n, "line")),
            Some("count") => number("/numMatches").map(|n| count(n, "match")),
            _ => number("/numFiles").map(|n| count(n, "file")),
        },
        _ => None,
    }
}

/// Why a call failed, in one line. For a command, the last line of its output: tests and compilers print their verdict last.
pub(crate) fn failure_in_short(tool: &str, output: Option<&RawJson>, text: &str) -> String {
    let said = match (tool, output.and_then(|output| output.decode().ok())) {
        ("Bash", Some(output)) => last_line(&output, ["/stderr", "/stdout"]),
        _ => None,
    };
    said.or_else(|| text.lines().map(one_line).find(|line| !line.is_empty()))
        .unwrap_or_else(|| "it failed without a word".to_owned())
}

/// The last line that is not empty, in the first of these fields that has one.
fn last_line(output: &Value, pointers: [&str; 2]) -> Option<String> {
    pointers.into_iter().find_map(|pointer| {
        let text = output.pointer(pointer)?.as_str()?;
        text.lines()
            .rev()
            .map(one_line)
            .find(|line| !line.is_empty())
    })
}

/// `-1 +2` for the patch of an edit.
fn changed_lines(output: &Value) -> Option<String> {
    let (mut removed, mut added) = (0_u64, 0_u64);
    for hunk in output.get("structuredPatch")?.as_array()? {
        for line in hunk.get("lines")?.as_array()? {
            match line.as_str()?.chars().next() {
                Some('-') => removed += 1,
                Some('+') => added += 1,
                _ => {}
            }
        }
    }
    Some(format!("-{removed} +{added}"))
}

fn count(number: u64, thing: &str) -> String {
    let plural = match (number, thing) {
        (1, _) => "",
        (_, "match") => "es",
        _ => "s",
    };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(tool: &str, input: &str) -> String {
        input_in_short(tool, &RawJson::parse(input).unwrap(), "/work")
    }

    #[test]
    fn inputs_are_shown_by_what_matters_in_them() {
        assert_eq!(
            short("Bash", r#"{"command": "make\n test", "timeout": 5}"#),
            "make test"
        );
        assert_eq!(
            short("Bash", "{\"command\": \"ls\u{200b} \\u202e\\u001b\"}"),
            "ls\\u{200b} \\u{202e}␛"
        );
        assert_eq!(short("Read", r#"{"file_path": "/work/a.py"}"#), "a.py");
        assert_eq!(
            short("Read", r#"{"file_path": "/workshop/a.py", "offset": 10}"#),
            "/workshop/a.py:10-"
        );
        assert_eq!(
            short("Read", r#"{"file_path": "a", "offset": 10, "limit": 5}"#),
            "a:10-14"
        );
        assert_eq!(
            short("Glob", r#"{"pattern": "*.rs", "path": "/work/src"}"#),
            "*.rs in src"
        );
        assert_eq!(
            short(
                "Grep",
                r#"{"pattern": "a b", "path": "/work", "glob": "*.py"}"#
            ),
            "\"a b\" in . (*.py)"
        );
        assert_eq!(
            short(
                "AskUserQuestion",
                r#"{"questions": [{"question": "Which?"}, {}]}"#
            ),
            "Which?"
        );
        assert_eq!(short("TodoWrite", r#"{"todos": [{}, {}]}"#), "2 tasks");
        assert_eq!(
            short("Task", r#"{"description": "Look around", "prompt": "p"}"#),
            "Look around"
        );
        assert_eq!(short("mcp__x__ask", r#"{"question": "why?"}"#), "why?");
        assert_eq!(
            short("mcp__x__ask", r#"{"a": 1, "b": 2}"#),
            r#"{"a": 1, "b": 2}"#
        );
        assert_eq!(
            short("Bash", r#"{"command": 5, "x": 1}"#),
            r#"{"command": 5, "x": 1}"#
        );
    }

    #[test]
    fn outcomes_are_counted() {
        let outcome =
            |tool, json: &str| outcome_in_short(tool, Some(&RawJson::parse(json).unwrap()));
        assert_eq!(
            outcome("Read", r#"{"file": {"numLines": 1}}"#).unwrap(),
            "1 line"
        );
        let read = r#"{"file": {"content": "a\n", "numLines": 2}}"#;
        assert_eq!(outcome("Read", read).unwrap(), "1 line");
        assert_eq!(outcome("Glob", r#"{"numFiles": 7}"#).unwrap(), "7 files");
        assert_eq!(
            outcome("Grep", r#"{"mode": "count", "numMatches": 2}"#).unwrap(),
            "2 matches"
        );
        assert_eq!(
            outcome("Bash", r#"{"stdout": "", "stderr": "Ran 3\n\nOK\n"}"#).unwrap(),
            "OK"
        );
        let patch = r#"{"structuredPatch": [{"lines": [" a", "-b", "+c", "+d"]}]}"#;
        assert_eq!(outcome("Edit", patch).unwrap(), "-1 +2");
        assert_eq!(outcome("Edit", r#"{"structuredPatch": 5}"#), None);
    }

    #[test]
    fn a_failed_command_shows_its_last_words_and_another_tool_its_first() {
        let output =
            RawJson::parse(r#"{"stdout": "x\n", "stderr": "F\nFAILED (failures=2)\n"}"#).unwrap();
        assert_eq!(
            failure_in_short("Bash", Some(&output), "Exit code 1"),
            "FAILED (failures=2)"
        );
        assert_eq!(
            failure_in_short("Bash", None, "\nExit code 1\nmore"),
            "Exit code 1"
        );
        assert_eq!(
            failure_in_short("Edit", None, ""),
            "it failed without a word"
        );
    }
}
