//! Titles that an SDK asks for.

use serde_json::json;
use windlass_core::RawJson;

use super::{Engine, pending::Then};
use crate::protocol::reply::Reply;

/// The longest title in characters.
const LONGEST: usize = 60;

impl Engine {
    /// Replies with a title for what the session is about. It is taken from the description, because no request to a model is
    /// made that nobody asked for. A title that somebody gave the session comes before it in listings.
    pub(super) fn generate_title(&mut self, description: &str, persist: bool) -> Reply {
        let title = title_of(description);
        if let Some(title) = title.as_deref().filter(|_| persist) {
            let line = json!({"type": "ai-title", "aiTitle": title, "sessionId": self.session_id});
            // A map with string keys always encodes.
            let line = RawJson::encode(&line).unwrap_or_else(|_| RawJson::empty_object());
            self.append_line(line, Then::Warn);
        }
        Reply::with(json!({ "title": title }))
    }
}

/// The first line that says something, cut between two words if it is too long; `None` if there is none.
fn title_of(description: &str) -> Option<String> {
    let mut lines = description
        .lines()
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '*' | '>')));
    let line = lines.find(|line| !line.is_empty())?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let whole = words.join(" ");
    if whole.chars().count() <= LONGEST {
        return Some(whole);
    }
    let mut title = String::new();
    for word in words {
        let longer = title.chars().count() + 1 + word.chars().count();
        if longer > LONGEST - 1 {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    if title.is_empty() {
        title.extend(whole.chars().take(LONGEST - 1));
    }
    title.push('\u{2026}');
    Some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_as_far_as_it_fits() {
        for (description, title) in [
            ("Mend the parser", Some("Mend the parser")),
            (
                "\n\n  # Mend   the parser \nIt fails.",
                Some("Mend the parser"),
            ),
            (
                "Mend the parser, which fails on every second line of the file that was added last week",
                Some("Mend the parser, which fails on every second line of the\u{2026}"),
            ),
            (" \n ", None),
        ] {
            assert_eq!(title_of(description).as_deref(), title, "{description}");
        }
        let long = title_of(&"x".repeat(100)).unwrap();
        assert_eq!(long.chars().count(), LONGEST);
    }
}
