//! Lines read into trees, which run as they are printed anew. A stand-in for the permission code until it decides by trees.

use windlass_core::permission::Mode;
use windlass_shell::{CommandWord, Direction, SimpleCommand, print, read};

use crate::{
    permissions::Permissions,
    reading::{Form, Reading},
    run::Shell,
    stage::Stage,
};

/// Reads a line, and runs what was read.
#[derive(Debug, Clone, Copy)]
pub struct Tree;

impl Reading for Tree {
    fn passes(&self, line: &str, permissions: &Permissions, stage: &Stage) -> Option<Vec<Form>> {
        let line = read(line).ok()?;
        if line.obstacle.is_some() || !allows(&line.commands, permissions) {
            return None;
        }
        let programs = stage.programs();
        let path = |name: &str| {
            let path = programs.join(name);
            (!name.contains('/') && path.exists()).then(|| path.to_string_lossy().into_owned())
        };
        let text = print(&line.script, &path);
        Some(vec![
            Form::in_shell(Shell::Bash, text.clone()),
            Form::in_shell(Shell::Dash, text),
        ])
    }

    fn promises_same_result(&self) -> bool {
        true
    }
}

fn allows(commands: &[SimpleCommand], permissions: &Permissions) -> bool {
    let speaks = |command: &SimpleCommand| {
        matches!(
            builtin(command),
            Some("echo" | "printf" | "true" | "false" | ":" | "pwd")
        ) && command.assignments.is_empty()
            && command.redirections.is_empty()
            && command.words.iter().all(CommandWord::is_literal)
    };
    if !commands.is_empty() && commands.iter().all(speaks) {
        return true;
    }
    let moves = commands
        .iter()
        .any(|command| builtin(command) == Some("cd"));
    let mut has_reason = false;
    for command in commands {
        let assigns = !command.assignments.is_empty() && !command.words.is_empty();
        if assigns || !may_redirect(command, permissions) {
            return false;
        }
        if command.words.is_empty() {
            continue;
        }
        let in_other_folder = moves && command.words[0].text().starts_with("./");
        let by_rule =
            !in_other_folder && permissions.rules().any(|rule| command.begins_with(&rule));
        let by_mode = permissions.mode == Mode::AcceptEdits && edits(command);
        let harmless = command.wraps
            || matches!(
                builtin(command),
                Some("true" | "false" | ":" | "pwd" | "[" | "test" | "exit" | "break" | "continue")
            )
            || matches!(command.words.as_slice(), [cd, folder] if cd.text() == "cd" && is_below(folder));
        has_reason |= by_rule || by_mode;
        if !(by_rule || by_mode || harmless) {
            return false;
        }
    }
    has_reason
}

fn builtin(command: &SimpleCommand) -> Option<&str> {
    let name = command.words.first()?;
    name.is_literal().then(|| name.text())
}

fn edits(command: &SimpleCommand) -> bool {
    let name = builtin(command);
    matches!(name, Some("mkdir" | "touch" | "rm" | "mv" | "cp"))
        && command.words.len() > 1
        && command.words[1..].iter().all(is_below)
}

fn is_below(word: &CommandWord) -> bool {
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
