use std::fs;

use tokio::runtime::{Builder, Runtime};
use windlass_core::{SessionId, uuid_v4};
use windlass_engine::store::SendStore as _;

use super::*;
use crate::store::{ConfigDir, FileStore, SharedStore};

struct World {
    root: tempfile::TempDir,
    runtime: Runtime,
    store: SharedStore,
    checkpoints: FileCheckpoints,
}

fn session(n: u8) -> SessionId {
    uuid_v4([n; 16])
}

fn message(n: u128) -> Uuid {
    uuid_v4(n.to_be_bytes())
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join("work");
        fs::create_dir(&work).unwrap();
        let config = ConfigDir::at(root.path().join("config"));
        let store = SharedStore::new(FileStore::new(&config, work));
        let runtime = Builder::new_current_thread().build().unwrap();
        let lease = runtime.block_on(store.create(session(1))).unwrap();
        let documents = Documents::new(runtime.handle().clone(), store.clone(), lease);
        let checkpoints = FileCheckpoints::open(documents).unwrap();
        Self {
            root,
            runtime,
            store,
            checkpoints,
        }
    }

    /// The documents of another new session.
    fn documents(&self, n: u8) -> Documents {
        let lease = self.runtime.block_on(self.store.create(session(n)));
        let runtime = self.runtime.handle().clone();
        Documents::new(runtime, self.store.clone(), lease.unwrap())
    }

    /// The documents of a session, for reading.
    fn documents_of(&self, n: u8) -> Documents {
        let runtime = self.runtime.handle().clone();
        Documents::of(runtime, self.store.clone(), session(n))
    }

    /// The folder of the checkpoint documents.
    fn folder(&self) -> PathBuf {
        ConfigDir::at(self.root.path().join("config")).file_history(session(1))
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.root.path())
            .unwrap()
            .join("work")
            .join(name)
    }

    fn change(&mut self, name: &str, text: &str) {
        let path = self.path(name);
        self.checkpoints.before_change(&path).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn reopen(&mut self) {
        let documents = self.checkpoints.documents.clone();
        self.checkpoints = FileCheckpoints::open(documents).unwrap();
    }
}

#[test]
fn sess_3_files_go_back_to_what_they_were_at_a_message() {
    let mut world = World::new();
    fs::write(world.path("old.txt"), "one\ntwo\nthree\n").unwrap();
    world.checkpoints.begin(message(1)).unwrap();
    world.change("old.txt", "one\n2\nthree\n");
    world.change("old.txt", "one\n2\n3\nfour\n");
    world.change("deep/new.txt", "x\ny\n");
    world.checkpoints.begin(message(2)).unwrap();
    world.change("deep/new.txt", "x\nz\n");
    world.change("old.txt", "");
    for fresh in [false, true] {
        if fresh {
            world.reopen();
        }
        let preview = world.checkpoints.preview(message(1)).unwrap();
        assert_eq!(
            preview.files_changed,
            [world.path("old.txt"), world.path("deep/new.txt")]
        );
        assert_eq!((preview.insertions, preview.deletions), (3, 2));
        assert_eq!(
            world.text("old.txt").unwrap(),
            "",
            "a preview changes nothing"
        );
    }
    assert_eq!(
        world
            .checkpoints
            .rewind(message(2))
            .unwrap()
            .files_changed
            .len(),
        2
    );
    assert_eq!(world.text("old.txt").unwrap(), "one\n2\n3\nfour\n");
    assert_eq!(world.text("deep/new.txt").unwrap(), "x\ny\n");
    let rewound = world.checkpoints.rewind(message(1)).unwrap();
    assert_eq!((rewound.insertions, rewound.deletions), (2, 5));
    assert_eq!(world.text("old.txt").unwrap(), "one\ntwo\nthree\n");
    assert_eq!(world.text("deep/new.txt"), None);
    assert_eq!(
        world.checkpoints.rewind(message(1)).unwrap(),
        Rewind::default()
    );
    // And forward again.
    world.checkpoints.rewind(message(2)).unwrap();
    assert_eq!(world.text("deep/new.txt").unwrap(), "x\ny\n");
}

