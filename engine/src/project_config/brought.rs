//! What a folder's files start, set and allow once the folder is trusted. It is shown to the user who is asked for trust, and
//! later compared with the configuration of the session that begins.

use std::{collections::BTreeMap, fmt};

use windlass_core::{
    RawJson,
    agent::AgentSource,
    hook::HookMatcher,
    permission::{Layered, Rule, RuleName},
    spec::Environment,
};

use super::ProjectConfig;
use crate::{
    machine::inline_servers,
    mcp::server_words,
    settings::{CommandHook, SourcedSettings},
};

/// One effect of a folder's files once the folder is trusted. Two values are equal only if everything that takes effect is
/// equal, including details that no phrase mentions (a server's headers, a hook's timeout).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// The kind of effect.
    pub kind: BroughtKind,
    /// Its name; for a hook the command.
    name: String,
    /// Further details that a user has to know.
    detail: String,
    /// The complete value, for comparison.
    whole: String,
}

/// The kinds of effects of a folder's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BroughtKind {
    /// A hook command.
    Hook,
    /// An MCP server of `.mcp.json`.
    Server,
    /// The MCP servers of an agent.
    AgentServers,
    /// An agent that replaces one of the user's own.
    Agent,
    /// A command that prints the key for the model server.
    KeyHelper,
    /// An environment variable.
    Variable,
    /// An allow rule.
    Rule,
    /// The rules that a skill or command grants.
    Grant,
    /// The initial permission mode.
    Mode,
    /// An additional directory of the workspace.
    Directory,
    /// Sandbox settings.
    Sandbox,
    /// All hooks, of whatever source, are disabled.
    HooksOff,
}

impl BroughtKind {
    /// The noun for this many of them.
    #[must_use]
    pub fn noun(self, count: usize) -> &'static str {
        let (one, many) = match self {
            Self::Hook => ("hook", "hooks"),
            Self::Server => ("MCP server", "MCP servers"),
            Self::AgentServers => ("agent with MCP servers", "agents with MCP servers"),
            Self::Agent => ("agent in place of yours", "agents in place of yours"),
            Self::KeyHelper => ("command for a key", "commands for a key"),
            Self::Variable => ("variable", "variables"),
            Self::Rule => ("rule to allow", "rules to allow"),
            Self::Grant => ("grant of a skill", "grants of skills"),
            Self::Mode => ("mode", "modes"),
            Self::Directory => ("directory", "directories"),
            Self::Sandbox => ("change of the sandbox", "changes of the sandbox"),
            Self::HooksOff => ("file that turns hooks off", "files that turn hooks off"),
        };
        if count == 1 { one } else { many }
    }
}

impl Brought {
    fn new(kind: BroughtKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            detail: String::new(),
            whole: String::new(),
        }
    }

    fn detailed(self, detail: String, whole: String) -> Self {
        Self {
            detail,
            whole,
            ..self
        }
    }

    fn hook(matcher: &HookMatcher, hook: &CommandHook) -> Self {
        let of = matcher.matcher.to_string();
        let event = matcher.event.name();
        let detail = match of.is_empty() {
            true => event.to_owned(),
            false => format!("{event} of {of}"),
        };
        Self::new(BroughtKind::Hook, &hook.command)
            .detailed(detail, format!("{matcher:?} {hook:?}"))
    }

    /// The phrase that continues a sentence after "they", with all details that a user has to know. `shown` renders texts of
    /// the folder for display.
    #[must_use]
    pub fn phrase(&self, shown: impl Fn(&str) -> String) -> String {
        let (brief, detail) = (self.brief(&shown), shown(&self.detail));
        match self.kind {
            _ if self.detail.is_empty() => brief,
            BroughtKind::Hook => format!("{brief} ({detail})"),
            BroughtKind::Variable => format!("{brief} to {detail}"),
            _ => format!("{brief}: {detail}"),
        }
    }

    /// The phrase without details, because the value of a variable may be a secret.
    fn brief(&self, shown: impl Fn(&str) -> String) -> String {
        let name = shown(&self.name);
        match self.kind {
            BroughtKind::Hook => format!("run the hook `{name}`"),
            BroughtKind::Server => format!("start the MCP server {name}"),
            BroughtKind::AgentServers => format!("start the MCP servers of the agent {name}"),
            BroughtKind::Agent => format!("replace your own agent {name}"),
            BroughtKind::KeyHelper => {
                format!("run `{name}` as `apiKeyHelper`, which prints the key for the model server")
            }
            BroughtKind::Variable => format!("set the variable {name}"),
            BroughtKind::Rule => format!("allow {name}"),
            BroughtKind::Grant => format!("allow what /{name} asks for"),
            BroughtKind::Mode => format!("begin in the mode {name}"),
            BroughtKind::Directory => format!("open the directory {name}"),
            BroughtKind::Sandbox => "open the sandbox as they say".to_owned(),
            BroughtKind::HooksOff => "turn hooks off".to_owned(),
        }
    }
}

