//! What a call's input says for rules, and the files that it names.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{CommandLine, Consent, ResolvePath, ResolvedPath, tool_name};
use crate::{
    json::{RawJson, RawObject},
    tool::{Access, ToolDefinition},
};

/// What judging needs to know of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// The tool.
    pub tool: &'a ToolDefinition,
    /// The command, for tools that run one.
    pub command: Option<&'a CommandLine>,
    /// The address, for the tool that fetches one.
    pub url: Option<&'a str>,
    /// What the call is about, by its name: the subagent or the skill, for the tools that start one.
    pub name: Option<&'a str>,
    /// The files it names, resolved: those of its parameters, or those that its command shows.
    pub paths: &'a [PathFact],
    /// Who must agree, for tools that the core runs.
    pub consent: Consent,
    /// The model asks for the command to run outside of the sandbox.
    pub asks_outside: bool,
}

impl<'a> CallFacts<'a> {
    /// A call of which nothing is known but its tool.
    #[must_use]
    pub fn of(tool: &'a ToolDefinition) -> Self {
        Self {
            tool,
            command: None,
            url: None,
            name: None,
            paths: &[],
            consent: Consent::default(),
            asks_outside: false,
        }
    }
}

/// What a call's input says for rules: taken out of it once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSubject {
    /// The command.
    pub command: Option<CommandLine>,
    /// The address.
    pub url: Option<String>,
    /// The subagent or skill.
    pub name: Option<String>,
    /// Who must agree.
    pub consent: Consent,
    /// The command is to run outside of the sandbox.
    pub asks_outside: bool,
}

impl CallSubject {
    /// Of a tool's input; a command begins in this directory.
    #[must_use]
    pub fn of(tool: &ToolDefinition, input: &RawJson, directory: &str) -> Self {
        let Ok(fields) = RawObject::parse(input.get()) else {
            return Self::default();
        };
        let field = |name: &str| fields.get_string(name);
        let (url, name) = match tool_name::present(&tool.name) {
            "WebFetch" => (field("url"), None),
            "Task" => (None, field("subagent_type")),
            _ => (None, tool.core.and_then(|core| core.subject(input))),
        };
        Self {
            command: (tool.command_param.as_deref().and_then(field))
                .map(|text| CommandLine::read(text, directory)),
            url,
            name,
            consent: tool
                .core
                .map(|core| core.consent(input))
                .unwrap_or_default(),
            asks_outside: tool.outside_param.as_deref().is_some_and(|name| {
                (fields.get(name)).is_some_and(|value| value.get().trim() == "true")
            }),
        }
    }

    /// The files that the call names, and where they lead by this: those of its parameters and those that its command shows.
    ///
    /// # Errors
    /// What `resolve` says of a parameter's path. What it says of a command's leaves the path out: the command itself will say it.
    pub fn resolved_paths<E>(
        &self,
        tool: &ToolDefinition,
        input: &RawJson,
        cwd: &str,
        resolve: impl Fn(&ResolvePath) -> Result<ResolvedPath, E>,
    ) -> Result<Vec<PathFact>, E> {
        let mut facts = Vec::new();
        for asked in named_paths(tool, input, cwd) {
            facts.extend(PathFact::found(PathFact::asked(&asked), resolve(&asked)?));
        }
        let of_command = self.command.iter().flat_map(CommandLine::paths);
        for asked in of_command {
            if let Ok(real) = resolve(&asked) {
                facts.extend(PathFact::found(PathFact::asked(&asked), real));
            }
        }
        Ok(facts)
    }

    /// The facts of the call, with its resolved paths.
    #[must_use]
    pub fn facts<'a>(&'a self, tool: &'a ToolDefinition, paths: &'a [PathFact]) -> CallFacts<'a> {
        CallFacts {
            tool,
            command: self.command.as_ref(),
            url: self.url.as_deref(),
            name: self.name.as_deref(),
            paths,
            consent: self.consent,
            asks_outside: self.asks_outside,
        }
    }
}

/// A file a call names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathFact {
    /// Absolute and real.
    pub path: String,
    /// What is done to it.
    pub access: Access,
    /// As it was given to the host to resolve; empty for what lies below a folder and goes with it: that is asked about.
    #[serde(default)]
    pub written: String,
}

impl PathFact {
    /// What was asked, and where the host says that it leads: the path itself, behind what lies below it and goes with it: a place that
    /// becomes authority, a file that a rule closes.
    pub(crate) fn found(asked: Self, real: ResolvedPath) -> impl Iterator<Item = Self> {
        let below = [real.brings, real.holds].into_iter().flatten();
        let below: Vec<Self> = (below.map(|below| Self::below(&real.path, &below))).collect();
        let itself = Self {
            path: real.path,
            ..asked
        };
        below.into_iter().chain([itself])
    }

    /// A path as it was written, until the host says where it leads.
    pub(crate) fn asked(path: &ResolvePath) -> Self {
        Self {
            path: path.path.clone(),
            access: path.access,
            written: path.path.clone(),
        }
    }

    /// Whether it is not named by the call, but goes with a folder that is copied, moved or removed.
    pub(super) fn is_brought(&self) -> bool {
        self.written.is_empty() && self.access == Access::Write
    }

    /// What goes with a folder that is copied, moved or removed.
    fn below(folder: &str, below: &str) -> Self {
        Self {
            path: [folder.trim_end_matches('/'), "/", below].concat(),
            access: Access::Write,
            written: String::new(),
        }
    }
}

/// The files that the parameters of a call name, as the model wrote them.
pub(crate) fn named_paths(tool: &ToolDefinition, input: &RawJson, cwd: &str) -> Vec<ResolvePath> {
    let Ok(fields) = RawObject::parse(input.get()) else {
        return Vec::new();
    };
    tool.paths
        .iter()
        .filter_map(|param| {
            let given = fields.get_string(&param.field).filter(|p| !p.is_empty());
            let path = given.or_else(|| param.default_cwd.then(|| cwd.to_owned()))?;
            Some(ResolvePath {
                path,
                access: param.access,
                carried: false,
                closed: Vec::new(),
            })
        })
        .collect()
}
