//! Random bytes, all from the system.

use super::bindings::wasi::random::{insecure, insecure_seed, random};
use crate::plugins::call_state::CallState;

/// How many bytes are given at once. The interface has no error for more, so asking for more ends the call.
const MOST: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
#[error("it asked for {0} random bytes at once, the limit is {MOST}")]
struct TooMany(u64);

fn bytes<const N: usize>() -> wasmtime::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

impl random::Host for CallState {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.may_go_on()?;
        let length = usize::try_from(len.min(MOST)).unwrap_or(0);
        if len > MOST {
            return Err(TooMany(len).into());
        }
        let mut bytes = vec![0; length];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(bytes)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        bytes().map(u64::from_le_bytes)
    }
}

impl insecure::Host for CallState {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        random::Host::get_random_bytes(self, len)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        bytes().map(u64::from_le_bytes)
    }
}

impl insecure_seed::Host for CallState {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((
            bytes().map(u64::from_le_bytes)?,
            bytes().map(u64::from_le_bytes)?,
        ))
    }
}
