//! Running the command beside a scripted model.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use windlass::model_server::{ModelServer, Script};

/// The command in an empty workspace, with an environment that it shares with nobody.
pub(crate) struct Windlass {
    pub(crate) workspace: TempDir,
    home: TempDir,
    base_url: Option<String>,
    /// Where components are kept once they are compiled: one for all tests, or each would compile them.
    cache: &'static str,
}

impl Windlass {
    pub(crate) fn new() -> Self {
        Self {
            workspace: TempDir::new().unwrap(),
            home: TempDir::new().unwrap(),
            base_url: None,
            cache: concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
        }
    }

    /// Asks this server.
    pub(crate) fn asking(server: &ModelServer) -> Self {
        Self {
            base_url: Some(server.url()),
            ..Self::new()
        }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_windlass"), args)
    }

    /// Another program, in the same place.
    pub(crate) fn program(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(name);
        command
            .args(args)
            .current_dir(self.workspace.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("XDG_CACHE_HOME", self.cache)
            .env("TMPDIR", self.home.path())
            .stdin(Stdio::null());
        if let Some(url) = &self.base_url {
            command.env("ANTHROPIC_BASE_URL", url);
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done::of(&self.command(args).output().unwrap())
    }

    /// Runs it with something on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Done {
        Done::with_input(self.command(args), input)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.workspace.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> String {
        let path: &Path = &self.workspace.path().join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// What came of a command that got this input.
    pub(crate) fn with_input(mut command: Command, input: &[u8]) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // It may have ended before it read anything; then its output tells.
        let _ = stdin.write_all(input);
        drop(stdin);
        Self::of(&child.wait_with_output().unwrap())
    }

    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Standard output as JSON lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The one line of standard error of a command that printed nothing else.
    #[track_caller]
    pub(crate) fn complaint(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        self.stderr.trim_end()
    }
}

/// A model that follows a script.
pub(crate) fn model(script: &str) -> ModelServer {
    ModelServer::start(Script::parse(script).unwrap()).unwrap()
}

/// A model that says these texts, one a request.
pub(crate) fn saying<const N: usize>(texts: [&str; N]) -> ModelServer {
    ModelServer::start(Script::says(texts)).unwrap()
}

/// A model that calls a tool, then says what it was told to.
pub(crate) fn calling(tool: &str, input: &Value, then: &str) -> ModelServer {
    let script = serde_json::json!({
        "exchanges": [
            {"respond": {"content": [{"type": "tool_use", "name": tool, "input": input}]}},
            {"respond": then},
        ]
    });
    model(&script.to_string())
}
