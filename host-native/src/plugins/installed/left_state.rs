//! Whose durable state is whose: what a grant remembers, and what is left of grants that are gone.
//!
//! An id of durable state that no grant has any more is noted beside the grants, with the component that had it last: who removes a
//! plugin removes all that it ever remembered, and not only what its last grant leads to.

use std::{fs, io, path::Path};

use super::store::PluginStore;
use crate::plugins::{
    kept_grants::{GrantFile, GrantFileError, KeptGrant, KeptGrants, state_ids},
    left::LeftState,
    state::{StateIdentity, StateScope, new_state_id},
};

impl KeptGrants {
    /// Notes what a component is granted, in place of what it was granted before, or another one of its name which it replaces: that
    /// is said by its digest, for anybody can give a component any name. Where it may remember for good, it has what that one
    /// remembered, or what was kept for it when it was removed, unless it shall begin anew.
    ///
    /// # Errors
    /// The error of the operating system, which gives no random numbers; nothing is noted then.
    pub fn grant(
        &mut self,
        digest: String,
        mut granted: KeptGrant,
        replaces: impl Fn(&str) -> bool,
        begins_anew: bool,
    ) -> io::Result<()> {
        let own = digest.clone();
        let is_replaced = |known: &str| known == own || replaces(known);
        let before = self.remembered_by(&granted.name, is_replaced);
        let before = before.or_else(|| self.kept_for(&granted.name, &digest));
        let before = before.filter(|_| !begins_anew);
        granted.grant.state_id = before.map(str::to_owned);
        if granted.grant.state == StateScope::Durable && granted.grant.state_id.is_none() {
            granted.grant.state_id = Some(new_state_id()?);
        }
        let before = self.clone();
        self.components
            .retain(|known, other| other.name != granted.name || !is_replaced(known));
        self.components.insert(digest.clone(), granted);
        self.note_left(&before);
        self.pass_left_on(&digest, is_replaced, begins_anew);
        Ok(())
    }

    /// Whoever takes the grant of a component back takes what those left, too, in whose place it was granted something. What a plugin
    /// left stays its own.
    fn pass_left_on(
        &mut self,
        digest: &str,
        is_replaced: impl Fn(&str) -> bool,
        begins_anew: bool,
    ) {
        let Some(name) = self.components.get(digest).map(|kept| kept.name.clone()) else {
            return;
        };
        for left in self.left.values_mut().filter(|left| left.name == name) {
            let is_passed_on = left.plugin.is_none() && is_replaced(&left.digest);
            if is_passed_on || left.digest == digest {
                left.digest = digest.to_owned();
                left.is_kept &= !begins_anew;
            }
        }
    }

    /// The id of what a component of this name, and of one of these digests, remembers for good, or remembered when it might; none if
    /// it never might.
    #[must_use]
    pub fn remembered_by(&self, name: &str, is_it: impl Fn(&str) -> bool) -> Option<&str> {
        let mut found = self.of_name(name).filter(|(known, _)| is_it(known));
        found.find_map(|(_, kept)| kept.grant.state_id.as_deref())
    }

    /// The id of what was kept of this very component when it was removed.
    #[must_use]
    pub fn kept_for(&self, name: &str, digest: &str) -> Option<&str> {
        let mut left = self.left.iter();
        let found = left.find(|(_, it)| it.is_kept && it.name == name && it.digest == digest);
        found.map(|(id, _)| id.as_str())
    }

    /// Takes back what these components of an installed plugin had. What they leave is noted as the plugin's: whoever removes it removes
    /// that, whatever components it has by then.
    pub fn take_back(&mut self, plugin: &str, is_of_it: impl Fn(&str) -> bool) {
        let before = self.clone();
        self.components.retain(|digest, _| !is_of_it(digest));
        self.note_left(&before);
        for left in self.left.values_mut().filter(|it| is_of_it(&it.digest)) {
            left.plugin = Some(plugin.to_owned());
        }
    }

    /// Whether components of these digests left anything.
    #[must_use]
    pub fn is_left_of(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.left.values().any(|left| is_it(&left.digest))
    }

    /// Keeps what an installed plugin left, as far as a grant had it before: the same component finds it again.
    pub fn keep_left(&mut self, plugin: &str, before: &Self) {
        let held = state_ids(&before.components);
        for (id, left) in &mut self.left {
            left.is_kept |= left.plugin.as_deref() == Some(plugin) && held.contains(id.as_str());
        }
    }
}

