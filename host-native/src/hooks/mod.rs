//! Hooks that are programs of the person's own.

mod command;

pub use command::HookCommand;