/// The phrase that continues a sentence after "they", without details.
impl fmt::Display for Brought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.brief(str::to_owned))
    }
}

impl ProjectConfig {
    /// The effects of the folder's files once the folder is trusted, whether or not it is: the same files give the same
    /// result. `untrusted` are the rules that do not apply for lack of trust.
    pub(super) fn brought_along(&self, untrusted: &[Rule]) -> Vec<Brought> {
        let mut brought = self.hooks_of_folder();
        let servers = self.servers_of_project().unwrap_or_default();
        brought.extend(servers.iter().map(|(name, config)| {
            Brought::new(BroughtKind::Server, name)
                .detailed(server_words(config), config.get().to_owned())
        }));
        brought.extend(self.servers_of_agents());
        let replacing = self.project.agents_in_place_of_own();
        brought.extend(replacing.map(|agent| {
            Brought::new(BroughtKind::Agent, &agent.name)
                .detailed(String::new(), format!("{agent:?}"))
        }));
        for sourced in self.of_folder() {
            let variables = sourced.settings.env.iter();
            brought.extend(variables.map(|(name, value)| {
                Brought::new(BroughtKind::Variable, name).detailed(value.clone(), String::new())
            }));
        }
        brought.extend(
            (untrusted.iter())
                .map(|rule| Brought::new(BroughtKind::Rule, RuleName::from(rule).to_string())),
        );
        let grants = self.project.grants_of(&self.folder);
        brought.extend(grants.map(|(name, rules)| {
            let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
            Brought::new(BroughtKind::Grant, name).detailed(rules.join(", "), String::new())
        }));
        brought.extend(self.of_folder().flat_map(other_settings));
        brought
    }

    /// The same for a trusted folder: to be compared with what the user was shown before trusting it.
    #[must_use]
    pub fn brought_once_trusted(&self, environment: &Environment) -> Vec<Brought> {
        // Invalid rules have been reported already.
        let layered = Layered::of(&self.settings.layers(false), environment);
        let untrusted = layered.map(|it| it.rules.untrusted);
        self.brought_along(&untrusted.unwrap_or_default())
    }

    fn of_folder(&self) -> impl Iterator<Item = &SourcedSettings> {
        let sources = self.settings.sources.iter();
        sources.filter(|sourced| sourced.source.belongs_to_folder())
    }

    fn hooks_of_folder(&self) -> Vec<Brought> {
        if self.settings.hooks(true).commands.is_empty() {
            return Vec::new(); // they are turned off
        }
        let hooks = |sourced: &SourcedSettings| -> Vec<Brought> {
            let groups = sourced.settings.hooks.commands.iter();
            let hooks = groups.flat_map(|(matcher, hooks)| {
                hooks.iter().map(move |hook| Brought::hook(matcher, hook))
            });
            hooks.collect()
        };
        let others = self.settings.sources.iter();
        let ours: Vec<Brought> = others
            .filter(|sourced| !sourced.source.belongs_to_folder())
            .flat_map(hooks)
            .collect();
        let of_folder = self.of_folder().flat_map(hooks);
        of_folder.filter(|hook| !ours.contains(hook)).collect()
    }

    fn servers_of_agents(&self) -> impl Iterator<Item = Brought> {
        let agents = self.project.agents.iter();
        let agents = agents.filter(|agent| agent.source == AgentSource::Project);
        agents.filter_map(|agent| {
            let servers = inline_servers(agent);
            let each = servers.iter();
            let details: Vec<String> = each
                .map(|(name, config)| format!("{name} ({})", server_words(config)))
                .collect();
            (!servers.is_empty()).then(|| {
                Brought::new(BroughtKind::AgentServers, &agent.name)
                    .detailed(details.join(", "), format!("{servers:?}"))
            })
        })
    }
}

/// The single-value settings of a file.
fn other_settings(sourced: &SourcedSettings) -> Vec<Brought> {
    let settings = &sourced.settings;
    let helper = settings.api_key_helper.iter();
    let mut brought: Vec<Brought> = helper
        .map(|command| Brought::new(BroughtKind::KeyHelper, command))
        .collect();
    let mode = settings.permissions.default_mode;
    brought.extend(mode.map(|mode| Brought::new(BroughtKind::Mode, mode.name())));
    let directories = settings.permissions.additional_directories.iter();
    brought.extend(directories.map(|directory| Brought::new(BroughtKind::Directory, directory)));
    if let Some(sandbox) = &settings.sandbox {
        let fields: BTreeMap<String, RawJson> = sourced.text.raw().decode().unwrap_or_default();
        let said = fields.get("sandbox").map_or("", RawJson::get).to_owned();
        brought.push(Brought::new(BroughtKind::Sandbox, "").detailed(said, format!("{sandbox:?}")));
    }
    if settings.disable_all_hooks == Some(true) {
        brought.push(Brought::new(BroughtKind::HooksOff, ""));
    }
    brought
}
