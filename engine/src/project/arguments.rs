//! The arguments of commands and skills, and the places for them in their texts.

use windlass_core::tools::skill::{LONGEST_TEXT, TextTooLong};

/// The place for everything behind the name of a command.
const ALL: &str = "$ARGUMENTS";

/// A place in a text.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    /// All arguments.
    All,
    /// The argument of this number, counted from 0, and how the place is written.
    Numbered(usize, &'a str),
    /// A dollar sign that begins no place.
    Dollar,
}

/// Replaces the places in one pass; places inside arguments are not replaced. `$ARGUMENTS` stands for all of them as they were
/// written, `$0`, `$1` … and `$ARGUMENTS[0]` for its words (quotes group words), `$name` for the word at the place of this name
/// in `names`. A place for a word that is not there stays, and `\$1` is `$1`. Returns whether there is any place.
///
/// # Errors
/// [`TextTooLong`].
pub(super) fn filled(
    body: &str,
    args: &str,
    names: &[String],
) -> Result<(String, bool), TextTooLong> {
    let words = words(args);
    let mut out = String::with_capacity(body.len() + args.len());
    let mut has_place = false;
    for (text, place) in pieces(body, names) {
        out.push_str(text);
        let Some(place) = place else { continue };
        has_place |= place != Place::Dollar;
        out.push_str(match place {
            Place::All => args,
            Place::Numbered(number, written) => words.get(number).map_or(written, String::as_str),
            Place::Dollar => "$",
        });
        if out.len() > LONGEST_TEXT {
            return Err(TextTooLong);
        }
    }
    Ok((out, has_place))
}

/// The same text with all places in the form `$ARGUMENTS` or `$ARGUMENTS[0]`, for whoever fills these alone.
pub(super) fn spelled_out(body: &str, names: &[String]) -> String {
    let mut out = String::with_capacity(body.len());
    for (text, place) in pieces(body, names) {
        out.push_str(text);
        match place {
            Some(Place::All) => out.push_str(ALL),
            Some(Place::Numbered(number, _)) => out.push_str(&format!("{ALL}[{number}]")),
            Some(Place::Dollar) => out.push('$'),
            None => {}
        }
    }
    out
}

/// A text in pieces: what comes before each place, and the place.
struct Pieces<'a> {
    rest: &'a str,
    names: &'a [String],
}

fn pieces<'a>(text: &'a str, names: &'a [String]) -> Pieces<'a> {
    Pieces { rest: text, names }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Option<Place<'a>>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(at) = self.rest.find('$') else {
            return Some((std::mem::take(&mut self.rest), None));
        };
        let (before, from) = self.rest.split_at(at);
        let (place, length) = place(from, self.names);
        self.rest = &from[length..];
        Some(match before.strip_suffix('\\') {
            // An escaped place is a text.
            Some(before) if place != Place::Dollar => {
                self.rest = &from[1..];
                (before, Some(Place::Dollar))
            }
            _ => (before, Some(place)),
        })
    }
}

/// The place at the beginning of a text that begins with a dollar sign, and its length.
fn place<'a>(text: &'a str, names: &[String]) -> (Place<'a>, usize) {
    let numbered =
        |number: usize, length: usize| (Place::Numbered(number, &text[..length]), length);
    if let Some(after) = text.strip_prefix(ALL) {
        let number = after
            .strip_prefix('[')
            .and_then(|inside| inside.split_once(']'))
            .and_then(|(number, _)| Some((number.parse().ok()?, number.len())));
        return match number {
            Some((number, digits)) => numbered(number, ALL.len() + digits + 2),
            None => (Place::All, ALL.len()),
        };
    }
    let after = &text[1..];
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if let Ok(number) = after[..digits].parse() {
        return numbered(number, 1 + digits);
    }
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = after.bytes().take_while(is_of_name).count();
    let named = names.iter().position(|name| *name == after[..length]);
    match named {
        Some(number) => numbered(number, 1 + length),
        None => (Place::Dollar, 1),
    }
}

/// Splits arguments into words like a shell: quotes group words.
pub(crate) fn words(args: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in args.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn filled_with(body: &str, args: &str) -> String {
        let names = ["file".to_owned(), "line-number".to_owned()];
        filled(body, args, &names).unwrap().0
    }

    #[test]
    fn conf_1_words_count_from_zero_and_quotes_group_them() {
        let args = "'a b' c";
        assert_eq!(filled_with("$0, $1!", args), "a b, c!");
        assert_eq!(
            filled_with("$ARGUMENTS[1] of $ARGUMENTS", args),
            "c of 'a b' c"
        );
        assert_eq!(filled_with("$file:$line-number", args), "a b:c");
    }

    #[test]
    fn conf_1_what_is_no_place_or_has_no_word_stays() {
        let text = "$2 $ARGUMENTS[7] $name $ $$ 5$";
        assert_eq!(filled_with(text, "a b"), text);
        assert_eq!(
            filled_with(r"\$1 \$ARGUMENTS \$x \n", "a b"),
            r"$1 $ARGUMENTS \$x \n"
        );
        assert_eq!(
            filled_with("$0", "$1 x"),
            "$1",
            "places in arguments are texts"
        );
        let (_, has_place) = filled("only text, \\$1", "a", &[]).unwrap();
        assert!(!has_place);
        assert!(filled("$ARGUMENTS ".repeat(9_000).as_str(), &"x".repeat(900), &[]).is_err());
    }

    #[test]
    fn conf_1_all_places_have_one_spelling() {
        let names = ["file".to_owned()];
        let text = spelled_out(r"$0 $file $ARGUMENTS $ARGUMENTS[3] \$1 $x", &names);
        assert_eq!(
            text,
            r"$ARGUMENTS[0] $ARGUMENTS[0] $ARGUMENTS $ARGUMENTS[3] $1 $x"
        );
    }
}
