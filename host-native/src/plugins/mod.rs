//! Tools and hooks that are WASM components, run in wasmtime.
//!
//! [`PluginHost::load`] reads a component's declaration and imports without starting wasmtime; the engine is created
//! with the first call. Every call has a fresh instance in its own store (or one for its session,
//! if the component declares that), a deadline, a memory limit and an output
//! limit, and can access only what its grant names: directories per call, and for the plugin as a whole what a
//! [`ComponentGrant`] holds, as far as its declaration asks for it.

mod asked;
mod asks;
mod author;
mod authority;
mod bench;
mod bindings;
mod builds;
mod cache;
mod call;
mod call_state;
mod code;
mod code_check;
mod compiled;
mod component;
mod declaration;
mod declared_hook;
mod disguise;
mod engine;
mod grant;
mod granted;
mod hook;
mod hook_trial;
mod host;
mod http_calls;
mod idle_instances;
mod inspect;
mod inspected;
mod installed;
mod judgement;
mod kept_grants;
mod left;
mod limits;
mod linked;
mod load_fault;
mod log_sink;
mod memory_budget;
mod memory_for_run;
mod names;
mod network;
mod off_thread;
mod origin;
mod other_calls;
mod outcome;
mod preparation;
mod progress;
mod read;
mod recorded;
mod resources;
mod result;
mod role;
mod role_directories;
mod seal;
mod secret;
mod secret_calls;
mod session_instance;
mod state;
mod ticker;
mod tool_instance;
mod usage;
mod user_folder;
mod wasi;

pub use asked::{AskedFault, DeclaredSecret};
pub use author::{AuthorError, with_declaration, with_declaration_of};
pub use builds::KnownBuilds;
pub use cache::{Cache, CacheError};
pub use code::{InstalledComponent, read_component};
pub use component::{Plugin, PluginHost, PluginHostConfig};
pub use declaration::{Declaration, DeclaredAccess, DeclaredGrants, DeclaredTool, InstanceScope};
pub use declared_hook::{DeclaredHook, DeclaredHookKind, HookFault};
pub use grant::{ComponentGrant, GrantError};
pub(crate) use hook::{HookTerms, PluginHook};
pub use inspect::Inspection;
pub use inspected::{InspectError, InspectedComponent, is_component_file};
pub use installed::{
    GrantedComponent, InstalledPlugin, LockedComponent, Lockfile, PluginContent, PluginStore,
    PluginTree, StoreChange, StoreError, TreeError, TreeFile,
};
pub(crate) use installed::{SessionPlugin, SessionPlugins};
pub use kept_grants::{GrantFile, GrantFileError, KeptGrant, KeptGrants};
pub use limits::{CallLimits, DeclaredLimits};
pub use load_fault::{LoadError, LoadFault, MAX_COMPONENT};
pub use log_sink::{LogLevel, LogLine, LogSink};
pub use names::Resolver;
pub use origin::{InvalidOrigin, Method, Origin, OriginMethods};
pub use recorded::{RecordedAnswer, RecordedNetwork, RecordedRequest};
pub use role::{DeclaredDirectory, RoleDirectory};
pub(crate) use role_directories::ClosedPlaces;
pub use secret::{SHORTEST as SHORTEST_SECRET, SecretRequest, SecretSource};
pub use state::StateScope;
pub(crate) use state::state_of_user;
pub use usage::{CallUsage, UsageSink};
pub(crate) use user_folder::{plugins_of_user, plugins_of_user_made};
