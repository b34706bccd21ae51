//! Resolves symbolic links, also in paths that do not exist yet, but not links that depend on the process.
//!
//! The targets of links like `/proc/self/cwd` depend on the process that opens them. A check on behalf of another
//! process would see this process's directory, so such a path cannot be resolved here.

#[cfg(unix)]
use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    path::Component,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

use super::MAX_LINKS;

/// Why a path cannot be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    #[error("there are more than {MAX_LINKS} links on the way")]
    TooManyLinks,
    #[error("it leads through a link of `/proc`, which is another one for each process")]
    OfAProcess,
}

/// The real path of an absolute path. `..` applies after the links before it are resolved; components that do not
/// exist are appended.
///
/// # Errors
/// [`Lost`]
#[cfg(unix)]
pub(crate) fn followed(path: &Path) -> Result<PathBuf, Lost> {
    let mut real = PathBuf::from("/");
    let mut ahead: VecDeque<OsString> = names(path);
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        real.push(&name);
        // A component that is not a link, does not exist, or cannot be inspected stays as it is.
        let Ok(target) = fs::read_link(&real) else {
            continue;
        };
        real.pop();
        if is_of_processes(&real) {
            if is_process_itself(&real, &name) || is_descriptor(&real) && ahead.is_empty() {
                real.push(name);
                continue;
            }
            if target.is_absolute() || is_object(&target) {
                return Err(Lost::OfAProcess);
            }
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Lost::TooManyLinks);
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            ahead.push_front(name);
        }
    }
    Ok(real)
}

/// The same, resolved by the system.
#[cfg(not(unix))]
pub(crate) fn followed(path: &Path) -> Result<PathBuf, Lost> {
    Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()))
}

/// The components of a path, without `.`.
#[cfg(unix)]
fn names(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    names.collect()
}

/// `self` is not resolved, since it differs between processes.
#[cfg(unix)]
fn is_process_itself(folder: &Path, name: &OsStr) -> bool {
    folder == Path::new("/proc") && (name == "self" || name == "thread-self")
}

/// A descriptor of the process that opens it (`/dev/stdin`): it was checked when it was opened.
#[cfg(unix)]
fn is_descriptor(folder: &Path) -> bool {
    folder == Path::new("/proc/self/fd") || folder == Path::new("/proc/thread-self/fd")
}

/// A target without a path, like `pipe:[1234]`.
#[cfg(unix)]
fn is_object(target: &Path) -> bool {
    target.to_string_lossy().contains(":[")
}

#[cfg(target_os = "linux")]
fn is_of_processes(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|found| found.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_of_processes(_folder: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_leads_where_its_links_lead_whatever_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a/b", root.join("into")).unwrap();
        symlink("../missing/file", root.join("a/dangling")).unwrap();
        symlink("round", root.join("round")).unwrap();
        for (path, expected) in [
            ("into/x", "a/b/x"),
            ("into/../x", "a/x"),
            ("a/dangling", "missing/file"),
            ("a/./dangling/y", "missing/file/y"),
            ("none/../x", "x"),
        ] {
            assert_eq!(
                followed(&root.join(path)),
                Ok(root.join(expected)),
                "{path}"
            );
        }
        assert_eq!(followed(&root.join("round")), Err(Lost::TooManyLinks));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_another_one_for_each_process_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("here");
        symlink("/proc/self/cwd", &link).unwrap();
        let own = format!("/proc/{}/cwd/x", std::process::id());
        for path in [
            "/proc/self/cwd",
            "/proc/self/cwd/x",
            "/proc/thread-self/root/etc",
            "/dev/fd/0/../x",
            "/proc/self/exe",
            own.as_str(),
            link.join("x").to_str().unwrap(),
        ] {
            assert_eq!(followed(Path::new(path)), Err(Lost::OfAProcess), "{path}");
        }
        for (path, expected) in [
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/fd/2", "/proc/self/fd/2"),
            ("/proc/mounts", "/proc/self/mounts"),
            ("/proc/self/status", "/proc/self/status"),
        ] {
            assert_eq!(followed(Path::new(path)), Ok(expected.into()), "{path}");
        }
    }
}
