//! Whether rules and the mode allow every command of a line.

use alloc::vec::Vec;

use windlass_shell::{CommandWord, SimpleCommand};

use super::{
    CommandLine, Part,
    files::{FileCommand, FileUse},
};
use crate::{
    permission::{
        PathFact, PolicyContext, Rule, Specifier, glob,
        path::{is_under, lexical},
        path_pattern,
    },
    tool::Access,
};

/// Why a command of a line may run.
enum AllowReason<'a> {
    Rule(&'a Rule),
    /// It writes in the workspace, and the mode accepts edits.
    Mode,
    /// It has no effect by itself.
    Harmless,
}

impl CommandLine {
    /// Whether the line only prints literal text, or the current directory after entering folders of the workspace. Its words are
    /// literal, and nothing is opened, computed or set.
    pub(in crate::permission) fn only_speaks(
        &self,
        policy: &PolicyContext<'_>,
        facts: &[PathFact],
    ) -> bool {
        let speaks = |part: &Part| {
            let command = &part.command;
            let is_literal = command.words.iter().all(CommandWord::is_literal);
            let enters = matches!(&part.files.command, FileCommand::Enters(folder)
                if fact(folder, facts).is_some_and(|real| policy.in_workspace(real)));
            (says_what_is_written(command) || (does_nothing(command) || enters) && is_literal)
                && command.assignments.is_empty()
                && command.redirections.is_empty()
        };
        let parts = &self.parts;
        self.obstacle.is_none() && !parts.is_empty() && parts.iter().all(speaks)
    }

    /// Whether a rule allows the line as it is, whatever it does. In a directory other than the one the rule was written for, or
    /// after a command has set a variable it uses, the same words may mean other files and programs.
    pub(in crate::permission) fn is_allowed_line(
        &self,
        rule: &Rule,
        policy: &PolicyContext<'_>,
    ) -> bool {
        matches!(&rule.specifier, Specifier::Command(pattern) if pattern.is_line(&self.text))
            && self.directory == policy.environment.cwd
            && !self.is_changed_by_variables()
    }

    /// The rules that allow the line, if every command in it may run: by a rule, by the mode that accepts edits, or because it is
    /// harmless. A line with only harmless commands is not allowed by this.
    pub(in crate::permission) fn allowed_by<'r>(
        &self,
        rules: &[&'r Rule],
        policy: &PolicyContext<'_>,
        facts: &[PathFact],
    ) -> Option<Vec<&'r Rule>> {
        let mut named: Vec<&Rule> = Vec::new();
        let mut has_reason = false;
        // Only a line that can run as it was judged is judged command by command.
        if self.obstacle.is_some() {
            return None;
        }
        for part in &self.parts {
            // A command with a changed environment is not the one that was allowed. Assignments without a command affect only the
            // line itself.
            if !part.command.assignments.is_empty() && !part.command.words.is_empty() {
                return None;
            }
            for redirection in &part.files.redirections {
                match may_open(redirection, part, rules, policy, facts)? {
                    AllowReason::Rule(rule) => remember(&mut named, rule),
                    AllowReason::Mode => has_reason = true,
                    AllowReason::Harmless => {}
                }
            }
            if part.command.words.is_empty() {
                continue;
            }
            match may_run(part, rules, policy, facts)? {
                AllowReason::Rule(rule) => remember(&mut named, rule),
                AllowReason::Mode => has_reason = true,
                AllowReason::Harmless => {}
            }
        }
        (has_reason || !named.is_empty()).then_some(named)
    }

    /// Whether a rule allows at least one command of the line.
    pub(in crate::permission) fn allows_a_part(&self, rule: &Rule) -> bool {
        self.parts.iter().any(|part| allows(rule, part))
    }
}

fn remember<'r>(named: &mut Vec<&'r Rule>, rule: &'r Rule) {
    if !named.contains(&rule) {
        named.push(rule);
    }
}

pub(super) fn allows(rule: &Rule, part: &Part) -> bool {
    matches!(&rule.specifier, Specifier::Command(pattern) if pattern.matches(&part.spelled))
}

fn may_run<'r>(
    part: &Part,
    rules: &[&'r Rule],
    policy: &PolicyContext<'_>,
    facts: &[PathFact],
) -> Option<AllowReason<'r>> {
    part.command.words.first()?;
    // In another folder, a relative path names another program.
    let base = part.base.as_deref();
    let has_moved = || base.is_none_or(|base| lexical("/", base) != policy.environment.cwd);
    let is_certain = !(is_of_the_folder(&part.command) && has_moved());
    if let Some(rule) = rules.iter().find(|rule| is_certain && allows(rule, part)) {
        return Some(AllowReason::Rule(rule));
    }
    // Commands started by another program cannot be judged here.
    if policy.mode().accepts_edits()
        && !part.command.by_others
        && edits_workspace(part, policy, facts)
    {
        return Some(AllowReason::Mode);
    }
    let harmless = part.command.wraps
        || does_nothing(&part.command)
        || !part.command.by_others && says_what_is_written(&part.command)
        || matches!(&part.files.command, FileCommand::Enters(folder)
            if folder.path.is_none()
                || fact(folder, facts).is_some_and(|real| policy.in_workspace(real)))
        || matches!(builtin(&part.command), Some("[" | "test"));
    harmless.then_some(AllowReason::Harmless)
}

