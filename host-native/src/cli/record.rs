//! `--record FILE`: a journal of the run.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use windlass::AgentBuilder;

use super::start::StartError;

/// Lets the agent write the journal of its session to a file, which is made now.
pub(crate) fn to_file(builder: AgentBuilder, path: &Path) -> Result<AgentBuilder, StartError> {
    let file = private(path).map_err(|error| StartError::File {
        what: "--record",
        path: path.to_path_buf(),
        reason: error.to_string(),
    })?;
    let name = path.display().to_string();
    // A journal is of one session: the first, and on the command line the only one.
    let file = Arc::new(Mutex::new(Some(file)));
    Ok(builder.record(move |_id| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let name = name.clone();
        move |line: &str| {
            let Some(open) = &mut file else { return };
            // Line by line, so that what was recorded until a crash is there.
            if let Err(error) = open.write_all(format!("{line}\n").as_bytes()) {
                anstream::eprintln!("windlass: --record `{name}`: {error}; the journal ends here");
                file = None;
            }
        }
    }))
}

/// A new file that its owner alone can read: it holds the whole conversation.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
