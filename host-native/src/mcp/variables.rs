//! `${NAME}` and `${NAME:-default}` in configuration values.

/// A variable that has no value where one is needed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unset(pub(super) String);

/// Puts values in the place of `${NAME}`; `${NAME:-default}` is the default where the variable is not set or empty.
/// What is no such thing (a lone `$`, an unclosed brace, a name that none can have) stays as it is.
pub(super) fn expand(
    text: &str,
    value_of: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Unset> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, after)) = behind.split_once('}') else {
            expanded.push_str("${");
            rest = behind;
            break;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if is_name(name) {
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

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
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
    fn a_variable_without_value_and_default_is_named() {
        assert_eq!(expanded("x ${TOKEN}"), Err(Unset("TOKEN".to_owned())));
    }
}
