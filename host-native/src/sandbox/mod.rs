//! Confines commands by the operating system (Agent SDK reference, `SandboxSettings`).
//!
//! Every process that Bash starts is confined, with all its descendants. It sees the machine's files read-only and
//! may change the workspace, a folder for temporary files, and what the settings make writable; files that a rule or
//! the settings deny are covered. It has its own network, with two proxies as the only way out, which allow what the
//! settings allow. It has no superuser capabilities and cannot reach any other process.
//!
//! [`Sandbox::new`] tests what the kernel supports. [`Sandbox::lacks`] lists what is missing. If the settings require
//! something that is missing, the sandbox is not available and no command may be started with it.
//!
//! On Linux, the started process confines itself between fork and exec, without a helper program. On macOS,
//! `sandbox-exec` is used; that has never been tested and must be enabled with `enableWeakerNestedSandbox`. On other
//! systems there is no Bash tool.

mod find;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod network;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod other;
mod placeholders;
mod policy;
mod proxy;
mod repositories;
mod spawner;
mod unix_sockets;
mod violations;

use std::{
    ffi::OsString,
    fmt, io,
    net::TcpListener,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_core::{permission::CommandConfinement, spec::Environment, tool::FsGrant};
pub use windlass_engine::settings::{Ripgrep, SandboxFilesystem, SandboxNetwork, SandboxSettings};

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use self::other as system;
pub(crate) use self::policy::PROTECTED_IN_GIT;
pub(crate) use self::spawner::Spawner;
use self::{
    network::UnixSockets,
    placeholders::Placeholders,
    policy::{Policy, PolicyError},
    proxy::{Gate, Proxies, Refusals},
    repositories::Repositories,
    system::Kernel,
};
use crate::net::{DomainList, InvalidDomain};

/// A sandbox for commands. Cheap to clone; its resources are released with the last clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    settings: SandboxSettings,
    kernel: Kernel,
    lacks: Vec<Lack>,
    policy: Policy,
    domains: DomainList,
    proxies: Mutex<ProxyState>,
    refusals: Arc<Refusals>,
    placeholders: Placeholders,
    repositories: Repositories,
    /// The folder for temporary files of commands.
    temporary: tempfile::TempDir,
}

/// The proxies of the sandbox's network: started with the first command.
enum ProxyState {
    None,
    NotStarted(ProxySockets),
    Running(#[allow(dead_code, reason = "they run as long as this is kept")] Proxies),
}

/// The sockets inside of the sandbox on which the proxies listen.
#[derive(Debug)]
struct ProxySockets {
    http: TcpListener,
    socks: TcpListener,
}

/// Something that the kernel or system does not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lack {
    /// This system has no confinement.
    #[error("commands cannot be confined on this system: {0}")]
    System(String),
    /// No namespaces: files cannot be covered and networks cannot be separated.
    #[error(
        "{0}; files cannot be covered and no network can be separated without: allow unprivileged user namespaces"
    )]
    Namespaces(String),
    /// No seccomp filters.
    #[error("system calls cannot be filtered: {0}")]
    Filters(String),
    /// No Landlock.
    #[error(
        "the kernel has no Landlock: files are held by mounts alone, and a command may send signals to other processes of its user"
    )]
    Landlock,
    /// A setting requires something that is missing.
    #[error("`{0}` of the settings cannot be held without namespaces")]
    Setting(&'static str),
}

impl Lack {
    /// Whether the confinement also holds without it, with one layer less.
    fn is_second_layer(&self) -> bool {
        matches!(self, Self::Landlock)
    }
}

/// A sandbox cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A domain in the settings is invalid.
    #[error("`sandbox.network`: {0}")]
    Domain(String),
    /// A command in the settings is invalid.
    #[error("`sandbox.excludedCommands`: {0}")]
    Command(String),
    /// A path in the settings is invalid.
    #[error("`sandbox.filesystem`: {0}")]
    Path(String),
    /// The folder for temporary files cannot be created.
    #[error("there is no folder for the temporary files of confined commands: {0}")]
    Temporary(#[source] io::Error),
}

