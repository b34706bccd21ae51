//! Paths made absolute and real, before a call is judged.

#[cfg(not(target_os = "linux"))]
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

#[cfg(not(target_os = "linux"))]
use super::MAX_LINKS;
#[cfg(target_os = "linux")]
use super::followed;
use super::{MAX_DEPTH, MAX_NAME, MAX_PATH, grant::slashed};

/// Characters of a path that a message repeats.
const SHOWN: usize = 200;

/// The real path that `path` means, seen from the absolute directory `cwd`.
///
/// `.` and `..` are taken out first, by their text, as the tools themselves do. Then links are
/// followed; what does not exist yet stands below its nearest existing parent's real path. A link to
/// something missing counts as what it points to.
///
/// # Errors
/// [`ResolveError`] when there is no such path: the text is none, or links go in circles.
pub fn resolve(cwd: &str, path: &str) -> Result<String, ResolveError> {
    let fault = |why| ResolveError {
        path: beginning(path),
        why,
    };
    if path.is_empty() {
        return Err(fault("it is empty".to_owned()));
    }
    if path.contains('\0') {
        return Err(fault("it contains a NUL character".to_owned()));
    }
    // Before anything else is done with it: what follows takes the longer, the longer it is.
    if path.len() > MAX_PATH {
        return Err(fault(format!("it is longer than {MAX_PATH} bytes")));
    }
    if path.split('/').any(|name| name.len() > MAX_NAME) {
        return Err(fault(format!(
            "a name in it is longer than {MAX_NAME} bytes"
        )));
    }
    if path.split('/').filter(|name| !name.is_empty()).count() > MAX_DEPTH {
        return Err(fault(format!("it has more than {MAX_DEPTH} names")));
    }
    let joined = Path::new(cwd).join(path);
    if !joined.is_absolute() {
        return Err(fault(format!(
            "the working directory `{cwd}` is not absolute"
        )));
    }
    real_path(&joined).map_err(fault)
}

/// A path that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path `{path}` cannot be resolved: {why}")]
pub struct ResolveError {
    /// As it was given; of a long one the beginning.
    pub path: String,
    /// What stands in the way.
    pub why: String,
}

/// The real path of an absolute path, with the part that does not exist appended as it is.
#[cfg(target_os = "linux")]
pub(crate) fn real_path(path: &Path) -> Result<String, String> {
    let real = followed(&normalised(path)).map_err(|lost| lost.to_string())?;
    if real.as_os_str().len() > MAX_PATH {
        return Err(format!("it leads to a path of more than {MAX_PATH} bytes"));
    }
    as_text(&real)
}

/// The same where the system knows better which name a file has: case, short names.
#[cfg(not(target_os = "linux"))]
pub(crate) fn real_path(path: &Path) -> Result<String, String> {
    let mut path = normalised(path);
    for _ in 0..=MAX_LINKS {
        if path.as_os_str().len() > MAX_PATH {
            return Err(format!("it leads to a path of more than {MAX_PATH} bytes"));
        }
        let (real, missing) = nearest_existing(&path)?;
        let Some(first) = missing.first() else {
            return as_text(&real);
        };
        // The first missing part may be a link whose target is missing.
        let candidate = real.join(first);
        let Ok(target) = std::fs::read_link(&candidate) else {
            let mut whole = real;
            whole.extend(missing);
            return as_text(&whole);
        };
        let mut onward = real.join(target);
        onward.extend(&missing[1..]);
        path = normalised(&onward);
    }
    Err(format!("more than {MAX_LINKS} links on the way"))
}

/// The real path of the nearest parent that exists, and the components below it that do not.
#[cfg(not(target_os = "linux"))]
fn nearest_existing(path: &Path) -> Result<(PathBuf, Vec<&OsStr>), String> {
    let upwards: Vec<&Path> = path.ancestors().collect();
    let root = upwards.len() - 1;
    // What exists has parents that exist. So the nearest is found without asking for each, which would take a time that grows
    // with the square of the length.
    let (mut missing, mut nearest) = (0, 0);
    let mut real = loop {
        match std::fs::canonicalize(upwards[nearest]) {
            Ok(real) => break real,
            Err(error) if nearest == root => return Err(error.to_string()),
            // Whatever cannot be entered counts as missing; circles of links end in `real_path`.
            Err(_) => {
                missing = nearest + 1;
                nearest = (2 * nearest + 1).min(root);
            }
        }
    };
    while missing < nearest {
        let middle = usize::midpoint(missing, nearest);
        match std::fs::canonicalize(upwards[middle]) {
            Ok(nearer) => (real, nearest) = (nearer, middle),
            Err(_) => missing = middle + 1,
        }
    }
    let below = upwards[..nearest].iter().rev();
    Ok((real, below.filter_map(|path| path.file_name()).collect()))
}

/// The path without `.` and `..`, by its text alone.
pub(crate) fn normalised(path: impl AsRef<Path>) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.as_ref().components() {
        match component {
            Component::CurDir => {}
            // Popping at the root leaves the root, as the system does.
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn beginning(path: &str) -> String {
    match path.char_indices().nth(SHOWN) {
        None => path.to_owned(),
        Some((end, _)) => format!("{}…", &path[..end]),
    }
}

fn as_text(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some(_) => Ok(slashed(path).into_owned()),
        None => Err("it contains a name that is not UTF-8".to_owned()),
    }
}
