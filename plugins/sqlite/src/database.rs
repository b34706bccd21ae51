//! A database in memory: the bytes of a file, and what SQL makes of them.

use std::fmt::Write as _;

use rusqlite::{
    Connection, MAIN_DB,
    limits::Limit,
    params_from_iter,
    types::{Value as SqlValue, ValueRef},
};
use sha2::{Digest as _, Sha256};
use windlass_plugin::{ErrorCode, ToolError, Workspace, WriteOptions, serde, serde_json::Value};

/// The largest database, in bytes. It is in memory three times when it is written.
const LARGEST: usize = 32 << 20;

/// The most of a text, and of binary data, that an answer shows, in characters and bytes.
const LONGEST_TEXT: usize = 4096;
const LONGEST_BLOB: usize = 64;

/// How a database file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Where its header says how changes are written: 1 for a journal, 2 for a log beside it (WAL), which memory has not.
const JOURNAL_MODES: std::ops::Range<usize> = 18..20;

/// What other programs have beside a database while they change it.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

/// What a query found.
#[derive(Debug, serde::Serialize)]
#[serde(crate = "windlass_plugin::serde")]
pub(crate) struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// Whether there are more rows than these.
    more: bool,
}

/// What a database in memory was read from.
struct Original {
    /// `sha256:` and the hexadecimal digest of the file.
    digest: String,
    /// The journal modes in its header; none if it is empty.
    modes: Vec<u8>,
}

/// A database in memory.
pub(crate) struct Database {
    connection: Connection,
    /// What it was read from; none if there is no file yet.
    file: Option<Original>,
}

impl Database {
    /// The database in a file.
    pub(crate) fn read(workspace: &Workspace, path: &str) -> Result<Self, ToolError> {
        for end in BESIDE {
            if size(workspace, &format!("{path}{end}"))?.is_some_and(|size| size > 0.0) {
                return Err(ToolError::new(format!(
                    "{path} has changes in {path}{end}: close the programs that use it, or let one of them run `PRAGMA wal_checkpoint(TRUNCATE)`."
                )));
            }
        }
        let mut bytes = workspace.read(path, LARGEST)?;
        let mut database = Self::new()?;
        let digest = format!("sha256:{:x}", Sha256::digest(&bytes));
        if bytes.is_empty() {
            database.file = Some(Original {
                digest,
                modes: Vec::new(),
            });
            return Ok(database);
        }
        let not_one = || ToolError::new(format!("{path} is no SQLite database."));
        if !bytes.starts_with(MAGIC) {
            return Err(not_one());
        }
        let in_header = bytes.get_mut(JOURNAL_MODES).ok_or_else(not_one)?;
        let modes = in_header.to_vec();
        in_header.fill(1);
        let length = bytes.len();
        let read =
            database
                .connection
                .deserialize_read_exact(MAIN_DB, bytes.as_slice(), length, false);
        read.map_err(|error| failed(&error))?;
        database.file = Some(Original { digest, modes });
        Ok(database)
    }

    /// The database in a file, or an empty one if there is no file.
    pub(crate) fn read_or_new(workspace: &Workspace, path: &str) -> Result<Self, ToolError> {
        match size(workspace, path)? {
            Some(_) => Self::read(workspace, path),
            None => Self::new(),
        }
    }

