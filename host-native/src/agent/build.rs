//! Builds an agent from what its builder was given: everything is checked here, and nothing is started.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use etcetera::BaseStrategy as _;
use windlass_core::{
    agent::AgentProfile,
    context::SystemPrompt,
    money::Usd,
    permission::{LayerError, Layered, Mode, Rule, literal_pattern, misnamed},
    price::Catalogue,
    spec::{Environment, ModelSpec, PermissionPolicy, Spec},
    tool::ToolDefinition,
    tools::CoreTool,
};
use windlass_engine::models::ModelTable;
use windlass_engine::settings::LoadedSettings;

use super::{
    Agent, AgentBuilder, BuildError, McpServer, Parts, Project,
    builtin::{Selection, With},
    of_files::OfFiles,
    offered_hook,
    offered_tool::OfferedTool,
    places, settings,
};
#[cfg(unix)]
use crate::bash::OutputDirectory;
use crate::{
    files::real_path,
    host::Transport,
    http::{Auth, DEFAULT_BASE_URL, EndpointConfig, ModelEndpoint},
    os,
    project_config::Words,
    sandbox::{Lack, Sandbox, in_words},
    store::SharedStore,
    web::{SideModels, WebTools},
};

/// How the model is reached.
struct ModelAccess {
    transport: Arc<dyn Transport>,
    /// The value of `apiKeySource` in `system/init`.
    key_source: &'static str,
    /// Certificates that are trusted besides those of the system.
    certificates: Vec<PathBuf>,
}

impl AgentBuilder {
    /// Checks everything and makes the agent. Connects to nothing and starts nothing.
    ///
    /// # Errors
    /// [`BuildError`]: the first thing that is wrong.
    pub fn build(mut self) -> Result<Agent, BuildError> {
        let ModelAccess {
            transport,
            key_source,
            certificates,
        } = self.model_access()?;
        self.resumes.check(self.store.is_some())?;
        let mut spec = std::mem::take(&mut self.spec);
        spec.policy.persist = self.store.is_some();
        let cwd = real_directory("cwd", self.cwd.as_deref().unwrap_or(Path::new(".")))?;
        let mut project_config = self.take_project_config(Path::new(&cwd))?;
        let mut warnings = Vec::new();
        #[cfg(all(unix, feature = "mcp"))]
        if let Some(project_config) = &project_config {
            warnings.extend(self.start_servers(project_config, Path::new(&cwd)));
        }
        let environment = self.environment(cwd)?;
        let files = project_config.as_ref().map(|it| &it.found.settings);
        let complaint = |error: &LayerError| match files {
            Some(files) => files.complaint(error),
            None => error.to_string(),
        };
        let layered = self.layered(&environment, complaint)?;
        let is_auto_disabled = files.is_some_and(LoadedSettings::disables_auto_mode)
            || (self.layers.iter())
                .any(|it| it.settings.disable_auto_mode.as_deref() == Some("disable"));
        warnings.extend(layered.unusable.iter().map(complaint));
        let environment = with_directories(environment, &layered.directories);
        spec.policy.permissions =
            self.permission_policy(spec.policy.permissions, layered, is_auto_disabled)?;
        spec.model.catalogue = self.prices(spec.model.catalogue)?;
        ModelTable::built_in().give_to(&mut spec);
        if let Some(given) = self.budget {
            spec.policy.limits.max_budget = Some(dollars(given)?);
        }
        spec.prompt.system = self.system(spec.prompt.system);
        spec.environment = environment;
        if let Some(project_config) = &mut project_config {
            warnings.extend(settings::apply(project_config, &mut spec));
        }
        for (name, definition) in std::mem::take(&mut self.agents) {
            spec.tools.agents.add(AgentProfile::new(&name, definition)?);
        }
        let mcp_servers = self.mcp_servers.iter().map(McpServer::listed).collect();
        let has_all_builtin = self.builtin == Selection::All;
        let (sandbox, sandbox_lacks) = self.confined(&spec.environment)?;
        let web = self.web_tools(&spec.model, &transport, certificates)?;
        #[cfg(unix)]
        let outputs = self.outputs.take().unwrap_or_else(OutputDirectory::new);
        let with = With {
            sandbox: sandbox.as_ref(),
            variables: &self.variables.clone(),
            web: &web,
            #[cfg(unix)]
            outputs: &outputs,
        };
        let OfFiles {
            tools: offered,
            hooks,
            infos: plugins,
        } = self.offered(&spec.environment, &with)?;
        offered_hook::register(hooks, &mut self.hooks, &mut spec.policy.hooks);
        spec.policy.permissions.confinement = sandbox.as_ref().map(Sandbox::confinement);
        spec.environment = Environment {
            transcript: (self.store.as_ref()).map_or_else(String::new, SharedStore::place_of_any),
            plugins,
            mcp_servers,
            api_key_source: key_source.to_owned(),
            ..spec.environment
        };
        if let Some(style) = &spec.prompt.output_style {
            spec.environment.output_style.clone_from(&style.name);
        }
        let mut tools = BTreeMap::new();
        let mut definitions = Vec::with_capacity(offered.len());
        for tool in offered {
            let name = tool.definition.name.clone();
            if !is_tool_name(&name) {
                return Err(BuildError::ToolName { name });
            }
            // The specification is searched in line: it gets the tools when all were looked up.
            let is_taken = spec.tool(&name).is_some() || tools.contains_key(&name);
            if is_taken {
                return Err(BuildError::DuplicateTool { name });
            }
            #[cfg(unix)]
            if tool.definition.command_param.is_some() {
                let rule = readable(outputs.path());
                spec.policy.permissions.rules.allow.extend(rule);
            }
            tools.insert(name, tool.runner);
            definitions.push(tool.definition);
        }
        spec.tools.definitions.extend(definitions);
        let can_detach = |tool: &ToolDefinition| tool.background_param.is_some();
        if has_all_builtin && spec.tools.definitions.iter().any(can_detach) {
            // These tools read and stop background tasks.
            spec.offer([CoreTool::TaskOutput, CoreTool::TaskStop]);
        }
        refuse_misspelt(&spec)?;
        if let Some(name) = &self.run_as {
            spec = spec.run_as(name)?;
        }
        let spec = Arc::new(spec);
        let project = project_config.map(|it| Project {
            files: Arc::new(it.found.project),
            is_trusted: it.found.is_trusted,
            runs_programs: it.found.runs_programs,
        });
        Ok(Agent {
            parts: Arc::new(Parts {
                spec,
                spec_of_sessions: OnceLock::new(),
                variables: self.variables,
                project: project.unwrap_or_default(),
                file_checkpoints: self.file_checkpoints,
                transport,
                tools: Arc::new(tools),
                hooks: Arc::new(self.hooks),
                permission: self.permission,
                on_message: self.on_message,
                record: self.record,
                session_id: self.session_id,
                #[cfg(all(unix, feature = "mcp"))]
                outside_servers: self.outside_servers,
                web,
                store: self.store,
                resumes: self.resumes,
                seed: self.seed,
                sandbox_lacks,
                warnings,
            }),
        })
    }

