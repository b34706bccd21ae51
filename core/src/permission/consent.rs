//! Who must agree to a call.

/// Who must agree to a call of a core tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consent {
    /// Rules, mode and whoever is asked, as for any other tool.
    #[default]
    Judged,
    /// Nobody: it changes nothing outside the session. Rules that deny or ask still hold.
    Free,
    /// A person, in every mode: no rule and no mode can answer in their place.
    Person,
}
