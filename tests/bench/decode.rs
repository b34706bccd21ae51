//! Decoding a long stream: the core's decoder against flat typed structs over split lines.

use std::{hint::black_box, time::Instant};

use windlass_core::provider::{Provider, messages::MessagesApi};

use crate::{
    flat::FlatResponse,
    server::text_events,
    table::{Goal, Table, in_turns},
};

const DELTAS: usize = 20_000;
/// What a socket gives at a time.
const CHUNK: usize = 16 << 10;

pub(crate) fn measure(table: &mut Table) {
    let stream = text_events(DELTAS);
    let megabytes = stream.len() as f64 / 1e6;
    let (ours, flat) = in_turns(
        15,
        || megabytes / seconds(|| core_decoder(stream.as_bytes())),
        || megabytes / seconds(|| flat_decoder(stream.as_bytes())),
    );
    table.pair(
        "decode a stream of 20,000 text deltas",
        "MB/s",
        ours,
        flat,
        Goal::AtLeast(0.7),
    );
}

fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

fn core_decoder(stream: &[u8]) -> usize {
    let mut decoder = MessagesApi.decoder("text/event-stream", false);
    for chunk in stream.chunks(CHUNK) {
        decoder.feed(chunk).expect("the stream is valid");
    }
    let response = decoder.finish().expect("the stream is complete");
    response.content.len()
}

fn flat_decoder(stream: &[u8]) -> usize {
    let mut response = FlatResponse::default();
    let mut held: Vec<u8> = Vec::new();
    for chunk in stream.chunks(CHUNK) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if held.is_empty() {
                response.line(&rest[..end]);
            } else {
                held.extend_from_slice(&rest[..end]);
                response.line(&held);
                held.clear();
            }
            rest = &rest[end + 1..];
        }
        held.extend_from_slice(rest);
    }
    assert!(response.done);
    response.text.len()
}
