//! Judged command lines, run without a shell: the same as by bash, and no more than was judged.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

mod attacks;
mod held;
mod lines;
mod named;
mod same;
mod stopping;
mod support;