impl From<InvalidDomain> for SandboxError {
    fn from(error: InvalidDomain) -> Self {
        Self::Domain(error.to_string())
    }
}

/// A command cannot be confined and was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfineError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("the proxies of the sandbox cannot be started: {0}")]
    Proxies(io::Error),
}

impl Sandbox {
    /// Creates a sandbox and tests what the kernel supports: a child of this process confines itself and exits.
    ///
    /// The environment provides the base of relative paths in the settings, the home directory for `~/`, and
    /// windlass's own folders. The user's cache of compiled components is created if missing. It is hidden from
    /// commands together with the key of its seals, because its contents are executed.
    ///
    /// # Errors
    /// [`SandboxError`]: the settings are invalid. A feature that the kernel lacks is not an error: see [`lacks`](Self::lacks).
    pub fn new(
        settings: &SandboxSettings,
        environment: &Environment,
    ) -> Result<Self, SandboxError> {
        Self::closing(settings, environment, Vec::new())
    }

    /// Like [`new`](Self::new), but hides further existing paths.
    pub(crate) fn closing(
        settings: &SandboxSettings,
        environment: &Environment,
        mut closed: Vec<PathBuf>,
    ) -> Result<Self, SandboxError> {
        closed.extend(held_places());
        let network = &settings.network;
        let domains = DomainList::parse(&network.allowed_domains, &network.denied_domains)?;
        let policy = Policy::read(settings, environment, closed).map_err(SandboxError::Path)?;
        confinement(settings).map_err(SandboxError::Command)?;
        let temporary = tempfile::Builder::new()
            .prefix("windlass-")
            .tempdir_in(
                std::env::temp_dir()
                    .canonicalize()
                    .map_err(SandboxError::Temporary)?,
            )
            .map_err(SandboxError::Temporary)?;
        let (kernel, sockets) = Kernel::probe();
        let lacks = lacks(&kernel, settings);
        Ok(Self(Arc::new(Inner {
            settings: settings.clone(),
            kernel,
            lacks,
            policy,
            domains,
            proxies: Mutex::new(sockets.map_or(ProxyState::None, ProxyState::NotStarted)),
            refusals: Arc::default(),
            placeholders: Placeholders::default(),
            repositories: Repositories::default(),
            temporary,
        })))
    }

    /// What is missing: features that the settings require, and features that are only an additional layer.
    #[must_use]
    pub fn lacks(&self) -> &[Lack] {
        &self.0.lacks
    }

