//! The mounts that are visible to this process.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use rustix::mount::MountFlags;

/// The mount table, in the order in which the mounts were made.
#[derive(Debug)]
pub(super) struct MountTable(Vec<Mount>);

/// A mount.
#[derive(Debug, PartialEq)]
pub(super) struct Mount {
    pub(super) path: PathBuf,
    /// The flags that must be kept when the mount is remounted.
    pub(super) flags: MountFlags,
}

impl MountTable {
    /// Reads the mount table of this process.
    pub(super) fn read() -> io::Result<Self> {
        Ok(Self::parse(&fs::read(Path::new("/proc/self/mountinfo"))?))
    }

    fn parse(text: &[u8]) -> Self {
        let lines = text.split(|byte| *byte == b'\n');
        Self(lines.filter_map(mount).collect())
    }

    pub(super) fn mounts(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }
}

/// `id parent device root path options …`, see proc_pid_mountinfo(5).
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(4);
    let path = PathBuf::from(OsString::from_vec(unescaped(fields.next()?)));
    let flags = fields.next()?.split(|byte| *byte == b',');
    let flags = flags.fold(MountFlags::empty(), |all, option| match option {
        b"nosuid" => all | MountFlags::NOSUID,
        b"nodev" => all | MountFlags::NODEV,
        b"noexec" => all | MountFlags::NOEXEC,
        _ => all,
    });
    Some(Mount { path, flags })
}

/// Spaces, tabs, line ends and backslashes are escaped as three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        rest = if value.is_some() { &after[3..] } else { after };
        plain.push(value.unwrap_or(*first));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_with_names_that_hold_blanks() {
        let table = MountTable::parse(
            b"22 1 0:5 / / rw,relatime - ext4 /dev/vda rw\n\
              30 22 0:9 /a /mnt/two\\040words\\134 ro,nosuid,nodev,noexec shared:1 - tmpfs x rw\n",
        );
        let all = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        assert_eq!(
            table.0,
            [
                Mount {
                    path: "/".into(),
                    flags: MountFlags::empty()
                },
                Mount {
                    path: "/mnt/two words\\".into(),
                    flags: all
                },
            ]
        );
    }
}
