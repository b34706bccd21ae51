//! What every MCP client needs, regardless of its transport.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use windlass_core::{RawJson, shell::quote};

/// The maximum number of pages of a list, and of its entries; a server that exceeds it is treated as faulty.
const MOST_PAGES: usize = 1_000;
const MOST_ENTRIES: usize = 10_000;

/// A prompt that a server offers: a text with places for words, which a person asks for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPrompt {
    /// Its name on the server.
    pub name: String,
    /// What it is for; empty if the server does not say.
    pub description: String,
    /// The names of its arguments, in the server's order.
    pub arguments: Vec<String>,
}

impl ServerPrompt {
    /// Reads an entry of `prompts/list`; `None` if it is none, or if no command could have its name.
    #[must_use]
    pub fn read(listed: &RawJson) -> Option<Self> {
        #[derive(Deserialize)]
        struct Listed {
            name: String,
            #[serde(default)]
            description: Option<String>,
            #[serde(default)]
            arguments: Option<Vec<Argument>>,
        }
        #[derive(Deserialize)]
        struct Argument {
            name: String,
        }
        let listed: Listed = listed.decode().ok()?;
        let is_word = !listed.name.is_empty() && !listed.name.contains(char::is_whitespace);
        let arguments = listed.arguments.unwrap_or_default().into_iter();
        is_word.then(|| Self {
            name: listed.name,
            description: listed.description.unwrap_or_default(),
            arguments: arguments.map(|argument| argument.name).collect(),
        })
    }
}

/// Collects the pages of a list that a server returns page by page.
#[derive(Debug, Default)]
pub struct Pages {
    seen: HashSet<String>,
    entries: usize,
}

impl Pages {
    /// Records a page; returns the cursor of the next page if the list continues.
    ///
    /// # Errors
    /// The list is too long, or its cursors form a cycle.
    pub fn next(
        &mut self,
        entries: usize,
        cursor: Option<String>,
    ) -> Result<Option<String>, String> {
        self.entries = self.entries.saturating_add(entries);
        if self.entries > MOST_ENTRIES {
            return Err(format!("the list has more than {MOST_ENTRIES} entries"));
        }
        let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else {
            return Ok(None);
        };
        if self.seen.len() + 1 >= MOST_PAGES {
            return Err(format!("the list has more than {MOST_PAGES} pages"));
        }
        if !self.seen.insert(cursor.clone()) {
            return Err("the list goes in a circle: the same `nextCursor` came twice".to_owned());
        }
        Ok(Some(cursor))
    }
}

/// A server's configuration in words, for a person: variables, command and arguments; or its address and headers. Whatever is neither
/// is shown as it stands.
#[must_use]
pub fn server_words(config: &RawJson) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Server {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        url: String,
        headers: BTreeMap<String, String>,
    }
    let server: Server = config.decode().unwrap_or_default();
    let variables = server.env.iter();
    let variables = variables.map(|(name, value)| format!("{name}={}", quoted(value)));
    match (server.command.is_empty(), server.url.is_empty()) {
        (false, true) => variables
            .chain([quoted(&server.command)])
            .chain(server.args.iter().map(|word| quoted(word)))
            .collect::<Vec<_>>()
            .join(" "),
        (true, false) => {
            let headers = server.headers.iter();
            let headers = headers.map(|(name, value)| format!(" with the header {name}: {value}"));
            server.url + &headers.collect::<Vec<_>>().join(",")
        }
        _ => config.get().to_owned(),
    }
}

/// A word quoted for a shell, so that its end is visible.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => quote(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_by_itself_or_is_ended() {
        let mut pages = Pages::default();
        for number in 1..MOST_PAGES {
            let cursor = number.to_string();
            assert_eq!(pages.next(1, Some(cursor.clone())), Ok(Some(cursor)));
        }
        assert_eq!(pages.next(1, None), Ok(None));
        assert!(
            pages
                .next(1, Some("x".to_owned()))
                .unwrap_err()
                .contains("1000 pages")
        );

        let mut pages = Pages::default();
        assert_eq!(pages.next(3, Some(String::new())), Ok(None));
        assert!(pages.next(3, Some("a".to_owned())).is_ok());
        assert!(
            pages
                .next(3, Some("a".to_owned()))
                .unwrap_err()
                .contains("circle")
        );
        assert!(Pages::default().next(MOST_ENTRIES + 1, None).is_err());
    }
}
