//! Standing instructions (CLAUDE.md): in front of the first message of every request.
//!
//! They are no part of the history. So they survive every compaction, need no line in the transcript, and
//! what a resumed session is told is what the files say then. Their place is fixed and their text
//! does not change while the session lives: the provider reads them from its cache.

use alloc::string::String;
use core::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Whose instructions they are (Agent SDK reference, `SettingSource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// The person's own, for all projects.
    User,
    /// The project's, shared by those who work on it.
    Project,
    /// The person's own, for this project.
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

/// A file with standing instructions. The host finds and reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFile {
    /// Where it was read.
    pub path: String,
    /// Whose it is.
    pub scope: MemoryScope,
    /// What it says.
    pub text: String,
}

/// The text that stands in front of the conversation; none when no file says anything.
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
