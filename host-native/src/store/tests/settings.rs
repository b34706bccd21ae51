//! Project settings with links in their path.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use windlass_core::permission::Destination;
use windlass_engine::store::{SendStore as _, digest};

use super::{config, store};

/// A user with settings, and a project beside them.
fn stage() -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let user = config(root.path()).root().to_path_buf();
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("settings.json"), "{}").unwrap();
    let work = root.path().join("work");
    fs::create_dir(&work).unwrap();
    (root, work)
}

async fn write(root: &Path, of: Destination, read: Option<&str>) -> Result<(), String> {
    let read = read.map(|text| digest(text.as_bytes()));
    let store = store(root);
    let written = store.replace_settings(of, read.as_deref(), b"{\"new\": 1}");
    written.await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn perm_17_what_is_set_for_a_project_lands_nowhere_else() {
    for (link, target, names) in [
        (
            ".claude/settings.local.json",
            "../../config/settings.json",
            1,
        ),
        (".claude/settings.local.json", "../../config/none.json", 1),
        (".claude", "../config", 0),
        (".claude", "../nothing", 0),
    ] {
        let (root, work) = stage();
        if names == 1 {
            fs::create_dir(work.join(".claude")).unwrap();
        }
        symlink(target, work.join(link)).unwrap();
        let user = root.path().join("config");
        // As if the target of the link had been read, and as if nothing had.
        for read in [None, Some("{}")] {
            let error = write(root.path(), Destination::LocalSettings, read).await;
            let error = error.unwrap_err();
            let link = work.join(link).display().to_string();
            for word in ["settings.local.json", &link, target, "in its place"] {
                assert!(error.contains(word), "{word}: {error}");
            }
        }
        assert_eq!(
            fs::read_to_string(user.join("settings.json")).unwrap(),
            "{}"
        );
        assert_eq!(fs::read_dir(&user).unwrap().count(), 1, "{link}");
        assert!(!root.path().join("nothing").exists());
    }
}

#[tokio::test]
async fn perm_17_links_within_a_project_and_of_the_user_are_followed() {
    let (root, work) = stage();
    fs::create_dir_all(work.join("shared")).unwrap();
    fs::write(work.join("shared/s.json"), "{}").unwrap();
    symlink("shared", work.join(".claude")).unwrap();
    symlink("s.json", work.join("shared/settings.json")).unwrap();
    write(root.path(), Destination::ProjectSettings, Some("{}"))
        .await
        .unwrap();
    write(root.path(), Destination::LocalSettings, None)
        .await
        .unwrap();
    let new = |path: PathBuf| assert_eq!(fs::read_to_string(path).unwrap(), "{\"new\": 1}");
    new(work.join("shared/s.json"));
    new(work.join("shared/settings.local.json"));
    assert!(work.join("shared/settings.json").is_symlink());
    // A person's dotfiles.
    let (user, dotfile) = (
        root.path().join("config/settings.json"),
        root.path().join("dotfile"),
    );
    fs::rename(&user, &dotfile).unwrap();
    symlink(&dotfile, &user).unwrap();
    write(root.path(), Destination::UserSettings, Some("{}"))
        .await
        .unwrap();
    new(dotfile);
    assert!(user.is_symlink());
}

#[tokio::test]
async fn perm_17_settings_of_a_project_are_made_and_kept_from_others_changes() {
    let (root, work) = stage();
    let project = Destination::ProjectSettings;
    write(root.path(), project, None).await.unwrap();
    let error = write(root.path(), project, None).await.unwrap_err();
    assert!(error.contains("settings.json"), "{error}");
    write(root.path(), project, Some("{\"new\": 1}"))
        .await
        .unwrap();
    assert_eq!(fs::read_dir(work.join(".claude")).unwrap().count(), 1);
}
