//! Settings of the environment, by names that the plugin declares (`grants.env`), and where the directories of its roles are
//! (`grants.directories`).

/// The value of a variable; none if it is not set, or was not granted.
#[must_use]
pub fn get(name: &str) -> Option<String> {
    crate::bindings::windlass::host::config::get(name)
}

/// The absolute path of the directory of a role that the plugin declares; none if it was not granted. Its files are among those of
/// the [`Workspace`](crate::Workspace).
///
/// ```no_run
/// use windlass_plugin::{ToolError, Workspace, config};
///
/// fn schema(workspace: &Workspace) -> Result<String, ToolError> {
///     let directory = config::directory("database");
///     let directory = directory.ok_or_else(|| ToolError::new("No directory `database` was granted."))?;
///     workspace.read_text(&format!("{directory}/schema.sql"), 1 << 20)
/// }
/// ```
#[must_use]
pub fn directory(role: &str) -> Option<String> {
    get(&format!("directory:{role}"))
}
