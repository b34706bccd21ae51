//! Sets of characters.

use alloc::vec::Vec;

use super::category::Categories;

/// Some characters.
#[derive(Debug, Default)]
pub(super) struct CharSet {
    pub(super) negative: bool,
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    /// From one to another, both included.
    Range(char, char),
    /// A class, or with true all but it.
    Class(Class, bool),
}

/// What a character has a name for being.
#[derive(Debug, Clone, Copy)]
pub(super) enum Class {
    /// `\d`: of ASCII only, as in ECMA-262.
    Digit,
    /// `\w`: of ASCII only.
    Word,
    /// `\s`.
    Space,
    /// What `.` leaves out.
    LineEnd,
    /// `\p{L}` and its like.
    Category(Categories),
    // Derived properties (Unicode's DerivedCoreProperties.txt), of which the standard library has the tables.
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
            // ECMAScript counts the byte order mark among the blanks, and U+0085 not.
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

    /// What stands between the braces of `\p{…}`.
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
