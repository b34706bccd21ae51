//! The contract of stores ([`windlass_engine::store`]), as checks.
//!
//! ```
//! use windlass_engine::store::MemoryStore;
//! use windlass_testkit::store::{Place, check};
//!
//! /// A place of its own for each check; what is opened in it twice is the same sessions.
//! #[derive(Default)]
//! struct Memory(MemoryStore);
//!
//! impl Place for Memory {
//!     type Store = MemoryStore;
//!     async fn store(&self) -> MemoryStore {
//!         self.0.again()
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let failed = check(Memory::default).await;
//! assert!(failed.is_empty(), "{failed:#?}");
//! # }
//! ```

mod crash;
mod kept;
mod leases;

use std::future::Future;

use windlass_core::{RawJson, SessionId, uuid_v4};
use windlass_engine::store::{Batch, Lease, Store, StoreError};

/// A place where a store keeps sessions: a folder, a database. It outlives the stores that are opened in it, as a disk
/// outlives processes.
pub trait Place {
    /// The store under test.
    type Store: Store;

    /// Opens a store over the sessions of this place, as a new process would. Dropping it is the end of that process.
    fn store(&self) -> impl Future<Output = Self::Store>;

    /// Truncates a transcript in the middle of its last line, as a process that is killed while writing may leave it. A store
    /// that cannot be left in this state need not do anything.
    fn tear(&self, _session: SessionId) {}

    /// Waits until the clock of the store has gone on: timestamps of files advance a few hundred times a second. By default the
    /// thread sleeps, which only works where there are threads.
    fn pause(&self) -> impl Future<Output = ()> {
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::future::ready(())
    }
}

/// A broken promise of the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{check}: {found}")]
pub struct Broken {
    /// The check, in the words of the contract.
    pub check: &'static str,
    /// What was found instead.
    pub found: String,
}

/// Runs every check, each in a new place, and returns the broken promises.
pub async fn check<P: Place>(place: impl Fn() -> P) -> Vec<Broken> {
    let mut broken = Vec::new();
    let mut note = |check: &'static str, done: Result<(), String>| {
        broken.extend(done.err().map(|found| Broken { check, found }));
    };
    macro_rules! checks {
        ($($words:literal => $check:path,)*) => {
            $(note($words, $check(&place()).await);)*
        };
    }
    checks! {
        "lines are kept in the order in which they were appended" => kept::in_order,
        "what is appended is there for another store at once" => kept::at_once,
        "nothing is kept of a session before its first line" => kept::nothing_before_the_first_line,
        "each subagent has a transcript of its own" => kept::by_agent,
        "long lines and every character are kept as they are" => kept::as_they_are,
        "a snapshot is kept beside the lines, and is of the past once a line follows" => kept::snapshots,
        "documents are kept by name, the last one of each" => kept::documents,
        "documents grow at their end" => kept::growing,
        "names that lead elsewhere are no names of documents" => kept::names,
        "settings are replaced only where they are what was read" => kept::settings,
        "a listing names the sessions, those that were appended to last first" => kept::listed,
        "a session that is renamed, tagged or forked is lines like others" => kept::titles_and_forks,
        "a session that is deleted is gone, with everything beside it" => kept::deleted,
        "a session that is there does not begin again" => leases::exists,
        "a session that is not there does not go on" => leases::unknown,
        "a session has one writer, and the second is told so" => leases::one_writer,
        "what a writer leaves behind is there for the next one" => leases::one_after_the_other,
        "a lease that was given back is refused" => leases::stale,
        "a later lease has a higher epoch" => leases::epochs,
        "the end of a process ends its leases" => leases::end_with_their_process,
        "a session that is written to is not deleted" => leases::keep_from_deletion,
        "a process that ends between any two steps leaves what was acknowledged" => crash::between_steps,
        "a torn line is taken away before the next one is appended" => crash::torn,
    }
    broken
}

fn session(n: u8) -> SessionId {
    uuid_v4([n; 16])
}

fn line(n: u32) -> RawJson {
    text_line(&format!("line {n}"))
}

fn text_line(text: &str) -> RawJson {
    let text = RawJson::string(text);
    // A string in braces as a field is a valid object.
    RawJson::parse(format!(r#"{{"type":"note","text":{}}}"#, text.get()))
        .unwrap_or_else(|_| RawJson::null())
}

fn text_of(lines: &[RawJson]) -> Vec<u8> {
    let ended = lines.iter().map(|line| format!("{}\n", line.get()));
    ended.collect::<String>().into_bytes()
}

async fn append<S: Store>(store: &S, lease: &Lease, lines: &[RawJson]) -> Result<(), String> {
    let batch = Batch {
        lines,
        ..Batch::default()
    };
    let done = store.append(lease, batch).await;
    done.map_err(|error| format!("append: {error}"))
}

async fn text<S: Store>(store: &S, session: SessionId) -> Result<Vec<u8>, String> {
    let stored = store.load(session, None).await;
    let stored = stored.map_err(|error| format!("load: {error}"))?;
    Ok(stored.unwrap_or_default().text)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, expected {expected:?}")),
    }
}

/// The result of a step, or an error that names the step.
fn done<T>(step: &str, result: Result<T, StoreError>) -> Result<T, String> {
    result.map_err(|error| format!("{step}: {error}"))
}

/// Checks that a step failed for this reason.
fn refused<T>(
    step: &str,
    result: Result<T, StoreError>,
    is_reason: impl Fn(&StoreError) -> bool,
) -> Result<(), String> {
    match result {
        Ok(_) => Err(format!("{step} was done")),
        Err(error) if is_reason(&error) => Ok(()),
        Err(error) => Err(format!("{step} was refused for another reason: {error}")),
    }
}
