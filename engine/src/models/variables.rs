//! The environment variables that choose models and say how they are asked.

use std::collections::BTreeMap;

use windlass_core::{
    Spec,
    price::{Caching, Catalogue, ModelFacts, ThinkingForm},
    spec::Effort,
};

use crate::protocol::flags::effort;

/// Every variable that [`ModelVariables::read`] looks at.
pub const VARIABLES: [&str; 23] = [
    "ANTHROPIC_BETAS",
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",
    "CLAUDE_CODE_DISABLE_THINKING",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_STREAM_IDLE_TIMEOUT_MS",
    "DISABLE_PROMPT_CACHING",
    "DISABLE_PROMPT_CACHING_FABLE",
    "DISABLE_PROMPT_CACHING_HAIKU",
    "DISABLE_PROMPT_CACHING_OPUS",
    "DISABLE_PROMPT_CACHING_SONNET",
    "ENABLE_PROMPT_CACHING_1H",
    "ENABLE_TOOL_SEARCH",
    "FORCE_PROMPT_CACHING_5M",
    "MAX_THINKING_TOKENS",
];

/// The families of models that have a short name.
const FAMILIES: [&str; 4] = ["fable", "haiku", "opus", "sonnet"];

/// The beta features that remain where experimental ones are switched off.
const SETTLED_BETAS: [&str; 3] = [
    "claude-code-20250219",
    "interleaved-thinking-2025-05-14",
    "effort-2025-11-24",
];

/// The beta feature for deferred definitions of tools.
const DEFERRED_TOOLS_BETA: &str = "advanced-tool-use-2025-11-20";

/// What the environment says about models. Values that make no sense are left out, with a warning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelVariables {
    /// The model of the session (`ANTHROPIC_MODEL`), weaker than a flag and stronger than settings.
    pub model: Option<String>,
    /// The models that short names stand for (`ANTHROPIC_DEFAULT_…_MODEL`), by short name.
    pub families: BTreeMap<&'static str, String>,
    /// The model for small jobs (`ANTHROPIC_SMALL_FAST_MODEL`, else the haiku of the environment).
    pub small_fast: Option<String>,
    /// The model of subagents whose definition and call name none (`CLAUDE_CODE_SUBAGENT_MODEL`).
    pub subagent: Option<String>,
    /// The effort (`CLAUDE_CODE_EFFORT_LEVEL`): `Some(None)` for none at all; stronger than a flag.
    pub effort: Option<Option<Effort>>,
    /// The maximum number of output tokens of a response.
    pub max_output_tokens: Option<u32>,
    /// The number of thinking tokens of models that take one; 0 to switch thinking off where that is possible.
    pub max_thinking_tokens: Option<u32>,
    /// Requests say nothing about thinking.
    pub no_thinking: bool,
    /// Only beta features that are settled, and no deferred definitions.
    pub no_experiments: bool,
    /// How requests are cached, by family; the empty one is for all.
    pub caching: BTreeMap<&'static str, Caching>,
    /// Further beta features (`ANTHROPIC_BETAS`).
    pub betas: Vec<String>,
    /// When definitions of tools wait until the model searches for them.
    pub tool_search: Option<String>,
    /// How often a failed model request is retried.
    pub max_retries: Option<u32>,
    /// How long a model server may send nothing during a response, in milliseconds; 0 for no limit.
    pub response_idle_ms: Option<u32>,
    /// What is wrong with variables, for people.
    pub warnings: Vec<String>,
}