    fn model_access(&mut self) -> Result<ModelAccess, BuildError> {
        if let Some(transport) = self.transport.take() {
            return Ok(ModelAccess {
                transport,
                key_source: "none",
                certificates: Vec::new(),
            });
        }
        let is_elsewhere = self.base_url.is_some() || self.endpoint.is_some();
        let mut config = self.endpoint.take().unwrap_or_else(|| {
            EndpointConfig::new(DEFAULT_BASE_URL, Auth::None).with_extra_ca_of_environment()
        });
        if let Some(url) = self.base_url.take() {
            config.base_url = url;
        }
        if let Some(auth) = self.auth.take() {
            config.auth = auth;
        }
        let has_key = !matches!(config.auth, Auth::None);
        if !has_key && !is_elsewhere {
            return Err(BuildError::MissingKey);
        }
        let endpoint = ModelEndpoint::new(&config)?;
        #[cfg(feature = "engine")]
        let endpoint = match self.redactor.take() {
            Some(redactor) => endpoint.redacting(redactor),
            None => endpoint,
        };
        Ok(ModelAccess {
            transport: Arc::new(endpoint),
            key_source: if has_key { "user" } else { "none" },
            certificates: config.extra_ca,
        })
    }

    /// The tools that ask a model, whether they are offered or not.
    fn web_tools(
        &mut self,
        model: &ModelSpec,
        transport: &Arc<dyn Transport>,
        certificates: Vec<PathBuf>,
    ) -> Result<WebTools, BuildError> {
        let models = SideModels {
            transport: Arc::clone(transport),
            spec: model.clone(),
            small: self.small_fast_model.take(),
        };
        let tools = WebTools::new(models, &self.web_private_hosts, certificates);
        tools.map_err(|error| BuildError::PrivateHost(error.to_string()))
    }

    /// The merged permissions of the settings files.
    fn layered(
        &self,
        environment: &Environment,
        complaint: impl Fn(&LayerError) -> String,
    ) -> Result<Layered, BuildError> {
        Layered::of(&self.layers, environment).map_err(|faults| {
            let words: Vec<String> = faults.iter().map(complaint).collect();
            BuildError::PermissionSettings(words.join("; "))
        })
    }

