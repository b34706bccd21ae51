//! Settings and project files in the file tree of the page, and what they make of a session.

use std::sync::Arc;

use serde::Deserialize;
use wasm_bindgen::prelude::*;
use windlass_core::{
    RawJson, Spec,
    permission::{Mode, PolicyContext, Source, deny_patterns},
    spec::DEFAULT_MODEL,
    tool::{Access, FsGrant, GrantRoot},
    tools::CoreTool,
};
use windlass_engine::{
    TextPath,
    machine::Configuration,
    project::{Entry, EntryKind, MAX_FILE_BYTES, ProjectPlaces, ReadFile, ReadProject},
    project_config::{ProjectConfig, ProjectTrust, rules_of_unknown_tools},
    settings::{LoadedSettings, SettingSources, SourcedSettings},
};

use crate::imports::reason;

#[wasm_bindgen]
extern "C" {
    /// The files that settings and instructions are read from. Its shape is `ProjectFiles` in `js/project-files.js`.
    #[derive(Debug)]
    pub type ProjectFiles;

    /// The path without `.` and `..`. No file here is a link.
    #[wasm_bindgen(method)]
    fn real(this: &ProjectFiles, path: &str) -> String;

    /// The text of a file with at most so many bytes; `undefined` if there is none. An exception has the reason.
    #[wasm_bindgen(method, catch)]
    fn read(this: &ProjectFiles, path: &str, most: f64) -> Result<Option<String>, JsValue>;

    /// The names of the first entries of a folder, those of folders with `/` behind them; none if there is no such folder.
    #[wasm_bindgen(method, catch)]
    fn list(this: &ProjectFiles, folder: &str, most: usize) -> Result<Vec<String>, JsValue>;

    #[wasm_bindgen(method)]
    fn exists(this: &ProjectFiles, path: &str) -> bool;
}

/// Which settings are read, and what the options of the agent say that they are below. Unknown fields are refused.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Wanted {
    /// The selected sources, separated by commas.
    sources: String,
    /// The folder of the user's settings.
    config_dir: Option<TextPath>,
    /// Whether what the project's files allow and start counts.
    is_trusted: bool,
    /// Settings of the program, over those of files.
    settings: Option<RawJson>,
    /// Settings of the organisation, over all others.
    managed_settings: Option<RawJson>,
    /// The permission mode of the options.
    mode: Option<Mode>,
    /// The agent that the session runs as.
    agent: Option<String>,
}

/// Reads settings and project files, and applies them to the spec of a session: below what the options of the agent say.
///
/// # Errors
/// Settings that cannot be used, with their place. Leaving them out would allow more than they mean to.
pub(crate) fn configure(
    mut spec: Spec,
    wanted: &str,
    files: &ProjectFiles,
) -> Result<Configuration, String> {
    let wanted = RawJson::parse(wanted).map_err(|error| error.to_string())?;
    let wanted: Wanted = wanted.decode().map_err(|error| error.to_string())?;
    let cwd = TextPath::new(spec.environment.cwd.clone());
    let sources = SettingSources::parse(&wanted.sources).map_err(|error| error.to_string())?;
    let settings = load(&wanted, sources, &cwd, files)?;
    let trust = match wanted.is_trusted {
        true => ProjectTrust::Everything,
        false => ProjectTrust::Nothing,
    };
    let mut found = ProjectConfig::new(settings, sources, cwd.clone()).trusted(false, trust);
    let mut warnings = permissions(&mut found, wanted.mode, &mut spec, files)?;
    let places = ProjectPlaces {
        config: wanted.config_dir,
        cwd,
        home: None,
    };
    found.project = places.load(sources, &[], &Reader::new(files, &spec));
    warnings.extend(apply(&mut found, &mut spec));
    warnings.extend(without_effect(&found, files));
    let agent = found.settings.first(|it| it.agent.as_deref());
    if let Some(name) = wanted.agent.as_deref().or(agent) {
        spec = spec.run_as(name).map_err(|error| error.to_string())?;
    }
    warnings.extend(rules_of_unknown_tools(&spec, &found.settings)?);
    Ok(Configuration {
        settings: found.settings,
        sources,
        project: Arc::new(found.project),
        is_trusted: found.is_trusted,
        runs_programs: found.runs_programs,
        warnings,
        ..Configuration::new(0, spec)
    })
}

