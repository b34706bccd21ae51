//! Brace lists: `{a,b}` and `{1..9}`. Bash expands them before anything else and dash does not, so they are expanded when the
//! line is parsed: the resulting words are judged.

use alloc::{string::String, vec::Vec};

use super::atom::Atom;
use crate::{Part, Unparsed};

/// The maximum number of words that one word expands to.
const MOST_WORDS: usize = 1000;

/// The maximum number of pieces in all words that one word expands to.
const MOST_PIECES: usize = 64 << 10;

const UNCLEAR: Unparsed = Unparsed::Unsupported("braces that are not a plain list");
const LONGER_NAME: Unparsed =
    Unparsed::Unsupported("a variable whose name goes on in braces (`${…}` ends it)");
const TOO_MANY: Unparsed = Unparsed::Unsupported("braces that become too many words");

/// The expanded words, in bash's order.
pub(super) fn expanded(atoms: Vec<Atom>) -> Result<Vec<Vec<Atom>>, Unparsed> {
    if !may_expand(&atoms) {
        return Ok(alloc::vec![atoms]);
    }
    let (words, rest) = sequence(&atoms, false, 8)?;
    if !rest.is_empty() {
        return Err(UNCLEAR);
    }
    if may_lengthen_a_name(&atoms, &words) {
        return Err(LONGER_NAME);
    }
    Ok(words)
}

/// Bash expands lists before it parses names: `$x{a,b}` becomes `$xa $xb`, and `{$,}x` begins with `$x`.
fn may_lengthen_a_name(atoms: &[Atom], words: &[Vec<Atom>]) -> bool {
    let is_at_list = |before: fn(&Atom) -> bool| {
        atoms
            .windows(2)
            .any(|pair| before(&pair[0]) && matches!(pair[1], Atom::Plain('{' | '}' | ',')))
    };
    let goes_on = |pair: &[Atom]| {
        let [before, Atom::Plain(c)] = pair else {
            return false;
        };
        is_variable(before) && (c.is_ascii_alphanumeric() || *c == '_')
    };
    is_at_list(is_dollar)
        || is_at_list(is_variable) && words.iter().any(|word| word.windows(2).any(goes_on))
}

fn is_variable(atom: &Atom) -> bool {
    matches!(atom, Atom::Part(Part::Variable { quoted: false, .. }))
}

fn is_dollar(atom: &Atom) -> bool {
    matches!(atom, Atom::Quoted(text) if text == "$")
}

/// Whether there is an opening brace followed by something that makes it a list or a range.
pub(super) fn may_expand(atoms: &[Atom]) -> bool {
    let is = |atom: &Atom, wanted: char| matches!(atom, Atom::Plain(c) if *c == wanted);
    let Some(open) = atoms.iter().position(|atom| is(atom, '{')) else {
        return false;
    };
    let behind = &atoms[open + 1..];
    let has_list = behind.iter().any(|atom| is(atom, ','));
    let has_range = behind
        .windows(2)
        .any(|pair| is(&pair[0], '.') && is(&pair[1], '.'));
    has_list || has_range
}

/// All expansions of a sequence of pieces, up to the comma or brace that ends it.
#[allow(clippy::type_complexity)] // words, and what was left
fn sequence(
    mut atoms: &[Atom],
    in_list: bool,
    levels: u32,
) -> Result<(Vec<Vec<Atom>>, &[Atom]), Unparsed> {
    let mut words: Vec<Vec<Atom>> = alloc::vec![Vec::new()];
    while let [first, rest @ ..] = atoms {
        match first {
            Atom::Plain(',' | '}') if in_list => break,
            Atom::Plain('}') => return Err(UNCLEAR),
            // An empty pair of braces is literal.
            Atom::Plain('{') if matches!(rest, [Atom::Plain('}'), ..]) => {
                for word in &mut words {
                    word.extend([Atom::Plain('{'), Atom::Plain('}')]);
                }
                atoms = &rest[1..];
            }
            Atom::Plain('{') => {
                let levels = levels.checked_sub(1).ok_or(TOO_MANY)?;
                let (choices, behind) = choices(rest, levels)?;
                words = product(&words, &choices)?;
                atoms = behind;
            }
            atom => {
                words.iter_mut().for_each(|word| word.push(atom.clone()));
                atoms = rest;
            }
        }
    }
    Ok((words, atoms))
}

/// The choices between braces, after the opening one.
#[allow(clippy::type_complexity)] // words, and what was left
fn choices(atoms: &[Atom], levels: u32) -> Result<(Vec<Vec<Atom>>, &[Atom]), Unparsed> {
    if let Some(found) = range(atoms)? {
        return Ok(found);
    }
    let mut choices = Vec::new();
    let mut has_comma = false;
    let mut rest = atoms;
    loop {
        let (words, behind) = sequence(rest, true, levels)?;
        choices.extend(words);
        match behind {
            [Atom::Plain(','), behind @ ..] => {
                has_comma = true;
                rest = behind;
            }
            // Without a comma it is not a list but literal, which is rare enough to be refused here.
            [Atom::Plain('}'), behind @ ..] if has_comma => return Ok((choices, behind)),
            _ => return Err(UNCLEAR),
        }
        if choices.len() > MOST_WORDS {
            return Err(TOO_MANY);
        }
    }
}

/// `1..9}`: integers without leading zeros.
#[allow(clippy::type_complexity)] // words, and what was left
fn range(atoms: &[Atom]) -> Result<Option<(Vec<Vec<Atom>>, &[Atom])>, Unparsed> {
    let inner: String = atoms
        .iter()
        .map_while(|atom| match atom {
            Atom::Plain(c) if !matches!(c, '}' | ',' | '{') => Some(*c),
            _ => None,
        })
        .collect();
    let length = inner.chars().count();
    if !matches!(atoms.get(length), Some(Atom::Plain('}'))) {
        return Ok(None);
    }
    let Some((from, to)) = inner.split_once("..") else {
        return Ok(None);
    };
    let number = |text: &str| -> Option<i32> {
        let number: i32 = text.parse().ok()?;
        (alloc::format!("{number}") == text).then_some(number)
    };
    let (Some(from), Some(to)) = (number(from), number(to)) else {
        return Err(UNCLEAR);
    };
    if from.abs_diff(to) as usize >= MOST_WORDS {
        return Err(TOO_MANY);
    }
    let numbers: Vec<i32> = if from <= to {
        (from..=to).collect()
    } else {
        (to..=from).rev().collect()
    };
    let words = numbers.into_iter().map(|number| {
        alloc::format!("{number}")
            .chars()
            .map(Atom::Plain)
            .collect()
    });
    Ok(Some((words.collect(), &atoms[length + 1..])))
}

fn product(words: &[Vec<Atom>], choices: &[Vec<Atom>]) -> Result<Vec<Vec<Atom>>, Unparsed> {
    if words.len() * choices.len() > MOST_WORDS {
        return Err(TOO_MANY);
    }
    let mut all = Vec::with_capacity(words.len() * choices.len());
    let mut pieces = 0;
    for word in words {
        for choice in choices {
            pieces += word.len() + choice.len();
            if pieces > MOST_PIECES {
                return Err(TOO_MANY);
            }
            all.push(word.iter().chain(choice).cloned().collect());
        }
    }
    Ok(all)
}
