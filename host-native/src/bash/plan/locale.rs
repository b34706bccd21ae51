//! What the locale's variables say of characters and of order.

use std::ffi::OsStr;

use super::variables::Variables;

/// How names are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Locale {
    /// Names are characters; else each byte is one.
    pub(super) is_utf8: bool,
}

impl Locale {
    pub(super) fn of(variables: &Variables) -> Self {
        let name = category(variables, "LC_CTYPE");
        let is_utf8 = name.rsplit_once('.').is_some_and(|(_, charset)| {
            let charset = charset.split('@').next().unwrap_or_default();
            charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
        });
        Self { is_utf8 }
    }
}

/// The locale of a category; empty for that of the C language.
fn category<'a>(variables: &'a Variables, category: &str) -> &'a str {
    let set = ["LC_ALL", category, "LANG"]
        .into_iter()
        .filter_map(|name| variables.get(name))
        .find(|value| !value.is_empty());
    set.and_then(OsStr::to_str).unwrap_or_default()
}
