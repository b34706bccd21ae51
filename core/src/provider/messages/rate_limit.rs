//! The rate limit in the headers of a response.
//!
//! There are two families: `anthropic-ratelimit-unified-*` for subscriptions (status, reset, used fraction) and
//! `anthropic-ratelimit-<kind>-*` for API keys (limit, remaining, reset).

use alloc::format;

use crate::{
    id::UnixMillis,
    message::{RateLimitInfo, RateLimitStatus, Utilization},
    money::Usd,
};

/// The used fraction from which a limit causes a warning, in thousandths.
const WARNING_FROM: u32 = 800;
const KINDS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
const WINDOWS: [&str; 2] = ["5h", "7d"];

type Headers<'a> = &'a [(alloc::string::String, alloc::string::String)];

/// The limit that is closest to being exhausted; none if there are no such headers.
pub(super) fn from_headers(status: u16, headers: Headers<'_>) -> Option<RateLimitInfo> {
    let info = unified(headers).or_else(|| by_kind(headers));
    if status != 429 {
        return info;
    }
    Some(RateLimitInfo {
        status: RateLimitStatus::Rejected,
        resets_at: info.and_then(|info| info.resets_at),
        utilization: info.and_then(|info| info.utilization),
    })
}

fn unified(headers: Headers<'_>) -> Option<RateLimitInfo> {
    let status = match header(headers, "anthropic-ratelimit-unified-status")? {
        "rejected" => RateLimitStatus::Rejected,
        "allowed_warning" => RateLimitStatus::AllowedWarning,
        _ => RateLimitStatus::Allowed,
    };
    let used = WINDOWS.iter().filter_map(|window| {
        let name = format!("anthropic-ratelimit-unified-{window}-utilization");
        fraction(header(headers, &name)?)
    });
    Some(RateLimitInfo {
        status,
        resets_at: header(headers, "anthropic-ratelimit-unified-reset").and_then(moment),
        utilization: used.max(),
    })
}

fn by_kind(headers: Headers<'_>) -> Option<RateLimitInfo> {
    let mut fullest: Option<(Utilization, Option<u64>)> = None;
    for kind in KINDS {
        let field = |name: &str| header(headers, &format!("anthropic-ratelimit-{kind}-{name}"));
        let number = |name: &str| field(name)?.trim().parse::<u64>().ok();
        let (Some(limit), Some(remaining)) = (number("limit"), number("remaining")) else {
            continue;
        };
        if limit == 0 {
            continue;
        }
        let used = limit.saturating_sub(remaining).saturating_mul(1000) / limit;
        let used = Utilization {
            per_mille: u32::try_from(used).unwrap_or(1000),
        };
        if fullest.is_none_or(|(known, _)| used > known) {
            fullest = Some((used, field("reset").and_then(moment)));
        }
    }
    let (used, resets_at) = fullest?;
    Some(RateLimitInfo {
        status: if used.per_mille >= WARNING_FROM {
            RateLimitStatus::AllowedWarning
        } else {
            RateLimitStatus::Allowed
        },
        resets_at,
        utilization: Some(used),
    })
}

fn header<'a>(headers: Headers<'a>, name: &str) -> Option<&'a str> {
    let (_, value) = headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    Some(value)
}

fn fraction(text: &str) -> Option<Utilization> {
    let nanos = Usd::parse(text.trim())?.nanos; // a decimal number, exactly
    let per_mille = u32::try_from(nanos / 1_000_000).ok()?;
    Some(Utilization { per_mille })
}

/// Seconds since 1970, from a number or an RFC 3339 timestamp.
fn moment(text: &str) -> Option<u64> {
    let text = text.trim();
    (text.parse().ok()).or_else(|| UnixMillis::parse_rfc3339(text).map(|at| at.0 / 1000))
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec::Vec};

    use super::*;

    fn info(status: u16, headers: &[(&str, &str)]) -> Option<RateLimitInfo> {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        from_headers(status, &headers)
    }

    #[test]
    fn the_fullest_limit_counts() {
        let found = info(
            200,
            &[
                ("anthropic-ratelimit-requests-limit", "50"),
                ("anthropic-ratelimit-requests-remaining", "49"),
                ("anthropic-ratelimit-tokens-limit", "1000"),
                ("anthropic-ratelimit-tokens-remaining", "125"),
                ("anthropic-ratelimit-tokens-reset", "2026-01-02T03:04:05Z"),
            ],
        );
        let expected = RateLimitInfo {
            status: RateLimitStatus::AllowedWarning,
            resets_at: Some(1_767_323_045),
            utilization: Some(Utilization { per_mille: 875 }),
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn a_subscription_says_it_itself() {
        let found = info(
            200,
            &[
                ("anthropic-ratelimit-unified-status", "allowed"),
                ("anthropic-ratelimit-unified-reset", "1767323045"),
                ("anthropic-ratelimit-unified-5h-utilization", "0.25"),
                ("anthropic-ratelimit-unified-7d-utilization", "0.5"),
            ],
        );
        let expected = RateLimitInfo {
            status: RateLimitStatus::Allowed,
            resets_at: Some(1_767_323_045),
            utilization: Some(Utilization { per_mille: 500 }),
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn a_refusal_is_one_without_any_header_and_silence_is_silence() {
        let refused = info(429, &[]).map(|info| info.status);
        assert_eq!(refused, Some(RateLimitStatus::Rejected));
        assert_eq!(info(200, &[]), None);
        let odd = [("anthropic-ratelimit-tokens-limit", "0")];
        assert_eq!(info(200, &odd), None);
    }
}
