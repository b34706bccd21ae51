//! The same seeds natively and in WebAssembly: whatever happens to a session, it says the same bytes.
#![allow(clippy::unwrap_used)]

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use wasmtime::{Engine, Instance, Module, Store};
use windlass_simulate::{digest, engine_digest};
use windlass_tests::artefacts;

/// Seeds that are compared.
const SEEDS: u64 = 600;

#[test]
fn card_1_the_same_seed_gives_the_same_bytes_natively_and_in_wasm32() {
    let engine = Engine::default();
    let module = Module::from_file(&engine, artefacts::simulation()).unwrap();
    let next = AtomicU64::new(0);
    let work = || {
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let guest = instance
            .get_typed_func::<u64, u64>(&mut store, "digest")
            .unwrap();
        let around = instance
            .get_typed_func::<u64, u64>(&mut store, "engine_digest")
            .unwrap();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= SEEDS {
                return;
            }
            let wasm = guest.call(&mut store, seed).unwrap();
            assert_ne!(wasm, 0, "seed {seed} breaks a promise in WebAssembly");
            assert_eq!(wasm, digest(seed), "seed {seed}");
            let wasm = around.call(&mut store, seed).unwrap();
            assert_ne!(
                wasm, 0,
                "seed {seed} breaks a promise of the engine in WebAssembly"
            );
            assert_eq!(wasm, engine_digest(seed), "seed {seed} of the engine");
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    println!("{SEEDS} simulated runs, equal in both");
}
