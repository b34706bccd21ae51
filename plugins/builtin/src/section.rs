//! Reading the sections of a WASM binary, as far as custom sections need it.
//!
//! A module and a component share this outer form (WebAssembly core specification 5.5.2; component model,
//! `Binary.md`): a preamble of eight bytes, then sections, each an id byte, a size in LEB128 and that many bytes. A
//! custom section has id 0 and starts with its name. Nested modules and components are ordinary sections here, so their
//! custom sections are not seen.

/// Bytes that are not a well-formed sequence of sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// The first four bytes are not `\0asm`.
    #[error("not WebAssembly: the file does not start with the bytes 00 61 73 6d")]
    NotWasm,
    /// A size or name runs past the end, or a number is longer than its type.
    #[error("damaged WebAssembly: the section at byte {offset} does not fit the file")]
    Damaged {
        /// Where the section starts, in bytes from the start of the file.
        offset: usize,
    },
}

/// One section, borrowed from the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// The name, if it is a custom section whose name is UTF-8.
    pub name: Option<&'a str>,
    /// What follows the name in a custom section; everything in any other.
    pub content: &'a [u8],
    /// The section as it stands in the file, id and size included.
    pub raw: &'a [u8],
}

/// The sections at the top level of a module or component, in order. Ends after the first error.
#[derive(Debug, Clone)]
pub struct Sections<'a> {
    binary: &'a [u8],
    offset: usize,
}

/// How many bytes come before the first section: magic number, version and layer.
pub const PREAMBLE: usize = 8;

/// Starts reading.
///
/// # Errors
/// [`SectionError::NotWasm`] if the magic number is missing.
pub fn sections(binary: &[u8]) -> Result<Sections<'_>, SectionError> {
    if binary.len() < PREAMBLE || !binary.starts_with(b"\0asm") {
        return Err(SectionError::NotWasm);
    }
    Ok(Sections {
        binary,
        offset: PREAMBLE,
    })
}

impl<'a> Iterator for Sections<'a> {
    type Item = Result<Section<'a>, SectionError>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.offset;
        let rest = self.binary.get(start..).filter(|rest| !rest.is_empty())?;
        match section(rest) {
            Some(section) => {
                self.offset = start + section.raw.len();
                Some(Ok(section))
            }
            None => {
                self.offset = self.binary.len();
                Some(Err(SectionError::Damaged { offset: start }))
            }
        }
    }
}

/// The section at the start of `bytes`.
fn section(bytes: &[u8]) -> Option<Section<'_>> {
    let (&id, rest) = bytes.split_first()?;
    let (size, rest) = leb128(rest)?;
    let content = rest.get(..size)?;
    let raw = &bytes[..bytes.len() - rest.len() + size];
    if id != 0 {
        return Some(Section {
            name: None,
            content,
            raw,
        });
    }
    let (length, rest) = leb128(content)?;
    let name = rest.get(..length)?;
    Some(Section {
        name: core::str::from_utf8(name).ok(),
        content: &rest[length..],
        raw,
    })
}

/// An unsigned LEB128 number of at most 32 bits, and what follows it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).ok()?;
            return Some((usize::try_from(value).ok()?, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn sections_are_found_in_order_and_nested_ones_are_not() {
        let mut binary = COMPONENT.to_vec();
        // A core module (id 1) that contains a custom section `a`.
        binary.extend_from_slice(b"\x01\x0b\0asm\x01\0\0\0\0\x01a");
        binary.extend_from_slice(b"\0\x04\x01bxy");
        let found: Vec<_> = sections(&binary).unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name, None);
        assert_eq!(found[1].name, Some("b"));
        assert_eq!(found[1].content, b"xy");
        assert_eq!(found[1].raw, b"\0\x04\x01bxy");
    }

    #[test]
    fn a_cut_file_is_an_error_at_every_length_and_never_a_panic() {
        let mut binary = COMPONENT.to_vec();
        binary.extend_from_slice(b"\0\x85\0\x03abc!");
        assert!(sections(&binary).unwrap().all(|section| section.is_ok()));
        for length in 0..binary.len() {
            let read = sections(&binary[..length]).map(|sections| sections.collect::<Vec<_>>());
            match read {
                Err(error) => assert_eq!(error, SectionError::NotWasm),
                Ok(all) if length == PREAMBLE => assert!(all.is_empty()),
                Ok(all) => assert_eq!(all, [Err(SectionError::Damaged { offset: PREAMBLE })]),
            }
        }
    }

    #[test]
    fn a_size_longer_than_32_bits_is_damage() {
        let mut binary = COMPONENT.to_vec();
        binary.extend_from_slice(b"\0\xff\xff\xff\xff\x7f");
        let all: Vec<_> = sections(&binary).unwrap().collect();
        assert_eq!(all, [Err(SectionError::Damaged { offset: PREAMBLE })]);
    }
}
