//! The runners of one session: those that keep something of a session are made anew for it.

use std::{collections::BTreeMap, sync::Arc};

use super::{hooks::RunHook, session_shares::SessionShares, tools::RunTool};

type ToolRunners = Arc<BTreeMap<String, Arc<dyn RunTool>>>;
type HookRunners = Arc<BTreeMap<String, Arc<dyn RunHook>>>;

/// The tools and hooks for one more session.
pub(crate) fn for_session(tools: &ToolRunners, hooks: &HookRunners) -> (ToolRunners, HookRunners) {
    let mut shares = SessionShares::default();
    let tools = tools.iter().map(|(name, runner)| {
        let fresh = runner.session_runner(&mut shares);
        (name.clone(), fresh.unwrap_or_else(|| Arc::clone(runner)))
    });
    let tools = Arc::new(tools.collect());
    let hooks = hooks.iter().map(|(name, runner)| {
        let fresh = runner.session_runner(&mut shares);
        (name.clone(), fresh.unwrap_or_else(|| Arc::clone(runner)))
    });
    (tools, Arc::new(hooks.collect()))
}
