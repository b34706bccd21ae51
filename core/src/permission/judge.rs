//! The order of judgement: hooks that deny, deny rules, ask rules, hooks that allow, allow rules, the mode,
//! whoever can be asked.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    Behavior, CommandLine, Mode, Rule, Source, Specifier, Standing, authority,
    command::Concern,
    confinement::{Place, place},
    glob, path_pattern, tool_name,
};
use crate::{
    effect::{ResolvePath, ResolvedPath},
    json::{RawJson, RawObject},
    tool::{Access, ToolDefinition},
    tools::Consent,
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

/// What the hooks before a call came to, all of them together (Agent SDK reference, `permissionDecision`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookVerdict {
    /// Deny beats everything; ask forces the question; allow takes the place of an allow rule: deny rules, ask
    /// rules and plan mode hold against it.
    pub behavior: Behavior,
    /// Why, in the hook's words.
    pub reason: Option<String>,
}

/// A decision and why it was taken. No call runs without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What happens.
    pub verdict: Verdict,
    /// What decided.
    pub cause: Cause,
    /// How much of a command it is about.
    pub scope: Scope,
}

/// How much of a command a decision is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Its whole text, whatever that does.
    #[default]
    Whole,
    /// The commands that were read in it: they run, and the text does not.
    Parts,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Rules: one, or those that allow the commands of a line together.
    Rules(Vec<RuleName>),
    /// A hook; its reason, if it gave one.
    Hook(Option<String>),
    /// Only the whole text of the command can be approved; why.
    UnreadCommand(String),
    /// The call may change a place from which later sessions or programs take orders.
    Authority(String),
    /// The command names a file that a rule closes.
    ClosedFile(RuleName),
    /// The call reads or changes a file of the program itself that is closed to tools.
    OwnFile(String),
    /// The mode.
    Mode(Mode),
    /// Reading inside the workspace is free here.
    WorkspaceRead,
    /// A path outside the workspace.
    OutsideWorkspace(String),
    /// The call changes nothing outside the session.
    OwnState,
    /// The command runs confined by the operating system.
    Confined,
    /// The settings keep all commands in the sandbox.
    StaysConfined,
    /// Only a person can answer.
    AsksThePerson,
    /// Nothing covers the call.
    NoRule,
}

/// A rule in a cause: as it is written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleName {
    /// The rule.
    pub rule: String,
    /// Where it comes from.
    pub source: Source,
}

impl From<&Rule> for RuleName {
    fn from(rule: &Rule) -> Self {
        Self {
            rule: rule.to_string(),
            source: rule.source(),
        }
    }
}

impl core::fmt::Display for RuleName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} ({})", self.rule, self.source.words())
    }
}

impl Cause {
    fn rule(rule: &Rule) -> Self {
        Self::Rules(alloc::vec![RuleName::from(rule)])
    }

    /// The kind of cause, as programs know it; none for what a hook says.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Hook(_) => None,
            Self::Rules(_) | Self::ClosedFile(_) => Some("rule"),
            // What no rule covers is as the mode has it.
            Self::Mode(_) | Self::NoRule => Some("mode"),
            Self::OutsideWorkspace(_) => Some("workingDir"),
            _ => Some("other"),
        }
    }

    /// One sentence for people.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Rules(rules) => {
                let names: Vec<String> = rules.iter().map(RuleName::to_string).collect();
                match names.as_slice() {
                    [one] => format!("the rule {one} says so"),
                    all => format!("the rules {} say so", all.join(", ")),
                }
            }
            Self::Hook(None) => "a hook says so".to_string(),
            Self::Hook(Some(reason)) => format!("a hook says so: {reason}"),
            Self::UnreadCommand(why) => {
                format!("no rule can let parts of the command pass: {why}")
            }
            Self::Authority(path) => format!(
                "{path} is a place from which programs and later sessions take orders, so only a person can let it be changed"
            ),
            Self::ClosedFile(rule) => format!("the command names a file that {rule} closes"),
            Self::OwnFile(path) => format!(
                "{path} belongs to the program itself, and no rule and no mode opens it to tools"
            ),
            Self::Mode(mode) => format!("permission mode is {}", mode.name()),
            Self::WorkspaceRead => "reading inside the workspace is free".to_string(),
            Self::OutsideWorkspace(path) => format!("{path} is outside the workspace"),
            Self::OwnState => "it changes nothing outside the session".to_string(),
            Self::Confined => "the command runs confined by the operating system".to_string(),
            Self::StaysConfined => {
                "the settings let no command leave the sandbox: run it without dangerouslyDisableSandbox".to_string()
            }
            Self::AsksThePerson => "only a person can answer it".to_string(),
            Self::NoRule => "no permission rule covers it".to_string(),
        }
    }
}

