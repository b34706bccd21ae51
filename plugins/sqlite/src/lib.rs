//! An example of a tool with a C library in it: SQL for the SQLite databases of a person.
//!
//! SQLite has no way to a file here. The plugin reads a database into memory, SQLite works on that, and what a statement changed is
//! written back as a whole. So SQL reaches nothing but the file of the call (`ATTACH` included), a failed statement leaves the file
//! as it was, and a query changes nothing whatever it says. The price: a database has at most 32 MiB, and must not be in use by
//! another program while it is changed.

#![cfg(target_family = "wasm")]

mod database;
mod host;

use windlass_plugin::{
    ReadPath, Structured, ToolError, Workspace, WritePath, input, plugin, serde_json::Value, tool,
};

use crate::database::{Answer, Database};

/// How many rows a query gives if it does not say.
const fn some_rows() -> usize {
    100
}

#[input]
struct Query {
    /// The database.
    file_path: ReadPath,
    /// One SELECT, or a PRAGMA that only reads. `sqlite_schema` lists the tables.
    query: String,
    /// Values for `?1`, `?2` and so on: texts, numbers, truth values and null.
    #[serde(default)]
    parameters: Vec<Value>,
    /// The most rows of the answer.
    #[serde(default = "some_rows")]
    #[schemars(range(min = 1, max = 1000))]
    max_rows: usize,
}

/// Asks a SQLite database with SQL. Nothing is changed.
#[tool(read_only, idempotent, retry = "run_again")]
fn query_sqlite(input: Query, workspace: &Workspace) -> Result<Structured<Answer>, ToolError> {
    let database = Database::read(workspace, &input.file_path)?;
    let answer = database.query(&input.query, &input.parameters, input.max_rows)?;
    Ok(Structured(answer))
}

#[input]
struct Change {
    /// The database. It is made if it does not exist.
    file_path: WritePath,
    /// Statements, with a semicolon behind each. Either all of them take effect or none.
    statements: String,
}

/// Changes a SQLite database with SQL statements.
#[tool(destructive)]
fn change_sqlite(input: Change, workspace: &Workspace) -> Result<String, ToolError> {
    let mut database = Database::read_or_new(workspace, &input.file_path)?;
    let rows = database.change(&input.statements)?;
    database.write(workspace, &input.file_path)?;
    Ok(format!(
        "{rows} rows of {} were changed.",
        &*input.file_path
    ))
}

plugin! {
    tools: [query_sqlite, change_sqlite],
    grants: { "filesystem": "write" },
    limits: { "memory_bytes": 268_435_456, "timeout_ms": 30_000, "output_bytes": 1_048_576 },
}
