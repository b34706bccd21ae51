//! Loads components with tools, without running them.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use bytes::Bytes;
use wasmtime::component::Component;
use windlass_core::tool::ToolDefinition;

use super::{
    CallLimits, LogSink, UsageSink,
    authority::Bound,
    bench::Bench,
    cache::Cache,
    code::{Code, InstalledComponent},
    declaration::{Declaration, InstanceScope},
    engine::Runtime,
    idle_instances::IdleInstances,
    inspected::{ComponentBytes, InspectedComponent},
    limits::DeclaredLimits,
    linked::{Linked, Roles},
    load_fault::LoadError,
    log_sink::{LogLevel, LogLine},
    memory_budget::MemoryBudget,
    names::Resolver,
    network::Network,
    outcome::CallError,
    preparation::{Preparation, Unprepared},
    read::read,
    recorded::RecordedNetwork,
    secret::SecretSource,
    session_instance::SessionInstance,
};
use crate::files::Files;

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
    /// Where the values of granted secrets come from.
    pub secrets: SecretSource,
    /// The environment variables that components may be granted, in place of those of this process, for tests of plugins.
    pub variables: Option<Arc<BTreeMap<String, String>>>,
    /// Where durable state of plugins lies. No grant may reach it (give it to [`Files::new`]).
    pub state: Option<PathBuf>,
    /// How names of hosts become addresses.
    pub resolver: Resolver,
    /// Files (PEM) with authorities that servers of plugins' requests may be vouched for by, beside those that the system trusts.
    pub certificates: Vec<PathBuf>,
    /// Answers requests of components in place of the network, for tests of plugins: nothing is sent then.
    pub recorded: Option<RecordedNetwork>,
    /// How many instances of components wait for the next call of their session at most (those that declare `"instance": "session"`);
    /// 16 without a number. The longest idle one ends where there would be more.
    pub kept_instances: Option<usize>,
    /// How many bytes of linear memory all calls and hooks of components may have at one time; 2 GiB without a number. Each takes
    /// what its limits allow before it begins, and waits for it within its time; one component has at most half of all. An instance
    /// that waits for the next call of its session is not among them: those have half as much again at most.
    pub memory: Option<usize>,
}

/// Loads components and runs their calls. Cheap to clone; wasmtime starts with the first call.
#[derive(Clone)]
pub struct PluginHost {
    pub(super) config: Arc<PluginHostConfig>,
    pub(super) network: Arc<Network>,
    idle: Arc<IdleInstances>,
    pub(super) memory: Arc<MemoryBudget>,
    runtime: Arc<OnceLock<Result<Runtime, String>>>,
}

impl PluginHost {
    /// A host that has not started anything.
    #[must_use]
    pub fn new(config: PluginHostConfig) -> Self {
        let memory = MemoryBudget::new(config.memory);
        Self {
            network: Arc::new(Network::new(
                config.resolver.clone(),
                config.certificates.clone(),
                config.recorded.clone(),
            )),
            idle: Arc::new(IdleInstances::new(config.kept_instances, memory.most() / 2)),
            memory,
            config: Arc::new(config),
            runtime: Arc::default(),
        }
    }

    /// The cache of compiled components, if there is one.
    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.config.cache.as_ref()
    }

    /// Where durable state of plugins lies, if it may be granted.
    pub(crate) fn state(&self) -> Option<&Path> {
        self.config.state.as_deref()
    }

    /// Reads a component's declaration and checks its imports. Runs nothing.
    ///
    /// `name` is used in messages.
    ///
    /// # Errors
    /// [`LoadError`], with the component's name and what is wrong with it.
    pub fn load(&self, name: &str, bytes: impl Into<Bytes>) -> Result<Plugin, LoadError> {
        self.load_with(name, bytes.into(), Trust::None)
    }

    /// The same for a component that was read and inspected before: exactly its bytes are what is run.
    #[must_use]
    pub fn load_inspected(&self, name: &str, component: &InspectedComponent) -> Plugin {
        let declaration = component.inspection().declaration.clone();
        let code = Code::Read(Arc::clone(&component.bytes));
        self.declared(name, Arc::new(declaration), code, Trust::None)
    }

    /// The same for a component that is part of the host: the limits of the host are its own.
    pub(crate) fn load_trusted(
        &self,
        name: &str,
        bytes: impl Into<Bytes>,
    ) -> Result<Plugin, LoadError> {
        self.load_with(name, bytes.into(), Trust::Full)
    }

    fn load_with(&self, name: &str, bytes: Bytes, trust: Trust) -> Result<Plugin, LoadError> {
        let (declaration, _) = read(&bytes).map_err(|fault| LoadError {
            component: name.to_owned(),
            fault,
        })?;
        let bytes = Arc::new(ComponentBytes::of(bytes));
        Ok(self.declared(name, Arc::new(declaration), Code::Read(bytes), trust))
    }

    /// Takes a component at its declaration, which was read when it was installed; its code is read with its first call.
    #[must_use]
    pub fn load_installed(&self, name: &str, component: &InstalledComponent) -> Plugin {
        let code = Code::Installed(component.clone());
        let declaration = Arc::clone(&component.declaration);
        self.declared(name, declaration, code, Trust::None)
    }

    fn declared(
        &self,
        name: &str,
        declaration: Arc<Declaration>,
        code: Code,
        trust: Trust,
    ) -> Plugin {
        let limits = trust.limits(&self.config.limits, &declaration.limits);
        let tools = declaration.tools.iter();
        let sends = !declaration.grants.http.is_empty();
        let bound = Bound {
            tools: tools.map(|tool| tool.definition(&limits, sends)).collect(),
            ..Bound::default()
        };
        let instance = match declaration.instance {
            InstanceScope::Call => None,
            InstanceScope::Session => Some(Arc::new(SessionInstance::new(&self.idle))),
        };
        let loaded = Loaded {
            name: name.into(),
            code,
            declaration,
            limits,
            trust,
            host: self.clone(),
            prepared: Preparation::default(),
            bench: Bench::default(),
        };
        Plugin(Arc::new(loaded), bound, instance)
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

/// A loaded component, with what it was granted, in a session. Cheap to clone; a clone is of the same session.
#[derive(Clone)]
pub struct Plugin(
    pub(super) Arc<Loaded>,
    pub(super) Bound,
    /// What its tools run in, if they keep an instance.
    pub(super) Option<Arc<SessionInstance>>,
);

/// Whose a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// It is part of the host: its limits are those of the host, and it waits for nobody's memory.
    Full,
    /// Somebody else's.
    None,
}

