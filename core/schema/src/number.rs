//! Numbers in their written form, compared and divided exactly: JSON's grammar does not limit them, and 0.3 is a multiple of 0.1.

use alloc::boxed::Box;
use core::cmp::Ordering;

/// A JSON number in its written form. Numbers are equal if their values are: 1, 1.0 and 10e-1.
#[derive(Debug, Clone)]
pub(crate) struct Number(Box<str>);

/// Digits and a power of ten: `0.digits × 10^magnitude`. The first and last digits are not zero; the number zero has no digits.
#[derive(Clone, Copy)]
struct Decimal<'n> {
    negative: bool,
    /// Digits before the decimal point.
    before: &'n [u8],
    /// Digits after the decimal point.
    after: &'n [u8],
    /// Exponents beyond ±2^61 are clamped.
    magnitude: i64,
}

const FARTHEST: i64 = 1 << 61;

/// 2^1024 - 2^970: from here on a number does not round to a finite double (IEEE 754, section 4.3.1).
const OVERFLOW: &[u8; 309] = b"1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070963\
    3028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027\
    0069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";

impl Number {
    /// From a text that a JSON parser accepted as a number.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The number as written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an integer; 5.0 is one.
    pub(crate) fn is_integer(&self) -> bool {
        let decimal = self.decimal();
        decimal.is_zero() || decimal.exponent() >= 0
    }

    /// Whether it is too large for a double.
    pub(crate) fn overflows(&self) -> bool {
        let decimal = self.decimal();
        match decimal.magnitude.cmp(&309) {
            _ if decimal.is_zero() => false,
            Ordering::Equal => decimal.digits().ge(OVERFLOW.iter().copied()),
            larger => larger == Ordering::Greater,
        }
    }

    pub(crate) fn is_positive(&self) -> bool {
        let decimal = self.decimal();
        !decimal.is_zero() && !decimal.negative
    }

    /// A non-negative integer; values beyond `u64` saturate.
    pub(crate) fn as_count(&self) -> Option<u64> {
        let decimal = self.decimal();
        if decimal.is_zero() {
            return Some(0);
        }
        if decimal.negative || !self.is_integer() {
            return None;
        }
        let zeros = usize::try_from(decimal.exponent()).unwrap_or(usize::MAX);
        let mut count: u64 = 0;
        for digit in decimal.digits().chain(core::iter::repeat_n(b'0', zeros)) {
            let digit = u64::from(digit - b'0');
            match count.checked_mul(10).and_then(|c| c.checked_add(digit)) {
                Some(next) => count = next,
                None => return Some(u64::MAX),
            }
        }
        Some(count)
    }

    /// As a divisor. None for zero, and if its digits do not fit into a `u64`.
    pub(crate) fn as_divisor(&self) -> Option<Divisor> {
        let decimal = self.decimal();
        let mut digits: u64 = 0;
        for digit in decimal.digits() {
            let digit = u64::from(digit - b'0');
            digits = digits.checked_mul(10)?.checked_add(digit)?;
        }
        (digits != 0).then(|| Divisor {
            digits,
            exponent: decimal.exponent(),
        })
    }

    fn decimal(&self) -> Decimal<'_> {
        let text = &*self.0;
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (mut before, mut after) = (before.trim_start_matches('0'), after.trim_end_matches('0'));
        let mut magnitude = power(exponent).saturating_add(length(before));
        if before.is_empty() {
            let all = length(after);
            after = after.trim_start_matches('0');
            magnitude = magnitude.saturating_sub(all - length(after));
        }
        if after.is_empty() {
            before = before.trim_end_matches('0');
        }
        Decimal {
            negative,
            before: before.as_bytes(),
            after: after.as_bytes(),
            magnitude,
        }
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(FARTHEST)
}

fn power(exponent: &str) -> i64 {
    let (negative, digits) = match exponent.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, exponent.trim_start_matches('+')),
    };
    let power = digits.parse().unwrap_or(FARTHEST).min(FARTHEST);
    if negative { -power } else { power }
}

impl<'n> Decimal<'n> {
    fn is_zero(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    fn digits(self) -> impl Iterator<Item = u8> + 'n {
        self.before.iter().chain(self.after).copied()
    }

    /// The power of ten of the last digit.
    fn exponent(&self) -> i64 {
        let count = self.before.len() + self.after.len();
        self.magnitude
            .saturating_sub(i64::try_from(count).unwrap_or(FARTHEST))
    }

