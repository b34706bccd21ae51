//! Values by their names, of which a schema may have very many.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

/// A map from names to values. The B-tree only knows where the values are: so one kind of it serves for all kinds of
/// values, and a page fetches its code once.
#[derive(Debug, Clone)]
pub(super) struct Named<V> {
    places: BTreeMap<String, usize>,
    values: Vec<V>,
}

impl<V> Named<V> {
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.values.get(*self.places.get(name)?)
    }

    /// Sets the value of a name, whatever it was.
    pub(super) fn insert(&mut self, name: String, value: V) {
        self.places.insert(name, self.values.len());
        self.values.push(value);
    }
}

impl<V> Default for Named<V> {
    fn default() -> Self {
        Self {
            places: BTreeMap::new(),
            values: Vec::new(),
        }
    }
}
