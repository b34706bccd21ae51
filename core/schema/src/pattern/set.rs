//! Sets of characters.

use alloc::vec::Vec;

use super::category::Categories;

/// A set of characters.
#[derive(Debug, Default)]
pub(super) struct CharSet {
    pub(super) negative: bool,
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    /// A range, including both ends.
    Range(char, char),
    /// A class; with true, its complement.
    Class(Class, bool),
}

/// A named class of characters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Class {
    /// `\d`: ASCII only, as in ECMA-262.
    Digit,
    /// `\w`: ASCII only.
    Word,
    /// `\s`.
    Space,
    /// Line ends, which `.` does not match.
    LineEnd,
    /// `\p{L}` and similar ones.
    Category(Categories),
    // Derived properties (Unicode's DerivedCoreProperties.txt); the standard library has the tables.
    Alphabetic,
    Uppercase,
    Lowercase,
    WhiteSpace,
    Ascii,
    Any,
}

impl CharSet {
    pub(super) fn one(item: Item) -> Self {
        Self {
            negative: false,
            items: alloc::vec![item],
        }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let within = self.items.iter().any(|item| match item {
            Item::Range(first, last) => (*first..=*last).contains(&c),
            Item::Class(class, negative) => class.contains(c) != *negative,
        });
        within != self.negative
    }
}

impl Class {
    fn contains(self, c: char) -> bool {
        match self {
            Self::Digit => c.is_ascii_digit(),
            Self::Word => c.is_ascii_alphanumeric() || c == '_',
            // In ECMAScript the byte order mark is white space, and U+0085 is not.
            Self::Space => c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'),
            Self::LineEnd => matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'),
            Self::Category(categories) => categories.contains(c),
            Self::Alphabetic => c.is_alphabetic(),
            Self::Uppercase => c.is_uppercase(),
            Self::Lowercase => c.is_lowercase(),
            Self::WhiteSpace => c.is_whitespace(),
            Self::Ascii => c.is_ascii(),
            Self::Any => true,
        }
    }

    /// The class of the text between the braces of `\p{…}`.
    pub(super) fn property(name: &str) -> Option<Self> {
        let value = ["General_Category=", "gc="]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        if let Some(category) = Categories::named(value.unwrap_or(name)) {
            return Some(Self::Category(category));
        }
        Some(match name {
            "Alphabetic" | "Alpha" => Self::Alphabetic,
            "Uppercase" | "Upper" => Self::Uppercase,
            "Lowercase" | "Lower" => Self::Lowercase,
            "White_Space" | "space" => Self::WhiteSpace,
            "ASCII" => Self::Ascii,
            "Any" => Self::Any,
            "Assigned" => Self::Category(Categories::assigned()),
            _ => return None,
        })
    }
}
