//! What was said in a stored session, as the editor would have been told it.

use std::path::Path;

use serde_json::Value;

use super::update::Translator;

/// The updates for the lines of a transcript. What is not part of the conversation is left out: lines of agents, and what was
/// put in for the model only.
pub(super) fn updates(transcript: &str, cwd: &Path) -> Vec<Value> {
    let mut translator = Translator::new(cwd.to_owned());
    let lines = transcript
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is = |line: &Value, name: &str| line.get(name).is_some_and(|value| value == true);
    lines
        .filter(|line| !is(line, "isSidechain") && !is(line, "isMeta"))
        .flat_map(|line| translator.stored(&line))
        .collect()
}
