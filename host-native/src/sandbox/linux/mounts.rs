//! A command's view of the file system: everything is read-only, writable folders are mounted on top, and hidden
//! files and folders are covered.
//!
//! The view is planned before the fork ([`View::plan`]) and mounted by the child ([`View::put_up`]), which only makes
//! system calls. A hidden file is covered at its directory entry, so that no other path, link or handle leads around
//! it. The folders on the way to it are mounts of their own, so that they cannot be moved away.

use std::{
    ffi::{CStr, CString, OsStr},
    fs, io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, StatVfsMountFlags, open, statvfs, symlink},
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
        mount_change, mount_remount, move_mount, open_tree,
    },
    process::chdir,
};

use super::{super::policy::Files, mount_table::MountTable};

/// The devices that programs need. Their `/dev` contains no others: no terminal, no disk.
const DEVICES: [&CStr; 5] = [
    c"/dev/null",
    c"/dev/zero",
    c"/dev/full",
    c"/dev/random",
    c"/dev/urandom",
];

/// The links that programs expect there.
const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
    (c"pts/ptmx", c"/dev/ptmx"),
];

/// Read-only, without device files or set-user-id programs.
const SEALED: MountFlags = MountFlags::RDONLY
    .union(MountFlags::NODEV)
    .union(MountFlags::NOSUID);

/// The file system view of a command.
#[derive(Debug)]
pub(super) struct View {
    /// The existing mounts, which all become read-only.
    mounts: Vec<Mounted>,
    /// What is mounted over them, in order.
    layers: Vec<Layer>,
    /// The working directory of the command.
    directory: CString,
    /// The child's handles on writable folders and devices, with one slot reserved for each.
    open: Vec<Option<OwnedFd>>,
    devices: [Option<OwnedFd>; DEVICES.len()],
}

/// A mount and its flags.
#[derive(Debug)]
struct Mounted {
    path: CString,
    flags: MountFlags,
}

#[derive(Debug)]
enum Layer {
    /// A folder or file mounted unchanged: writable where it was.
    Open { path: CString, place: usize },
    /// A folder that is a mount so that it cannot be moved.
    Pinned(CString),
    /// A folder below which nothing can be changed.
    ReadOnly { path: CString, mounts: Vec<Mounted> },
    /// A file that cannot be opened.
    ClosedFile(CString),
    /// A folder that cannot be entered.
    ClosedFolder(CString),
}

impl View {
    /// Plans the view of a command.
    ///
    /// # Errors
    /// The mount table cannot be read, or a path contains a zero byte.
    pub(super) fn plan(files: &Files, directory: &Path) -> io::Result<Self> {
        let table = MountTable::read()?;
        let opens_all = files.open.iter().any(|path| path == Path::new("/"));
        let mounts = table
            .mounts()
            // Even if `/` is writable, the system's pseudo file systems are not.
            .filter(|mount| !opens_all || is_of_system(&mount.path))
            .map(|mount| Mounted::new(&mount.path, mount.flags))
            .collect::<io::Result<_>>()?;
        let mut view = Self {
            mounts,
            layers: Vec::new(),
            directory: name(directory)?,
            open: Vec::new(),
            devices: [const { None }; DEVICES.len()],
        };
        let guards = |path: &&PathBuf| {
            files
                .guarded
                .iter()
                .any(|guarded| path.starts_with(guarded))
        };
        let (within, outside): (Vec<&PathBuf>, Vec<&PathBuf>) = outermost(files).partition(guards);
        let lies_within = |path: &&PathBuf| within.iter().any(|root| path.starts_with(root));
        let (inner, outer): (Vec<&PathBuf>, Vec<&PathBuf>) =
            files.guarded.iter().partition(lies_within);
        // Order matters: writable folders, protected paths, then writable folders within protected ones, and
        // protected paths within those.
        for (open, guarded) in [(outside, outer), (within, inner)] {
            for path in open {
                view.lay_open(path)?;
            }
            view.pin_ways_to(&guarded, &files.open)?;
            for path in guarded {
                view.lay_read_only(path, &table)?;
            }
        }
        let read_only: Vec<&PathBuf> = files.read_only.iter().collect();
        view.pin_ways_to(&read_only, &files.open)?;
        for path in &files.read_only {
            view.lay_read_only(path, &table)?;
        }
        let closed: Vec<&PathBuf> = files.closed.iter().collect();
        view.pin_ways_to(&closed, &files.open)?;
        for path in &files.closed {
            view.close(path)?;
        }
        Ok(view)
    }

