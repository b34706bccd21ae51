//! The models that windlass knows by name: prices, limits, short names, and what they are told apart from the conversation.
//!
//! All of it is in one data file, `models.json`, which [`ModelTable::built_in`] reads. The core computes with what it is given
//! ([`ModelTable::give_to`]) and knows no model itself.

mod agents;
mod names;
mod offers;
mod table;
mod variables;

pub use self::{
    agents::set_usual_agent_model,
    names::{is_available, is_long_alias, resolved_model, send_as},
    offers::offered_models,
    table::{KnownModel, ModelTable},
    variables::{ModelVariables, VARIABLES},
};

#[cfg(test)]
mod tests;
