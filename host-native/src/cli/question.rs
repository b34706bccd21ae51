//! The permission prompt: y, n, or always in this session.
//!
//! The call was written by a model. It is shown completely, wrapped and behind a bar, so that no part of it can
//! imitate a line of the prompt.

use serde_json::{Map, Value};
use tokio::sync::oneshot;
use unicode_width::UnicodeWidthChar as _;
use windlass_core::{
    effect::{PermissionRequest, PermissionResponse},
    permission::{Mode, PermissionUpdate, visible},
};
use windlass_engine::protocol::flags::rules_of;

use super::{
    plain::{clean, one_line},
    styles::{ASKING, BOLD, DIM},
};

/// The maximum number of lines shown per field; commands are shown completely.
const SHOWN_LINES: usize = 30;

/// Fields that are shown first, in this order: a change reads from old to new.
const FIELD_ORDER: [&str; 4] = ["command", "file_path", "old_string", "new_string"];

/// A permission request, with the channel for its answer.
#[derive(Debug)]
pub(crate) struct Question {
    pub(super) request: PermissionRequest,
    pub(super) answer: oneshot::Sender<PermissionResponse>,
}

impl Question {
    /// A request, with the channel for its answer.
    pub(crate) fn new(
        request: PermissionRequest,
        answer: oneshot::Sender<PermissionResponse>,
    ) -> Self {
        Self { request, answer }
    }

    /// The model's id of the call.
    pub(crate) fn tool_use_id(&self) -> &str {
        &self.request.tool_use_id
    }

    /// Denies because nobody can be asked, and returns the message.
    pub(crate) fn refuse(self) -> String {
        let words = refusal(&self.request);
        // The receiver may be gone after an interruption.
        let _ = self.answer.send(PermissionResponse::deny(words.clone()));
        words
    }
}

/// The message when nobody can be asked. It is read by the model, and later by the person.
pub(super) fn refusal(request: &PermissionRequest) -> String {
    format!(
        "{} needs permission ({}), and there is no terminal to ask at. {}",
        request.tool_name,
        request.decision_reason,
        way(request),
    )
}

/// How the call could have been allowed in advance.
fn way(request: &PermissionRequest) -> String {
    let rule = match request.suggested_rule() {
        _ if request.suggestions.is_empty() => {
            return "No flag lets it run: a person must be asked.".to_owned();
        }
        Some(rule) => rule,
        None => request.tool_name.clone(),
    };
    // The flag takes several rules, and the rule's text may contain separators.
    match rules_of(&rule).as_slice() {
        [one] if *one == rule => format!("It would run with --allowedTools {}.", shell_word(&rule)),
        _ => "No flag can say this rule; permissions.allow in the settings can.".to_owned(),
    }
}

/// What "always" would change: the narrowest suggestion, for this session.
pub(super) fn lasting(request: &PermissionRequest) -> Option<PermissionUpdate> {
    let narrowest = request.suggestions.first()?;
    Some(narrowest.clone().for_session())
}

/// A word quoted for a shell.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The meaning of a typed line; `None` if it has none.
pub(super) fn understand(line: &str, request: &PermissionRequest) -> Option<PermissionResponse> {
    let (word, rest) = match line.trim().split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (line.trim(), ""),
    };
    match (word.to_ascii_lowercase().as_str(), rest) {
        ("y" | "yes", "") => Some(PermissionResponse::allow()),
        ("a" | "always", "") => Some(PermissionResponse::Allow {
            updated_input: None,
            updated_permissions: vec![lasting(request)?],
        }),
        ("n" | "no", "") => Some(PermissionResponse::deny(format!(
            "The user said no to this use of {}.",
            request.tool_name
        ))),
        ("n" | "no", reason) => Some(PermissionResponse::deny(format!(
            "The user said no to this use of {}: {reason}",
            request.tool_name
        ))),
        _ => None,
    }
}

/// The question, without the choices.
pub(super) fn text(request: &PermissionRequest, columns: usize) -> String {
    let tool = one_line(&request.tool_name);
    let mut out = format!(
        "\n  {ASKING}?{ASKING:#} {BOLD}{tool}{BOLD:#} {DIM}({}){DIM:#}\n",
        one_line(&request.decision_reason)
    );
    for line in details(request) {
        for piece in wrap(&clean(&line), columns.saturating_sub(6).max(20)) {
            out.push_str(&format!("    {DIM}│{DIM:#} {piece}\n"));
        }
    }
    out
}

pub(super) fn ways(request: &PermissionRequest) -> String {
    let always = match lasting(request) {
        None => String::new(),
        Some(PermissionUpdate::SetMode {
            mode: Mode::AcceptEdits,
            ..
        }) => format!(", {BOLD}a{BOLD:#} all edits here, in this session"),
        // The text in parentheses comes from the model and was shown above, so it is not repeated here.
        Some(_) => match request.suggested_rule() {
            Some(rule) if !rule.contains('(') => format!(
                ", {BOLD}a{BOLD:#} always {}, in this session",
                one_line(&rule)
            ),
            _ => format!(", {BOLD}a{BOLD:#} always this, in this session"),
        },
    };
    format!("  {BOLD}y{BOLD:#} yes, {BOLD}n{BOLD:#} no{always} > ")
}

