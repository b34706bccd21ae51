//! Command rules against shell lines, command by command.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    Mode, PathFact, Rule, Specifier, Standing, authority,
    command_files::{FileCommand, FileUse, Files, base_of, files_of, leaves_files_alone},
    command_pattern::{CommandPattern, Spelled},
    glob,
    judge::is_about_commands,
    path_pattern,
    path_pattern::{is_under, lexical},
};
use crate::tool::{Access, CommandPlan, PlannedFile, ToolDefinition};
use windlass_shell::{self as shell, CommandWord, Folder, SimpleCommand, Unparsed};

/// A shell line, taken apart once for all rules.
#[derive(Debug)]
pub(super) struct CommandLine<'a> {
    text: &'a str,
    /// As it stands: how a line begins is known even when the rest cannot be followed.
    raw: Spelled,
    /// Its commands: those of the tree, or those that it seems to run where it was not read. None when nothing is known.
    parts: Option<Vec<Part>>,
    /// What keeps its tree from being run in the place of its text, in words.
    obstacle: Option<String>,
    /// Whether the commands are all there are.
    is_read: bool,
}

/// The commands of a line, as far as they can be told; in a line that is not read, the folder of none is known once it
/// changes.
pub(super) fn commands_of(text: &str) -> Result<Vec<SimpleCommand>, Unparsed> {
    match shell::read(text) {
        Ok(line) => Ok(line.commands),
        Err(_) => scanned(text),
    }
}

fn scanned(text: &str) -> Result<Vec<SimpleCommand>, Unparsed> {
    let mut commands = shell::scan(text)?;
    let moves = |command: &SimpleCommand| {
        let plain = matches!(command.program(), Some("cd" | "pushd" | "popd"));
        // `env -C dir` and its like run elsewhere too.
        plain || command.wraps && command.words.iter().any(|w| w.text().starts_with("-C"))
    };
    if commands.iter().any(moves) {
        for command in &mut commands {
            command.folder = Folder::Unknown;
        }
    }
    Ok(commands)
}

/// What a host runs in the place of a line whose commands were judged one by one; none if only its whole text can run.
pub(crate) fn plan(
    text: &str,
    standing: &Standing<'_>,
    tool: &ToolDefinition,
    facts: &[PathFact],
) -> Option<CommandPlan> {
    let line = shell::read(text)
        .ok()
        .filter(|line| line.obstacle.is_none())?;
    let files = facts.iter().map(|fact| PlannedFile {
        written: fact.written.clone(),
        real: fact.path.clone(),
        access: fact.access,
    });
    let (held, all_held) = held(line.commands, standing, tool);
    Some(CommandPlan {
        script: line.script,
        directory: standing.command_directory.to_string(),
        workspace: standing.workspace_roots().map(String::from).collect(),
        files: files.collect(),
        held,
        all_held,
    })
}

/// The files of plain file commands that no rule lets run, and whether there are no others.
fn held(
    commands: Vec<SimpleCommand>,
    standing: &Standing<'_>,
    tool: &ToolDefinition,
) -> (Vec<String>, bool) {
    let rules = &standing.rules.allow;
    let (mut held, mut all) = (Vec::new(), true);
    for part in commands
        .into_iter()
        .map(|command| Part::of(command, standing.command_directory))
    {
        let FileCommand::Changes(uses) = &part.files.command else {
            continue;
        };
        match uses {
            Some(uses)
                if !rules
                    .iter()
                    .any(|rule| is_about_commands(rule, tool) && allows(rule, &part)) =>
            {
                held.extend(uses.iter().filter_map(|used| used.path.clone()));
            }
            _ => all = false,
        }
    }
    (held, all)
}

/// One command of a line.
#[derive(Debug)]
struct Part {
    command: SimpleCommand,
    spelled: Spelled,
    files: Files,
}

impl Part {
    fn of(command: SimpleCommand, directory: &str) -> Self {
        Self {
            spelled: Spelled::of(&command),
            files: files_of(&command, directory),
            command,
        }
    }
}

/// How sure it is that a rule concerns a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concern {
    No,
    /// A word of the rule is computed in the line, or stands behind options.
    Perhaps,
    Yes,
}

