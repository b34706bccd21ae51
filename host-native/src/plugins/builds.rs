//! Which component was built from which sources: the tools of some languages make another file each time, and a component with other
//! bytes is another plugin, with none of what it was granted. So one that is there already is left as it is.
//!
//! This is kept beside the grants, where no tool reaches it, and not in the folder of the plugin: whoever can write there could put
//! a component of their own in the place of the one that the sources would give.

use std::{io, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::user_folder::plugins_of_user;
use crate::regular::{self, Link};

/// The number of builds that are known; the oldest are forgotten, and built anew.
const MOST: usize = 256;

/// Bytes of the largest file that is read: more than [`MOST`] builds take.
const LARGEST: u64 = 1 << 20;

/// The builds of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownBuilds {
    path: PathBuf,
}

/// The component of some sources.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Build {
    sources: String,
    component: String,
}

impl KnownBuilds {
    /// Those of the user: `windlass/plugins/builds.json` in the configuration directory; none when the user has no home directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        plugins_of_user().map(|folder| Self::at(folder.join("builds.json")))
    }

    /// Those in another file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The digest of the component that was built from the sources with this digest. A file that cannot be read knows of none.
    #[must_use]
    pub fn component_of(&self, sources: &str) -> Option<String> {
        let builds = self.read();
        let mut builds = builds.into_iter();
        builds
            .find(|build| build.sources == sources)
            .map(|build| build.component)
    }

    /// Notes that the sources with the first digest gave the component with the second.
    ///
    /// # Errors
    /// The error of the operating system; then the next build gives another file.
    pub fn note(&self, sources: &str, component: &str) -> io::Result<()> {
        let mut builds = self.read();
        builds.retain(|build| build.sources != sources);
        builds.push(Build {
            sources: sources.to_owned(),
            component: component.to_owned(),
        });
        builds.drain(..builds.len().saturating_sub(MOST));
        regular::replace_private(&self.path, &serde_json::to_vec(&builds)?)
    }

    fn read(&self) -> Vec<Build> {
        let text = regular::read_text(&self.path, Link::Refused, LARGEST).ok();
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn card_5_the_last_builds_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let builds = KnownBuilds::at(folder.path().join("private/builds.json"));
        assert_eq!(builds.component_of("a"), None);
        for (sources, component) in [("a", "1"), ("b", "2"), ("a", "3")] {
            builds.note(sources, component).unwrap();
        }
        assert_eq!(builds.component_of("a").unwrap(), "3");
        for number in 0..MOST - 1 {
            builds.note(&number.to_string(), "4").unwrap();
        }
        assert_eq!(builds.component_of("b"), None);
        assert_eq!(builds.component_of("a").unwrap(), "3");
        std::fs::write(folder.path().join("private/builds.json"), "{").unwrap();
        assert_eq!(builds.component_of("a"), None);
    }
}
