//! The wasmtime engine, created with the first call.

use wasmtime::{
    Config, Engine, OptLevel,
    component::{HasSelf, Linker},
};

use super::{bindings, host::CallState, ticker::Ticker, wasi};

/// wasmtime, with the interfaces that components may import.
pub(super) struct Runtime {
    pub(super) engine: Engine,
    pub(super) linker: Linker<CallState>,
    pub(super) ticker: Ticker,
}

impl Runtime {
    pub(super) fn start() -> wasmtime::Result<Self> {
        Self::compiling(OptLevel::Speed, false)
    }

    /// One that counts the instructions of calls: counting is compiled into the code of components, and costs time.
    pub(super) fn start_counting() -> wasmtime::Result<Self> {
        Self::compiling(OptLevel::Speed, true)
    }

    /// For a component that runs once: compiling an interpreter takes longer than it runs.
    pub(super) fn start_for_once() -> wasmtime::Result<Self> {
        Self::compiling(OptLevel::None, false)
    }

    fn compiling(level: OptLevel, counts_fuel: bool) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config
            .wasm_component_model(true)
            .cranelift_opt_level(level)
            .epoch_interruption(true)
            .consume_fuel(counts_fuel)
            // The same component must give the same result on every machine.
            .wasm_relaxed_simd(false)
            // Errors describe traps in words; tables that map machine code to the source would only take space.
            .generate_address_map(false);
        let engine = Engine::new(&config)?;
        let mut linker = Linker::new(&engine);
        bindings::Tools::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        wasi::add_to_linker(&mut linker)?;
        let ticker = Ticker::start(&engine)?;
        Ok(Self {
            engine,
            linker,
            ticker,
        })
    }
}
