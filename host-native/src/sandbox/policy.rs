//! Which files a command may access: the paths of the settings and of the call's grant that exist when it starts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use windlass_core::{
    permission::{
        CONFIGURATION_FOLDERS, PROGRAM_SETTINGS, SHELL_PROFILES, literal_pattern, normal_patterns,
    },
    spec::Environment,
    tool::{Access, DenyPattern, FsGrant},
};
use windlass_engine::settings::SandboxSettings;

use super::find::{TooMany, closed_files};

/// Paths that stay read-only inside of a writable folder, because other programs take instructions from them. Writing
/// them would give a command more rights than the sandbox does, later and elsewhere.
const PROTECTED: [&str; 2] = [".claude", ".mcp.json"];

/// Further protected paths in the home directory.
const PROTECTED_AT_HOME: [&str; 1] = [".ssh"];

/// The protected paths of a git repository.
pub(crate) const PROTECTED_IN_GIT: [&str; 5] =
    ["hooks", "config", "config.worktree", "info", "commondir"];

/// The maximum nesting of submodules.
const MODULE_DEPTH: usize = 8;

/// The file settings.
#[derive(Debug)]
pub(super) struct Policy {
    /// Writable paths, absolute.
    write: Vec<PathBuf>,
    /// Deny patterns, absolute.
    deny: Vec<DenyPattern>,
    /// Unix sockets that may be reached.
    pub(super) sockets: Vec<PathBuf>,
    pub(super) home: Option<PathBuf>,
    /// Windlass's own folders.
    own: Vec<PathBuf>,
    /// Real paths that no command may read, whatever else is allowed.
    closed: Vec<PathBuf>,
}

/// Which files a command may access: absolute real paths that exist when it starts.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Writable.
    pub(super) open: Vec<PathBuf>,
    /// Protected: not writable except for writable folders below them, because other programs take instructions from them.
    pub(super) guarded: Vec<PathBuf>,
    /// Not writable.
    pub(super) read_only: Vec<PathBuf>,
    /// Neither readable nor writable.
    pub(super) closed: Vec<PathBuf>,
    /// Paths where a placeholder must exist so that a command cannot create them.
    pub(super) reserved: Vec<PathBuf>,
}

/// The files cannot be determined.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    #[error("{0}: name them more narrowly, with fewer files below the part that has no `*`")]
    TooMany(#[from] TooMany),
    #[error("the working directory {} cannot be found: {error}", path.display())]
    Directory {
        path: PathBuf,
        error: std::io::Error,
    },
}

impl Policy {
    /// Parses the paths of the settings.
    pub(super) fn read(
        settings: &SandboxSettings,
        environment: &Environment,
        closed: Vec<PathBuf>,
    ) -> Result<Self, String> {
        let (cwd, home) = (environment.cwd.as_str(), environment.home.as_deref());
        let files = &settings.filesystem;
        let absolute = |text: &String| absolute(text, cwd, home);
        let write = files.allow_write.iter().map(|text| {
            let path = absolute(text)?;
            // A writable folder includes everything in it.
            let folder = path.trim_end_matches("/**").trim_end_matches('/');
            match folder.contains(['*', '?', '[', '{']) {
                true => Err(format!(
                    "`{text}` cannot be opened: name the folder, without `*`"
                )),
                false => Ok(PathBuf::from(if folder.is_empty() { "/" } else { folder })),
            }
        });
        let deny = |texts: &[String], access| {
            let mut patterns = Vec::new();
            for text in texts {
                patterns.extend(closing(text, cwd, home)?);
            }
            let denied = patterns.into_iter();
            let denied = denied.map(|pattern| DenyPattern { pattern, access });
            Ok::<_, String>(denied.collect::<Vec<_>>())
        };
        let mut denied = deny(&files.deny_write, Access::Write)?;
        denied.extend(deny(&files.deny_read, Access::Read)?);
        let sockets = settings.network.allow_unix_sockets.iter();
        let sockets = sockets.map(|text| {
            let path = PathBuf::from(absolute(text)?);
            Ok::<_, String>(fs::canonicalize(&path).unwrap_or(path))
        });
        Ok(Self {
            write: write.collect::<Result<_, _>>()?,
            deny: denied,
            sockets: sockets.collect::<Result<_, _>>()?,
            home: home.map(PathBuf::from),
            own: environment
                .own_directories
                .iter()
                .map(PathBuf::from)
                .filter(|own| !closed.contains(own))
                .collect(),
            closed,
        })
    }

