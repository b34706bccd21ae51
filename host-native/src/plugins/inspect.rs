//! What a component file says of itself, without running it.

use sha2::{Digest as _, Sha256};
use windlass_core::permission::resembles_reserved_tool_name;

use super::{declaration::Declaration, load_fault::LoadFault, read::read};

/// What a component declares and imports.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// What it declares.
    pub declaration: Declaration,
    /// The interfaces that it imports, with their versions.
    pub imports: Vec<String>,
}

impl Inspection {
    /// Reads a component of somebody else. Runs nothing.
    ///
    /// # Errors
    /// [`LoadFault`]: why it would not be loaded as a plugin.
    pub fn of(bytes: &[u8]) -> Result<Self, LoadFault> {
        let (declaration, imports) = read(bytes)?;
        Self::check_names(&declaration)?;
        Ok(Self {
            declaration,
            imports,
        })
    }

    /// Checks that no tool of somebody else has a name that rules are written for.
    pub(super) fn check_names(declaration: &Declaration) -> Result<(), LoadFault> {
        let mut names = declaration.tools.iter().map(|tool| &tool.name);
        match names.find(|name| resembles_reserved_tool_name(name)) {
            Some(name) => Err(LoadFault::ReservedName(name.clone())),
            None => Ok(()),
        }
    }

    /// The declaration of a component as it stands in the file.
    ///
    /// # Errors
    /// [`LoadFault`]: there is none, or more than one.
    pub fn declaration_text(bytes: &[u8]) -> Result<&str, LoadFault> {
        Ok(windlass_builtin::declaration(bytes)?)
    }

    /// The digest of a whole file, code and declaration: `sha256:` and hexadecimal digits.
    #[must_use]
    pub fn digest(bytes: &[u8]) -> String {
        format!("sha256:{:x}", Sha256::digest(bytes))
    }
}
