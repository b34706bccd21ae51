//! Paths in a workspace that need protection not because of their names, but because something refers to them:
//! symbolic links, git's pointers and settings, and the search path for programs.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use windlass_core::permission::{CONFIGURATION_FOLDERS, PROGRAM_SETTINGS, SHELL_PROFILES};

#[cfg(unix)]
use super::git_settings::Git;
use super::nested::Nested;
use crate::{
    files::followed,
    regular::{self, Link},
    sandbox::PROTECTED_IN_GIT,
};

/// Paths below a workspace that may be links to executable configuration, beside shell profiles and the settings of programs.
const NAMED: [&str; 9] = [
    ".bashrc.d",
    ".claude",
    ".config",
    ".git",
    ".git/config",
    ".git/hooks",
    ".git/info",
    ".mcp.json",
    ".ssh",
];

/// Folders whose entries may be such links.
const LISTED: [&str; 9] = [
    ".bashrc.d",
    ".claude",
    ".claude/agents",
    ".claude/commands",
    ".claude/output-styles",
    ".claude/rules",
    ".claude/skills",
    ".git/hooks",
    ".ssh",
];

/// How many entries of one folder are inspected.
const MOST_ENTRIES: usize = 1000;

/// How many bytes of a git file are read.
const MOST_BYTES: u64 = 1 << 20;

/// For how many repositories git is asked for its settings.
#[cfg(unix)]
const MOST_ASKED: usize = 16;

/// The paths in these workspaces that need protection, as real paths.
pub(super) fn of(roots: &[&Path], home: Option<&Path>, search: Option<&OsStr>) -> Vec<PathBuf> {
    // Both run in parallel: searching the workspace and asking git take about the same time.
    let mut places = std::thread::scope(|scope| {
        let nested = scope.spawn(|| {
            roots
                .iter()
                .map(|root| Nested::below(root))
                .collect::<Vec<_>>()
        });
        let mut places: Vec<PathBuf> = roots.iter().flat_map(|root| of_links(root)).collect();
        places.extend(of_repositories(roots.iter().copied(), roots, home, search));
        // A thread that panicked has no results.
        let nested = nested.join().unwrap_or_default();
        let work_trees = nested.iter().flat_map(|nested| &nested.work_trees);
        let work_trees = work_trees.map(PathBuf::as_path);
        places.extend(of_repositories(work_trees, roots, home, search));
        // Only the files that git takes settings from: git itself keeps writing the others.
        let kept = nested.iter().flat_map(|nested| &nested.kept);
        places.extend(kept.flat_map(|folder| PROTECTED_IN_GIT.map(|name| folder.join(name))));
        places
    });
    let folders = search.map(std::env::split_paths).into_iter().flatten();
    let within = |folder: &PathBuf| is_within(folder, roots);
    let at_home = home.map(of_home).unwrap_or_default();
    places.extend(at_home.into_iter().filter(within));
    places.extend(
        folders
            .filter(|folder| folder.is_absolute())
            .filter_map(|folder| followed(&folder).ok())
            .filter(within),
    );
    places.sort();
    places.dedup();
    places
}

fn is_within(path: &Path, roots: &[&Path]) -> bool {
    roots
        .iter()
        .any(|root| path != *root && path.starts_with(root))
}

/// The paths that the git pointers and settings of these folders refer to.
fn of_repositories<'a>(
    folders: impl Iterator<Item = &'a Path>,
    roots: &[&Path],
    home: Option<&Path>,
    search: Option<&OsStr>,
) -> Vec<PathBuf> {
    let folders: Vec<&Path> = folders.collect();
    let mut places: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| of_git(folder, home))
        .collect();
    #[cfg(unix)]
    for folder in folders.into_iter().take(MOST_ASKED) {
        let named = search
            .filter(|_| reads_settings(folder, home))
            .and_then(|search| Git::find(search, roots, folder, home))
            .map(|git| git.places())
            .unwrap_or_default();
        let named = named.iter().filter_map(|place| followed(place).ok());
        places.extend(named.filter(|place| is_within(place, roots)));
    }
    places
}

