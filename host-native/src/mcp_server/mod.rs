//! The tools of plugins for clients of the Model Context Protocol: `windlass mcp serve`.
//!
//! `rmcp` speaks the protocol, with a handshake (up to 2025-11-25) or without one (2026-07-28), over standard input and output
//! ([`serve_stdio`]) or Streamable HTTP on loopback ([`HttpListener`]). What a client sends is a call, and is judged as one of a
//! model is; no message of the protocol changes what a call may do.

mod handler;
mod http;
mod stdio;

pub use self::{
    http::{AccessToken, HttpListener, ListenError},
    stdio::{ServeError, serve_stdio},
};
