//! Reads files for the SDK.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use windlass_core::tool::Observation;
use windlass_engine::{
    machine::{Look, Seen},
    protocol::reply::ReplyError,
};

use crate::{
    files::digest_of,
    regular::{self, Link},
};

/// The default size limit of `read_file`, in bytes.
const READ_LIMIT: u64 = 512 * 1024;

/// The maximum size of a file that can count as read, in bytes, since all of it is hashed.
const MAX_OBSERVED: u64 = 64 << 20;

/// Performs the request, or returns the error.
pub(super) fn look(asked: Look) -> Result<Seen, ReplyError> {
    match asked {
        Look::File {
            cwd,
            path,
            max_bytes,
            encoding,
        } => {
            let read = read_file(Path::new(&cwd), &path, max_bytes, encoding.as_deref());
            read.map(Seen::Value)
        }
        Look::Suggestions { cwd, query } => Ok(Seen::Value(suggestions(Path::new(&cwd), &query))),
        Look::Folder { cwd, path } => folder(&PathBuf::from(cwd), &path).map(Seen::Path),
        Look::Observe { cwd, path, mtime } => {
            observe(&PathBuf::from(cwd), &path, mtime).map(Seen::Observed)
        }
        _ => Err(ReplyError::new("this host does not look there")),
    }
}

fn folder(cwd: &Path, folder: &str) -> Result<String, ReplyError> {
    let refused = |why: &str| ReplyError::new(format!("{folder} was not registered: {why}"));
    let real = fs::canonicalize(cwd.join(folder)).map_err(|error| refused(&error.to_string()))?;
    if !real.is_dir() {
        return Err(refused("it is not a directory"));
    }
    Ok(real.display().to_string())
}

/// Records a file that the model has read through the SDK. If it has changed since, it must be read again.
fn observe(cwd: &Path, path: &str, mtime: i64) -> Result<Option<Observation>, ReplyError> {
    let refused = |error: std::io::Error| ReplyError::new(format!("{path}: {error}"));
    let real = match fs::canonicalize(cwd.join(path)) {
        // It was deleted, so it has changed.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        real => real.map_err(refused)?,
    };
    let modified = fs::metadata(&real).and_then(|meta| meta.modified());
    let since = modified.map_err(refused)?;
    let since = since
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    if i64::try_from(since.as_millis()).is_ok_and(|now| now > mtime) {
        return Ok(None);
    }
    Ok(Some(Observation {
        digest: digest(&real).map_err(refused)?,
        path: real.display().to_string(),
        whole: true,
    }))
}

/// The digest of a regular file within the size limit.
fn digest(path: &Path) -> io::Result<String> {
    let file = regular::open(path, Link::Followed)?;
    if file.metadata()?.len() > MAX_OBSERVED {
        return Err(regular::too_large(MAX_OBSERVED));
    }
    // The file may grow meanwhile, or be in `/proc`, where sizes are reported as 0.
    digest_of(file.take(MAX_OBSERVED))
}

/// The content of a file, in the requested encoding.
fn read_file(
    cwd: &Path,
    path: &str,
    max_bytes: Option<u64>,
    encoding: Option<&str>,
) -> Result<Value, ReplyError> {
    let asked = cwd.join(path);
    let fault = |error: std::io::Error| ReplyError::new(format!("{path}: {error}"));
    let real = fs::canonicalize(&asked).map_err(fault)?;
    let file = regular::open(&real, Link::Followed).map_err(fault)?;
    let limit = max_bytes.unwrap_or(READ_LIMIT).min(READ_LIMIT);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(fault)?;
    let (contents, lossy) = match encoding {
        Some("base64") => (STANDARD.encode(&bytes), false),
        _ => match String::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        },
    };
    Ok(
        json!({"contents": contents, "absPath": real.display().to_string(), "lossy": lossy, "requested_path": path}),
    )
}

/// Files in a folder whose names start with the query.
fn suggestions(cwd: &Path, query: &str) -> Value {
    const MOST: usize = 20;
    let (folder, begin) = query
        .rsplit_once('/')
        .map_or(("", query), |(folder, begin)| (folder, begin));
    let entries = fs::read_dir(cwd.join(folder))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            name.starts_with(begin) && (begin.starts_with('.') || !name.starts_with('.'))
        })
        .map(|name| match folder {
            "" => name,
            folder => format!("{folder}/{name}"),
        })
        .collect();
    names.sort_unstable();
    names.truncate(MOST);
    let suggestions: Vec<Value> = names
        .into_iter()
        .map(|path| json!({"path": path}))
        .collect();
    json!({"suggestions": suggestions, "cwd": cwd.display().to_string()})
}
