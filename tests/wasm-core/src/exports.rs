//! What the module exports: two buffers and functions over them.
//!
//! The host asks for room by `input`, writes there, and calls `start`, `handle` or another; what comes back,
//! an error or a line of `poll`, lies at `output` for `output_length` bytes.

// What counts as unsafe here: the attribute that gives a function its exported name, and that there is one thread.
#![allow(unsafe_code)]

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::RefCell;

use dlmalloc::GlobalDlmalloc;

use windlass_core::uuid_v4;

use crate::{Machine, beside};

/// Done, or nothing there.
const NONE: u32 = 0;
/// There is a line, or a snapshot, in the output buffer.
const LINE: u32 = 1;
/// There is an error in the output buffer.
const FAULT: u32 = 2;
const NOT_STARTED: &str = "no session was started";

struct State {
    machine: Option<Machine>,
    input: Vec<u8>,
    output: Vec<u8>,
}

struct OnlyThread(RefCell<State>);

// SAFETY: the module has no threads; two calls at once, which would need shared memory, are impossible.
unsafe impl Sync for OnlyThread {}

static STATE: OnlyThread = OnlyThread(RefCell::new(State {
    machine: None,
    input: Vec::new(),
    output: Vec::new(),
}));

#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

/// Nobody is there to be told.
#[panic_handler]
fn stop(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

impl OnlyThread {
    fn with_borrow<T>(&self, f: impl FnOnce(&State) -> T) -> T {
        f(&self.0.borrow())
    }

    fn with_borrow_mut<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.borrow_mut())
    }
}

/// Makes room for so many bytes of input, and says where.
#[unsafe(no_mangle)]
extern "C" fn input(length: u32) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length as usize, 0);
        state.input.as_mut_ptr()
    })
}

/// Starts a session from the task in the input buffer.
#[unsafe(no_mangle)]
extern "C" fn start() -> u32 {
    STATE.with_borrow_mut(|state| {
        let started = Machine::start(&String::from_utf8_lossy(&state.input));
        let done = started.map(|machine| state.machine = Some(machine));
        state.report(done.map_err(|fault| fault.to_string()))
    })
}

/// Hands the line in the input buffer to the session.
#[unsafe(no_mangle)]
extern "C" fn handle() -> u32 {
    STATE.with_borrow_mut(|state| {
        state.on_machine(|machine, input| {
            let line = String::from_utf8_lossy(input);
            machine.handle(&line).map_err(|fault| fault.to_string())
        })
    })
}

/// Puts the session away into the output buffer.
#[unsafe(no_mangle)]
extern "C" fn snapshot() -> u32 {
    STATE.with_borrow_mut(|state| {
        let bytes = match &state.machine {
            Some(machine) => machine.snapshot().map_err(|fault| fault.to_string()),
            None => Err(NOT_STARTED.to_owned()),
        };
        match bytes {
            Ok(bytes) => {
                state.output = bytes;
                LINE
            }
            Err(fault) => state.report(Err(fault)),
        }
    })
}

/// Takes up the session of the same task that was put away into the input buffer.
#[unsafe(no_mangle)]
extern "C" fn restore() -> u32 {
    STATE.with_borrow_mut(|state| {
        state.on_machine(|machine, input| machine.restore(input).map_err(|fault| fault.to_string()))
    })
}

/// Goes on with the conversation of the transcript in the input buffer.
#[unsafe(no_mangle)]
extern "C" fn resume() -> u32 {
    STATE.with_borrow_mut(|state| {
        state.on_machine(|machine, input| {
            machine.resume(uuid_v4([1; 16]), input);
            Ok(())
        })
    })
}

/// Goes on with a fork of the session.
#[unsafe(no_mangle)]
extern "C" fn fork() -> u32 {
    STATE.with_borrow_mut(|state| {
        state.on_machine(|machine, _| {
            machine.fork(uuid_v4([2; 16]));
            Ok(())
        })
    })
}

/// What the session says of itself, into the output buffer.
#[unsafe(no_mangle)]
extern "C" fn initialization() -> u32 {
    STATE.with_borrow_mut(|state| {
        let told = match &state.machine {
            Some(machine) => machine.initialization().map_err(|fault| fault.to_string()),
            None => Err(NOT_STARTED.to_owned()),
        };
        state.tell(told)
    })
}

/// Lint and explain for the layers and the command in the input buffer, into the output buffer.
#[unsafe(no_mangle)]
extern "C" fn rules() -> u32 {
    STATE.with_borrow_mut(|state| {
        let told = beside::rules(&String::from_utf8_lossy(&state.input));
        state.tell(told)
    })
}

/// Puts the next output into the output buffer.
#[unsafe(no_mangle)]
extern "C" fn poll() -> u32 {
    STATE.with_borrow_mut(
        |state| match state.machine.as_mut().and_then(Machine::poll) {
            Some(line) => {
                state.output = line.into_bytes();
                LINE
            }
            None => NONE,
        },
    )
}

/// Where the output is.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// How long it is, in bytes.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> u32 {
    // Addresses have 32 bits here.
    STATE.with_borrow(|state| state.output.len() as u32)
}

impl State {
    /// Does something with the session that was started, given what is in the input buffer.
    fn on_machine(&mut self, work: impl FnOnce(&mut Machine, &[u8]) -> Result<(), String>) -> u32 {
        let done = match &mut self.machine {
            Some(machine) => work(machine, &self.input),
            None => Err(NOT_STARTED.to_owned()),
        };
        self.report(done)
    }

    fn tell(&mut self, told: Result<String, String>) -> u32 {
        match told {
            Ok(line) => {
                self.output = line.into_bytes();
                LINE
            }
            Err(fault) => self.report(Err(fault)),
        }
    }

    fn report(&mut self, done: Result<(), String>) -> u32 {
        match done {
            Ok(()) => NONE,
            Err(fault) => {
                self.output = fault.into_bytes();
                FAULT
            }
        }
    }
}
