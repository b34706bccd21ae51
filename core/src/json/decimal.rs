//! Decimal numbers with a point or an exponent: parsed to the nearest binary number, and written with the fewest digits that
//! represent it.
//!
//! The implementations of serde_json and the standard library need tables of powers that hardly compress. Here a number of few
//! digits is computed, as there, in one exact step. For any other number the first approximation may be off by a little; it is
//! corrected by comparing the text, as an integer of any length, with the midpoints between the approximation and its neighbours.
//! So numbers are read exactly, whichever features serde_json is built with.

use alloc::{string::ToString as _, vec::Vec};
use core::cmp::Ordering;

/// The largest power of ten that a `f64` represents exactly.
const EXACT_POWER: u32 = 22;
/// Integers below this are represented exactly.
const EXACT_INTEGER: u64 = 1 << f64::MANTISSA_DIGITS;
/// The number of decimal digits that always fit into 64 bits.
const DIGITS_OF_U64: usize = 19;
/// The midpoint between two numbers has at most 767 digits. Of further digits it only matters whether any is not zero.
const DIGITS: usize = 768;
/// If the first digit is at this power of ten or beyond, the number is too large, or zero.
const TOO_LARGE: i64 = 310;
const TOO_SMALL: i64 = -330;

/// The number nearest to a text in JSON's form; none if it is too large.
pub(super) fn read(text: &str) -> Option<f64> {
    let (text, is_negative) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let size = Decimal::parse(text).nearest()?;
    Some(if is_negative { -size } else { size })
}

/// The fewest digits that represent a positive number; of several such texts the nearest. (At some powers of two, where the next
/// lower number is half as far away as the next higher one, one digit fewer would be read as the same number, but those digits
/// are not the nearest ones of that length.)
pub(super) fn shortest(number: f64) -> Decimal {
    if let Some(few) = Decimal::of_few_places(number) {
        return few;
    }
    let exact = Decimal::exactly(number);
    let rounded = (1..exact.digits.len()).map(|length| exact.rounded(length));
    let mut meant = rounded.filter(|rounded| rounded.nearest() == Some(number));
    meant.next().unwrap_or(exact)
}

/// Digits times a power of ten.
pub(super) struct Decimal {
    /// Each from 0 to 9; the first is not 0.
    pub(super) digits: Vec<u8>,
    pub(super) power: i64,
}

impl Decimal {
    fn parse(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut power = exponent_of(exponent);
        power = power.saturating_sub_unsigned(fraction.len() as u64);
        let all = whole.bytes().chain(fraction.bytes());
        let mut digits: Vec<u8> = (all.map(|digit| digit - b'0'))
            .skip_while(|digit| *digit == 0)
            .collect();
        let beyond = digits.len().saturating_sub(DIGITS);
        if beyond > 0 {
            let counts = digits.drain(DIGITS..).any(|digit| digit != 0);
            power = power.saturating_add_unsigned(beyond as u64);
            // It can be added as the last digit: no midpoint has so many digits.
            digits.extend(counts.then_some(1));
            power -= i64::from(counts);
        }
        Self { digits, power }
    }

    /// A shortcut for most numbers that people write: an integer divided by an exact power of ten, as when parsing.
    fn of_few_places(number: f64) -> Option<Self> {
        let mut scale = 1.0;
        for places in 0..=EXACT_POWER {
            let scaled = number * scale;
            // The nearest integer is thus known, although the product may be rounded.
            if scaled >= EXACT_INTEGER as f64 / 8.0 {
                return None;
            }
            let whole = (scaled + 0.5) as u64;
            if whole > 0 && whole as f64 / scale == number {
                let digits = whole.to_string();
                let kept = digits.trim_end_matches('0');
                let zeros = digits.len() - kept.len();
                return Some(Self {
                    digits: kept.bytes().map(|digit| digit - b'0').collect(),
                    power: zeros as i64 - i64::from(places),
                });
            }
            scale *= 10.0;
        }
        None
    }

    fn exactly(number: f64) -> Self {
        let (mantissa, binary) = parts(number);
        let mut natural = Natural::from(mantissa);
        // A half is five tenths.
        natural.times_power(if binary < 0 { 5 } else { 2 }, binary.unsigned_abs());
        Self {
            digits: natural.into_digits(),
            power: binary.min(0).into(),
        }
    }

    /// The nearest value with this many digits, without trailing zeros; of two equally near the even one.
    fn rounded(&self, length: usize) -> Self {
        let (kept, rest) = self.digits.split_at(length);
        let mut digits = kept.to_vec();
        let is_odd = digits.last().is_some_and(|digit| digit % 2 == 1);
        let goes_up = match rest {
            [5, rest @ ..] => is_odd || rest.iter().any(|digit| *digit != 0),
            [first, ..] => *first > 5,
            [] => false,
        };
        let mut power = self.power.saturating_add_unsigned(rest.len() as u64);
        let gone = if goes_up { 9 } else { 0 };
        while digits.pop_if(|digit| *digit == gone).is_some() {
            power += 1;
        }
        match digits.last_mut() {
            Some(last) if goes_up => *last += 1,
            None => digits.push(1),
            Some(_) => {}
        }
        Self { digits, power }
    }

