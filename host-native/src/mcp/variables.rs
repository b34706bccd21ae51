//! Expands `${NAME}` and `${NAME:-default}` in configuration values.

/// A required variable that has no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unset(pub(super) String);

/// Expands `${NAME}`. `${NAME:-default}` expands to the default if the variable is unset or empty. Anything else (a
/// lone `$`, an unclosed brace, an invalid name) stays unchanged.
pub(super) fn expand(
    text: &str,
    value_of: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Unset> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    // The distance of the last brace from the end: there are no references after it.
    let last_brace = text.rfind('}').map(|at| text.len() - at);
    while let Some((before, behind)) = rest.split_once("${") {
        expanded.push_str(before);
        let may_end = last_brace.is_some_and(|from_end| behind.len() >= from_end);
        if may_end && let Some((name, default, after)) = reference(behind) {
            let value = value_of(name);
            match (
                value.filter(|value| default.is_none() || !value.is_empty()),
                default,
            ) {
                (Some(value), _) => expanded.push_str(&value),
                (None, Some(default)) => expanded.push_str(default),
                (None, None) => return Err(Unset(name.to_owned())),
            }
            rest = after;
        } else {
            expanded.push_str("${");
            rest = behind;
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Parses the text after `${`: a name, its default, and the text after the brace. Without a valid name, only the part
/// that could be one is read.
fn reference(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !text.starts_with(letter) {
        return None;
    }
    let end = text.find(|c: char| !(letter(c) || c.is_ascii_digit()))?;
    let (name, behind) = text.split_at(end);
    if let Some(after) = behind.strip_prefix('}') {
        return Some((name, None, after));
    }
    let (default, after) = behind.strip_prefix(":-")?.split_once('}')?;
    Some((name, Some(default), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, Unset> {
        expand(text, &|name| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_have_values_or_defaults() {
        for (text, wanted) in [
            ("plain", "plain"),
            ("${HOME}/bin", "/home/ada/bin"),
            ("a${HOME}b${HOME}", "a/home/adab/home/ada"),
            ("${NONE:-fallback}", "fallback"),
            ("${NONE:-}", ""),
            ("${EMPTY:-fallback}", "fallback"),
            ("${EMPTY}", ""),
            ("${HOME:-unused}", "/home/ada"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_variable_stays_as_it_is() {
        for text in [
            "$HOME", "$", "${", "${HOME", "${}", "${1X}", "${a b}", "{HOME}",
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(text));
        }
        assert_eq!(expanded("${a b ${HOME}").as_deref(), Ok("${a b /home/ada"));
    }

    #[test]
    fn much_that_is_no_variable_takes_no_longer_than_it_is_long() {
        for piece in ["${", "${a", "${a b", "${1", "$"] {
            let text = piece.repeat(200_000) + "}";
            let expected = match piece {
                "${a" => Err(Unset("a".to_owned())),
                _ => Ok(text.clone()),
            };
            assert_eq!(expanded(&text), expected, "{piece}");
        }
        let open = "${a:-".repeat(200_000);
        assert_eq!(expanded(&open).as_deref(), Ok(open.as_str()));
        let nested = "${HOME:-".repeat(200_000) + "}";
        assert_eq!(expanded(&nested).as_deref(), Ok("/home/ada"));
    }

    #[test]
    fn a_variable_without_value_and_default_is_named() {
        assert_eq!(expanded("x ${TOKEN}"), Err(Unset("TOKEN".to_owned())));
    }
}
