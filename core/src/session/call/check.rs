//! Checks before the permission decision: validates the input and finds the files that a call names.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{
    super::{Shared, Thread},
    record::{CallState, ToolCallInput},
};
use crate::{
    effect::{Effect, Stage},
    json::{self, RawObject},
    model::StopReason,
    permission::{PathFact, ResolvedPath, look_for_closed, named_paths},
    schema,
    tool::{Access, ToolResult},
    tools::tool_search,
};

impl Thread {
    /// Validates a call and finds the files that it names.
    pub(in crate::session) fn begin(&mut self, shared: &mut Shared, index: usize) {
        let call = &self.run.calls[index];
        let spec = self.spec.clone();
        let Some(tool) = spec.tool(&call.name).filter(|tool| spec.has_tool(tool)) else {
            let text = unknown_tool(
                &call.name,
                spec.offered_tools().map(|t| spec.offered_name(t)),
            );
            return self.finish_call(shared, index, ToolResult::error(text));
        };
        let input = match &call.input {
            ToolCallInput::Json(input) => input.clone(),
            ToolCallInput::Unusable(text) => {
                let cut = self.run.stop_reason == Some(StopReason::MaxTokens);
                let text = unusable_input(&call.name, text, cut);
                return self.finish_call(shared, index, ToolResult::error(text));
            }
        };
        // JSON readers differ in which of two duplicate fields counts: the value that is judged might not be the one that is
        // used.
        if let Some(field) = RawObject::parse(input.get())
            .ok()
            .and_then(|object| object.duplicate().map(ToOwned::to_owned))
        {
            let text = format!(
                "The input of {} has the field `{field}` twice, so the call was not run. Make the call again with each field once.",
                tool.name
            );
            return self.finish_call(shared, index, ToolResult::error(text));
        }
        if let Some(format) = spec
            .prompt
            .output
            .as_ref()
            .filter(|f| f.tool().name == tool.name)
        {
            return self.take_output(shared, index, format, input);
        }
        if let Err(fault) = schema::validate(tool.input_schema.get(), input.get()) {
            let text = if self.waits_to_be_found(&tool.name) {
                tool_search::load_first(&tool.name, &fault)
            } else {
                format!("The input of {} is not valid: {fault}", tool.name)
            };
            return self.finish_call(shared, index, ToolResult::error(text));
        }
        // An input that a person approved is only checked against the schema.
        if let Some(core) = tool.core.filter(|_| !self.run.calls[index].approved)
            && let Some(fault) = self.core_fault(shared, core, &input)
        {
            return self.finish_call(shared, index, ToolResult::error(fault));
        }
        if self.ask_hooks_before(shared, index) {
            return;
        }
        let cwd = &spec.environment.cwd;
        let mut paths = named_paths(tool, &input, cwd);
        for asked in &mut paths {
            asked.path = self.seen_from_here(core::mem::take(&mut asked.path));
        }
        if let Some(command) = &self.subject(index, tool, &input).command {
            let mut shown = command.paths();
            look_for_closed(&mut shown, &self.policy(shared));
            paths.append(&mut shown);
        }
        if paths.is_empty() {
            self.run.calls[index].paths.clear();
            return self.judge_call(shared, index);
        }
        let call = &mut self.run.calls[index];
        call.state = CallState::Resolving;
        // As the model wrote them, until the host has resolved them.
        call.paths = paths.iter().map(PathFact::asked).collect();
        let id = self.call_effect(shared, index, Stage::Resolve);
        self.perform(shared, id, Effect::Resolve(paths));
    }

    pub(super) fn resolved(
        &mut self,
        shared: &mut Shared,
        index: usize,
        answers: Vec<Result<ResolvedPath, String>>,
    ) {
        let call = &mut self.run.calls[index];
        let tool = self.spec.tool(&call.name);
        let of_command = tool.is_some_and(|tool| tool.paths.is_empty());
        let read_first = tool.is_some_and(|tool| tool.paths.iter().any(|param| param.read_first));
        let asked = &mut call.paths;
        let answers: Vec<Result<ResolvedPath, String>> = answers
            .into_iter()
            .map(|answer| match answer {
                // The decision must be made on the path after resolution, not on how it was written.
                Ok(real) if real.path.split('/').any(|name| name == "..") => Err(format!(
                    "The host resolved a path to {}, which is not a real path.",
                    real.path
                )),
                answer => answer,
            })
            .collect();
        if answers.len() != asked.len() {
            let text = "The host resolved another number of paths than it was asked for.";
            return self.finish_call(shared, index, ToolResult::error(text));
        }
        let mut facts = Vec::with_capacity(asked.len());
        call.unread = None;
        for (fact, answer) in core::mem::take(asked).into_iter().zip(answers) {
            match answer {
                Ok(real) => {
                    let is_unread = real.exists && !shared.observed.contains_key(&real.path);
                    if read_first && fact.access == Access::Write && is_unread {
                        call.unread = Some(fact.written.clone());
                    }
                    facts.extend(PathFact::found(fact, real));
                }
                // The command itself will report the error. The file is not granted to it.
                Err(_) if of_command => {}
                Err(reason) => {
                    return self.finish_call(shared, index, ToolResult::error(reason));
                }
            }
        }
        *asked = facts;
        self.judge_call(shared, index);
    }
}

fn unknown_tool<'a>(name: &str, offered: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = offered.collect();
    format!(
        "There is no tool named {name}. The tools are: {}.",
        names.join(", ")
    )
}

fn unusable_input(name: &str, text: &str, cut: bool) -> String {
    if cut {
        format!(
            "The input of {name} was cut off by the output limit after {} bytes, so the call was not run. Make the call again with a shorter input, or split it.",
            text.len()
        )
    } else {
        let fault = match json::read::tree(text) {
            Ok(_) => String::new(),
            Err(fault) => format!(" ({fault})"),
        };
        format!(
            "The input of {name} is not a JSON object{fault}, so the call was not run. Make the call again with valid JSON."
        )
    }
}