/// Judges a call. Pure: the same arguments give the same decision.
#[must_use]
pub fn judge(standing: &Standing<'_>, call: CallFacts<'_>, hook: Option<&HookVerdict>) -> Decision {
    as_judged_where_words_decide(decided(standing, call, hook), standing, call)
}

/// A line that was approved as a whole runs as it is written, and there what a word becomes may be an action of `find` that runs
/// anything. While rules deny or ask about commands it runs as it was judged instead, where no such word is an option; if it cannot, it
/// is asked about.
fn as_judged_where_words_decide(
    decision: Decision,
    standing: &Standing<'_>,
    call: CallFacts<'_>,
) -> Decision {
    let (Verdict::Allow, Scope::Whole, Some(line)) =
        (decision.verdict, decision.scope, call.command)
    else {
        return decision;
    };
    let mut guards = standing.rules.ask.iter().chain(standing.deny_rules());
    if !line.searches_by_what_is_expanded()
        || !guards.any(|rule| is_about_commands(rule, call.tool))
    {
        return decision;
    }
    match line.obstacle() {
        None => Decision {
            scope: Scope::Parts,
            ..decision
        },
        Some(why) => Decision {
            verdict: asking(standing.mode()),
            cause: Cause::UnreadCommand(why.to_string()),
            scope: Scope::Whole,
        },
    }
}

/// A rule that asks is stronger than a mode that does not; but whoever never asks, denies.
fn asking(mode: Mode) -> Verdict {
    match mode {
        Mode::DontAsk => Verdict::Deny,
        _ => Verdict::Ask,
    }
}

fn decided(standing: &Standing<'_>, call: CallFacts<'_>, hook: Option<&HookVerdict>) -> Decision {
    let decide = |verdict, cause| Decision {
        verdict,
        cause,
        scope: Scope::Whole,
    };
    let mode = standing.mode();
    let by_hook = |behavior| {
        let hook = hook.filter(|hook| hook.behavior == behavior)?;
        Some(Cause::Hook(hook.reason.clone()))
    };
    if let Some(cause) = by_hook(Behavior::Deny) {
        return decide(Verdict::Deny, cause);
    }
    let concern = |rule: &Rule| concern(rule, standing, call);
    if let Some(rule) = standing.deny_rules().find(|r| concern(r) == Concern::Yes) {
        return decide(Verdict::Deny, Cause::rule(rule));
    }
    let place = place(standing, call);
    if place == Place::AskedOutside && standing.confinement.is_some_and(|it| !it.allow_outside) {
        return decide(Verdict::Deny, Cause::StaysConfined);
    }
    let ask = asking(mode);
    if call.consent == Consent::Person {
        // No rule and no mode answers for a person; where nobody is ever asked there is no answer.
        return match by_hook(Behavior::Allow) {
            Some(cause) => decide(Verdict::Allow, cause),
            None if mode == Mode::DontAsk => decide(Verdict::Deny, Cause::Mode(mode)),
            None => decide(Verdict::Ask, Cause::AsksThePerson),
        };
    }
    let is_free = call.consent == Consent::Free;
    let changes = !call.tool.annotations.read_only && !is_free;
    if mode == Mode::Plan && changes && !tool_name::only_delegates(&call.tool.name) {
        return decide(Verdict::Deny, Cause::Mode(mode));
    }
    if let Some(cause) = guard(standing, call) {
        return decide(ask, cause);
    }
    if let Some(cause) = by_hook(Behavior::Ask) {
        return decide(ask, cause);
    }
    if let Some(cause) = by_hook(Behavior::Allow) {
        return decide(Verdict::Allow, cause);
    }
    if is_free {
        return decide(Verdict::Allow, Cause::OwnState);
    }
    let allow: Vec<&Rule> = standing.rules.allow.iter().collect();
    let here = Standing {
        left: &[],
        ..*standing
    };
    if let Some((rules, scope)) = allowed_by(&allow, &here, call) {
        let names: Vec<RuleName> = rules.into_iter().map(RuleName::from).collect();
        let cause = match names.is_empty() {
            true => Cause::Mode(mode),
            false => Cause::Rules(names),
        };
        return Decision {
            verdict: Verdict::Allow,
            cause,
            scope,
        };
    }
    if place == Place::Sandbox && standing.confinement.is_some_and(|it| it.auto_allow) {
        return decide(Verdict::Allow, Cause::Confined);
    }
    by_mode(standing, call)
}

