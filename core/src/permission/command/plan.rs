//! The plan that a host runs instead of a line whose commands were judged one by one.

use alloc::{string::String, vec::Vec};

use super::{CommandLine, allow::allows, files::FileCommand};
use crate::{
    permission::{PathFact, PolicyContext, deny_patterns, judge::is_about_commands},
    tool::{CommandPlan, PlannedFile, ToolDefinition},
};

impl CommandLine {
    /// The plan that runs instead of the text after its commands were judged one by one; none if only the whole text can run.
    #[must_use]
    pub fn plan(
        &self,
        policy: &PolicyContext<'_>,
        tool: &ToolDefinition,
        files: &[PathFact],
    ) -> Option<CommandPlan> {
        let script = self.script.clone().filter(|_| self.obstacle.is_none())?;
        let files = files.iter().map(|fact| PlannedFile {
            written: fact.written.clone(),
            real: fact.path.clone(),
            access: fact.access,
        });
        let (mode_allowed_files, only_mode_allows) = self.mode_allowed_files(policy, tool);
        Some(CommandPlan {
            script,
            directory: self.directory.clone(),
            workspace: policy.workspace_roots().map(String::from).collect(),
            files: files.collect(),
            mode_allowed_files,
            only_mode_allows,
            deny: deny_patterns(policy),
            own_directories: policy.environment.own_directories.clone(),
            private_paths: policy.environment.private_paths.clone(),
        })
    }

    /// The files of plain file commands that no rule allows, and whether there are no others.
    fn mode_allowed_files(
        &self,
        policy: &PolicyContext<'_>,
        tool: &ToolDefinition,
    ) -> (Vec<String>, bool) {
        let rules = &policy.rules.allow;
        let (mut files, mut all) = (Vec::new(), true);
        for part in &self.parts {
            let FileCommand::Changes(uses) = &part.files.command else {
                continue;
            };
            match uses {
                Some(uses)
                    if !rules
                        .iter()
                        .any(|rule| is_about_commands(rule, tool) && allows(rule, part)) =>
                {
                    files.extend(uses.iter().filter_map(|used| used.path.clone()));
                }
                _ => all = false,
            }
        }
        (files, all)
    }
}
