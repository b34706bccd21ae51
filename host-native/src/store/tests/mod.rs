//! Sessions in files.

mod files;
#[cfg(target_os = "linux")]
mod foreign;
#[cfg(target_os = "linux")]
mod full;
#[cfg(unix)]
mod settings;
mod task_outputs;
mod torn;

use std::path::Path;

use serde_json::{Value, json};
use windlass_core::{RawJson, SessionId, Uuid, uuid_v4};
use windlass_engine::store::{Batch, Lease, SendStore as _, StoreError};

use super::{ConfigDir, FileStore, SharedStore, TaskOutputs};

fn id(n: u128) -> Uuid {
    uuid_v4((n << 64 | n).to_be_bytes())
}

fn session() -> SessionId {
    id(999)
}

fn config(root: &Path) -> ConfigDir {
    ConfigDir::at(root.join("config"))
}

fn store(root: &Path) -> FileStore {
    FileStore::new(&config(root), root.join("work"))
}

/// A store, and a lease of a new session.
async fn begun(root: &Path) -> (FileStore, Lease) {
    let store = store(root);
    let lease = store.create(session()).await.unwrap();
    (store, lease)
}

/// A transcript line, as long as its text.
fn line(n: u128, text: &str) -> RawJson {
    let line = json!({
        "type": "user", "uuid": id(n), "parentUuid": n.checked_sub(2).map(|_| id(n - 1)), "isSidechain": false,
        "sessionId": session(), "message": {"role": "user", "content": text},
    });
    RawJson::encode(&line).unwrap()
}

async fn append(store: &FileStore, lease: &Lease, lines: &[RawJson]) -> Result<(), StoreError> {
    let batch = Batch {
        lines,
        ..Batch::default()
    };
    store.append(lease, batch).await
}

fn lines_of(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