    fn new() -> Result<Self, ToolError> {
        let connection = Connection::open_in_memory().map_err(|error| failed(&error))?;
        // There is nothing to attach, and it is said so at once.
        let attached = connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0);
        attached.map_err(|error| failed(&error))?;
        Ok(Self {
            connection,
            file: None,
        })
    }

    /// The answer to one statement that only reads.
    pub(crate) fn query(
        &self,
        query: &str,
        parameters: &[Value],
        most: usize,
    ) -> Result<Answer, ToolError> {
        let mut statement = self
            .connection
            .prepare(query)
            .map_err(|error| failed(&error))?;
        if !statement.readonly() {
            return Err(ToolError::new(
                "This statement would change the database: ChangeSqlite is for that.",
            ));
        }
        let parameters: Result<Vec<SqlValue>, ToolError> =
            parameters.iter().map(parameter).collect();
        let columns: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut found = statement
            .query(params_from_iter(parameters?))
            .map_err(|error| failed(&error))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(|error| failed(&error))? {
            if rows.len() == most {
                return Ok(Answer {
                    columns,
                    rows,
                    more: true,
                });
            }
            let values = (0..columns.len()).map(|index| row.get_ref(index).map(shown));
            let values: Result<Vec<Value>, rusqlite::Error> = values.collect();
            rows.push(values.map_err(|error| failed(&error))?);
        }
        Ok(Answer {
            columns,
            rows,
            more: false,
        })
    }

    /// Runs statements, and says how many rows were changed.
    pub(crate) fn change(&mut self, statements: &str) -> Result<u64, ToolError> {
        // What the file gets is what is in memory when all of them succeeded. A transaction that they left open is not.
        self.connection
            .execute_batch(statements)
            .map_err(|error| failed(&error))?;
        if !self.connection.is_autocommit() {
            return Err(ToolError::new(
                "The statements begin a transaction and do not end it: add COMMIT.",
            ));
        }
        Ok(self.connection.total_changes())
    }

    /// Replaces the file in one step.
    pub(crate) fn write(&mut self, workspace: &Workspace, path: &str) -> Result<(), ToolError> {
        let data = self.connection.serialize(MAIN_DB);
        let mut bytes = data.map_err(|error| failed(&error))?.to_vec();
        if bytes.len() > LARGEST {
            return Err(ToolError::new(format!(
                "{path} would be larger than {LARGEST} bytes, and stays as it was."
            )));
        }
        let original = self.file.as_ref();
        if let (Some(file), Some(in_header)) = (original, bytes.get_mut(JOURNAL_MODES))
            && file.modes.len() == in_header.len()
        {
            in_header.copy_from_slice(&file.modes);
        }
        let options = WriteOptions {
            // What somebody else wrote meanwhile is not lost.
            expected_digest: original.map(|file| file.digest.clone()),
            create_new: original.is_none(),
            create_parents: true,
        };
        let place = workspace.resolve(path)?;
        let written = place.tree.write(&place.relative, &bytes, &options);
        written.map_err(|code| place.explain(code))
    }
}

/// The size of a file in bytes; none if there is none.
fn size(workspace: &Workspace, path: &str) -> Result<Option<f64>, ToolError> {
    let place = workspace.resolve(path)?;
    match place.tree.stat(&place.relative) {
        Ok(stat) => Ok(Some(stat.size)),
        Err(ErrorCode::NotFound) => Ok(None),
        Err(code) => Err(place.explain(code)),
    }
}

/// A value of the call as SQLite takes it.
fn parameter(value: &Value) -> Result<SqlValue, ToolError> {
    Ok(match value {
        Value::Null => SqlValue::Null,
        Value::Bool(truth) => SqlValue::Integer((*truth).into()),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => SqlValue::Integer(whole),
            (None, Some(real)) => SqlValue::Real(real),
            (None, None) => SqlValue::Text(number.to_string()),
        },
        Value::String(text) => SqlValue::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => {
            return Err(ToolError::new(
                "A parameter is a text, a number, a truth value or null.",
            ));
        }
    })
}

/// A value of a row, as an answer shows it.
fn shown(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => whole.into(),
        ValueRef::Real(real) => real.into(),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let mut start: String = text.chars().take(LONGEST_TEXT).collect();
            if start.len() < text.len() {
                start.push('…');
            }
            start.into()
        }
        ValueRef::Blob(bytes) => {
            let mut text = format!("{} bytes: ", bytes.len());
            for byte in bytes.iter().take(LONGEST_BLOB) {
                // Writing to a String cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            if bytes.len() > LONGEST_BLOB {
                text.push('…');
            }
            text.into()
        }
    }
}

fn failed(error: &rusqlite::Error) -> ToolError {
    ToolError::new(format!("SQLite says: {error}."))
}
