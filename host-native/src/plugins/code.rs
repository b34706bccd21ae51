//! The code of a component: its bytes, or the file where they lie until they are needed.

use std::{
    borrow::Cow,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use wasmtime::{Engine, component::Component};
use windlass_core::RawJson;

use super::{
    cache::{Cache, CacheError},
    declaration::Declaration,
    inspect::Inspection,
    inspected::ComponentBytes,
    load_fault::{LoadFault, MAX_COMPONENT},
    read::declared,
};
use crate::regular::{self, Link};

/// A component that was inspected when it was installed: what it declares is known, and its code lies in a file with this digest.
#[derive(Debug, Clone)]
pub struct InstalledComponent {
    path: Arc<Path>,
    digest: Arc<str>,
    pub(super) declaration: Arc<Declaration>,
}

impl InstalledComponent {
    /// The component in this file, which has this digest and declaration.
    ///
    /// # Errors
    /// [`LoadFault`]: this version of windlass would not load what declares this.
    pub fn new(
        path: impl Into<PathBuf>,
        digest: impl Into<String>,
        declaration: &RawJson,
    ) -> Result<Self, LoadFault> {
        let declaration = declared(declaration.get())?;
        Self::declaring(path.into().into(), &digest.into(), declaration)
    }

    /// The same for a declaration that was checked, but for the names of tools.
    pub(super) fn declaring(
        path: Arc<Path>,
        digest: &str,
        declaration: Declaration,
    ) -> Result<Self, LoadFault> {
        Inspection::check_names(&declaration)?;
        Ok(Self {
            path,
            digest: digest.into(),
            declaration: Arc::new(declaration),
        })
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The digest of its file: `sha256:` and hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What it declares.
    #[must_use]
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn read(&self) -> wasmtime::Result<Vec<u8>> {
        let path = self.path.display();
        let bytes = read_component(&self.path).map_err(|error| {
            wasmtime::Error::msg(format!(
                "`{path}`: {error}; was the plugin updated or removed since the session began? A new one has it as it is now"
            ))
        })?;
        match Inspection::digest(&bytes) == *self.digest {
            true => Ok(bytes),
            false => Err(wasmtime::Error::msg(format!(
                "`{path}` is not the file that was installed: `windlass plugin update` installs it again"
            ))),
        }
    }
}

/// Reads the file of a component: a regular file of at most [`MAX_COMPONENT`] bytes, and no link.
///
/// # Errors
/// What the system says.
pub fn read_component(path: &Path) -> io::Result<Vec<u8>> {
    regular::read(path, Link::Refused, MAX_COMPONENT as u64)
}

/// The code of a component.
pub(super) enum Code {
    Read(Arc<ComponentBytes>),
    Installed(InstalledComponent),
}

impl Code {
    /// The compiled component. Where the cache has it, a file is not read: what was compiled under its digest had it.
    pub(super) fn component(
        &self,
        engine: &Engine,
        cache: Option<&Cache>,
        tell: impl Fn(&CacheError),
    ) -> wasmtime::Result<Component> {
        let Some(cache) = cache else {
            return Component::from_binary(engine, &self.bytes()?);
        };
        cache.component(engine, &self.cache_key(), || self.bytes(), tell)
    }

    /// What the compiled component is found by. Bytes in memory get the digest that is computed soonest: SHA-256 takes four times as
    /// long, and nobody needs it of the components that are part of the host. Of a file it is known.
    fn cache_key(&self) -> String {
        match self {
            Self::Read(bytes) => format!("blake3-{}", blake3::hash(bytes.as_slice())),
            Self::Installed(component) => {
                let digits = component.digest.trim_start_matches("sha256:");
                format!("sha256-{digits}")
            }
        }
    }

    /// `sha256:` and hexadecimal digits.
    pub(super) fn digest(&self) -> &str {
        match self {
            Self::Read(bytes) => bytes.digest(),
            Self::Installed(component) => &component.digest,
        }
    }

    fn bytes(&self) -> wasmtime::Result<Cow<'_, [u8]>> {
        Ok(match self {
            Self::Read(bytes) => Cow::Borrowed(bytes.as_slice()),
            Self::Installed(component) => Cow::Owned(component.read()?),
        })
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(bytes) => write!(f, "{} bytes", bytes.as_slice().len()),
            Self::Installed(component) => write!(f, "{}", component.path.display()),
        }
    }
}