/// The targets of the links in a workspace that have one of the protected names.
fn of_links(root: &Path) -> Vec<PathBuf> {
    let files = NAMED.iter().chain(&SHELL_PROFILES).chain(&PROGRAM_SETTINGS);
    let mut places: Vec<PathBuf> = files.filter_map(|name| linked(&root.join(name))).collect();
    places.extend(LISTED.iter().flat_map(|name| linked_in(&root.join(name))));
    let configuration = root.join(".config");
    if configuration.is_dir() {
        let folders = CONFIGURATION_FOLDERS.map(|name| configuration.join(name));
        places.extend(folders.iter().filter_map(|folder| linked(folder)));
        places.extend(folders.iter().flat_map(|folder| linked_in(folder)));
    }
    places
}

/// Whether git would find settings for a folder: in a repository or in the home directory.
#[cfg(unix)]
fn reads_settings(root: &Path, home: Option<&Path>) -> bool {
    let is_there = |path: PathBuf| fs::symlink_metadata(path).is_ok();
    root.ancestors().any(|folder| is_there(folder.join(".git")))
        || home.is_some_and(|home| {
            is_there(home.join(".gitconfig")) || is_there(home.join(".config/git/config"))
        })
}

/// The targets of the links in the home directory that have one of the protected names.
fn of_home(home: &Path) -> Vec<PathBuf> {
    let configuration = home.join(".config");
    let folders = CONFIGURATION_FOLDERS.map(|name| configuration.join(name));
    let own = [".ssh", ".claude"].map(|name| home.join(name));
    let files = SHELL_PROFILES.iter().chain(&PROGRAM_SETTINGS);
    let mut places: Vec<PathBuf> = files
        .filter_map(|name| linked(&home.join(name)))
        .chain(linked(&configuration))
        .collect();
    for folder in folders.iter().chain(&own) {
        places.extend(linked(folder));
        places.extend(linked_in(folder));
    }
    places.extend(LISTED.iter().flat_map(|name| linked_in(&home.join(name))));
    places
}

/// The target of a symbolic link; `None` if the path is not a link.
fn linked(path: &Path) -> Option<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    is_link.then(|| followed(path).ok()).flatten()
}

fn linked_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .take(MOST_ENTRIES)
        .filter_map(|entry| linked(&entry.path()))
        .collect()
}

/// The git directory, if it is outside of the work tree, and the paths that its settings name.
fn of_git(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let named = root.join(".git");
    let mut places = Vec::new();
    let git = match text(&named) {
        // A `.git` file that points to the repository.
        Some(pointer) => match pointer.trim().strip_prefix("gitdir:") {
            Some(folder) => root.join(folder.trim()),
            None => return places,
        },
        None => named.clone(),
    };
    let common = match text(&git.join("commondir")) {
        Some(folder) => git.join(folder.trim()),
        None => git.clone(),
    };
    if git != named {
        let kept = [&git, &common].into_iter();
        places.extend(kept.flat_map(|folder| PROTECTED_IN_GIT.map(|name| folder.join(name))));
    }
    let settings = text(&common.join("config")).unwrap_or_default();
    places.extend(settings.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let base = match key.trim().to_ascii_lowercase().as_str() {
            "hookspath" => root,
            // Of `include` and `includeIf`; such paths are relative to the file.
            "path" => &common,
            _ => return None,
        };
        match (value.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(base.join(value)),
        }
    }));
    places
        .iter()
        .filter_map(|place| followed(place).ok())
        .collect()
}

