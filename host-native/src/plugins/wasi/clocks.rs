//! Clocks that stand still: a component cannot measure what it does, nor what the host does for it.

use std::time::UNIX_EPOCH;

use wasmtime::component::Resource;

use super::{
    bindings::wasi::clocks::{monotonic_clock, wall_clock},
    handles::Pollable,
};
use crate::plugins::call_state::CallState;

/// What the monotonic clock shows, in nanoseconds; not 0, which some programs take for "not set".
const NOW: u64 = 1_000_000_000;

/// One millisecond, in nanoseconds.
const RESOLUTION: u32 = 1_000_000;

impl monotonic_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<u64> {
        self.may_go_on()?;
        Ok(NOW)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(RESOLUTION.into())
    }

    /// Waiting takes no time, as the clock would not show it.
    fn subscribe_instant(&mut self, _when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.may_go_on()?;
        self.instance.handles.add(Pollable)
    }

    fn subscribe_duration(&mut self, _time: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.may_go_on()?;
        self.instance.handles.add(Pollable)
    }
}

impl wall_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.may_go_on()?;
        // A clock before 1970 is as good as none.
        let since = self.call.started.duration_since(UNIX_EPOCH);
        let since = since.unwrap_or_default();
        Ok(wall_clock::Datetime {
            seconds: since.as_secs(),
            nanoseconds: since.subsec_millis() * 1_000_000,
        })
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime {
            seconds: 0,
            nanoseconds: RESOLUTION,
        })
    }
}
