//! Places that become authority: files from which programs, shells or later sessions take orders.
//!
//! Who may edit the workspace may not by that change what will be allowed, started or believed there tomorrow. No mode but an explicit
//! bypass lets such a place be changed unasked, and no rule but one that a person wrote outside of the folder and that names the
//! place.

use alloc::{string::String, vec::Vec};

use super::{
    CallFacts, Mode, PathFact, PolicyContext, Rule, Source, Specifier, glob, path_pattern,
    path_pattern::{is_under, lexical},
};
use crate::{environment::Environment, tool::Access};

/// Names of files that shells read when they start. They become authority wherever they lie.
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

/// Names of files by which programs are told what to do, and folders trusted. They become authority wherever they lie.
pub const PROGRAM_SETTINGS: [&str; 3] = [".claude.json", ".gitconfig", ".inputrc"];

/// Folders below `.config` of a home directory from which sessions, shells and git take orders.
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

/// Whether what stands at an absolute path becomes authority.
pub(super) fn is_place(path: &str, environment: &Environment) -> bool {
    is_place_beside(path, &environment.own_directories)
}

/// The same for a program whose own directories these are.
pub(super) fn is_place_beside(path: &str, own_directories: &[String]) -> bool {
    lies_in(path, own_directories) || is_place_by_name(path)
}

/// Whether what stands at a path is one of these files and folders, or lies in one.
pub(super) fn lies_in(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| is_under(place, path))
}

/// Whether what stands at a path becomes authority wherever that is, by the names in it: hosts ask it about what lies below a folder
/// that is copied or moved.
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
                // A worktree is judged as the workspace that it is; the folder of worktrees is not one.
                names.next();
                if names.next().is_none() || names.peek().is_none() {
                    return true;
                }
                continue;
            }
            ".claude" | ".ssh" | ".bashrc.d" => return true,
            ".mcp.json" | ".git" if is_last => return true,
            ".git" => in_git = true,
            // Of the repository, of submodules and of worktrees: `config` and hooks, what leads to others (`commondir`, `gitdir`),
            // and lists of what is to be done (`rebase-merge`). A lock that was left behind is none of it, nor is the pattern of
            // `find . -not -path './.git/*'`.
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

/// Whether a name in a path may be one of a place: they all begin with a dot, or lie in `/etc`, but for what other systems read as
/// one. It is asked about every word of a line.
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

/// A path as systems read it for which `.Claude` is `.claude`: in small letters, without characters that some systems pass over,
/// and without the dots and spaces at the end of a name. Where a system tells such names apart, a name more is asked about.
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

/// The place that a call may change although nobody who may say so has said so.
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

/// Whether places are asked about in a call: in every mode but an explicit bypass.
pub(super) fn is_guarded(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    policy.mode_for(&call.tool.name) != Mode::BypassPermissions
}

/// Whether a person's rule is exactly the line of a call: whoever wrote it has seen the places that stand in it.
pub(super) fn is_approved_line(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    let Some(line) = call.command else {
        return false;
    };
    policy.rules.allow.iter().any(|rule| {
        is_a_persons(rule) && rule.names_tool(&call.tool.name) && line.is_allowed_line(rule, policy)
    })
}

/// The absolute name under which a call names a file: what is a place by the name of a link is one wherever the link leads. None of
/// what only comes along.
fn written_name(fact: &PathFact, policy: &PolicyContext<'_>) -> Option<String> {
    (!fact.is_brought()).then(|| lexical(&policy.environment.cwd, &fact.written))
}

/// Whether a line itself says which place it changes: not where it only leads there, through a link or because something comes along.
fn is_written_as_the_place(fact: &PathFact, policy: &PolicyContext<'_>) -> bool {
    let name = |path: &str| String::from(path.rsplit('/').next().unwrap_or_default());
    written_name(fact, policy).is_some_and(|written| {
        is_place(&written, policy.environment) && name(&written) == name(&fact.path)
    })
}

/// The file or folder of the program itself that a call reads or changes and that is closed to tools.
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

/// Whether a rule is one that a person wrote where the folder has no say.
fn is_a_persons(rule: &Rule) -> bool {
    matches!(
        rule.source(),
        Source::UserSettings | Source::PolicySettings | Source::CliArg | Source::Session
    )
}

/// Whether a person's rule allows a place by its name: not only as something below a folder.
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

/// The names of a pattern up to the first with a wildcard; `**` stands for no name.
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
            // As other systems read them.
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
