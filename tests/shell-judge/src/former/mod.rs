//! The design that this judge is there to replace, kept so that the judge is seen to find something: command lines were
//! looked through by a scanner, and the text itself was given to a shell. [`scanner`] is that scanner as it was when
//! that ended; here is the little of the permission code that it takes to let lines pass by rules for commands.
//!
//! Nothing else may use this. It is wrong in every way that `classes.rs` lists, and stays so.

#[allow(clippy::pedantic, unreachable_pub, dead_code, unused_imports)]
mod scanner;

use windlass_core::permission::Mode;

use self::scanner::{Direction, SimpleCommand, Word, commands};
use crate::{
    permissions::Permissions,
    reading::{Form, Reading},
    run::Shell,
    stage::Stage,
};

/// Scans a line and runs its text.
#[derive(Debug, Clone, Copy)]
pub struct Former;

impl Reading for Former {
    fn passes(&self, line: &str, permissions: &Permissions, _: &Stage) -> Option<Vec<Form>> {
        allows(line, permissions).then(|| {
            let as_written = |shell| Form::in_shell(shell, line.to_owned());
            vec![as_written(Shell::Bash), as_written(Shell::Dash)]
        })
    }

    fn promises_same_result(&self) -> bool {
        false
    }
}

/// Whether a line ran unasked.
fn allows(line: &str, permissions: &Permissions) -> bool {
    let Ok(commands) = commands(line) else {
        return false;
    };
    if !permissions.forbidden.is_empty() {
        let forbidden = |command: &SimpleCommand| {
            command
                .program()
                .is_some_and(|name| permissions.forbidden.contains(&name))
        };
        return !commands.iter().any(forbidden);
    }
    let speaks = |command: &SimpleCommand| {
        (matches!(builtin(command), Some("echo" | "printf")) || does_nothing(command))
            && command.assignments.is_empty()
            && command.redirections.is_empty()
            && command.words.iter().all(Word::is_literal)
    };
    if !commands.is_empty() && commands.iter().all(speaks) {
        return true;
    }
    let moves = commands
        .iter()
        .any(|command| builtin(command) == Some("cd"));
    let mut has_reason = false;
    for command in &commands {
        if !command.assignments.is_empty() || !may_redirect(command, permissions) {
            return false;
        }
        if command.words.is_empty() {
            continue;
        }
        let in_other_folder = moves && command.words[0].text().starts_with("./");
        let by_rule =
            !in_other_folder && permissions.rules().any(|rule| command.begins_with(&rule));
        let by_mode = permissions.mode == Mode::AcceptEdits && edits(command);
        if by_rule || by_mode {
            has_reason = true;
        } else if !(command.wraps
            || does_nothing(command)
            || enters(command)
            || is_literal_test(command))
        {
            return false;
        }
    }
    has_reason
}

fn builtin(command: &SimpleCommand) -> Option<&str> {
    let name = command.words.first()?;
    name.is_literal().then(|| name.text())
}

fn does_nothing(command: &SimpleCommand) -> bool {
    matches!(builtin(command), Some("true" | "false" | ":" | "pwd"))
}

fn is_literal_test(command: &SimpleCommand) -> bool {
    matches!(builtin(command), Some("[" | "[[" | "test"))
        && command.words.iter().all(Word::is_literal)
}

fn enters(command: &SimpleCommand) -> bool {
    matches!(command.words.as_slice(), [cd, folder] if cd.text() == "cd" && is_below(folder))
}

fn edits(command: &SimpleCommand) -> bool {
    let name = builtin(command);
    matches!(name, Some("mkdir" | "touch" | "rm" | "mv" | "cp"))
        && command.words.len() > 1
        && command.words[1..].iter().all(is_below)
}

fn is_below(word: &Word) -> bool {
    let text = word.text();
    word.is_literal()
        && !text.is_empty()
        && !text.starts_with(['/', '-', '~'])
        && !text.contains("..")
}

fn may_redirect(command: &SimpleCommand, permissions: &Permissions) -> bool {
    let mut targets = command
        .redirections
        .iter()
        .filter(|r| r.direction == Direction::Out);
    targets.all(|redirection| {
        let target = &redirection.target;
        is_below(target) && permissions.may_write(target.text())
    })
}
