//! `windlass plugin new`: a folder that builds and passes its own test.

use std::{fs, path::Path};

use super::{error::AuthorError, language::Language, templates};
use crate::cli::plugin_args::PluginNewArgs;

/// The longest name of a plugin in bytes.
const LONGEST: usize = 64;

/// Crates that a plugin in Rust is built from: cargo would find two of that name, or a crate that needs itself.
const CRATES: [&str; 2] = ["windlass-plugin", "windlass-plugin-macros"];

/// Makes the folder, and says what to do next.
///
/// # Errors
/// [`AuthorError`]: the name does not fit, the folder exists, or it cannot be written. Then there is no folder.
pub(super) fn new(args: &PluginNewArgs) -> Result<String, AuthorError> {
    let Some(name) = args.path.file_name() else {
        return Err(AuthorError::NoName(args.path.clone()));
    };
    let name = name.to_string_lossy();
    if !is_name(&name) {
        return Err(AuthorError::Name(name.into_owned()));
    }
    if args.lang == Language::Rust && CRATES.contains(&name.as_ref()) {
        return Err(AuthorError::NameOfCrate(name.into_owned()));
    }
    if args.path.exists() {
        return Err(AuthorError::Exists(args.path.clone()));
    }
    // Complete or not there: the files are written beside it, and get its name at the end.
    let parent = match args.path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(AuthorError::at(parent))?;
    let draft = tempfile::Builder::new()
        .prefix(".plugin-")
        .tempdir_in(parent);
    let draft = draft.map_err(AuthorError::at(parent))?;
    for (file, text) in templates::files(args.lang) {
        let path = draft.path().join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(AuthorError::at(folder))?;
        }
        fs::write(&path, text.replace("{{name}}", &name)).map_err(AuthorError::at(&path))?;
    }
    share(draft.path()).map_err(AuthorError::at(draft.path()))?;
    fs::rename(draft.path(), &args.path).map_err(AuthorError::at(&args.path))?;
    // It is not at its first place any more.
    drop(draft.keep());
    Ok(next_steps(&args.path, args.lang))
}

/// Gives the folder the rights of any other: a temporary one is for its owner alone.
fn share(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let beside = fs::metadata(folder.join("tests"))?.permissions().mode();
        fs::set_permissions(folder, fs::Permissions::from_mode(beside))?;
    }
    Ok(())
}

fn next_steps(path: &Path, language: Language) -> String {
    let path = path.display();
    let source = language.main_source();
    format!(
        "{path} has a plugin with one tool, in {source}\n\
         \x20 windlass plugin test {path}      builds it and runs its tests\n\
         \x20 windlass --plugin-dir {path}     starts a session with it\n"
    )
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= LONGEST
        && name.chars().all(fits)
        && !name.ends_with('-')
}
