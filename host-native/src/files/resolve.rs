//! Makes paths absolute and real before permissions are checked.

#[cfg(not(target_os = "linux"))]
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

#[cfg(not(target_os = "linux"))]
use super::MAX_LINKS;
#[cfg(target_os = "linux")]
use super::followed;
use super::{MAX_DEPTH, MAX_NAME, MAX_PATH, path_text::slashed};

/// The maximum length of a path in a message, in characters.
const SHOWN: usize = 200;

/// The real path of `path`, relative to the absolute directory `cwd`.
///
/// `.` and `..` are removed first, by text, as the tools themselves do. Then links are resolved; a part that does not
/// exist is appended to the real path of its nearest existing parent. A dangling link counts as its target.
///
/// # Errors
/// [`ResolveError`] if the text is not a path, or links form a cycle.
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
    // Checked first, because the time of what follows grows with the length.
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

/// The path cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path `{path}` cannot be resolved: {why}")]
pub struct ResolveError {
    /// The path as given, truncated if long.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The real path of an absolute path; a part that does not exist is appended unchanged.
#[cfg(target_os = "linux")]
pub(crate) fn real_path(path: &Path) -> Result<String, String> {
    let real = followed(&normalised(path)).map_err(|lost| lost.to_string())?;
    if real.as_os_str().len() > MAX_PATH {
        return Err(format!("it leads to a path of more than {MAX_PATH} bytes"));
    }
    as_text(&real)
}

/// The same on systems where a file can have several spellings (case, short names).
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
        // The first missing component may be a dangling link.
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

/// The real path of the nearest existing parent, and the components below it that do not exist.
#[cfg(not(target_os = "linux"))]
fn nearest_existing(path: &Path) -> Result<(PathBuf, Vec<&OsStr>), String> {
    let upwards: Vec<&Path> = path.ancestors().collect();
    let root = upwards.len() - 1;
    // If a path exists, all its parents do. So a binary search finds the nearest one; checking every parent would
    // take time quadratic in the length.
    let (mut missing, mut nearest) = (0, 0);
    let mut real = loop {
        match std::fs::canonicalize(upwards[nearest]) {
            Ok(real) => break real,
            Err(error) if nearest == root => return Err(error.to_string()),
            // A path that cannot be accessed counts as missing; link cycles are reported by `real_path`.
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

/// Removes `.` and `..` by text alone.
pub(crate) fn normalised(path: impl AsRef<Path>) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.as_ref().components() {
        match component {
            Component::CurDir => {}
            // `..` at the root stays at the root, as in the system.
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
