//! ToolSearch: finds tools whose definitions are not loaded, and loads them.
//!
//! The sources name the tool and its setting (`ENABLE_TOOL_SEARCH`) but specify no schema; this one is ours. A query is either
//! `select:Name,Other`, or keywords. A keyword counts if it occurs in a tool's name, its description or the names of its
//! parameters, and counts more if fewer tools contain it; one that begins with `+` must occur.
//!
//! A deferred tool that is called without having been found runs like any other if its input matches its schema. Otherwise the
//! model is told to load the definition first.

use alloc::{borrow::ToOwned, collections::BTreeSet, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{CoreToolState, Done, Seen, answered, offer};
use crate::{
    content::ResultBlock,
    history::History,
    json::{RawJson, RawObject},
    spec::Spec,
    tool::ToolDefinition,
};

pub(super) const DESCRIPTION: &str = "Loads tools. Of the tools listed below you know the name only; find what you need here before you call it. \
`query` is either `select:` and exact names with commas between (`select:mcp__mail__send,mcp__mail__list`), or a few keywords for what the tool should do \
(`send mail`), a `+` before those that must occur. What is found can be called from the next response on, and stays loaded.";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "query": { "type": "string", "minLength": 1, "description": "`select:` with exact names, or keywords" },
    "max_results": { "type": "integer", "minimum": 1, "maximum": 50, "description": "At most so many tools for keywords; 5 when left out" }
  },
  "required": ["query"]
}"#;

/// The number of tools found for keywords if the model does not specify it.
const USUAL_RESULTS: u32 = 5;

/// The input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSearchInput {
    /// `select:` with names, or keywords.
    pub query: String,
    /// The maximum number of tools that keywords may find.
    #[serde(default)]
    pub max_results: Option<u32>,
}

/// The structured output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSearchOutput {
    /// The tools that are now loaded, best first.
    pub matches: Vec<String>,
    /// The query.
    pub query: String,
    /// The number of tools that can be searched.
    pub total_deferred_tools: u32,
}

pub(super) fn run(
    input: &ToolSearchInput,
    seen: &Seen<'_>,
    tool_state: &mut CoreToolState,
) -> Done {
    let waiting = offer::deferred(seen.spec, seen.model);
    let tools: Vec<&ToolDefinition> = (seen.spec.offered_tools())
        .filter(|tool| waiting.contains_key(tool.name.as_str()))
        .collect();
    let query = input.query.trim();
    let found = match query.strip_prefix("select:") {
        Some(names) => {
            let (found, unknown) = select(names, &tools);
            if let Some(text) = unknown_names(&unknown, seen, found.is_empty()) {
                return Done::failed(text);
            }
            found
        }
        None => {
            let most = input.max_results.unwrap_or(USUAL_RESULTS);
            rank(query, &tools, most as usize)
        }
    };
    let output = ToolSearchOutput {
        matches: found.iter().map(|tool| tool.name.clone()).collect(),
        query: input.query.clone(),
        total_deferred_tools: u32::try_from(tools.len()).unwrap_or(u32::MAX),
    };
    for name in &output.matches {
        if !tool_state.loaded.contains(name) {
            tool_state.loaded.push(name.clone());
        }
    }
    let mut result = answered(summary(&output), &output);
    if !found.is_empty() && seen.spec.takes_deferred_tools(seen.model) {
        // The provider inserts the definitions in place of these references.
        result.content = output.matches.iter().map(|name| reference(name)).collect();
    }
    result.into()
}

/// Precedes the names in a result without references.
const LOADED: &str = "Loaded, and can be called from now on: ";

/// The tools that a result names as found.
pub(super) fn found_in(content: &RawJson) -> Vec<String> {
    let Ok(blocks) = content.read::<Vec<RawJson>>() else {
        let text = content.read::<String>().unwrap_or_default();
        return named_in(&text);
    };
    let blocks = blocks
        .iter()
        .filter_map(|block| RawObject::parse(block.get()).ok());
    blocks
        .flat_map(|block| match block.get_string("type").as_deref() {
            Some("tool_reference") => block.get_string("tool_name").into_iter().collect(),
            _ => named_in(&block.get_string("text").unwrap_or_default()),
        })
        .collect()
}

fn named_in(text: &str) -> Vec<String> {
    let names = text
        .strip_prefix(LOADED)
        .and_then(|rest| rest.strip_suffix('.'));
    let names = names.into_iter().flat_map(|names| names.split(", "));
    names.map(ToOwned::to_owned).collect()
}

