//! How calls of tools are shown in an editor.

use std::path::Path;

use serde_json::{Value, json};
use windlass_core::permission::visible_line;

/// A call as it is shown: what it does in one line, of which kind it is, what it changes and where.
#[derive(Debug)]
pub(super) struct Shown {
    title: String,
    kind: &'static str,
    content: Vec<Value>,
    locations: Vec<Value>,
}

impl Shown {
    /// A call by the names of the tool and its input. Paths are relative to the working directory.
    pub(super) fn of(tool: &str, input: &Value, cwd: &Path) -> Self {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        let path = match text("file_path") {
            "" => text("notebook_path"),
            path => path,
        };
        let mut shown = Self {
            title: String::new(),
            kind: "other",
            content: Vec::new(),
            locations: Vec::new(),
        };
        if !path.is_empty() {
            let mut location = json!({"path": cwd.join(path).display().to_string()});
            if let Some(line) = input.get("offset").and_then(Value::as_u64) {
                location["line"] = line.into();
            }
            shown.locations.push(location);
        }
        let name = relative(path, cwd);
        let (kind, title) = match tool {
            "Read" => ("read", format!("Read {name}")),
            "Edit" => ("edit", format!("Edit {name}")),
            "Write" => ("edit", format!("Write {name}")),
            "NotebookEdit" => ("edit", format!("Edit {name}")),
            "Bash" => ("execute", text("command").to_owned()),
            "Glob" => ("search", format!("Find {}", text("pattern"))),
            "Grep" => ("search", format!("Search for {}", text("pattern"))),
            "WebFetch" => ("fetch", format!("Fetch {}", text("url"))),
            "WebSearch" => ("fetch", format!("Search the web for {}", text("query"))),
            "Task" | "Agent" => ("think", text("description").to_owned()),
            "ExitPlanMode" => ("switch_mode", "Plan".to_owned()),
            _ => ("other", String::new()),
        };
        shown.kind = kind;
        // The words are the model's: nothing in them may hide a part of what is asked about.
        shown.title = match visible_line(&title) {
            title if title.trim().is_empty() => tool.to_owned(),
            title => title,
        };
        shown.content = match tool {
            "Edit" => vec![diff(
                &cwd.join(path),
                Some(text("old_string")),
                text("new_string"),
            )],
            "Write" => vec![diff(&cwd.join(path), None, text("content"))],
            "ExitPlanMode" => vec![of_text(text("plan"))],
            _ => Vec::new(),
        };
        shown
    }

    /// The fields of a call.
    pub(super) fn fields(self) -> Value {
        json!({
            "title": self.title, "kind": self.kind, "content": self.content, "locations": self.locations,
        })
    }
}

/// The list of things to do of a call of `TodoWrite`; `None` for other calls.
pub(super) fn plan(tool: &str, input: &Value) -> Option<Vec<Value>> {
    let todos = input.get("todos").filter(|_| tool == "TodoWrite")?;
    let entry = |todo: &Value| {
        let content = todo.get("content")?.as_str()?;
        let status = todo.get("status").and_then(Value::as_str);
        let status = status.filter(|status| matches!(*status, "in_progress" | "completed"));
        let status = status.unwrap_or("pending");
        Some(json!({"content": content, "priority": "medium", "status": status}))
    };
    Some(todos.as_array()?.iter().filter_map(entry).collect())
}

/// The diff of a file that was written, from the tool's own result: what it held before is only known then.
pub(super) fn written(result: &Value) -> Option<Value> {
    let text = |name: &str| result.get(name).and_then(Value::as_str);
    let (path, content) = (text("filePath")?, text("content")?);
    Some(diff(Path::new(path), text("originalFile"), content))
}

/// A text as content of a call.
pub(super) fn of_text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// A change of a file; `old` is `None` for a new one.
fn diff(path: &Path, old: Option<&str>, new: &str) -> Value {
    json!({"type": "diff", "path": path.display().to_string(), "oldText": old, "newText": new})
}

/// A path as people read it: relative to the working directory, if it lies there.
fn relative(path: &str, cwd: &Path) -> String {
    let inside = Path::new(path).strip_prefix(cwd);
    inside.map_or_else(|_| path.to_owned(), |inside| inside.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_shown_with_their_paths_and_changes() {
        let cwd = Path::new("/w");
        let input = json!({"file_path": "/w/src/a.rs", "old_string": "a", "new_string": "b"});
        let shown = Shown::of("Edit", &input, cwd);
        assert_eq!(
            (shown.title.as_str(), shown.kind),
            ("Edit src/a.rs", "edit")
        );
        let diff = &shown.content[0];
        assert_eq!(
            (&diff["oldText"], &diff["newText"]),
            (&json!("a"), &json!("b"))
        );
        let hidden = json!({"command": "ls\n\u{202e}rm"});
        let shown = Shown::of("Bash", &hidden, cwd);
        assert!(
            shown.title.contains("\\n") && shown.title.contains("202e"),
            "{}",
            shown.title
        );
        assert_eq!(Shown::of("mcp__a__b", &json!({}), cwd).title, "mcp__a__b");
    }
}
