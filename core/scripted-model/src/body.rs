//! Converts the parts of a body to pieces: faults first, then chunks, then waits.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use bytes::{Bytes, BytesMut};
use windlass_core::id::Seeded;

use super::{
    script::{Chunks, Fault, Payload, Place, Response},
    wire::WireFormat,
};

/// One step of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The status line and the headers, names in lower case.
    Head {
        /// The status.
        status: u16,
        /// The headers.
        headers: Vec<(String, String)>,
    },
    /// Bytes of the body, to be sent at once.
    Bytes(Bytes),
    /// Wait for this many milliseconds.
    Delay(u64),
    /// Nothing more comes, and the connection stays open.
    Hang,
    /// Break the connection; the last piece.
    Cut,
    /// The answer is complete; the last piece.
    End,
}

/// The pieces of an answer whose body consists of these parts (for example the events of a stream).
pub(super) fn pieces(
    format: WireFormat,
    response: &Response,
    status: u16,
    headers: Vec<(String, String)>,
    parts: Vec<Bytes>,
) -> Vec<Piece> {
    let (parts, end) = with_event_faults(format, parts, &response.faults);
    let (parts, end) = with_byte_faults(format, parts, end, &response.faults);
    let mut out = Vec::new();
    wait(&mut out, response.waits.head);
    out.push(Piece::Head { status, headers });
    for chunk in cut(parts, &response.chunks) {
        wait(&mut out, response.waits.chunk);
        out.push(Piece::Bytes(chunk));
    }
    out.push(end);
    out
}

/// A connection that is closed without an answer.
pub(super) fn cut_off(response: &Response) -> Vec<Piece> {
    let mut out = Vec::new();
    wait(&mut out, response.waits.head);
    out.push(Piece::Cut);
    out
}

fn wait(out: &mut Vec<Piece>, ms: u64) {
    if ms > 0 {
        out.push(Piece::Delay(ms));
    }
}

/// The parts of a payload. Large payloads share one block of memory.
pub(super) fn payload_parts(payload: &Payload) -> Vec<Bytes> {
    const BLOCK: usize = 64 * 1024;
    if payload.unit.is_empty() || payload.repeat == 0 {
        return Vec::new();
    }
    let repeat = payload.repeat as usize;
    let a_block = (BLOCK / payload.unit.len()).clamp(1, repeat);
    let block = Bytes::from(payload.unit.repeat(a_block));
    let mut parts = alloc::vec![block.clone(); repeat / a_block];
    let rest = block.slice(..(repeat % a_block) * payload.unit.len());
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Inserts the faults that are positioned by events; those beyond the last event come after it.
fn with_event_faults(
    format: WireFormat,
    parts: Vec<Bytes>,
    faults: &[Fault],
) -> (Vec<Bytes>, Piece) {
    let last = parts.len();
    let mut out = Vec::with_capacity(last);
    for (sent, part) in parts.into_iter().map(Some).chain([None]).enumerate() {
        for fault in faults {
            let Place::Events(after) = fault.place() else {
                continue;
            };
            if after.min(last) != sent {
                continue;
            }
            if let Some(end) = fault.apply(format, &mut out) {
                return (out, end);
            }
        }
        out.extend(part);
    }
    (out, Piece::End)
}

/// Inserts the faults that are positioned by bytes; those beyond the last byte come after it.
fn with_byte_faults(
    format: WireFormat,
    parts: Vec<Bytes>,
    end: Piece,
    faults: &[Fault],
) -> (Vec<Bytes>, Piece) {
    let mut placed: Vec<(usize, &Fault)> = (faults.iter())
        .filter_map(|fault| match fault.place() {
            Place::Bytes(after) => Some((after, fault)),
            Place::Events(_) => None,
        })
        .collect();
    // Stable: two faults at one position occur in the order in which they are written.
    placed.sort_by_key(|(after, _)| *after);
    let mut placed = placed.into_iter().peekable();
    let mut out = Vec::with_capacity(parts.len());
    let mut sent = 0;
    for mut part in parts {
        while let Some((after, fault)) = placed.next_if(|(after, _)| *after < sent + part.len()) {
            let before = part.split_to(after - sent);
            sent = after;
            if !before.is_empty() {
                out.push(before);
            }
            if let Some(end) = fault.apply(format, &mut out) {
                return (out, end);
            }
        }
        sent += part.len();
        out.push(part);
    }
    for (_, fault) in placed {
        if let Some(end) = fault.apply(format, &mut out) {
            return (out, end);
        }
    }
    (out, end)
}

impl Fault {
    fn place(&self) -> Place {
        match self {
            Self::Insert(place, _)
            | Self::Error(place, _)
            | Self::Cut(place)
            | Self::End(place)
            | Self::Hang(place) => *place,
        }
    }

    /// Appends what the fault sends; returns the last piece if nothing follows.
    fn apply(&self, format: WireFormat, out: &mut Vec<Bytes>) -> Option<Piece> {
        match self {
            Self::Insert(_, payload) => {
                out.extend(payload_parts(payload));
                None
            }
            Self::Error(_, error) => {
                out.push(format.error_event(error));
                Some(Piece::End)
            }
            Self::Cut(_) => Some(Piece::Cut),
            Self::End(_) => Some(Piece::End),
            Self::Hang(_) => Some(Piece::Hang),
        }
    }
}

/// Splits the same bytes into pieces as the script specifies.
fn cut(parts: Vec<Bytes>, chunks: &Chunks) -> Vec<Bytes> {
    let mut next_size: alloc::boxed::Box<dyn FnMut() -> usize> = match *chunks {
        Chunks::Event => return parts,
        Chunks::Whole => alloc::boxed::Box::new(|| usize::MAX),
        Chunks::Bytes(size) => alloc::boxed::Box::new(move || size),
        Chunks::Random { seed, max } => {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            let mut random = Seeded::new(bytes);
            // Less than `max`, which is a usize.
            alloc::boxed::Box::new(move || random.below(max as u64) as usize + 1)
        }
    };
    let mut rest = joined(parts);
    let mut out = Vec::new();
    while !rest.is_empty() {
        // At least 1, otherwise the loop would not end.
        let size = next_size().clamp(1, rest.len());
        out.push(rest.split_to(size));
    }
    out
}

fn joined(parts: Vec<Bytes>) -> Bytes {
    let mut whole = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
    for part in &parts {
        whole.extend_from_slice(part);
    }
    whole.freeze()
}

/// The headers that the model sends by default, replaced or extended by those of the script.
pub(super) fn headers(
    content_type: &str,
    request_id: &str,
    own: &alloc::collections::BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let mut headers = Vec::from([
        ("content-type".to_owned(), content_type.to_owned()),
        ("request-id".to_owned(), request_id.to_owned()),
    ]);
    headers.retain(|(name, _)| !own.contains_key(name));
    headers.extend(own.iter().map(|(n, v)| (n.clone(), v.clone())));
    headers
}
