//! Whether the code of a component can be compiled and linked: found out before it is installed, not with its first call.

use wasmtime::component::Component;

use super::{
    engine::Runtime,
    inspected::InspectedComponent,
    linked::{Linked, Roles},
    load_fault::LoadFault,
};

impl InspectedComponent {
    /// Compiles and links the component, and looks for the functions that its declaration needs. Runs nothing of it, and keeps
    /// nothing. Blocks: for milliseconds, or for seconds if it has an interpreter in it.
    ///
    /// # Errors
    /// [`LoadFault::Code`]: every call of it would fail.
    pub fn check_code(&self) -> Result<(), LoadFault> {
        self.linked()
            .map(drop)
            .map_err(|error| LoadFault::Code(format!("{error:#}")))
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