    /// Compares without the sign.
    fn compare_size(self, other: Decimal<'_>) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self
                .magnitude
                .cmp(&other.magnitude)
                .then_with(|| self.digits().cmp(other.digits())),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.decimal(), other.decimal());
        let is_below_zero = |number: Decimal<'_>| number.negative && !number.is_zero();
        match (is_below_zero(a), is_below_zero(b)) {
            (false, false) => a.compare_size(b),
            (true, true) => b.compare_size(a),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

/// A divisor greater than zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divisor {
    digits: u64,
    exponent: i64,
}

impl Divisor {
    /// Whether the number is an integer multiple of this.
    pub(crate) fn divides(self, number: &Number) -> bool {
        let number = number.decimal();
        if number.is_zero() {
            return true;
        }
        // The digits of neither end with zero, so a multiple of ten times this divisor is handled by the exponents.
        let Ok(zeros) = u64::try_from(number.exponent().saturating_sub(self.exponent)) else {
            return false;
        };
        let modulus = u128::from(self.digits);
        let mut rest = 0;
        for digit in number.digits() {
            rest = (rest * 10 + u128::from(digit - b'0')) % modulus;
        }
        // Ten to the power of the number of zeros, by squaring.
        let (mut factor, mut left) = (10 % modulus, zeros);
        while left > 0 && rest > 0 {
            if left % 2 == 1 {
                rest = rest * factor % modulus;
            }
            factor = factor * factor % modulus;
            left /= 2;
        }
        rest == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, OVERFLOW};
    use core::cmp::Ordering;

    fn number(text: &str) -> Number {
        Number::new(text)
    }

    #[test]
    fn numbers_are_compared_by_their_value_and_not_by_their_spelling() {
        for (a, b, order) in [
            ("1", "1.0", Ordering::Equal),
            ("1", "10e-1", Ordering::Equal),
            ("0.00120", "12E-4", Ordering::Equal),
            ("1200", "1.2e+3", Ordering::Equal),
            ("0", "-0.0e7", Ordering::Equal),
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            (
                "123456789012345678901234567890.1",
                "123456789012345678901234567890.2",
                Ordering::Less,
            ),
            ("-2", "-1", Ordering::Less),
            ("-1", "0", Ordering::Less),
            ("0", "1e-400", Ordering::Less),
            ("0.1", "0.09", Ordering::Greater),
            ("10", "9", Ordering::Greater),
            ("12", "1.2", Ordering::Greater),
            ("12", "123", Ordering::Less),
            ("1e99999999999999999999999", "1e308", Ordering::Greater),
            ("1e-99999999999999999999999", "1e-308", Ordering::Less),
        ] {
            assert_eq!(number(a).cmp(&number(b)), order, "{a} and {b}");
            assert_eq!(number(b).cmp(&number(a)), order.reverse(), "{b} and {a}");
        }
    }

    #[test]
    fn whole_numbers_are_those_without_a_fraction_however_they_are_written() {
        for whole in [
            "0",
            "-0.0",
            "5.0",
            "1e300",
            "0.5e1",
            "12345678901234567890123",
        ] {
            assert!(number(whole).is_integer(), "{whole}");
        }
        for broken in ["0.5", "5e-1", "9007199254740993.5", "1e-400"] {
            assert!(!number(broken).is_integer(), "{broken}");
        }
    }

    #[test]
    fn counts_are_whole_and_not_negative() {
        for (text, count) in [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("0.3e1", Some(3)),
            ("2e3", Some(2_000)),
            ("-0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", Some(u64::MAX)),
            ("1e300000000", Some(u64::MAX)),
            ("-1", None),
            ("1.5", None),
        ] {
            assert_eq!(number(text).as_count(), count, "{text}");
        }
    }

    #[test]
    fn multiples_are_exact_at_every_size() {
        for (text, of, is) in [
            ("0.3", "0.1", true),
            ("1.1", "0.1", true),
            ("0.35", "0.1", false),
            ("0", "7", true),
            ("-9", "3", true),
            ("4.0", "2", true),
            ("30", "60", false),
            ("1e308", "0.5", true),
            ("1e308", "1e308", true),
            ("1e308", "3", false),
            ("3e308", "3", true),
            ("1e308", "0.123456789", false),
            ("1e307", "1e308", false),
            ("12391239123", "1e-8", true),
            ("9007199254740993", "2", false),
            ("100", "18446744073709551615", false),
            ("36893488147419103230", "18446744073709551615", true),
            ("5e-324", "5e-324", true),
            ("1e-400", "1", false),
        ] {
            let divisor = number(of).as_divisor().unwrap();
            assert_eq!(divisor.divides(&number(text)), is, "{text} of {of}");
        }
        assert!(number("12345678901234567890123").as_divisor().is_none());
        assert!(number("0.0").as_divisor().is_none());
    }

    #[test]
    fn what_is_rounded_to_no_double_overflows() {
        let (first, largest) = (
            core::str::from_utf8(OVERFLOW).unwrap(),
            "1.7976931348623157e308",
        );
        let before = alloc::format!("{}1", &first[..308]);
        for (text, expected) in [
            (first, true),
            (&*alloc::format!("-{first}.0"), true),
            (&*alloc::format!("{first}e-1"), false),
            (&*before, false),
            (largest, false),
            ("1.7976931348623159e308", true),
            ("1e309", true),
            ("1e308", false),
            ("0e999", false),
            ("1e99999999999999999999", true),
            ("0.00001e312", false),
        ] {
            assert_eq!(Number::new(text).overflows(), expected, "{text}");
            assert_eq!(
                text.parse::<f64>().unwrap().is_infinite(),
                expected,
                "{text}"
            );
        }
    }
}