/// What lets a command of a line run.
enum Leave<'a> {
    Rule(&'a Rule),
    /// It writes in the workspace, and the mode accepts edits.
    Mode,
    /// It changes nothing by itself.
    Harmless,
}

impl<'a> CommandLine<'a> {
    pub(super) fn new(text: &'a str, directory: &str) -> Self {
        let (commands, obstacle, is_read) = match shell::read(text) {
            Ok(line) => {
                let obstacle = line.obstacle.map(|what| format!("it uses {what}"));
                (Some(line.commands), obstacle, true)
            }
            Err(why) => (scanned(text).ok(), Some(why.to_string()), false),
        };
        Self {
            text,
            raw: Spelled::of_text(text),
            parts: commands.map(|commands| {
                let part = |command| Part::of(command, directory);
                commands.into_iter().map(part).collect()
            }),
            obstacle,
            is_read,
        }
    }

    /// Why its commands may not be all there are, in words; none if they are.
    pub(super) fn unread(&self) -> Option<&str> {
        self.obstacle.as_deref().filter(|_| !self.is_read)
    }

    /// Why only its whole text can be approved, in words; none if its commands can be judged one by one.
    pub(super) fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    /// The commands of the line as texts, for people; wrappers are left out.
    pub(super) fn commands(&self) -> impl Iterator<Item = &SimpleCommand> {
        let parts = self.parts.iter().flatten().map(|part| &part.command);
        parts.filter(|command| !command.wraps && !command.words.is_empty())
    }

    /// Whether its commands are all there are, and each is one of these as it stands. What a wrapper runs is one; the wrapper is
    /// another.
    pub(super) fn are_all(&self, patterns: &[CommandPattern]) -> bool {
        let is_one = |part: &Part| {
            part.command.assignments.is_empty()
                && (patterns.iter()).any(|pattern| pattern.matches(&part.spelled))
        };
        let parts = self.parts.as_deref().unwrap_or_default();
        self.obstacle.is_none() && !parts.is_empty() && parts.iter().all(is_one)
    }

    /// Whether a rule that denies or asks is about any command of the line.
    pub(super) fn concern(&self, pattern: &CommandPattern) -> Concern {
        let parts = self.parts.iter().flatten();
        let begins = !pattern.is_exact() && pattern.matches(&self.raw);
        if pattern.is_line(self.text)
            || begins
            || parts
                .clone()
                .any(|part| pattern.matches_anywhere(&part.spelled))
        {
            Concern::Yes
        } else if parts
            .into_iter()
            .any(|part| pattern.may_hide_in(&part.command))
        {
            Concern::Perhaps
        } else {
            Concern::No
        }
    }

    /// Whether a word of the line names a file that a deny rule closes, as far as the words show it. What the
    /// host has resolved is judged as a path; this is for all the other words.
    pub(super) fn names_closed_file(&self, rule: &Rule, standing: &Standing<'_>) -> bool {
        let Specifier::Path(pattern) = &rule.specifier else {
            return false;
        };
        let patterns = path_pattern::absolute(rule, pattern, standing);
        let closed = |path: &str| patterns.iter().any(|pattern| glob::covers(pattern, path));
        let mut parts = self.parts.iter().flatten();
        parts.any(|part| {
            let program = part.command.program().unwrap_or_default();
            !(rule.is_edit() && leaves_files_alone(program))
                && named_paths(&part.command, standing).any(|path| closed(&path))
        })
    }

    /// A place that becomes authority and that a command names which may change it, as far as its words show it.
    pub(super) fn names_authority(&self, standing: &Standing<'_>) -> Option<String> {
        let parts = self.parts.iter().flatten();
        let changing = parts.filter(|part| {
            let program = part.command.program().unwrap_or_default();
            !leaves_files_alone(program) && !authority::keeps_its_own(program)
        });
        changing
            .flat_map(|part| named_paths(&part.command, standing).chain(part.files.landing.clone()))
            .find(|path| authority::is_place(path, standing.environment))
    }