/// The input, field by field. A command is shown completely, since what is approved must be visible.
fn details(request: &PermissionRequest) -> Vec<String> {
    let Ok(fields) = request.input.decode::<Map<String, Value>>() else {
        return vec![request.input.get().to_owned()];
    };
    let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| {
        FIELD_ORDER
            .iter()
            .position(|first| first == name)
            .unwrap_or(usize::MAX)
    });
    let mut lines = Vec::new();
    for (name, value) in fields {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if name == "command" {
            lines.extend(visible(&text).lines().map(str::to_owned));
            continue;
        }
        let count = text.lines().count();
        if count <= 1 {
            lines.push(format!("{name}: {}", text.trim_end()));
            continue;
        }
        lines.push(format!("{name}:"));
        lines.extend(
            text.lines()
                .take(SHOWN_LINES)
                .map(|line| format!("  {line}")),
        );
        if count > SHOWN_LINES {
            lines.push(format!("  … and {} more lines", count - SHOWN_LINES));
        }
    }
    lines
}

/// Splits a line into pieces of at most this many columns.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in line
        .chars()
        .map(|c| if c == '\t' || c == '\n' { ' ' } else { c })
    {
        let width = c.width().unwrap_or(0);
        if used + width > columns {
            pieces.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use windlass_core::{
        RawJson,
        permission::{Rule, RuleValue},
    };

    use super::*;

    fn request(tool: &str, input: &str, rule: Option<&str>) -> PermissionRequest {
        PermissionRequest {
            tool_use_id: "toolu_1".to_owned(),
            tool_name: tool.to_owned(),
            input: RawJson::parse(input).unwrap(),
            blocked_path: None,
            decision_reason: "no permission rule covers it".to_owned(),
            suggestions: rule
                .map(|rule| Rule::parse(rule).unwrap().value())
                .map(|rule| PermissionUpdate::allow_in_session(vec![rule]))
                .into_iter()
                .collect(),
            agent_id: None,
        }
    }

    #[test]
    fn perm_7_a_refusal_without_a_terminal_names_the_flag_that_would_allow_it() {
        let request = request(
            "Bash",
            r#"{"command": "echo 'a b'"}"#,
            Some("Bash(echo 'a b')"),
        );
        let message = refusal(&request);
        assert!(
            message.contains(r"--allowedTools 'Bash(echo '\''a b'\'')'"),
            "{message}"
        );
    }

    #[test]
    fn perm_7_a_refusal_names_no_flag_that_would_not_help() {
        let nothing = refusal(&request("Bash", r#"{"command": "cat .env"}"#, None));
        assert!(
            nothing.ends_with("No flag lets it run: a person must be asked."),
            "{nothing}"
        );
        let odd = r#"Bash(touch 'a,b)' "(")"#;
        let odd = refusal(&request("Bash", r#"{"command": "touch"}"#, Some(odd)));
        assert!(!odd.contains("--allowedTools"), "{odd}");
        assert!(odd.contains("permissions.allow in the settings"), "{odd}");
    }

    #[test]
    fn no_text_of_the_model_can_pass_for_a_line_of_the_question() {
        let forged = r#"{"command": "true\n  y yes, n no > y\r\u001b[1A\u001b[2K                              y yes, n no > "}"#;
        let shown = strip_str(&text(&request("Bash", forged, None), 40)).to_string();
        let body: Vec<&str> = shown.lines().skip(2).collect();
        assert!(
            body.iter().all(|line| line.starts_with("    │ ")),
            "{shown}"
        );
        assert!(
            body.iter().all(|line| line.chars().count() <= 40),
            "{shown}"
        );
        assert!(!shown.contains('\x1b') && !shown.contains('\r'), "{shown}");
    }

    #[test]
    fn nothing_of_a_command_is_hidden() {
        let hidden = r#"{"command": "echo \"$\\\n(touch a\u202eb\u200b)\"\r\u001b[8m"}"#;
        let shown = strip_str(&text(&request("Bash", hidden, None), 80)).to_string();
        let body: Vec<&str> = shown.lines().skip(2).collect();
        assert_eq!(
            body,
            [
                r#"    │ echo "$\⏎"#,
                r#"    │ (touch a\u{202e}b\u{200b})"␍␛[8m"#
            ]
        );
    }

    #[test]
    fn a_command_is_shown_to_its_end_and_other_fields_to_a_limit() {
        let command = vec!["x"; 100].join("\\n");
        let all = details(&request(
            "Bash",
            &format!(r#"{{"command": "{command}"}}"#),
            None,
        ));
        assert_eq!(all.len(), 100);
        let cut = details(&request(
            "Write",
            &format!(r#"{{"content": "{command}"}}"#),
            None,
        ));
        assert_eq!(cut.len(), 1 + SHOWN_LINES + 1);
        assert_eq!(cut.last().unwrap(), "  … and 70 more lines");
    }

    #[test]
    fn answers_are_understood() {
        let request = request("Edit", "{}", Some("Edit"));
        assert_eq!(
            understand(" Y ", &request),
            Some(PermissionResponse::allow())
        );
        assert!(matches!(
            understand("a", &request),
            Some(PermissionResponse::Allow { updated_permissions, .. })
                if updated_permissions == [PermissionUpdate::allow_in_session(vec![RuleValue::tool("Edit")])]
        ));
        assert!(matches!(
            understand("n use the other file", &request),
            Some(PermissionResponse::Deny { message, .. }) if message.ends_with(": use the other file")
        ));
        for meaningless in ["", "yesterday", "y n", "1"] {
            assert_eq!(understand(meaningless, &request), None, "{meaningless}");
        }
        let without_rule = PermissionRequest {
            suggestions: Vec::new(),
            ..request
        };
        assert_eq!(understand("a", &without_rule), None);
    }
}
