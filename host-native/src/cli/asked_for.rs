//! The session requested by flags, and hints if it does not exist.

use windlass::{
    core::Uuid,
    store::{ResumeError, StoreError},
};
use windlass_engine::protocol::flags::Flags;

/// Session ids from the command line.
#[derive(Debug, Default)]
pub(crate) struct AskedFor {
    /// The session to resume.
    resume: Option<String>,
    /// The id of a new session.
    new: Option<Uuid>,
}

impl AskedFor {
    /// Reads the flags.
    pub(crate) fn by(flags: &Flags) -> Self {
        Self {
            // The id is shown in canonical form.
            resume: (flags.resume.as_deref()).map(|id| {
                Uuid::try_parse(id)
                    .ok()
                    .map_or_else(|| id.to_owned(), |id| id.to_string())
            }),
            new: flags
                .session_id
                .as_deref()
                .and_then(|id| Uuid::try_parse(id).ok()),
        }
    }

    /// Adds what to do to the engine's error message. The engine uses the wording that SDKs know, without hints for people.
    pub(crate) fn with_remedy(&self, problem: String) -> String {
        let is = |error: String| error == problem;
        if let Some(id) = &self.resume
            && is(ResumeError::UnknownSession(id.clone()).to_string())
        {
            return format!("{problem}: `windlass sessions list` names those of this folder");
        }
        if let Some(id) = self.new
            && is(StoreError::Exists(id).to_string())
        {
            return format!(
                "{problem} `--resume {id}` goes on with it; a new one needs another id"
            );
        }
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_stands_behind_what_is_known_and_nothing_else() {
        let flags = Flags {
            resume: Some("nope".to_owned()),
            ..Flags::default()
        };
        let asked_for = AskedFor::by(&flags);
        for (problem, has_remedy) in [
            ("No conversation found with session ID: nope", true),
            ("No conversation found with session ID: other", false),
            ("the disk is full", false),
        ] {
            let told = asked_for.with_remedy(problem.to_owned());
            assert!(told.starts_with(problem), "{told}");
            assert_eq!(told.contains("sessions list"), has_remedy, "{told}");
        }
    }
}
