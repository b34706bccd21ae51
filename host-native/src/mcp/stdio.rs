//! Configuration of MCP servers that run as processes.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Deserialize;
use windlass_core::RawJson;

use super::variables::{Unset, expand};
use crate::{
    credentials::{self, Credentials},
    redact::Redactor,
};

/// Timeouts of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From its start to the list of its tools.
    pub connect: Duration,
    /// For a call without its own timeout.
    pub call: Duration,
}

impl Default for Limits {
    /// 30 seconds to connect (some servers are downloaded when they start), one hour for a call.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            call: Duration::from_secs(60 * 60),
        }
    }
}

/// A configuration does not describe a server that can be started.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The configuration is malformed.
    #[error(
        "the MCP server `{server}` is not configured as {{\"command\", \"args\"?, \"env\"?}}: {reason}"
    )]
    Form {
        /// The server's name.
        server: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// The configuration of a server over HTTP is malformed.
    #[error(
        "the MCP server `{server}` is not configured as {{\"type\": \"http\" | \"sse\", \"url\", \"headers\"?}}: {reason}"
    )]
    HttpForm {
        /// The server's name.
        server: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// It has another transport type.
    #[error(
        "the MCP server `{server}` has the type \"{kind}\": those that can be reached have \"stdio\", \"http\" or \"sse\""
    )]
    OtherType {
        /// The server's name.
        server: String,
        /// The transport type.
        kind: String,
    },
    /// A variable has no value.
    #[error(
        "the MCP server `{server}` needs the environment variable {variable} for its {field}: set it, or write ${{{variable}:-default}}"
    )]
    Unset {
        /// The server's name.
        server: String,
        /// The field that names the variable.
        field: &'static str,
        /// The variable.
        variable: String,
    },
}

/// An MCP server that is started as a process (Agent SDK reference, `McpStdioServerConfig`).
///
/// ```
/// use windlass::mcp::StdioServer;
/// use windlass_core::RawJson;
///
/// let config = RawJson::parse(r#"{"command": "${TOOLS:-/opt}/notes", "args": ["--quiet"]}"#)?;
/// let server = StdioServer::read("notes", &config, &|_| None)?;
/// assert_eq!(server.command(), "/opt/notes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StdioServer {
    pub(super) name: String,
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) directory: Option<PathBuf>,
    pub(super) redactor: Redactor,
    pub(super) limits: Limits,
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl StdioServer {
    /// Its command line, in the form of a shell.
    pub(crate) fn line(&self) -> String {
        let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
        let words = std::iter::once(&self.command).chain(&self.args);
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// Reads the configuration of a server: `{command, args?, env?, type?}`. `${NAME}` and `${NAME:-default}` are
    /// expanded in the command, its arguments and its environment; unknown fields are ignored.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn read(
        name: &str,
        config: &RawJson,
        value_of: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let form = |reason: String| ConfigError::Form {
            server: name.to_owned(),
            reason,
        };
        let config: Config = config.decode().map_err(|error| form(error.to_string()))?;
        if let Some(kind) = config.kind.filter(|kind| kind != "stdio") {
            let server = name.to_owned();
            return Err(ConfigError::OtherType { server, kind });
        }
        let command = config
            .command
            .filter(|command| !command.is_empty())
            .ok_or_else(|| form("it has no `command`".to_owned()))?;
        let expand = |field, text: &str| {
            expand(text, value_of).map_err(|Unset(variable)| ConfigError::Unset {
                server: name.to_owned(),
                field,
                variable,
            })
        };
        let args = config.args.iter().map(|text| expand("args", text));
        let env = config
            .env
            .iter()
            .map(|(name, text)| Ok((name.clone(), expand("env", text)?)));
        Ok(Self {
            name: name.to_owned(),
            command: expand("command", &command)?,
            args: args.collect::<Result<_, _>>()?,
            env: env.collect::<Result<_, _>>()?,
            directory: None,
            redactor: Redactor::new(held_keys().iter().map(|(_, key)| key)),
            limits: Limits::default(),
        })
    }

    /// A server of this name, whose program is looked up in `PATH`.
    pub fn new(name: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            directory: None,
            redactor: Redactor::new(held_keys().iter().map(|(_, key)| key)),
            limits: Limits::default(),
        }
    }

    /// Adds arguments for the program.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable for this program only. This is how it can get the key of a model server.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// The directory in which the program is started. Default: that of this process.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Removes keys from the program's output.
    pub(crate) fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Sets further environment variables, unless the configuration sets them. Variables that hold credentials
    /// ([`credentials::VARIABLES`]) or secrets of plugins are taken only from the server's configuration.
    #[must_use]
    pub fn with_variables(mut self, variables: &BTreeMap<String, String>) -> Self {
        let given = variables.iter();
        for (name, value) in given.filter(|(name, _)| !credentials::is_withheld(name)) {
            self.env.entry(name.clone()).or_insert(value.clone());
        }
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program, with its variables expanded.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }
}

/// The keys in the environment, which are redacted unless an engine sets others.
fn held_keys() -> Credentials {
    Credentials::read(|name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<StdioServer, ConfigError> {
        let config = RawJson::parse(json).expect("a test writes JSON");
        StdioServer::read("notes", &config, &|name| {
            (name == "HOME").then(|| "/home/ada".to_owned())
        })
    }

    #[test]
    fn mcp_5_a_server_without_a_type_is_a_program() {
        for json in [
            r#"{"command": "notes"}"#,
            r#"{"type": "stdio", "command": "notes"}"#,
        ] {
            assert_eq!(read(json).expect(json).command(), "notes");
        }
    }

    #[test]
    fn mcp_1_variables_are_expanded_in_command_arguments_and_environment() {
        let server = read(
            r#"{"command": "${HOME}/notes", "args": ["--in", "${DIR:-/tmp}"], "env": {"A": "${HOME}"}, "more": 1}"#,
        )
        .expect("it is well formed");
        assert_eq!(server.command, "/home/ada/notes");
        assert_eq!(server.args, ["--in", "/tmp"]);
        assert_eq!(server.env["A"], "/home/ada");
    }

    #[test]
    fn what_cannot_be_started_is_refused_with_the_server_and_the_fault_named() {
        for (json, wanted) in [
            (r#"{}"#, "no `command`"),
            (r#"{"command": ""}"#, "no `command`"),
            (r#"{"command": 3}"#, "`notes`"),
            (r#"{"type": "http", "url": "http://localhost"}"#, "\"http\""),
            (
                r#"{"command": "notes", "env": {"KEY": "${TOKEN}"}}"#,
                "TOKEN for its env",
            ),
        ] {
            let error = read(json).expect_err(json).to_string();
            assert!(
                error.contains("`notes`") && error.contains(wanted),
                "{error}"
            );
        }
    }
}
