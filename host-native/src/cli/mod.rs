//! The command line: input, output and exit codes.

mod acp;
mod args;
mod asked_for;
mod auth;
mod auth_args;
mod call;
mod choices;
mod client;
mod connection;
mod demo;
mod doctor;
mod engine;
mod flow;
mod install_args;
mod keys;
mod launch;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod mcp_args;
#[cfg(unix)]
mod mcp_report;
#[cfg(unix)]
mod mcp_serve;
mod model;
mod models;
mod os;
mod permission_args;
mod permissions;
mod person;
mod plain;
mod plugin;
mod plugin_args;
mod prompt;
mod question;
mod record;
#[cfg(unix)]
mod reexec;
mod render;
mod replay;
mod report;
mod run;
mod sessions;
mod signal_listener;
mod signals;
mod start_error;
mod styles;
mod terminal;
mod trust;
mod trust_question;

use std::{future::Future, io, process::ExitCode, time::Duration};

use clap::CommandFactory as _;
use windlass::warning::warn;

use self::{
    args::{Command, CommandLine, ModelCommand, RunArgs, SessionsCommand, VERSION},
    person::Person,
    signal_listener::Signal,
    signals::Stop,
    start_error::StartError,
};

/// How long remaining tasks may take to stop at the end.
const LAST_WORK: Duration = Duration::from_secs(1);

/// How the process exits. The codes are documented in `docs/cli.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// Success.
    Done,
    /// The run ended with an error, or a check failed.
    Failed,
    /// The command line is invalid.
    Usage,
    /// A required file, key or setting cannot be used; nothing was started.
    NotStarted,
    /// A signal ended it.
    Signal(Signal),
    /// The reader of its output is gone.
    PipeClosed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotStarted => 3,
            Exit::Signal(signal) => signal.exit_code(),
            Exit::PipeClosed => 141,
        })
    }
}

/// Parses the command line and runs the command.
pub(crate) fn main() -> ExitCode {
    keys::put_away();
    // SDKs use a different command line, in which options that are unknown here are ignored.
    if let Some(code) = engine::serve_if_asked() {
        return code;
    }
    let line = match auth::command_line() {
        Ok(line) => line,
        Err(error) => {
            // Prints help or usage; a closed pipe does not matter.
            let _ = error.print();
            return match error.use_stderr() {
                true => Exit::Usage.into(),
                false => Exit::Done.into(),
            };
        }
    };
    let done = match line.command {
        None if line.run.version => print_version(),
        None => on_runtime(run_prompt(line.run)),
        Some(Command::Run(args)) if args.version => print_version(),
        Some(Command::Run(args)) => on_runtime(run_prompt(*args)),
        Some(Command::Replay(args)) => on_runtime(replay::replay(args)),
        Some(Command::Demo(args)) => on_runtime(demo::demo(args)),
        Some(Command::Doctor(args)) => on_runtime(doctor::doctor(args)),
        Some(Command::Permissions(command)) => permissions::permissions(command),
        #[cfg(unix)]
        Some(Command::Mcp(command)) => on_runtime(mcp::mcp(command)),
        Some(Command::Sessions(command)) => on_runtime(sessions::sessions(command)),
        Some(Command::Plugin(command)) => on_runtime(plugin::plugin(command)),
        Some(Command::Acp(args)) => on_runtime(acp::acp(*args)),
        Some(Command::Auth(command)) => auth::auth(command),
        Some(Command::Models(args)) => models::models(&args),
        Some(Command::Model(ModelCommand::Serve(args))) => on_runtime(model::serve(args)),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(error) => complain(&error).into(),
    }
}

fn print_version() -> Result<Exit, StartError> {
    use std::io::Write as _;
    let line = engine::version_line().unwrap_or_else(|| VERSION.to_owned());
    Ok(match writeln!(io::stdout(), "{line}") {
        Ok(()) => Exit::Done,
        Err(_) => Exit::PipeClosed,
    })
}

/// Runs a future on a new runtime. Tasks that are left at its end are stopped.
fn on_runtime(work: impl Future<Output = Result<Exit, StartError>>) -> Result<Exit, StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_WORK);
    done
}

/// `windlass "what to do"`, or a conversation without a prompt.
async fn run_prompt(args: RunArgs) -> Result<Exit, StartError> {
    if args.resume.as_deref() == Some("") {
        anstream::eprintln!("windlass: --resume takes the id of a session; this folder has these:");
        sessions::sessions(SessionsCommand::List).await?;
        return Ok(Exit::Usage);
    }
    let form = report::Form::of(&args);
    let has_person = form == report::Form::People && terminal::has_person();
    let given = match (&args.prompt, has_person) {
        (None, true) => None,
        _ => Some(prompt::read(args.prompt.as_deref())?),
    };
    let stops = signals::watch().map_err(StartError::Runtime)?;
    let mut launch = launch::launch(&args, form.wants_partial_messages(&args), has_person)?;
    let mut person = has_person.then(Person::default);
    let mut trusted = None;
    if let Some(person) = &mut person {
        let mut stops = stops.clone();
        tokio::select! {
            biased;
            Ok(()) = stops.changed() => {
                anstream::eprintln!();
                return Ok(match *stops.borrow() {
                    Stop::No => Exit::Failed, // it has changed
                    Stop::Orderly(signal) | Stop::Now(signal) => Exit::Signal(signal),
                });
            }
            asked = trust::ask(&mut launch, person) => trusted = asked?,
        }
    }
    let mut reporter = report::Reporter::new(form, &args);
    let front = run::Front { person, trusted };
    run::run(launch, given, front, &mut reporter, stops).await
}

/// Prints why nothing was started.
fn complain(error: &StartError) -> Exit {
    if let StartError::Usage(problem) = error {
        // In the style of clap's own errors, with the usage.
        let explained =
            CommandLine::command().error(clap::error::ErrorKind::ValueValidation, problem);
        let _ = explained.print(); // standard error is all there is to say it on
        return Exit::Usage;
    }
    warn(&error.to_string());
    Exit::NotStarted
}
