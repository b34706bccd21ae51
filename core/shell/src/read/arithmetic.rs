//! Arithmetic with numbers only, computed when the line is parsed. The value of a variable would be evaluated as an expression.

use alloc::string::{String, ToString};

/// The maximum nesting depth of parentheses.
const MOST_LEVELS: u32 = 16;

/// The result of an expression of numbers; none if it contains anything else, or has no result.
pub(super) fn result(expression: &str) -> Option<String> {
    let mut reader = Expression {
        rest: expression,
        levels: MOST_LEVELS,
    };
    let value = reader.sum()?;
    reader.skip_blanks();
    reader.rest.is_empty().then(|| value.to_string())
}

struct Expression<'a> {
    rest: &'a str,
    levels: u32,
}

impl Expression<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, sign: char) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(sign);
        // `++`, `**` and similar signs are other operators.
        let rest = rest.filter(|rest| !rest.starts_with(sign) || matches!(sign, '(' | ')'));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value = value.checked_add(self.product()?)?;
            } else if self.take('-') {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.operand()?;
        loop {
            if self.take('*') {
                value = value.checked_mul(self.operand()?)?;
            } else if self.take('/') {
                value = value.checked_div(self.operand()?)?;
            } else if self.take('%') {
                value = value.checked_rem(self.operand()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn operand(&mut self) -> Option<i64> {
        self.levels = self.levels.checked_sub(1)?;
        let value = if self.take('(') {
            let value = self.sum()?;
            self.take(')').then_some(value)?
        } else if self.take('-') {
            self.operand()?.checked_neg()?
        } else {
            self.number()?
        };
        self.levels += 1;
        Some(value)
    }

    fn number(&mut self) -> Option<i64> {
        self.skip_blanks();
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            // A number with a leading zero is octal.
            None if text.len() > 1 && text.starts_with('0') => None,
            None => text.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_numbers_have_their_result_and_others_have_none() {
        for (expression, expected) in [
            ("7 * 6", Some("42")),
            (" 0x1f + 7 ", Some("38")),
            ("1 + 2 * 3 - (4 - 10) / 4 % 2", Some("8")),
            ("-5", Some("-5")),
            ("1 / 0", None),
            ("9223372036854775807 + 1", None),
            ("x + 1", None),
            ("010", None),
            ("1 +", None),
            ("2 ** 3", None),
            ("1 ++ 2", None),
            ("", None),
            ("a[$(id)]", None),
        ] {
            assert_eq!(result(expression).as_deref(), expected, "{expression}");
        }
        assert_eq!(result(&"(".repeat(100_000)), None);
    }
}
