//! `windlass mcp`: the servers of this folder, in the files in which the official program keeps them.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use windlass::{
    core::RawJson,
    mcp::{ConfigError, ServerConfig},
    settings::{ServerScope, ServersOfFiles, is_trusted},
};

use super::{
    Exit,
    keys::variable,
    launch::here,
    mcp_args::{
        McpAddArgs, McpAddJsonArgs, McpCommand, McpRemoveArgs, McpTestArgs, ScopeArg, TransportArg,
    },
    mcp_report::{Reached, call, reach},
    mcp_serve,
    plain::clean,
    start_error::StartError,
    terminal::Stage,
};

/// Runs the command.
///
/// # Errors
/// [`StartError`]: what the command names is not there or malformed, or a file cannot be read or written.
pub(crate) async fn mcp(command: McpCommand) -> Result<Exit, StartError> {
    let folder = Folder::here()?;
    let (text, is_well) = match command {
        McpCommand::Serve(args) => return mcp_serve::serve(&args).await,
        McpCommand::Add(args) => (folder.add(&args)?, true),
        McpCommand::AddJson(args) => (folder.add_json(&args)?, true),
        McpCommand::Remove(args) => (folder.remove(&args)?, true),
        McpCommand::List => (folder.list().await?, true),
        McpCommand::Get { name } => (folder.get(&name).await?, true),
        McpCommand::Test(args) => folder.test(&args).await?,
    };
    Ok(match Stage::stdout().write(&clean(&text)) {
        Ok(()) if is_well => Exit::Done,
        Ok(()) => Exit::Failed,
        Err(_) => Exit::PipeClosed,
    })
}

/// The working directory and the files in which its servers are.
struct Folder {
    files: ServersOfFiles,
    /// Whether a person has trusted it, so that what its own file names may be started and reached.
    is_trusted: bool,
}

/// A server as a file has it.
struct Configured {
    scope: ServerScope,
    name: String,
    config: RawJson,
}

impl Folder {
    fn here() -> Result<Self, StartError> {
        let (launch, cwd) = here()?;
        Ok(Self {
            is_trusted: is_trusted(&launch.config, launch.home.as_deref(), &cwd),
            files: ServersOfFiles::of(launch.config, launch.home, cwd),
        })
    }

    fn add(&self, args: &McpAddArgs) -> Result<String, StartError> {
        let config = config(args)?;
        self.set(args.scope.into(), &args.name, &config)
    }

    fn add_json(&self, args: &McpAddJsonArgs) -> Result<String, StartError> {
        let config = RawJson::parse(&*args.json)
            .map_err(|error| usage(format!("the configuration is no JSON: {error}")))?;
        self.set(args.scope.into(), &args.name, &config)
    }

