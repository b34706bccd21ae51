//! Session stores: in files ([`FileStore`]), in memory ([`MemoryStore`]), or your own ([`SendStore`]).
//!
//! [`AgentBuilder::store`](crate::AgentBuilder::store) sets the store of an agent; the engine of the SDKs and the
//! command line store sessions in files.

mod atomic;
mod files;
mod git_branch;
mod line_file;
mod open_session;
mod place;
mod project_settings;
mod settings_files;
mod shared;
mod snapshot;
mod task_outputs;
#[cfg(test)]
mod tests;

pub use windlass_engine::{
    store::{
        Batch, Lease, MemoryStore, SendStore, Snapshot, Store, StoreError, Stored, StoredSession,
    },
    transcript::{ResumeError, Said, SavedSession, Summary, said},
};

pub use self::{
    atomic::{Readers, replace},
    files::FileStore,
    line_file::{LineFile, read_text},
};
pub(crate) use self::{
    git_branch::git_branch,
    settings_files::{MAX_BYTES, Replaced, read_settings, replace_settings},
    shared::SharedStore,
    task_outputs::TaskOutputs,
};
pub use crate::config_dir::{ConfigDir, NoConfigDir};
