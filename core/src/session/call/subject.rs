//! What the input of a call means for rules, parsed once.

use alloc::{string::String, sync::Arc, vec::Vec};

use crate::{json::RawJson, permission::CallSubject, tool::ToolDefinition};

/// The parsed input, and the conditions under which it is valid.
#[derive(Debug, Clone)]
pub(super) struct ReadSubject {
    input: RawJson,
    directory: String,
    variables: Vec<String>,
    subject: Arc<CallSubject>,
}

impl ReadSubject {
    /// Parses an input, for commands that start in this directory after setting these variables.
    pub(super) fn of(
        tool: &ToolDefinition,
        input: &RawJson,
        directory: &str,
        variables: Vec<String>,
    ) -> Self {
        let mut subject = CallSubject::of(tool, input, directory);
        let line = subject.command.take();
        subject.command = line.map(|line| line.after(variables.clone()));
        Self {
            input: input.clone(),
            directory: directory.into(),
            variables,
            subject: Arc::new(subject),
        }
    }

    /// Whether it is what this input means under these conditions.
    pub(super) fn is_of(&self, input: &RawJson, directory: &str, variables: &[String]) -> bool {
        self.directory == directory && self.variables == variables && self.input == *input
    }

    /// What the input means for rules.
    pub(super) fn subject(&self) -> Arc<CallSubject> {
        Arc::clone(&self.subject)
    }
}