    /// Writes a configuration that a session can use.
    fn set(&self, scope: ServerScope, name: &str, config: &RawJson) -> Result<String, StartError> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(usage(format!(
                "{name:?} is no name of a server: it has letters, digits, - and _"
            )));
        }
        match ServerConfig::read(name, config, &|_| None) {
            // What variables stand for is a matter of the session.
            Ok(_) | Err(ConfigError::Unset { .. }) => {}
            Err(error) => return Err(usage(error.to_string())),
        }
        let was_there = self.write(scope, name, Some(config))?;
        let what = if was_there { "replaced" } else { "added" };
        let file = self.files.file(scope);
        Ok(format!(
            "{name} is {what} for {} ({}).\n",
            for_whom(scope),
            file.display()
        ))
    }

    fn remove(&self, args: &McpRemoveArgs) -> Result<String, StartError> {
        let name = &args.name;
        let scope = match args.scope {
            Some(scope) => scope.into(),
            None => {
                let all = self.all()?;
                let scopes: Vec<_> = all
                    .iter()
                    .filter(|it| it.name == *name)
                    .map(|it| it.scope)
                    .collect();
                match scopes[..] {
                    [scope] => scope,
                    [] => return Err(absent(name)),
                    _ => {
                        let scopes: Vec<_> = scopes
                            .iter()
                            .map(|it| format!("--scope {}", it.name()))
                            .collect();
                        return Err(usage(format!(
                            "there is more than one {name}: say {}",
                            scopes.join(" or ")
                        )));
                    }
                }
            }
        };
        match self.write(scope, name, None)? {
            true => Ok(format!(
                "{name} is removed from {}.\n",
                self.files.file(scope).display()
            )),
            false => Err(absent(name)),
        }
    }

    fn write(
        &self,
        scope: ServerScope,
        name: &str,
        config: Option<&RawJson>,
    ) -> Result<bool, StartError> {
        let written = self.files.set(scope, name, config);
        written.map_err(|error| StartError::Unable(error.to_string()))
    }

    /// Every server of every file.
    fn all(&self) -> Result<Vec<Configured>, StartError> {
        let mut all = Vec::new();
        for scope in ServerScope::ALL {
            let servers = self.files.servers(scope).map_err(StartError::Unable)?;
            all.extend(servers.into_iter().map(|(name, config)| Configured {
                scope,
                name,
                config,
            }));
        }
        Ok(all)
    }

    /// The server that a session has under this name.
    fn find(&self, name: &str) -> Result<Configured, StartError> {
        let all = self.all()?;
        all.into_iter()
            .find(|it| it.name == name)
            .ok_or_else(|| absent(name))
    }

    /// Connects to a server, if that is not up to somebody else.
    async fn reach(&self, server: &Configured) -> Reached {
        if server.scope == ServerScope::Project && !self.is_trusted {
            return Reached::Untrusted;
        }
        let read = ServerConfig::read(&server.name, &server.config, &|name| variable(name));
        match read {
            Ok(config) => reach(&config).await,
            Err(error) => Reached::Failed(error.to_string()),
        }
    }

    async fn list(&self) -> Result<String, StartError> {
        let all = self.all()?;
        if all.is_empty() {
            return Ok(
                "There are no MCP servers here. `windlass mcp add` configures one.\n".to_owned(),
            );
        }
        let reached = join_all(all.iter().map(|server| self.reach(server))).await;
        let lines = all.iter().zip(&reached).map(|(server, reached)| {
            let target = target(&server.config);
            format!(
                "{} ({}): {target}: {}\n",
                server.name,
                server.scope.name(),
                reached.in_short()
            )
        });
        let text = lines.collect();
        join_all(reached.iter().map(Reached::close)).await;
        Ok(text)
    }

    async fn get(&self, name: &str) -> Result<String, StartError> {
        let server = self.find(name)?;
        let reached = self.reach(&server).await;
        let file = self.files.file(server.scope);
        let shown =
            serde_json::to_string_pretty(&without_values(&server.config)).unwrap_or_default();
        let full = reached.in_full();
        reached.close().await;
        Ok(format!(
            "{name}: for {} ({})\n{shown}\n{}",
            for_whom(server.scope),
            file.display(),
            full
        ))
    }

    async fn test(&self, args: &McpTestArgs) -> Result<(String, bool), StartError> {
        let mut inputs = args.input.iter();
        let calls = args.call.iter().map(|tool| {
            let input = inputs.next().map_or("{}", String::as_str);
            let input = serde_json::from_str(input);
            let input = input.map_err(|error| usage(format!("--input is no object: {error}")))?;
            Ok((tool.clone(), input))
        });
        let calls: Vec<_> = calls.collect::<Result<_, StartError>>()?;
        let reached = match args.target.contains("://") {
            true => {
                let config = remote(
                    &args.target,
                    args.transport.unwrap_or(TransportArg::Http),
                    &args.headers,
                )?;
                let config = ServerConfig::read("server", &config, &|name| variable(name));
                reach(&config.map_err(|error| usage(error.to_string()))?).await
            }
            false => self.reach(&self.find(&args.target)?).await,
        };
        let done = match calls.is_empty() {
            true => (reached.in_full(), reached.is_well()),
            false => call(&reached, calls).await,
        };
        reached.close().await;
        Ok(done)
    }
}

