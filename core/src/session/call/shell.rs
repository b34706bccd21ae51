//! Shell state that persists from one command to the next, and what a command means in it.

use alloc::{borrow::ToOwned, format, string::String, sync::Arc, vec::Vec};

use super::{
    super::{Shared, Thread},
    subject::ReadSubject,
};
use crate::{
    content::ResultBlock,
    json::RawJson,
    permission::CallSubject,
    tool::{ToolDefinition, ToolResult},
};

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
        let read = self.run.calls[index].subject.as_ref();
        if let Some(read) = read.filter(|read| read.is_of(input, directory, &variables)) {
            return read.subject();
        }
        let read = ReadSubject::of(tool, input, directory, variables);
        let subject = read.subject();
        self.run.calls[index].subject = Some(read);
        subject
    }

    /// The directory in which the next command starts.
    pub(in crate::session) fn command_directory(&self) -> &str {
        let shell = self.workplace.shell();
        shell.map_or(&self.spec.environment.cwd, |shell| &shell.directory)
    }

    /// The names of variables that were set by commands.
    pub(in crate::session) fn command_variables(&self) -> Vec<String> {
        let shell = self.workplace.shell().into_iter();
        let variables =
            shell.flat_map(|shell| shell.variables.iter().chain(&shell.confined_variables));
        variables.map(|variable| variable.name.clone()).collect()
    }

    /// Stores the shell state after a command. A command that moved outside the workspace does so only for itself: the next one
    /// starts in the working directory, and the model is told so.
    pub(super) fn take_shell(
        &mut self,
        shared: &mut Shared,
        index: usize,
        result: &mut ToolResult,
    ) {
        let Some(mut shell) = result.shell.take() else {
            return;
        };
        let tool = self.spec.tool(&self.run.calls[index].name);
        if tool.is_none_or(|tool| tool.command_param.is_none()) {
            return;
        }
        if !self.policy(shared).in_workspace(&shell.directory) {
            let cwd = &self.spec.environment.cwd;
            let text = format!(
                "The command ended in {}, outside of the workspace: the next one begins in {cwd}.",
                shell.directory
            );
            result.content.push(ResultBlock::Text { text });
            shell.directory.clone_from(cwd);
        }
        let before = self.command_directory().to_owned();
        self.workplace.take_shell(shell);
        self.tell_hooks_of_move(shared, before);
    }
}
