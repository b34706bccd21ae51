//! Files of a user and a project: agents, commands, skills, output styles, standing instructions.
//!
//! | what | of the user (`<config dir>/…`) | of the project (`<working directory>/…`) |
//! |---|---|---|
//! | agents | `agents/**/*.md` | `.claude/agents/**/*.md` |
//! | commands | `commands/**/*.md` | `.claude/commands/**/*.md` |
//! | skills | `skills/*/SKILL.md` | `.claude/skills/*/SKILL.md` |
//! | output styles | `output-styles/*.md` | `.claude/output-styles/*.md` |
//! | instructions | `CLAUDE.md` | `CLAUDE.md`, `.claude/CLAUDE.md`, or where there is neither `AGENTS.md`; `CLAUDE.local.md` with the source *local* |
//! | rules | `rules/**/*.md` | `.claude/rules/**/*.md` |
//!
//! Plugins have the same folders in their own; what is in them is named `plugin:name` ([`plugin`](crate::plugin)).
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
mod arguments;
mod command;
mod find;
mod ignored;
mod load;
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
pub(crate) use self::{arguments::words, command::invoked};
use crate::{path::TextPath, settings::SettingSource};

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

/// Places of a plugin's Markdown files beside the usual ones: folders and files, relative to the plugin's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginPlaces {
    /// Of commands.
    pub commands: Vec<String>,
    /// Of agents.
    pub agents: Vec<String>,
    /// Of skills: folders with a `SKILL.md`, or folders of such folders.
    pub skills: Vec<String>,
    /// Of output styles.
    pub output_styles: Vec<String>,
}

/// Stands for the plugin's folder in all of its files that are texts.
pub const PLUGIN_ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// The folder of a plugin, whose commands, agents, skills and output styles are named after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFolder {
    /// The name of the plugin.
    pub name: String,
    /// Its folder.
    pub folder: TextPath,
    /// Where else in it its files are.
    pub places: PluginPlaces,
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
    /// What has no effect in files that are used.
    pub ignored: Vec<FileProblem>,
}

/// Whether a skill lies in a folder; also true if its place is not known.
fn is_of_folder(skill: &Skill, folder: &TextPath) -> bool {
    let directory = skill.directory.as_ref();
    directory.is_none_or(|directory| TextPath::from(directory.as_str()).starts_with(folder))
}

/// A file that is left out, or something in it that has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FileProblem {
    /// The file.
    pub path: TextPath,
    /// The reason, and how to fix it.
    pub problem: String,
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
            _ if command.plugin.is_some() => "plugin",
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
}
