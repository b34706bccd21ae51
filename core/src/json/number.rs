//! Numbers with a point or an exponent, read and written to the bit as serde_json does, without the tables it has for that:
//! a page would fetch some twenty kilobytes that nothing can compress, for numbers that hardly a message contains.

use alloc::string::String;
use core::fmt::Write as _;

/// The longest number of digits that is written out without an exponent.
const LONGEST_PLAIN: i32 = 16;
/// The most zeros that stand between the point and the first digit.
const MOST_ZEROS: i32 = 5;
/// The largest power of ten that a double holds.
const LARGEST_POWER: i32 = 308;

/// Appends a finite number.
pub(super) fn write(number: f64, out: &mut String) {
    let mut shortest = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = write!(shortest, "{number:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits = mantissa.trim_start_matches('-').replace('.', "");
    if mantissa.starts_with('-') {
        out.push('-');
    }
    if !(-MOST_ZEROS..LONGEST_PLAIN).contains(&exponent) {
        let (first, others) = digits.split_at(1);
        out.push_str(first);
        if !others.is_empty() {
            out.push('.');
            out.push_str(others);
        }
        let _ = write!(out, "e{exponent:+}");
        return;
    }
    let Ok(whole) = usize::try_from(exponent + 1) else {
        out.push_str("0.");
        zeros(exponent.unsigned_abs() as usize - 1, out);
        out.push_str(&digits);
        return;
    };
    match digits.split_at_checked(whole) {
        Some((before, after)) if !before.is_empty() => {
            out.push_str(before);
            out.push('.');
            out.push_str(if after.is_empty() { "0" } else { after });
        }
        Some((_, after)) => {
            out.push_str("0.");
            out.push_str(after);
        }
        None => {
            out.push_str(&digits);
            zeros(whole - digits.len(), out);
            out.push_str(".0");
        }
    }
}

fn zeros(count: usize, out: &mut String) {
    out.extend(core::iter::repeat_n('0', count));
}

/// What the text of a JSON number means; none for one that is too large.
pub(super) fn read(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let mut power = exponent_of(exponent);
    let (mut digits, mut full, mut behind_point) = (0_u64, false, false);
    for byte in mantissa.bytes() {
        match byte {
            b'.' => (behind_point, full) = (true, false),
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                let longer = digits.checked_mul(10).and_then(|n| n.checked_add(digit));
                match longer.filter(|_| !full) {
                    Some(longer) => {
                        digits = longer;
                        power = power.saturating_sub(behind_point.into());
                    }
                    // What does not fit is cut off.
                    None => {
                        full = true;
                        power = power.saturating_add((!behind_point).into());
                    }
                }
            }
            _ => {}
        }
    }
    let size = scaled(digits as f64, power)?;
    Some(if mantissa.starts_with('-') {
        -size
    } else {
        size
    })
}

/// An exponent; beyond the end of the range it is just large.
fn exponent_of(text: &str) -> i32 {
    let digits = text.trim_start_matches(['+', '-']);
    let size = digits.bytes().fold(0_i32, |size, byte| {
        size.saturating_mul(10)
            .saturating_add(i32::from(byte.wrapping_sub(b'0')))
    });
    if text.starts_with('-') { -size } else { size }
}

/// A number times a power of ten; none for what is too large.
fn scaled(mut number: f64, mut power: i32) -> Option<f64> {
    while power < -LARGEST_POWER && number != 0.0 {
        number /= power_of_ten(LARGEST_POWER);
        power += LARGEST_POWER;
    }
    if number == 0.0 {
        return Some(number);
    }
    if power > LARGEST_POWER {
        return None;
    }
    let by = power_of_ten(power.abs());
    let size = if power < 0 { number / by } else { number * by };
    size.is_finite().then_some(size)
}

/// Ten to a power up to 308, to the nearest double. The power of five is computed exactly, the rest is a shift.
fn power_of_ten(power: i32) -> f64 {
    // 5^308 has 716 bits; the lowest first.
    let mut words = [0_u32; 23];
    words[0] = 1;
    for _ in 0..power {
        let mut carry = 0;
        for word in &mut words {
            let product = u64::from(*word) * 5 + carry;
            *word = product as u32;
            carry = product >> 32;
        }
    }
    let length = words
        .iter()
        .rposition(|word| *word != 0)
        .unwrap_or_default()
        + 1;
    let lowest = length.saturating_sub(3);
    let highest = words[lowest..length].iter().rev();
    let top = highest.fold(0_u128, |top, word| top << 32 | u128::from(*word));
    // Bits further down count only where the rest lies exactly between two doubles, and they are never all zero: the
    // number is odd.
    let top = top | u128::from(lowest > 0);
    // To the nearest, and then a multiplication by a power of two, which is exact.
    let shift = i32::try_from(lowest * 32).unwrap_or_default() + power;
    let biased = u64::try_from(1023 + shift).unwrap_or_default();
    top as f64 * f64::from_bits(biased << 52)
}
