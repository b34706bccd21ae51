//! Systems without Landlock restrict no program.

use std::{io, os::fd::OwnedFd};

use super::change::Change;

/// Rules for one program; there are none here.
#[derive(Debug)]
pub(super) enum Restriction {}

impl Restriction {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it fails")]
    pub(super) fn to(_: Vec<(OwnedFd, Change)>) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub(super) fn around<T: Send>(self, _: impl FnOnce() -> T + Send) -> io::Result<T> {
        match self {}
    }
}