    fn lay_open(&mut self, path: &Path) -> io::Result<()> {
        if path == Path::new("/") {
            return Ok(());
        }
        let place = self.open.len();
        let path = name(path)?;
        self.layers.push(Layer::Open { path, place });
        self.open.push(None);
        Ok(())
    }

    fn lay_read_only(&mut self, path: &Path, table: &MountTable) -> io::Result<()> {
        let flags = flags_at(path)?;
        let mut mounts = vec![Mounted::new(path, flags)?];
        for below in table
            .mounts()
            .filter(|mount| mount.path != path && mount.path.starts_with(path))
        {
            mounts.push(Mounted::new(&below.path, below.flags)?);
        }
        // Earlier layers below this path are mounts of their own and may be writable.
        let made = self.layers.iter().filter_map(|layer| match layer {
            Layer::Pinned(made) | Layer::Open { path: made, .. } => {
                Some(Path::new(OsStr::from_bytes(made.to_bytes())))
            }
            _ => None,
        });
        for below in made.filter(|made| *made != path && made.starts_with(path)) {
            mounts.push(Mounted::new(below, flags)?);
        }
        let path = name(path)?;
        self.layers.push(Layer::ReadOnly { path, mounts });
        Ok(())
    }

    fn close(&mut self, path: &Path) -> io::Result<()> {
        let is_folder = match fs::metadata(path) {
            Ok(metadata) => metadata.is_dir(),
            // The path was removed since it was found.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let path = name(path)?;
        self.layers.push(match is_folder {
            true => Layer::ClosedFolder(path),
            false => Layer::ClosedFile(path),
        });
        Ok(())
    }

    /// Makes mounts of the folders between a writable folder and the protected paths in it: moving such a folder
    /// would move its contents to paths that no rule covers.
    fn pin_ways_to(&mut self, paths: &[&PathBuf], open: &[PathBuf]) -> io::Result<()> {
        let mut ways: Vec<&Path> = Vec::new();
        for path in paths {
            let roots = open.iter().filter(|root| path.starts_with(root));
            let Some(root) = roots.max_by_key(|root| root.as_os_str().len()) else {
                continue;
            };
            let between = path.ancestors().skip(1);
            let between = between.take_while(|folder| folder.starts_with(root) && folder != root);
            ways.extend(between);
        }
        ways.sort();
        ways.dedup();
        for way in ways {
            let way = name(way)?;
            let known = |layer: &Layer| matches!(layer, Layer::Pinned(path) if *path == way);
            if !self.layers.iter().any(known) {
                self.layers.push(Layer::Pinned(way));
            }
        }
        Ok(())
    }

    /// Mounts the view. Runs in the child, which has its own mount namespace.
    pub(super) fn put_up(&mut self) -> io::Result<()> {
        mount_change(
            c"/",
            MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
        )?;
        // Writable folders are cloned as they are, before everything becomes read-only.
        for layer in &self.layers {
            if let Layer::Open { path, place } = layer {
                self.open[*place] = Some(taken(path)?);
            }
        }
        for (place, device) in self.devices.iter_mut().zip(DEVICES) {
            *place = Some(taken(device)?);
        }
        for mounted in &self.mounts {
            mounted.seal()?;
        }
        self.put_up_devices()?;
        for layer in &self.layers {
            layer.put_up(&mut self.open)?;
        }
        // Mounts now cover the previous working directory, so it is entered again.
        Ok(chdir(&self.directory)?)
    }

    fn put_up_devices(&mut self) -> io::Result<()> {
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount(
            c"tmpfs",
            c"/dev",
            c"tmpfs",
            flags,
            Some(c"mode=0755,size=1m,nr_inodes=64"),
        )?;
        for (place, device) in self.devices.iter_mut().zip(DEVICES) {
            drop(open(
                device,
                OFlags::CREATE | OFlags::CLOEXEC | OFlags::WRONLY,
                Mode::RUSR,
            )?);
            put(place.take(), device)?;
        }
        for (target, link) in LINKS {
            symlink(target, link)?;
        }
        rustix::fs::mkdir(c"/dev/pts", Mode::from_raw_mode(0o755))?;
        // If there are no pseudo terminals, programs do without them.
        let _ = mount(
            c"devpts",
            c"/dev/pts",
            c"devpts",
            flags,
            Some(c"newinstance,ptmxmode=0666,mode=0620"),
        );
        rustix::fs::mkdir(c"/dev/shm", Mode::from_raw_mode(0o755))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount(c"tmpfs", c"/dev/shm", c"tmpfs", flags, Some(c"mode=1777"))?;
        let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NOEXEC;
        Ok(mount_remount(c"/dev", flags, c"")?)
    }
}

impl Layer {
    fn put_up(&self, open: &mut [Option<OwnedFd>]) -> io::Result<()> {
        match self {
            Self::Open { path, place } => put(open[*place].take(), path),
            Self::Pinned(path) => put(Some(taken(path)?), path),
            Self::ReadOnly { path, mounts } => {
                put(Some(taken(path)?), path)?;
                mounts.iter().try_for_each(Mounted::seal)
            }
            Self::ClosedFile(path) => {
                mount_bind(c"/dev/null", path)?;
                // A single device bind-mounted into a file system that allows no device files.
                let flags = SEALED | MountFlags::NOEXEC | MountFlags::BIND;
                Ok(mount_remount(path, flags, c"")?)
            }
            Self::ClosedFolder(path) => {
                let flags = SEALED | MountFlags::NOEXEC;
                Ok(mount(
                    c"tmpfs",
                    path,
                    c"tmpfs",
                    flags,
                    Some(c"mode=0,size=4k,nr_inodes=2"),
                )?)
            }
        }
    }
}

impl Mounted {
    fn new(path: &Path, flags: MountFlags) -> io::Result<Self> {
        Ok(Self {
            path: name(path)?,
            flags,
        })
    }

