//! A component that was read and inspected: what is granted something, compiled and run is exactly these bytes, however the file they
//! came from changes.

use std::{
    fmt, io,
    path::Path,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use super::{
    inspect::Inspection,
    load_fault::{LoadFault, MAX_COMPONENT},
};
use crate::regular::{self, Link};

/// A component with its digest and what it says of itself. Cheap to clone.
#[derive(Clone)]
pub struct InspectedComponent {
    pub(super) bytes: Arc<ComponentBytes>,
    inspection: Arc<Inspection>,
}

/// A component that cannot be read, or would not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The file cannot be read: it is missing, no regular file, or too large.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It would not be loaded as a plugin.
    #[error(transparent)]
    Fault(#[from] LoadFault),
}

/// Whether the name of a file is one of a component.
#[must_use]
pub fn is_component_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("wasm"))
}

impl InspectedComponent {
    /// Reads and inspects a component file: a regular one, of at most 128 MiB; nothing is waited for. A link leads to its file.
    ///
    /// # Errors
    /// [`InspectError`].
    pub fn read(path: &Path) -> Result<Self, InspectError> {
        Self::read_through(path, Link::Followed)
    }

    /// The same for a path whose links are resolved: one that is put there since is refused.
    ///
    /// # Errors
    /// [`InspectError`].
    pub(crate) fn read_resolved(path: &Path) -> Result<Self, InspectError> {
        Self::read_through(path, Link::Refused)
    }

    fn read_through(path: &Path, link: Link) -> Result<Self, InspectError> {
        let bytes = regular::read(path, link, MAX_COMPONENT as u64)?;
        Ok(Self::of(bytes)?)
    }

    /// Inspects a component of somebody else. Runs nothing.
    ///
    /// # Errors
    /// As [`Inspection::of`].
    pub fn of(bytes: impl Into<Bytes>) -> Result<Self, LoadFault> {
        let bytes = bytes.into();
        let inspection = Arc::new(Inspection::of(&bytes)?);
        Ok(Self {
            bytes: Arc::new(ComponentBytes::of(bytes)),
            inspection,
        })
    }

    /// What it declares and imports.
    #[must_use]
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// The digest of these bytes ([`Inspection::digest`]).
    #[must_use]
    pub fn digest(&self) -> &str {
        self.bytes.digest()
    }

    /// The number of bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.as_slice().len()
    }
}

impl fmt::Debug for InspectedComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InspectedComponent")
            .field("name", &self.inspection.declaration.name)
            .field("bytes", &self.size())
            .finish_non_exhaustive()
    }
}

/// The bytes of a component, with their digest once it was asked for.
pub(super) struct ComponentBytes {
    bytes: Bytes,
    digest: OnceLock<String>,
}

impl ComponentBytes {
    pub(super) fn of(bytes: Bytes) -> Self {
        Self {
            bytes,
            digest: OnceLock::new(),
        }
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// `sha256:` and hexadecimal digits.
    pub(super) fn digest(&self) -> &str {
        self.digest.get_or_init(|| Inspection::digest(&self.bytes))
    }
}