fn summary(output: &ToolSearchOutput) -> String {
    match output.matches.as_slice() {
        [] => format!(
            "No tool fits `{}`. Try other words, or `select:` with a name from the list.",
            output.query
        ),
        names => format!("{LOADED}{}.", names.join(", ")),
    }
}

/// A block that the provider replaces by a tool's definition (Messages API, `tool_reference`).
fn reference(name: &str) -> ResultBlock {
    #[derive(Serialize)]
    struct ToolReference<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        tool_name: &'a str,
    }
    let block = RawJson::encode(&ToolReference {
        kind: "tool_reference",
        tool_name: name,
    });
    // Two strings: encoding cannot fail.
    ResultBlock::Other(block.unwrap_or_else(|_| RawJson::empty_object()))
}

/// Forgets found tools to which nothing in the conversation refers any more: if definitions are deferred, the provider shows them
/// to the model only after their references. Otherwise found definitions are part of every request, and stay so.
pub(crate) fn forget_unreferenced(
    spec: &Spec,
    model: &str,
    tool_state: &mut CoreToolState,
    history: &History,
) {
    if tool_state.loaded.is_empty() || !spec.takes_deferred_tools(model) {
        return;
    }
    let lines: Vec<String> = (history.lines())
        .filter_map(|line| String::from_utf8(line.to_vec()).ok())
        .collect();
    tool_state.loaded.retain(|name| {
        let reference = format!("{{\"type\":\"tool_reference\",\"tool_name\":\"{name}\"}}");
        lines.iter().any(|line| line.contains(&reference))
    });
}

/// The tools with these names, ignoring case, and the names that match none.
fn select<'a>(names: &str, tools: &[&'a ToolDefinition]) -> (Vec<&'a ToolDefinition>, Vec<String>) {
    let (mut found, mut unknown): (Vec<&ToolDefinition>, _) = (Vec::new(), Vec::new());
    for name in names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        match tools
            .iter()
            .find(|tool| tool.name.eq_ignore_ascii_case(name))
        {
            Some(tool) if found.iter().any(|known| known.name == tool.name) => {}
            Some(tool) => found.push(tool),
            None => unknown.push(name.to_owned()),
        }
    }
    (found, unknown)
}

/// The error for names that are not those of deferred tools. A tool that is already loaded is not an error as long as another one
/// was found.
fn unknown_names(unknown: &[String], seen: &Seen<'_>, found_none: bool) -> Option<String> {
    let (known, unknown): (Vec<&String>, Vec<&String>) = unknown
        .iter()
        .partition(|name| seen.spec.tool(name).is_some());
    let list = |names: &[&String]| {
        let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        names.join(", ")
    };
    if !unknown.is_empty() {
        return Some(format!(
            "There is no tool named {}; nothing was loaded. Take the names from the list, or search by keywords.",
            list(&unknown)
        ));
    }
    match (found_none, known.is_empty()) {
        (true, false) => Some(format!(
            "Nothing to load: {} can be called as it is.",
            list(&known)
        )),
        (true, true) => Some("Name a tool after `select:`.".to_owned()),
        (false, _) => None,
    }
}

/// The score of a keyword, by where it occurs.
const IN_NAME_AS_WORD: u32 = 8;
const IN_NAME: u32 = 5;
const IN_DESCRIPTION_AS_WORD: u32 = 3;
const IN_PARAMETERS: u32 = 2;
const IN_DESCRIPTION: u32 = 1;

/// The searchable texts of a tool.
struct Entry<'a> {
    tool: &'a ToolDefinition,
    name: Vec<String>,
    description: Vec<String>,
    parameters: Vec<String>,
}

impl<'a> Entry<'a> {
    fn new(tool: &'a ToolDefinition) -> Self {
        Self {
            tool,
            name: words(&tool.name),
            description: words(&tool.description),
            parameters: parameters(&tool.input_schema),
        }
    }

    /// The score of a keyword for this tool; 0 if it does not occur.
    fn worth(&self, keyword: &str) -> u32 {
        let is = |words: &[String]| words.iter().any(|word| word == keyword);
        let has = |words: &[String]| words.iter().any(|word| word.contains(keyword));
        if is(&self.name) {
            IN_NAME_AS_WORD
        } else if has(&self.name) {
            IN_NAME
        } else if is(&self.description) {
            IN_DESCRIPTION_AS_WORD
        } else if is(&self.parameters) {
            IN_PARAMETERS
        } else if has(&self.description) || has(&self.parameters) {
            IN_DESCRIPTION
        } else {
            0
        }
    }
}

