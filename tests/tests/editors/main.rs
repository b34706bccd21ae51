//! Agents for editors, driven by the official SDK of the Agent Client Protocol in the place of an editor: `windlass acp`, and the
//! unmodified adapter of the TypeScript SDK with windlass as its engine.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;
use windlass::model_server::ModelServer;
use windlass_testkit::Script;
use windlass_tests::artefacts;

/// A folder with everything that an agent sees of the machine, and a model that follows a script of `tests/editors`.
struct Stage {
    root: TempDir,
    model: ModelServer,
}

impl Stage {
    fn new(script: &str) -> Self {
        let root = TempDir::with_prefix("windlass-editors-").unwrap();
        for directory in ["work", "home", "configuration"] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        let cwd = root.path().canonicalize().unwrap().join("work");
        let text = fs::read_to_string(editors().join(script)).unwrap();
        let cwd = cwd.to_string_lossy();
        let script = Script::parse_with(&text, &[("cwd", &cwd)]).unwrap();
        let model = ModelServer::start(script).unwrap();
        Self { root, model }
    }

    fn work(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    /// Runs a program of `tests/editors` with the directory and the agent's command line behind it.
    fn run(&self, program: &str, agent: &[OsString]) -> Output {
        let node = artefacts::newer_node();
        let mut command = Command::new(&node);
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(user_cache, PathBuf::from);
        command
            // Packages are found from where the programs were installed.
            .arg(installed(program))
            .arg(self.work())
            .args(agent)
            .env_clear()
            .env("PATH", path_with(&node))
            .env("LANG", "C.UTF-8")
            .env("HOME", self.root.path().join("home"))
            .env("CLAUDE_CONFIG_DIR", self.root.path().join("configuration"))
            .env("XDG_CACHE_HOME", cache)
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env("ANTHROPIC_API_KEY", "test-key")
            .env("CLAUDE_CODE_EXECUTABLE", artefacts::windlass());
        command.output().unwrap()
    }
}

/// The sources of the programs.
fn editors() -> PathBuf {
    artefacts::repository().join("tests/editors")
}

/// A program beside the packages that it imports.
fn installed(program: &str) -> PathBuf {
    let directory = artefacts::editors();
    for name in ["editor.mjs", program] {
        let text = fs::read(editors().join(name)).unwrap();
        let to = directory.join(name);
        // Tests that run beside this one read it.
        if fs::read(&to).ok().as_deref() != Some(text.as_slice()) {
            let copy = tempfile::NamedTempFile::new_in(&directory).unwrap();
            fs::write(copy.path(), &text).unwrap();
            copy.persist(&to).unwrap();
        }
    }
    directory.join(program)
}

/// The search path, with the Node of the tests first: the adapter starts none itself, but editors of it would.
fn path_with(node: &Path) -> OsString {
    let own = node.parent().map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap()
}

fn user_cache() -> PathBuf {
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".cache")
}

fn passes(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{said}\n{complained}",
        output.status
    );
}

fn own_agent() -> Vec<OsString> {
    vec![artefacts::windlass().into(), "acp".into()]
}

#[test]
fn an_editor_works_with_windlass_directly() {
    let stage = Stage::new("scenario.json");
    passes(&stage.run("scenario.mjs", &own_agent()));
}

#[test]
fn an_editor_works_with_the_unmodified_adapter_of_the_sdk() {
    let stage = Stage::new("scenario.json");
    let adapter = artefacts::editors()
        .join("node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js");
    let agent = vec![artefacts::newer_node().into(), adapter.into()];
    passes(&stage.run("scenario.mjs", &agent));
}

#[test]
fn what_is_no_message_of_the_protocol_gets_one_clear_error() {
    let stage = Stage::new("scenario.json");
    passes(&stage.run("wrong.mjs", &own_agent()));
}

#[test]
fn a_plan_is_approved_in_the_editor_and_what_is_allowed_lasts_for_the_session() {
    let stage = Stage::new("plan.json");
    passes(&stage.run("plan.mjs", &own_agent()));
}