/// The configuration that flags describe.
fn config(args: &McpAddArgs) -> Result<RawJson, StartError> {
    let is_address = args.target.starts_with("http://") || args.target.starts_with("https://");
    let usual = if is_address {
        TransportArg::Http
    } else {
        TransportArg::Stdio
    };
    let transport = args.transport.unwrap_or(usual);
    if transport != TransportArg::Stdio {
        if !args.args.is_empty() || !args.env.is_empty() {
            return Err(usage(
                "an address has neither arguments nor variables: --header sends what it wants"
                    .to_owned(),
            ));
        }
        return remote(&args.target, transport, &args.headers);
    }
    if !args.headers.is_empty() {
        return Err(usage(
            "a program is sent no headers: --env sets variables".to_owned(),
        ));
    }
    let env = pairs(&args.env, '=', "--env NAME=VALUE")?;
    raw(&json!({"type": "stdio", "command": args.target, "args": args.args, "env": env}))
}

/// The configuration of an address.
fn remote(url: &str, transport: TransportArg, headers: &[String]) -> Result<RawJson, StartError> {
    let kind = match transport {
        TransportArg::Http => "http",
        TransportArg::Sse => "sse",
        TransportArg::Stdio => {
            return Err(usage(
                "an address is no program: say --transport http or sse".to_owned(),
            ));
        }
    };
    let mut config = json!({"type": kind, "url": url});
    let headers = pairs(headers, ':', "--header \"NAME: VALUE\"")?;
    if !headers.is_empty() {
        config["headers"] = json!(headers);
    }
    raw(&config)
}

/// Names and values of flags.
fn pairs(
    given: &[String],
    separator: char,
    form: &str,
) -> Result<BTreeMap<String, String>, StartError> {
    let pair = |text: &String| {
        let parts = text
            .split_once(separator)
            .filter(|(name, _)| !name.trim().is_empty());
        // The text may be a secret.
        let (name, value) = parts.ok_or_else(|| usage(format!("write {form}")))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    given.iter().map(pair).collect()
}

fn raw(config: &Value) -> Result<RawJson, StartError> {
    RawJson::encode(config).map_err(|error| StartError::Unable(error.to_string()))
}

/// The program or the address of a configuration, on one line.
fn target(config: &RawJson) -> String {
    let config: Map<String, Value> = config.decode().unwrap_or_default();
    let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or_default();
    if !text("url").is_empty() {
        let address = text("url").split(['?', '#']).next().unwrap_or_default();
        return format!("{address} ({})", text("type"));
    }
    let args = config
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let words = args.filter_map(Value::as_str);
    let words: Vec<&str> = std::iter::once(text("command")).chain(words).collect();
    words.join(" ")
}

/// A configuration to show: values of headers and variables may be secrets.
fn without_values(config: &RawJson) -> Value {
    let mut config: Value = config.decode().unwrap_or_default();
    for key in ["headers", "env"] {
        let values = config.get_mut(key).and_then(Value::as_object_mut);
        for value in values.into_iter().flat_map(Map::values_mut) {
            // A reference to a variable is none.
            if !value.as_str().is_some_and(|text| text.contains("${")) {
                *value = "[hidden]".into();
            }
        }
    }
    config
}

fn for_whom(scope: ServerScope) -> &'static str {
    match scope {
        ServerScope::Local => "you in this folder",
        ServerScope::Project => "everybody who has this project",
        ServerScope::User => "you in every folder",
    }
}

fn absent(name: &str) -> StartError {
    StartError::Unable(format!(
        "there is no MCP server {name} here: `windlass mcp list` shows those there are"
    ))
}

fn usage(problem: String) -> StartError {
    StartError::Usage(problem)
}

impl From<ScopeArg> for ServerScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Local => Self::Local,
            ScopeArg::Project => Self::Project,
            ScopeArg::User => Self::User,
        }
    }
}
