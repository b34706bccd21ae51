//! The access that a grant allows at a path, for hosts whose file systems have no resolver of their own.

use super::{glob, is_under};
use crate::tool::{Access, FsGrant};

impl FsGrant {
    /// The access that is allowed at an absolute, resolved path. None if no root contains it or a deny pattern excludes it, so
    /// that it looks like a file that does not exist.
    ///
    /// ```
    /// use windlass_core::tool::{Access, DenyPattern, FsGrant, GrantRoot};
    /// let grant = FsGrant {
    ///     cwd: "/w".into(),
    ///     roots: vec![GrantRoot { path: "/w".into(), access: Access::Write }],
    ///     deny: vec![
    ///         DenyPattern { pattern: "/w/**/.env".into(), access: Access::Read },
    ///         DenyPattern { pattern: "/w/gen".into(), access: Access::Write },
    ///     ],
    /// };
    /// assert_eq!(grant.access("/w/a.rs"), Some(Access::Write));
    /// assert_eq!(grant.access("/w/gen/b.rs"), Some(Access::Read));
    /// assert_eq!(grant.access("/w/deep/.env"), None);
    /// assert_eq!(grant.access("/etc/passwd"), None);
    /// ```
    #[must_use]
    pub fn access(&self, path: &str) -> Option<Access> {
        let granted = self
            .roots
            .iter()
            .filter(|root| is_under(&root.path, path))
            .map(|root| root.access)
            .max()?;
        let mut closed = self
            .deny
            .iter()
            .filter(|deny| glob::covers(&deny.pattern, path))
            .map(|deny| deny.access);
        closed.try_fold(granted, |allowed, deny| match deny {
            Access::Read => None,
            Access::Write => Some(allowed.min(Access::Read)),
        })
    }
}
