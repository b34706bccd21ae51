//! The variables of a shell, and which of them are exported.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    sync::Arc,
};

use windlass_core::tool::ShellVariable;

/// The maximum size of all values that a line sets, in bytes; a separate shell process would use that memory too.
const MOST_BYTES: usize = 16 << 20;

/// Variables by name. Cloning is cheap; the data is copied on the first change.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables(Arc<BTreeMap<OsString, Variable>>, Set);

/// The number of bytes that were set.
#[derive(Debug, Clone, Copy, Default)]
struct Set(usize);

/// The values together are too large.
#[derive(Debug)]
pub(super) struct TooLarge;

#[derive(Debug, Clone, Default)]
struct Variable {
    value: OsString,
    exported: bool,
}

impl Variables {
    /// The variables of a shell that was just started in a directory.
    pub(super) fn inherited(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        directory: &OsStr,
    ) -> Self {
        let export = |(name, value)| {
            let exported = true;
            (name, Variable { value, exported })
        };
        let known = environment.into_iter().map(export).collect();
        let mut variables = Self(Arc::new(known), Set::default());
        // Unset if it is no longer a directory, as in bash.
        if let Some(old) = variables.get("OLDPWD")
            && !std::path::Path::new(old).is_dir()
        {
            variables.remove("OLDPWD");
        }
        variables.export("PWD", directory.to_owned());
        variables.one_level_deeper();
        variables
    }

    /// The variables of a bash started by this shell.
    pub(super) fn of_child(&self, directory: &OsStr) -> Self {
        Self::inherited(self.exported(), directory)
    }

    /// The variables of another shell started by this one, without `SHLVL` handling.
    pub(super) fn of_plain_child(&self, directory: &OsStr) -> Self {
        let mut child = Self::default();
        for (name, value) in self.exported() {
            child.export(&name.to_string_lossy(), value);
        }
        child.export("PWD", directory.to_owned());
        child
    }

    pub(super) fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0
            .get(name.as_ref())
            .map(|known| known.value.as_os_str())
    }

    /// Whether the variable is exported.
    pub(super) fn is_exported(&self, name: &str) -> bool {
        let known = self.0.get(OsStr::new(name));
        known.is_some_and(|variable| variable.exported)
    }

    /// Sets a variable. An exported variable stays exported.
    pub(super) fn set(&mut self, name: &str, value: OsString) -> Result<(), TooLarge> {
        let before = self.get(name).map_or(0, OsStr::len);
        let bytes = self.1.0.saturating_sub(before).saturating_add(value.len());
        if bytes > MOST_BYTES {
            return Err(TooLarge);
        }
        self.1 = Set(bytes);
        Arc::make_mut(&mut self.0)
            .entry(name.into())
            .or_default()
            .value = value;
        Ok(())
    }

    /// Sets and exports a variable.
    pub(super) fn export(&mut self, name: &str, value: OsString) {
        let exported = true;
        Arc::make_mut(&mut self.0).insert(name.into(), Variable { value, exported });
    }

    /// Restores a variable from an earlier state.
    pub(super) fn take_from(&mut self, before: &Self, name: &str) {
        match before.0.get(OsStr::new(name)) {
            Some(variable) => {
                Arc::make_mut(&mut self.0).insert(name.into(), variable.clone());
            }
            None => self.remove(name),
        }
    }

    fn remove(&mut self, name: &str) {
        Arc::make_mut(&mut self.0).remove(OsStr::new(name));
    }

    /// The variables that have changed; those that are not UTF-8 are left out.
    pub(super) fn changed_since(&self, before: &Self) -> Vec<ShellVariable> {
        if Arc::ptr_eq(&self.0, &before.0) {
            return Vec::new();
        }
        let changed = self.0.iter().filter(|(name, now)| {
            let then = before.0.get(*name);
            then.is_none_or(|then| (&then.value, then.exported) != (&now.value, now.exported))
        });
        changed
            .filter_map(|(name, variable)| {
                Some(ShellVariable {
                    name: name.to_str()?.to_owned(),
                    value: Some(variable.value.to_str()?.to_owned()),
                    exported: variable.exported,
                })
            })
            .collect()
    }

    /// The exported variables.
    pub(super) fn exported(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        let exported = self.0.iter().filter(|(_, variable)| variable.exported);
        exported.map(|(name, variable)| (name.clone(), variable.value.clone()))
    }

    fn level(&self) -> i64 {
        let level = self.get("SHLVL").and_then(OsStr::to_str);
        level
            .and_then(|level| level.trim().parse().ok())
            .unwrap_or(0)
    }

    fn one_level_deeper(&mut self) {
        let level = (self.level().saturating_add(1)).max(0);
        self.export("SHLVL", level.to_string().into());
    }

    /// Lowers `SHLVL`, as bash does for a program that replaces the shell.
    pub(super) fn one_level_up(&mut self) {
        let level = (self.level().saturating_sub(1)).max(0);
        self.export("SHLVL", level.to_string().into());
    }
}
