//! A folder with a sandbox, and commands that run in it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass::{
    bash::Bash,
    core::{
        host::CancelSignal,
        json::RawJson,
        spec::Environment,
        tool::{Access, ApprovedCommand, DenyPattern, FsGrant, GrantRoot, ToolCall, ToolResult},
    },
    sandbox::{Sandbox, SandboxSettings},
};

/// A workspace, and beside it a folder that commands are to stay out of.
pub(crate) struct Place {
    _folder: TempDir,
    /// The workspace.
    pub(crate) inside: PathBuf,
    /// A folder that belongs to somebody else.
    pub(crate) outside: PathBuf,
    pub(crate) sandbox: Sandbox,
    pub(crate) deny: Vec<DenyPattern>,
}

/// How a command went.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What the model reads.
    pub(crate) text: String,
}

impl Place {
    /// With these settings beside `enabled`; `INSIDE` and `OUTSIDE` stand for the two folders. None where nothing can be
    /// confined.
    pub(crate) fn new(settings: Value) -> Option<Self> {
        Self::with(|_, _| settings)
    }

    /// With settings that need the folders' names.
    pub(crate) fn with(settings: impl FnOnce(&str, &str) -> Value) -> Option<Self> {
        Self::whose(settings, |_| {})
    }

    /// With more that is known of the surroundings than the working directory.
    pub(crate) fn known(know: impl FnOnce(&mut Environment)) -> Option<Self> {
        Self::whose(|_, _| json!({}), know)
    }

    fn whose(
        settings: impl FnOnce(&str, &str) -> Value,
        know: impl FnOnce(&mut Environment),
    ) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (inside, outside) = (root.join("inside"), root.join("outside"));
        for directory in [&inside, &outside] {
            fs::create_dir(directory).unwrap();
            fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
        }
        let mut settings = settings(inside.to_str().unwrap(), outside.to_str().unwrap());
        settings["enabled"] = true.into();
        let settings: SandboxSettings = serde_json::from_value(settings).unwrap();
        let mut environment = Environment {
            cwd: inside.display().to_string(),
            ..Environment::default()
        };
        know(&mut environment);
        let sandbox = Sandbox::new(&settings, &environment).unwrap();
        if !sandbox.is_available() {
            eprintln!(
                "not tried: commands cannot be confined here: {:?}",
                sandbox.lacks()
            );
            return None;
        }
        Some(Self {
            _folder: folder,
            inside,
            outside,
            sandbox,
            deny: Vec::new(),
        })
    }

    /// Closes what a rule of the session would close.
    pub(crate) fn deny(&mut self, pattern: &str, access: Access) {
        self.deny.push(DenyPattern {
            pattern: format!("{}/{pattern}", self.inside.display()),
            access,
        });
    }

    /// A file in the workspace.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.inside.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn call(&self, command: &str) -> ToolCall {
        let inside = self.inside.display().to_string();
        ToolCall {
            tool_use_id: "toolu_1".into(),
            name: "Bash".into(),
            input: RawJson::encode(&json!({ "command": command })).unwrap(),
            grant: FsGrant {
                cwd: inside.clone(),
                roots: vec![GrantRoot {
                    path: inside,
                    access: Access::Write,
                }],
                deny: self.deny.clone(),
            },
            observed: Vec::new(),
            timeout_ms: None,
            agent: None,
            command: Some(ApprovedCommand::AsWritten),
            outside_sandbox: false,
            model: None,
            shell: None,
        }
    }

    /// Runs a command in the sandbox; `$IN` and `$OUT` are the two folders.
    pub(crate) async fn run(&self, command: &str) -> Ran {
        self.bash()
            .call(&self.call(command), CancelSignal::new())
            .await
            .into()
    }

    pub(crate) fn bash(&self) -> Bash {
        Bash::new()
            .with_variables([("IN", &self.inside), ("OUT", &self.outside)])
            .confined_by(self.sandbox.clone())
    }
}

impl From<ToolResult> for Ran {
    fn from(result: ToolResult) -> Self {
        let fields: Value =
            (result.structured.as_ref()).map_or(Value::Null, |it| it.decode().unwrap());
        let field = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        Self {
            stdout: field("stdout"),
            stderr: field("stderr"),
            text: result.joined_text(),
        }
    }
}
