//! Why a plugin is not installed, updated or removed.

use std::{io, path::PathBuf};

use windlass::{
    http::{DownloadError, EndpointError},
    plugins::{GrantError, GrantFileError, LoadError, LoadFault, StoreError, TreeError},
};
use windlass_engine::plugin::PluginError;

use crate::cli::plugin::error::AuthorError;

/// The longest version that a folder names, in bytes: as long as that of a component.
pub(super) const LONGEST_VERSION: usize = 64;

/// What went wrong, where, and what to do. What is installed is as it was before.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    /// The source is none.
    #[error("`{0}`: {1}")]
    Source(String, &'static str),
    /// A file cannot be read.
    #[error("`{}`: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A folder cannot be installed.
    #[error("{0}")]
    Folder(#[from] TreeError),
    /// A file could not be downloaded.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// A registry cannot be spoken to.
    #[error("{0}")]
    Endpoint(#[from] EndpointError),
    /// What is there is something else.
    #[error(
        "{source_text} has the digest {found}, not {expected}. It is another file than the one that was meant. Ask its author, by another way than this one, which digest is right: a new version has its own, to be named with --digest"
    )]
    Digest {
        /// Where it is.
        source_text: String,
        /// What was expected.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Nothing says which file is meant.
    #[error(
        "{0} names no digest: add #sha256=… to the address, or --digest, as its author publishes it, or --key if the author signs"
    )]
    NoDigest(String),
    /// A digest is none.
    #[error("`{0}` is no digest: write sha256: and 64 hexadecimal digits, or the digits alone")]
    NotDigest(String),
    /// A component would not be loaded.
    #[error("{0} cannot be installed: {fault}", fault = .1.with_remedy())]
    Refused(String, LoadFault),
    /// A folder is no plugin.
    #[error("{0}")]
    Plugin(#[from] PluginError),
    /// A folder has nothing that could be installed.
    #[error(
        "{folder} is no plugin: it has neither a .claude-plugin/plugin.json nor any of {places}"
    )]
    NotPlugin {
        /// The folder.
        folder: String,
        /// What could be in it.
        places: String,
    },
    /// A folder has nothing for a session yet.
    #[error("{0} has sources and was not built: `windlass plugin build` makes its component")]
    NotBuilt(String),
    /// A folder has a version that cannot be shown on a line.
    #[error(
        "the version `{0}` in .claude-plugin/plugin.json is not made of 1 to {LONGEST_VERSION} visible ASCII characters: its author has to change it"
    )]
    Version(String),
    /// A plugin has this name.
    #[error(
        "the plugin {name} is installed already, from {from}: `windlass plugin update {name} --from {new}` replaces it"
    )]
    Exists {
        /// Its name.
        name: String,
        /// Where that comes from.
        from: String,
        /// Where this one comes from.
        new: String,
    },
    /// Another plugin has such a tool.
    #[error(
        "it has the tool {tool}, which the installed plugin {plugin} has already. `windlass plugin remove {plugin}` makes room"
    )]
    Tool {
        /// The tool.
        tool: String,
        /// The plugin that has it.
        plugin: String,
    },
    /// A component of another plugin has such a name.
    #[error(
        "{name} is the name of the installed plugin {plugin} or of a component of it: what is granted to one could not be told from what is granted to the other. `windlass plugin remove {plugin}` makes room"
    )]
    Component {
        /// The name.
        name: String,
        /// The plugin that has it.
        plugin: String,
    },
    /// Two components of a folder have such a name.
    #[error(
        "{component} declares the name {name}, which another component of the plugin declares already: what is granted to one could not be told from what is granted to the other: remove the file that is not wanted, such as an older build, or have its author name it otherwise"
    )]
    ComponentTwice {
        /// The name.
        name: String,
        /// The second component that has it.
        component: String,
    },
    /// Two components of a folder have such a tool.
    #[error(
        "{component} has the tool {tool}, which another component of the plugin has already, so no session would load it: remove the file that is not wanted, such as an older build"
    )]
    ToolTwice {
        /// The tool.
        tool: String,
        /// The second component that has it.
        component: String,
    },
    /// An update is another plugin.
    #[error(
        "{from} is the plugin {found} now, not {name}. `windlass plugin add` installs it beside"
    )]
    Renamed {
        /// The installed plugin.
        name: String,
        /// What is there now.
        found: String,
        /// Where.
        from: String,
    },
    /// An update would go back.
    #[error(
        "{name} is {found} there now, older than {installed}, which is installed. An old version may have faults that were mended since; --digest {digest} installs it all the same"
    )]
    Older {
        /// The plugin.
        name: String,
        /// The version that is there now.
        found: String,
        /// The version that is installed.
        installed: String,
        /// The digest of what is there now.
        digest: String,
    },
    /// There is no such plugin.
    #[error("no plugin `{0}` is installed: `windlass plugin list --installed` says which are")]
    NotInstalled(String),
    /// There is nothing of that name that could be granted something.
    #[error(
        "`{0}` is no component file, and no plugin or component of that name is installed: `windlass plugin list --installed` says which are"
    )]
    NoComponent(String),
    /// Components of several plugins have one name.
    #[error(
        "{name} is the name of a component of each of the plugins {}: `windlass plugin remove` the one that should not have it", .plugins.join(", ")
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// The plugins.
        plugins: Vec<String>,
    },
    /// A plugin has more than one component, or none.
    #[error("{name} is a plugin {}", several(.components))]
    Several {
        /// The plugin.
        name: String,
        /// The names of its components.
        components: Vec<String>,
    },
    /// A plugin runs nothing with the rights of the user.
    #[error("{0} has neither hooks nor MCP servers that would run with your rights")]
    NoPrograms(String),
    /// What should not run any more does not run.
    #[error("`--programs` is not granted to {0}, whose hooks and servers do not run")]
    NotRunning(String),
    /// A key is none.
    #[error(
        "`{0}` is no public key: name a file of minisign (.pub) or, for a registry, of cosign (P-256, PEM), or the key itself"
    )]
    Key(String),
    /// A signature is missing, or not that of the key.
    #[error("{source_text} is not signed by the key {key}: {reason}")]
    Signature {
        /// What should be signed.
        source_text: String,
        /// The key.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// A registry cannot be used.
    #[error("{source_text}: {reason}")]
    Registry {
        /// The artifact.
        source_text: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// What is known of a person at a registry cannot be used.
    #[error("the login for {registry}: {reason}")]
    Login {
        /// The registry.
        registry: String,
        /// What is wrong.
        reason: String,
    },
    /// A registry has something else.
    #[error("{0} is no plugin: {1}")]
    Artifact(String, String),
    /// What is granted is not asked for.
    #[error("{0}: grant what it asks for, and no more (`windlass plugin check` says what that is)")]
    Grant(#[from] GrantError),
    /// It takes a person.
    #[error(transparent)]
    Person(#[from] AuthorError),
    /// Nowhere to keep plugins.
    #[error("there is no home directory to keep plugins in: set HOME")]
    NoHome,
    /// The installed plugins cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An installed plugin would not be loaded any more.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The grants cannot be used.
    #[error(transparent)]
    GrantFile(#[from] GrantFileError),
    /// JSON cannot be written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What can be granted to the components of a plugin, and how.
fn several(components: &[String]) -> String {
    match components.is_empty() {
        true => "without components, and only they are granted something. `--programs` lets its hooks and MCP servers run".to_owned(),
        false => format!(
            "with several components, and each is granted something by its own name: {}",
            components.join(", ")
        ),
    }
}

impl InstallError {
    /// Adds the path to an error of the system.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
