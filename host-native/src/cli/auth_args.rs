//! The arguments of `windlass auth`.

use clap::Subcommand;

/// What is wanted about the key.
#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Say which key is used; fails if there is none.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// There is no sign-in: says what to do instead.
    #[command(hide = true)]
    Login,
    /// There is no sign-in: says what to do instead.
    #[command(hide = true)]
    Logout,
}
