//! A disk that is full.

use std::{fs, path::Path, process::Command};

use windlass_core::transcript::Transcript;

use super::{files, session, talk, writer};
use crate::transcript::{SavedSession, TranscriptWriter};

/// A file system of a few pages, gone with this value.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None where nobody may mount anything.
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

    /// Leaves this many bytes free, in whole pages.
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

fn last_byte(path: &Path) -> Option<u8> {
    fs::read(path).unwrap().last().copied()
}

#[test]
fn sess_4_a_full_disk_leaves_whole_lines_and_nothing_is_lost() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let talk = talk();
    let mut long = talk.entries[2].clone();
    long.message = windlass_core::RawJson::encode(&serde_json::json!({
        "role": "assistant", "content": [{"type": "text", "text": "long ".repeat(6_000)}],
    }))
    .unwrap();
    let mut writer: TranscriptWriter = writer(disk.path());
    writer.persist(&talk.entries[..2]).unwrap();
    let path = writer.path().to_path_buf();
    let before = fs::read(&path).unwrap();
    disk.fill(8 << 10);

    // It does not fit, and fits no better the second time.
    for _ in 0..2 {
        let error = writer.persist(std::slice::from_ref(&long)).unwrap_err();
        assert_eq!(error.error.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), before, "as it was");
    }
    let saved = SavedSession::load(session(), path.clone()).unwrap();
    assert!(saved.contains(talk.entries[1].uuid) && !saved.contains(long.uuid));

    disk.empty();
    writer.persist(&talk.entries[3..]).unwrap();
    let now = fs::read(&path).unwrap();
    assert!(now.starts_with(&before) && last_byte(&path) == Some(b'\n'));
    let read = Transcript::read(&now);
    assert!(read.unreadable.is_empty());
    let said = String::from_utf8(now).unwrap();
    assert_eq!(
        said.matches("long long").count(),
        3_000,
        "once, and all of it"
    );
    let saved = SavedSession::load(session(), path).unwrap();
    for entry in &talk.entries {
        assert!(saved.contains(entry.uuid));
    }
    assert_eq!(files(disk.path()).newest().unwrap().unwrap().id, session());
}