    /// The files of a command, as they are now.
    pub(super) fn files(&self, grant: &FsGrant, temporary: &Path) -> Result<Files, PolicyError> {
        let cwd = PathBuf::from(&grant.cwd);
        let cwd =
            fs::canonicalize(&cwd).map_err(|error| PolicyError::Directory { path: cwd, error })?;
        let roots = grant
            .roots
            .iter()
            .filter(|root| root.access == Access::Write);
        let named = roots.map(|root| Path::new(&root.path));
        let named = named
            .chain(self.write.iter().map(PathBuf::as_path))
            .chain([temporary]);
        let mut files = Files::default();
        files.open.push(cwd);
        // Paths that do not exist are skipped.
        files
            .open
            .extend(named.filter_map(|path| fs::canonicalize(path).ok()));
        let trees: Vec<PathBuf> = files
            .open
            .iter()
            .flat_map(|root| work_trees(root))
            .collect();
        files.open.extend(trees);
        files.open.sort();
        files.open.dedup();
        for root in files.open.clone() {
            if root != temporary {
                self.guard(&root, &mut files);
            }
        }
        let deny: Vec<DenyPattern> = self.deny.iter().chain(&grant.deny).cloned().collect();
        let found = closed_files(&deny)?;
        files.read_only = found.read_only;
        files.closed = found.closed;
        let own = self.closed.iter().filter(|place| place.exists());
        files.closed.extend(own.cloned());
        Ok(files)
    }

    /// Adds the files below a writable folder from which other programs take instructions.
    fn guard(&self, root: &Path, files: &mut Files) {
        for place in PROTECTED.map(|name| root.join(name)) {
            if fs::symlink_metadata(&place).is_err() {
                files.reserved.push(place.clone());
            }
            files.guarded.push(place);
        }
        guard_repository(root, files);
        let profiles = SHELL_PROFILES.map(|name| root.join(name));
        files
            .guarded
            .extend(profiles.into_iter().filter(|path| path.exists()));
        let own = self.own.iter().filter(|path| path.starts_with(root));
        for place in own {
            guard_own(place, files);
        }
        if let Some(home) = self.home.as_ref().filter(|home| home.starts_with(root)) {
            guard_home(home, files);
        }
    }
}

/// The work trees of subagents: writable like the workspace, inside of a folder that is not. Symbolic links are ignored.
fn work_trees(root: &Path) -> Vec<PathBuf> {
    let folder = root.join(".claude/worktrees");
    if fs::canonicalize(&folder).ok().as_ref() != Some(&folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|it| it.path()).collect()
}

/// Protects a configured path. If it does not exist, it is reserved so that it cannot be created.
fn guard_own(place: &Path, files: &mut Files) {
    if let Ok(real) = fs::canonicalize(place) {
        files.guarded.push(real);
    } else if place.parent().is_some_and(Path::is_dir) && !place.ends_with("config.worktree") {
        files.reserved.push(place.to_path_buf());
        files.guarded.push(place.to_path_buf());
    }
}

/// Protects the files in the home directory from which programs take instructions, even if they do not exist, since
/// programs look for all of them.
fn guard_home(home: &Path, files: &mut Files) {
    let named = PROTECTED_AT_HOME
        .iter()
        .chain(&PROTECTED)
        .chain(&PROGRAM_SETTINGS)
        .chain(&SHELL_PROFILES)
        .map(|name| home.join(name));
    let configuration = home.join(".config");
    let has_configuration = configuration.exists();
    let folders = CONFIGURATION_FOLDERS.map(|name| configuration.join(name));
    for place in named.chain(folders) {
        let is_there = fs::symlink_metadata(&place).is_ok();
        // If `.config` does not exist, it is protected as a whole.
        let place = match has_configuration || !place.starts_with(&configuration) {
            true => place,
            false => configuration.clone(),
        };
        let guarded = fs::canonicalize(&place).unwrap_or(place);
        if !is_there && !files.reserved.contains(&guarded) {
            files.reserved.push(guarded.clone());
        }
        if !files.guarded.contains(&guarded) {
            files.guarded.push(guarded);
        }
    }
}