/// The settings of the selected sources, the strongest first.
fn load(
    wanted: &Wanted,
    sources: SettingSources,
    cwd: &TextPath,
    files: &ProjectFiles,
) -> Result<LoadedSettings, String> {
    let mut found = Vec::new();
    let given = [
        (
            Source::PolicySettings,
            &wanted.managed_settings,
            "managedSettings",
        ),
        (Source::CliArg, &wanted.settings, "settings"),
    ];
    for (source, settings, option) in given {
        if let Some(settings) = settings {
            let parsed = SourcedSettings::parse(source, None, settings.get());
            found.push(parsed.map_err(|fault| format!("the option `{option}`: {fault}"))?);
        }
    }
    let local = sources
        .local
        .then(|| cwd.join(".claude/settings.local.json"));
    let project = sources.project.then(|| cwd.join(".claude/settings.json"));
    let config = wanted.config_dir.as_ref().filter(|_| sources.user);
    let of_files = [
        (Source::LocalSettings, local),
        (Source::ProjectSettings, project),
        (
            Source::UserSettings,
            config.map(|it| it.join("settings.json")),
        ),
    ];
    for (source, path) in of_files {
        let Some(path) = path else { continue };
        let unusable = |problem: &dyn std::fmt::Display| {
            format!(
                "{path}: {problem}; correct it or take it away, nothing of the settings is used as it is"
            )
        };
        let Some(text) = text_of(files, &path).map_err(|problem| unusable(&problem))? else {
            continue;
        };
        let parsed = SourcedSettings::parse(source, Some(path.clone()), &text);
        found.push(parsed.map_err(|fault| unusable(&fault))?);
    }
    let user = wanted
        .config_dir
        .clone()
        .unwrap_or_else(|| TextPath::new("/"));
    Ok(LoadedSettings::new(found, cwd.clone(), user))
}

/// Applies the permissions of the settings, below the mode of the options. Returns warnings about what was left out.
fn permissions(
    found: &mut ProjectConfig,
    given: Option<Mode>,
    spec: &mut Spec,
    files: &ProjectFiles,
) -> Result<Vec<String>, String> {
    let applied = found.permissions(spec)?;
    let policy = &mut spec.policy.permissions;
    let mode = given.unwrap_or(policy.mode);
    policy.mode = match mode {
        Mode::Auto if found.settings.disables_auto_mode() => Mode::Default,
        mode => mode,
    };
    // A settings file that may set the mode may also allow it.
    policy.allow_bypass |= policy.mode == Mode::BypassPermissions;
    policy.allow_bypass &= !found.bypass_disabled;
    if policy.mode == Mode::BypassPermissions && found.bypass_disabled {
        return Err("the mode bypassPermissions is switched off in the settings (`disableBypassPermissionsMode`): choose another `permissionMode`".to_owned());
    }
    let mut warnings = applied.warnings;
    for directory in applied.directories {
        match files.exists(&directory) {
            true => (spec.environment.additional_directories).push(files.real(&directory)),
            false => warnings.push(format!(
                "the additional directory {directory} is left out: there is no such directory"
            )),
        }
    }
    Ok(warnings)
}

/// Applies everything else, below what the options say. Returns warnings about what was left out.
fn apply(found: &mut ProjectConfig, spec: &mut Spec) -> Vec<String> {
    let (model, effort) = (spec.model.name.clone(), spec.model.effort);
    let warnings = found.apply(spec);
    if model != DEFAULT_MODEL {
        spec.model.name = model;
    }
    spec.model.effort = effort.or(spec.model.effort);
    spec.offer((!spec.tools.skills.is_empty()).then_some(CoreTool::Skill));
    if !found.project.agents.is_empty() {
        spec.offer([CoreTool::Task, CoreTool::TaskOutput, CoreTool::TaskStop]);
    }
    let agents = spec.tools.agents.infos().into_iter();
    spec.environment.agents = agents.map(|agent| agent.name).collect();
    let skills = spec.tools.skills.iter();
    spec.environment.skills = skills.map(|skill| skill.name.clone()).collect();
    let by_option =
        |warning: String| warning.replace("--trust lets them", "`trustProject` lets them");
    warnings.into_iter().map(by_option).collect()
}

