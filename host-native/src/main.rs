//! The command line program `windlass`.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
