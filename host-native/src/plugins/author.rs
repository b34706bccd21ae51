//! For the authors of plugins: a freshly built component is asked once for its declaration, which is appended to it.

use std::{sync::Arc, time::Duration};

use wasmtime::component::Component;
use windlass_builtin::{
    DECLARATION_SECTION,
    section::{PREAMBLE, SectionError, sections},
};
use windlass_core::{host::CancelSignal, tool::FsGrant};

use super::{
    CallLimits,
    authority::Bound,
    call::store,
    call_state::CallPart,
    component::{PluginHost, PluginHostConfig},
    engine::Runtime,
    inspect::Inspection,
    load_fault::LoadFault,
    outcome::{Watch, trap_text},
    progress::Reports,
};
use crate::files::{Files, GrantError};

/// The export that answers with the declaration (`wit/plugin/plugin.wit`, world `declared`).
const EXPORT: &str = "declaration";

/// The time for the answer. An interpreter, already started when it was built, takes milliseconds.
const TIME: Duration = Duration::from_secs(5);

/// Why a component got no declaration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorError {
    /// Not a file of WebAssembly.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// wasmtime does not compile or link it.
    #[error("the component cannot be run here: {0}")]
    Unusable(String),
    /// It cannot say what it declares.
    #[error(
        "the component does not export `{EXPORT}: func() -> string` (world windlass:plugin/declared), which the build asks for its declaration"
    )]
    NoDeclaration,
    /// It failed when it was asked.
    #[error("the component failed when it was asked for its declaration: {0}")]
    Failed(String),
    /// What it declares is refused by every host.
    #[error("what the component declares would not be loaded: {0}")]
    Refused(#[from] LoadFault),
    /// The empty grant cannot be enforced; not expected.
    #[error(transparent)]
    Grant(#[from] GrantError),
}

/// A component with the declaration that it makes of itself, as a host loads it. An older declaration is replaced.
///
/// The component is run once, with no grant and within the default limits of a call. Blocks, for seconds if it has an
/// interpreter in it, which is compiled for this.
///
/// # Errors
/// [`AuthorError`]: it does not answer, or no host would load it with what it answers.
pub fn with_declaration(component: &[u8]) -> Result<Vec<u8>, AuthorError> {
    with_declaration_of(component, component)
}

/// A component with the declaration of another one, which has the same sources and more to say: where schemas are made by code,
/// that code is no part of what is shipped.
///
/// # Errors
/// As [`with_declaration`].
pub fn with_declaration_of(component: &[u8], asked: &[u8]) -> Result<Vec<u8>, AuthorError> {
    let mut declared = undeclared(component)?;
    let declaration = ask(&undeclared(asked)?)?;
    append_section(&mut declared, declaration.as_bytes());
    Inspection::of(&declared)?;
    Ok(declared)
}

/// The component without a declaration of its own.
fn undeclared(component: &[u8]) -> Result<Vec<u8>, SectionError> {
    let all = sections(component)?;
    let mut kept = component.get(..PREAMBLE).unwrap_or_default().to_vec();
    for section in all {
        let section = section?;
        if section.name != Some(DECLARATION_SECTION) {
            kept.extend_from_slice(section.raw);
        }
    }
    Ok(kept)
}

/// Runs the component for its declaration.
fn ask(component: &[u8]) -> Result<String, AuthorError> {
    let unusable = |error: wasmtime::Error| AuthorError::Unusable(format!("{error:#}"));
    let runtime = Runtime::start_for_once().map_err(unusable)?;
    let component = Component::from_binary(&runtime.engine, component).map_err(unusable)?;
    let linked = runtime.linker.instantiate_pre(&component);
    let linked = linked.map_err(unusable)?;
    let limits = CallLimits::default();
    let nothing = FsGrant {
        cwd: "/".to_owned(),
        ..FsGrant::default()
    };
    let call = CallPart::new(
        Watch::new(TIME, CancelSignal::new(), Arc::default()),
        Files::default().reach(&nothing)?,
        Bound::default(),
        Reports::new(None),
        &limits,
    );
    let host = PluginHost::new(PluginHostConfig::default());
    let mut store = store(call, &EXPORT.into(), &host, &runtime, &limits);
    let _ticking = runtime.ticker.ticking();
    let failed = |error: wasmtime::Error| AuthorError::Failed(trap_text(&error));
    let instance = linked.instantiate(&mut store).map_err(failed)?;
    let declaration = instance
        .get_typed_func::<(), (String,)>(&mut store, EXPORT)
        .map_err(|_| AuthorError::NoDeclaration)?;
    let (text,) = declaration.call(&mut store, ()).map_err(failed)?;
    Ok(text)
}

/// Appends the declaration as a custom section.
fn append_section(component: &mut Vec<u8>, declaration: &[u8]) {
    let mut content = leb128(DECLARATION_SECTION.len());
    content.extend_from_slice(DECLARATION_SECTION.as_bytes());
    content.extend_from_slice(declaration);
    component.push(0);
    component.extend(leb128(content.len()));
    component.extend(content);
}

/// An unsigned number in LEB128.
fn leb128(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
