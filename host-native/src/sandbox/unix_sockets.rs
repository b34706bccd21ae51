//! Unix sockets in the file system on which programs of this machine listen.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
};

/// Folders in which services create their sockets, in whatever network namespace they run.
const FOLDERS: [&str; 3] = ["/run", "/var/run", "/tmp"];

/// The search depth in these folders.
const DEPTH: usize = 8;

/// The search depth in the home directory, which may be very large.
const DEPTH_AT_HOME: usize = 3;

/// The maximum number of names visited below one folder.
const MOST: usize = 100_000;

/// The existing sockets except the named ones: those that the kernel lists for this network namespace, those in the
/// usual folders, and those that are mounts. A socket bound to a relative path elsewhere is not found, since its
/// location is unknown.
pub(super) fn others(named: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut found: BTreeSet<PathBuf> = paths(&table).collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    found.extend(mount_points(&mounts).filter(|path| is_socket(path)));
    for folder in FOLDERS {
        look(Path::new(folder), DEPTH, &mut found);
    }
    if let Some(home) = home {
        look(home, DEPTH_AT_HOME, &mut found);
    }
    let real = found.into_iter().filter(|path| !named.contains(path));
    let real = real.filter_map(|path| fs::canonicalize(path).ok());
    let real: BTreeSet<PathBuf> = real.filter(|path| !named.contains(path)).collect();
    real.into_iter().collect()
}

/// Adds the sockets below a folder, without following symbolic links.
fn look(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    let mut folders = vec![(folder.to_path_buf(), depth)];
    let mut left = MOST;
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            left -= 1;
            if left == 0 {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => drop(found.insert(entry.path())),
                Ok(kind) if kind.is_dir() && depth > 1 => folders.push((entry.path(), depth - 1)),
                _ => {}
            }
        }
    }
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
}

/// `id parent device root path …`, see proc_pid_mountinfo(5). Socket paths with spaces are ignored: nobody mounts such sockets.
fn mount_points(table: &str) -> impl Iterator<Item = PathBuf> {
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    points.map(PathBuf::from)
}

/// `Num RefCount Protocol Flags Type St Inode Path`, see proc_net(5); lines of unnamed sockets have no path.
fn paths(table: &str) -> impl Iterator<Item = PathBuf> {
    table.lines().skip(1).filter_map(|line| {
        let at = line.find(" /")?;
        Some(PathBuf::from(&line[at + 1..]))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn conf_12_sockets_are_found_where_they_lie_whoever_listens() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        let _first = UnixListener::bind(root.join("a/one.sock")).unwrap();
        let _second = UnixListener::bind(root.join("a/b/two.sock")).unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        let mut found = BTreeSet::new();
        look(&root, 2, &mut found);
        assert_eq!(found, BTreeSet::from([root.join("a/one.sock")]));
        look(&root, 3, &mut found);
        assert_eq!(found.len(), 2);
        let all = others(&[root.join("a/one.sock")], None);
        assert!(all.contains(&root.join("a/b/two.sock")));
        assert!(!all.contains(&root.join("a/one.sock")));
    }

    #[test]
    fn sockets_with_a_path_are_found_in_the_table() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            000000: 00000002 00000000 00010000 0001 01 1234 /run/docker.sock\n\
            000000: 00000002 00000000 00010000 0001 01 1235 @abstract\n\
            000000: 00000003 00000000 00000000 0001 03 1236\n\
            000000: 00000002 00000000 00010000 0001 01 1237 /tmp/two words\n";
        let found: Vec<PathBuf> = paths(table).collect();
        assert_eq!(
            found,
            [PathBuf::from("/run/docker.sock"), "/tmp/two words".into()]
        );
    }
}
