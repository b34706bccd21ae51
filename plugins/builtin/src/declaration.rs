//! The declaration that a plugin carries in a custom section.

use crate::section::{SectionError, sections};

/// The name of the custom section, at the top level of the component.
pub const DECLARATION_SECTION: &str = "windlass:plugin";

/// Why a file has no usable declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// Not a WASM file, or a damaged one.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// A core module.
    #[error("a core module, not a component: componentize it first (see wit/README.md)")]
    NotComponent,
    /// A component without the section.
    #[error("the component declares no tools: it has no custom section `{DECLARATION_SECTION}`")]
    Missing,
    /// More than one, so that it is ambiguous which one applies.
    #[error("the component has more than one custom section `{DECLARATION_SECTION}`")]
    Repeated,
    /// The section is not text.
    #[error("the custom section `{DECLARATION_SECTION}` is not UTF-8 text")]
    NotText,
}

/// Bytes 4 to 8 of a component: version 13, layer 1 (component model, `Binary.md`).
const COMPONENT_LAYER: [u8; 2] = [1, 0];

/// The declaration of a component: JSON text as the plugin's author wrote it. Reads the section headers only.
///
/// # Errors
/// [`DeclarationError`] if the file is no component, or does not carry exactly one declaration.
pub fn declaration(component: &[u8]) -> Result<&str, DeclarationError> {
    let all = sections(component)?;
    if component.get(6..8) != Some(&COMPONENT_LAYER) {
        return Err(DeclarationError::NotComponent);
    }
    let mut found = None;
    for section in all {
        let section = section?;
        if section.name != Some(DECLARATION_SECTION) {
            continue;
        }
        if found.replace(section.content).is_some() {
            return Err(DeclarationError::Repeated);
        }
    }
    let content = found.ok_or(DeclarationError::Missing)?;
    core::str::from_utf8(content).map_err(|_| DeclarationError::NotText)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(sections: &[&[u8]]) -> Vec<u8> {
        let mut binary = b"\0asm\x0d\0\x01\0".to_vec();
        for content in sections {
            let size = 1 + DECLARATION_SECTION.len() + content.len();
            binary.push(0);
            binary.push(u8::try_from(size).unwrap());
            binary.push(u8::try_from(DECLARATION_SECTION.len()).unwrap());
            binary.extend_from_slice(DECLARATION_SECTION.as_bytes());
            binary.extend_from_slice(content);
        }
        binary
    }

    #[test]
    fn the_declaration_is_read_from_its_section() {
        assert_eq!(declaration(&component(&[b"{}"])), Ok("{}"));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        assert_eq!(declaration(&component(&[])), Err(DeclarationError::Missing));
        assert_eq!(
            declaration(&component(&[b"{}", b"{}"])),
            Err(DeclarationError::Repeated)
        );
        assert_eq!(
            declaration(&component(&[b"\xff"])),
            Err(DeclarationError::NotText)
        );
        assert_eq!(
            declaration(b"\0asm\x01\0\0\0"),
            Err(DeclarationError::NotComponent)
        );
        assert_eq!(
            declaration(b"#!/bin/sh"),
            Err(DeclarationError::Section(SectionError::NotWasm))
        );
    }
}
