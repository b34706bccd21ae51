//! Checks the contents of a folder that is copied, moved or removed.

use std::{collections::BTreeMap, path::Path};

use windlass_core::{
    permission::is_protected_by_name,
    tool::{Access, DenyPattern, FsGrant},
};

use super::{
    entries::{MOST_ENTRIES, entries_below},
    grant::{Grant, with_followed},
    path_text::slashed,
};

/// The relevant paths below a folder, relative to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Below {
    /// A file from which programs or later sessions take instructions.
    pub(crate) brings: Option<String>,
    /// A file that a rule denies.
    pub(crate) holds: Option<String>,
}

/// Searches a folder for such files and for matches of the patterns. Links are not followed, since their targets stay
/// where they are. If a folder has too many entries, it is reported itself, since it may contain anything.
pub(crate) fn below(folder: &Path, closed: &[String]) -> Below {
    below_of(folder, closed, MOST_ENTRIES)
}

fn below_of(folder: &Path, closed: &[String], most: usize) -> Below {
    let closed = (!closed.is_empty()).then(|| closing(closed));
    let anything = || Some(".".to_owned());
    let mut found = Below::default();
    if let Some(None) = closed {
        found.holds = anything(); // a pattern that cannot be read
    }
    let closed = closed.flatten();
    let is_closed = |path: &Path| {
        let grant = closed.as_ref()?;
        grant.denied(&slashed(&folder.join(path)))
    };
    // What cannot be read is not copied; a moved folder keeps its permissions.
    for (count, (path, _)) in entries_below(folder).enumerate() {
        let text = path.to_string_lossy();
        if found.brings.is_none() && is_protected_by_name(&text) {
            found.brings = Some(text.clone().into_owned());
        }
        if found.holds.is_none() && is_closed(&path).is_some() {
            found.holds = Some(text.into_owned());
        }
        let has_all = found.brings.is_some() && (found.holds.is_some() || closed.is_none());
        if has_all {
            return found;
        }
        if count >= most {
            found.brings = found.brings.or_else(anything);
            found.holds = found
                .holds
                .or_else(|| closed.as_ref().and_then(|_| anything()));
            return found;
        }
    }
    found
}

/// The compiled patterns, also for the current real paths of their literal beginnings; `None` if they are invalid.
fn closing(patterns: &[String]) -> Option<Grant> {
    let deny = patterns.iter().map(|pattern| DenyPattern {
        pattern: pattern.clone(),
        access: Access::Read,
    });
    let source = FsGrant {
        deny: with_followed(&deny.collect::<Vec<_>>()),
        ..FsGrant::default()
    };
    Grant::new(source, Vec::new(), &BTreeMap::new()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_becomes_authority_is_found_wherever_it_lies() {
        for (file, expected) in [
            (".claude/settings.json", Some(".claude")),
            ("a/b/.mcp.json", Some("a/b/.mcp.json")),
            ("a/.git/config", Some("a/.git")),
            ("a/.bashrc", Some("a/.bashrc")),
            ("hooks/pre-commit", None),
            ("a/config", None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
            let found = below(folder.path(), &[]);
            assert_eq!(found.brings.as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn what_a_rule_closes_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        for made in ["a/b", "c"] {
            fs::create_dir_all(folder.path().join(made)).unwrap();
        }
        fs::write(folder.path().join("a/b/.env"), "").unwrap();
        let pattern = |text: &str| format!("{}/{text}", slashed(folder.path()));
        for (patterns, expected) in [
            (vec![pattern("**/.env")], Some("a/b/.env")),
            (
                vec![pattern("c/.env"), pattern("**/.env")],
                Some("a/b/.env"),
            ),
            (vec![pattern("a/*/.env")], Some("a/b/.env")),
            (vec![pattern("**/*.pem")], None),
            (vec![], None),
        ] {
            let found = below(folder.path(), &patterns);
            assert_eq!(found.holds.as_deref(), expected, "{patterns:?}");
        }
    }

    #[test]
    fn a_folder_with_more_than_is_looked_through_may_bring_anything() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let closed = [format!("{}/d", slashed(folder.path()))];
        for closed in [&[][..], &closed] {
            assert_eq!(below_of(folder.path(), closed, 3), Below::default());
            let found = below_of(folder.path(), closed, 2);
            assert_eq!(found.brings.as_deref(), Some("."));
            assert_eq!(found.holds.is_some(), !closed.is_empty());
        }
    }

    #[test]
    #[cfg(unix)]
    fn what_a_link_leads_to_does_not_come_along() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join(".mcp.json"), "").unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("l")).unwrap();
        assert_eq!(below(folder.path(), &[]), Below::default());
    }
}