    /// Makes the mount read-only. A mount that is covered by another one, or in a folder without access, cannot be
    /// reached by its path, neither here nor later.
    fn seal(&self) -> io::Result<()> {
        let flags = self.flags | SEALED | MountFlags::BIND;
        match mount_remount(&self.path, flags, c"") {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A handle on a clone of the mounts at and below a path.
fn taken(path: &CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
}

fn put(taken: Option<OwnedFd>, path: &CStr) -> io::Result<()> {
    // All slots were filled before.
    let taken = taken.ok_or(Errno::BADF)?;
    Ok(move_mount(
        &taken,
        c"",
        CWD,
        path,
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

/// The writable folders, without those inside of another one that makes them writable anyway.
fn outermost(files: &Files) -> impl Iterator<Item = &PathBuf> {
    files.open.iter().filter(|path| {
        !files.open.iter().any(|root| {
            let guards = |guarded: &PathBuf| guarded.starts_with(root) && path.starts_with(guarded);
            path != &root && path.starts_with(root) && !files.guarded.iter().any(guards)
        })
    })
}

fn is_of_system(path: &Path) -> bool {
    ["/proc", "/sys", "/dev"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// The flags of the mount that contains a path; remounting must keep them.
fn flags_at(path: &Path) -> io::Result<MountFlags> {
    let flags = statvfs(path)?.f_flag;
    Ok([
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ]
    .into_iter()
    .filter(|(here, _)| flags.contains(*here))
    .fold(MountFlags::empty(), |all, (_, flag)| all | flag))
}

fn name(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
