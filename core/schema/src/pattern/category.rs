//! General categories of characters (Unicode Standard Annex #44, section 5.7.1), under the names of ECMA-262 (table "Value
//! aliases and canonical values for the Unicode property General_Category").

mod table;

use self::table::RUNS;

/// A set of the thirty categories: bit *n* is the *n*-th of [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Categories(u32);

/// Short and long names of the categories.
const NAMES: [(&str, &str); 30] = [
    ("Lu", "Uppercase_Letter"),
    ("Ll", "Lowercase_Letter"),
    ("Lt", "Titlecase_Letter"),
    ("Lm", "Modifier_Letter"),
    ("Lo", "Other_Letter"),
    ("Mn", "Nonspacing_Mark"),
    ("Mc", "Spacing_Mark"),
    ("Me", "Enclosing_Mark"),
    ("Nd", "Decimal_Number"),
    ("Nl", "Letter_Number"),
    ("No", "Other_Number"),
    ("Pc", "Connector_Punctuation"),
    ("Pd", "Dash_Punctuation"),
    ("Ps", "Open_Punctuation"),
    ("Pe", "Close_Punctuation"),
    ("Pi", "Initial_Punctuation"),
    ("Pf", "Final_Punctuation"),
    ("Po", "Other_Punctuation"),
    ("Sm", "Math_Symbol"),
    ("Sc", "Currency_Symbol"),
    ("Sk", "Modifier_Symbol"),
    ("So", "Other_Symbol"),
    ("Zs", "Space_Separator"),
    ("Zl", "Line_Separator"),
    ("Zp", "Paragraph_Separator"),
    ("Cc", "Control"),
    ("Cf", "Format"),
    ("Cs", "Surrogate"),
    ("Co", "Private_Use"),
    ("Cn", "Unassigned"),
];

/// Used instead of a category: in such a run characters alternate between `Lu` and `Ll`, beginning with `Lu`.
const ALTERNATING: u8 = 30;

/// The number of runs between two positions where reading may start.
const STRIDE: usize = 32;

/// The number of runs in the table.
const COUNT: usize = count();

const STARTS: &[Start] = &starts();

/// A position in the table where a run begins.
#[derive(Clone, Copy)]
struct Start {
    /// The first character of the run.
    character: u32,
    /// Its index in [`RUNS`].
    at: u16,
}

struct Run {
    category: u8,
    length: u32,
    /// The index of the next run.
    next: usize,
}

