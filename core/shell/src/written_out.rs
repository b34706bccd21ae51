//! Lines in which nothing is left to be expanded: what they will do can be read off them.

use crate::{Command, Compound, Pipeline, Redirection, Runs, Script, Simple, Target, Word};

/// What may be opened without anybody having judged it.
const NOTHING: &str = "/dev/null";

/// Whether every word of a line stands for itself, and it changes neither directory nor variables, and opens no file.
pub(crate) fn is_written_out(script: &Script) -> bool {
    let lists = script.lists.iter();
    lists
        .flat_map(|list| {
            let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
            core::iter::once(&list.first).chain(rest)
        })
        .all(is_pipeline_written_out)
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
    simple.assignments.is_empty()
        && simple.words.iter().all(|word| word.as_literal().is_some())
        && simple.redirections.iter().all(opens_nothing)
        && !has_script
        && !moves
}

fn opens_nothing(redirection: &Redirection) -> bool {
    match &redirection.to {
        Target::Read(path) | Target::Write { path, .. } => path == NOTHING,
        Target::Text(word) => Word::as_literal(word).is_some(),
        Target::Duplicate(_) | Target::Close => true,
    }
}
