//! What the end-to-end tests share.

pub mod artefacts;
pub mod compressed;

/// The examples of the README, compiled as they are printed.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
