//! How long commands may run.

use std::time::Duration;

use super::{DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS};

/// How long commands may run, in milliseconds: at most [`MAX_TIMEOUT_MS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// Where the model asks for no time.
    pub default_ms: u32,
    /// The longest time that the model may ask for.
    pub longest_ms: u32,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            default_ms: DEFAULT_TIMEOUT_MS,
            longest_ms: MAX_TIMEOUT_MS,
        }
    }
}

impl TimeLimits {
    /// The limits of an environment: `BASH_DEFAULT_TIMEOUT_MS`, and `BASH_MAX_TIMEOUT_MS`, which is never below the first.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| {
            let value = variable(name)?.trim().parse::<u32>().ok()?;
            Some(value.min(MAX_TIMEOUT_MS)).filter(|ms| *ms > 0)
        };
        let default_ms = number("BASH_DEFAULT_TIMEOUT_MS").unwrap_or(DEFAULT_TIMEOUT_MS);
        let longest_ms = number("BASH_MAX_TIMEOUT_MS").unwrap_or(MAX_TIMEOUT_MS);
        Self {
            default_ms,
            longest_ms: longest_ms.max(default_ms),
        }
    }

    /// The time for a call, for which the model has asked for so many milliseconds.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn time(self, asked: Option<f64>, call: Option<u32>) -> Duration {
        let asked = match asked {
            // In range: the cast only drops a fraction of a millisecond.
            Some(ms) if ms >= 1.0 => ms.min(f64::from(self.longest_ms)) as u32,
            _ => self.default_ms,
        };
        Duration::from_millis(asked.min(call.unwrap_or(u32::MAX)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_sets_limits_and_nothing_is_shorter_than_the_default() {
        let limits = |default: &'static str, longest: &'static str| {
            TimeLimits::read(|name| match name {
                "BASH_DEFAULT_TIMEOUT_MS" => Some(default.to_owned()),
                _ => Some(longest.to_owned()),
            })
        };
        assert_eq!(limits("", "many"), TimeLimits::default());
        assert_eq!(limits("0", "9999999"), TimeLimits::default());
        let short = limits("5000", "8000");
        assert_eq!(short.time(None, None), Duration::from_secs(5));
        assert_eq!(short.time(Some(9e9), None), Duration::from_secs(8));
        assert_eq!(short.time(Some(9e9), Some(10)), Duration::from_millis(10));
        assert_eq!(limits("5000", "2000").longest_ms, 5000);
    }
}
