//! How programs recognise their options.

/// Whether a word is this option, by itself or with a value after `=`.
pub(super) fn is_option(word: &str, option: &str) -> bool {
    (word.strip_prefix(option)).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Whether a word is this long option, possibly abbreviated and with a value.
pub(super) fn is_cut_short(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}
