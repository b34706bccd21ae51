//! Files truncated at any position.

use std::fs;

use serde_json::Value;
use windlass_engine::{store::SendStore as _, transcript::SavedSession};

use super::{append, begun, id, line, session, store};

/// A kill truncates the last line: acknowledged lines stay, later writes work, and every line is complete.
#[tokio::test]
async fn sess_4_a_torn_line_takes_nothing_with_it() {
    let root = tempfile::tempdir().unwrap();
    let (first, lease) = begun(root.path()).await;
    append(&first, &lease, &[line(1, "first")]).await.unwrap();
    let path = first.place(session(), None);
    let acknowledged = fs::read(&path).unwrap().len();
    append(&first, &lease, &[line(2, "second")]).await.unwrap();
    drop(first);
    let whole = fs::read(&path).unwrap();
    for cut in acknowledged..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let store = store(root.path());
        let lease = store.open(session()).await.unwrap();
        append(&store, &lease, &[line(3, "third")]).await.unwrap();
        let now = store.load(session(), None).await.unwrap().unwrap().text;
        let kept = if cut + 1 >= whole.len() {
            whole.len()
        } else {
            acknowledged
        };
        assert!(now.starts_with(&whole[..kept]), "{cut}");
        for line in now.split_inclusive(|byte| *byte == b'\n') {
            let line = serde_json::from_slice::<Value>(line);
            assert!(line.is_ok(), "{cut}: {line:?}");
        }
        let saved = SavedSession::read(session(), now);
        assert!(saved.contains(id(1)) && saved.contains(id(3)), "{cut}");
        // Only the line end may be missing.
        assert_eq!(saved.contains(id(2)), cut + 1 >= whole.len(), "{cut}");
    }
}
