//! Commands that the operating system confines, attacked from within. Where the kernel gives no namespaces nothing can be
//! attacked: the tests say so and pass.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod authority;
mod files;
mod leaving;
mod network;
mod processes;
mod sockets;
mod support;
