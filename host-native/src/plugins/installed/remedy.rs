//! What to do about a component that would not be loaded.

use windlass_builtin::DeclarationError;

use crate::plugins::{inspected::InspectError, load_fault::LoadFault};

impl LoadFault {
    /// What whoever has the file can do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Declaration(DeclarationError::Section(_)) | Self::Damaged(_) => {
                "a part of the file may be missing, or it is another one: fetch it again"
            }
            Self::Version(version) if is_newer(version) => {
                "update windlass, or ask its author for a build for these interfaces"
            }
            _ => "ask its author for a build that fits",
        }
    }

    /// What is wrong, and what to do.
    #[must_use]
    pub fn with_remedy(&self) -> String {
        let remedy = self.remedy();
        format!("{self}: {remedy}, `windlass plugin check` says what a file is")
    }
}

impl InspectError {
    /// What is wrong, and what to do where the file is there and is no plugin.
    #[must_use]
    pub fn with_remedy(&self) -> String {
        match self {
            Self::Io(error) => error.to_string(),
            Self::Fault(fault) => fault.with_remedy(),
        }
    }
}

/// Whether a version of the interfaces came after those of this host.
fn is_newer(version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) > (0, 1),
        _ => false,
    }
}
