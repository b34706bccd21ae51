//! Pages that were fetched a short while ago.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::page::Page;

/// How long a page is used again.
const LASTING: Duration = Duration::from_mins(15);

/// The most bytes of all pages together.
const MOST_BYTES: usize = 50 << 20;

/// Pages by the address that they were asked for, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<VecDeque<Kept>>);

#[derive(Debug)]
struct Kept {
    address: String,
    since: Instant,
    page: Arc<Page>,
}

impl Cache {
    /// The page, if it was fetched lately.
    pub(super) fn get(&self, address: &str, now: Instant) -> Option<Arc<Page>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| now.saturating_duration_since(kept.since) < LASTING);
        let kept = pages.iter().find(|kept| kept.address == address)?;
        Some(Arc::clone(&kept.page))
    }

    /// Keeps a page, and forgets the oldest ones if there are too many.
    pub(super) fn put(&self, address: &str, page: Arc<Page>, now: Instant) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| kept.address != address);
        pages.push_back(Kept {
            address: address.to_owned(),
            since: now,
            page,
        });
        while pages.iter().map(|kept| kept.page.text.len()).sum::<usize>() > MOST_BYTES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_8_a_page_is_used_again_for_a_quarter_of_an_hour() {
        let page = Arc::new(Page {
            url: String::new(),
            status: reqwest::StatusCode::OK,
            bytes: 1,
            text: "x".repeat(30 << 20),
        });
        let (cache, start) = (Cache::default(), Instant::now());
        cache.put("a", Arc::clone(&page), start);
        assert!(
            cache
                .get("a", start + LASTING - Duration::from_secs(1))
                .is_some()
        );
        assert!(cache.get("b", start).is_none());
        assert!(cache.get("a", start + LASTING).is_none());
        cache.put("a", Arc::clone(&page), start);
        cache.put("b", page, start);
        assert!(cache.get("a", start).is_none());
        assert!(cache.get("b", start).is_some());
    }
}