    fn nearest(&self) -> Option<f64> {
        let place = (self.power).saturating_add_unsigned(self.digits.len() as u64);
        if self.digits.is_empty() || place < TOO_SMALL {
            return Some(0.0);
        }
        if place > TOO_LARGE {
            return None;
        }
        let (first, is_exact) = self.attempt();
        if is_exact {
            return Some(first);
        }
        let mut number = first.min(f64::MAX);
        // The approximation is off by a few steps at most. At a midpoint, the neighbour with the even mantissa is chosen.
        loop {
            let above = self.against_half_above(number);
            let is_odd = number.to_bits() % 2 == 1;
            if above == Ordering::Greater || (above == Ordering::Equal && is_odd) {
                number = number.next_up();
                if number.is_infinite() {
                    return None;
                }
                continue;
            }
            if number == 0.0 {
                return Some(number);
            }
            let below = self.against_half_above(number.next_down());
            if below == Ordering::Less || (below == Ordering::Equal && is_odd) {
                number = number.next_down();
                continue;
            }
            return Some(number);
        }
    }

    /// An approximation of the number, and whether it is exact.
    fn attempt(&self) -> (f64, bool) {
        let taken = self.digits.iter().take(DIGITS_OF_U64);
        let integer = taken.fold(0_u64, |sum, digit| sum * 10 + u64::from(*digit));
        let left = self.digits.len().saturating_sub(DIGITS_OF_U64);
        // Smaller than `TOO_LARGE` plus the number of digits.
        let power = self.power + left as i64;
        let mut steps = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
        let is_exact = left == 0 && integer <= EXACT_INTEGER && steps <= EXACT_POWER;
        let mut number = integer as f64;
        while steps > 0 {
            let step = steps.min(EXACT_POWER);
            let factor = (0..step).fold(1.0, |factor, _| factor * 10.0);
            number = if power < 0 {
                number / factor
            } else {
                number * factor
            };
            steps -= step;
        }
        (number, is_exact)
    }

    /// Compares this with the midpoint between a number and the next higher one.
    fn against_half_above(&self, number: f64) -> Ordering {
        let (mantissa, binary) = parts(number);
        let mut half = Natural::from(2 * mantissa + 1);
        let mut this = Natural::of_digits(&self.digits);
        let tens = u32::try_from(self.power.unsigned_abs()).unwrap_or(u32::MAX);
        let twos = (binary - 1).unsigned_abs();
        if self.power < 0 {
            half.times_power(10, tens);
        } else {
            this.times_power(10, tens);
        }
        if binary < 1 {
            this.times_power(2, twos);
        } else {
            half.times_power(2, twos);
        }
        this.cmp(&half)
    }
}

/// The mantissa of a number, and its binary exponent.
fn parts(number: f64) -> (u64, i32) {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = number.to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let (mantissa, exponent) = match (bits >> FRACTION) as i32 {
        0 => (fraction, 1),
        exponent => (fraction | (1 << FRACTION), exponent),
    };
    (mantissa, exponent - 1075)
}

/// The exponent after the `e`.
fn exponent_of(text: &str) -> i64 {
    let is_negative = text.starts_with('-');
    let digits = text.trim_start_matches(['+', '-']).bytes();
    let size = digits.fold(0_i64, |sum, digit| {
        sum.saturating_mul(10).saturating_add((digit - b'0').into())
    });
    if is_negative { -size } else { size }
}

/// A natural number of any size, as 32-bit digits from the lowest to the highest, the highest not zero.
#[derive(PartialEq, Eq)]
struct Natural(Vec<u32>);

impl Natural {
    fn from(number: u64) -> Self {
        let mut this = Self(Vec::new());
        this.times_plus(1, (number >> 32) as u32);
        this.times_power(2, 32);
        this.times_plus(1, number as u32);
        this
    }

    fn of_digits(digits: &[u8]) -> Self {
        let mut this = Self(Vec::new());
        for digit in digits {
            this.times_plus(10, u32::from(*digit));
        }
        this
    }

    fn times_plus(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for part in &mut self.0 {
            carry += u64::from(*part) * u64::from(factor);
            *part = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn times_power(&mut self, base: u32, mut power: u32) {
        // As many factors at once as fit.
        let at_once = u32::MAX.ilog(base);
        while power > 0 {
            let step = power.min(at_once);
            self.times_plus(base.pow(step), 0);
            power -= step;
        }
    }

    fn into_digits(mut self) -> Vec<u8> {
        let mut digits = Vec::new();
        while !self.0.is_empty() {
            let mut rest = 0;
            for part in self.0.iter_mut().rev() {
                rest = rest << 32 | u64::from(*part);
                *part = (rest / 10) as u32;
                rest %= 10;
            }
            digits.push(rest as u8);
            self.0.pop_if(|highest| *highest == 0);
        }
        digits.reverse();
        digits
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}
