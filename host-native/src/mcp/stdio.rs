//! Servers that are programs, as a configuration describes them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Deserialize;
use windlass_core::RawJson;

use super::{
    connection::{ConnectError, Connection},
    variables::{Unset, expand},
};
use crate::{
    credentials::{self, Credentials},
    redact::Redactor,
};

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From its start to the list of its tools.
    pub connect: Duration,
    /// For a call that has no limit of its own.
    pub call: Duration,
}

impl Default for Limits {
    /// Half a minute to connect (some servers are downloaded when they start), an hour for a call.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            call: Duration::from_secs(60 * 60),
        }
    }
}

/// A configuration that describes no server which can be started.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not of the form.
    #[error(
        "the MCP server `{server}` is not configured as {{\"command\", \"args\"?, \"env\"?}}: {reason}"
    )]
    Form {
        /// The server's name.
        server: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// It is reached in another way.
    #[error("the MCP server `{server}` has the type \"{kind}\", and is not started as a program")]
    OtherType {
        /// The server's name.
        server: String,
        /// The type it has.
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

/// A server that is started as a program (Agent SDK reference, `McpStdioServerConfig`).
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
    /// What starts it, as a line for a shell.
    pub(crate) fn line(&self) -> String {
        let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
        let words = std::iter::once(&self.command).chain(&self.args);
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// Reads the configuration of a server: `{command, args?, env?, type?}`, where `type` may be left out. `${NAME}`
    /// and `${NAME:-default}` are expanded in the command, its arguments and its environment; unknown fields are
    /// left alone.
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

    /// A server of this name, started as a program that is found in `PATH`.
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

    /// Arguments of the program, added to those named before.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A variable for the program alone. This is how it gets a key of a model server, where it is to have one.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Where the program starts. Without this, where this one was started.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Takes keys out of whatever the program says.
    pub(crate) fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Gives the program further variables, where the configuration does not say the same ones. Those that hold credentials
    /// ([`credentials::VARIABLES`]) it gets only from its configuration.
    #[must_use]
    pub fn with_variables(mut self, variables: &BTreeMap<String, String>) -> Self {
        let given = variables.iter();
        for (name, value) in given.filter(|(name, _)| !credentials::is_credential(name)) {
            self.env.entry(name.clone()).or_insert(value.clone());
        }
        self
    }

    /// How long it may take.
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

    /// Starts the program, introduces this one to it and asks what tools it has. It gets the environment of this
    /// program but for the keys of the model endpoint, and what the configuration adds.
    ///
    /// # Errors
    /// [`ConnectError`]; nothing of the server is left running then.
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        Connection::open(self).await
    }
}

/// The keys that the environment holds: what is redacted where no engine says more.
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
