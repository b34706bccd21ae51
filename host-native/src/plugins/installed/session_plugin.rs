//! Installed plugins as a session takes them: their names, where they lie, and what they declare. Where they came from and what a
//! person was told of them stays unread in the lock file, and of their own files none is opened but those of a folder.

use std::{borrow::Cow, collections::BTreeMap, path::Path, sync::Arc};

use serde::{Deserialize, de::IgnoredAny};
use windlass_core::RawJson;

use super::{
    granted_component::GrantedComponent,
    lockfile::{check, check_version},
    store::{PluginStore, StoreError, is_intact},
};
use crate::plugins::{
    code::InstalledComponent,
    declaration::Declaration,
    declared_hook::DeclaredHookKind,
    kept_grants::KeptGrants,
    load_fault::{LoadError, LoadFault},
    read::{checked, declared},
};

/// An installed plugin as a session takes it.
pub(crate) struct SessionPlugin {
    pub(crate) name: String,
    /// Its component, or its folder.
    pub(crate) path: Arc<Path>,
    /// Whether it is a folder.
    pub(crate) folder: bool,
    /// The digest of all of it, as it was installed.
    digest: String,
    /// Whether a person agreed to its hooks and servers, which run with the rights of the user.
    pub(crate) runs_programs: bool,
    components: Vec<InstalledComponent>,
    /// Whether one of its components judges calls.
    pub(crate) judges: bool,
}

impl SessionPlugin {
    /// Whether its folder is as it was installed. Its components are looked at when they are called, each by its own digest.
    pub(crate) fn is_folder_intact(&self) -> bool {
        is_intact(&self.path, &self.digest)
    }

    /// Its components, with what they were granted for good.
    pub(crate) fn granted(&self, grants: &KeptGrants) -> Vec<GrantedComponent> {
        let components = self.components.iter().cloned();
        components
            .map(|component| GrantedComponent::of(&self.name, component, grants))
            .collect()
    }
}

/// An installed plugin that this version of windlass does not load.
pub(crate) struct NotLoaded {
    /// Why.
    pub(crate) error: LoadError,
    /// Whether it judges calls, or may do so.
    pub(crate) judges: bool,
}

/// The installed plugins by their names.
pub(crate) type SessionPlugins = BTreeMap<String, Result<SessionPlugin, NotLoaded>>;

impl PluginStore {
    /// The plugins of the lock file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_for_session(&self) -> Result<SessionPlugins, StoreError> {
        let Some(text) = self.read_text()? else {
            return Ok(SessionPlugins::new());
        };
        match serde_json::from_slice::<Locked<'_, Declaration>>(&text) {
            Ok(locked) => self.of_session(locked, checked, Declaration::judges),
            // Where one declaration cannot be read, the others can.
            Err(_) => match serde_json::from_slice::<Locked<'_, RawJson>>(&text) {
                Ok(locked) => self.of_session(locked, |it| declared(it.get()), may_judge),
                Err(error) => Err(self.unreadable(error.to_string())),
            },
        }
    }

    fn of_session<D>(
        &self,
        locked: Locked<'_, D>,
        declaration: impl Fn(D) -> Result<Declaration, LoadFault>,
        judges: impl Fn(&D) -> bool,
    ) -> Result<SessionPlugins, StoreError> {
        check_version(locked.version).map_err(|reason| self.unreadable(reason))?;
        let plugins = locked.plugins.into_iter().map(|(name, plugin)| {
            let files = plugin.components.iter();
            let files = files.map(|locked| (locked.file.as_ref(), locked.digest.as_ref()));
            check(&name, plugin.folder, &plugin.digest, files)
                .map_err(|reason| self.unreadable(reason))?;
            let path: Arc<Path> = self.place(&name, plugin.folder, &plugin.digest).into();
            let mut declarations = plugin.components.iter();
            let judges = declarations.any(|locked| judges(&locked.declaration));
            let components = plugin.components.into_iter().map(|locked| {
                let path = match plugin.folder {
                    true => path.join(locked.file.as_ref()).into(),
                    false => self.place(&name, false, &locked.digest).into(),
                };
                let declaration = declaration(locked.declaration)?;
                InstalledComponent::declaring(path, &locked.digest, declaration)
            });
            let plugin = match components.collect::<Result<_, _>>() {
                Ok(components) => Ok(SessionPlugin {
                    name: name.clone(),
                    path,
                    folder: plugin.folder,
                    digest: plugin.digest.into_owned(),
                    runs_programs: plugin.runs_programs,
                    components,
                    judges,
                }),
                Err(fault) => {
                    let component = name.clone();
                    let error = LoadError { component, fault };
                    Err(NotLoaded { error, judges })
                }
            };
            Ok((name, plugin))
        });
        plugins.collect()
    }
}

/// Whether a declaration that cannot be read may be that of a judge.
fn may_judge(declaration: &RawJson) -> bool {
    #[derive(Deserialize)]
    struct Hooks {
        #[serde(default)]
        hooks: Vec<Hook>,
    }
    #[derive(Deserialize)]
    struct Hook {
        kind: DeclaredHookKind,
    }
    let read = declaration.decode::<Hooks>();
    read.map_or(true, |read| {
        let mut hooks = read.hooks.iter();
        hooks.any(|hook| hook.kind == DeclaredHookKind::Judge)
    })
}

/// A lock file ([`Lockfile`](super::Lockfile)) of which a session takes what it needs. Declarations are read at once, or kept as text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "D: Deserialize<'de>"))]
struct Locked<'a, D> {
    version: u32,
    #[serde(borrow)]
    plugins: BTreeMap<String, LockedPlugin<'a, D>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "D: Deserialize<'de>"))]
struct LockedPlugin<'a, D> {
    #[serde(rename = "version")]
    _version: IgnoredAny,
    #[serde(rename = "source")]
    _source: IgnoredAny,
    #[serde(borrow)]
    digest: Cow<'a, str>,
    #[serde(default, rename = "key")]
    _key: IgnoredAny,
    #[serde(default)]
    folder: bool,
    #[serde(default)]
    runs_programs: bool,
    #[serde(rename = "asks")]
    _asks: IgnoredAny,
    #[serde(default, rename = "programs")]
    _programs: IgnoredAny,
    #[serde(borrow)]
    components: Vec<LockedComponent<'a, D>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "D: Deserialize<'de>"))]
struct LockedComponent<'a, D> {
    #[serde(default, borrow)]
    file: Cow<'a, str>,
    #[serde(borrow)]
    digest: Cow<'a, str>,
    declaration: D,
}
