//! Writing to a full disk.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use windlass_engine::store::{SendStore as _, StoreError};

use super::{append, begun, line, lines_of, session};

/// A file system of a few pages, removed with this value.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` if mounting is not permitted.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "small"]);
        let mounted = mount.arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("not tried: nothing can be mounted here");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk so that this many bytes are left, in whole pages.
    fn fill(&self, free: usize) {
        let filler = self.path().join("filler");
        let mut size = 64 << 10;
        while fs::write(&filler, vec![0; size]).is_err() {
            size -= 4 << 10;
        }
        fs::write(&filler, vec![0; size.saturating_sub(free)]).unwrap();
    }

    fn empty(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

#[tokio::test]
async fn sess_4_a_full_disk_leaves_whole_lines_and_nothing_is_lost() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let long = [line(3, &"long ".repeat(6_000))];
    let (store, lease) = begun(disk.path()).await;
    append(&store, &lease, &[line(1, "x"), line(2, "y")])
        .await
        .unwrap();
    let path = PathBuf::from(store.place(session(), None));
    let before = fs::read(&path).unwrap();
    disk.fill(8 << 10);

    // It does not fit, and a second attempt fails too.
    for _ in 0..2 {
        let error = append(&store, &lease, &long).await.unwrap_err();
        let StoreError::Failed { source, .. } = error else {
            panic!("{error}");
        };
        let source = source.downcast::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), before, "as it was");
    }

    disk.empty();
    append(&store, &lease, &long).await.unwrap();
    append(&store, &lease, &[line(4, "z")]).await.unwrap();
    let now = fs::read(&path).unwrap();
    assert!(now.starts_with(&before));
    let numbers = lines_of(&path).len();
    assert_eq!(numbers, 4, "each once, and whole");
    assert_eq!(store.list().await.unwrap()[0].id, session());
}
