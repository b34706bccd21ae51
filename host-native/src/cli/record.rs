//! `--record FILE`: writes a journal of the run.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use windlass::{engine::Recording, store::LineFile};

use super::start_error::StartError;

/// Writes a session's journal to a file, which is created now.
pub(crate) fn to_file(path: &Path) -> Result<Recording, StartError> {
    // Readable by its owner only, since it holds the whole conversation.
    let file = LineFile::create(path).map_err(|error| StartError::File {
        what: "--record",
        path: path.to_path_buf(),
        reason: error.to_string(),
    })?;
    let name = path.display().to_string();
    // A journal belongs to one session: the first, which is the only one on the command line.
    let file = Arc::new(Mutex::new(Some(file)));
    Ok(Recording::new(move |_id| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let name = name.clone();
        Box::new(move |line: &str| {
            let Some(open) = &mut file else { return };
            // Written line by line, so that everything before a crash is recorded.
            if let Err(error) = open.append(format!("{line}\n").as_bytes()) {
                anstream::eprintln!("windlass: --record `{name}`: {error}; the journal ends here");
                file = None;
            }
        })
    }))
}
