//! The arguments of `windlass plugin add`, `inspect`, `update` and `remove`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct PluginAddArgs {
    /// A path, https://…#sha256=DIGEST, or oci://REGISTRY/REPOSITORY:TAG, with @sha256:DIGEST if it shall be that manifest.
    pub(crate) source: String,

    /// Whoever signed it: a public key of minisign or, for a registry, of cosign; its file, or the key itself.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    #[command(flatten)]
    pub(crate) fetch: PluginFetchArgs,

    /// The directory of a role that it declares, to be granted with what else it asks for: `ROLE=PATH`, or `ROLE=PATH=read` for less
    /// than it asks for. Can be repeated.
    #[arg(
        long = "dir",
        value_name = "ROLE=PATH[=ACCESS]",
        conflicts_with = "grant_nothing"
    )]
    pub(crate) directories: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: PluginAnswerArgs,
}

/// How a plugin is fetched.
#[derive(Debug, Args)]
pub(crate) struct PluginFetchArgs {
    /// The digest that it has: sha256: and 64 hexadecimal digits.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,

    /// Speak plain HTTP with a registry on this machine.
    #[arg(long)]
    pub(crate) plain_http: bool,

    /// Who you are at the registry, in place of what `docker login` noted.
    #[arg(long, value_name = "NAME", requires = "password_stdin")]
    pub(crate) username: Option<String>,

    /// Read the password for --username from standard input.
    #[arg(long, requires = "username")]
    pub(crate) password_stdin: bool,

    /// Another host to which the registry sends for a token, and which may be told who you are. Can be repeated.
    #[arg(long = "auth-host", value_name = "HOST[:PORT]", value_parser = host)]
    pub(crate) auth_hosts: Vec<String>,

    /// Certificates to trust beside the system's, in PEM form; else NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

/// A host as a person names it. What is more than that could never be met, and its author would wonder why.
fn host(text: &str) -> Result<String, &'static str> {
    let has_more = text.contains(['/', '\\', '@', '?', '#']);
    let url = url::Url::parse(&format!("https://{text}/"));
    match url.is_ok_and(|url| url.has_host()) && !has_more {
        true => Ok(text.to_owned()),
        false => {
            Err("write a host such as auth.example.com, or with its port, auth.example.com:8443")
        }
    }
}

/// What is answered to the question whether a plugin gets what it asks for.
#[derive(Debug, Args)]
pub(crate) struct PluginAnswerArgs {
    /// Grant what it asks for; with update, what the version before it had.
    #[arg(long, conflicts_with = "grant_nothing")]
    pub(crate) yes: bool,

    /// Grant nothing, and do not ask.
    #[arg(long)]
    pub(crate) grant_nothing: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginInspectArgs {
    /// The plugin.
    pub(crate) name: String,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginUpdateArgs {
    /// The plugin; all that are installed if left out.
    pub(crate) name: Option<String>,

    /// From where it is fetched from now on.
    #[arg(long, value_name = "SOURCE", requires = "name")]
    pub(crate) from: Option<String>,

    #[command(flatten)]
    pub(crate) fetch: PluginFetchArgs,

    #[command(flatten)]
    pub(crate) answer: PluginAnswerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PluginRemoveArgs {
    /// The plugin.
    pub(crate) name: String,

    /// Keep what it remembers for good.
    #[arg(long)]
    pub(crate) keep_state: bool,
}
