//! `windlass plugin grant NAME --programs`, and `revoke`: whether the hooks and MCP servers of an installed folder run.

use windlass::plugins::InstalledPlugin;

use super::{error::InstallError, store::of_user};
use crate::cli::{
    plain::one_line,
    plugin::{consent, grant::asked},
};

/// Lets the hooks and servers of an installed folder run with the rights of the user, once a person agreed, or not any more. Nothing
/// that its components were granted is changed.
///
/// # Errors
/// [`InstallError`]: there is none of that name, it runs nothing or does not any more, or the person said no. All is as before then.
pub(in crate::cli::plugin) fn let_programs_run(
    name: &str,
    run: bool,
    yes: bool,
) -> Result<String, InstallError> {
    let (store, grants) = of_user()?;
    let lockfile = store.read()?;
    let plugin = lockfile.plugins.get(name);
    let plugin = plugin.ok_or_else(|| InstallError::NotInstalled(name.to_owned()))?;
    if plugin.programs.is_empty() {
        return Err(InstallError::NoPrograms(name.to_owned()));
    }
    if !run && !plugin.runs_programs {
        return Err(InstallError::NotRunning(name.to_owned()));
    }
    let name_and_version = format!("{} {}", one_line(name), one_line(&plugin.version));
    let about = format!(
        "{name_and_version} ({})\n{}",
        plugin.digest,
        asked(&plugin.programs, None)
    );
    let question = match run {
        true => "Let this run, with your rights?",
        false => "Let none of this run any more?",
    };
    consent::given(&format!("{about}{question}"), yes, &grants)?;
    let agreed = InstalledPlugin {
        runs_programs: run,
        ..plugin.clone()
    };
    store.change()?.amend(name, agreed)?;
    Ok(match run {
        true => format!(
            "{about}{name_and_version}: its hooks and servers run from the next session on\n"
        ),
        false => format!("{name_and_version}: its hooks and servers do not run any more\n"),
    })
}
