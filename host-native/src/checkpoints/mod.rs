//! File checkpoints: what files held before a session changed them is kept as documents of the session, and comes back from
//! there. What is kept of a file, and what the index says, stands in [`windlass_engine::checkpoint`].
//!
//! Links are never followed: neither when a file is kept nor when it is put back, in none of the parts of its path.

mod documents;
mod of_session;
mod rewind;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use windlass_core::{RawJson, Uuid};
use windlass_engine::{
    TextPath,
    checkpoint::{Before, INDEX, Index, MAX_KEPT_BYTES, Record, digest, snapshot_line},
    store::StoreError,
};

use self::documents::Documents;
pub(crate) use self::of_session::SessionCheckpoints;
pub use self::{
    of_session::RewindFilesError,
    rewind::{Rewind, RewindError},
};
use crate::text_path::{lossy, text_path};

/// The checkpoints of a session.
#[derive(Debug)]
struct FileCheckpoints {
    documents: Documents,
    index: Index,
    /// The digests of what is kept.
    contents: HashSet<String>,
}

/// A checkpoint that could not be made or read.
#[derive(Debug, thiserror::Error)]
enum CheckpointError {
    /// A file cannot be looked at.
    #[error("the checkpoint of {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        error: io::Error,
    },
    /// What is kept cannot be read or written.
    #[error("the checkpoints of the session: {0}")]
    Store(#[from] StoreError),
}

impl CheckpointError {
    fn new(path: &Path, error: io::Error) -> Self {
        Self::File {
            path: path.to_path_buf(),
            error,
        }
    }
}

/// What a file is.
enum Found {
    Nothing,
    Content(Vec<u8>, Option<u32>),
    /// A link, a folder, a device, or more than is kept.
    Other,
}

impl FileCheckpoints {
    /// The checkpoints of a session: those of one that goes on are there already. Nothing is written before there is something
    /// to keep.
    async fn open(documents: Documents) -> Result<Self, CheckpointError> {
        let text = documents.get(INDEX).await?.unwrap_or_default();
        if !text.is_empty() && !text.ends_with(b"\n") {
            // Whoever wrote the last line was stopped. The next one begins behind a line end.
            documents.extend(INDEX, b"\n").await?;
        }
        let index = Index::parse(&text);
        Ok(Self {
            contents: index.contents().map(ToOwned::to_owned).collect(),
            documents,
            index,
        })
    }

    /// The checkpoints of a session that begins with those of another: a fork can be taken back as far as what it was forked
    /// from. What is kept of it already stays.
    async fn forked(from: &Documents, documents: Documents) -> Result<Self, CheckpointError> {
        let text = match documents.get(INDEX).await? {
            Some(_) => None,
            None => from.get(INDEX).await?,
        };
        if let Some(text) = text {
            for digest in Index::parse(&text).contents() {
                if let Some(content) = from.get(digest).await? {
                    documents.put(digest, &content).await?;
                }
            }
            // The index comes last: what it names is there when it is.
            documents.put(INDEX, &text).await?;
        }
        Self::open(documents).await
    }

    /// A user message begins to be answered: what is changed from now on can be taken back to here. If that cannot be kept, the
    /// message is no place to go back to.
    async fn begin(&mut self, message: Uuid) -> Result<(), CheckpointError> {
        if self.index.last_message() == Some(message) {
            return Ok(());
        }
        self.note(Record::Message { message }).await
    }

    /// Keeps what a file holds. To be called before each change; only the first after a message does anything, and then it
    /// is true. Whoever wants to be able to go back does not change a file that cannot be kept.
    async fn before_change(&mut self, path: &Path) -> Result<bool, CheckpointError> {
        let named = path.to_path_buf();
        let real = blocking(move || real_place(&named)).await;
        let path = real.map_err(|error| CheckpointError::new(path, error))?;
        if self.index.is_empty() {
            return Ok(false);
        }
        let noted = text_path(&path).map_err(|error| CheckpointError::new(&path, error.into()))?;
        if self.index.has(&noted) {
            return Ok(false);
        }
        let (before, _) = self.keep(path).await?;
        self.note(Record::File {
            path: noted,
            before,
        })
        .await?;
        Ok(true)
    }

