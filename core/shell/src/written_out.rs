//! Properties of a line known before it runs: that it has no expansions, or that it leaves its shell unchanged.

use crate::{
    Command, Compound, Pipeline, Redirection, Runs, Script, Simple, Target, Word, builtins, names,
};

/// The file that may be opened without permission.
const NOTHING: &str = "/dev/null";

/// Whether every word of a line is literal, and it changes neither directory nor variables, and opens no file.
pub(crate) fn is_written_out(script: &Script) -> bool {
    pipelines(script).all(is_pipeline_written_out)
}

fn pipelines(script: &Script) -> impl Iterator<Item = &Pipeline> {
    script.lists.iter().flat_map(|list| {
        let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
        core::iter::once(&list.first).chain(rest)
    })
}

fn is_pipeline_written_out(pipeline: &Pipeline) -> bool {
    pipeline.commands.iter().all(|command| match command {
        Command::Simple(simple) => is_simple_written_out(simple),
        Command::Compound { body, redirections } => {
            redirections.iter().all(opens_nothing)
                && match body {
                    Compound::Group(script) | Compound::Subshell(script) => is_written_out(script),
                    _ => false,
                }
        }
    })
}

fn is_simple_written_out(simple: &Simple) -> bool {
    let has_script = simple
        .runs
        .iter()
        .any(|run| matches!(run, Runs::Script { .. }));
    let moves = matches!(simple.program(), Some("cd" | "pushd" | "popd"));
    // Its input is not literal.
    let reads = simple.words.iter().any(|word| {
        word.as_literal()
            .is_some_and(|it| names::base_name(it) == "xargs")
    });
    simple.assignments.is_empty()
        && simple.words.iter().all(|word| word.as_literal().is_some())
        && simple.redirections.iter().all(opens_nothing)
        && !has_script
        && !moves
        && !reads
}

/// Whether a shell is unchanged by a line, except for its status: it runs programs, and builtins that only print.
#[must_use]
pub fn leaves_shell_alone(script: &Script) -> bool {
    let mut commands = pipelines(script).flat_map(|pipeline| &pipeline.commands);
    commands.all(command_leaves_shell_alone)
}

fn command_leaves_shell_alone(command: &Command) -> bool {
    match command {
        Command::Simple(simple) => simple_leaves_shell_alone(simple),
        Command::Compound { body, .. } => match body {
            Compound::Group(script) | Compound::Subshell(script) => leaves_shell_alone(script),
            _ => false,
        },
    }
}

fn simple_leaves_shell_alone(simple: &Simple) -> bool {
    let only_says = |name: &str| {
        matches!(
            name,
            ":" | "echo" | "true" | "false" | "pwd" | "test" | "[" | "exit"
        )
    };
    simple.assignments.is_empty()
        && (simple.program()).is_some_and(|name| {
            only_says(name) || !(builtins::is_builtin(name) || builtins::is_shell_only(name))
        })
}

fn opens_nothing(redirection: &Redirection) -> bool {
    match &redirection.to {
        Target::Read(path) | Target::Write { path, .. } => path == NOTHING,
        Target::Text(word) => Word::as_literal(word).is_some(),
        Target::Duplicate(_) | Target::Close => true,
    }
}
