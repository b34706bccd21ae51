//! Money in whole nano-dollars: sums are exact and the same on every platform.

use core::{fmt, iter::Sum, ops::AddAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::json::RawJson;

/// US dollars, in billionths. In JSON a decimal number (`0.012345`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd {
    /// Billionths of a dollar.
    pub nanos: u64,
}

impl Usd {
    /// This many billionths of a dollar.
    #[must_use]
    pub fn from_nanos(nanos: u64) -> Self {
        Self { nanos }
    }

    /// Reads a decimal number (`5`, `0.25`); digits after the ninth are dropped.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
            return None;
        }
        let whole: u64 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        let mut nanos: u64 = 0;
        for i in 0..9 {
            let digit = fraction
                .as_bytes()
                .get(i)
                .map_or(0, |b| u64::from(b - b'0'));
            nanos = nanos * 10 + digit;
        }
        whole
            .checked_mul(1_000_000_000)?
            .checked_add(nanos)
            .map(Self::from_nanos)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut rest) = (self.nanos / 1_000_000_000, self.nanos % 1_000_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let mut width = 9;
        while rest.is_multiple_of(10) {
            rest /= 10;
            width -= 1;
        }
        write!(f, "{whole}.{rest:0width$}")
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        self.nanos = self.nanos.saturating_add(other.nanos);
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        let mut total = Self::default();
        iter.for_each(|part| total += part);
        total
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Written as digits: floating point could differ in the last place.
        let text = alloc::format!("{self}");
        let raw = RawJson::parse(text).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        let text = raw.get().trim_matches('"');
        Self::parse(text).ok_or_else(|| de::Error::custom("not an amount in dollars such as 0.25"))
    }
}
