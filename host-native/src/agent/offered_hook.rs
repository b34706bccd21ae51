//! A hook of a plugin, with the code that runs it.

use std::{collections::BTreeMap, sync::Arc};

use windlass_core::hook::HookMatcher;

use crate::host::RunHook;

/// A registration of a hook with the code that runs it.
pub(super) struct OfferedHook {
    /// The plugin and the hook, for messages.
    pub(super) name: String,
    pub(super) matcher: HookMatcher,
    pub(super) runner: Arc<dyn RunHook>,
}

/// Registers hooks under names that no other hook has: two component files of one name may have hooks of one name, and each
/// has to run.
pub(super) fn register(
    offered: Vec<OfferedHook>,
    runners: &mut BTreeMap<String, Arc<dyn RunHook>>,
    matchers: &mut Vec<HookMatcher>,
) {
    for hook in offered {
        let numbers = (2..).map(|number| format!("{}#{number}", hook.name));
        let mut names = std::iter::once(hook.name.clone()).chain(numbers);
        let Some(name) = names.find(|name| !runners.contains_key(name)) else {
            continue; // there is always a number that is free
        };
        runners.insert(name.clone(), hook.runner);
        matchers.push(HookMatcher {
            hooks: vec![name],
            ..hook.matcher
        });
    }
}
