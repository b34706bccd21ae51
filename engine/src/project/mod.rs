//! Files of a user and a project: agents, commands, skills, output styles, standing instructions.
//!
//! | what | of the user (`<config dir>/…`) | of the project (`<working directory>/…`) |
//! |---|---|---|
//! | agents | `agents/**/*.md` | `.claude/agents/**/*.md` |
//! | commands | `commands/**/*.md` | `.claude/commands/**/*.md` |
//! | skills | `skills/*/SKILL.md` | `.claude/skills/*/SKILL.md` |
//! | output styles | `output-styles/*.md` | `.claude/output-styles/*.md` |
//! | instructions | `CLAUDE.md` | `CLAUDE.md`, `.claude/CLAUDE.md`; `CLAUDE.local.md` with the source *local* |
//!
//! Only selected sources are read. If both sources define the same name, the project's definition is used. A file that cannot
//! be used is left out and listed in [`ProjectFiles::problems`]; the other files are used all the same.
//!
//! Project files are read under the same restrictions as the model's tools ([`ReadProject`]): links must not lead out of the
//! project, and files that a deny rule excludes are not read. The user's own files are not restricted. The host lists and
//! reads the files; this module decides which of them are used, and for what.
//!
//! Files over [`MAX_FILE_BYTES`] are left out. Folders are searched [`MAX_DEPTH`] levels deep, and at most [`MAX_ENTRIES`]
//! entries of each are visited.

mod agent;
mod command;
mod find;
mod memory;
mod read;
mod skill;
mod style;

#[cfg(test)]
mod tests;

use windlass_core::{
    agent::{AgentProfile, AgentSource},
    context::{MemoryFile, OutputStyle},
    hook::input::{ExpansionType, UserPromptExpansion},
    initialization::SlashCommand,
    permission::Rule,
    tools::skill::Skill,
};

pub use self::{
    agent::{AgentFileError, AgentFileProblem, parse_agent_file},
    command::{Command, CommandError, Invocation},
    find::{MAX_DEPTH, MAX_ENTRIES},
    memory::{MAX_IMPORT_DEPTH, MAX_INSTRUCTION_BYTES},
    read::{Entry, EntryKind, MAX_FILE_BYTES, ReadFile, ReadProject},
    skill::{SkillFileError, parse_skill_file},
};
use crate::{
    frontmatter::Document,
    path::TextPath,
    settings::{SettingSource, SettingSources},
};

/// The places to read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlaces {
    /// The user's configuration directory; `None` if it is not known.
    pub config: Option<TextPath>,
    /// The working directory.
    pub cwd: TextPath,
    /// The user's home, for imports that begin with `~/`.
    pub home: Option<TextPath>,
}

/// The files of one source.
struct Files<'a> {
    reader: &'a dyn ReadProject,
    source: SettingSource,
    /// The folder that contains them.
    folder: TextPath,
    /// The folder in which project files must lie after following links.
    project: &'a TextPath,
}

/// The files that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The agents. [`Agents::add`](windlass_core::agent::Agents::add) resolves duplicate names.
    pub agents: Vec<AgentProfile>,
    /// Names of agents whose files cannot be used. An agent of a weaker source must not take such a name.
    pub unusable_agents: Vec<(String, AgentSource)>,
    /// The commands, by name.
    pub commands: Vec<Command>,
    /// The skills, by name.
    pub skills: Vec<Skill>,
    /// The output styles, by name.
    pub output_styles: Vec<OutputStyle>,
    /// The standing instructions: the user's first, those nearest to the working directory last.
    pub memory: Vec<MemoryFile>,
    /// The files that are left out.
    pub problems: Vec<FileProblem>,
}

/// Whether a skill lies in a folder; also true if its place is not known.
fn is_of_folder(skill: &Skill, folder: &TextPath) -> bool {
    let directory = skill.directory.as_ref();
    directory.is_none_or(|directory| TextPath::from(directory.as_str()).starts_with(folder))
}

/// The name that an agent's file claims even if it is otherwise invalid: its `name` field, or else the file name.
fn agent_name(path: &TextPath, text: &str) -> String {
    let fields = Document::parse(text).ok().and_then(|it| it.front);
    let said = fields.and_then(|fields| Some(fields.text("name").ok()??.to_owned()));
    said.unwrap_or_else(|| path.file_stem().unwrap_or_default().to_owned())
}

/// A file that is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FileProblem {
    /// The file.
    pub path: TextPath,
    /// The reason, and how to fix it.
    pub problem: String,
}

