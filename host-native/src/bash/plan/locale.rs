//! Character encoding and sort order from the locale variables.

use std::ffi::OsStr;

use super::variables::Variables;

/// How names are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Locale {
    /// Whether names are UTF-8; otherwise each byte is a character.
    pub(super) is_utf8: bool,
}

impl Locale {
    pub(super) fn of(variables: &Variables) -> Self {
        let name = category(variables, "LC_CTYPE");
        let is_utf8 = name.rsplit_once('.').is_some_and(|(language, charset)| {
            let (charset, modifier) = charset.split_once('@').unwrap_or((charset, ""));
            let is_it =
                charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8");
            is_it && is_installed(language, modifier, &variables.get("LOCPATH"))
        });
        Self { is_utf8 }
    }
}

/// Whether the system has the UTF-8 locale of a language; otherwise the C locale applies.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn is_installed(language: &str, modifier: &str, places: &Option<&OsStr>) -> bool {
    let modifier = match modifier {
        "" => String::new(),
        modifier => format!("@{modifier}"),
    };
    let names = ["utf8", "UTF-8"].map(|charset| format!("{language}.{charset}{modifier}"));
    let default = OsStr::new("/usr/lib/locale");
    let mut folders = std::env::split_paths(places.unwrap_or(default));
    // Built into the C library.
    matches!(language, "C" | "POSIX") && modifier.is_empty()
        || folders.any(|folder| names.iter().any(|name| folder.join(name).is_dir()))
        || places.is_none() && names.iter().any(|name| archived().contains(name))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn is_installed(_language: &str, _modifier: &str, _places: &Option<&OsStr>) -> bool {
    true
}

/// The names in the locale archive, from its string table.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn archived() -> &'static std::collections::HashSet<String> {
    use std::{collections::HashSet, os::unix::fs::FileExt as _, sync::LazyLock};
    /// The maximum number of bytes of names that are read.
    const MOST: u32 = 1 << 20;
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let read = || {
            let archive = std::fs::File::open("/usr/lib/locale/locale-archive").ok()?;
            // The header has eight numbers: the sixth is the offset of the string table, the seventh its size.
            let mut head = [0; 32];
            archive.read_exact_at(&mut head, 0).ok()?;
            let number = |at: usize| {
                Some(u32::from_ne_bytes(
                    head.get(4 * at..4 * at + 4)?.try_into().ok()?,
                ))
            };
            let mut texts = vec![0; usize::try_from(number(6)?.min(MOST)).ok()?];
            archive.read_exact_at(&mut texts, number(5)?.into()).ok()?;
            let names = texts.split(|byte| *byte == 0);
            Some(
                names
                    .filter_map(|name| String::from_utf8(name.to_vec()).ok())
                    .collect(),
            )
        };
        read().unwrap_or_default()
    });
    &NAMES
}

/// The locale of a category; empty for the C locale.
fn category<'a>(variables: &'a Variables, category: &str) -> &'a str {
    let set = ["LC_ALL", category, "LANG"]
        .into_iter()
        .filter_map(|name| variables.get(name))
        .find(|value| !value.is_empty());
    set.and_then(OsStr::to_str).unwrap_or_default()
}
