//! Reads the files of the sources and of plugins.

use super::{
    Command, FileProblem, PluginFolder, ProjectFiles, ProjectPlaces, ReadFile, ReadProject, find,
    memory, parse_agent_file, parse_skill_file, style,
};
use crate::{
    frontmatter::Document,
    path::TextPath,
    settings::{SettingSource, SettingSources},
};
use windlass_core::agent::{AgentMcpServer, AgentProfile, AgentSource};

/// The files of one source.
struct Files<'a> {
    reader: &'a dyn ReadProject,
    source: SettingSource,
    /// The plugin that they belong to.
    plugin: Option<&'a str>,
    /// The folder that contains them.
    folder: TextPath,
    /// The folder in which they must lie after following links; anywhere for the user's own.
    within: Option<&'a TextPath>,
}

impl ProjectPlaces {
    /// Loads the files of the sources. `reader` opens them.
    #[must_use]
    pub fn load(
        &self,
        sources: SettingSources,
        plugins: &[PluginFolder],
        reader: &dyn ReadProject,
    ) -> ProjectFiles {
        let mut found = ProjectFiles::default();
        for plugin in plugins {
            let name = Some(plugin.name.as_str());
            found.read_all(&Files {
                reader,
                // Whoever names a plugin is the user, or the program that the user started.
                source: SettingSource::User,
                plugin: name,
                folder: plugin.folder.clone(),
                within: Some(&plugin.folder),
            });
        }
        // The stronger source comes last: its entries replace earlier ones.
        for source in [SettingSource::User, SettingSource::Project] {
            if let Some(folder) = self.folder(source).filter(|_| sources.has(source)) {
                found.read_all(&Files {
                    reader,
                    source,
                    plugin: None,
                    folder,
                    within: (source != SettingSource::User).then_some(&self.cwd),
                });
            }
        }
        found.commands.sort_by(|a, b| a.name.cmp(&b.name));
        found.skills.sort_by(|a, b| a.name.cmp(&b.name));
        found.output_styles.sort_by(|a, b| a.name.cmp(&b.name));
        found.memory = memory::load(self, sources, reader, &mut found.problems);
        found
    }

    fn folder(&self, source: SettingSource) -> Option<TextPath> {
        match source {
            SettingSource::User => self.config.clone(),
            SettingSource::Project | SettingSource::Local => Some(self.cwd.join(".claude")),
        }
    }
}

impl Files<'_> {
    fn read(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        match self.within {
            None => self.reader.read_own(path),
            Some(folder) => self.reader.read(path, std::slice::from_ref(folder)),
        }
    }

    /// The name of something in these files: behind that of the plugin.
    fn named(&self, name: String) -> String {
        match self.plugin {
            Some(plugin) => format!("{plugin}:{name}"),
            None => name,
        }
    }
}

impl ProjectFiles {
    /// The text of a file; `None`, with a problem, if it may not or cannot be read.
    fn text(&mut self, path: &TextPath, files: &Files<'_>) -> Option<String> {
        match files.read(path) {
            Ok(file) => Some(file?.text),
            Err(problem) => {
                let path = path.clone();
                self.problems.push(FileProblem { path, problem });
                None
            }
        }
    }

    fn read_all(&mut self, files: &Files<'_>) {
        self.read_agents(files);
        self.read_commands(files);
        self.read_skills(files);
        self.read_styles(files);
    }

    fn read_agents(&mut self, files: &Files<'_>) {
        let source = match files.source {
            SettingSource::User => AgentSource::User,
            SettingSource::Project | SettingSource::Local => AgentSource::Project,
        };
        let folder = files.folder.join("agents");
        for path in find::markdown(files.reader, &folder, &mut self.problems) {
            let Some(text) = self.text(&path, files) else {
                continue;
            };
            match parse_agent_file(path.as_str(), &text, source) {
                Ok(mut agent) => {
                    agent.name = files.named(agent.name);
                    if files.plugin.is_some() && has_inline_servers(&agent) {
                        let problem = "an agent of a plugin brings no MCP servers: name them in the plugin's .mcp.json".to_owned();
                        self.unusable_agents.push((agent.name, source));
                        self.problems.push(FileProblem { path, problem });
                        continue;
                    }
                    self.agents.push(agent);
                }
                Err(error) => {
                    let problem = format!("line {}: {}", error.line, error.problem);
                    self.unusable_agents
                        .push((files.named(agent_name(&path, &text)), source));
                    self.problems.push(FileProblem { path, problem });
                }
            }
        }
    }

    fn read_commands(&mut self, files: &Files<'_>) {
        let folder = files.folder.join("commands");
        for path in find::markdown(files.reader, &folder, &mut self.problems) {
            let Some(text) = self.text(&path, files) else {
                continue;
            };
            let below = path.strip_prefix(&folder);
            match Command::parse(below.as_ref().unwrap_or(&path), &text, files.source) {
                Ok(mut command) => {
                    command.name = files.named(command.name);
                    command.plugin = files.plugin.map(ToOwned::to_owned);
                    if files.plugin.is_some() {
                        // What somebody else's command would like to be allowed is for a person to say.
                        command.allowed_tools.clear();
                    }
                    self.commands.retain(|known| known.name != command.name);
                    self.commands.push(command);
                }
                Err(error) => {
                    let problem = error.to_string();
                    self.problems.push(FileProblem { path, problem });
                }
            }
        }
    }

    fn read_skills(&mut self, files: &Files<'_>) {
        let folder = files.folder.join("skills");
        for folder in find::folders(files.reader, &folder, &mut self.problems) {
            let path = folder.join("SKILL.md");
            let name = folder.file_name().unwrap_or_default();
            let Some(text) = self.text(&path, files) else {
                continue;
            };
            match parse_skill_file(&text, name) {
                Ok(mut skill) => {
                    skill.name = files.named(skill.name);
                    if files.plugin.is_some() {
                        skill.allowed_tools.clear();
                    }
                    self.skills.retain(|known| known.name != skill.name);
                    self.skills.push(skill.in_directory(folder.as_str()));
                }
                Err(error) => {
                    let problem = error.to_string();
                    self.problems.push(FileProblem { path, problem });
                }
            }
        }
    }

    fn read_styles(&mut self, files: &Files<'_>) {
        let folder = files.folder.join("output-styles");
        for path in find::markdown(files.reader, &folder, &mut self.problems) {
            let Some(text) = self.text(&path, files) else {
                continue;
            };
            match style::parse(&text, path.file_stem().unwrap_or_default()) {
                Ok(mut style) => {
                    style.name = files.named(style.name);
                    self.output_styles.retain(|known| known.name != style.name);
                    self.output_styles.push(style);
                }
                Err(error) => {
                    let problem = error.to_string();
                    self.problems.push(FileProblem { path, problem });
                }
            }
        }
    }
}

fn has_inline_servers(agent: &AgentProfile) -> bool {
    let mut servers = agent.definition.mcp_servers.iter().flatten();
    servers.any(|server| matches!(server, AgentMcpServer::Inline(_)))
}

/// The name that an agent's file claims even if it is otherwise invalid: its `name` field, or else the file name.
fn agent_name(path: &TextPath, text: &str) -> String {
    let fields = Document::parse(text).ok().and_then(|it| it.front);
    let said = fields.and_then(|fields| Some(fields.text("name").ok()??.to_owned()));
    said.unwrap_or_else(|| path.file_stem().unwrap_or_default().to_owned())
}
