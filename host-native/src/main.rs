//! The command line program `windlass`.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cli;

/// A session is many small values, made by one thread and dropped by another: the allocator of the system grows the memory of a
/// thread page by page.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