    /// Whether the line does nothing but say what is written in it: its words are literal, and nothing is opened,
    /// computed or set.
    pub(super) fn only_speaks(&self) -> bool {
        let speaks = |part: &Part| {
            let command = &part.command;
            let says = matches!(builtin(command), Some("echo" | "printf"));
            (says || does_nothing(command))
                && command.assignments.is_empty()
                && command.redirections.is_empty()
                && command.words.iter().all(CommandWord::is_literal)
        };
        let parts = self.parts.as_deref().unwrap_or_default();
        self.obstacle.is_none() && !parts.is_empty() && parts.iter().all(speaks)
    }

    /// Whether the line is one that a rule allows as it is, whatever it does. In another directory than the one the rule was
    /// written for, the same words may mean other files and programs.
    pub(super) fn is_allowed_line(&self, rule: &Rule, standing: &Standing<'_>) -> bool {
        standing.command_directory == standing.environment.cwd
            && matches!(&rule.specifier, Specifier::Command(pattern) if pattern.is_line(self.text))
    }

    /// The rules that allow the line, if every command in it may run: by a rule, by the mode that accepts
    /// edits, or because it is harmless. None of these is reason enough to allow a line that is harmless only.
    pub(super) fn allowed_by<'r>(
        &self,
        rules: &[&'r Rule],
        standing: &Standing<'_>,
        facts: &[PathFact],
    ) -> Option<Vec<&'r Rule>> {
        let mut named: Vec<&Rule> = Vec::new();
        let mut has_reason = false;
        // Only what can be run as it was judged is judged command by command.
        let parts = self.parts.as_deref().filter(|_| self.obstacle.is_none())?;
        for part in parts {
            // A command whose environment is changed is not the one that was allowed. By themselves, assignments are the
            // line's own affair.
            if !part.command.assignments.is_empty() && !part.command.words.is_empty() {
                return None;
            }
            for redirection in &part.files.redirections {
                match may_open(redirection, rules, standing, facts)? {
                    Leave::Rule(rule) => remember(&mut named, rule),
                    Leave::Mode => has_reason = true,
                    Leave::Harmless => {}
                }
            }
            if part.command.words.is_empty() {
                continue;
            }
            match may_run(part, rules, standing, facts)? {
                Leave::Rule(rule) => remember(&mut named, rule),
                Leave::Mode => has_reason = true,
                Leave::Harmless => {}
            }
        }
        (has_reason || !named.is_empty()).then_some(named)
    }

    /// The rules of these that allow at least one command of the line.
    pub(super) fn allows_a_part(&self, rule: &Rule) -> bool {
        let mut parts = self.parts.iter().flatten();
        parts.any(|part| allows(rule, part))
    }
}

