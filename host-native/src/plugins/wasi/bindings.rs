//! Bindings that wasmtime generates from `wasi/`, with this crate's types for resources.

#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

wasmtime::component::bindgen!({
    path: "wasi",
    world: "windlass:wasi/wasi",
    imports: { default: trappable },
    with: {
        "wasi:io/error.error": super::handles::Failure,
        "wasi:io/poll.pollable": super::handles::Pollable,
        "wasi:io/streams.input-stream": super::handles::Input,
        "wasi:io/streams.output-stream": super::handles::Output,
        "wasi:filesystem/types.descriptor": super::handles::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": super::handles::ListingId,
        "wasi:cli/terminal-input.terminal-input": super::handles::NoTerminal,
        "wasi:cli/terminal-output.terminal-output": super::handles::NoTerminal,
    },
});
