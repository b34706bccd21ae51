//! `--record FILE`: a journal of the run.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use windlass::{engine::Recording, store::LineFile};

use super::start::StartError;

/// Has the journal of a session written to a file, which is made now.
pub(crate) fn to_file(path: &Path) -> Result<Recording, StartError> {
    // Its owner alone can read it: it holds the whole conversation.
    let file = LineFile::create(path).map_err(|error| StartError::File {
        what: "--record",
        path: path.to_path_buf(),
        reason: error.to_string(),
    })?;
    let name = path.display().to_string();
    // A journal is of one session: the first, and on the command line the only one.
    let file = Arc::new(Mutex::new(Some(file)));
    Ok(Recording::new(move |_id| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let name = name.clone();
        Box::new(move |line: &str| {
            let Some(open) = &mut file else { return };
            // Line by line, so that what was recorded until a crash is there.
            if let Err(error) = open.append(format!("{line}\n").as_bytes()) {
                anstream::eprintln!("windlass: --record `{name}`: {error}; the journal ends here");
                file = None;
            }
        })
    }))
}
