//! Who a registry is told that the person is: by `--username`, or as `docker login` has noted it.
//!
//! Docker's file (`config.json` in `DOCKER_CONFIG`, else in `~/.docker`) names for each registry the name and password themselves, or
//! a program that knows them (`docker-credential-NAME`). It is read for the one registry that a plugin comes from, and what it says
//! is sent to no other.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use tokio::{io::AsyncWriteExt as _, process::Command, time::timeout};
use windlass::child;

use super::error::InstallError;
use crate::cli::install_args::PluginFetchArgs;

/// Docker's own registry, and what its login is noted under.
const DOCKER_HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];
const DOCKER_HUB_NOTED: &str = "https://index.docker.io/v1/";

/// How long a program for passwords may take: it may ask the person for something.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a program says that knows of no password for a registry. The protocol has no other sign.
const UNKNOWN: &str = "credentials not found";

/// The name that Docker notes beside a token that is exchanged for another one first.
const TOKEN_NAME: &str = "<token>";

/// Name and password of a person at a registry. Nothing prints it.
pub(super) struct Login {
    pub(super) name: String,
    pub(super) password: String,
}

/// Docker's file, as far as it is about registries.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DockerConfig {
    auths: BTreeMap<String, Noted>,
    /// The program for each registry.
    cred_helpers: BTreeMap<String, String>,
    /// The program for all others.
    creds_store: Option<String>,
}

/// What is noted for a registry.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Noted {
    /// `NAME:PASSWORD` in base64.
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    /// Set where there is no password.
    identitytoken: Option<String>,
}

/// What a program for passwords answers.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// The login for a registry; nobody in particular if none are known.
///
/// # Errors
/// [`InstallError::Login`]: what is noted cannot be used. The registry is not asked then.
pub(super) async fn login(
    registry: &str,
    args: &PluginFetchArgs,
) -> Result<Option<Login>, InstallError> {
    let failed = |reason: String| InstallError::Login {
        registry: registry.to_owned(),
        reason,
    };
    if let Some(username) = &args.username {
        let password = io::read_to_string(io::stdin())
            .map_err(|error| failed(format!("no password came from standard input: {error}")))?;
        return match password.trim_end_matches(['\r', '\n']) {
            "" => Err(failed("standard input has no password".to_owned())),
            password => Ok(Some(Login {
                name: username.clone(),
                password: password.to_owned(),
            })),
        };
    }
    let Some(file) = docker_file() else {
        return Ok(None);
    };
    let config = read(&file).map_err(|reason| failed(format!("{}: {reason}", file.display())))?;
    let known = config.known(registry).await.map_err(&failed)?;
    Ok(known.map(|(name, password)| Login { name, password }))
}

/// Docker's file, if there is a place for one.
fn docker_file() -> Option<PathBuf> {
    let named = env::var_os("DOCKER_CONFIG").filter(|folder| !folder.is_empty());
    let folder = match named {
        Some(folder) => PathBuf::from(folder),
        None => etcetera::home_dir().ok()?.join(".docker"),
    };
    Some(folder.join("config.json"))
}

fn read(file: &Path) -> Result<DockerConfig, String> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DockerConfig::default()),
        Err(error) => return Err(error.to_string()),
    };
    // What serde says quotes values.
    serde_json::from_slice(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("line {line}, column {column}: it is not what `docker login` writes")
    })
}

impl DockerConfig {
    /// Name and password for a registry.
    async fn known(&self, registry: &str) -> Result<Option<(String, String)>, String> {
        let noted_as = match DOCKER_HUB.contains(&registry) {
            true => DOCKER_HUB_NOTED,
            false => registry,
        };
        let own = (self.cred_helpers.iter()).find(|(server, _)| is_of(server, noted_as));
        if let Some(program) = own
            .map(|(_, program)| program)
            .or(self.creds_store.as_ref())
            && let Some(known) = ask(program, noted_as).await?
        {
            return Ok(Some(known));
        }
        let noted = self
            .auths
            .iter()
            .find(|(server, _)| is_of(server, noted_as));
        noted.map_or(Ok(None), |(_, noted)| noted.known())
    }
}

/// Whether an entry is about a registry. Older ones have a scheme and a path.
fn is_of(entry: &str, registry: &str) -> bool {
    let host = |text: &str| -> String {
        let text = text.strip_prefix("https://").unwrap_or(text);
        text.split('/').next().unwrap_or_default().to_owned()
    };
    entry == registry || host(entry) == host(registry)
}

impl Noted {
    fn known(&self) -> Result<Option<(String, String)>, String> {
        if self
            .identitytoken
            .as_ref()
            .is_some_and(|token| !token.is_empty())
        {
            return Err(NO_TOKENS.to_owned());
        }
        if let (Some(name), Some(password)) = (&self.username, &self.password) {
            return Ok(Some((name.clone(), password.clone())));
        }
        let Some(auth) = self.auth.as_ref().filter(|auth| !auth.is_empty()) else {
            // Where a program knows the password, there is an empty entry.
            return Ok(None);
        };
        let decoded = STANDARD.decode(auth).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = decoded.as_deref().and_then(|text| text.split_once(':'));
        let (name, password) =
            pair.ok_or("what Docker noted for it is not NAME:PASSWORD in base64")?;
        // Docker ends it with zero bytes where it was padded.
        Ok(Some((
            name.to_owned(),
            password.trim_end_matches('\0').to_owned(),
        )))
    }
}

const NO_TOKENS: &str = "Docker noted a token for it that has to be exchanged first, which is not done here: use --username";

/// Asks the program that knows passwords.
async fn ask(program: &str, registry: &str) -> Result<Option<(String, String)>, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if program.is_empty() || !program.chars().all(is_name) {
        return Err(
            "the program that Docker's file names for passwords is not a plain name".to_owned(),
        );
    }
    let name = format!("docker-credential-{program}");
    let mut command = Command::from(child::command(&name));
    command
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let asked = async {
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A program that does not read it answers all the same.
            let _ = input.write_all(format!("{registry}\n").as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let output = match timeout(PATIENCE, asked).await {
        Ok(output) => output.map_err(|error| format!("{name}: {error}"))?,
        Err(_) => {
            return Err(format!(
                "{name} did not answer within {} s",
                PATIENCE.as_secs()
            ));
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return match said.contains(UNKNOWN) {
            true => Ok(None),
            // What it says may hold what it knows.
            false => Err(format!(
                "{name} failed: run `echo {registry} | {name} get` to see why"
            )),
        };
    }
    let answer: Answer = serde_json::from_str(&said)
        .map_err(|_| format!("{name} answered something that is no name and password"))?;
    match answer.username.as_str() {
        TOKEN_NAME => Err(NO_TOKENS.to_owned()),
        _ => Ok(Some((answer.username, answer.secret))),
    }
}
