//! Pathname expansion: the paths that match a pattern, in the order of bash.

use std::{ffi::OsStr, os::fd::BorrowedFd, os::unix::ffi::OsStrExt as _};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat};

use super::{
    control::Control,
    locale::Locale,
    pattern::{Pattern, is_live, unescape},
    shell::Leave,
};

/// The matching paths, sorted; empty if there are none.
pub(super) fn expand(
    pattern: &[u8],
    directory: BorrowedFd<'_>,
    locale: Locale,
    control: &Control,
) -> Result<Vec<Vec<u8>>, Leave> {
    if !is_live(pattern) {
        return Ok(Vec::new());
    }
    let mut paths = vec![Vec::new()];
    let mut rest = pattern;
    while !rest.is_empty() {
        let slashes = rest.iter().take_while(|b| **b == b'/').count();
        let behind = &rest[slashes..];
        let end = behind.iter().position(|b| *b == b'/');
        let (name, onward) = behind.split_at(end.unwrap_or(behind.len()));
        for path in &mut paths {
            path.extend_from_slice(&rest[..slashes]);
        }
        rest = onward;
        if is_live(name) {
            let mut found = Vec::new();
            for path in &paths {
                if control.is_stopping() {
                    return Err(Leave::Stopped);
                }
                add_matches(path, name, directory, locale, &mut found);
            }
            paths = found;
        } else {
            let name = unescape(name);
            for path in &mut paths {
                path.extend_from_slice(&name);
            }
        }
    }
    paths.retain(|path| is_there(path, directory));
    // The order of bash in a locale that sorts by bytes.
    paths.sort_unstable();
    Ok(paths)
}

fn add_matches(
    path: &[u8],
    name: &[u8],
    directory: BorrowedFd<'_>,
    locale: Locale,
    found: &mut Vec<Vec<u8>>,
) {
    let place = if path.is_empty() { b"." } else { path };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    // A folder that cannot be listed has no matches.
    let Ok(opened) = openat(directory, OsStr::from_bytes(place), flags, Mode::empty()) else {
        return;
    };
    let Ok(entries) = Dir::new(opened) else {
        return;
    };
    let characters = characters(name, locale).map(|read| Pattern::read(&read));
    let bytes = Pattern::read(&as_bytes(name));
    for entry in entries.flatten() {
        let entry = entry.file_name().to_bytes();
        if matches!(entry, b"." | b"..") {
            continue;
        }
        // If one of the two is not valid text, both are compared as bytes.
        let matches = match (&characters, self::characters(entry, locale)) {
            (Some(pattern), Some(entry)) => pattern.matches_name(&entry),
            _ => bytes.matches_name(&as_bytes(entry)),
        };
        if matches {
            found.push([path, entry].concat());
        }
    }
}

pub(super) fn characters(name: &[u8], locale: Locale) -> Option<Vec<u32>> {
    let text = locale.is_utf8.then(|| std::str::from_utf8(name).ok())??;
    Some(text.chars().map(u32::from).collect())
}

/// Treats bytes beyond ASCII as codes that are in no character class.
pub(super) fn as_bytes(name: &[u8]) -> Vec<u32> {
    let code = |b: &u8| match b {
        0..0x80 => u32::from(*b),
        _ => u32::from(char::MAX) + u32::from(*b),
    };
    name.iter().map(code).collect()
}

/// Dangling links count as existing.
fn is_there(path: &[u8], directory: BorrowedFd<'_>) -> bool {
    statat(
        directory,
        OsStr::from_bytes(path),
        AtFlags::SYMLINK_NOFOLLOW,
    )
    .is_ok()
}
