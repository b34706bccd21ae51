//! What the input of a call means for rules, parsed once.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::super::Thread;
use crate::{json::RawJson, permission::CallSubject, tool::ToolDefinition};

/// The parsed input, and the conditions under which it is valid.
#[derive(Debug, Clone)]
pub(super) struct ReadSubject {
    input: RawJson,
    directory: String,
    variables: Vec<String>,
    subject: Arc<CallSubject>,
}

impl Thread {
    /// What the input of a call means for rules. It is needed when the call is validated, judged and run; its command is parsed
    /// the first time. It is parsed again only if the input, the directory in which commands start, or the variables they set
    /// have changed.
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
