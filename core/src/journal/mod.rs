//! Journals: all inputs and outputs of a session, one JSON object per line.
//!
//! A [`Recorder`] runs a session and records it; [`Journal::parse`] reads the recording, and [`Journal::replay`] runs a new
//! session with the same inputs: it gives the same outputs, or reports the first [`Difference`]. A journal is self-contained: its
//! first line holds the session request, `task`.
//!
//! ```text
//! {"windlass":"journal","version":1,"task":{"seed":…,"session_id":…,"spec":{…}},"snapshot":null}
//! {"now":{"mono":5,"wall":1700000000000},"input":{"prompt":{"content":[…]}}}
//! {"output":{"message":{"type":"system","subtype":"init",…}}}
//! {"output":{"effect":[{"session":…,"agent":0,"turn":1,…},{"http":{…,"body":{"same":0,"then":"{…"}}}]}}
//! {"now":…,"input":{"answer":[{…},{"http_body":"event: message_start\n…"}]}}
//! ```
//!
//! - Bytes are text if they are UTF-8, otherwise `{"base64": …}`.
//! - The body of a request is stored as `same`, the number of leading bytes that are equal to those of the previous request, and
//!   `then`, the rest. A long conversation is thus stored once.
//! - An input that the session refused is followed by `{"refused": …}`.
//! - A change of the spec is a line `{"configure": …}` with a session request that contains the new spec.
//! - If the recording began with a restored session, its state is in `snapshot`.
//!
//! ```
//! use std::sync::Arc;
//! use windlass_core::{Now, Input, Prompt, Spec, Uuid};
//! use windlass_core::journal::{Journal, Recorder};
//!
//! let mut lines = String::new();
//! let mut session = Recorder::start(Arc::new(Spec::default()), Uuid::from_u128(7), [7; 32], |line| {
//!     lines += line;
//!     lines += "\n";
//! });
//! session.handle(Now::default(), Input::Prompt(Prompt::text("hello")))?;
//! while session.poll().is_some() {}
//! drop(session);
//! let journal = Journal::parse(&lines)?;
//! assert_eq!(journal.steps.len(), 1);
//! journal.replay()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod digest;
mod line;
mod read;
mod record;
mod replay;

pub use self::{
    digest::Digest,
    read::{Journal, JournalCall, JournalError, JournalStep},
    record::Recorder,
    replay::{Difference, Replayed},
};

/// The version this library writes, and the newest it reads.
pub const JOURNAL_VERSION: u32 = 1;
