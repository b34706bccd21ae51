//! Files by two names: the one that a call writes, which its tool knows, and the real one, by which the session knows files.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    super::{Shared, Thread},
    record::Call,
};
use crate::{
    json::{RawJson, RawObject},
    permission::{PathFact, is_under, lexical},
    tool::{FsGrant, Observation, ToolDefinition},
};

impl Thread {
    /// What earlier calls saw of the files that a call names, by both names of each.
    pub(super) fn observed(&self, shared: &Shared, call: &Call) -> Vec<Observation> {
        let mut observed = Vec::new();
        for fact in &call.paths {
            let Some(seen) = shared.observed.get(&fact.path) else {
                continue;
            };
            let written = self.written(fact);
            if written != fact.path {
                observed.push(Observation {
                    path: written,
                    ..seen.clone()
                });
            }
            observed.push(seen.clone());
        }
        observed
    }

    /// Keeps what a call saw of files, by their real names.
    pub(super) fn keep_observed(&self, shared: &mut Shared, call: &Call, seen: Vec<Observation>) {
        if !seen.is_empty() {
            shared.keep_observed(&self.links_of(call), seen);
        }
    }

    /// The files that a call names by a link.
    pub(in crate::session) fn links_of(&self, call: &Call) -> Vec<Link> {
        let link = |fact: &PathFact| Link {
            written: self.written(fact),
            real: fact.path.clone(),
        };
        let links = call.paths.iter().map(link);
        links.filter(|link| link.written != link.real).collect()
    }

    /// A call's input as its tool gets it: a path that leads only through a link into what is granted (a workspace that was entered
    /// by one) is the real one.
    pub(super) fn reachable(
        &self,
        tool: &ToolDefinition,
        call: &Call,
        grant: &FsGrant,
        input: &RawJson,
    ) -> RawJson {
        let Ok(mut fields) = RawObject::parse(input.get()) else {
            return input.clone();
        };
        let is_granted = |path: &str| grant.roots.iter().any(|root| is_under(&root.path, path));
        let mut is_changed = false;
        for param in &tool.paths {
            let given = fields
                .get_string(&param.field)
                .map(|path| self.seen_from_here(path));
            let mut facts = call.paths.iter();
            let Some(fact) = facts.find(|fact| given.as_ref() == Some(&fact.written)) else {
                continue;
            };
            if !is_granted(&self.written(fact))
                && is_granted(&fact.path)
                && let Ok(real) = RawJson::encode(&fact.path)
            {
                fields.set(&param.field, real);
                is_changed = true;
            }
        }
        match is_changed {
            true => fields.to_raw(),
            false => input.clone(),
        }
    }

    /// The absolute name that a call writes for a file, without looking at any link.
    fn written(&self, fact: &PathFact) -> String {
        lexical(&self.spec.environment.cwd, &fact.written)
    }
}

/// A file that a call names by a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct Link {
    /// As the call writes it: absolute, without looking at any link.
    written: String,
    /// Where it leads.
    real: String,
}

impl Shared {
    /// Keeps what was seen of files, by their real names. Tools know a file by the name that their call writes.
    pub(in crate::session) fn keep_observed(&mut self, links: &[Link], seen: Vec<Observation>) {
        for mut seen in seen {
            if let Some(link) = links.iter().find(|link| link.written == seen.path) {
                seen.path.clone_from(&link.real);
            }
            self.observed.insert(seen.path.clone(), seen);
        }
    }
}
