//! `windlass acp`: an agent for editors. It speaks the Agent Client Protocol (ACP, version 1) on standard input and output.
//!
//! Each session is an engine of its own in this process, with the editor in the place of the person at a terminal:
//!
//! ```text
//! editor ─▶ connection ─▶ Sessions ─▶ Session ─▶ Client ─▶ engine
//!    ◀───── updates, questions ────────┘   ◀──── frames ─────┘
//! ```
//!
//! Files are read and written by the tools of the engine, and commands run where the engine runs them: the file and terminal
//! methods of editors are not used, so what rules, hooks and the sandbox say holds as on the command line.

mod connection;
mod content;
mod history;
mod launch;
mod offer;
mod options;
mod outcome;
mod permission;
mod rpc;
mod session;
mod sessions;
mod tool_call;
mod update;

use std::{sync::Arc, time::Duration};

use tokio::io::stdout;

use self::{
    rpc::{Editor, write},
    sessions::Sessions,
};
use super::{
    Exit,
    args::AcpArgs,
    signals::{Stop, watch},
    start_error::StartError,
};

/// How long writing the last lines may take.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Serves an editor until its input ends or a signal arrives; then all sessions are closed.
///
/// # Errors
/// [`StartError`]: signals cannot be watched.
pub(super) async fn acp(args: AcpArgs) -> Result<Exit, StartError> {
    let mut stops = watch().map_err(StartError::Runtime)?;
    let sessions = Arc::new(Sessions::new(args));
    let (editor, lines) = Editor::new();
    let mut writing = tokio::spawn(write(lines, stdout()));
    let exit = tokio::select! {
        () = connection::read(&sessions, Arc::new(editor)) => Exit::Done,
        _ = &mut writing => Exit::PipeClosed,
        Ok(()) = stops.changed() => match *stops.borrow() {
            Stop::No => Exit::Failed, // it has changed
            Stop::Orderly(signal) | Stop::Now(signal) => Exit::Signal(signal),
        },
    };
    sessions.close_all().await;
    // Nobody holds the way to the editor any more, so that the writer ends once everything is written, if somebody reads it.
    if exit != Exit::PipeClosed {
        let _ = tokio::time::timeout(LAST_LINES, writing).await;
    }
    Ok(exit)
}
