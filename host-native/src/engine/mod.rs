//! The engine of the official Agent SDKs: `windlass` in the place of the executable that they start.
//!
//! An SDK writes lines to the engine's standard input and reads lines from its standard output
//! ([`windlass_engine::protocol`]). [`serve`] reads, decides and writes; everything it decides with is elsewhere:
//!
//! ```text
//! input ─▶ reader ─▶ Engine ─▶ Live (the session and its driver) ─▶ EngineHost ─▶ Output ─▶ writer ─▶ output
//!             └── answers ─▶ ControlChannel ◀── questions: permissions, hooks, in-process servers ──┘
//! ```
//!
//! The reader hands answers to whoever waits for them, past the engine's one task, so that nothing that is
//! being done keeps an answer from arriving.

mod actor;
mod agent_servers;
mod build;
mod changes;
mod channel;
mod checkpoints;
mod connections;
mod context;
mod control;
mod debug_log;
mod hooks;
mod hooks_listing;
mod host;
mod keeping;
mod launch;
mod life;
mod listings;
mod output;
mod own_places;
mod permissions;
mod preparing;
mod project_files;
mod prompts;
mod reader;
mod sdk_server;
mod server_requests;
mod servers;
mod session;
mod surroundings;

use std::time::Duration;

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use windlass_core::hook::Occurrence;
use windlass_engine::protocol::inbound::Inbound;

use self::{
    actor::Engine,
    servers::{Connected, Relisted},
};
pub use self::{
    build::{StartError, tool_names},
    launch::{Launch, ProjectTrust, Recording},
    permissions::{ExplainError, explain_call, left_out_untrusted, lint_settings},
    servers::read_config as read_servers,
};

/// How long the last lines may take to be written once the engine was told to stop: less than whoever told it waits before
/// ending it by force.
const LAST_LINES: Duration = Duration::from_millis(500);

/// How long an engine that cannot do what it was started for waits for the first words of the SDK.
const FIRST_WORDS: Duration = Duration::from_secs(1);

/// What happens to an engine.
enum Event {
    /// The SDK says something.
    Said(Inbound),
    /// The SDK says something that cannot be used.
    Unusable {
        /// What is wrong with it.
        problem: String,
        /// The control request it was meant to be.
        request_id: Option<String>,
    },
    /// The SDK has said all.
    InputEnded,
    /// Something has come to an end: perhaps nothing is owed any more.
    Settled,
    /// Something waits for the session to be quiet, which it was about to be.
    LookAgain,
    /// A server has answered, or has not.
    Connected(Connected, Option<server_requests::WaitingReply>),
    /// A server's tools have changed.
    Relisted(Relisted),
    /// An agent starts that may have servers of its own: whoever waits is told its tools.
    AgentStarts(String, oneshot::Sender<agent_servers::OwnTools>),
    /// Something of which hooks are told.
    Occurred(Box<Occurrence>),
    /// The session has ended; why, if it should not have.
    Ended {
        /// What went wrong.
        fault: Option<String>,
    },
}

/// How an engine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// In good order. The exit code is 1 where the last result was an error, else 0.
    Done {
        /// Whether the last result was an error.
        failed: bool,
    },
    /// It was told to stop, or nobody read what it wrote.
    Stopped,
}

/// Serves an SDK until its input has ended and nothing is owed to it any more, until nobody reads the output, or until
/// `stop` fires: then requests are closed and processes are killed, and what is written is whole.
///
/// Must be called inside a tokio runtime.
///
/// # Errors
/// [`StartError`] when what it was started with cannot be followed. Nothing has been written then.
pub async fn serve<R, W>(
    launch: Launch,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<Ending, StartError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (events, happening) = mpsc::unbounded_channel();
    let (mut engine, writing) = Engine::new(launch, events.clone(), output)?;
    let writer = tokio::spawn(writing);
    if let Err(problem) = engine.take_up().await {
        // Known to the SDKs: a result, no answer to anything, and the words on standard error.
        if engine.launch.tells_refusals {
            anstream::eprintln!("{problem}");
        }
        engine.refuse(&problem).await;
        // An SDK that finds nobody to write its first request to tells that, and not what the result says.
        heard(input, &stop).await;
        engine.output.close();
        return Ok(written(Ending::Done { failed: true }, writer, &stop).await);
    }
    let channel = engine.channel();
    let reader = tokio::spawn(reader::read(input, channel, events));
    let ending = engine.run(happening, stop.clone()).await;
    reader.abort();
    Ok(written(ending, writer, &stop).await)
}

/// Waits for the first words of the SDK, or its silence, for a moment.
async fn heard(mut input: impl AsyncRead + Unpin, stop: &CancellationToken) {
    let mut words = [0; 4096];
    tokio::select! {
        _ = input.read(&mut words) => {}
        () = stop.cancelled() => {}
        () = tokio::time::sleep(FIRST_WORDS) => {}
    }
}

/// Waits until what was said is written to its end: for as long as somebody reads it, however slowly, and for a moment
/// after being told to stop.
async fn written(ending: Ending, mut writer: JoinHandle<()>, stop: &CancellationToken) -> Ending {
    let stopped = async {
        if ending != Ending::Stopped {
            stop.cancelled().await;
        }
        tokio::time::sleep(LAST_LINES).await;
    };
    tokio::select! {
        // A panic of the writer ends it as well.
        _ = &mut writer => ending,
        () = stopped => {
            writer.abort();
            Ending::Stopped
        }
    }
}