    fn permission_policy(
        &self,
        policy: PermissionPolicy,
        layered: Layered,
        is_auto_disabled: bool,
    ) -> Result<PermissionPolicy, BuildError> {
        let as_root = os::is_root();
        let mode = match self.mode.or(layered.mode).unwrap_or_default() {
            Mode::Auto if is_auto_disabled => Mode::Default,
            mode => mode,
        };
        // A settings file that may set the mode may also allow it.
        let opened = self.bypass || self.mode.is_none() && layered.mode == Some(mode);
        if mode == Mode::BypassPermissions {
            if !opened {
                return Err(BuildError::BypassNotAllowed);
            }
            if layered.bypass_disabled {
                return Err(BuildError::BypassDisabled);
            }
            if as_root {
                return Err(BuildError::BypassAsRoot);
            }
        }
        let mut all = layered.rules;
        all.allow.splice(0..0, rules("allowed_tools", &self.allow)?);
        all.ask.splice(0..0, rules("ask_tools", &self.ask)?);
        all.deny
            .splice(0..0, rules("disallowed_tools", &self.deny)?);
        let may_bypass = self.bypass || mode == Mode::BypassPermissions;
        Ok(PermissionPolicy {
            mode,
            rules: all,
            can_ask: self.permission.is_some(),
            allow_bypass: may_bypass && !as_root && !layered.bypass_disabled,
            ..policy
        })
    }

    fn prices(&self, mut catalogue: Catalogue) -> Result<Catalogue, BuildError> {
        for path in &self.price_files {
            let text = fs::read_to_string(path).map_err(|error| BuildError::PriceFile {
                path: path.clone(),
                reason: error.to_string(),
            })?;
            catalogue = catalogue
                .with_file(&text)
                .map_err(|error| BuildError::PriceFileForm {
                    path: path.clone(),
                    error,
                })?;
        }
        Ok(catalogue)
    }

    fn system(&mut self, prompt: SystemPrompt) -> SystemPrompt {
        let more = std::mem::take(&mut self.append_system);
        more.iter()
            .fold(prompt, |prompt, text| prompt.with_appended(text))
    }

    /// All tools, and the hooks of the plugins that some of them come from.
    fn offered(
        &mut self,
        environment: &Environment,
        with: &With<'_>,
    ) -> Result<OfFiles, BuildError> {
        let mut components = std::mem::take(&mut self.components);
        let builtin = std::mem::replace(&mut self.builtin, Selection::None);
        let mut offered = builtin.take(&mut components, with)?;
        let of_files = components.of_files(&offered, environment)?;
        offered.extend(of_files.tools);
        let default_ms = u32::try_from(self.tool_timeout.as_millis()).unwrap_or(u32::MAX);
        let mut own = std::mem::take(&mut self.tools);
        let mut names = BTreeSet::new();
        #[cfg(all(unix, feature = "mcp"))]
        for server in &self.outside_servers {
            if !names.insert(server.name().to_owned()) {
                let name = server.name().to_owned();
                return Err(BuildError::DuplicateMcpServer { name });
            }
        }
        for server in std::mem::take(&mut self.mcp_servers) {
            if !names.insert(server.name().to_owned()) {
                let name = server.name().to_owned();
                return Err(BuildError::DuplicateMcpServer { name });
            }
            own.extend(server.into_tools());
        }
        for tool in own {
            let mut definition = tool.definition;
            if let Some(problem) = tool.fault {
                let tool = definition.name;
                return Err(BuildError::ToolInput { tool, problem });
            }
            definition.timeout_ms.get_or_insert(default_ms);
            offered.push(OfferedTool::own(definition, tool.handler)?);
        }
        Ok(OfFiles {
            tools: offered,
            ..of_files
        })
    }

    /// The sandbox for commands, if one is configured and available, and what the system lacks for it.
    fn confined(
        &self,
        environment: &Environment,
    ) -> Result<(Option<Sandbox>, Vec<Lack>), BuildError> {
        if !self.sandbox.is_enabled() {
            return Ok((None, Vec::new()));
        }
        let closed = self.components.own_places_made();
        let sandbox = Sandbox::closing(&self.sandbox, environment, closed)?;
        let lacks = sandbox.lacks().to_vec();
        if sandbox.is_available() {
            return Ok((Some(sandbox), lacks));
        }
        match self.sandbox.fail_if_unavailable {
            Some(true) => Err(BuildError::NoSandbox(in_words(&lacks))),
            _ => Ok((None, lacks)),
        }
    }

