//! Loads components with tools, without running them.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use wasmparser::{ComponentTypeRef, Parser, Payload};
use windlass_builtin::DeclarationError;
use windlass_core::tool::{Access, PluginGrant, ToolDefinition};

use super::{
    CallLimits, LogSink, UsageSink,
    bench::Bench,
    cache::Cache,
    declaration::{Declaration, DeclaredTool},
    declared_hook::{self, DeclaredHook, HookFault},
    engine::Runtime,
    host::{LogLevel, LogLine},
    limits::DeclaredLimits,
    linked::{Linked, Roles},
    wasi,
};
use crate::files::Files;

/// The maximum size of a component in bytes: a Python interpreter with its library has 18 MB.
pub(crate) const MAX_COMPONENT: usize = 128 << 20;

/// The maximum number of tools that a component may declare.
const MAX_TOOLS: usize = 128;

/// The interfaces that a component may import, without their version.
const IMPORTS: [&str; 6] = [
    "windlass:host/types",
    "windlass:host/filesystem",
    "windlass:host/http",
    "windlass:host/log",
    "windlass:plugin/types",
    "windlass:plugin/hooks",
];

/// The supported version of `wit/`; patch versions are compatible.
const WIT: &str = "0.1.";

/// Settings shared by all components of a host.
#[derive(Debug, Clone, Default)]
pub struct PluginHostConfig {
    /// The cache of compiled components; without one, every process compiles them again.
    pub cache: Option<Cache>,
    /// Limits of one call.
    pub limits: CallLimits,
    /// Resolves paths.
    pub files: Arc<Files>,
    /// Receives log lines of components, and refusals.
    pub log: LogSink,
    /// Receives what each call used, if anybody wants to know.
    pub usage: Option<UsageSink>,
}

/// Loads components and runs their calls. Cheap to clone; wasmtime starts with the first call.
#[derive(Clone)]
pub struct PluginHost {
    pub(super) config: Arc<PluginHostConfig>,
    runtime: Arc<OnceLock<Result<Runtime, String>>>,
}

impl PluginHost {
    /// A host that has not started anything.
    #[must_use]
    pub fn new(config: PluginHostConfig) -> Self {
        Self {
            config: Arc::new(config),
            runtime: Arc::default(),
        }
    }

    /// The cache of compiled components, if there is one.
    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.config.cache.as_ref()
    }

    /// Reads a component's declaration and checks its imports. Runs nothing.
    ///
    /// `name` is used in messages.
    ///
    /// # Errors
    /// [`LoadError`], with the component's name and what is wrong with it.
    pub fn load(&self, name: &str, bytes: impl Into<Bytes>) -> Result<Plugin, LoadError> {
        self.load_with(name, bytes.into(), |limits, declared| {
            limits.within(declared)
        })
    }

    /// The same for a component that is part of the host: the limits of the host are its own.
    pub(crate) fn load_trusted(
        &self,
        name: &str,
        bytes: impl Into<Bytes>,
    ) -> Result<Plugin, LoadError> {
        self.load_with(name, bytes.into(), |limits, _| limits.clone())
    }

    fn load_with(
        &self,
        name: &str,
        bytes: Bytes,
        limits: impl Fn(&CallLimits, &DeclaredLimits) -> CallLimits,
    ) -> Result<Plugin, LoadError> {
        let (declaration, _) = read(&bytes).map_err(|fault| LoadError {
            component: name.to_owned(),
            fault,
        })?;
        let access = declaration.grants.filesystem.access();
        let limits = limits(&self.config.limits, &declaration.limits);
        let tools = declaration.tools.into_iter();
        let tools = tools.map(|tool| tool.into_definition(&limits)).collect();
        Ok(Plugin(Arc::new(Loaded {
            name: name.into(),
            bytes,
            tools,
            hooks: declaration.hooks,
            access,
            limits,
            host: self.clone(),
            ready: OnceLock::new(),
            bench: Bench::default(),
        })))
    }

    /// Whether wasmtime was started, which happens with the first call.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.runtime.get().is_some()
    }

    pub(super) fn runtime(&self) -> Result<&Runtime, &str> {
        let started = self.runtime.get_or_init(|| {
            match self.config.usage {
                Some(_) => Runtime::start_counting(),
                None => Runtime::start(),
            }
            .map_err(|error| format!("wasmtime does not start: {error:#}"))
        });
        started.as_ref().map_err(String::as_str)
    }
}

