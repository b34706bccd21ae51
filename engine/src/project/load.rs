//! Reads the files of the sources and of plugins.

use super::{
    Command, FileProblem, PLUGIN_ROOT, PluginFolder, PluginPlaces, ProjectFiles, ProjectPlaces,
    ReadFile, ReadProject,
    agent::{parse_agent_file, parse_plugin_agent},
    find, ignored, memory, parse_skill_file, style,
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
    /// Where else in the folder they are.
    places: &'a PluginPlaces,
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
        let nowhere_else = PluginPlaces::default();
        let mut found = ProjectFiles::default();
        for plugin in plugins {
            let name = Some(plugin.name.as_str());
            found.read_all(&Files {
                reader,
                // Whoever names a plugin is the user, or the program that the user started.
                source: SettingSource::User,
                plugin: name,
                folder: plugin.folder.clone(),
                places: &plugin.places,
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
                    places: &nowhere_else,
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

    /// The usual folder, and what else is named.
    fn places(&self, usual: &str, named: &[String]) -> Vec<TextPath> {
        // One that is named, too, is read once.
        let others = named
            .iter()
            .map(String::as_str)
            .filter(|name| *name != usual);
        let names = std::iter::once(usual).chain(others);
        names.map(|name| self.folder.join(name)).collect()
    }

    /// The Markdown files of a place: all below it, or the file that it is.
    fn markdown(&self, place: &TextPath, problems: &mut Vec<FileProblem>) -> Vec<TextPath> {
        match place.as_str().ends_with(".md") {
            true => vec![place.clone()],
            false => find::markdown(self.reader, place, problems),
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
            Ok(file) => {
                let text = file?.text;
                Some(match files.plugin {
                    Some(_) => text.replace(PLUGIN_ROOT, files.folder.as_str()),
                    None => text,
                })
            }
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
        for place in files.places("agents", &files.places.agents) {
            self.read_agents_in(&place, files);
        }
    }

    fn read_agents_in(&mut self, place: &TextPath, files: &Files<'_>) {
        let source = match files.source {
            SettingSource::User => AgentSource::User,
            SettingSource::Project | SettingSource::Local => AgentSource::Project,
        };
        for path in files.markdown(place, &mut self.problems) {
            let Some(text) = self.text(&path, files) else {
                continue;
            };
            let parsed = match files.plugin {
                Some(_) => parse_plugin_agent(path.as_str(), &text, source),
                None => parse_agent_file(path.as_str(), &text, source),
            };
            match parsed {
                Ok(mut agent) => {
                    agent.name = files.named(agent.name);
                    if files.plugin.is_some() && has_inline_servers(&agent) {
                        let problem = "an agent of a plugin brings no MCP servers: name them in the plugin's .mcp.json".to_owned();
                        self.unusable_agents.push((agent.name, source));
                        self.problems.push(FileProblem { path, problem });
                        continue;
                    }
                    self.agents.push(agent);
                    self.ignored.extend(ignored::hooks(&path, &text));
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
        for place in files.places("commands", &files.places.commands) {
            self.read_commands_in(&place, files);
        }
    }

    fn read_commands_in(&mut self, place: &TextPath, files: &Files<'_>) {
        for path in files.markdown(place, &mut self.problems) {
            let Some(text) = self.text(&path, files) else {
                continue;
            };
            // A file that was named itself is called like it.
            let name = match path == *place {
                true => path.file_name().map(TextPath::from),
                false => path.strip_prefix(place),
            };
            match Command::parse(name.as_ref().unwrap_or(&path), &text, files.source) {
                Ok(mut command) => {
                    command.name = files.named(command.name);
                    command.plugin = files.plugin.map(ToOwned::to_owned);
                    if files.plugin.is_some() {
                        // What somebody else's command would like to be allowed is for a person to say.
                        command.allowed_tools.clear();
                    }
                    self.commands.retain(|known| known.name != command.name);
                    self.commands.push(command);
                    self.ignored.extend(ignored::hooks(&path, &text));
                    self.ignored.extend(ignored::shell_lines(&path, &text));
                }
                Err(error) => {
                    let problem = error.to_string();
                    self.problems.push(FileProblem { path, problem });
                }
            }
        }
    }

    fn read_skills(&mut self, files: &Files<'_>) {
        for place in files.places("skills", &files.places.skills) {
            self.read_skills_in(&place, files);
        }
    }

    fn read_skills_in(&mut self, place: &TextPath, files: &Files<'_>) {
        let mut folders = find::folders(files.reader, place, &mut self.problems);
        // A place that was named may be a skill itself.
        if *place != files.folder.join("skills") {
            folders.push(place.clone());
        }
        for folder in folders {
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
                    self.ignored.extend(ignored::hooks(&path, &text));
                    self.ignored.extend(ignored::shell_lines(&path, &text));
                }
                Err(error) => {
                    let problem = error.to_string();
                    self.problems.push(FileProblem { path, problem });
                }
            }
        }
    }

    fn read_styles(&mut self, files: &Files<'_>) {
        for place in files.places("output-styles", &files.places.output_styles) {
            self.read_styles_in(&place, files);
        }
    }

    fn read_styles_in(&mut self, place: &TextPath, files: &Files<'_>) {
        for path in files.markdown(place, &mut self.problems) {
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
