//! From the grants of calls to what each call may access; compiled grants are kept between calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use windlass_core::tool::FsGrant;

use super::{
    grant::{Grant, GrantError, literal_beginning},
    path_text::slashed,
    reach::Reach,
    resolve::real_path,
};

/// The number of compiled grants that are cached: the calls of a session usually have the same grants.
const KEPT: usize = 16;

/// The maximum number of real paths recorded for the beginning of one deny pattern during a session.
const MAX_PLACES: usize = 64;

/// Turns grants into [`Reach`] values. One per host; share it by reference.
#[derive(Debug, Default)]
pub struct Files {
    protected: Vec<String>,
    known: Mutex<Known>,
}

/// The cache between calls.
#[derive(Debug, Default)]
struct Known {
    compiled: Vec<Arc<Grant>>,
    /// All real paths that the literal beginnings of deny patterns have ever had: redirecting a link does not lift a denial.
    behind: BTreeMap<String, BTreeSet<String>>,
}

impl Files {
    /// A resolver that never allows access to `protected` directories, whatever is granted: the cache of compiled
    /// components (native code) and the configuration belong there.
    #[must_use]
    pub fn new(protected: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut closed = Vec::new();
        for path in protected {
            let spelled = slashed(&path).into_owned();
            if let Ok(real) = real_path(&path)
                && real != spelled
            {
                closed.push(real);
            }
            closed.push(spelled);
        }
        Self {
            protected: closed,
            known: Mutex::default(),
        }
    }

    /// The files that one call may access. Opens nothing yet.
    ///
    /// # Errors
    /// [`GrantError`] if the grant cannot be enforced; nothing is granted then.
    pub fn reach(&self, grant: &FsGrant) -> Result<Reach, GrantError> {
        Ok(Reach::new(self.compile(grant)?))
    }

    fn compile(&self, source: &FsGrant) -> Result<Arc<Grant>, GrantError> {
        // A panic elsewhere cannot leave an incomplete list.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.follow(source)?;
        if let Some(found) = known.compiled.iter().position(|g| g.source == *source) {
            // The most recently used entry is last; the first is evicted.
            let grant = known.compiled.remove(found);
            known.compiled.push(Arc::clone(&grant));
            return Ok(grant);
        }
        let grant = Grant::new(source.clone(), self.protected.clone(), &known.behind)?;
        let grant = Arc::new(grant);
        if known.compiled.len() >= KEPT {
            known.compiled.remove(0);
        }
        known.compiled.push(Arc::clone(&grant));
        Ok(grant)
    }
}

impl Known {
    /// Updates the real paths of the deny patterns' beginnings.
    fn follow(&mut self, source: &FsGrant) -> Result<(), GrantError> {
        let beginnings: BTreeSet<&str> = (source.deny.iter())
            .map(|deny| literal_beginning(&deny.pattern))
            .filter(|beginning| !beginning.is_empty())
            .collect();
        for beginning in beginnings {
            let Ok(real) = real_path(Path::new(beginning)) else {
                continue;
            };
            let is_known = (self.behind.get(beginning)).is_some_and(|known| known.contains(&real));
            if real == beginning || is_known {
                continue;
            }
            let places = self.behind.entry(beginning.to_owned()).or_default();
            if places.len() == MAX_PLACES {
                return Err(GrantError::Pattern {
                    pattern: beginning.to_owned(),
                    reason: format!("it led to more than {MAX_PLACES} places so far"),
                });
            }
            places.insert(real);
            self.compiled.clear();
        }
        Ok(())
    }
}