/// Protects the instructions of a repository to git, including those of its submodules and other work trees.
fn guard_repository(root: &Path, files: &mut Files) {
    let git = root.join(".git");
    match fs::symlink_metadata(&git) {
        // The file contains the path of the repository.
        Ok(metadata) if metadata.is_file() => files.guarded.push(git),
        Ok(metadata) if metadata.is_dir() => guard_git_folder(&git, MODULE_DEPTH, files),
        _ => {}
    }
}

fn guard_git_folder(git: &Path, depth: usize, files: &mut Files) {
    guard_paths(git, &PROTECTED_IN_GIT, files);
    let folders = |path: PathBuf| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
    };
    for tree in folders(git.join("worktrees")) {
        guard_paths(&tree, &["gitdir", "commondir", "config.worktree"], files);
    }
    for module in folders(git.join("modules")) {
        guard_modules(&module, depth, files);
    }
}

/// Protects the files in a git directory from which git takes instructions, existing or not.
fn guard_paths(folder: &Path, names: &[&str], files: &mut Files) {
    for name in names {
        let place = folder.join(name);
        let is_there = fs::symlink_metadata(&place).is_ok();
        // Git looks for these even if they do not exist.
        let is_looked_for = matches!(*name, "hooks" | "info" | "commondir" | "config.worktree");
        if !is_there && is_looked_for {
            files.reserved.push(place.clone());
        }
        if is_there || is_looked_for {
            files.guarded.push(place);
        }
    }
}

/// A folder of submodules, or a submodule: their names may contain slashes.
fn guard_modules(folder: &Path, depth: usize, files: &mut Files) {
    if folder.join("HEAD").exists() {
        return guard_git_folder(folder, depth, files);
    }
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            guard_modules(&entry.path(), depth, files);
        }
    }
}

/// The deny patterns of a text in the settings: alternatives in braces become separate patterns, and the text is also
/// taken as a literal path if it could be one.
fn closing(text: &str, cwd: &str, home: Option<&str>) -> Result<Vec<String>, String> {
    // The paths of real folders may contain wildcard characters, which are literal there.
    let home_pattern = home.map(literal_pattern);
    let pattern = absolute(text, &literal_pattern(cwd), home_pattern.as_deref())?;
    let wrong = |reason: &str| format!("`{text}` closes nothing: {reason}");
    let looks_like_a_class = text.contains('[');
    let named = looks_like_a_class
        .then(|| absolute(text, cwd, home))
        .transpose()?
        .map(|path| literal_pattern(&path));
    let mut all = match normal_patterns(&pattern) {
        Ok(all) => all,
        Err(_) if named.is_some() => Vec::new(),
        Err(reason) => return Err(wrong(reason)),
    };
    all.extend(named);
    Ok(all)
}

/// Makes a path of the settings absolute.
fn absolute(text: &str, cwd: &str, home: Option<&str>) -> Result<String, String> {
    if text.is_empty() || text.contains('\0') {
        return Err(format!("{text:?} is no path"));
    }
    let path = match (text.strip_prefix("~"), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{home}{rest}")
        }
        (Some(rest), None) if rest.is_empty() || rest.starts_with('/') => {
            return Err(format!(
                "`{text}` cannot be found: there is no home directory"
            ));
        }
        _ if text.starts_with('/') => text.replacen("//", "/", 1),
        _ => format!(
            "{}/{}",
            cwd.trim_end_matches('/'),
            text.trim_start_matches("./")
        ),
    };
    match path.split('/').any(|part| part == "..") {
        true => Err(format!("`{text}` holds `..`: write the path that is meant")),
        false => Ok(path.trim_end_matches("/.").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_settings_begin_where_they_say() {
        let read = |text| absolute(text, "/w", Some("/home/me"));
        let table = [
            ("/etc/x", "/etc/x"),
            ("//etc/x", "/etc/x"),
            ("~/.ssh", "/home/me/.ssh"),
            ("~", "/home/me"),
            ("./build", "/w/build"),
            ("build/*.o", "/w/build/*.o"),
            (".", "/w"),
            ("~user", "/w/~user"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for text in ["", "../x", "/w/../etc", "a\0b"] {
            read(text).expect_err(text);
        }
        absolute("~/x", "/w", None).expect_err("no home");
    }
}
