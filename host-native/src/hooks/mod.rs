//! Hooks that are commands of the user.

mod command;

pub use command::HookCommand;