impl fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginHost")
            .field("config", &self.config)
            .field("has_started", &self.has_started())
            .finish_non_exhaustive()
    }
}

/// A loaded component. Cheap to clone.
#[derive(Clone)]
pub struct Plugin(pub(super) Arc<Loaded>);

/// The data shared by clones of a [`Plugin`].
pub(super) struct Loaded {
    pub(super) name: Arc<str>,
    bytes: Bytes,
    tools: Vec<ToolDefinition>,
    pub(super) hooks: Vec<DeclaredHook>,
    /// The access to files that it declares at most.
    pub(super) access: Option<Access>,
    /// Those of the host, as far as the plugin declares to need them.
    pub(super) limits: CallLimits,
    pub(super) host: PluginHost,
    ready: OnceLock<Result<Linked, String>>,
    /// Whether it trapped too often to be run again.
    pub(super) bench: Bench,
}

impl Plugin {
    /// The name used in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The declared tools. They reach no file: [`granted`](Self::granted) has them with a grant.
    #[must_use]
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.0.tools
    }

    /// The tools with the files that they may reach: what is granted, as far as the plugin declares to need it.
    pub fn granted(&self, grant: &PluginGrant) -> impl Iterator<Item = ToolDefinition> {
        let grant = grant.clone().within(self.0.access);
        self.0.tools.iter().map(move |tool| ToolDefinition {
            grant: Some(grant.clone()),
            ..tool.clone()
        })
    }

    /// The tools of a component that is part of the host: only rules decide about their files.
    pub(crate) fn trusted(&self) -> impl Iterator<Item = ToolDefinition> {
        self.0.tools.iter().map(|tool| ToolDefinition {
            grant: None,
            ..tool.clone()
        })
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.0.name)
            .field("bytes", &self.0.bytes.len())
            .finish_non_exhaustive()
    }
}

impl Loaded {
    /// Compiles and links the component once.
    pub(super) fn ready(&self) -> Result<&Linked, &str> {
        let ready = self.ready.get_or_init(|| self.link());
        ready.as_ref().map_err(String::as_str)
    }

    fn link(&self) -> Result<Linked, String> {
        let runtime = self.host.runtime()?;
        let engine = &runtime.engine;
        let component = match &self.host.config.cache {
            Some(cache) => cache.component(engine, &self.bytes, |error| {
                self.host.config.log.write(LogLine {
                    component: &self.name,
                    level: LogLevel::Warn,
                    message: &error.to_string(),
                    from_host: true,
                });
            }),
            None => wasmtime::component::Component::from_binary(engine, &self.bytes),
        };
        component
            .and_then(|component| runtime.linker.instantiate_pre(&component))
            .and_then(|instance| Linked::new(&instance, Roles::of(&self.tools, &self.hooks)))
            .map_err(|error| format!("{error:#}"))
    }
}

/// A component could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the component `{component}` cannot be loaded: {fault}")]
pub struct LoadError {
    /// Its name.
    pub component: String,
    /// What is wrong with it.
    pub fault: LoadFault,
}