/// The text of a small file; `None` if there is no file.
fn text(path: &Path) -> Option<String> {
    let bytes = regular::read(path, Link::Followed, MOST_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_links_and_pointers_lead_to_is_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in [".claude/agents", "kept", "venv/bin"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        symlink("../conf/new.json", root.join(".claude/settings.local.json")).unwrap();
        symlink("conf/mcp.json", root.join(".mcp.json")).unwrap();
        fs::write(root.join(".git"), "gitdir: kept\n").unwrap();
        let settings =
            "[core]\n\tHooksPath = .husky\n[include]\n\tpath = \"more\"\n[user]\n\tname = a\n";
        fs::write(root.join("kept/config"), settings).unwrap();
        let search = format!("/usr/bin:venv/none:{}", root.join("venv/bin").display());
        let found = of(&[&root], None, Some(search.as_ref()));
        let mut expected: Vec<PathBuf> = [
            ".husky",
            "conf/mcp.json",
            "conf/new.json",
            "kept/commondir",
            "kept/config",
            "kept/config.worktree",
            "kept/hooks",
            "kept/info",
            "kept/more",
            "venv/bin",
        ]
        .map(|name| root.join(name))
        .into();
        expected.sort();
        assert_eq!(found, expected);
    }

    /// The paths below the folder that the installed git reads, with these settings.
    #[track_caller]
    #[allow(clippy::unwrap_used)]
    fn named_by(files: &[(&str, &str)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (root, home) = (folder.join("w"), folder.join("home"));
        for made in ["w/.git/objects", "w/.git/refs", "home"] {
            fs::create_dir_all(folder.join(made)).unwrap();
        }
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        let search = std::env::var_os("PATH").unwrap();
        let found = of(&[&root], Some(&home), Some(&search));
        for name in expected {
            assert!(found.contains(&root.join(name)), "{name}: {found:?}");
        }
    }

    #[test]
    fn perm_4_what_repositories_below_lead_to_is_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in [
            "sub/.git/objects",
            "sub/.git/refs",
            "tree",
            "kept/objects",
            "kept/refs",
        ] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        for head in ["sub/.git/HEAD", "kept/HEAD"] {
            fs::write(root.join(head), "ref: refs/heads/main\n").unwrap();
        }
        fs::write(root.join("sub/.git/config"), "[core]hooksPath=hk\n").unwrap();
        fs::write(root.join("tree/.git"), "gitdir: ../kept\n").unwrap();
        let search = std::env::var_os("PATH");
        let found = of(&[&root], Some(Path::new("/none")), search.as_deref());
        for name in ["sub/hk", "kept/hooks", "kept/config", "kept/info"] {
            assert!(found.contains(&root.join(name)), "{name}: {found:?}");
        }
    }

    #[test]
    fn what_settings_of_git_lead_to_is_a_place_however_they_are_written() {
        let include = "[include]path=../one\n";
        named_by(&[("w/.git/config", include)], &["one"]);
        let nested = "[include]\npath = two\n";
        named_by(&[("w/.git/config", include), ("w/one", nested)], &["two"]);
        let commented = "[include]\npath = \"../one\" ; c\n";
        named_by(&[("w/.git/config", commented)], &["one"]);
        named_by(
            &[("w/.git/config", "[include]\nPath=../o\\\\ne\n")],
            &["o\\ne"],
        );
        let hooks = "[core] hooksPath = \"hk\" # c\n";
        named_by(&[("w/.git/config", hooks)], &["hk"]);
        named_by(
            &[("w/.git/config", include), ("w/one", hooks)],
            &["one", "hk"],
        );
        let never = "[includeIf \"gitdir:/nowhere/\"]\npath = ../one\n";
        named_by(
            &[("w/.git/config", never), ("w/one", nested)],
            &["one", "two"],
        );
        let both = format!("{never}[includeIf \"gitdir:/elsewhere/\"]\npath = ../other\n");
        named_by(
            &[
                ("w/.git/config", &both),
                ("w/one", nested),
                ("w/other", "[include]\npath = three\n"),
            ],
            &["one", "two", "other", "three"],
        );
    }

    #[test]
    fn links_of_the_home_directory_lead_to_places() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (root, home) = (folder.join("w"), folder.join("home"));
        for made in ["w/dot/ssh", "home/.claude"] {
            fs::create_dir_all(folder.join(made)).unwrap();
        }
        for (from, to) in [
            (".bashrc", "dot/bashrc"),
            (".gitconfig", "dot/gitconfig"),
            (".ssh", "dot/ssh"),
            (".claude/commands", "dot/commands"),
        ] {
            symlink(root.join(to), home.join(from)).unwrap();
        }
        symlink("/etc/profile", home.join(".profile")).unwrap();
        let expected = ["bashrc", "commands", "gitconfig", "ssh"];
        let expected: Vec<PathBuf> = expected.map(|name| root.join("dot").join(name)).into();
        assert_eq!(of(&[&root], Some(&home), None), expected);
    }

    #[test]
    fn a_plain_workspace_has_no_further_places() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(root.join(".git/config"), "[core]\n\tbare = false\n").unwrap();
        let found = of(&[&root], None, Some(root.as_os_str()));
        assert_eq!(found, Vec::<PathBuf>::new());
    }
}
