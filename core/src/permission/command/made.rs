//! Files that a program creates in addition to those it is given.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use super::{git::GitCommand, options::is_cut_short};

/// More names than the arguments of one command produce.
const MOST_MADE: usize = 4096;

/// Files that a program creates or changes in addition to those it is given by name: files put into a folder, backups with a
/// suffix, unpacked files, or the whole working directory (`.`). None if there are too many to check.
#[must_use]
pub fn made_names(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let operands = || -> Vec<&str> {
        let words = arguments.iter().copied();
        words.filter(|it| !it.starts_with('-')).collect()
    };
    let mut made = Vec::new();
    match program {
        "gunzip" | "gzip" | "unxz" | "xz" | "unlzma" | "lzma" | "bunzip2" | "bzip2" | "unzstd"
        | "zstd" | "uncompress" | "unlz4" | "lz4" => {
            let suffixes = values(arguments, 'S', "--suffix", true);
            for operand in &operands() {
                made.extend(operand.rsplit_once('.').map(|(stem, _)| stem.to_string()));
                let stems = suffixes.iter().filter_map(|it| operand.strip_suffix(it));
                made.extend(stems.map(ToString::to_string));
            }
        }
        "sed" | "cp" | "mv" | "ln" | "install" | "patch" => {
            let operands = operands();
            if program == "patch" {
                let prefixes = values(arguments, 'B', "--prefix", true);
                let of_names = values(arguments, 'Y', "--basename-prefix", true);
                made_of_each(&mut made, &prefixes, &operands, |it, prefix| {
                    [prefix, it].concat()
                })?;
                made_of_each(&mut made, &of_names, &operands, prefixed_name)?;
            }
            let suffixes = match program {
                "sed" => values(arguments, 'i', "--in-place", false),
                "patch" => values(arguments, 'z', "--suffix", true),
                _ => values(arguments, 'S', "--suffix", true),
            };
            made_of_each(&mut made, &suffixes, &operands, suffixed)?;
            if matches!(program, "cp" | "mv" | "ln" | "install") {
                let mut targets = values(arguments, 't', "--target-directory", true);
                targets.extend(operands.last());
                made_of_each(&mut made, &targets, &operands, landed)?;
            }
        }
        "git" if GitCommand::of(arguments).writes_folder() => made.push(".".to_string()),
        _ => {}
    }
    (made.len() <= MOST_MADE).then_some(made)
}

/// The paths made from each operand and each of these names; none if there are too many.
fn made_of_each(
    made: &mut Vec<String>,
    each: &[&str],
    operands: &[&str],
    make: fn(&str, &str) -> String,
) -> Option<()> {
    if made.len() + each.len().saturating_mul(operands.len()) > MOST_MADE {
        return None;
    }
    for one in each {
        made.extend(operands.iter().map(|operand| make(operand, one)));
    }
    Some(())
}

/// The operand with a prefix added to its file name.
fn prefixed_name(operand: &str, prefix: &str) -> String {
    let name = operand.rfind('/').map_or(0, |at| at + 1);
    [&operand[..name], prefix, &operand[name..]].concat()
}

/// The path of an operand in the folder into which it is put.
fn landed(operand: &str, folder: &str) -> String {
    let name = operand.trim_end_matches('/').rsplit('/').next();
    [folder, "/", name.unwrap_or_default()].concat()
}

/// The values of an option: attached to it, or the next word if it takes one.
fn values<'a>(arguments: &[&'a str], letter: char, long: &str, takes_next: bool) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let next = || arguments.get(at + 1).copied().filter(|_| takes_next);
        if is_cut_short(argument, long) {
            let value = argument.split_once('=').map(|(_, value)| value);
            found.extend(value.or_else(next));
        } else if argument.starts_with('-') && !argument.starts_with("--") {
            found.extend(match argument.split_once(letter) {
                Some((_, "")) => next(),
                Some((_, value)) => Some(value),
                None => None,
            });
        }
    }
    found
}

/// The name of a backup file: `*` in a suffix of sed stands for the original name.
fn suffixed(operand: &str, suffix: &str) -> String {
    match suffix.contains('*') {
        true => suffix.replace('*', operand),
        false => [operand, suffix].concat(),
    }
}
