//! What every MCP client needs to know, however it speaks to a server.

use std::collections::HashSet;

/// No list is longer than so many pages, nor than so many entries: a server that never comes to an end is none.
const MOST_PAGES: usize = 1_000;
const MOST_ENTRIES: usize = 10_000;

/// The pages of a list that a server gives page by page, as far as they have come.
#[derive(Debug, Default)]
pub struct Pages {
    seen: HashSet<String>,
    entries: usize,
}

impl Pages {
    /// Takes note of a page; the cursor of the next one, if the list goes on.
    ///
    /// # Errors
    /// The list does not come to an end: it is too long, or goes in a circle.
    pub fn next(
        &mut self,
        entries: usize,
        cursor: Option<String>,
    ) -> Result<Option<String>, String> {
        self.entries = self.entries.saturating_add(entries);
        if self.entries > MOST_ENTRIES {
            return Err(format!("the list has more than {MOST_ENTRIES} entries"));
        }
        let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else {
            return Ok(None);
        };
        if self.seen.len() + 1 >= MOST_PAGES {
            return Err(format!("the list has more than {MOST_PAGES} pages"));
        }
        if !self.seen.insert(cursor.clone()) {
            return Err("the list goes in a circle: the same `nextCursor` came twice".to_owned());
        }
        Ok(Some(cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_by_itself_or_is_ended() {
        let mut pages = Pages::default();
        for number in 1..MOST_PAGES {
            let cursor = number.to_string();
            assert_eq!(pages.next(1, Some(cursor.clone())), Ok(Some(cursor)));
        }
        assert_eq!(pages.next(1, None), Ok(None));
        assert!(
            pages
                .next(1, Some("x".to_owned()))
                .unwrap_err()
                .contains("1000 pages")
        );

        let mut pages = Pages::default();
        assert_eq!(pages.next(3, Some(String::new())), Ok(None));
        assert!(pages.next(3, Some("a".to_owned())).is_ok());
        assert!(
            pages
                .next(3, Some("a".to_owned()))
                .unwrap_err()
                .contains("circle")
        );
        assert!(Pages::default().next(MOST_ENTRIES + 1, None).is_err());
    }
}
