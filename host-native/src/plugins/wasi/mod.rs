//! WASI 0.2 for components whose toolchain needs it, with nothing behind it beyond what the call was granted.
//!
//! The clock stands still, at the time when the call started. Random bytes come from the system. There are no environment
//! variables, no arguments, no input and no sockets. What is printed goes to the log. Files are those of the call's own
//! [`Reach`](crate::files::Reach): the granted directories, under their absolute paths, with the same rules and refusals as
//! `windlass:host/filesystem`.

mod bindings;
mod cli;
mod clocks;
mod descriptor;
mod directories;
mod filesystem;
pub(super) mod handles;
mod io;
pub(super) mod listings;
pub(super) mod open_files;
mod place;
mod printed;
mod random;
mod sockets;

use wasmtime::component::{HasSelf, Linker};

use super::call_state::CallState;

/// The interfaces that a component may import, of any version 0.2.
const INTERFACES: [&str; 27] = [
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:sockets/network",
    "wasi:sockets/instance-network",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/ip-name-lookup",
];

/// Whether a component may import this interface, named with its version.
pub(super) fn is_linked(import: &str) -> bool {
    import.split_once('@').is_some_and(|(interface, version)| {
        version.starts_with("0.2.") && INTERFACES.contains(&interface)
    })
}

/// Links the interfaces.
pub(super) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    bindings::Wasi::add_to_linker::<_, HasSelf<_>>(linker, CallState::entered)?;
    sockets::add_to_linker(linker)
}

impl CallState {
    /// Keeps the files that the call wrote and did not close.
    ///
    /// # Errors
    /// Which file could not be kept.
    pub(super) fn keep_written_files(&mut self) -> wasmtime::Result<()> {
        Ok(self.call.files.keep_all(&mut self.call.reach)?)
    }
}
