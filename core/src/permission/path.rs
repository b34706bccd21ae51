//! Paths as text, without access to any file.

use alloc::string::String;

/// Whether an absolute path is this folder or below it.
pub(crate) fn is_under(root: &str, path: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path made absolute and normalised without accessing any file; only for paths that the host has not resolved.
pub(crate) fn lexical(base: &str, path: &str) -> String {
    let from_base = if path.starts_with('/') { "" } else { base };
    let mut out = String::with_capacity(from_base.len() + path.len() + 2);
    for part in from_base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            part => {
                out.push('/');
                out.push_str(part);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}
