//! The permission code as it is: it lets lines pass, and what runs is the tree that it read.

use std::{fs::File, io, sync::Arc};

use windlass::bash::plan::{Control, Ending, Session, Streams, execute};
use windlass_core::{
    RawJson,
    permission::{CallSubject, Mode, PathFact, Scope, Standing, Verdict, command_paths, judge},
    spec::Environment,
    tool::{CommandPlan, PlannedFile, ToolDefinition},
};
use windlass_shell::{print, read};

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
        let files = resolved(line, stage);
        match approved(line, &files, permissions, stage)? {
            Scope::Whole => Some(vec![Form::in_shell(Shell::Bash, line.to_owned())]),
            Scope::Parts => {
                // A line that passes in parts has been read.
                let script = read(line).ok()?.script;
                let text = print(&script, &|name| stage.program(name));
                let directory = stage.work().to_string_lossy().into_owned();
                // No rules here are about the plain file commands: only the mode lets them run.
                let accepts = permissions.mode == Mode::AcceptEdits;
                let held = files.iter().filter(|_| accepts);
                let held = held.map(|fact| fact.written.clone()).collect();
                let files = files.into_iter().map(|fact| PlannedFile {
                    written: fact.written,
                    real: fact.path,
                    access: fact.access,
                });
                let plan = CommandPlan {
                    script,
                    workspace: vec![directory.clone()],
                    directory,
                    files: files.collect(),
                    held,
                    all_held: accepts,
                };
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

/// The files of a line as a host without links resolves them.
fn resolved(line: &str, stage: &Stage) -> Vec<PathFact> {
    let asked = command_paths(line, &stage.work().to_string_lossy());
    let fact = |asked: windlass_core::effect::ResolvePath| PathFact {
        path: real(&asked.path),
        access: asked.access,
        written: asked.path,
    };
    asked.into_iter().map(fact).collect()
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
fn approved(
    line: &str,
    files: &[PathFact],
    permissions: &Permissions,
    stage: &Stage,
) -> Option<Scope> {
    let mut tool = ToolDefinition::new("Bash", "", RawJson::empty_object());
    tool.command_param = Some("command".into());
    let subject = CallSubject {
        command: Some(line.to_owned()),
        ..CallSubject::default()
    };
    let environment = Environment {
        cwd: stage.work().to_string_lossy().into_owned(),
        home: Some(stage.home().to_string_lossy().into_owned()),
        ..Environment::default()
    };
    // The rules of the table can be read.
    let rules = permissions.as_rules().ok()?;
    let standing = Standing {
        free_workspace_reads: true,
        ..Standing::new(&rules, permissions.mode, &environment)
    };
    let decision = judge(&standing, subject.facts(&tool, files), None);
    (decision.verdict == Verdict::Allow).then_some(decision.scope)
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
        ..Outcome::default()
    })
}
