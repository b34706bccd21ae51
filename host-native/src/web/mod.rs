//! The web for a model: WebFetch and WebSearch.
//!
//! Both are native, because they ask a model beside the conversation ([`side_query`]). WebFetch connects only to addresses that
//! were judged, as requests of plugins do; WebSearch is done by the provider of the model.

mod cache;
mod fetch;
mod markdown;
mod page;
mod running;
mod search;
mod search_api;
mod side_query;
mod text;

use std::{path::PathBuf, sync::Arc};

use windlass_core::tool::ToolDefinition;

use self::page::Fetcher;
pub(crate) use self::{
    fetch::{WEB_FETCH, WebFetch},
    search::{WEB_SEARCH, WebSearch},
    side_query::SideModels,
};
use crate::{host::RunTool, net::InvalidDomain};

/// Both tools.
#[derive(Clone)]
pub(crate) struct WebTools {
    fetch: WebFetch,
    search: WebSearch,
}

impl WebTools {
    /// Tools that ask these models. Pages come from the public internet, and from the private hosts that are named.
    ///
    /// # Errors
    /// [`InvalidDomain`] if one of these is no host.
    pub(crate) fn new(
        models: SideModels,
        private_hosts: &[String],
        certificates: Vec<PathBuf>,
    ) -> Result<Self, InvalidDomain> {
        let fetcher = Arc::new(Fetcher::new(private_hosts, certificates)?);
        Ok(Self {
            search: WebSearch::new(models.clone()),
            fetch: WebFetch::new(fetcher, models),
        })
    }

    /// The same tools, asking other models.
    pub(crate) fn asking(&self, models: &SideModels) -> Self {
        Self {
            fetch: self.fetch.asking(models.clone()),
            search: WebSearch::new(models.clone()),
        }
    }

    /// The tools with their definitions: WebSearch only if the provider of the model searches.
    pub(crate) fn all(&self) -> Vec<(ToolDefinition, Arc<dyn RunTool>)> {
        let mut tools: Vec<(ToolDefinition, Arc<dyn RunTool>)> =
            vec![(WebFetch::definition(), Arc::new(self.fetch.clone()))];
        if self.search.is_there() {
            tools.push((WebSearch::definition(), Arc::new(self.search.clone())));
        }
        tools
    }

    /// What runs the tool of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&dyn RunTool> {
        match name {
            WEB_FETCH => Some(&self.fetch),
            WEB_SEARCH => Some(&self.search),
            _ => None,
        }
    }
}