impl ProjectPlaces {
    /// Loads the files of the sources. `reader` opens them.
    #[must_use]
    pub fn load(&self, sources: SettingSources, reader: &dyn ReadProject) -> ProjectFiles {
        let mut found = ProjectFiles::default();
        // The stronger source comes last: its entries replace earlier ones.
        for source in [SettingSource::User, SettingSource::Project] {
            if let Some(folder) = self.folder(source).filter(|_| sources.has(source)) {
                let files = Files {
                    reader,
                    source,
                    folder,
                    project: &self.cwd,
                };
                found.read_agents(&files);
                found.read_commands(&files);
                found.read_skills(&files);
                found.read_styles(&files);
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
        match self.source {
            SettingSource::User => self.reader.read_own(path),
            SettingSource::Project | SettingSource::Local => {
                (self.reader).read(path, std::slice::from_ref(self.project))
            }
        }
    }
}

impl ProjectFiles {
    /// The rules granted by the commands and skills of a folder, by command or skill name.
    pub fn grants_of<'a>(
        &'a self,
        folder: &'a TextPath,
    ) -> impl Iterator<Item = (&'a str, &'a [Rule])> {
        let commands = (self.commands.iter())
            .filter(|command| command.source != SettingSource::User)
            .map(|command| (command.name.as_str(), command.allowed_tools.as_slice()));
        let skills = (self.skills.iter())
            .filter(|skill| is_of_folder(skill, folder))
            .map(|skill| (skill.name.as_str(), skill.allowed_tools.as_slice()));
        commands
            .chain(skills)
            .filter(|(_, rules)| !rules.is_empty())
    }

    /// Removes the grants of a folder's commands and skills, because the folder is not trusted. Returns the names of those
    /// affected.
    pub fn without_grants_of(&mut self, folder: &TextPath) -> Vec<String> {
        let names = self.grants_of(folder).map(|(name, _)| name.to_owned());
        let names = names.collect();
        for command in &mut self.commands {
            if command.source != SettingSource::User {
                command.allowed_tools.clear();
            }
        }
        for skill in &mut self.skills {
            if is_of_folder(skill, folder) {
                skill.allowed_tools.clear();
            }
        }
        names
    }

    /// The project's agents that would replace an agent of the user with the same name.
    pub fn agents_in_place_of_own(&self) -> impl Iterator<Item = &AgentProfile> {
        let agents = self.agents.iter();
        agents
            .filter(|agent| agent.source == AgentSource::Project && self.is_own_agent(&agent.name))
    }

    /// Removes project agents that have the name of a user's agent, because the folder is not trusted: they might be allowed
    /// more than the user intended. An invalid agent file of the project does not block such a name either.
    pub fn keep_own_agents(&mut self) {
        let mut replacing: Vec<String> = self
            .agents_in_place_of_own()
            .map(|it| it.name.clone())
            .collect();
        let unusable = self.unusable_agents.iter();
        let unusable = unusable.filter(|(name, _)| self.is_own_agent(name));
        replacing.extend(unusable.map(|(name, _)| name.clone()));
        let is_kept = |name: &String, source: AgentSource| {
            source != AgentSource::Project || !replacing.contains(name)
        };
        (self.agents).retain(|agent| is_kept(&agent.name, agent.source));
        (self.unusable_agents).retain(|(name, source)| is_kept(name, *source));
    }

    /// Whether the user has an agent of this name, including one whose file cannot be used. Case is ignored, because starting
    /// an agent falls back to a name that differs only in case.
    fn is_own_agent(&self, name: &str) -> bool {
        let usable = self.agents.iter().map(|agent| (&agent.name, agent.source));
        let unusable = self.unusable_agents.iter();
        let mut all = usable.chain(unusable.map(|(name, source)| (name, *source)));
        all.any(|(own, source)| source == AgentSource::User && own.eq_ignore_ascii_case(name))
    }

    /// The slash commands: commands, and those skills that a user may invoke.
    #[must_use]
    pub fn slash_commands(&self) -> Vec<SlashCommand> {
        let commands = self.commands.iter().map(Command::listed);
        let skills = self.skills.iter().filter(|skill| {
            skill.for_person
                && !self
                    .commands
                    .iter()
                    .any(|command| command.name == skill.name)
        });
        let skills = skills.map(|skill| SlashCommand {
            name: skill.name.clone(),
            description: skill.description.clone(),
            argument_hint: skill.argument_hint.clone().unwrap_or_default(),
        });
        commands.chain(skills).collect()
    }

    /// Expands a prompt that begins with a command, including the rules that the command allows; `None` for any other prompt.
    #[must_use]
    pub fn expand(&self, prompt: &str) -> Option<Invocation> {
        let (name, args) = command::invoked(prompt)?;
        if let Some(command) = self.commands.iter().find(|command| command.name == name) {
            return Some(command.invoke(args));
        }
        let skill = self
            .skills
            .iter()
            .find(|s| s.for_person && s.name == name)?;
        Some(match skill.text(args) {
            Ok(text) => Invocation {
                name: name.to_owned(),
                text,
                allowed_tools: skill.allowed_tools.clone(),
                model: None,
            },
            Err(error) => Invocation::failed(name, error),
        })
    }

    /// The expansion as hooks are told about it; `None` for a prompt that [`expand`](Self::expand) does not change.
    #[must_use]
    pub fn expansion(&self, prompt: &str) -> Option<UserPromptExpansion> {
        let (name, args) = command::invoked(prompt)?;
        let command = self.commands.iter().find(|command| command.name == name);
        let is_skill = || self.skills.iter().any(|s| s.for_person && s.name == name);
        if command.is_none() && !is_skill() {
            return None;
        }
        let source = command.map(|command| match command.source {
            SettingSource::User => "user",
            SettingSource::Project => "project",
            SettingSource::Local => "local",
        });
        Some(UserPromptExpansion {
            expansion_type: ExpansionType::SlashCommand,
            command_name: name.to_owned(),
            command_args: args.to_owned(),
            command_source: source.map(ToOwned::to_owned),
            prompt: prompt.to_owned(),
        })
    }

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
                Ok(agent) => self.agents.push(agent),
                Err(error) => {
                    let problem = format!("line {}: {}", error.line, error.problem);
                    self.unusable_agents
                        .push((agent_name(&path, &text), source));
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
                Ok(command) => {
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
                Ok(skill) => {
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
                Ok(style) => {
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