impl PluginStore {
    /// Removes what components of these digests left that have no grant any more, and what an installed plugin of this name left.
    /// Whether there was anything.
    ///
    /// # Errors
    /// [`GrantFileError`]; what could not be removed is noted still.
    pub fn remove_left_state(
        &self,
        grants: &GrantFile,
        plugin: Option<&str>,
        is_it: impl Fn(&str) -> bool,
    ) -> Result<bool, GrantFileError> {
        let is_gone = |left: &LeftState| {
            is_it(&left.digest) || plugin.is_some_and(|name| left.plugin.as_deref() == Some(name))
        };
        if !grants.read()?.left.values().any(is_gone) {
            return Ok(false);
        }
        let state = self.state();
        let removed = grants.change(|kept| {
            let mut failed = None;
            kept.left.retain(|id, left| {
                if !is_gone(left) {
                    return true;
                }
                let root = left.directory.as_deref().unwrap_or(&state);
                match remove_folder(root, id) {
                    Ok(()) => false,
                    Err(error) => {
                        failed = Some(error);
                        true
                    }
                }
            });
            failed.map_or(Ok(()), Err)
        })?;
        match removed {
            Ok(()) => Ok(true),
            Err(error) => Err(GrantFileError::Io { path: state, error }),
        }
    }
}

/// Removes what is remembered under an id, if anything is.
fn remove_folder(root: &Path, id: &str) -> io::Result<()> {
    match fs::remove_dir_all(root.join(StateIdentity::Granted(id).folder())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plugins::grant::ComponentGrant;

    fn granted(name: &str, version: &str, state: StateScope) -> KeptGrant {
        KeptGrant {
            name: name.to_owned(),
            version: version.to_owned(),
            asks: Vec::new(),
            details: None,
            grant: ComponentGrant::default().state(state),
        }
    }

    #[test]
    fn card_5_a_new_version_has_the_state_of_the_one_before_and_nobody_elses() {
        let mut kept = KeptGrants::default();
        let mut id = |digest: &str, name: &str, state: StateScope, begins_anew: bool| {
            let granted = granted(name, digest, state);
            kept.grant(digest.to_owned(), granted, |_| true, begins_anew)
                .unwrap();
            assert_eq!(kept.of_name(name).count(), 1);
            kept.remembered_by(name, |_| true).map(str::to_owned)
        };
        let durable = StateScope::Durable;
        assert_eq!(id("0", "notes", StateScope::Session, false), None);
        let first = id("1", "notes", durable, false);
        assert!(first.is_some());
        assert_ne!(id("2", "other", durable, false), first);
        assert_eq!(id("3", "notes", durable, false), first);
        // Whoever narrows a grant for a while loses nothing.
        assert_eq!(id("3", "notes", StateScope::None, false), first);
        assert_eq!(id("3", "notes", durable, false), first);
        let anew = id("4", "notes", durable, true);
        assert!(anew.is_some() && anew != first);
    }

    #[test]
    fn card_5_a_component_takes_nothing_over_by_its_name_alone() {
        let mut kept = KeptGrants::default();
        let mut grant = |digest: &str, replaced: &'static str| {
            let granted = granted("notes", digest, StateScope::Durable);
            kept.grant(digest.to_owned(), granted, |known| known == replaced, false)
                .unwrap();
            kept.components[digest].grant.state_id.clone()
        };
        let first = grant("1", "none");
        assert_ne!(grant("2", "none"), first);
        assert_eq!(grant("3", "1"), first);
        assert_eq!(kept.components.keys().collect::<Vec<_>>(), ["2", "3"]);
    }

    #[test]
    fn card_5_what_is_remembered_is_left_to_whoever_has_the_place_of_the_component() {
        let folder = tempfile::tempdir().unwrap();
        let file = GrantFile::at(folder.path().join("grants.json"));
        let store = PluginStore::at(folder.path(), folder.path().join("folders"));
        let grant = |digest: &str, begins_anew: bool| {
            let granted = granted("notes", digest, StateScope::Durable);
            let change = |kept: &mut KeptGrants| {
                kept.grant(digest.to_owned(), granted, |_| true, begins_anew)
                    .unwrap();
                kept.remembered_by("notes", |_| true).unwrap().to_owned()
            };
            let id = file.change(change).unwrap();
            let folder = store.state().join(StateIdentity::Granted(&id).folder());
            fs::create_dir_all(&folder).unwrap();
            folder
        };
        let folders = [grant("1", false), grant("2", true), grant("3", true)];
        assert!(folders.iter().all(|folder| folder.exists()));
        let is_it = |digest: &str| digest == "3";
        // What is granted still is not removed.
        assert!(store.remove_left_state(&file, None, is_it).unwrap());
        let there: Vec<bool> = folders.iter().map(|folder| folder.exists()).collect();
        assert_eq!(there, [false, false, true]);
        file.change(|kept| kept.components.clear()).unwrap();
        assert!(store.remove_left_state(&file, None, is_it).unwrap());
        assert!(!folders[2].exists());
        assert_eq!(file.read().unwrap(), KeptGrants::default());
    }
}
