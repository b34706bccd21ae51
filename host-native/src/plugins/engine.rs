//! The wasmtime engine, created with the first call.

use wasmtime::{
    Config, Engine, OptLevel,
    component::{HasSelf, Linker},
};

use super::{bindings, call_state::CallState, ticker::Ticker, wasi};

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
            .generate_address_map(false)
            // For unwinders of others, which would have to be told each function at a start. Windows cannot do without.
            .native_unwind_info(cfg!(windows));
        let engine = Engine::new(&config)?;
        let mut linker = Linker::new(&engine);
        bindings::Tools::add_to_linker::<_, HasSelf<_>>(&mut linker, CallState::entered)?;
        wasi::add_to_linker(&mut linker)?;
        let ticker = Ticker::start(&engine)?;
        Ok(Self {
            engine,
            linker,
            ticker,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// A function that is linked in another way would not be counted as a call of the host.
    #[test]
    fn card_3_no_function_of_the_host_is_linked_uncounted() {
        let mut linked = 0;
        look(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plugins"),
            &mut linked,
        );
        // The own interfaces, WASI, and the three kinds of functions by which sockets are refused.
        assert_eq!(linked, 2 + 3);

        fn look(folder: &Path, linked: &mut usize) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    look(&path, linked);
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                // Not these words themselves.
                let text = text.split("#[cfg(test)]").next().unwrap();
                let ways = [
                    "::add_to_linker::<",
                    ".func_wrap",
                    ".func_new",
                    ".resource(",
                ];
                for way in ways {
                    for (at, _) in text.match_indices(way) {
                        let begins = &text[at..text.floor_char_boundary(at + 200)];
                        assert!(begins.contains("entered"), "{}: {begins}", path.display());
                        *linked += 1;
                    }
                }
            }
        }
    }
}
