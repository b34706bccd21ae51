//! Protected places ("authority"): files from which programs, shells or later sessions take instructions.
//!
//! A party that may edit the workspace must not thereby change what is allowed, started or trusted there tomorrow. Changing such
//! a place requires a person's permission in every mode except an explicit bypass. The only rule that allows it is one that a
//! person wrote outside of the folder and that names the place.

use alloc::{string::String, vec::Vec};

use super::{
    CallFacts, Mode, PathFact, PolicyContext, Rule, Source, Specifier, glob, path_pattern,
    path_pattern::{is_under, lexical},
};
use crate::{environment::Environment, tool::Access};

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
pub fn becomes_authority(path: &str) -> bool {
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
            named => named.to_lowercase(),
        }
    });
    names.collect::<Vec<String>>().join("/")
}

/// The protected place that a call may change without a person having allowed it.
pub(super) fn changed_by(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<String> {
    if !is_guarded(policy, call) {
        return None;
    }
    let is_approved = is_approved_line(policy, call);
    let mut facts = (call.paths.iter()).filter(|fact| fact.access == Access::Write);
    let by_path = facts.find_map(|fact| {
        let written = written_name(fact, policy);
        let names = || [&fact.path].into_iter().chain(&written);
        let is_place = |path: &&String| is_place(path, policy.environment);
        let place = match fact.is_brought() {
            true => &fact.path,
            false => names().find(is_place)?,
        };
        let mut allow = policy.rules.allow.iter();
        let is_named = allow.any(|rule| names().any(|path| names_path(rule, path, policy)))
            || is_approved && is_written_as_the_place(fact, policy);
        (!is_named).then(|| place.clone())
    });
    if by_path.is_some() {
        return by_path;
    }
    match is_approved {
        true => None,
        false => call.command?.names_authority(policy),
    }
}

/// Whether a call needs permission for protected places: in every mode except an explicit bypass.
pub(super) fn is_guarded(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    policy.mode_for(&call.tool.name) != Mode::BypassPermissions
}

/// Whether a person's rule is exactly the line of a call: its author has seen the places named in it.
pub(super) fn is_approved_line(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    let Some(line) = call.command else {
        return false;
    };
    policy.rules.allow.iter().any(|rule| {
        is_a_persons(rule) && rule.names_tool(&call.tool.name) && line.is_allowed_line(rule, policy)
    })
}

/// The absolute path under which a call names a file: if a link's own path is protected, it is so wherever the link leads. None
/// for files that are affected only as part of a folder.
fn written_name(fact: &PathFact, policy: &PolicyContext<'_>) -> Option<String> {
    (!fact.is_brought()).then(|| lexical(&policy.environment.cwd, &fact.written))
}

/// Whether a line names the protected place that it changes itself, rather than reaching it through a link or as part of a
/// folder.
fn is_written_as_the_place(fact: &PathFact, policy: &PolicyContext<'_>) -> bool {
    let name = |path: &str| String::from(path.rsplit('/').next().unwrap_or_default());
    written_name(fact, policy).is_some_and(|written| {
        is_place(&written, policy.environment) && name(&written) == name(&fact.path)
    })
}

/// The program's own file or folder that a call reads or changes although it is closed to tools.
pub(super) fn closed_place(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<String> {
    let closed = &policy.environment.closed_places;
    if closed.is_empty() {
        return None;
    }
    let fact = call.paths.iter().find(|fact| lies_in(&fact.path, closed));
    match fact {
        Some(fact) => Some(fact.path.clone()),
        None => call.command?.names_any_of(closed, policy),
    }
}

/// Whether a person wrote the rule outside of the folder's own settings.
fn is_a_persons(rule: &Rule) -> bool {
    matches!(
        rule.source(),
        Source::UserSettings | Source::PolicySettings | Source::CliArg | Source::Session
    )
}

/// Whether a person's rule allows a protected place by its name, not only as part of a folder.
fn names_path(rule: &Rule, path: &str, policy: &PolicyContext<'_>) -> bool {
    let Specifier::Path(pattern) = &rule.specifier else {
        return false;
    };
    let patterns = path_pattern::absolute(rule, pattern, policy);
    rule.is_edit()
        && is_a_persons(rule)
        && patterns.iter().any(|pattern| {
            glob::covers(pattern, path) && is_place(&written_out(pattern), policy.environment)
        })
}

/// The names of a pattern up to the first with a wildcard; `**` is skipped.
fn written_out(pattern: &str) -> String {
    let mut out = String::new();
    for segment in pattern
        .split('/')
        .filter(|segment| !segment.is_empty() && *segment != "**")
    {
        let mut escaped = false;
        let is_wild = segment.chars().any(|c| {
            let wild = !escaped && matches!(c, '*' | '?' | '[');
            escaped = !escaped && c == '\\';
            wild
        });
        if is_wild {
            break;
        }
        out.push('/');
        out.extend(segment.chars().filter(|c| *c != '\\'));
    }
    out
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

    #[test]
    fn a_pattern_is_written_out_up_to_its_first_wildcard() {
        for (pattern, expected) in [
            ("/w/**/.mcp.json", "/w/.mcp.json"),
            ("/w/.claude/commands/**", "/w/.claude/commands"),
            ("/w/*/.claude/**", "/w"),
            ("/w\\[1\\]/.git/config", "/w[1]/.git/config"),
        ] {
            assert_eq!(written_out(pattern), expected, "{pattern}");
        }
    }
}
