//! What a run depends on: project, script, options, seed. The same for every host.

use std::{
    fs::{self, File},
    path::PathBuf,
    time::{Duration, UNIX_EPOCH},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_tests::artefacts;

/// The seed of every run.
pub(crate) const SEED: u8 = 7;

/// The demonstration with its project in a directory, under whose path the JavaScript hosts keep theirs in memory.
pub(crate) struct Facts {
    pub(crate) bundle: Value,
    directory: TempDir,
}

impl Facts {
    pub(crate) fn of_the_demo() -> Self {
        let built = artefacts::browser_package().join("demo/bundle.json");
        let mut bundle: Value = serde_json::from_str(&fs::read_to_string(built).unwrap()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        bundle["cwd"] = json!(root);
        bundle["seed"] = json!(vec![SEED; 32]);
        // Reports of progress come by the clock: never, then two runs cannot differ in them.
        bundle["options"] = json!({"includePartialMessages": true, "progressIntervalMs": 0});
        for file in bundle["files"].as_array().unwrap() {
            let path = root.join(file["path"].as_str().unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, file["text"].as_str().unwrap()).unwrap();
            let modified = Duration::from_millis(file["modified"].as_u64().unwrap());
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + modified).unwrap();
        }
        Self { bundle, directory }
    }

    /// The absolute path of the project.
    pub(crate) fn cwd(&self) -> &str {
        self.bundle["cwd"].as_str().unwrap()
    }

    /// The bundle as a file, which is no part of the project.
    pub(crate) fn bundle_file(&self) -> PathBuf {
        let path = self.directory.path().with_extension("bundle.json");
        fs::write(&path, self.bundle.to_string()).unwrap();
        path
    }
}

impl Drop for Facts {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = fs::remove_file(self.directory.path().with_extension("bundle.json"));
    }
}