impl Trust {
    fn limits(self, host: &CallLimits, declared: &DeclaredLimits) -> CallLimits {
        match self {
            Self::Full => CallLimits {
                host_calls: u32::MAX,
                ..host.clone()
            },
            Self::None => host.within(declared),
        }
    }
}

/// The data shared by clones of a [`Plugin`].
pub(super) struct Loaded {
    pub(super) name: Arc<str>,
    pub(super) code: Code,
    pub(super) declaration: Arc<Declaration>,
    /// Those of the host, as far as the plugin declares to need them.
    pub(super) limits: CallLimits,
    pub(super) trust: Trust,
    pub(super) host: PluginHost,
    prepared: Preparation,
    /// Whether it trapped too often to be run again.
    pub(super) bench: Bench,
}

impl Plugin {
    /// The name used in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The declared tools. They reach nothing until something is [`granted`](Self::granted).
    #[must_use]
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.1.tools
    }

    /// Compiles and links the component now instead of at its first call. Blocks, at most for the time that calls wait for it
    /// ([`CallLimits::compiling`]).
    ///
    /// # Errors
    /// Why the component cannot run, in one sentence.
    pub fn prepare(&self) -> Result<(), String> {
        match self.0.ready(|| false) {
            Ok(_) => Ok(()),
            Err(Unprepared::Failed(reason)) => Err(reason),
            Err(other) => Err(self.unprepared(other).to_string()),
        }
    }

    /// What is said of a component that is not ready.
    pub(super) fn unprepared(&self, fault: Unprepared) -> CallError {
        let component = self.name().to_owned();
        match fault {
            Unprepared::Failed(reason) => CallError::Unavailable { component, reason },
            Unprepared::Unfinished(after) => CallError::Compiling { component, after },
            Unprepared::Abandoned => CallError::Cancelled,
        }
    }

    /// The tools of a component that is part of the host: only rules decide about their files.
    pub(crate) fn trusted(&self) -> impl Iterator<Item = ToolDefinition> {
        self.1.tools.iter().map(|tool| ToolDefinition {
            grant: None,
            ..tool.clone()
        })
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.0.name)
            .field("code", &self.0.code)
            .finish_non_exhaustive()
    }
}

impl Loaded {
    /// The component, compiled and linked once. Waits for that as long as the limits let it, and until the caller gives up.
    ///
    /// # Errors
    /// [`Unprepared`].
    pub(super) fn ready(
        self: &Arc<Self>,
        gives_up: impl Fn() -> bool,
    ) -> Result<&Linked, Unprepared> {
        let start = || Preparation::begin(Arc::clone(self), |loaded| &loaded.prepared, Self::link);
        self.prepared.wait(self.limits.compiling, start, gives_up)
    }

    fn link(&self) -> Result<Linked, String> {
        let runtime = self.host.runtime()?;
        let engine = &runtime.engine;
        let cache = self.host.config.cache.as_ref();
        let roles = Roles::of(!self.declaration.tools.is_empty(), &self.declaration.hooks);
        let component = self.code.component(engine, cache, |error| {
            self.host.config.log.write(LogLine {
                component: &self.name,
                level: LogLevel::Warn,
                message: &error.to_string(),
                from_host: true,
            });
        });
        component
            .and_then(with_images)
            .and_then(|component| runtime.linker.instantiate_pre(&component))
            .and_then(|instance| Linked::new(&instance, roles))
            .map_err(|error| format!("{error:#}"))
    }
}

/// How often the images of a component's memories are tried, and how long is waited in between.
const IMAGE_TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Makes the images from which memories of instances begin. wasmtime makes them with the first instance, in files in memory that it
/// seals; where the kernel holds a page of one at that moment, sealing fails (`EBUSY`), and so would the first call.
fn with_images(component: Component) -> wasmtime::Result<Component> {
    let mut tries = 1;
    loop {
        match component.initialize_copy_on_write_image() {
            Ok(()) => return Ok(component),
            Err(error) if tries == IMAGE_TRIES => return Err(error),
            Err(_) => thread::sleep(BETWEEN_TRIES),
        }
        tries += 1;
    }
}
