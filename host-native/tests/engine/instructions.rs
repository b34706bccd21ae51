//! What a project brings along into the context obeys the rules that reads obey.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::json;

use crate::support::{Sdk, says};

const SECRET: &str = "TOP-SECRET";

/// A project with a closed file, and what lies outside of it.
struct World {
    project: Arc<tempfile::TempDir>,
    outside: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self {
            project: Arc::new(tempfile::tempdir().unwrap()),
            outside: tempfile::tempdir().unwrap(),
        };
        put(&world.outside("secret"), SECRET);
        put(&world.outside(".ssh/id_rsa"), SECRET);
        world.put("secret.txt", SECRET);
        world.put("keys/one.md", SECRET);
        world.put("docs/fine.md", "FINE-IMPORT");
        let settings = json!({"permissions": {"deny": ["Read(./secret.txt)", "Read(./keys/**)"]}});
        world.put(".claude/settings.json", &settings.to_string());
        world
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.outside.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        put(&self.project.path().join(path), text);
    }

    fn link(&self, target: impl AsRef<Path>, at: &str) {
        symlink(target, self.project.path().join(at)).unwrap();
    }

    /// What the model is sent in a session in the project.
    async fn told(&self, prompt: &str) -> String {
        let project = Arc::clone(&self.project);
        let mut sdk = Sdk::start_in(project, &[], json!([says("Seen.")]));
        sdk.prompt(prompt).await;
        sdk.first("result").await;
        let requests = sdk.model.requests();
        let bodies = requests.iter().map(|r| String::from_utf8_lossy(&r.body));
        bodies.collect()
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test]
async fn ctx_6_no_link_and_no_import_brings_in_what_is_closed_or_outside() {
    let world = World::new();
    let name = world.outside.path().file_name().unwrap().to_string_lossy();
    let attacks = [
        format!("@../{name}/secret"),
        format!("@docs/../../{name}/secret"),
        format!("@{}", world.outside("secret").display()),
    ];
    let more = "@/etc/passwd @secret.txt @./docs/../secret.txt @keys/one.md @way @way-in @door/id_rsa @nearly @hard";
    let attacks = attacks.join(" ");
    world.put(
        "CLAUDE.md",
        &format!("INSTRUCTED @docs/fine.md {attacks} {more}"),
    );
    world.link(world.outside("secret"), "way");
    world.link("secret.txt", "way-in");
    world.link(world.outside(".ssh"), "door");
    world.link("way", "nearly");
    let at = |path: &str| world.project.path().join(path);
    fs::hard_link(at("secret.txt"), at("hard")).unwrap();
    world.link(world.outside(".ssh/id_rsa"), "CLAUDE.local.md");
    world.link("../keys/one.md", ".claude/CLAUDE.md");
    fs::create_dir_all(at(".claude/commands")).unwrap();
    world.link(world.outside("secret"), ".claude/commands/leak.md");
    let told = world.told("/leak").await;
    assert!(
        told.contains("INSTRUCTED") && told.contains("FINE-IMPORT"),
        "{told}"
    );
    assert!(!told.contains(SECRET) && !told.contains("root:"), "{told}");
}

#[tokio::test]
async fn ctx_6_instructions_that_are_a_link_to_a_key_are_left_out() {
    for target in ["secret", ".ssh/id_rsa"] {
        let world = World::new();
        world.link(world.outside(target), "CLAUDE.md");
        let told = world.told("go").await;
        assert!(told.contains("go") && !told.contains(SECRET), "{told}");
    }
}

#[tokio::test]
async fn ctx_6_a_link_inside_of_the_project_is_followed() {
    let world = World::new();
    world.put("AGENTS.md", "FINE-LINK");
    world.link("AGENTS.md", "CLAUDE.md");
    assert!(world.told("go").await.contains("FINE-LINK"));
}

#[tokio::test]
async fn ctx_6_the_users_own_instructions_may_come_from_anywhere_but_what_is_closed() {
    let world = World::new();
    let mine = world.outside("mine.md");
    put(&mine, "MINE");
    let text = format!("OWN @own.md @../secret.txt @{}", mine.display());
    put(&world.outside("dotfiles.md"), &text);
    world.put(".config/own.md", "BESIDE");
    world.link(world.outside("dotfiles.md"), ".config/CLAUDE.md");
    let told = world.told("go").await;
    for text in ["OWN", "BESIDE", "MINE"] {
        assert!(told.contains(text), "{text} in {told}");
    }
    assert!(!told.contains(SECRET), "{told}");
}