/// The tools that match keywords, best first; ties keep their order.
fn rank<'a>(query: &str, tools: &[&'a ToolDefinition], most: usize) -> Vec<&'a ToolDefinition> {
    if let Some(tool) = tools
        .iter()
        .find(|tool| tool.name.eq_ignore_ascii_case(query))
    {
        return alloc::vec![*tool];
    }
    let entries: Vec<Entry<'_>> = tools.iter().map(|tool| Entry::new(tool)).collect();
    let required: Vec<String> = (query.split_whitespace())
        .filter_map(|word| word.strip_prefix('+'))
        .flat_map(words)
        .collect();
    let mut keywords = BTreeSet::new();
    keywords.extend(words(query));
    let mut points: Vec<u32> = alloc::vec![0; entries.len()];
    for keyword in &keywords {
        let worth: Vec<u32> = entries.iter().map(|entry| entry.worth(keyword)).collect();
        let having = worth.iter().filter(|worth| **worth > 0).count();
        // Rare words count more: each halving of the number of tools that contain it adds one.
        let rarity = (entries.len() / having.max(1)).checked_ilog2().unwrap_or(0) + 1;
        for (points, worth) in points.iter_mut().zip(worth) {
            *points += worth * rarity;
        }
    }
    let mut ranked: Vec<(u32, &ToolDefinition)> = (entries.iter().zip(points))
        .filter(|(entry, points)| {
            *points > 0 && required.iter().all(|keyword| entry.worth(keyword) > 0)
        })
        .map(|(entry, points)| (points, entry.tool))
        .collect();
    let mut best = Vec::new();
    while best.len() < most {
        let first = (0..ranked.len()).rev().max_by_key(|at| ranked[*at].0);
        let Some(first) = first else { break };
        best.push(ranked.remove(first).1);
    }
    best
}

/// Words in lower case: split at characters other than letters and digits, and where a capital follows a small letter.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut after_small) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        let splits = !c.is_alphanumeric() || (after_small && c.is_uppercase());
        if splits && !word.is_empty() {
            words.push(core::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The words of a schema's parameters: their names and descriptions.
fn parameters(schema: &RawJson) -> Vec<String> {
    let object = |raw: &RawJson| RawObject::parse(raw.get()).ok();
    let properties = object(schema).and_then(|schema| object(schema.get("properties")?));
    let mut all = Vec::new();
    for (name, property) in properties.iter().flat_map(RawObject::fields) {
        all.extend(words(name));
        let described = object(property).and_then(|p| p.get_string("description"));
        all.extend(words(&described.unwrap_or_default()));
    }
    all
}

/// The message for the model if the input of a deferred tool does not match its schema.
pub(crate) fn load_first(name: &str, fault: &dyn core::fmt::Display) -> String {
    format!(
        "The input of {name} is not valid: {fault}. Its definition was not loaded: call ToolSearch with `select:{name}`, then call it again.",
    )
}

#[cfg(test)]
mod tests {

    use super::*;

    fn tool(name: &str, description: &str, parameter: &str) -> ToolDefinition {
        let schema = format!(r#"{{"type":"object","properties":{{"{parameter}":{{}}}}}}"#);
        ToolDefinition::new(name, description, RawJson::parse(schema).unwrap())
    }

    fn found(query: &str, most: usize) -> Vec<String> {
        let tools = [
            tool("mcp__mail__send_message", "Sends a mail", "recipient"),
            tool("mcp__chat__postMessage", "Posts to a channel", "channel"),
            tool("mcp__files__search", "Finds files by their text", "pattern"),
            tool("mcp__mail__list", "Lists mail, newest first", "folder"),
        ];
        let tools: Vec<&ToolDefinition> = tools.iter().collect();
        rank(query, &tools, most)
            .iter()
            .map(|tool| tool.name.clone())
            .collect()
    }

    #[test]
    fn names_count_more_than_descriptions_and_rare_words_more_than_common_ones() {
        assert_eq!(
            found("send mail", 9),
            ["mcp__mail__send_message", "mcp__mail__list"]
        );
        assert_eq!(
            found("message", 9),
            ["mcp__mail__send_message", "mcp__chat__postMessage"]
        );
        assert_eq!(found("channel", 9), ["mcp__chat__postMessage"]);
        assert_eq!(found("recipient", 9), ["mcp__mail__send_message"]);
        assert_eq!(found("MCP__FILES__SEARCH", 9), ["mcp__files__search"]);
        assert!(found("weather", 9).is_empty());
        assert_eq!(found("mail", 1).len(), 1);
    }

    #[test]
    fn a_plus_demands_a_word() {
        assert_eq!(found("message +channel", 9), ["mcp__chat__postMessage"]);
        assert!(found("+mail +channel", 9).is_empty());
    }
}