    /// The environment of a session in this directory.
    fn environment(&self, cwd: String) -> Result<Environment, BuildError> {
        let directories: Result<Vec<String>, BuildError> = self
            .directories
            .iter()
            .map(|path| real_directory("add_dir", path))
            .collect();
        // Rules name files by their real paths, so `~` must be one too.
        let home = etcetera::home_dir().ok().map(|home| {
            let real = fs::canonicalize(&home).unwrap_or(home);
            real.display().to_string()
        });
        let in_git = Path::new(&cwd)
            .ancestors()
            .any(|dir| dir.join(".git").exists());
        let directories = directories?;
        let roots: Vec<&Path> = [&cwd]
            .into_iter()
            .chain(&directories)
            .map(Path::new)
            .collect();
        let own_directories = self.own_directories(&roots, home.as_deref());
        let closed_places = self.closed_places().map(|path| path.display().to_string());
        Ok(Environment {
            platform: std::env::consts::OS.to_owned(),
            git_repository: Some(in_git),
            home,
            is_root: os::is_root(),
            own_directories,
            private_paths: closed_places.collect(),
            additional_directories: directories,
            cwd,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            output_style: "default".to_owned(),
            ..Environment::default()
        })
    }

    /// The directories of compiled components and of the key of their seals. Compiled components are executed because that key
    /// vouches for them.
    fn closed_places(&self) -> impl Iterator<Item = PathBuf> {
        let places = self.components.places();
        places.into_iter().map(|path| real(&path))
    }

    /// The directories that tools must not change without a person: those of [`closed_places`](Self::closed_places),
    /// the program's own folders and the ones named by the builder, and paths in the workspace that links, settings,
    /// commands or variables refer to.
    fn own_directories(&self, roots: &[&Path], home: Option<&str>) -> Vec<String> {
        let works_in = |own: &PathBuf| roots.first().is_some_and(|cwd| cwd.starts_with(own));
        let said = self.own_directories.iter().map(|path| real(path));
        let said = said
            .chain(folders_of_program())
            .filter(|own| !works_in(own));
        let words = Words::new(roots, home.map(Path::new));
        let named = words.of_commands(self.started.iter().map(String::as_str));
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let search = std::env::var_os("PATH");
        self.closed_places()
            .chain(said)
            .chain(places::of(roots, home.map(Path::new), search.as_deref()))
            .chain(named.places)
            .chain(words.of_variables(variables))
            .map(|path| path.display().to_string())
            .collect()
    }
}

/// The folders of windlass for configuration, cache and data.
fn folders_of_program() -> impl Iterator<Item = PathBuf> {
    let base = etcetera::choose_base_strategy().ok();
    let folders = base.map(|base| [base.config_dir(), base.cache_dir(), base.data_dir()]);
    (folders.into_iter().flatten()).map(|folder| real(&folder.join("windlass")))
}

/// The path as tools reach it, links resolved: also where a part of it does not exist yet, which something may make later.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    real_path(&absolute).map_or(absolute, PathBuf::from)
}

/// Adds directories in which tools may work. Directories that do not exist are left out.
fn with_directories(mut environment: Environment, directories: &[String]) -> Environment {
    let real = directories
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok());
    let real = real.map(|path| path.display().to_string());
    environment.additional_directories.extend(real);
    environment
}

/// Lets output that was too long to be shown be read without a question.
#[cfg(unix)]
fn readable(outputs: &Path) -> Option<Rule> {
    let pattern = literal_pattern(&outputs.to_string_lossy());
    Rule::parse(&format!("Read(/{pattern}/**)")).ok()
}

fn rules(place: &str, texts: &[String]) -> Result<Vec<Rule>, BuildError> {
    texts
        .iter()
        .map(|text| Rule::parse(text).map_err(|error| BuildError::Rule(error.at(place))))
        .collect()
}

/// Refuses a rule whose tool name is a near miss of a real one: the call it should have forbidden would run.
fn refuse_misspelt(spec: &Spec) -> Result<(), BuildError> {
    let tools: Vec<&str> = spec
        .tools
        .definitions
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let misnamed = misnamed(&spec.policy.permissions.rules, &tools);
    match misnamed.into_iter().find(|rule| rule.meant.is_some()) {
        Some(rule) => Err(BuildError::MisspeltRule(rule.finding.to_string())),
        None => Ok(()),
    }
}

fn dollars(given: f64) -> Result<Usd, BuildError> {
    // Formats as decimal digits first: parsing them also refuses negative and infinite values and NaN.
    Usd::parse(&format!("{given:.9}")).ok_or(BuildError::Budget { given })
}

/// Whether the Messages API accepts this as a tool's name.
fn is_tool_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

fn real_directory(place: &'static str, path: &Path) -> Result<String, BuildError> {
    let unusable = |reason: String| BuildError::Directory {
        place,
        path: path.to_path_buf(),
        reason,
    };
    let real = fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    if !real.is_dir() {
        return Err(unusable("it is not a directory".to_owned()));
    }
    match real.into_os_string().into_string() {
        Ok(real) => Ok(real),
        Err(_) => Err(unusable("its name is not UTF-8".to_owned())),
    }
}