#[test]
fn api_5_a_created_file_counts_as_lines_that_go() {
    let mut world = World::new();
    world.checkpoints.begin(message(1)).unwrap();
    world.change("out.txt", "x\n");
    let preview = world.checkpoints.preview(message(1)).unwrap();
    let expected = Rewind {
        files_changed: vec![world.path("out.txt")],
        insertions: 0,
        deletions: 1,
        ..Rewind::default()
    };
    assert_eq!(preview, expected);
}

#[test]
fn api_5_an_unknown_message_is_no_place_to_go_back_to() {
    let mut world = World::new();
    world.change("a", "before any message");
    assert!(!world.root.path().join("config").exists());
    let error = world.checkpoints.rewind(message(9)).unwrap_err();
    assert!(error.to_string().contains(&message(9).to_string()));
}

#[test]
fn sess_3_a_deleted_file_comes_back_with_its_permissions() {
    let mut world = World::new();
    fs::write(world.path("run.sh"), "go\n").unwrap();
    #[cfg(unix)]
    let mode = {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    world.checkpoints.begin(message(1)).unwrap();
    world.change("run.sh", "stop\n");
    fs::remove_file(world.path("run.sh")).unwrap();
    world.checkpoints.rewind(message(1)).unwrap();
    assert_eq!(world.text("run.sh").unwrap(), "go\n");
    #[cfg(unix)]
    assert_eq!(mode(world.path("run.sh")), 0o755);
}

#[cfg(unix)]
#[test]
fn sess_3_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let mut world = World::new();
    fs::write(world.path("target"), "outside\n").unwrap();
    symlink(world.path("target"), world.path("link")).unwrap();
    world.checkpoints.begin(message(1)).unwrap();
    world
        .checkpoints
        .before_change(&world.path("link"))
        .unwrap();
    world.change("swapped", "mine\n");
    world.change("folder/file", "mine\n");
    // Files are replaced by links.
    fs::remove_file(world.path("swapped")).unwrap();
    symlink(world.path("target"), world.path("swapped")).unwrap();
    fs::create_dir(world.path("elsewhere")).unwrap();
    fs::write(world.path("elsewhere/file"), "not mine\n").unwrap();
    fs::remove_dir_all(world.path("folder")).unwrap();
    symlink(world.path("elsewhere"), world.path("folder")).unwrap();
    let rewound = world.checkpoints.rewind(message(1)).unwrap();
    assert_eq!((rewound.skipped_links, rewound.files_changed.len()), (2, 0));
    assert_eq!(rewound.not_kept, [world.path("link")]);
    assert_eq!(world.text("target").unwrap(), "outside\n");
    assert_eq!(world.text("elsewhere/file").unwrap(), "not mine\n");
}

#[test]
fn sess_3_what_is_too_large_is_left_alone() {
    let mut world = World::new();
    let large = fs::File::create(world.path("large")).unwrap();
    large.set_len(MAX_KEPT_BYTES + 1).unwrap();
    world.checkpoints.begin(message(1)).unwrap();
    world.change("large", "small now");
    let rewound = world.checkpoints.rewind(message(1)).unwrap();
    assert_eq!(rewound.not_kept, [world.path("large")]);
    assert_eq!(world.text("large").unwrap(), "small now");
}

#[test]
fn sess_3_a_torn_index_and_a_lost_content_are_told_and_change_nothing() {
    let mut world = World::new();
    fs::write(world.path("a"), "a\n").unwrap();
    fs::write(world.path("b"), "b\n").unwrap();
    world.checkpoints.begin(message(1)).unwrap();
    world.change("b", "changed\n");
    let index = world.folder().join("index.jsonl");
    let whole = fs::read(&index).unwrap();
    world.change("a", "changed\n");
    fs::write(&index, &fs::read(&index).unwrap()[..whole.len() + 20]).unwrap();
    world.reopen();
    world.change("c", "c\n");
    world.reopen();
    assert_eq!(
        world
            .checkpoints
            .preview(message(1))
            .unwrap()
            .files_changed
            .len(),
        2
    );
    let kept = world.folder().join(digest(b"b\n"));
    fs::write(kept, "something else").unwrap();
    let error = world.checkpoints.rewind(message(1)).unwrap_err();
    assert!(error.to_string().contains("no file was changed"), "{error}");
    assert_eq!(world.text("c").unwrap(), "c\n");
}

