//! Loads compiled components: the only place in this crate's component code that needs `unsafe`.

#![allow(unsafe_code)]

use std::io::{self, Read};

use wasmtime::{Engine, component::Component};

/// The bytes of a piece: it stays in the processor's cache until it was checked and written.
const PIECE: usize = 128 << 10;

/// A compiled component in memory that nobody can change: it is checked there and used from there, because on the disk it could
/// change in between.
pub(super) struct CompiledCode(Memory);

enum Memory {
    /// A file without a name that is sealed against changes: wasmtime maps it, and reads what it needs.
    #[cfg(target_os = "linux")]
    Sealed(std::fs::File),
    Bytes(Vec<u8>),
}

impl CompiledCode {
    /// Copies it, and hands on each piece of what was copied.
    ///
    /// # Errors
    /// Those of reading.
    pub(super) fn copied(from: &mut impl Read, mut piece: impl FnMut(&[u8])) -> io::Result<Self> {
        let mut memory = Memory::new();
        let mut buffer = vec![0; PIECE];
        loop {
            match from.read(&mut buffer)? {
                0 => break,
                read => {
                    piece(&buffer[..read]);
                    memory.write(&buffer[..read])?;
                }
            }
        }
        Ok(Self(memory.sealed()?))
    }
}

#[cfg(target_os = "linux")]
impl Memory {
    fn new() -> Self {
        use rustix::fs::{MemfdFlags, memfd_create};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        match memfd_create(c"windlass-component", flags) {
            Ok(file) => Self::Sealed(file.into()),
            Err(_) => Self::Bytes(Vec::new()),
        }
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Sealed(file) => io::Write::write_all(file, piece),
            Self::Bytes(bytes) => {
                bytes.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    fn sealed(self) -> io::Result<Self> {
        use rustix::fs::{SealFlags, fcntl_add_seals};
        if let Self::Sealed(file) = &self {
            let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
            fcntl_add_seals(file, seals)?;
        }
        Ok(self)
    }
}

#[cfg(not(target_os = "linux"))]
impl Memory {
    fn new() -> Self {
        Self::Bytes(Vec::new())
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        let Self::Bytes(bytes) = self;
        bytes.extend_from_slice(piece);
        Ok(())
    }

    fn sealed(self) -> io::Result<Self> {
        Ok(self)
    }
}

/// Creates native code from a compiled component.
///
/// Call it only for data written by [`super::cache::Cache`], with a valid seal.
///
/// # Errors
/// Errors of wasmtime, if the data is of another version or was compiled with other settings.
pub(super) fn load(engine: &Engine, code: &CompiledCode) -> wasmtime::Result<Component> {
    // SAFETY of all: `deserialize` and `deserialize_file` require that the bytes are the output of `Component::serialize`, and
    // that a file does not change while it is mapped. The cache seals exactly that output, and it checked the seal of these
    // bytes in this memory, which nothing else can change: only the owner of the key can have made them. The key is accessible
    // to this user only, no grant covers it, and it is used for nothing else.
    match &code.0 {
        #[cfg(target_os = "linux")]
        Memory::Sealed(file) => {
            use std::os::{fd::AsRawFd as _, unix::fs::FileExt as _};
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            unsafe { Component::deserialize_file(engine, path) }.or_else(|_| {
                // There need not be a `/proc`.
                let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?];
                file.read_exact_at(&mut bytes, 0)?;
                unsafe { Component::deserialize(engine, bytes) }
            })
        }
        Memory::Bytes(bytes) => unsafe { Component::deserialize(engine, bytes) },
    }
}