/// What is wrong with a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadFault {
    /// The component is too large.
    #[error("it has {0} bytes, more than the limit of {MAX_COMPONENT}")]
    TooLarge(usize),
    /// Not a component, or one that declares no tools.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The declaration is malformed.
    #[error("its declaration cannot be read: {0}; wit/README.md describes every field")]
    DeclarationShape(String),
    /// It was made for another version of the interfaces.
    #[error("it was made for version {0} of the interfaces, this host speaks {WIT}x")]
    Version(String),
    /// The Messages API does not accept the name of a tool.
    #[error("the tool name `{0}` is not made of 1 to 64 letters, digits, `_` and `-`")]
    ToolName(String),
    /// A tool takes the name of one that rules are written for.
    #[error(
        "it declares a tool `{0}`, which is the name of a tool of windlass, of Claude Code or of an MCP server: rules for that one would hold for it, so it needs another name"
    )]
    ReservedName(String),
    /// Two tools have the same name.
    #[error("it declares the tool `{0}` twice")]
    RepeatedTool(String),
    /// The schema of a tool is not a JSON object.
    #[error("the input schema of the tool `{0}` is not a JSON object")]
    ToolSchema(String),
    /// It has too many tools.
    #[error("it declares {0} tools; at most {MAX_TOOLS} are possible")]
    ToolCount(usize),
    /// It has nothing that could be run.
    #[error("it declares neither a tool nor a hook")]
    Nothing,
    /// Its hooks cannot be used.
    #[error(transparent)]
    Hook(#[from] HookFault),
    /// It is damaged after the declaration.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It imports something that is not provided.
    #[error(
        "it imports `{0}`, which this host does not hand out; there are the interfaces of windlass:host, and of WASI 0.2 those of files, streams, clocks, random and cli"
    )]
    Import(String),
    /// It has no function to call.
    #[error(
        "it declares tools and does not export the function `call` of the world windlass:plugin/tools"
    )]
    NoCall,
}

/// Reads a component's declaration and checks what it imports and exports. Runs nothing.
pub(super) fn read(bytes: &[u8]) -> Result<(Declaration, Vec<String>), LoadFault> {
    if bytes.len() > MAX_COMPONENT {
        return Err(LoadFault::TooLarge(bytes.len()));
    }
    let text = windlass_builtin::declaration(bytes)?;
    // Before the rest, which another version may spell in another way.
    let Version { wit } = from_str(text)?;
    if !wit.starts_with(WIT) {
        return Err(LoadFault::Version(wit));
    }
    let declaration: Declaration = from_str(text)?;
    if declaration.tools.is_empty() && declaration.hooks.is_empty() {
        return Err(LoadFault::Nothing);
    }
    check_tools(&declaration.tools)?;
    declared_hook::check(&declaration.hooks)?;
    let (imports, exports) = check_interfaces(bytes)?;
    if !declaration.tools.is_empty() && !exports.iter().any(|name| name == "call") {
        return Err(LoadFault::NoCall);
    }
    declared_hook::check_exports(&declaration.hooks, &exports)?;
    Ok((declaration, imports))
}

fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, LoadFault> {
    serde_json::from_str(text).map_err(|error| LoadFault::DeclarationShape(error.to_string()))
}

#[derive(Deserialize)]
struct Version {
    wit: String,
}

fn check_tools(tools: &[DeclaredTool]) -> Result<(), LoadFault> {
    if tools.len() > MAX_TOOLS {
        return Err(LoadFault::ToolCount(tools.len()));
    }
    for (index, tool) in tools.iter().enumerate() {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !(1..=64).contains(&tool.name.len()) || !tool.name.chars().all(letters) {
            return Err(LoadFault::ToolName(tool.name.clone()));
        }
        if tools[..index].iter().any(|t| t.name == tool.name) {
            return Err(LoadFault::RepeatedTool(tool.name.clone()));
        }
        if !tool.input_schema.is_object() {
            return Err(LoadFault::ToolSchema(tool.name.clone()));
        }
    }
    Ok(())
}

/// Checks the outer component's imports by name, and returns the imported interfaces and the names of what it exports. wasmtime
/// checks the types later.
fn check_interfaces(bytes: &[u8]) -> Result<(Vec<String>, Vec<String>), LoadFault> {
    let damaged = |error: wasmparser::BinaryReaderError| LoadFault::Damaged(error.to_string());
    let mut depth = 0_u32;
    let mut exported = Vec::new();
    let mut imported = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(damaged)? {
            // Nested components see only what the outer one passes on.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    let import = import.map_err(damaged)?;
                    if matches!(import.ty, ComponentTypeRef::Type(_)) {
                        // A type that the world refers to by name, not a function.
                        continue;
                    }
                    let name = import.name.name;
                    let interface = name.split_once('@').map_or(name, |(i, _)| i);
                    if !IMPORTS.contains(&interface) && !wasi::is_linked(name) {
                        return Err(LoadFault::Import(name.to_owned()));
                    }
                    imported.push(name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports {
                    exported.push(export.map_err(damaged)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok((imported, exported))
}
