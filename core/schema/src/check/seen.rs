//! What a schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`.

use alloc::{borrow::ToOwned, vec::Vec};

use crate::named::Named;

/// What a schema had something to say about.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) fields: Named<()>,
    pub(super) items: Items,
}

/// Places in a list: for each, whether it is one of them.
#[derive(Default)]
pub(super) struct Items(Vec<bool>);

impl Items {
    /// Whether it was none of them.
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
    /// Notes a field.
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
