//! What SQLite asks of the system it runs on: functions by name, as `sqlite-wasm-rs` describes them. A plugin has no clock, no time
//! zone and no randomness, so SQLite is told that there is none: `datetime('now')` is NULL, and `random()` begins anew in each call.
#![allow(unsafe_code, reason = "functions that C calls by their names")]

/// What a host answers that has no such thing (`sqlite_wasm_rs::host::Error::Unsupported`).
const UNSUPPORTED: i32 = 1;

#[unsafe(no_mangle)]
extern "C" fn rust_sqlite_wasm_host_sleep(_seconds: u64, _nanoseconds: u32) {}

#[unsafe(no_mangle)]
extern "C" fn rust_sqlite_wasm_host_random(_buffer: *mut u8, _length: usize) -> usize {
    0
}

#[unsafe(no_mangle)]
extern "C" fn rust_sqlite_wasm_host_epoch_timestamp_in_ms(_out: *mut i64) -> i32 {
    UNSUPPORTED
}

#[unsafe(no_mangle)]
extern "C" fn rust_sqlite_wasm_host_fill_entropy(_buffer: *mut u8, _length: usize) -> i32 {
    UNSUPPORTED
}

#[unsafe(no_mangle)]
extern "C" fn rust_sqlite_wasm_host_localtime(_seconds: i64, _out: *mut ()) -> i32 {
    UNSUPPORTED
}