    /// What the transcript says of the message that is being answered; none before the first. `is_update` where a line was
    /// written already and another file has been kept since. Paths below `cwd` are relative to it.
    async fn snapshot_line(
        &mut self,
        cwd: &Path,
        timestamp: &str,
        is_update: bool,
    ) -> Result<Option<RawJson>, CheckpointError> {
        let Some(message) = self.index.last_message() else {
            return Ok(None);
        };
        let noted = self.index.at(message).into_iter().flatten();
        let noted: BTreeMap<TextPath, Before> = noted
            .map(|(path, before)| (path.clone(), before.clone()))
            .collect();
        let known = self.index.files().into_iter();
        let known: Vec<(TextPath, u32)> = known
            .map(|(path, version)| (path.clone(), version))
            .collect();
        let mut files = Vec::new();
        for (path, version) in known {
            // A file that was not changed since is what it was.
            let before = match noted.get(&path) {
                Some(before) => Some(before.clone()),
                None => self.keep_unchanged(&path).await?,
            };
            files.extend(before.map(|before| (path, version, before)));
        }
        let files = (files.iter()).map(|(path, version, before)| (path, *version, before));
        let line = snapshot_line(message, files, &lossy(cwd), timestamp, is_update);
        line.map(Some)
            .map_err(|error| CheckpointError::new(cwd, io::Error::other(error.to_string())))
    }

    /// Keeps what a file holds that was noted for an earlier message; none where it is behind a link that has come since.
    async fn keep_unchanged(&mut self, path: &TextPath) -> Result<Option<Before>, CheckpointError> {
        let named = path.clone();
        let file = PathBuf::from(path.as_str());
        let is_real = blocking(move || Ok(is_real(&named))).await;
        if !is_real.map_err(|error| CheckpointError::new(&file, error))? {
            return Ok(None);
        }
        let (before, is_new) = self.keep(file).await?;
        if let Before::Content { digest, .. } = &before
            && is_new
        {
            let digest = digest.clone();
            self.note(Record::Content { digest }).await?;
        }
        Ok(Some(before))
    }

    /// What a file is, kept; whether that was not kept before.
    async fn keep(&mut self, path: PathBuf) -> Result<(Before, bool), CheckpointError> {
        let named = path.clone();
        let found = blocking(move || found(&named)).await;
        let found = found.map_err(|error| CheckpointError::new(&path, error))?;
        let (content, mode) = match found {
            Found::Nothing => return Ok((Before::Absent, false)),
            Found::Other => return Ok((Before::NotKept, false)),
            Found::Content(content, mode) => (content, mode),
        };
        let digest = digest(&content);
        let is_new = !self.contents.contains(&digest);
        if is_new {
            self.documents.put(&digest, &content).await?;
            self.contents.insert(digest.clone());
        }
        Ok((Before::Content { digest, mode }, is_new))
    }

    async fn note(&mut self, record: Record) -> Result<(), CheckpointError> {
        let line = record.line().map_err(|error| {
            let reason = io::Error::from(error);
            CheckpointError::new(Path::new(INDEX), reason)
        })?;
        self.documents.extend(INDEX, &line).await?;
        self.index.take(record);
        Ok(())
    }
}

/// Works with files on a thread where that may take its time.
async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(act).await;
    done.unwrap_or_else(|lost| Err(io::Error::other(lost)))
}

/// Looks at a file.
fn found(path: &Path) -> io::Result<Found> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    if !meta.is_file() {
        return Ok(Found::Other);
    }
    let mut content = Vec::new();
    let mut file = fs::File::open(path)?.take(MAX_KEPT_BYTES + 1);
    file.read_to_end(&mut content)?;
    Ok(match content.len() as u64 > MAX_KEPT_BYTES {
        true => Found::Other,
        false => Found::Content(content, mode_of(&meta)),
    })
}

/// The path with all links in its folders followed once and for all; of the file itself only the name is taken.
fn real_place(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name();
    let name = name.ok_or_else(|| io::Error::other("it does not name a file"))?;
    let mut folder = path.parent().unwrap_or(Path::new("."));
    let mut missing = vec![name];
    loop {
        match fs::canonicalize(folder) {
            Ok(real) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(real, |path, part| path.join(part)));
            }
            // Folders that the change itself will create.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(name), Some(above)) = (folder.file_name(), folder.parent()) else {
                    return Err(error);
                };
                missing.push(name);
                folder = above;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether a path is still what it was when it was noted, which was real: no folder of it has become a link since.
fn is_real(path: &TextPath) -> bool {
    let real = real_place(Path::new(path.as_str()));
    real.is_ok_and(|real| text_path(&real).is_ok_and(|real| real == *path))
}

#[cfg(unix)]
fn mode_of(meta: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::mode(meta) & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> Option<u32> {
    None
}
