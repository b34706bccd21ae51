//! Memory files (CLAUDE.md): instructions in front of the first message of every request.
//!
//! They are not part of the history. They therefore survive every compaction and are not written to the transcript, and a resumed
//! session gets their current text. Their position is fixed and their text does not change during a session, so that the provider
//! reads them from its cache.

use alloc::string::String;
use core::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// The scope of a memory file (Agent SDK reference, `SettingSource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// The user's, for all projects.
    User,
    /// The project's, shared by everybody who works on it.
    Project,
    /// The user's, for this project.
    Local,
}

impl MemoryScope {
    fn words(self) -> &'static str {
        match self {
            Self::User => "the user's own instructions, for every project",
            Self::Project => "instructions of this project, shared by everyone who works on it",
            Self::Local => "the user's own instructions for this project",
        }
    }
}

/// A memory file. The host finds and reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFile {
    /// The path it was read from.
    pub path: String,
    /// Its scope.
    pub scope: MemoryScope,
    /// Its text.
    pub text: String,
}

/// The text in front of the conversation; none if all files are empty.
#[must_use]
pub fn reminder(files: &[MemoryFile]) -> Option<String> {
    let mut out = String::new();
    for file in files.iter().filter(|file| !file.text.trim().is_empty()) {
        if out.is_empty() {
            out.push_str(
                "<system-reminder>\nThe user keeps instructions in files, given here in full. They hold for the whole \
                 conversation and go before your usual habits. Where they do not concern the task at hand, leave them unmentioned.\n",
            );
        }
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "\n# {} ({})\n\n{}\n",
            file.path,
            file.scope.words(),
            file.text.trim()
        );
    }
    (!out.is_empty()).then(|| out + "</system-reminder>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_and_empty_ones_left_out() {
        let file = |path: &str, scope, text: &str| MemoryFile {
            path: path.into(),
            scope,
            text: text.into(),
        };
        assert_eq!(reminder(&[]), None);
        assert_eq!(reminder(&[file("/a", MemoryScope::User, " \n")]), None);
        let text = reminder(&[
            file(
                "/home/me/.claude/CLAUDE.md",
                MemoryScope::User,
                "Be kind.\n",
            ),
            file("/work/CLAUDE.md", MemoryScope::Project, "Use tabs."),
        ])
        .unwrap();
        assert!(text.starts_with("<system-reminder>\n") && text.ends_with("\n</system-reminder>"));
        let (user, project) = (
            text.find("Be kind.").unwrap(),
            text.find("Use tabs.").unwrap(),
        );
        assert!(user < project);
        assert!(text.contains("/work/CLAUDE.md (instructions of this project"));
    }
}
