//! What the runners of one session have in common.

use std::{any::Any, collections::BTreeMap, sync::Arc};

/// What the tools and hooks of one session have in common, such as what a plugin remembers of it.
#[derive(Default)]
pub struct SessionShares(BTreeMap<*const (), Arc<dyn Any + Send + Sync>>);

impl SessionShares {
    /// What stands in this session for something that the runners of all sessions have in common; made when it is first asked for.
    pub fn in_place_of<T: Send + Sync + 'static>(
        &mut self,
        common: &Arc<T>,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let address = Arc::as_ptr(common).cast();
        if let Some(known) = self.0.get(&address)
            && let Ok(known) = Arc::clone(known).downcast()
        {
            return known;
        }
        let made = Arc::new(make());
        self.0.insert(address, made.clone());
        made
    }
}