    /// Whether commands can be confined as the settings require.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.0.lacks.iter().all(Lack::is_second_layer)
    }

    /// What the core needs to know about the confinement.
    #[must_use]
    pub fn confinement(&self) -> CommandConfinement {
        // The settings were checked before.
        confinement(&self.0.settings).unwrap_or_default()
    }

    /// Prepares to start the processes of one command that may access the paths of a grant. Searches for hidden
    /// files, which may take a while if patterns must be compared with many names.
    pub(crate) fn spawner(&self, grant: &FsGrant) -> Result<Spawner, ConfineError> {
        // Records the existing repositories before the command can create one.
        self.repositories(grant);
        self.start_proxies().map_err(ConfineError::Proxies)?;
        Spawner::confined(self, grant)
    }

    /// The repositories of the granted folders, except those that a confined command may have created.
    pub(crate) fn repositories(&self, grant: &FsGrant) -> Vec<PathBuf> {
        self.0.repositories.of(grant)
    }

    fn start_proxies(&self) -> io::Result<()> {
        let mut state = self
            .0
            .proxies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let sockets = match std::mem::replace(&mut *state, ProxyState::None) {
            ProxyState::NotStarted(sockets) => sockets,
            as_it_was => {
                *state = as_it_was;
                return Ok(());
            }
        };
        let gate = Gate {
            domains: self.0.domains.clone(),
            own_http: self.0.settings.network.http_proxy_port,
            own_socks: self.0.settings.network.socks_proxy_port,
            refusals: Arc::clone(&self.0.refusals),
        };
        *state = ProxyState::Running(Proxies::start(sockets, gate)?);
        Ok(())
    }

    /// Environment variables that point programs to the folder for temporary files and the proxies.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = vec![("TMPDIR", self.0.temporary.path().into())];
        if self.0.kernel.has_namespaces() {
            let http = format!("http://127.0.0.1:{}", system::HTTP_PORT);
            let socks = format!("socks5h://127.0.0.1:{}", system::SOCKS_PORT);
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
                variables.push((name, http.clone().into()));
            }
            for name in ["ALL_PROXY", "all_proxy"] {
                variables.push((name, socks.clone().into()));
            }
            // Servers inside of the sandbox are reached directly.
            for name in ["NO_PROXY", "no_proxy"] {
                variables.push((name, "localhost,127.0.0.1,::1".into()));
            }
            variables.push(("NODE_USE_ENV_PROXY", "1".into()));
        }
        let owned = |(name, value): (&str, OsString)| (OsString::from(name), value);
        variables.into_iter().map(owned).collect()
    }

    fn temporary(&self) -> PathBuf {
        self.0.temporary.path().to_path_buf()
    }

    fn unix_sockets(&self) -> UnixSockets {
        let network = &self.0.settings.network;
        match network.allow_all_unix_sockets {
            Some(true) => UnixSockets::All,
            _ if network.allow_unix_sockets.is_empty() => UnixSockets::None,
            _ => UnixSockets::Some,
        }
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("settings", &self.0.settings)
            .field("lacks", &self.0.lacks)
            .finish_non_exhaustive()
    }
}

/// Paths that no confined command may read: the user's cache of compiled components and the key of its seals, which are
/// created if missing, and the folder of the user's plugins, with what they were granted and remember.
#[cfg(feature = "plugins")]
fn held_places() -> Vec<PathBuf> {
    let cache = crate::plugins::Cache::of_user();
    let mut places = cache.map(|cache| cache.places_made()).unwrap_or_default();
    let plugins = crate::plugins::plugins_of_user_made();
    places.extend(plugins.and_then(|folder| std::fs::canonicalize(folder).ok()));
    places
}

/// Without components, there is no such path.
#[cfg(not(feature = "plugins"))]
fn held_places() -> Vec<PathBuf> {
    Vec::new()
}

/// The missing features as one text.
pub(crate) fn in_words(lacks: &[Lack]) -> String {
    let words: Vec<String> = lacks.iter().map(ToString::to_string).collect();
    words.join("; ")
}

fn confinement(settings: &SandboxSettings) -> Result<CommandConfinement, String> {
    CommandConfinement::new(
        settings.auto_allows(),
        settings.allows_outside(),
        &settings.excluded_commands,
    )
}

/// What is missing for these settings. In a weaker sandbox namespaces may be missing, unless a setting requires them.
fn lacks(kernel: &Kernel, settings: &SandboxSettings) -> Vec<Lack> {
    let is_weaker =
        settings.enable_weaker_nested_sandbox == Some(true) && kernel.can_do_with_less();
    if kernel.has_namespaces() || !is_weaker {
        return kernel.lacks().to_vec();
    }
    let (files, network) = (&settings.filesystem, &settings.network);
    let needs = [
        (!files.deny_read.is_empty(), "filesystem.denyRead"),
        (!files.deny_write.is_empty(), "filesystem.denyWrite"),
        (
            !network.allowed_domains.is_empty(),
            "network.allowedDomains",
        ),
        (network.http_proxy_port.is_some(), "network.httpProxyPort"),
        (network.socks_proxy_port.is_some(), "network.socksProxyPort"),
        (
            network.allow_local_binding == Some(true),
            "network.allowLocalBinding",
        ),
        (
            !network.allow_unix_sockets.is_empty(),
            "network.allowUnixSockets",
        ),
    ];
    let needed = needs.into_iter().filter(|(is_asked_for, _)| *is_asked_for);
    needed.map(|(_, setting)| Lack::Setting(setting)).collect()
}
