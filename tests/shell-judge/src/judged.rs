//! The permission code as it is: it lets lines pass, and what runs is the tree that it read.

use std::{fs::File, io, sync::Arc};

use windlass::bash::plan::{Control, Ending, Session, Streams, execute};
use windlass_core::{
    RawJson,
    permission::{CallSubject, CommandLine, PathFact, PolicyContext, Scope, Verdict, judge},
    spec::Environment,
    tool::{CommandPlan, ToolDefinition},
};
use windlass_shell::print;

use crate::{
    deadline::Deadline,
    permissions::Permissions,
    reading::{Form, Reading},
    run::{Outcome, Shell},
    stage::Stage,
};

/// Judges a line by its rules, and runs what was judged: as it is printed for bash and for dash, and without a shell.
#[derive(Debug, Clone, Copy)]
pub struct Judged;

impl Reading for Judged {
    fn passes(&self, line: &str, permissions: &Permissions, stage: &Stage) -> Option<Vec<Form>> {
        let line = CommandLine::read(line, &stage.work().to_string_lossy());
        match approved(line, permissions, stage)? {
            Approved::Whole(text) => Some(vec![Form::in_shell(Shell::Bash, text)]),
            Approved::Parts(plan) => {
                let text = print(&plan.script, &|name| stage.program(name));
                Some(vec![
                    Form::in_shell(Shell::Bash, text.clone()),
                    Form::in_shell(Shell::Dash, text),
                    native(plan),
                ])
            }
        }
    }

    fn promises_same_result(&self) -> bool {
        true
    }
}

/// What of a line may run.
pub(crate) enum Approved {
    Whole(String),
    Parts(CommandPlan),
}

/// The files of a line as a host without links resolves them.
fn resolved(line: &CommandLine) -> Vec<PathFact> {
    let fact = |asked: windlass_core::effect::ResolvePath| PathFact {
        path: real(&asked.path),
        access: asked.access,
        written: asked.path,
    };
    line.paths().into_iter().map(fact).collect()
}

fn real(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// What of a line may run unasked.
pub(crate) fn approved(
    line: CommandLine,
    permissions: &Permissions,
    stage: &Stage,
) -> Option<Approved> {
    let mut tool = ToolDefinition::new("Bash", "", RawJson::empty_object());
    tool.command_param = Some("command".into());
    let files = resolved(&line);
    let subject = CallSubject {
        command: Some(line),
        ..CallSubject::default()
    };
    let environment = Environment {
        cwd: stage.work().to_string_lossy().into_owned(),
        home: Some(stage.home().to_string_lossy().into_owned()),
        ..Environment::default()
    };
    // The rules of the table can be read.
    let rules = permissions.as_rules().ok()?;
    let policy = PolicyContext {
        free_workspace_reads: true,
        ..PolicyContext::new(&rules, permissions.mode, &environment)
    };
    let facts = subject.facts(&tool, &files);
    let decision = judge(&policy, facts, None);
    let line = facts
        .command
        .filter(|_| decision.verdict == Verdict::Allow)?;
    match decision.scope {
        Scope::Whole => Some(Approved::Whole(line.text().to_owned())),
        Scope::Parts => line.plan(&policy, &tool, &files).map(Approved::Parts),
    }
}

/// The plan that the core makes of a line, run without a shell.
fn native(plan: CommandPlan) -> Form {
    Form::native(Box::new(move |stage| run_plan(&plan, stage)))
}

fn run_plan(plan: &CommandPlan, stage: &Stage) -> io::Result<Outcome> {
    let variables = stage
        .variables()
        .map(|(name, value)| (name.into(), value.into()));
    let session = Session::new(&plan.directory, variables).map_err(io::Error::other)?;
    let [stdout, stderr] = stage.outputs();
    let streams = Streams {
        stdin: File::open(stage.input())?.into(),
        stdout: File::create(&stdout)?.into(),
        stderr: File::create(&stderr)?.into(),
    };
    let control = Arc::new(Control::new()?);
    let stop = Arc::clone(&control);
    let deadline = Deadline::new(move || stop.kill());
    let ended = execute(plan, &session, streams, &control).map_err(io::Error::other)?;
    drop(deadline);
    let status = match ended.how {
        Ending::Code(code) => Some(code),
        Ending::Signal(signal) => Some(128 + signal),
        Ending::Stopped => None,
    };
    Ok(Outcome {
        stdout: std::fs::read(stdout)?,
        stderr: std::fs::read(stderr)?,
        status,
        withheld: ended.withheld,
        ..Outcome::default()
    })
}
