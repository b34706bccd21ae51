//! Whose consent a call needs.

/// Whose consent a call of a core tool needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consent {
    /// Decided by rules, mode and permission requests, like any other tool.
    #[default]
    Judged,
    /// No consent: it changes nothing outside the session. Deny and ask rules still apply.
    Free,
    /// A person's, in every mode: no rule and no mode can answer instead.
    Person,
}
