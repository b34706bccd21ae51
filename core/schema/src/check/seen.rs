//! The parts of a value that a schema evaluated, for `unevaluatedProperties` and `unevaluatedItems`.

use alloc::{borrow::ToOwned, vec::Vec};

use crate::named::Named;

/// The evaluated properties and items.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) fields: Named<()>,
    pub(super) items: Items,
}

/// Indices in an array: for each, whether it is in the set.
#[derive(Default)]
pub(super) struct Items(Vec<bool>);

impl Items {
    /// Adds an index; returns whether it is new.
    pub(super) fn insert(&mut self, index: usize) -> bool {
        if self.0.len() <= index {
            self.0.resize(index + 1, false);
        }
        !core::mem::replace(&mut self.0[index], true)
    }

    fn extend(&mut self, other: Self) {
        for (index, seen) in other.0.into_iter().enumerate() {
            if seen {
                self.insert(index);
            }
        }
    }
}

impl Seen {
    /// Adds a property.
    pub(super) fn note(&mut self, name: &str) {
        if !self.fields.contains(name) {
            self.fields.insert(name.to_owned(), ());
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for (name, ()) in other.fields.iter() {
            self.note(name);
        }
        self.items.extend(other.items);
    }
}