/// What the settings ask for that needs programs, which no page can start.
fn without_effect(found: &ProjectConfig, files: &ProjectFiles) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut ignored = |what: &str, instead: &str| {
        warnings.push(format!("without effect in the settings: {what}; {instead}"));
    };
    let sources = &found.settings.sources;
    if sources.iter().any(|it| !it.settings.env.is_empty()) {
        ignored("`env`", "no program is started that could have variables");
    }
    if sources.iter().any(|it| it.settings.sandbox.is_some()) {
        ignored("`sandbox`", "no command runs that could be confined");
    }
    if found.settings.api_key_helper(true).is_some() {
        ignored("`apiKeyHelper`", "give the key by the option `apiKey`");
    }
    let servers = found.folder.join(".mcp.json");
    if found.sources.project && files.exists(servers.as_str()) {
        warnings.push(format!(
            "{servers} is not read: name its servers that are reached by HTTP in the option `mcpServers`"
        ));
    }
    warnings
}

/// Reads the project's files, except those that the rules of a session deny.
struct Reader<'a> {
    files: &'a ProjectFiles,
    open: FsGrant,
}

impl<'a> Reader<'a> {
    /// A reader that applies the deny rules of a spec, whose permissions must be complete.
    fn new(files: &'a ProjectFiles, spec: &Spec) -> Self {
        let policy = &spec.policy.permissions;
        let context = PolicyContext::new(&policy.rules, policy.mode, &spec.environment);
        let root = GrantRoot {
            path: "/".to_owned(),
            access: Access::Read,
        };
        let open = FsGrant {
            cwd: "/".to_owned(),
            roots: vec![root],
            deny: deny_patterns(&context),
        };
        Self { files, open }
    }

    fn file(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        let text = text_of(self.files, path)?;
        let real = || TextPath::new(self.files.real(path.as_str()));
        Ok(text.map(|text| ReadFile { real: real(), text }))
    }
}

impl ReadProject for Reader<'_> {
    fn read(&self, path: &TextPath, folders: &[TextPath]) -> Result<Option<ReadFile>, String> {
        let real = TextPath::new(self.files.real(path.as_str()));
        // Only an existing file deserves a warning: a mention of a user looks like an import.
        if !self.files.exists(real.as_str()) {
            return Ok(None);
        }
        if !folders.is_empty() && !folders.iter().any(|folder| real.starts_with(folder)) {
            return Err(
                "it leads out of the project, and a project brings along its own files only"
                    .to_owned(),
            );
        }
        match self.open.access(real.as_str()) {
            None => Err("a rule denies reading it".to_owned()),
            Some(_) => self.file(&real),
        }
    }

    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        self.file(path)
    }

    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
        let names = self.files.list(folder.as_str(), most);
        let entry = |name: String| match name.strip_suffix('/') {
            Some(name) => (name.to_owned(), EntryKind::Folder),
            None => (name, EntryKind::File),
        };
        let entries = names.map_err(|exception| reason(&exception))?.into_iter();
        let entries = entries.map(entry).map(|(name, kind)| Entry {
            name,
            is_text: true,
            kind,
        });
        Ok(entries.collect())
    }

    fn exists(&self, path: &TextPath) -> bool {
        self.files.exists(path.as_str())
    }
}

fn text_of(files: &ProjectFiles, path: &TextPath) -> Result<Option<String>, String> {
    let read = files.read(path.as_str(), MAX_FILE_BYTES as f64);
    read.map_err(|exception| reason(&exception))
}
