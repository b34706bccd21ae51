//! What the input of a call says for rules, read once.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::super::Thread;
use crate::{json::RawJson, permission::CallSubject, tool::ToolDefinition};

/// What was read out of an input, and for how long that holds.
#[derive(Debug, Clone)]
pub(super) struct ReadSubject {
    input: RawJson,
    directory: String,
    variables: Vec<String>,
    subject: Arc<CallSubject>,
}

impl Thread {
    /// What the input of a call says for rules. It is checked, judged and handed over at different moments, and its command is
    /// read at the first of them: again only if another input takes its place, or commands begin in another directory or with other variables by
    /// then.
    pub(super) fn subject(
        &mut self,
        index: usize,
        tool: &ToolDefinition,
        input: &RawJson,
    ) -> Arc<CallSubject> {
        let directory = self.command_directory();
        let variables = self.command_variables();
        if let Some(read) = &self.run.calls[index].subject
            && read.directory == directory
            && read.variables == variables
            && read.input == *input
        {
            return Arc::clone(&read.subject);
        }
        let mut subject = CallSubject::of(tool, input, directory);
        let line = subject.command.take();
        subject.command = line.map(|line| line.after(variables.clone()));
        let subject = Arc::new(subject);
        self.run.calls[index].subject = Some(ReadSubject {
            input: input.clone(),
            directory: directory.into(),
            variables,
            subject: Arc::clone(&subject),
        });
        subject
    }
}
