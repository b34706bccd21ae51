//! Plugins that were installed: a lock file that says which they are and what they declare, and their files, by their digests.
//!
//! | what | where |
//! |---|---|
//! | the lock file | `windlass/plugins/installed.json` in the user's configuration directory |
//! | components | `windlass/plugins/components/<digest>.wasm` in the same directory |
//! | plugins that are folders | `windlass/plugins/<digest>/<name>/` in the user's data directory, where the model can read what its skills refer to |
//!
//! A session reads the lock file alone. The file of a component is read when it is first called and not in the cache of compiled
//! components, and is used only if its digest is the one in the lock file.

mod content;
mod details;
mod granted_component;
mod left_state;
mod lockfile;
mod remedy;
mod session_plugin;
mod store;
mod tree;

pub use content::PluginContent;
pub use granted_component::GrantedComponent;
pub use lockfile::{InstalledPlugin, LockedComponent, Lockfile};
pub(crate) use session_plugin::{SessionPlugin, SessionPlugins};
pub use store::{PluginStore, StoreChange, StoreError};
pub use tree::{PluginTree, TreeError, TreeFile};
