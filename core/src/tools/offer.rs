//! Which tools a request offers, and which of them are deferred.
//!
//! Tool definitions are part of every request. With many MCP servers they fill the context before the first prompt, so beyond a
//! threshold they are deferred until ToolSearch finds them.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{CoreTool, CoreToolState, skill, task};
use crate::{
    provider::ToolOffer,
    sorted::SortedMap,
    spec::{Spec, ToolSearchSetting},
    tool::{Loading, ToolDefinition},
};

/// The assumed context window in tokens of a model that is not in the catalogue.
const USUAL_WINDOW: u64 = 200_000;
/// Bytes of a definition per token: an estimate that suffices for a threshold.
const BYTES_PER_TOKEN: u64 = 4;

/// The tools of a request, in the order in which they are sent.
///
/// With a provider that supports deferred definitions, all are included and stay unchanged whatever is found later: the findings
/// are in the history, and the beginning of the request can be read from the cache. Otherwise a definition is included once it
/// was found, after all others.
#[must_use]
pub fn offers<'a>(spec: &'a Spec, model: &str, tool_state: &CoreToolState) -> Vec<ToolOffer<'a>> {
    let waiting = deferred(spec, model);
    let waits = |tool: &ToolDefinition| waiting.contains_key(tool.name.as_str());
    let offer = |definition: &'a ToolDefinition, deferred| ToolOffer {
        definition,
        name: spec.offered_name(definition),
        description: description(spec, definition, &waiting),
        deferred,
    };
    let mut offers: Vec<ToolOffer<'a>> = spec
        .offered_tools()
        .filter(|tool| !waits(tool))
        // If no tool is deferred, there is nothing to search for.
        .filter(|tool| tool.core != Some(CoreTool::ToolSearch) || !waiting.is_empty())
        .filter(|tool| tool.core != Some(CoreTool::Task) || task::startable(spec).next().is_some())
        .filter(|tool| tool.core != Some(CoreTool::Skill) || skill::listed(spec).next().is_some())
        .map(|tool| offer(tool, false))
        .collect();
    if spec.takes_deferred_tools(model) {
        let later = spec.offered_tools().filter(|tool| waits(tool));
        offers.extend(later.map(|tool| offer(tool, true)));
    } else {
        let found = tool_state
            .loaded
            .iter()
            .filter(|name| waiting.contains_key(name.as_str()));
        offers.extend(found.filter_map(|name| Some(offer(spec.tool(name)?, false))));
    }
    offers
}

/// The names of the tools whose definitions are deferred.
pub(crate) fn deferred<'a>(spec: &'a Spec, model: &str) -> SortedMap<&'a str, ()> {
    let can_search = (spec.offered_tools()).any(|tool| tool.core == Some(CoreTool::ToolSearch));
    let waiting = |tool: &&ToolDefinition| match tool.loading {
        Loading::Usual => tool.name.starts_with("mcp__"),
        Loading::Upfront => false,
        Loading::OnDemand => true,
    };
    let candidates = || spec.offered_tools().filter(waiting);
    let past_threshold = match spec.tools.search {
        _ if !can_search => false,
        ToolSearchSetting::Off => false,
        ToolSearchSetting::On => true,
        ToolSearchSetting::Auto { percent } => {
            let known = spec
                .model
                .catalogue
                .get(model)
                .map_or(0, |m| m.context_window);
            let window = if known == 0 { USUAL_WINDOW } else { known };
            let tokens = candidates().map(size).sum::<u64>() / BYTES_PER_TOKEN;
            tokens.saturating_mul(100) > window.saturating_mul(u64::from(percent))
        }
    };
    if past_threshold {
        candidates().map(|tool| (tool.name.as_str(), ())).collect()
    } else {
        SortedMap::new()
    }
}

/// The approximate size of a definition in a request, in bytes.
fn size(tool: &ToolDefinition) -> u64 {
    let bytes = tool.name.len() + tool.description.len() + tool.input_schema.get().len();
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn description<'a>(
    spec: &Spec,
    tool: &'a ToolDefinition,
    waiting: &SortedMap<&str, ()>,
) -> Cow<'a, str> {
    let added = match tool.core {
        Some(CoreTool::ToolSearch) => {
            let mut names = String::from("Tools that can be loaded:");
            for name in waiting.keys() {
                names.push('\n');
                names.push_str(name);
            }
            names
        }
        Some(CoreTool::Skill) => skill::list(spec),
        Some(CoreTool::Task) => task::list(spec),
        _ => return Cow::Borrowed(&tool.description),
    };
    Cow::Owned(format!("{}\n\n{added}", tool.description))
}
