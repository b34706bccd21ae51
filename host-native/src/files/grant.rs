//! A compiled grant of a call: deny patterns as automata, and protected directories.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use windlass_core::{
    permission::literal_pattern,
    tool::{Access, DenyPattern, FsGrant},
};

use super::{
    path_text::{is_within, slashed},
    resolve::real_path,
};

/// The maximum number of deny patterns in one automaton: ten thousand exceed the library's size limit.
const TOGETHER: usize = 1000;

/// A grant cannot be enforced as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// A root is not an absolute path without `..`.
    #[error(
        "the granted root `{path}` is not an absolute path: grant the real path of a directory or file"
    )]
    Root {
        /// The root as granted.
        path: String,
    },
    /// A deny pattern is not a valid glob. Nothing is granted, since it is unknown what it should deny.
    #[error("the deny pattern `{pattern}` cannot be read: {reason}")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// A grant with its deny patterns compiled.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(crate) source: FsGrant,
    hidden: Vec<GlobSet>,
    frozen: Vec<GlobSet>,
    protected: Vec<String>,
    /// The literal beginnings of the patterns that deny reading.
    beginnings: Vec<String>,
}

impl Grant {
    pub(super) fn new(
        source: FsGrant,
        protected: Vec<String>,
        behind: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<Self, GrantError> {
        for root in &source.roots {
            let path = Path::new(&root.path);
            let climbs = path.components().any(|c| c.as_os_str() == "..");
            if !path.is_absolute() || climbs {
                return Err(GrantError::Root {
                    path: root.path.clone(),
                });
            }
        }
        Ok(Self {
            hidden: patterns(&source, Access::Read, behind)?,
            frozen: patterns(&source, Access::Write, behind)?,
            protected,
            beginnings: beginnings(&source, behind),
            source,
        })
    }

    /// The folders or files in which the patterns that deny reading can match; `/` for those that can match anywhere.
    pub(crate) fn beginnings_of_closed(&self) -> impl Iterator<Item = &str> {
        self.beginnings.iter().map(String::as_str)
    }

    /// The access that deny patterns remove from a path: `Read` is all access, `Write` is writing, `None` is nothing.
    pub(crate) fn denied(&self, path: &str) -> Option<Access> {
        if self.protected.iter().any(|p| is_within(path, p)) {
            return Some(Access::Read);
        }
        if self.hidden.is_empty() && self.frozen.is_empty() {
            return None;
        }
        let candidate = Candidate::new(path);
        let is_in = |sets: &[GlobSet]| sets.iter().any(|set| set.is_match_candidate(&candidate));
        if is_in(&self.hidden) {
            Some(Access::Read)
        } else if is_in(&self.frozen) {
            Some(Access::Write)
        } else {
            None
        }
    }

    /// The same for a path whose parents were not checked one by one.
    pub(crate) fn denied_anywhere_above(&self, path: &str) -> Option<Access> {
        Path::new(path)
            .ancestors()
            .filter_map(|above| self.denied(&slashed(above)))
            .min()
    }
}

/// Compiles the patterns that deny one kind of access.
fn patterns(
    grant: &FsGrant,
    access: Access,
    behind: &BTreeMap<String, BTreeSet<String>>,
) -> Result<Vec<GlobSet>, GrantError> {
    let mut globs = Vec::new();
    for deny in grant.deny.iter().filter(|d| d.access == access) {
        for text in spellings(&deny.pattern, behind) {
            let glob = GlobBuilder::new(&text)
                .literal_separator(true)
                .backslash_escape(true)
                // On file systems that ignore case, patterns must too.
                .case_insensitive(cfg!(any(target_os = "macos", windows)))
                .build();
            let glob = glob.map_err(|error| unreadable(&deny.pattern, &error))?;
            globs.push((deny.pattern.as_str(), glob));
        }
    }
    automata(&globs)
}

/// Combines patterns into as few automata as the library's size limit allows.
fn automata(globs: &[(&str, Glob)]) -> Result<Vec<GlobSet>, GrantError> {
    if globs.len() > TOGETHER {
        return halves(globs);
    }
    let mut set = GlobSetBuilder::new();
    for (_, glob) in globs {
        set.add(glob.clone());
    }
    match (set.build(), globs) {
        (Ok(set), _) => Ok(vec![set]),
        (Err(error), [(pattern, _)]) => Err(unreadable(pattern, &error)),
        (Err(_), globs) => halves(globs),
    }
}

fn halves(globs: &[(&str, Glob)]) -> Result<Vec<GlobSet>, GrantError> {
    let (first, second) = globs.split_at(globs.len() / 2);
    let mut sets = automata(first)?;
    sets.extend(automata(second)?);
    Ok(sets)
}

fn unreadable(pattern: &str, error: &globset::Error) -> GrantError {
    GrantError::Pattern {
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    }
}

/// The forms in which a pattern is matched: anchored, without a trailing slash ("directories only"), and additionally
/// below each real path that its literal beginning has had.
fn spellings(pattern: &str, behind: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let body = pattern.trim_end_matches('/');
    if !body.contains('/') {
        return vec![format!("**/{}", as_glob(body))];
    }
    let mut all = vec![as_glob(body)];
    let beginning = literal_beginning(pattern);
    for real in behind.get(beginning).into_iter().flatten() {
        let rest = as_glob(&body[beginning.len()..]);
        all.push(format!("{}{rest}", globset::escape(real)));
    }
    all
}

/// The path with which an absolute pattern begins: complete components without wildcards. Empty for other patterns.
pub(super) fn literal_beginning(pattern: &str) -> &str {
    let body = pattern.trim_end_matches('/');
    if !body.starts_with('/') && !cfg!(windows) {
        return "";
    }
    match body.find(['*', '?', '[', ']', '{', '}', '\\']) {
        None => body,
        Some(special) => &body[..body[..special].rfind('/').unwrap_or(0)],
    }
}

/// Adds deny patterns for the current real paths of the literal beginnings. For comparisons with real paths that do
/// not go through [`Files`](super::Files).
pub(crate) fn with_followed(deny: &[DenyPattern]) -> Vec<DenyPattern> {
    let mut all = deny.to_vec();
    for deny in deny {
        let body = deny.pattern.trim_end_matches('/');
        let beginning = literal_beginning(body);
        if beginning.is_empty() {
            continue;
        }
        let real = real_path(Path::new(beginning));
        if let Some(real) = real.ok().filter(|real| real != beginning) {
            let rest = &body[beginning.len()..];
            all.push(DenyPattern {
                pattern: format!("{}{rest}", literal_pattern(&real)),
                access: deny.access,
            });
        }
    }
    all
}

/// The beginnings of the patterns that deny reading, under all known paths.
fn beginnings(grant: &FsGrant, behind: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut all = BTreeSet::new();
    for deny in grant.deny.iter().filter(|d| d.access == Access::Read) {
        let beginning = literal_beginning(&deny.pattern);
        all.extend(behind.get(beginning).into_iter().flatten().cloned());
        all.insert(match beginning {
            "" => "/".to_owned(),
            path => path.to_owned(),
        });
    }
    all.into_iter().collect()
}

/// Converts a gitignore pattern to globset syntax: braces are literal, and `**` matches slashes even as a part of a
/// component, as in the core's rules.
fn as_glob(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let stars = rest.len() - rest.trim_start_matches('*').len();
        let taken = if stars > 1 {
            let after = &rest[stars..];
            let starts_segment = glob.is_empty() || glob.ends_with('/');
            let ends_segment = after.is_empty() || after.starts_with('/');
            glob.push_str(if starts_segment && ends_segment {
                "**"
            } else {
                "{*,*/**/*}"
            });
            stars
        } else if next == '\\' {
            let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
            glob.push_str(&rest[..=escaped]);
            1 + escaped
        } else {
            if matches!(next, '{' | '}') {
                glob.push('\\');
            }
            glob.push(next);
            next.len_utf8()
        };
        rest = &rest[taken..];
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(denied: &[(&str, Access)]) -> Grant {
        let source = FsGrant {
            deny: denied
                .iter()
                .map(|&(pattern, access)| DenyPattern {
                    pattern: pattern.into(),
                    access,
                })
                .collect(),
            ..FsGrant::default()
        };
        Grant::new(source, Vec::new(), &BTreeMap::new()).expect("patterns that can be read")
    }

    #[test]
    fn patterns_stop_at_slashes_unless_they_say_otherwise() {
        let grant = grant(&[
            ("/w/*.pem", Access::Read),
            ("/w/**/.env", Access::Read),
            ("/w/locked/**", Access::Write),
            ("id_rsa", Access::Read),
            ("/w/draft**", Access::Read),
            ("/w/{a,b}", Access::Read),
        ]);
        let cases = [
            ("/w/a.pem", Some(Access::Read)),
            ("/w/sub/a.pem", None),
            ("/w/.env", Some(Access::Read)),
            ("/w/a/b/.env", Some(Access::Read)),
            ("/w/a/b/.environment", None),
            ("/w/locked/x", Some(Access::Write)),
            ("/home/u/.ssh/id_rsa", Some(Access::Read)),
            ("/w/draft-1", Some(Access::Read)),
            ("/w/drafts/old/one", Some(Access::Read)),
            ("/w/a", None),
            ("/w/{a,b}", Some(Access::Read)),
        ];
        for (path, expected) in cases {
            assert_eq!(grant.denied(path), expected, "{path}");
        }
    }

    #[test]
    fn a_denied_directory_closes_what_is_below_it() {
        let grant = grant(&[("/w/secrets", Access::Read), ("/w", Access::Write)]);
        let below = grant.denied_anywhere_above("/w/secrets/deep/key");
        assert_eq!(below, Some(Access::Read));
        assert_eq!(grant.denied_anywhere_above("/w/src"), Some(Access::Write));
    }
}
