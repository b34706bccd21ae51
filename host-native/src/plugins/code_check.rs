//! Whether the code of a component can be compiled and linked: found out before it is installed, not with its first call.

use wasmparser::{MemoryType, Payload};
use wasmtime::component::Component;

use super::{
    engine::Runtime,
    inspected::InspectedComponent,
    linked::{Linked, Roles},
    load_fault::LoadFault,
    read::{damaged, for_each_section},
};

impl InspectedComponent {
    /// Compiles and links the component, and looks for the functions that its declaration needs and for the memory that it begins
    /// with. Runs nothing of it, and keeps nothing. Blocks: for milliseconds, or for seconds if it has an interpreter in it.
    ///
    /// # Errors
    /// [`LoadFault::Code`] or [`LoadFault::MemoryBelowInitial`]: every call of it would fail.
    pub fn check_code(&self) -> Result<(), LoadFault> {
        self.check_limits()?;
        self.linked()
            .map(drop)
            .map_err(|error| LoadFault::Code(format!("{error:#}")))
    }

    /// Looks for the memory that the component begins with, without compiling it.
    ///
    /// # Errors
    /// [`LoadFault::MemoryBelowInitial`]: every call of it would fail.
    pub fn check_limits(&self) -> Result<(), LoadFault> {
        match self.inspection().declaration.limits.memory_bytes {
            Some(declared) => check_memory(self.bytes.as_slice(), declared),
            None => Ok(()),
        }
    }

    fn linked(&self) -> wasmtime::Result<Linked> {
        let declaration = &self.inspection().declaration;
        let runtime = Runtime::start_for_once()?;
        let component = Component::from_binary(&runtime.engine, self.bytes.as_slice())?;
        let instance = runtime.linker.instantiate_pre(&component)?;
        let roles = Roles::of(!declaration.tools.is_empty(), &declaration.hooks);
        Linked::new(&instance, roles)
    }
}

/// Checks that the instance of a component has its memory within the limit that the component declares for itself.
fn check_memory(bytes: &[u8], declared: usize) -> Result<(), LoadFault> {
    let initial = initial_memory(bytes)?;
    match u64::try_from(declared).is_ok_and(|declared| declared < initial) {
        true => Err(LoadFault::MemoryBelowInitial { declared, initial }),
        false => Ok(()),
    }
}

/// The bytes that the memories of all modules of a component begin with. An imported memory is that of another module.
fn initial_memory(bytes: &[u8]) -> Result<u64, LoadFault> {
    let mut sum = 0_u64;
    for_each_section(bytes, |section, _| {
        if let Payload::MemorySection(memories) = section {
            for memory in memories {
                sum = sum.saturating_add(initial(memory.map_err(damaged)?));
            }
        }
        Ok(())
    })?;
    Ok(sum)
}

fn initial(memory: MemoryType) -> u64 {
    let page = 1_u64.checked_shl(memory.page_size_log2.unwrap_or(16));
    memory.initial.saturating_mul(page.unwrap_or(u64::MAX))
}
