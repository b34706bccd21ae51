//! The entries of directories that a call has not been told yet.

use std::collections::{BTreeMap, VecDeque};

use super::{handles::ListingId, place::Place};
use crate::files::{Entry, FsError, Reach};

/// The listings of a call.
#[derive(Debug, Default)]
pub(in crate::plugins) struct Listings(BTreeMap<ListingId, Listing>);

#[derive(Debug)]
struct Listing {
    place: Place,
    entries: VecDeque<Entry>,
    /// Where the next page begins; none after the last one.
    next: Option<u32>,
}

impl Listings {
    /// Begins to list a directory.
    pub(super) fn begin(
        &mut self,
        id: ListingId,
        place: Place,
        reach: &mut Reach,
    ) -> Result<(), FsError> {
        let page = reach.list(place.tree, &place.path, None, false)?;
        let listing = Listing {
            place,
            entries: page.entries.into(),
            next: page.next,
        };
        self.0.insert(id, listing);
        Ok(())
    }

    /// The next entry; none at the end.
    pub(super) fn next(
        &mut self,
        id: ListingId,
        reach: &mut Reach,
    ) -> Result<Option<Entry>, FsError> {
        let listing = self.0.get_mut(&id).ok_or(FsError::NotFound)?;
        if listing.entries.is_empty() && listing.next.is_some() {
            let place = &listing.place;
            let page = reach.list(place.tree, &place.path, listing.next, false)?;
            listing.entries = page.entries.into();
            listing.next = page.next;
        }
        Ok(listing.entries.pop_front())
    }

    pub(super) fn end(&mut self, id: ListingId) {
        self.0.remove(&id);
    }
}
