//! A digest of all outputs.

use alloc::string::String;

use crate::{
    effect::{Effect, Output},
    json::write::to_text,
};

/// FNV-1a, 64 bits. Not cryptographic: it shows whether two runs gave the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds an output: for a request the bytes of its body, for everything else its JSON.
    pub fn add_output(&mut self, output: &Output) {
        // Strings, numbers and raw JSON only: encoding cannot fail.
        let line: String = match output {
            Output::Effect(id, Effect::Http(request)) => {
                for piece in &request.body {
                    self.add(piece);
                }
                to_text(&(id, &request.path, &request.headers))
            }
            output => to_text(output),
        };
        self.add(line.as_bytes());
        self.add(b"\n");
    }

    /// The value of the digest.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}