impl ModelVariables {
    /// Reads an environment. An empty variable counts as unset.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| {
            let value = variable(name)?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let is_on = |name: &str| {
            let value = variable(name).map(|value| value.to_ascii_lowercase());
            value.is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no" | "off"))
        };
        let mut warnings = Vec::new();
        let mut number = |name: &str| {
            let value = variable(name)?;
            let read = value.parse::<u32>().ok();
            if read.is_none() {
                warnings.push(format!("{name} has no effect: {value:?} is not a number"));
            }
            read
        };
        let max_output_tokens =
            number("CLAUDE_CODE_MAX_OUTPUT_TOKENS").filter(|tokens| *tokens > 0);
        let max_thinking_tokens = number("MAX_THINKING_TOKENS");
        let max_retries = number("CLAUDE_CODE_MAX_RETRIES");
        let response_idle_ms = number("CLAUDE_STREAM_IDLE_TIMEOUT_MS");
        let effort = variable("CLAUDE_CODE_EFFORT_LEVEL").and_then(|level| match level.as_str() {
            "auto" | "unset" => Some(None),
            level => {
                let known = effort(level);
                if known.is_none() {
                    warnings.push(format!(
                        "CLAUDE_CODE_EFFORT_LEVEL has no effect: no effort is named {level}"
                    ));
                }
                known.map(Some)
            }
        });
        let of_family = |family: &str| {
            variable(&format!(
                "ANTHROPIC_DEFAULT_{}_MODEL",
                family.to_ascii_uppercase()
            ))
        };
        let families: BTreeMap<&'static str, String> = FAMILIES
            .into_iter()
            .filter_map(|family| Some((family, of_family(family)?)))
            .collect();
        let mut caching = BTreeMap::new();
        if is_on("ENABLE_PROMPT_CACHING_1H") && !is_on("FORCE_PROMPT_CACHING_5M") {
            caching.insert("", Caching::Hour);
        }
        for family in FAMILIES {
            let name = format!("DISABLE_PROMPT_CACHING_{}", family.to_ascii_uppercase());
            if is_on(&name) {
                caching.insert(family, Caching::Off);
            }
        }
        if is_on("DISABLE_PROMPT_CACHING") {
            caching.insert("", Caching::Off);
        }
        let betas = variable("ANTHROPIC_BETAS").unwrap_or_default();
        Self {
            model: variable("ANTHROPIC_MODEL"),
            small_fast: variable("ANTHROPIC_SMALL_FAST_MODEL")
                .or_else(|| families.get("haiku").cloned()),
            families,
            subagent: variable("CLAUDE_CODE_SUBAGENT_MODEL"),
            effort,
            max_output_tokens,
            max_thinking_tokens,
            no_thinking: is_on("CLAUDE_CODE_DISABLE_THINKING"),
            no_experiments: is_on("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"),
            caching,
            betas: names(&betas),
            tool_search: variable("ENABLE_TOOL_SEARCH"),
            max_retries,
            response_idle_ms,
            warnings,
        }
    }

    /// Applies what settings and flags build upon: what short names stand for, and how each model is asked. The spec has been
    /// given its models already.
    pub fn apply(&self, spec: &mut Spec) {
        let default_is_opus = spec.model.aliases.get("opus") == Some(&spec.model.name);
        for (family, model) in &self.families {
            spec.model
                .aliases
                .insert((*family).to_owned(), model.clone());
        }
        if let Some(opus) = self.families.get("opus") {
            spec.model.aliases.insert("best".to_owned(), opus.clone());
            if default_is_opus {
                spec.model.name.clone_from(opus);
            }
        }
        if let Some(sonnet) = self.families.get("sonnet") {
            spec.model
                .aliases
                .insert("opusplan".to_owned(), sonnet.clone());
        }
        spec.model.betas.extend(self.betas.iter().cloned());
        let is_inline = self
            .tool_search
            .as_deref()
            .is_some_and(|it| it == "false" || it == "0");
        let changes = self.no_thinking
            || self.no_experiments
            || is_inline
            || self.effort == Some(None)
            || !self.caching.is_empty();
        if !changes {
            return;
        }
        let changed: Vec<ModelFacts> = (spec.model.catalogue.models())
            .map(|facts| self.changed(facts.clone(), is_inline))
            .collect();
        spec.model.catalogue = Catalogue::default().with(changed);
    }

    fn changed(&self, mut facts: ModelFacts, is_inline: bool) -> ModelFacts {
        if self.no_thinking {
            facts.thinking = ThinkingForm::None;
        }
        if self.no_experiments {
            facts
                .betas
                .retain(|beta| SETTLED_BETAS.contains(&beta.as_str()));
        }
        if self.no_experiments || is_inline {
            facts.deferred_tools = false;
            facts.betas.retain(|beta| beta != DEFERRED_TOOLS_BETA);
        }
        if self.effort == Some(None) {
            facts.efforts.clear();
            facts.effort = None;
        }
        let of_family = |family: &&&str| !family.is_empty() && facts.prefix.contains(**family);
        let family = self.caching.keys().find(of_family).copied().unwrap_or("");
        if let Some(caching) = self.caching.get(family).or_else(|| self.caching.get("")) {
            facts.caching = *caching;
        }
        facts
    }
}

/// The names of a list, separated by commas or blanks.
fn names(list: &str) -> Vec<String> {
    let names = list.split(|c: char| c == ',' || c.is_whitespace());
    names
        .filter(|name| !name.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}
