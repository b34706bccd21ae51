//! The data file of models, and what the core is given of it.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::{Deserialize, Serialize};
use windlass_core::{
    RawJson, Spec,
    money::Usd,
    price::{Catalogue, ModelFacts, ThinkingForm},
    spec::{DEFAULT_MODEL, Effort},
};

/// The beta feature for a context of a million tokens on models that have less by themselves.
const LONG_CONTEXT_BETA: &str = "context-1m-2025-08-07";
/// The context window with it.
const LONG_CONTEXT: u64 = 1_000_000;
/// The ending of a model's name that asks for it.
pub(super) const LONG_CONTEXT_MARK: &str = "[1m]";

/// All models that are known by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTable {
    /// What the file is.
    pub about: String,
    /// When its facts were gathered (`2026-11-28`).
    pub date: String,
    /// Where its facts come from.
    pub source: String,
    /// The model of a session that names none.
    pub default: String,
    /// The models that short names stand for.
    pub aliases: BTreeMap<String, String>,
    /// Models that are gone, and the models that take their place.
    pub replaced: BTreeMap<String, String>,
    /// Lists of beta features, by the name under which models refer to them.
    pub betas: BTreeMap<String, Vec<String>>,
    /// The choices that an application is offered, in their order.
    pub offered: Vec<Offered>,
    /// The models. The one without ids stands for all others.
    pub models: Vec<KnownModel>,
}

/// A choice that an application is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// The short name.
    pub value: String,
    /// Its name for people.
    pub name: String,
    /// What it is for; `{name}` is the name of the model that it stands for.
    pub about: String,
}

/// A model. Prices are in dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownModel {
    /// Its names in requests; a date may follow each.
    pub ids: Vec<String>,
    /// Its name for people.
    pub name: String,
    /// Price of input.
    pub input: Usd,
    /// Price of output.
    pub output: Usd,
    /// Price of input that is kept in the cache for five minutes.
    pub cache_write_5m: Usd,
    /// Price of input that is kept in the cache for an hour.
    pub cache_write_1h: Usd,
    /// Price of input that is read from the cache.
    pub cache_read: Usd,
    /// Size of the context window in tokens.
    pub context_window: u64,
    /// Output tokens that are asked for where nothing else is said.
    pub usual_output_tokens: u64,
    /// The most output tokens that can be asked for.
    pub max_output_tokens: u64,
    /// How it thinks.
    pub thinking: ThinkingForm,
    /// Its effort levels, from the lowest.
    #[serde(default)]
    pub efforts: Vec<Effort>,
    /// The effort that is asked for where nothing else is said.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// The list of its beta features.
    pub betas: String,
    /// Prompts with more tokens cost five times as much; 0 for no such limit.
    #[serde(default)]
    pub dear_above: u64,
    /// How many times the price a fast response costs; 0 if there are none.
    #[serde(default)]
    pub fast_factor: u8,
    /// Whether it takes a context of a million tokens where its name ends in `[1m]`.
    #[serde(default)]
    pub long_context: bool,
    /// Whether it takes definitions of tools that wait until it searches for them.
    #[serde(default)]
    pub deferred_tools: bool,
}

impl ModelTable {
    /// The table that ships with this version.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static TABLE: OnceLock<ModelTable> = OnceLock::new();
        // A test reads the file: it cannot be broken in a released version.
        TABLE.get_or_init(|| {
            RawJson::parse(include_str!("models.json"))
                .and_then(|json| json.decode())
                .unwrap_or_default()
        })
    }

    /// The model of this name, or with a date behind it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&KnownModel> {
        let bare = name.strip_suffix(LONG_CONTEXT_MARK).unwrap_or(name);
        let undated = bare.rsplit_once('-').filter(|(_, date)| is_date(date));
        let undated = undated.map(|(undated, _)| undated);
        let is = |model: &&KnownModel| {
            let mut ids = model.ids.iter();
            ids.any(|id| id == bare || Some(id.as_str()) == undated)
        };
        self.models.iter().find(is)
    }

    /// Gives a spec the models, below those that it knows already. A server that does not speak the Messages API has none of
    /// the short names, and models that nobody knows have no price there.
    pub fn give_to(&self, spec: &mut Spec) {
        let is_anthropic = speaks_messages(spec);
        let own = spec.model.catalogue.models().cloned();
        spec.model.catalogue = catalogue(is_anthropic).with(own);
        if is_anthropic && spec.model.aliases.is_empty() {
            let names = self.aliases.iter().chain(&self.replaced);
            let names = names.map(|(short, model)| (short.clone(), model.clone()));
            spec.model.aliases = names.collect();
        }
        debug_assert_eq!(self.default, DEFAULT_MODEL);
    }

    fn facts(&self) -> impl Iterator<Item = ModelFacts> {
        self.models.iter().flat_map(|model| {
            let unknown = model.ids.is_empty().then(|| ModelFacts {
                exact: false,
                ..self.facts_as(model, "")
            });
            let known = model.ids.iter().flat_map(|id| {
                let long = model.long_context.then(|| self.long_facts(model, id));
                [self.facts_as(model, id)].into_iter().chain(long)
            });
            unknown.into_iter().chain(known).collect::<Vec<_>>()
        })
    }

    fn facts_as(&self, model: &KnownModel, id: &str) -> ModelFacts {
        ModelFacts {
            prefix: id.to_owned(),
            exact: true,
            sent_as: None,
            input: model.input,
            output: model.output,
            cache_read: model.cache_read,
            cache_write: model.cache_write_5m,
            cache_write_1h: Some(model.cache_write_1h),
            dear_above: model.dear_above,
            fast_factor: model.fast_factor,
            context_window: model.context_window,
            usual_output_tokens: model.usual_output_tokens,
            max_output_tokens: model.max_output_tokens,
            thinking: model.thinking,
            efforts: model.efforts.clone(),
            effort: model.effort,
            betas: self.betas.get(&model.betas).cloned().unwrap_or_default(),
            deferred_tools: model.deferred_tools,
            caching: windlass_core::price::Caching::default(),
        }
    }

    fn long_facts(&self, model: &KnownModel, id: &str) -> ModelFacts {
        let mut facts = self.facts_as(model, id);
        facts.prefix.push_str(LONG_CONTEXT_MARK);
        facts.sent_as = Some(id.to_owned());
        facts.context_window = LONG_CONTEXT;
        let second = facts.betas.len().min(1);
        facts.betas.insert(second, LONG_CONTEXT_BETA.to_owned());
        facts
    }
}

/// Whether the session's server speaks the Messages API.
pub(super) fn speaks_messages(spec: &Spec) -> bool {
    let form = spec.model.provider.json_form();
    form.is_some_and(|form| form.get() == "\"anthropic\"")
}

fn is_date(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The built-in models, with or without the entry for unknown ones.
fn catalogue(with_unknown: bool) -> Catalogue {
    static CATALOGUES: OnceLock<[Catalogue; 2]> = OnceLock::new();
    let [known, all] = CATALOGUES.get_or_init(|| {
        let facts = || ModelTable::built_in().facts();
        let known = facts().filter(|facts| !facts.prefix.is_empty());
        [
            Catalogue::default().with(known),
            Catalogue::default().with(facts()),
        ]
    });
    if with_unknown {
        all.clone()
    } else {
        known.clone()
    }
}
