//! What windlass promises of its parts, as suites of checks for parts of your own.
//!
//! [`store`]: for whoever writes a [`Store`](windlass_engine::store::Store).
#![forbid(unsafe_code)]

pub mod store;
