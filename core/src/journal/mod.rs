//! Journals: everything that was said to a session, and everything it said, one JSON object a line.
//!
//! A [`Recorder`] turns a session and writes along; [`Journal::parse`] reads what it wrote, and
//! [`Journal::replay`] turns a session anew with the same inputs: it gives the same outputs, or the first
//! [`Difference`]. A journal needs nothing beside itself: its first line carries the task.
//!
//! ```text
//! {"windlass":"journal","version":1,"task":{"seed":…,"session_id":…,"spec":{…}},"snapshot":null}
//! {"now":{"mono":5,"wall":1700000000000},"input":{"prompt":{"content":[…]}}}
//! {"output":{"message":{"type":"system","subtype":"init",…}}}
//! {"output":{"effect":[{"session":…,"agent":0,"turn":1,…},{"http":{…,"body":{"same":0,"then":"{…"}}}]}}
//! {"now":…,"input":{"answer":[{…},{"http_body":"event: message_start\n…"}]}}
//! ```
//!
//! - Bytes are text where they are UTF-8, else `{"base64": …}`.
//! - The body of a request is what it has in common with the request before, in bytes, and what then follows: a
//!   long conversation is written once.
//! - An input that the session refused is followed by `{"refused": …}`.
//! - A session that goes on with another spec has a line `{"configure": …}` with a task that holds it.
//! - A session that was not fresh when the recording began stands in `snapshot`.
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
