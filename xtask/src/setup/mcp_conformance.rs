//! The conformance suite of the Model Context Protocol.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::npm;
use crate::workspace::Workspace;

/// Installs the suite pinned by `tests/mcp-conformance`, and returns its directory. It runs on the Node of `tests/package.json`.
pub(crate) fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    npm::packages(workspace)?;
    let directory = workspace.target.join("mcp-conformance");
    let step = "install the conformance suite of MCP";
    npm::from_list(
        workspace,
        "tests/mcp-conformance",
        &directory,
        &["--omit=optional"],
        step,
    )
    .context("the conformance suite of MCP cannot be installed: its tests need the npm registry")?;
    Ok(directory)
}
