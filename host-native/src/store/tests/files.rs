//! Which files a session has, and their contents.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;
use windlass_core::{RawJson, Uuid};
use windlass_engine::store::{Batch, SendStore as _, StoreError};

use crate::config_dir::project_key;

use super::{append, begun, config, id, line, lines_of, session, store};

fn transcript(root: &Path) -> PathBuf {
    let folder = root
        .join("config/projects")
        .join(project_key(&root.join("work")));
    folder.join(format!("{}.jsonl", session()))
}

#[tokio::test]
async fn sess_1_nothing_is_created_before_the_first_line() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    assert!(!root.path().join("config").exists());
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    let place = store.place(session(), None);
    assert_eq!(Path::new(&place), transcript(root.path()));
    assert_eq!(lines_of(Path::new(&place)).len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn sess_1_transcripts_are_for_their_owners_eyes() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    store.put(&lease, "notes/a.json", b"{}").await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = transcript(root.path());
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&path.with_extension("").join("notes/a.json")), 0o600);
}

#[tokio::test]
async fn sess_1_subagents_and_documents_stand_beside_the_transcript() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    let batch = Batch {
        agent: Some("a/../1"),
        lines: &[line(1, "look there")],
        snapshot: None,
    };
    store.append(&lease, batch).await.unwrap();
    let name = "subagents/agent-a____1.meta.json";
    store.put(&lease, name, b"{}").await.unwrap();
    let folder = transcript(root.path()).with_extension("");
    let own = folder.join("subagents/agent-a____1.jsonl");
    assert_eq!(lines_of(&own).len(), 1);
    assert_eq!(
        store.place(session(), Some("a/../1")),
        own.display().to_string()
    );
    assert_eq!(fs::read(folder.join(name)).unwrap(), b"{}");
}

#[tokio::test]
async fn sess_1_the_newest_session_of_a_directory_comes_first_and_others_do_not_come() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    assert_eq!(store.list().await.unwrap(), []);
    let path = transcript(root.path());
    let folder = path.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    let line = json!({"type": "user", "uuid": id(1), "message": {"role": "user", "content": "x"}});
    let write = |name: String, text: String, age: u64| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        let at =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(2_000_000_000 - age);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(at).unwrap();
    };
    write(format!("{}.jsonl", id(1)), format!("{line}\n"), 100);
    write(format!("{}.jsonl", id(2)), format!("{line}\n"), 50);
    write(format!("{}.jsonl", id(3)), String::new(), 0);
    write("agent-17.jsonl".into(), format!("{line}\n"), 0);
    write(format!("{}.json", id(4)), format!("{line}\n"), 0);
    let sidechain = format!("{{\"isSidechain\":true}}\n{line}\n");
    write(format!("{}.jsonl", id(5)), sidechain, 0);
    let all: Vec<Uuid> = (store.list().await.unwrap().iter()).map(|s| s.id).collect();
    assert_eq!(all, [id(2), id(1)]);
}

#[tokio::test]
async fn sess_1_a_session_is_found_by_its_id_wherever_it_ran_and_goes_on_there() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    assert_eq!(store.load(session(), None).await.unwrap(), None);
    let unknown = store.open(session()).await.unwrap_err();
    assert!(matches!(unknown, StoreError::Unknown(_)));
    let elsewhere = root.path().join("config/projects/-elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let path = elsewhere.join(format!("{}.jsonl", session()));
    fs::write(&path, "{}\n").unwrap();
    let stored = store.load(session(), None).await.unwrap().unwrap();
    assert_eq!(stored.text, b"{}\n");
    let lease = store.open(session()).await.unwrap();
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    assert_eq!(lines_of(&path).len(), 2);
    assert_eq!(store.place(session(), None), path.display().to_string());
    assert!(!transcript(root.path()).exists());
}

#[tokio::test]
async fn sess_2_lines_of_other_programs_stay() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    use std::io::Write as _;
    let title = json!({"type": "custom-title", "customTitle": "T", "sessionId": session()});
    let path = transcript(root.path());
    let mut other = fs::File::options().append(true).open(&path).unwrap();
    writeln!(other, "{title}").unwrap();
    append(&store, &lease, &[line(2, "y")]).await.unwrap();
    let lines = lines_of(&path);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[1], title);
}

#[tokio::test]
async fn sess_4_a_session_that_somebody_writes_to_is_closed_to_others_until_they_end() {
    let root = tempfile::tempdir().unwrap();
    let (one, lease) = begun(root.path()).await;
    append(&one, &lease, &[line(1, "x")]).await.unwrap();
    // Another store over the same files acts like another process.
    let other = store(root.path());
    let refused = other.open(session()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Busy(_)), "{refused}");
    let refused = other.delete(session()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Busy(_)), "{refused}");
    drop(one); // as the end of its process
    let lease = other.open(session()).await.unwrap();
    append(&other, &lease, &[line(2, "y")]).await.unwrap();
    other.release(&lease);
    assert_eq!(lines_of(&transcript(root.path())).len(), 2);
}

#[tokio::test]
async fn sess_2_a_deleted_session_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    append(&store, &lease, &[line(1, "x")]).await.unwrap();
    store.put(&lease, "a", b"b").await.unwrap();
    store.release(&lease);
    let history = config(root.path()).file_history(session());
    fs::create_dir_all(&history).unwrap();
    store.delete(session()).await.unwrap();
    let path = transcript(root.path());
    assert!(!path.exists() && !path.with_extension("").exists() && !history.exists());
    assert_eq!(store.get(session(), "a").await.unwrap(), None);
}

#[tokio::test]
async fn sess_4_a_folder_that_cannot_be_made_is_told_and_made_later() {
    let root = tempfile::tempdir().unwrap();
    let (store, lease) = begun(root.path()).await;
    // A file where the folder should be.
    fs::write(root.path().join("config"), "in the way").unwrap();
    let lines: [RawJson; 1] = [line(1, "x")];
    let error = append(&store, &lease, &lines).await.unwrap_err();
    assert!(error.to_string().starts_with("creating "), "{error}");
    fs::remove_file(root.path().join("config")).unwrap();
    append(&store, &lease, &lines).await.unwrap();
    assert_eq!(lines_of(&transcript(root.path())).len(), 1);
}
