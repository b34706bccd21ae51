//! Looks at files for the SDK.

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

/// The most that `read_file` gives where no limit is asked for.
const READ_LIMIT: u64 = 512 * 1024;

/// The longest file that counts as read: its digest is that of all of it.
const MAX_OBSERVED: u64 = 64 << 20;

/// What is to be seen, or why it is not.
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

/// A file that the SDK saw the model read. One that has changed since is to be read again.
fn observe(cwd: &Path, path: &str, mtime: i64) -> Result<Option<Observation>, ReplyError> {
    let refused = |error: std::io::Error| ReplyError::new(format!("{path}: {error}"));
    let real = match fs::canonicalize(cwd.join(path)) {
        // It has changed most of all.
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

/// The digest of a regular file that is not too long.
fn digest(path: &Path) -> io::Result<String> {
    let file = regular::open(path, Link::Followed)?;
    if file.metadata()?.len() > MAX_OBSERVED {
        return Err(regular::too_large(MAX_OBSERVED));
    }
    // It may grow meanwhile, or be one of `/proc`, which say that they are empty.
    digest_of(file.take(MAX_OBSERVED))
}

/// A file, as its reader wants it.
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

/// Files of a folder whose names begin with what was typed.
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
