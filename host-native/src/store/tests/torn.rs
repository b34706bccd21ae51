//! Files that were cut anywhere.

use std::fs;

use windlass_engine::{store::SendStore as _, transcript::SavedSession};

use super::{append, begun, id, line, session, store};

/// A kill tears the last line; whatever was acknowledged is there, and what is written afterwards too.
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
        assert!(now.starts_with(&whole[..cut]), "nothing was taken away");
        let saved = SavedSession::read(session(), now);
        assert!(saved.contains(id(1)) && saved.contains(id(3)), "{cut}");
        // The line end alone may be missing.
        assert_eq!(saved.contains(id(2)), cut + 1 >= whole.len(), "{cut}");
    }
}
