//! What stays closed to the tools and hooks of plugins in directories that no call has to name.

use windlass_core::{
    permission::{PolicyContext, denied_altogether, denied_to_components, literal_pattern},
    spec::{Environment, Spec},
    tool::{Access, DenyPattern, FsGrant, PluginGrant, ToolCall},
};

use super::Engine;
use crate::path::TextPath;

impl Engine {
    /// A call with what stays closed to it, if its tool is that of a plugin. The core judges the files that a call names; those in the
    /// directories of roles a plugin reaches without that. So a rule that denies all reading or all writing closes all of them, and
    /// what windlass starts or believes is not written unless the call names it and a person agreed.
    pub(super) fn with_closed_files(&self, mut call: ToolCall) -> ToolCall {
        let Some(session) = &self.session else {
            return call;
        };
        let spec = session.prepared.spec();
        let granted = spec.tool(&call.name).and_then(|tool| tool.grant.as_ref());
        let Some(granted) = granted else {
            return call;
        };
        let permissions = session.core_session().permissions();
        let rules = permissions.rules(&spec.policy.permissions);
        let own = own_places(&spec.environment, granted, &call.grant);
        let own = own.map(|place| DenyPattern {
            pattern: literal_pattern(place),
            access: Access::Write,
        });
        let closed: Vec<DenyPattern> = denied_altogether(rules).chain(own).collect();
        call.grant.deny.extend(closed);
        call
    }

    /// What rules close to hooks of components once the loop is over: those of the session, else those that it would have begun with.
    pub(super) fn denied_to_components(&self, spec: &Spec) -> Vec<DenyPattern> {
        let begun = &spec.policy.permissions;
        let session = self.session.as_ref();
        let permissions = session.map(|session| session.core_session().permissions());
        let rules = permissions.map_or(&begun.rules, |permissions| permissions.rules(begun));
        denied_to_components(&PolicyContext::new(rules, self.mode(), &spec.environment))
    }
}

/// The program's own places in directories that a plugin may write, but for those that this call was let write.
fn own_places<'a>(
    environment: &'a Environment,
    granted: &'a PluginGrant,
    call: &'a FsGrant,
) -> impl Iterator<Item = &'a str> {
    let is_in =
        |path: &str, directory: &str| TextPath::new(path).starts_with(&TextPath::new(directory));
    let is_reached = move |place: &&String| {
        let mut roots = granted.roots().iter();
        let mut let_write = call
            .roots
            .iter()
            .filter(|root| root.access == Access::Write);
        roots.any(|root| !root.path.is_empty() && is_in(place, &root.path))
            && !let_write.any(|root| is_in(&root.path, place))
    };
    let own = environment.own_directories.iter().filter(is_reached);
    own.map(String::as_str)
}
