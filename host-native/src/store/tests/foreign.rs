//! Foreign files, links or devices in place of a session's files.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use windlass_engine::store::{SendStore as _, StoreError};

use super::{append, begun, line, session, store};

/// A store whose session has no transcript yet, the transcript's path, and a foreign file.
async fn stage(content: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    let transcript = PathBuf::from(store.place(session(), None));
    fs::remove_file(&transcript).unwrap();
    let other = root.path().join("other");
    fs::write(&other, content).unwrap();
    (root, transcript, other)
}

fn pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Checks that everything that reads or writes the session reports the path and the reason.
async fn is_refused(root: &Path, transcript: &Path) {
    let store = store(root);
    let named = |error: StoreError| {
        let error = error.to_string();
        assert!(error.contains(&transcript.display().to_string()), "{error}");
    };
    named(store.delete(session()).await.unwrap_err());
    named(store.open(session()).await.unwrap_err());
    named(store.create(session()).await.unwrap_err());
    named(store.load(session(), None).await.unwrap_err());
    assert_eq!(store.list().await.unwrap(), []);
}

#[tokio::test]
async fn sess_1_a_link_in_the_place_of_a_transcript_is_left_alone() {
    let whole = line(1, "whole").get().to_owned();
    for content in ["-----KEY", "{}\n{\"a", "a: 1\nlast", &whole] {
        let (root, transcript, other) = stage(content).await;
        symlink(&other, &transcript).unwrap();
        is_refused(root.path(), &transcript).await;
        assert_eq!(fs::read_to_string(&other).unwrap(), content);
        assert!(transcript.is_symlink());
    }
}

#[tokio::test]
async fn sess_1_a_link_to_nothing_makes_nothing_and_a_pipe_holds_nothing_up() {
    let (root, transcript, other) = stage("").await;
    fs::remove_file(&other).unwrap();
    symlink(&other, &transcript).unwrap();
    is_refused(root.path(), &transcript).await;
    assert!(!other.exists());
    fs::remove_file(&transcript).unwrap();
    pipe(&transcript);
    is_refused(root.path(), &transcript).await;
}

#[tokio::test]
async fn sess_1_a_link_that_comes_later_gets_no_line() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    let transcript = PathBuf::from(store.place(session(), None));
    let other = root.path().join("other");
    fs::write(&other, "theirs").unwrap();
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    symlink(&other, &transcript).unwrap();
    append(&store, &lease, &[line(1, "x")]).await.unwrap_err();
    assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
}

#[tokio::test]
async fn sess_1_what_lies_beside_a_transcript_is_a_file_too() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    let other = root.path().join("other");
    fs::write(&other, "theirs").unwrap();
    for name in ["notes", "tasks"] {
        let place = PathBuf::from(store.document_place(session(), name));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(&other, &place).unwrap();
        store.put(&lease, name, b"ours").await.unwrap_err();
        store.extend(&lease, name, b"ours").await.unwrap_err();
        store.get(session(), name).await.unwrap_err();
    }
    assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
    // Reading this snapshot would block.
    let folder = Path::new(&store.place(session(), None)).with_extension("");
    let snapshot = folder.join(format!("{}.snapshot", session()));
    pipe(&snapshot);
    let error = store.load(session(), None).await.unwrap_err().to_string();
    assert!(error.contains(&snapshot.display().to_string()), "{error}");
}

#[tokio::test]
async fn sess_4_a_session_that_goes_is_not_mended_and_one_that_is_none_not_cut() {
    let (root, transcript, _) = stage("").await;
    let store = store(root.path());
    for content in ["\0\0\0\0", "a: 1\nlast", "[1"] {
        fs::write(&transcript, content).unwrap();
        let lease = store.open(session()).await.unwrap();
        store.release(&lease);
        assert_eq!(fs::read_to_string(&transcript).unwrap(), content);
    }
    fs::write(&transcript, "{}\n{\"a").unwrap();
    // A hard link to it.
    let kept = root.path().join("kept");
    fs::hard_link(&transcript, &kept).unwrap();
    store.delete(session()).await.unwrap();
    assert_eq!(fs::read_to_string(&kept).unwrap(), "{}\n{\"a");
}
