//! Tokens and costs add up.
//!
//! Tokens are counted in the responses of the server and priced independently of the core. This includes summaries and
//! suggestions, which appear in no message.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt::Debug;

use windlass_core::{
    effect::{Answer, Effect, EffectId, Input, Output, Stage},
    message::{AssistantMessage, Message, ResultMessage, SystemMessage},
    model::Usage,
    spec::Spec,
};
use windlass_scripted_model::requested_model;

use super::{Check, Oracle, View, Violation, message_of, response::Told};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Usages {
    /// The number of responses on the main thread of the run.
    turns: u32,
    /// Tokens of the run on its main thread.
    run: Usage,
    /// The tokens of agents since the last result, which count for the next one.
    agents: Usage,
    /// The usage of the session on all threads, by model.
    books: Books,
    exchanges: BTreeMap<EffectId, Exchange>,
    /// Summaries and suggestions that completed when they may already have been abandoned: each may be counted or not.
    open: Vec<Books>,
}

/// Tokens and dollars by model.
type Books = BTreeMap<String, Spent>;

/// The usage of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Spent {
    /// Input, output, cache reads, cache writes, searches.
    tokens: [u64; 5],
    nanos: u64,
}

/// A request and its response so far.
struct Exchange {
    /// The requested model.
    asked: String,
    succeeds: bool,
    body: Vec<u8>,
    cancelled: bool,
}

