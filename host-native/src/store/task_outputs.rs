//! What commands in the background put out, in files beside the transcript: the `output_file` of `task_notification`.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use windlass_core::{SessionId, effect::Answer};
use windlass_engine::store::StoreError;

use super::{
    open_session::create_folder,
    place::{SessionFiles, failed},
};

/// Bytes that a file may hold: a command that never stops talking must not fill the disk.
const LONGEST: u64 = 64 << 20;

/// The files of a session's commands.
#[derive(Debug)]
pub(crate) struct TaskOutputs {
    folder: PathBuf,
    /// By the model's ids of the calls.
    open: Mutex<HashMap<String, Written>>,
}

/// The file of a command that runs.
#[derive(Debug)]
struct Written {
    path: PathBuf,
    file: File,
    length: u64,
}

impl TaskOutputs {
    /// For a session. No file is made before a command begins.
    pub(crate) fn new(files: &SessionFiles, session: SessionId) -> Self {
        Self {
            folder: files.task_outputs(session),
            open: Mutex::default(),
        }
    }

    /// What a call answers: only those in the background put anything out before they end.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be written. The session has it all the same.
    pub(crate) fn answered(&self, call: &str, answer: &Answer) -> Result<(), StoreError> {
        match answer {
            Answer::Output(text) => self.with(call, |written| written.append(text)),
            _ => Ok(()),
        }
    }

    /// A command begins: the file that what it puts out is kept in.
    ///
    /// # Errors
    /// [`StoreError`] when there can be no file.
    pub(crate) fn begin(&self, call: &str) -> Result<PathBuf, StoreError> {
        self.with(call, |written| Ok(written.path.clone()))
    }

    /// A call has ended: nothing more comes.
    pub(crate) fn end(&self, call: &str) {
        self.open().remove(call);
    }

    fn with<T>(
        &self,
        call: &str,
        act: impl FnOnce(&mut Written) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut open = self.open();
        if let Some(written) = open.get_mut(call) {
            return act(written);
        }
        let mut written = Written::create(&self.folder, call)?;
        let done = act(&mut written);
        open.insert(call.to_owned(), written);
        done
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Written>> {
        // A panic in the middle leaves a file that ends early.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    /// A new file: an agent's call may have the id of another one's.
    fn create(folder: &Path, call: &str) -> Result<Self, StoreError> {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String = call.chars().filter(is_plain).take(100).collect();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut number = 1;
        loop {
            let path = match number {
                1 => folder.join(format!("{name}.output")),
                number => folder.join(format!("{name}-{number}.output")),
            };
            create_folder(&path)?;
            match options.open(&path) {
                Ok(file) => {
                    let length = 0;
                    return Ok(Self { path, file, length });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed("opening", &path, error)),
            }
        }
    }

    fn append(&mut self, text: &str) -> Result<(), StoreError> {
        if self.length > LONGEST {
            return Ok(());
        }
        self.length += text.len() as u64;
        let mut written = self.file.write_all(text.as_bytes());
        if self.length > LONGEST {
            let word = format!("\n[cut here: the command has put out more than {LONGEST} bytes]\n");
            written = written.and_then(|()| self.file.write_all(word.as_bytes()));
        }
        written.map_err(|error| failed("writing", &self.path, error))
    }
}
