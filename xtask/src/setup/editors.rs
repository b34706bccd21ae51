//! What stands in for an editor in the tests: the SDK of the Agent Client Protocol, and the adapter of the TypeScript SDK.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::npm;
use crate::workspace::Workspace;

/// Installs the packages pinned by `tests/editors`, and returns their directory. The optional ones, engines of several hundred
/// megabytes, are left out.
pub(crate) fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.target.join("editors");
    let step = "install what stands in for editors";
    npm::from_list(
        workspace,
        "tests/editors",
        &directory,
        &["--omit=optional"],
        step,
    )
    .context("the adapter for editors cannot be installed: its tests need the npm registry")?;
    Ok(directory)
}
