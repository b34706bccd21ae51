//! Asks the person whether to trust a folder, and to what the answer applies.

use std::path::PathBuf;

use windlass::{
    engine::{Launch, ProjectTrust, left_out_untrusted},
    settings::trust,
    store::ConfigDir,
    warning::warn,
};

use super::{person::Person, start_error::StartError};

/// A folder that the person has just trusted; not recorded yet.
pub(crate) struct Trusted {
    config: ConfigDir,
    home: Option<PathBuf>,
    folder: PathBuf,
}

impl Trusted {
    /// Records the trust, so that the person is not asked again.
    pub(crate) fn note(self) {
        if let Err(error) = trust(&self.config, self.home.as_deref(), &self.folder) {
            warn(&format!("it will be asked again: {error}"));
        }
    }
}

/// Asks the person whether the files of the folder may do what they declare. The answer applies to what was shown: if
/// the files have changed by then, the person is asked again, and the engine does not start with anything else. The
/// trust is recorded only after the engine has started.
pub(super) async fn ask(
    launch: &mut Launch,
    person: &mut Person,
) -> Result<Option<Trusted>, StartError> {
    let folder = std::env::current_dir().map_err(StartError::Runtime)?;
    let name = folder.display().to_string();
    let mut shown = left_out_untrusted(launch)?;
    loop {
        if shown.is_empty() || !person.trusts(&name, &shown).await {
            return Ok(None);
        }
        let now = left_out_untrusted(launch)?;
        if now == shown {
            break;
        }
        warn("the files of this folder were changed while you were asked; nothing was started");
        shown = now;
    }
    launch.trust = ProjectTrust::Everything;
    launch.agreed = Some(shown);
    Ok(Some(Trusted {
        config: launch.config.clone(),
        home: launch.home.clone(),
        folder,
    }))
}