/// What makes a call be asked about although a rule or the mode would let it run.
fn guard(standing: &Standing<'_>, call: CallFacts<'_>) -> Option<Cause> {
    const MANY_NAMES: &str = "it names more files than are looked at";
    let mut guards = standing.rules.ask.iter().chain(standing.deny_rules());
    let concerned = |rule: &&Rule| concern(rule, standing, call) != Concern::No;
    if let Some(rule) = guards.clone().find(concerned) {
        return Some(Cause::rule(rule));
    }
    let closes_files = |rule: &Rule| matches!(rule.specifier, Specifier::Path(_));
    let is_looked_at = || {
        standing.deny_rules().any(closes_files)
            || authority::is_guarded(standing, call) && !authority::is_approved_line(standing, call)
    };
    if let Some(line) = call.command.filter(|line| line.has_too_many_names())
        && is_looked_at()
    {
        let why = line.unread().unwrap_or(MANY_NAMES);
        return Some(Cause::UnreadCommand(why.to_string()));
    }
    if let Some(path) = authority::closed_place(standing, call) {
        return Some(Cause::OwnFile(path));
    }
    if let Some(path) = authority::changed_by(standing, call) {
        return Some(Cause::Authority(path));
    }
    let line = call.command?;
    if let Some(why) = line.unread()
        && guards.any(|rule| is_about_commands(rule, call.tool))
    {
        return Some(Cause::UnreadCommand(why.to_string()));
    }
    if line.names_many_files() && standing.deny_rules().any(closes_files) {
        return Some(Cause::UnreadCommand(MANY_NAMES.to_string()));
    }
    line.names_closed_file(standing)
        .map(|rule| Cause::ClosedFile(RuleName::from(rule)))
}

fn by_mode(standing: &Standing<'_>, call: CallFacts<'_>) -> Decision {
    let decide = |verdict, cause| Decision {
        verdict,
        cause,
        scope: Scope::Whole,
    };
    let mode = standing.mode_for(&call.tool.name);
    if mode == Mode::BypassPermissions {
        return decide(Verdict::Allow, Cause::Mode(mode));
    }
    let outside = call
        .paths
        .iter()
        .find(|fact| !standing.in_workspace(&fact.path));
    // The files that a command shows are not all that it may touch.
    let inside = call.command.is_none() && !call.paths.is_empty() && outside.is_none();
    if inside && standing.free_workspace_reads && call.tool.annotations.read_only {
        return decide(Verdict::Allow, Cause::WorkspaceRead);
    }
    let only_speaks = |line: &CommandLine| line.only_speaks(standing, call.paths);
    if standing.free_workspace_reads && call.command.is_some_and(only_speaks) {
        return Decision {
            scope: Scope::Parts,
            ..decide(Verdict::Allow, Cause::OwnState)
        };
    }
    if inside && mode == Mode::AcceptEdits && call.tool.edits_files() {
        return decide(Verdict::Allow, Cause::Mode(mode));
    }
    let obstacle = call.command.and_then(CommandLine::obstacle);
    match (mode, outside, obstacle) {
        (Mode::DontAsk, _, _) => decide(Verdict::Deny, Cause::Mode(mode)),
        (_, Some(fact), _) => decide(Verdict::Ask, Cause::OutsideWorkspace(fact.path.clone())),
        (_, None, Some(why)) => decide(Verdict::Ask, Cause::UnreadCommand(why.to_string())),
        (_, None, None) => {
            let unknown = call.command.and_then(CommandLine::file_of_unknown_folder);
            let why = |name| {
                format!(
                    "the folder of `{name}` is not known, as a `cd` before it may fail (`&&` behind `cd` makes it known)"
                )
            };
            let set = call.command.and_then(CommandLine::variable_of_a_command);
            let sets = |name| {
                format!(
                    "it sets the variable {name} for a command, which rules about the command do not allow"
                )
            };
            let why = unknown.map(why).or_else(|| set.map(sets));
            decide(
                Verdict::Ask,
                why.map_or(Cause::NoRule, Cause::UnreadCommand),
            )
        }
    }
}

