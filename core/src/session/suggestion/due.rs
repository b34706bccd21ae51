//! Whether a suggestion is due.

/// Whether a request for a suggestion is due; never set between inputs.
#[derive(Debug, Default)]
pub(in crate::session) struct SuggestionDue(bool);

impl SuggestionDue {
    pub(super) fn set(&mut self, due: bool) {
        self.0 = due;
    }

    /// Whether it is due; the request is made then, so it is not due any longer.
    pub(super) fn take(&mut self) -> bool {
        core::mem::take(&mut self.0)
    }
}