const fn run(at: usize) -> Run {
    let head = RUNS[at];
    let mut next = at + 1;
    let mut length = (head >> 5) as u32;
    if length == 0 {
        let mut shift = 0;
        loop {
            let byte = RUNS[next];
            next += 1;
            length |= ((byte & 0x7F) as u32) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
    }
    Run {
        category: head & 0x1F,
        length,
        next,
    }
}

const fn count() -> usize {
    let (mut at, mut count) = (0, 0);
    while at < RUNS.len() {
        at = run(at).next;
        count += 1;
    }
    count
}

const fn starts() -> [Start; COUNT.div_ceil(STRIDE)] {
    let first = Start {
        character: 0,
        at: 0,
    };
    let mut starts = [first; COUNT.div_ceil(STRIDE)];
    let (mut character, mut at, mut i) = (0, 0, 0);
    while i < COUNT {
        if i % STRIDE == 0 {
            // The table has a few thousand bytes.
            starts[i / STRIDE] = Start {
                character,
                at: at as u16,
            };
        }
        let run = run(at);
        character += run.length;
        at = run.next;
        i += 1;
    }
    starts
}

/// The index of a character's category in [`NAMES`].
fn category(c: char) -> u8 {
    let c = u32::from(c);
    let before = STARTS.partition_point(|start| start.character <= c);
    let start = STARTS[before.saturating_sub(1)];
    let (mut first, mut at) = (start.character, usize::from(start.at));
    loop {
        let run = run(at);
        let within = c - first;
        if within < run.length || run.next >= RUNS.len() {
            return match run.category {
                ALTERNATING => u8::from(within % 2 == 1),
                category => category,
            };
        }
        first += run.length;
        at = run.next;
    }
}

impl Categories {
    /// Whether the character's category is one of these.
    pub(super) fn contains(self, c: char) -> bool {
        self.0 >> category(c) & 1 == 1
    }

    /// The category, or group of categories, with this name in ECMA-262.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = match name {
            "Letter" => "L",
            "Mark" | "Combining_Mark" => "M",
            "Number" => "N",
            "Punctuation" | "punct" => "P",
            "Symbol" => "S",
            "Separator" => "Z",
            "Other" => "C",
            "Cased_Letter" | "LC" => return Some(Self(0b111)),
            "digit" => "Nd",
            "cntrl" => "Cc",
            name => name,
        };
        let is_meant = |(short, long): (&str, &str)| match name.len() {
            1 => short.starts_with(name),
            _ => short == name || long == name,
        };
        let mut bits = 0;
        for (i, names) in NAMES.into_iter().enumerate() {
            bits |= u32::from(is_meant(names)) << i;
        }
        (bits != 0).then_some(Self(bits))
    }

    /// The categories of assigned characters.
    pub(super) fn assigned() -> Self {
        Self((1 << 29) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALTERNATING, Categories, NAMES, RUNS, category};
    use alloc::vec::Vec;
    use unicode_general_category::get_general_category;

    /// The index of a code point's category in [`NAMES`], according to another crate.
    fn theirs(code: u32) -> u8 {
        let name = char::from_u32(code).map_or("Cs", |c| get_general_category(c).abbreviation());
        let place = NAMES.iter().position(|(short, _)| *short == name);
        u8::try_from(place.unwrap()).unwrap()
    }

    /// The expected table.
    fn encoded() -> Vec<u8> {
        let mut runs: Vec<(u8, u32)> = Vec::new();
        for code in 0..=u32::from(char::MAX) {
            match (runs.last_mut(), theirs(code)) {
                (Some((category, length)), next) if *category == next => *length += 1,
                (_, next) => runs.push((next, 1)),
            }
        }
        let mut bytes = Vec::new();
        let mut rest = runs.as_slice();
        while let [(category, length), behind @ ..] = rest {
            let pairs = rest
                .iter()
                .enumerate()
                .take_while(|(i, run)| **run == (u8::from(i % 2 == 1), 1))
                .count();
            let (category, mut length) = match pairs {
                0 | 1 => (*category, *length),
                pairs => (ALTERNATING, u32::try_from(pairs).unwrap()),
            };
            rest = if pairs > 1 { &rest[pairs..] } else { behind };
            if length < 8 {
                bytes.push(category | u8::try_from(length << 5).unwrap());
                continue;
            }
            bytes.push(category);
            while length > 0 {
                let more = if length > 0x7F { 0x80 } else { 0 };
                bytes.push(u8::try_from(length & 0x7F).unwrap() | more);
                length >>= 7;
            }
        }
        bytes
    }

    #[test]
    fn the_table_is_that_of_unicode() {
        let encoded = encoded();
        assert!(RUNS == encoded, "table.rs should hold {encoded:?}");
    }

    #[test]
    fn every_character_has_the_category_that_unicode_gives_it() {
        for c in '\0'..=char::MAX {
            assert_eq!(category(c), theirs(u32::from(c)), "{c:?}");
        }
    }

    #[test]
    fn groups_are_their_categories() {
        for (group, parts) in [
            ("L", &["Lu", "Ll", "Lt", "Lm", "Lo"][..]),
            ("LC", &["Lu", "Ll", "Lt"]),
            ("M", &["Mn", "Mc", "Me"]),
            ("N", &["Nd", "Nl", "No"]),
            ("P", &["Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"]),
            ("S", &["Sm", "Sc", "Sk", "So"]),
            ("Z", &["Zs", "Zl", "Zp"]),
            ("C", &["Cc", "Cf", "Cs", "Co", "Cn"]),
        ] {
            let bits = |name| Categories::named(name).unwrap().0;
            let together = parts.iter().fold(0, |all, part| all | bits(part));
            assert_eq!(bits(group), together, "{group}");
        }
        for none in ["", "l", "Alphabetic", "Xx", "Surrogates", "é"] {
            assert_eq!(Categories::named(none), None, "{none}");
        }
    }
}
