//! Plugins written in JavaScript and in Python, through the agent: the examples in `plugins/words-js` and
//! `plugins/csv-python`, and guests made for these tests in `tests/languages`.

#![allow(clippy::unwrap_used)]

mod connected;
mod javascript;
mod python;
mod server;
mod support;
mod types;