fn snapshot(checkpoints: &mut FileCheckpoints, cwd: &Path, is_update: bool) -> serde_json::Value {
    let line = checkpoints.snapshot_line(cwd, "2026-01-01T00:00:00.000Z", is_update);
    line.unwrap().unwrap().decode().unwrap()
}

#[test]
fn sess_3_a_transcript_says_which_contents_belong_to_a_message() {
    let mut world = World::new();
    let cwd = world.path("");
    assert!(
        world
            .checkpoints
            .snapshot_line(&cwd, "", false)
            .unwrap()
            .is_none()
    );
    fs::write(world.path("old.txt"), "one\n").unwrap();
    world.checkpoints.begin(message(1)).unwrap();
    let line = snapshot(&mut world.checkpoints, &cwd, false);
    assert_eq!(line["type"], "file-history-snapshot");
    assert_eq!(line["messageId"], message(1).to_string());
    assert_eq!(line["snapshot"]["messageId"], line["messageId"]);
    assert_eq!(
        line["snapshot"]["trackedFileBackups"],
        serde_json::json!({})
    );
    world.change("old.txt", "two\n");
    world.change("new.txt", "new\n");
    let line = snapshot(&mut world.checkpoints, &cwd, true);
    assert_eq!(line["isSnapshotUpdate"], true);
    let backups = &line["snapshot"]["trackedFileBackups"];
    let kept = backups["old.txt"]["backupFileName"].as_str().unwrap();
    assert_eq!(fs::read(world.folder().join(kept)).unwrap(), b"one\n");
    assert_eq!(
        backups["new.txt"]["backupFileName"],
        serde_json::Value::Null
    );
    // At the next message, the current contents are saved.
    world.checkpoints.begin(message(2)).unwrap();
    let line = snapshot(&mut world.checkpoints, &cwd, false);
    let kept = line["snapshot"]["trackedFileBackups"]["old.txt"]["backupFileName"].clone();
    let kept = world.folder().join(kept.as_str().unwrap());
    assert_eq!(fs::read(kept).unwrap(), b"two\n");
}

#[test]
fn sess_3_a_fork_goes_back_as_far_as_what_it_was_forked_from() {
    let mut world = World::new();
    fs::write(world.path("a"), "one\n").unwrap();
    world.checkpoints.begin(message(1)).unwrap();
    world.change("a", "two\n");
    // At the next message, the current content is saved, which no call has changed yet.
    world.checkpoints.begin(message(2)).unwrap();
    let cwd = world.path("");
    snapshot(&mut world.checkpoints, &cwd, false);
    let from = world.documents_of(1);
    let fork = world.documents(2);
    let mut forked = FileCheckpoints::beginning_with(&from, fork.clone()).unwrap();
    forked.begin(message(3)).unwrap();
    let again = FileCheckpoints::beginning_with(&from, fork.clone()).unwrap();
    assert_eq!(again.index.last_message(), Some(message(3)));
    assert_eq!(world.checkpoints.index.last_message(), Some(message(2)));
    for content in [b"one\n", b"two\n"] {
        let kept = fork.get(&digest(content)).unwrap();
        assert_eq!(kept.unwrap(), content);
    }
    forked.rewind(message(1)).unwrap();
    assert_eq!(world.text("a").unwrap(), "one\n");
    let nothing = world.documents_of(8);
    let none = FileCheckpoints::beginning_with(&nothing, world.documents(9));
    assert_eq!(none.unwrap().index.last_message(), None);
}
