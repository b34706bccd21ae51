//! Numbers with a point or an exponent, written as serde_json does. If two shortest texts are equally near to a number, the last
//! digit may differ from that of serde_json.

use alloc::string::String;
use core::fmt::Write as _;

use super::decimal;

/// The largest number of digits that is written without an exponent.
const LONGEST_PLAIN: i32 = 16;
/// The most zeros between the point and the first digit.
const MOST_ZEROS: i32 = 5;

/// Appends a finite number.
pub(super) fn write(number: f64, out: &mut String) {
    if number.is_sign_negative() {
        out.push('-');
    }
    if number == 0.0 {
        out.push_str("0.0");
        return;
    }
    let shortest = decimal::shortest(number.abs());
    let digits: String = (shortest.digits.iter())
        .map(|digit| char::from(b'0' + digit))
        .collect();
    // The exponent of the first digit. It fits for every number.
    let exponent = shortest.power + digits.len() as i64 - 1;
    let exponent = i32::try_from(exponent).unwrap_or_default();
    if !(-MOST_ZEROS..LONGEST_PLAIN).contains(&exponent) {
        let (first, others) = digits.split_at(1);
        out.push_str(first);
        if !others.is_empty() {
            out.push('.');
            out.push_str(others);
        }
        // Writing to a string cannot fail.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Seeded;

    fn written(number: f64) -> String {
        let mut text = String::new();
        write(number, &mut text);
        text
    }

    #[test]
    fn numbers_are_written_as_serde_json_writes_them() {
        let mut dice = Seeded::new([9; 32]);
        let mut number = || match dice.below(3) {
            // Amounts of money: few digits, and products of such numbers.
            0 => dice.below(1_000_000) as f64 / 1e6 * dice.below(100) as f64,
            1 => dice.below(1 << 40) as f64 / 10f64.powi(dice.below(24) as i32),
            _ => f64::from_bits(dice.below(u64::MAX)).abs(),
        };
        for number in (0..20_000).map(|_| number()).filter(|it| it.is_finite()) {
            let (ours, theirs) = (written(number), serde_json::to_string(&number).unwrap());
            // Of two texts that are equally near, either is correct.
            let is_same = ours == theirs || ours.len() == theirs.len();
            assert!(is_same, "{ours} and {theirs}");
            assert_eq!(ours.parse::<f64>(), Ok(number));
        }
        for (number, text) in [
            (0.000_105, "0.000105"),
            (0.000_36, "0.00036"),
            (3.0, "3.0"),
            (1200.0, "1200.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-7, "1e-7"),
        ] {
            assert_eq!(written(number), text);
        }
    }
}