/// Whether a rule that denies or asks is about a call: one path or one command is enough.
pub(super) fn concern(rule: &Rule, standing: &Standing<'_>, call: CallFacts<'_>) -> Concern {
    let sure = |yes| if yes { Concern::Yes } else { Concern::No };
    match &rule.specifier {
        Specifier::Path(pattern) => {
            if call.paths.is_empty() {
                return Concern::No;
            }
            let patterns = path_pattern::absolute(rule, pattern, standing);
            // A file that must not be read must not be written either.
            let is_about = |fact: &&PathFact| {
                (fact.access == Access::Write || !rule.is_edit())
                    && patterns.iter().any(|p| glob::covers(p, &fact.path))
            };
            let found: Vec<&PathFact> = call.paths.iter().filter(is_about).collect();
            // What goes with a folder is asked about.
            match found.iter().any(|fact| !fact.is_brought()) {
                true => Concern::Yes,
                false if found.is_empty() => Concern::No,
                false => Concern::Perhaps,
            }
        }
        _ if !rule.names_tool(&call.tool.name) => Concern::No,
        Specifier::Any => Concern::Yes,
        Specifier::Command(pattern) => {
            (call.command).map_or(Concern::No, |line| line.concern(pattern))
        }
        Specifier::Domain(domain) => match call.url.map(|url| domain.covers(url)) {
            None => Concern::No,
            // Where the address leads is not known: perhaps there.
            Some(None) => Concern::Perhaps,
            Some(Some(yes)) => sure(yes),
        },
        Specifier::Name(pattern) => sure(call.name.is_some_and(|name| pattern.covers(name))),
    }
}

/// The rules that allow a call: all its paths, or all its commands, must be covered. Empty when the mode alone
/// allows all commands of a line.
fn allowed_by<'r>(
    rules: &[&'r Rule],
    standing: &Standing<'_>,
    call: CallFacts<'_>,
) -> Option<(Vec<&'r Rule>, Scope)> {
    let whole = |rule: &&&Rule| allows_whole(rule, standing, call);
    if let Some(rule) = rules.iter().find(whole) {
        return Some((alloc::vec![*rule], Scope::Whole));
    }
    let concerning: Vec<&Rule> = rules
        .iter()
        .copied()
        .filter(|rule| is_about_commands(rule, call.tool) || rule.is_edit() || rule.is_read())
        .collect();
    let parts = call
        .command?
        .allowed_by(&concerning, standing, call.paths)?;
    Some((parts, Scope::Parts))
}

/// Whether a rule by itself allows a call as a whole.
pub(super) fn allows_whole(rule: &Rule, standing: &Standing<'_>, call: CallFacts<'_>) -> bool {
    if let Specifier::Path(pattern) = &rule.specifier {
        let wanted = if rule.is_edit() {
            Access::Write
        } else {
            Access::Read
        };
        let patterns = path_pattern::absolute(rule, pattern, standing);
        let covered = |fact: &PathFact| {
            fact.access == wanted && patterns.iter().any(|p| glob::covers(p, &fact.path))
        };
        return call.command.is_none() && !call.paths.is_empty() && call.paths.iter().all(covered);
    }
    rule.names_tool(&call.tool.name)
        && match &rule.specifier {
            Specifier::Any => true,
            Specifier::Command(_) => {
                (call.command).is_some_and(|line| line.is_allowed_line(rule, standing))
            }
            Specifier::Domain(domain) => {
                call.url.is_some_and(|url| domain.covers(url) == Some(true))
            }
            Specifier::Name(pattern) => call.name.is_some_and(|name| pattern.covers(name)),
            Specifier::Path(_) => false,
        }
}

pub(super) fn is_about_commands(rule: &Rule, tool: &ToolDefinition) -> bool {
    matches!(rule.specifier, Specifier::Command(_)) && rule.names_tool(&tool.name)
}