impl Oracle for Usages {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn input(&mut self, view: &View<'_>, input: &Input) -> Check {
        let Input::Answer(id, answer) = input else {
            return Ok(());
        };
        let Some(exchange) = self.exchanges.get_mut(id) else {
            return Ok(());
        };
        match answer {
            Answer::HttpHead { status, .. } => {
                exchange.succeeds = (200..300).contains(status);
                exchange.body.clear();
            }
            Answer::HttpBody(piece) => exchange.body.extend_from_slice(piece),
            Answer::HttpEnd if !exchange.cancelled => {
                // It is awaited and complete: it is counted now, or was counted before the server closed the response.
                match self.apart(view.spec, *id) {
                    Some((true, paid)) => add(&mut self.books, &paid),
                    Some((false, paid)) => self.open.push(paid),
                    None => {}
                }
            }
            answer if answer.is_last() => self.may_be_paid(view.spec, *id),
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        match output {
            Output::Effect(id, Effect::Http(request)) => {
                self.may_be_paid(view.spec, *id);
                let asked = requested_model(&request.body_bytes());
                let exchange = Exchange {
                    asked: asked.unwrap_or_default(),
                    succeeds: false,
                    body: Vec::new(),
                    cancelled: false,
                };
                self.exchanges.insert(*id, exchange);
            }
            Output::Cancel(id) => {
                if let Some(exchange) = self.exchanges.get_mut(id) {
                    exchange.cancelled = true;
                }
            }
            Output::Abandon(id) => self.may_be_paid(view.spec, *id),
            _ => {}
        }
        match message_of(output) {
            Some(Message::System(SystemMessage::Init(_))) => {
                self.turns = 0;
                self.run = Usage::default();
            }
            // The cost of an aborted response is not known.
            Some(Message::Assistant(said)) if said.error.is_none() && !said.aborted => {
                return self.responded(view.spec, said);
            }
            Some(Message::Result(result)) => {
                self.run.add(&core::mem::take(&mut self.agents));
                return self.result(view.spec, result);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Usages {
    /// Counts a shown response: the tokens reported by the server, at the price of the model it names, or else of the
    /// requested one.
    fn responded(&mut self, spec: &Spec, said: &AssistantMessage) -> Check {
        let message = &said.message;
        match &said.parent_tool_use_id {
            None => {
                self.turns += 1;
                self.run.add(&message.usage);
            }
            Some(_) => self.agents.add(&message.usage),
        }
        let mut asked = message.model.as_str();
        // The last attempt: servers may reuse ids.
        for (id, exchange) in self.exchanges.iter().rev() {
            let of = |id: EffectId| id.stage == Stage::Model;
            if !of(*id) || memchr::memmem::find(&exchange.body, message.id.as_bytes()).is_none() {
                continue;
            }
            if let Some(told) = Told::read(&exchange.body)
                && told.id == message.id
            {
                equal("usage", &told.usage, &message.usage)?;
                asked = &exchange.asked;
                break;
            }
        }
        let paid = paid(spec, &message.model, asked, &message.usage);
        add(&mut self.books, &paid);
        Ok(())
    }

    /// The cost of a response outside of the conversation, if it is one and is complete, and whether it is certain to be
    /// counted. Removes the response.
    fn apart(&mut self, spec: &Spec, id: EffectId) -> Option<(bool, Books)> {
        if !matches!(id.stage, Stage::Summary | Stage::Suggestion) {
            return None;
        }
        let exchange = self.exchanges.remove(&id)?;
        price_of(spec, &exchange)
    }

    fn may_be_paid(&mut self, spec: &Spec, id: EffectId) {
        let paid = self.apart(spec, id);
        self.open.extend(paid.map(|(_, paid)| paid));
    }

    fn result(&mut self, spec: &Spec, result: &ResultMessage) -> Check {
        equal("num_turns", &self.turns, &result.num_turns)?;
        equal("usage", &self.run, &result.usage)?;
        let told: Books = (result.model_usage.iter())
            .map(|(model, used)| {
                let tokens = [
                    used.input_tokens,
                    used.output_tokens,
                    used.cache_read_input_tokens,
                    used.cache_creation_input_tokens,
                    used.web_search_requests,
                ];
                let nanos = used.cost_usd.nanos;
                (model.clone(), Spent { tokens, nanos })
            })
            .collect();
        let sum: u64 = told.values().map(|spent| spent.nanos).sum();
        equal("total_cost_usd", &sum, &result.total_cost_usd.nanos)?;
        let apart = |id: &EffectId| matches!(id.stage, Stage::Summary | Stage::Suggestion);
        let open = core::mem::take(&mut self.open);
        let ended = open.into_iter().map(|paid| (None, paid));
        // Responses that the server has not closed: from outside it cannot be determined whether they were awaited.
        let arriving = (self.exchanges.iter()).filter(|(id, _)| apart(id));
        let arriving = arriving.filter_map(|(id, it)| Some((Some(*id), price_of(spec, it)?.1)));
        let open: Vec<(Option<EffectId>, Books)> = ended.chain(arriving).collect();
        let Some((books, paid)) = with_some(&self.books, &open, &told) else {
            return equal("modelUsage", &self.books, &told);
        };
        self.books = books;
        for id in paid {
            self.exchanges.remove(&id);
        }
        Ok(())
    }
}

/// Adds a subset of the uncertain costs so that the total matches the reported one; returns which of the running exchanges
/// are included.
fn with_some(
    books: &Books,
    open: &[(Option<EffectId>, Books)],
    told: &Books,
) -> Option<(Books, Vec<EffectId>)> {
    let Some(((id, first), rest)) = open.split_first() else {
        return (books == told).then(|| (books.clone(), Vec::new()));
    };
    with_some(books, rest, told).or_else(|| {
        let mut with = books.clone();
        add(&mut with, first);
        let (books, mut paid) = with_some(&with, rest, told)?;
        paid.extend(*id);
        Some((books, paid))
    })
}

fn price_of(spec: &Spec, exchange: &Exchange) -> Option<(bool, Books)> {
    let told = Told::read(&exchange.body).filter(|_| exchange.succeeds)?;
    let paid = paid(spec, &told.model, &exchange.asked, &told.usage);
    Some((told.ended, paid))
}

/// The cost of a response: its tokens at the model's prices, in dollars per million tokens of each kind.
fn paid(spec: &Spec, answered: &str, asked: &str, usage: &Usage) -> Books {
    let price = |model: &str| {
        let known = spec.model.catalogue.models();
        let fits =
            known.filter(|known| model.starts_with(&known.prefix) && !known.prefix.is_empty());
        fits.max_by_key(|known| known.prefix.len())
    };
    let (model, price) = match price(answered) {
        Some(price) => (answered, Some(price)),
        None => (asked, price(asked)),
    };
    let dollars = price.map_or(0, |price| {
        let each = |tokens: u64, nanos: u64| u128::from(tokens) * u128::from(nanos);
        each(usage.input_tokens, price.input.nanos)
            + each(usage.output_tokens, price.output.nanos)
            + each(usage.cache_read_input_tokens, price.cache_read.nanos)
            + each(usage.cache_creation_input_tokens, price.cache_write.nanos)
    });
    let spent = Spent {
        tokens: [
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.server_tool_use.web_search_requests,
        ],
        nanos: u64::try_from(dollars / 1_000_000).unwrap_or(u64::MAX),
    };
    BTreeMap::from([(model.into(), spent)])
}

fn add(books: &mut Books, more: &Books) {
    for (model, spent) in more {
        let slot = books.entry(model.clone()).or_default();
        slot.nanos = slot.nanos.saturating_add(spent.nanos);
        for (sum, tokens) in slot.tokens.iter_mut().zip(spent.tokens) {
            *sum = sum.saturating_add(tokens);
        }
    }
}

fn equal<T: PartialEq + Debug>(what: &'static str, expected: &T, found: &T) -> Check {
    if expected == found {
        return Ok(());
    }
    let shown = |value: &T| -> String { format!("{value:?}") };
    Err(Violation::Usage {
        what,
        expected: shown(expected),
        found: shown(found),
    })
}
