//! Decides what one call may do at a path: the granted areas, the deny patterns, and the refusals so far.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::fs::{File, Metadata};
use windlass_core::{permission::is_protected_by_name, tool::Access};

use super::{
    FsError,
    exact::{Deepest, deepest_directory},
    grant::Grant,
    other_names::{ClosedFiles, Identity},
    path_text::{is_within, slashed},
};

/// The maximum number of refusals recorded per call, to bound memory.
const MAX_REFUSALS: usize = 64;

/// A refused operation: for the host's log, never for the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The absolute path.
    pub path: String,
    /// The reason.
    pub reason: &'static str,
}

/// A granted path; it need not exist.
#[derive(Debug)]
struct Area {
    path: String,
    access: Access,
    /// Whether this path itself is one from which programs and later sessions take orders: then a person agreed to it by its name.
    is_place: bool,
}

/// A path without redundant slashes.
fn tidied(path: &str) -> String {
    slashed(&Path::new(path).components().collect::<PathBuf>()).into_owned()
}

/// Decides about paths: the granted areas, the deny patterns, and the recorded refusals.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) grant: Arc<Grant>,
    areas: Vec<Area>,
    /// Determined when the first file with several names is read.
    closed_files: OnceCell<ClosedFiles>,
    refusals: Vec<Refusal>,
}

/// The permitted operations at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Permit {
    /// Create, change, remove.
    pub(super) write: bool,
    /// Create a directory here, also on the path to something that may be written.
    pub(super) make: bool,
    /// A deny pattern forbids writing here and below.
    pub(super) frozen: bool,
    /// Only a parent of something granted; does not exist as a file.
    pub(super) transit: bool,
}

impl Scope {
    pub(super) fn new(grant: Arc<Grant>) -> Self {
        Self {
            grant,
            areas: Vec::new(),
            closed_files: OnceCell::new(),
            refusals: Vec::new(),
        }
    }

    /// The refusals so far.
    pub(super) fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// Adds a granted path; it need not exist.
    pub(super) fn add_area(&mut self, path: &str, access: Access) {
        let path = tidied(path);
        self.areas.push(Area {
            is_place: is_protected_by_name(&path),
            path,
            access,
        });
    }

    /// Opens the deepest existing directory of a granted path, unless a deny pattern covers it.
    pub(super) fn open(&self, granted: &str) -> Result<Deepest, &'static str> {
        if self.grant.denied_anywhere_above(granted) == Some(Access::Read) {
            return Err("it lies where nothing is handed out");
        }
        deepest_directory(Path::new(granted))
    }

    /// Checks a path whose parent was checked before.
    pub(super) fn permit(&mut self, path: &str, frozen_above: bool) -> Result<Permit, FsError> {
        let denied = self.grant.denied(path);
        if denied == Some(Access::Read) {
            self.refuse(path, "a deny rule closes it");
            return Err(FsError::NotFound);
        }
        let frozen = frozen_above || denied == Some(Access::Write);
        let granted = self.granted(path).ok_or_else(|| {
            self.refuse(path, "it is outside what was granted");
            FsError::NotFound
        })?;
        Ok(Permit {
            write: granted.write && !frozen,
            make: granted.make && !frozen,
            frozen,
            transit: granted.transit,
        })
    }

    /// Whether a name appears in a listing: the same check without recording a refusal.
    pub(super) fn shows(&self, path: &str) -> bool {
        self.grant.denied(path) != Some(Access::Read) && self.granted(path).is_some()
    }

    /// Checks an opened file by its identity: one of its other names may be denied.
    pub(super) fn check_other_names(&mut self, path: &str, file: &File) -> Result<(), FsError> {
        if !self.closes_anything() || !self.is_closed_file(&file.metadata()?) {
            return Ok(());
        }
        self.refuse_other_name(path);
        Err(FsError::NotFound)
    }

    /// Notes that something of a file was asked for that is closed under another name.
    pub(super) fn refuse_other_name(&mut self, path: &str) {
        self.refuse(path, "a deny rule closes the file under another name");
    }

    /// Whether files are closed, so that others may be theirs under another name.
    pub(super) fn closes_anything(&self) -> bool {
        self.grant.beginnings_of_closed().next().is_some()
    }

    /// Whether it is a file that is closed under another name.
    pub(super) fn is_closed_file(&self, metadata: &Metadata) -> bool {
        let Some(file) = Identity::of_several_names(metadata) else {
            return false;
        };
        let closed = self.closed_files.get_or_init(|| {
            let granted: Vec<&str> = self.areas.iter().map(|area| area.path.as_str()).collect();
            ClosedFiles::find(&self.grant, &granted)
        });
        closed.has(file)
    }

    /// What the areas grant at a path, before deny patterns. Files from which programs and later sessions take orders are written only
    /// where they were granted by their names, not as parts of a directory around them.
    fn granted(&self, path: &str) -> Option<Permit> {
        let mut found: Option<Permit> = None;
        let is_place = OnceCell::new();
        for area in &self.areas {
            let within = is_within(path, &area.path);
            if !within && !is_within(&area.path, path) {
                continue;
            }
            let permit = found.get_or_insert(Permit {
                write: false,
                make: false,
                frozen: false,
                transit: true,
            });
            let writes = area.access == Access::Write
                && (area.is_place || !*is_place.get_or_init(|| is_protected_by_name(path)));
            permit.transit &= !within;
            permit.make |= writes;
            permit.write |= writes && within;
        }
        found
    }

    pub(super) fn refuse(&mut self, path: &str, reason: &'static str) {
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.push(Refusal {
                path: path.to_owned(),
                reason,
            });
        }
    }
}
