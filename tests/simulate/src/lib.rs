//! Simulated runs of the agent loop (`windlass_testkit::Sim`), natively and in WebAssembly.
//!
//! The module for wasm32 exports one function, `digest`, and imports nothing: natively the same seed must give the
//! same number.
#![deny(unsafe_code)]

pub mod engine;

use windlass_testkit::{Faults, Sim};

/// A number for everything that comes out of the run of a seed; 0 when it breaks a promise.
#[must_use]
pub fn digest(seed: u64) -> u64 {
    // Sessions that are taken up beside the run put nothing out: `simulate` has them.
    let faults = Faults {
        restore: 0,
        ..Faults::everything()
    };
    let run = Sim::generated().faults(faults).run(seed);
    run.map_or(0, |run| run.digest.value())
}

/// The same for a run of the engine.
#[must_use]
pub fn engine_digest(seed: u64) -> u64 {
    engine::run(seed).map_or(0, |run| run.digest)
}

/// [`engine_digest`] for a host of the module.
#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "an exported name counts as unsafe")]
#[unsafe(export_name = "engine_digest")]
extern "C" fn exported_engine(seed: u64) -> u64 {
    engine_digest(seed)
}

/// [`digest`] for a host of the module.
#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "an exported name counts as unsafe")]
#[unsafe(export_name = "digest")]
extern "C" fn exported(seed: u64) -> u64 {
    digest(seed)
}
