//! Which paths are protected places: files from which programs, shells or later sessions take instructions. What that means for a
//! call is in [`authority`](super::authority).

use alloc::{string::String, vec::Vec};

use super::path::is_under;
use crate::environment::Environment;

/// Names of files that shells read at startup. They are protected in every folder.
pub const SHELL_PROFILES: [&str; 28] = [
    ".bash_aliases",
    ".bash_completion",
    ".bash_functions",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".kshrc",
    ".login",
    ".mkshrc",
    ".pam_environment",
    ".profile",
    ".shinit",
    ".shrc",
    ".tcshrc",
    ".xinitrc",
    ".xonshrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".yashrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Names of files that configure programs, or record which folders are trusted. They are protected in every folder.
pub const PROGRAM_SETTINGS: [&str; 3] = [".claude.json", ".gitconfig", ".inputrc"];

/// Folders below `.config` of a home directory that configure sessions, shells and git.
pub const CONFIGURATION_FOLDERS: [&str; 9] = [
    "autostart",
    "elvish",
    "environment.d",
    "fish",
    "git",
    "nushell",
    "powershell",
    "systemd",
    "xonsh",
];

/// Whether an absolute path is a protected place.
pub(super) fn is_place(path: &str, environment: &Environment) -> bool {
    is_place_beside(path, &environment.own_directories)
}

/// The same, given the program's own directories.
pub(super) fn is_place_beside(path: &str, own_directories: &[String]) -> bool {
    lies_in(path, own_directories) || is_place_by_name(path)
}

/// Whether a path is one of these files and folders, or below one.
pub(super) fn lies_in(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| is_under(place, path))
}

/// Whether a path is protected by the names in it, wherever it is. Hosts check with it what lies below a folder that is copied or
/// moved.
#[must_use]
pub fn is_protected_by_name(path: &str) -> bool {
    is_place_by_name(path)
}

fn is_place_by_name(path: &str) -> bool {
    if !may_hold_a_place(path) {
        return false;
    }
    let path = as_the_loosest_system_reads(path);
    let path = path.as_str();
    let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
    let mut in_git = false;
    while let Some(name) = names.next() {
        let is_last = names.peek().is_none();
        match name {
            ".claude" if names.peek() == Some(&"worktrees") => {
                // A worktree is judged as the workspace that it is; the folder that contains the worktrees is not one.
                names.next();
                if names.next().is_none() || names.peek().is_none() {
                    return true;
                }
                continue;
            }
            ".claude" | ".ssh" | ".bashrc.d" => return true,
            ".mcp.json" | ".git" if is_last => return true,
            ".git" => in_git = true,
            // Files of repositories, submodules and worktrees: `config` and hooks, references to other folders (`commondir`,
            // `gitdir`), and lists of pending operations (`rebase-merge`). Stale lock files are not protected, nor is the pattern
            // of `find . -not -path './.git/*'`.
            name if in_git && is_last && !name.ends_with(".lock") && name != "*" => return true,
            "hooks" | "info" if in_git => return true,
            ".config"
                if names
                    .peek()
                    .is_some_and(|next| CONFIGURATION_FOLDERS.contains(next)) =>
            {
                return true;
            }
            name if is_last
                && (SHELL_PROFILES.contains(&name) || PROGRAM_SETTINGS.contains(&name)) =>
            {
                return true;
            }
            _ => {}
        }
    }
    is_under("/etc/profile.d", path)
        || matches!(path, "/etc/profile" | "/etc/bash.bashrc" | "/etc/zsh/zshrc")
}

/// A quick check whether a path can contain the name of a protected place. These names begin with a dot or are in `/etc`, apart
/// from names that other systems treat as equal to one. Called for every word of a line.
fn may_hold_a_place(path: &str) -> bool {
    let mut before = b'/';
    let begins_with_dot = path.bytes().any(|byte| {
        let is_begin = before == b'/' && byte == b'.';
        before = byte;
        is_begin || !byte.is_ascii() || byte == b'~'
    });
    begins_with_dot
        || path
            .get(..5)
            .is_some_and(|root| root.eq_ignore_ascii_case("/etc/"))
}

/// A path in the form used by file systems on which `.Claude` is `.claude`: lower case, without characters that some systems
/// ignore, and without dots and spaces at the end of a name. On a system that distinguishes such names, a few more paths need
/// permission.
fn as_the_loosest_system_reads(path: &str) -> String {
    let is_passed_over = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let names = path.split('/').map(|name| {
        let name: String = name.chars().filter(|c| !is_passed_over(c)).collect();
        match name.trim_end_matches(['.', ' ']) {
            "" => name, // `.` and `..`
            "git~1" | "GIT~1" => String::from(".git"),
            // Each character by itself, as file systems do.
            named => named.chars().flat_map(char::to_lowercase).collect(),
        }
    });
    names.collect::<Vec<String>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_authority_is_known_by_its_name() {
        let environment = Environment {
            own_directories: alloc::vec!["/home/u/.cache/windlass".into()],
            ..Environment::default()
        };
        for (path, expected) in [
            ("/w/.claude/settings.json", true),
            ("/w/.claude", true),
            ("/w/a/.claude/commands/x.md", true),
            ("/w/.claude/worktrees", true),
            ("/w/.claude/worktrees/one", true),
            ("/w/.claude/worktrees/one/src/a.rs", false),
            ("/w/.claude/worktrees/one/.claude/settings.json", true),
            ("/w/.claude/worktrees/one/.git", true),
            ("/w/.mcp.json", true),
            ("/w/x.mcp.json", false),
            ("/w/.git/hooks/pre-commit", true),
            ("/w/.git/config", true),
            ("/w/.git/info/attributes", true),
            ("/w/.git/modules/lib/hooks/post-checkout", true),
            ("/w/.git/modules/lib/config", true),
            ("/w/.git/worktrees/one/config.worktree", true),
            ("/w/.git/index", true),
            ("/w/.git/index.lock", false),
            ("/w/.git/commondir", true),
            ("/w/.git/worktrees/one/gitdir", true),
            ("/w/.git/rebase-merge/git-rebase-todo", true),
            ("/w/.gitignore", false),
            ("/w/.git/refs/heads/config", true),
            ("/w/.github/workflows/ci.yml", false),
            ("/w/config", false),
            ("/home/u/.bashrc", true),
            ("/home/u/.ssh/authorized_keys", true),
            ("/home/u/.config/fish/config.fish", true),
            ("/home/u/.config/git/config", true),
            ("/home/u/.config/nvim/init.lua", false),
            ("/home/u/.gitconfig", true),
            ("/home/u/.claude.json", true),
            ("/home/u/.cache/windlass/components/x", true),
            ("/home/u/.cache/other", false),
            ("/w/src/a.rs", false),
            // Names as other systems read them.
            ("/w/.GIT/hooks/pre-commit", true),
            ("/w/.Claude/settings.json", true),
            ("/w/.claude./settings.json", true),
            ("/w/.g\u{200c}it/config", true),
            ("/w/GIT~1/config", true),
            ("/w/.MCP.json", true),
            ("/home/u/.xprofile", true),
            ("/home/u/.bash_completion", true),
            ("/home/u/.mkshrc", true),
            ("/home/u/.xonshrc", true),
            ("/home/u/.config/nushell/config.nu", true),
            ("/home/u/.config/powershell/profile.ps1", true),
            ("/home/u/.config/environment.d/x.conf", true),
            ("/home/u/.bashrc.d/x", true),
            ("/w/...", false),
        ] {
            assert_eq!(is_place(path, &environment), expected, "{path}");
        }
    }
}
