//! Values by name, for schemas with very many names.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::cmp::Ordering;

/// A map from names to values, in the order of the names. The B-tree only contains the indices of the values, so that it is
/// compiled once for all types of values, which reduces the download size of web pages.
#[derive(Debug, Clone)]
pub(crate) struct Named<V> {
    places: BTreeMap<String, usize>,
    values: Vec<V>,
}

impl<V> Named<V> {
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.values.get(*self.places.get(name)?)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.values.get_mut(*self.places.get(name)?)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.places
            .iter()
            .filter_map(|(name, place)| Some((name.as_str(), self.values.get(*place)?)))
    }

    /// Sets the value of a name, replacing an existing one.
    pub(crate) fn insert(&mut self, name: String, value: V) {
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

// The positions of the values do not matter for comparisons.

impl<V: Ord> Ord for Named<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl<V: Ord> PartialOrd for Named<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: Ord> PartialEq for Named<V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<V: Ord> Eq for Named<V> {}
