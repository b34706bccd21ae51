//! `windlass plugin test`: runs a plugin in sessions that its tests describe, and says what each call used.

mod budget;
mod case;
mod hook_events;
mod recorded;
mod report;
mod session;

use std::{
    fs,
    path::{Path, PathBuf},
};

use self::case::Case;
use super::{build, error::AuthorError};
use crate::cli::{Exit, plugin_args::PluginTestArgs};

/// Builds the plugin and runs its tests.
///
/// # Errors
/// [`AuthorError`]: it cannot be built, or a test cannot be read or begun.
pub(super) async fn test(args: &PluginTestArgs) -> Result<(String, Exit), AuthorError> {
    build::is_there(&args.folder)?;
    let cases = cases(&args.folder.join("tests"), &args.folder)?;
    let component = match &args.component {
        Some(component) => component.clone(),
        None => build::build(&args.folder, None)?.0,
    };
    let mut text = String::new();
    let mut failed = 0;
    for (path, case) in &cases {
        let outcomes = session::run(&component, case).await;
        let outcomes = outcomes.map_err(AuthorError::of_test(path))?;
        failed += outcomes
            .iter()
            .filter(|outcome| !outcome.faults.is_empty())
            .count();
        report::write(&mut text, path, &outcomes);
    }
    let calls = cases
        .iter()
        .map(|(_, case)| case.hooks.len() + case.calls.len())
        .sum::<usize>();
    text.push_str(&report::sum(cases.len(), calls, failed));
    let exit = if failed == 0 {
        Exit::Done
    } else {
        Exit::Failed
    };
    Ok((text, exit))
}

/// The tests of a folder, in the order of their names.
fn cases(tests: &Path, folder: &Path) -> Result<Vec<(PathBuf, Case)>, AuthorError> {
    let no_test = || AuthorError::NoTest(folder.to_owned());
    let mut paths = Vec::new();
    for entry in fs::read_dir(tests).map_err(|_| no_test())? {
        let path = entry.map_err(AuthorError::at(tests))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(no_test());
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| Case::read(&path).map(|case| (path, case)))
        .collect()
}
