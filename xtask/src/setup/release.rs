//! Releases of the Rust compiler, and parsing of a compiler's version output.

use std::fmt;

/// A release, to the precision of `rust-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release {
    major: u32,
    minor: u32,
}

impl Release {
    /// The `rust-version` of the workspace's manifest.
    pub(crate) const NEEDED: Self = match Self::of_manifest(env!("CARGO_PKG_RUST_VERSION")) {
        Some(release) => release,
        None => panic!("`rust-version` is not of the form 1.95"),
    };

    /// Parses the output of `rustc -vV`.
    pub(crate) fn of_compiler(said: &str) -> Option<Self> {
        let release = said.lines().find_map(|line| line.strip_prefix("release: "));
        let mut numbers = release?.split('.').map(str::parse);
        Some(Self {
            major: numbers.next()?.ok()?,
            minor: numbers.next()?.ok()?,
        })
    }

    /// Parses `1.95`, with or without a third number, at compile time, so byte by byte.
    const fn of_manifest(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (mut numbers, mut count, mut at) = ([0_u32; 3], 0, 0);
        while at < bytes.len() {
            match bytes[at] {
                digit @ b'0'..=b'9' => numbers[count] = numbers[count] * 10 + (digit - b'0') as u32,
                b'.' if count < 2 => count += 1,
                _ => return None,
            }
            at += 1;
        }
        if count == 0 {
            return None;
        }
        Some(Self {
            major: numbers[0],
            minor: numbers[1],
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_is_as_new_as_it_says() {
        let of = |release: &str| Release::of_compiler(&format!("rustc\nrelease: {release}\n"));
        assert!(of("1.85.0") < of("1.95.0"));
        assert!(of("1.100.0") > of("1.95.0"));
        assert_eq!(of("1.95.1-nightly"), Release::of_manifest("1.95"));
        assert_eq!(Release::of_compiler("rustc 1.95.0"), None);
    }
}
