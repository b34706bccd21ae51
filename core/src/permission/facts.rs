//! The parts of a call's input that rules apply to, and the files that it names.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{CommandLine, Consent, ResolvePath, ResolvedPath, tool_name};
use crate::{
    json::{RawJson, RawObject},
    tool::{Access, ToolDefinition},
};

/// The facts about a call that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// The tool.
    pub tool: &'a ToolDefinition,
    /// The command, for tools that run one.
    pub command: Option<&'a CommandLine>,
    /// The URL, for the tool that fetches one.
    pub url: Option<&'a str>,
    /// The name of the subagent or skill, for the tools that start one.
    pub name: Option<&'a str>,
    /// The files it names, resolved: those of its parameters, or those in its command.
    pub paths: &'a [PathFact],
    /// Whose consent it needs, for tools that the core runs.
    pub consent: Consent,
    /// Whether the model asks for the command to run outside the sandbox.
    pub asks_outside: bool,
}

impl<'a> CallFacts<'a> {
    /// A call of which only the tool is known.
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

/// The parts of a call's input that rules apply to, extracted once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSubject {
    /// The command.
    pub command: Option<CommandLine>,
    /// The URL.
    pub url: Option<String>,
    /// The subagent or skill.
    pub name: Option<String>,
    /// Whose consent it needs.
    pub consent: Consent,
    /// Whether the command is to run outside the sandbox.
    pub asks_outside: bool,
}

impl CallSubject {
    /// Extracts them from a tool's input; a command starts in this directory.
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

    /// The files that the call names, resolved by `resolve`: those of its parameters and those in its command.
    ///
    /// # Errors
    /// The error of `resolve` for a parameter's path. A path of a command with an error is left out: the command itself will
    /// report it.
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
    /// How the call accesses it.
    pub access: Access,
    /// The path that was given to the host to resolve. Empty for files that are affected as part of a folder: these need
    /// permission.
    #[serde(default)]
    pub written: String,
}

impl PathFact {
    /// The resolved path, followed by the files below it that are affected along with it: a protected place, a file that a deny
    /// rule excludes.
    pub(crate) fn found(asked: Self, real: ResolvedPath) -> impl Iterator<Item = Self> {
        let below = [real.brings, real.holds].into_iter().flatten();
        let below: Vec<Self> = (below.map(|below| Self::below(&real.path, &below))).collect();
        let itself = Self {
            path: real.path,
            ..asked
        };
        below.into_iter().chain([itself])
    }

    /// A path as it was written, until the host has resolved it.
    pub(crate) fn asked(path: &ResolvePath) -> Self {
        Self {
            path: path.path.clone(),
            access: path.access,
            written: path.path.clone(),
        }
    }

    /// Whether the call does not name it, but affects it as part of a folder that is copied, moved or removed.
    pub(super) fn is_brought(&self) -> bool {
        self.written.is_empty() && self.access == Access::Write
    }

    /// A file that is affected as part of a folder that is copied, moved or removed.
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
