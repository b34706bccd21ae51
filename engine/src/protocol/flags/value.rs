//! Values of flags that consist of more than one word.

use windlass_core::spec::Effort;

/// The effort with this name.
#[must_use]
pub fn effort(name: &str) -> Option<Effort> {
    Effort::parse(name)
}

/// Splits a text into words at commas or blanks.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c == ',' || c.is_whitespace());
    words
        .filter(|word| !word.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

/// Splits a text into rules or names, at commas or blanks outside parentheses.
#[must_use]
pub fn rules_of(text: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut depth = 0_usize;
    let mut rule = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            rules.push(std::mem::take(&mut rule));
        } else {
            rule.push(c);
        }
    }
    rules.push(rule);
    rules.retain(|rule| !rule.is_empty());
    rules
}
