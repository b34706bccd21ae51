//! Sockets in the file system that programs of this machine listen on.

use std::{fs, path::PathBuf};

/// Those that are there, but for the ones that are named. What was bound to a relative path is not found: nobody knows where
/// it is.
pub(super) fn others(named: &[PathBuf]) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut others: Vec<PathBuf> = paths(&table)
        .filter(|path| !named.contains(path))
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| !named.contains(path))
        .collect();
    others.sort();
    others.dedup();
    others
}

/// `Num RefCount Protocol Flags Type St Inode Path`, see proc_net(5); sockets without a name end before it.
fn paths(table: &str) -> impl Iterator<Item = PathBuf> {
    table.lines().skip(1).filter_map(|line| {
        let at = line.find(" /")?;
        Some(PathBuf::from(&line[at + 1..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