/// Whether the folder in which a command runs determines which program it runs: the program is named by a relative path, or it is
/// a shell whose script is.
fn is_of_the_folder(command: &SimpleCommand) -> bool {
    let mut words = command.words.iter().map(CommandWord::text);
    let program = words.next().unwrap_or_default();
    let is_relative = |path: &str| !path.starts_with('/');
    match program.rsplit('/').next() {
        Some("sh" | "bash" | "dash") => {
            is_relative(program) && program.contains('/')
                || words.any(|word| !word.starts_with('-') && is_relative(word))
        }
        _ => program.contains('/') && is_relative(program),
    }
}

/// The name of a command that the shell may run as a builtin. With a folder in front, `true` can be any program.
fn builtin(command: &SimpleCommand) -> Option<&str> {
    let name = command.words.first()?;
    name.is_literal().then(|| name.text())
}

/// Whether a command only prints text of the line and the status of the previous command, and nothing from elsewhere.
fn says_what_is_written(command: &SimpleCommand) -> bool {
    matches!(builtin(command), Some("echo" | "printf"))
        && (command.words.iter()).all(CommandWord::is_literal_beside_status)
}

/// Whether a command has no effect, whatever its arguments.
fn does_nothing(command: &SimpleCommand) -> bool {
    matches!(
        builtin(command),
        Some("true" | "false" | ":" | "pwd" | "exit" | "break" | "continue")
    )
}

fn may_open<'r>(
    redirection: &FileUse,
    part: &Part,
    rules: &[&'r Rule],
    policy: &PolicyContext<'_>,
    facts: &[PathFact],
) -> Option<AllowReason<'r>> {
    // A plan opens only files that were resolved.
    let real = fact(redirection, facts)?;
    let reads = redirection.access == Access::Read;
    if reads && (policy.in_workspace(real) || reads_by_itself(part, rules)) {
        return Some(AllowReason::Harmless);
    }
    let is_about = |rule: &Rule| match reads {
        true => rule.is_read(),
        false => rule.is_edit(),
    };
    let covers = |rule: &&&Rule| match &rule.specifier {
        Specifier::Path(pattern) => {
            let patterns = path_pattern::absolute(rule, pattern, policy);
            is_about(rule) && patterns.iter().any(|pattern| glob::covers(pattern, real))
        }
        Specifier::Any => is_about(rule),
        _ => false,
    };
    if let Some(rule) = rules.iter().find(covers) {
        return Some(AllowReason::Rule(rule));
    }
    if reads {
        return (real == "/dev/null").then_some(AllowReason::Harmless);
    }
    let accepted = policy.mode().accepts_edits() && policy.in_workspace(real);
    accepted.then_some(AllowReason::Mode)
}

/// Whether a command could itself open the file it is given as input, since a rule allows the program. Files that must not be
/// read are denied elsewhere. `xargs` forwards what it reads, and a builtin does not read.
fn reads_by_itself(part: &Part, rules: &[&Rule]) -> bool {
    let program = builtin(&part.command).unwrap_or_default();
    if part.command.wraps {
        return program != "xargs";
    }
    !windlass_shell::is_builtin(program) && rules.iter().any(|rule| allows(rule, part))
}

/// Whether a command only changes files in the workspace, and no file excluded by a deny rule is part of them.
fn edits_workspace(part: &Part, policy: &PolicyContext<'_>, facts: &[PathFact]) -> bool {
    let FileCommand::Changes(Some(uses)) = &part.files.command else {
        return false;
    };
    uses.iter().all(|used| {
        fact(used, facts).is_some_and(|real| {
            let is_root = policy.workspace_roots().any(|root| is_under(real, root));
            policy.in_workspace(real)
                && !(used.removed && is_root && !used.is_folder_of_it)
                && !(used.carried
                    && policy
                        .deny_rules()
                        .any(|rule| lies_below(rule, real, policy)))
        })
    })
}

/// Whether a deny rule covers something below a folder, judged by its text. For rules that apply in any folder (`**`), the host
/// has searched the folder ([`ResolvedPath::holds`](crate::permission::ResolvedPath::holds)).
fn lies_below(rule: &Rule, folder: &str, policy: &PolicyContext<'_>) -> bool {
    let Some(pattern) = rule.file_pattern() else {
        return false;
    };
    let patterns = path_pattern::absolute(rule, pattern, policy);
    patterns
        .iter()
        .any(|pattern| glob::may_cover_below(pattern, folder))
}

/// The resolved path of a file of the line, according to the host.
fn fact<'f>(used: &FileUse, facts: &'f [PathFact]) -> Option<&'f str> {
    let path = used.path.as_deref()?;
    facts
        .iter()
        .find(|fact| fact.access == used.access && fact.written == path)
        .map(|fact| fact.path.as_str())
}