/// The paths that the words of a command may mean.
fn named_paths(command: &SimpleCommand, standing: &Standing<'_>) -> impl Iterator<Item = String> {
    let directory = standing.command_directory;
    // Where it is not known, the directory in which the line begins is the best guess.
    let base = base_of(&command.folder, directory).unwrap_or_else(|| directory.to_string());
    let home = standing.environment.home.clone();
    let redirections = command.redirections.iter().map(|r| &r.target);
    let arguments = command.words.iter().skip(1);
    let literal = |word: &&CommandWord| word.is_literal() || word.text().starts_with("~/");
    let texts = arguments
        .chain(redirections)
        .filter(literal)
        .flat_map(|word| {
            let text = word.text();
            // `--file=x` and `if=x` name x.
            let value = text.split_once('=').map(|(_, value)| value);
            [Some(text), value].into_iter().flatten()
        });
    texts
        .filter(|text| !text.is_empty())
        .map(move |text| match (text.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => lexical(home, rest),
            _ => lexical(&base, text),
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn remember<'r>(named: &mut Vec<&'r Rule>, rule: &'r Rule) {
    if !named.contains(&rule) {
        named.push(rule);
    }
}

fn allows(rule: &Rule, part: &Part) -> bool {
    matches!(&rule.specifier, Specifier::Command(pattern) if pattern.matches(&part.spelled))
}

fn may_run<'r>(
    part: &Part,
    rules: &[&'r Rule],
    standing: &Standing<'_>,
    facts: &[PathFact],
) -> Option<Leave<'r>> {
    let program = part.command.words.first()?.text();
    // In another folder a relative program is another program.
    let base = base_of(&part.command.folder, standing.command_directory);
    let moved = base.is_none_or(|base| lexical("/", &base) != standing.environment.cwd);
    let is_certain = !(moved && program.contains('/') && !program.starts_with('/'));
    if let Some(rule) = rules.iter().find(|rule| is_certain && allows(rule, part)) {
        return Some(Leave::Rule(rule));
    }
    // What another program starts in its own way cannot be held to what is judged here.
    if standing.mode() == Mode::AcceptEdits
        && !part.command.by_others
        && edits_workspace(part, standing, facts)
    {
        return Some(Leave::Mode);
    }
    let harmless = part.command.wraps
        || does_nothing(&part.command)
        || matches!(&part.files.command, FileCommand::Enters(folder)
            if folder.path.is_none()
                || fact(folder, facts).is_some_and(|real| standing.in_workspace(real)))
        || matches!(builtin(&part.command), Some("[" | "test"));
    harmless.then_some(Leave::Harmless)
}

/// What the shell does by itself if it knows the name. With a folder before it, `true` is anybody's program.
fn builtin(command: &SimpleCommand) -> Option<&str> {
    let name = command.words.first()?;
    name.is_literal().then(|| name.text())
}

/// What changes nothing, whatever its words are.
fn does_nothing(command: &SimpleCommand) -> bool {
    matches!(
        builtin(command),
        Some("true" | "false" | ":" | "pwd" | "exit" | "break" | "continue")
    )
}

fn may_open<'r>(
    redirection: &FileUse,
    rules: &[&'r Rule],
    standing: &Standing<'_>,
    facts: &[PathFact],
) -> Option<Leave<'r>> {
    // A plan opens nothing that is not known.
    let real = fact(redirection, facts)?;
    if redirection.access == Access::Read {
        // The program could open it by itself; what must not be read is denied elsewhere.
        return Some(Leave::Harmless);
    }
    let covers = |rule: &&&Rule| match &rule.specifier {
        Specifier::Path(pattern) => {
            let patterns = path_pattern::absolute(rule, pattern, standing);
            rule.is_edit() && patterns.iter().any(|pattern| glob::covers(pattern, real))
        }
        Specifier::Any => rule.is_edit(),
        _ => false,
    };
    if let Some(rule) = rules.iter().find(covers) {
        return Some(Leave::Rule(rule));
    }
    let accepted = standing.mode() == Mode::AcceptEdits && standing.in_workspace(real);
    accepted.then_some(Leave::Mode)
}

/// Whether a command only changes files in the workspace, and no closed file goes with them.
fn edits_workspace(part: &Part, standing: &Standing<'_>, facts: &[PathFact]) -> bool {
    let FileCommand::Changes(Some(uses)) = &part.files.command else {
        return false;
    };
    uses.iter().all(|used| {
        fact(used, facts).is_some_and(|real| {
            let is_root = standing.workspace_roots().any(|root| is_under(real, root));
            standing.in_workspace(real)
                && !(used.removed && is_root && !used.is_folder_of_it)
                && !standing
                    .deny_rules()
                    .any(|rule| lies_below(rule, real, standing))
        })
    })
}

/// Whether what a deny rule closes may lie somewhere below a folder.
fn lies_below(rule: &Rule, folder: &str, standing: &Standing<'_>) -> bool {
    let Specifier::Path(pattern) = &rule.specifier else {
        return false;
    };
    let patterns = path_pattern::absolute(rule, pattern, standing);
    patterns
        .iter()
        .any(|pattern| glob::may_cover_below(pattern, folder))
}

/// Where the host says that a file of the line really is.
fn fact<'f>(used: &FileUse, facts: &'f [PathFact]) -> Option<&'f str> {
    let path = used.path.as_deref()?;
    facts
        .iter()
        .find(|fact| fact.access == used.access && fact.written == path)
        .map(|fact| fact.path.as_str())
}

/// A command's words as a person would write them, for suggestions.
pub(super) fn plain_words(command: &SimpleCommand) -> Option<Vec<String>> {
    let plain = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_./:=@+,".contains(&b))
    };
    command
        .words
        .iter()
        .map(|word| (word.is_literal() && plain(word.text())).then(|| word.text().to_string()))
        .collect()
}
