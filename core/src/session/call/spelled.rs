//! Files have two names: the path that a call writes, which its tool uses, and the real path, which the session uses.

use alloc::{string::String, vec::Vec};

use super::{
    super::{Shared, Thread, link::Link},
    record::Call,
};
use crate::{
    json::{RawJson, RawObject},
    permission::{PathFact, is_under, lexical},
    tool::{FsGrant, Observation, ToolDefinition},
};

impl Thread {
    /// The observations of the files that a call names, under both names of each.
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

    /// Stores the observations of a call under the real paths of the files.
    pub(super) fn keep_observed(&self, shared: &mut Shared, call: &Call, seen: Vec<Observation>) {
        if !seen.is_empty() {
            shared.keep_observed(&self.links_of(call), seen);
        }
    }

    /// The files that a call names through a link.
    pub(in crate::session) fn links_of(&self, call: &Call) -> Vec<Link> {
        let link = |fact: &PathFact| Link {
            written: self.written(fact),
            real: fact.path.clone(),
        };
        let links = call.paths.iter().map(link);
        links.filter(|link| link.written != link.real).collect()
    }

    /// The input of a call in the form that its tool receives: a path that leads into the granted directories only through a link
    /// (a workspace that was entered by one) is replaced by the real one.
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

    /// The absolute path that a call writes for a file, without resolving links.
    fn written(&self, fact: &PathFact) -> String {
        lexical(&self.spec.environment.cwd, &fact.written)
    }
}
