//! What a call has of WASI.

use std::time::SystemTime;

use super::{handles::Handles, open_files::OpenFiles};

/// The handles and the open files of a call, and what its clock shows.
#[derive(Debug)]
pub(in crate::plugins) struct Wasi {
    pub(super) handles: Handles,
    pub(super) files: OpenFiles,
    /// When the call began.
    pub(super) started: SystemTime,
}

impl Default for Wasi {
    fn default() -> Self {
        Self {
            handles: Handles::default(),
            files: OpenFiles::default(),
            started: SystemTime::now(),
        }
    }
}
