//! What the module exports: two buffers and three functions over them.
//!
//! The host asks for room by `input`, writes there, and calls `start` or `handle`; what comes back,
//! an error or a line of `poll`, lies at `output` for `output_length` bytes.

// Only the attribute that gives a function its exported name counts as unsafe here.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::Machine;

/// Done, or nothing there.
const NONE: u32 = 0;
/// There is a line, or a snapshot, in the output buffer.
const LINE: u32 = 1;
/// There is an error in the output buffer.
const FAULT: u32 = 2;
const NOT_STARTED: &str = "no session was started";

#[derive(Default)]
struct State {
    machine: Option<Machine>,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
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
        let done = match &mut state.machine {
            Some(machine) => machine
                .handle(&String::from_utf8_lossy(&state.input))
                .map_err(|fault| fault.to_string()),
            None => Err(NOT_STARTED.to_owned()),
        };
        state.report(done)
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
        let done = match &mut state.machine {
            Some(machine) => machine
                .restore(&state.input)
                .map_err(|fault| fault.to_string()),
            None => Err(NOT_STARTED.to_owned()),
        };
        state.report(done)
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
