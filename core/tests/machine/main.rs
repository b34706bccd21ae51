//! The machine from outside: inputs in, outputs out; no clock, no socket, no waiting.

#![cfg(feature = "testkit")]
#![allow(clippy::unwrap_used)]

mod harness;
mod simulation;
