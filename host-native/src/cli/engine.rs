//! `windlass --input-format stream-json …`: the engine of an SDK.

use std::{env, path::PathBuf, process::ExitCode};

use tokio::io::{stdin, stdout};
use tokio_util::sync::CancellationToken;
use windlass::{
    engine::{Ending, Launch, serve},
    warning::warn,
};
use windlass_engine::protocol::{PROTOCOL_VERSION, flags::asks_for_engine};

use super::{
    Exit,
    keys::variable,
    os::output_closed,
    signals::{Stop, watch},
};

/// The exit code for invalid options, as SDKs expect it.
const UNUSABLE: u8 = 1;

/// Serves an SDK if the command line requests it.
pub(super) fn serve_if_asked() -> Option<ExitCode> {
    let words: Vec<String> = env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    asks_for_engine(&words).then(|| serve_words(&words))
}

/// The version line for an SDK and its tools; `None` for people. SDKs are recognized by the environment, or by the
/// name of the executable.
pub(super) fn version_line() -> Option<String> {
    let is_sdk = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let name = env::args_os().next().map(PathBuf::from);
    let is_claude = name.is_some_and(|name| name.file_stem().is_some_and(|stem| stem == "claude"));
    let asked = is_claude || is_sdk("CLAUDE_CODE_ENTRYPOINT") || is_sdk("CLAUDE_AGENT_SDK_VERSION");
    asked.then(|| format!("{PROTOCOL_VERSION} (Claude Code)"))
}

fn serve_words(words: &[String]) -> ExitCode {
    let launch = match Launch::read(words, variable) {
        Ok(launch) => launch,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            return UNUSABLE.into();
        }
    };
    for flag in &launch.flags.unknown {
        warn(&format!("the option {flag} is not known and has no effect"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            return UNUSABLE.into();
        }
    };
    let code = runtime.block_on(run(launch));
    // A blocking read of standard input cannot be cancelled; nothing else is left.
    runtime.shutdown_background();
    code
}

async fn run(launch: Launch) -> ExitCode {
    let stop = CancellationToken::new();
    let mut signals = match watch() {
        Ok(signals) => signals,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            return UNUSABLE.into();
        }
    };
    let stopping = stop.clone();
    let seen = signals.clone();
    let _watching = tokio::spawn(async move {
        if signals.changed().await.is_ok() {
            stopping.cancel();
        }
    });
    let unread = stop.clone();
    let _watching_output = tokio::spawn(async move {
        output_closed().await;
        unread.cancel();
    });
    let ending = serve(launch, stdin(), stdout(), stop).await;
    let signal = match *seen.borrow() {
        Stop::No => None,
        Stop::Orderly(signal) | Stop::Now(signal) => Some(signal),
    };
    match ending {
        Ok(Ending::Done { failed }) => u8::from(failed).into(),
        Ok(_) => signal.map_or(Exit::PipeClosed, Exit::Signal).into(),
        Err(error) => {
            anstream::eprintln!("error: {error}");
            UNUSABLE.into()
        }
    }
}
