//! Reads a component without running it: what it declares, imports and exports.

use std::mem;

use serde::{Deserialize, de::DeserializeOwned};
use wasmparser::{Chunk, ComponentTypeRef, Parser, Payload};
use windlass_core::schema::Schema;
use windlass_engine::plugin;

use super::{
    asked::LONGEST_TEXT,
    declaration::{Declaration, DeclaredTool, InstanceScope},
    declared_hook,
    load_fault::{LONGEST_NAME, LoadFault, MAX_COMPONENT, MAX_TOOLS, WIT},
    wasi,
};

/// The interfaces that a component may import, without their version.
const IMPORTS: [&str; 10] = [
    "windlass:host/types",
    "windlass:host/filesystem",
    "windlass:host/http",
    "windlass:host/secrets",
    "windlass:host/state",
    "windlass:host/config",
    "windlass:host/progress",
    "windlass:host/log",
    "windlass:plugin/types",
    "windlass:plugin/hooks",
];

/// Reads a component's declaration and checks what it imports and exports. Runs nothing.
pub(super) fn read(bytes: &[u8]) -> Result<(Declaration, Vec<String>), LoadFault> {
    if bytes.len() > MAX_COMPONENT {
        return Err(LoadFault::TooLarge(bytes.len()));
    }
    let declaration = declared(windlass_builtin::declaration(bytes)?)?;
    declaration.tools.iter().try_for_each(check_offered)?;
    let (imports, exports) = check_interfaces(bytes)?;
    if !declaration.tools.is_empty() && !exports.iter().any(|name| name == "call") {
        return Err(LoadFault::NoCall);
    }
    declared_hook::check_exports(&declaration.hooks, &exports)?;
    Ok((declaration, imports))
}

/// Reads the text of a declaration, and checks it ([`checked`]).
pub(super) fn declared(text: &str) -> Result<Declaration, LoadFault> {
    let read = from_str::<Declaration>(text);
    if read.is_err() {
        // Before what is wrong with the rest, which another version may spell in another way.
        let wit = from_str::<Version>(text)?.wit;
        if !wit.starts_with(WIT) {
            return Err(LoadFault::Version(wit));
        }
    }
    checked(read?)
}

/// Checks all of a declaration that does not depend on the component, but for schemas: those of installed plugins were checked when
/// they were installed.
pub(super) fn checked(declaration: Declaration) -> Result<Declaration, LoadFault> {
    if !declaration.wit.starts_with(WIT) {
        return Err(LoadFault::Version(declaration.wit));
    }
    check_names(&declaration)?;
    if declaration.tools.is_empty() && declaration.hooks.is_empty() {
        return Err(LoadFault::Nothing);
    }
    if declaration.instance == InstanceScope::Session && declaration.tools.is_empty() {
        return Err(LoadFault::KeptByNothing);
    }
    check_tools(&declaration.tools)?;
    declared_hook::check(&declaration.hooks)?;
    declaration.grants.check().map_err(Box::new)?;
    check_limits(&declaration)?;
    Ok(declaration)
}

fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, LoadFault> {
    serde_json::from_str(text).map_err(|error| LoadFault::DeclarationShape(error.to_string()))
}

/// Checks what the plugin calls itself: files, folders and lists of grants have it in their names.
fn check_names(declaration: &Declaration) -> Result<(), LoadFault> {
    if !plugin::is_name(&declaration.name) {
        return Err(LoadFault::PluginName(declaration.name.clone()));
    }
    let version = &declaration.version;
    let is_plain = version.bytes().all(|byte| byte.is_ascii_graphic());
    match (1..=LONGEST_NAME).contains(&version.len()) && is_plain {
        true => Ok(()),
        false => Err(LoadFault::PluginVersion(version.clone())),
    }
}

#[derive(Deserialize)]
struct Version {
    wit: String,
}

/// Checks that something could run within what is declared.
fn check_limits(declaration: &Declaration) -> Result<(), LoadFault> {
    let none_at_all = |field, place: String| Err(LoadFault::NoneAtAll { field, place });
    let limits = || "`limits`".to_owned();
    if declaration.limits.memory_bytes == Some(0) {
        return none_at_all("memory_bytes", limits());
    }
    if declaration.limits.timeout_ms == Some(0) {
        return none_at_all("timeout_ms", limits());
    }
    let mut tools = declaration.tools.iter();
    match tools.find(|tool| tool.timeout_ms == Some(0)) {
        Some(tool) => none_at_all("timeout_ms", format!("the tool `{}`", tool.name)),
        None => Ok(()),
    }
}

fn check_tools(tools: &[DeclaredTool]) -> Result<(), LoadFault> {
    if tools.len() > MAX_TOOLS {
        return Err(LoadFault::ToolCount(tools.len()));
    }
    for (index, tool) in tools.iter().enumerate() {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !(1..=64).contains(&tool.name.len()) || !tool.name.chars().all(letters) {
            return Err(LoadFault::ToolName(tool.name.clone()));
        }
        if tools[..index].iter().any(|t| t.name == tool.name) {
            return Err(LoadFault::RepeatedTool(tool.name.clone()));
        }
        if !tool.input_schema.is_object() {
            return Err(LoadFault::ToolSchema(tool.name.clone()));
        }
    }
    Ok(())
}

/// Checks what of a tool every request to a model would have: a schema that nobody can read starts no session.
fn check_offered(tool: &DeclaredTool) -> Result<(), LoadFault> {
    let schema = tool.input_schema.get();
    let texts = [
        ("description", tool.description.len()),
        ("input_schema", schema.len()),
    ];
    if let Some((what, _)) = texts.into_iter().find(|(_, bytes)| *bytes > LONGEST_TEXT) {
        return Err(LoadFault::ToolText {
            tool: tool.name.clone(),
            what,
        });
    }
    Schema::read(schema).map(drop).map_err(|error| {
        let tool = tool.name.clone();
        let problem = error.to_string();
        LoadFault::ToolSchemaInvalid { tool, problem }
    })
}

/// Checks the outer component's imports by name, and returns the imported interfaces and the names of what it exports. wasmtime
/// checks the types later.
fn check_interfaces(bytes: &[u8]) -> Result<(Vec<String>, Vec<String>), LoadFault> {
    let mut exported = Vec::new();
    let mut imported = Vec::new();
    for_each_section(bytes, |section, is_outer| {
        match section {
            // Nested components see only what the outer one passes on.
            Payload::ComponentImportSection(imports) if is_outer => {
                for import in imports {
                    let import = import.map_err(damaged)?;
                    if matches!(import.ty, ComponentTypeRef::Type(_)) {
                        // A type that the world refers to by name, not a function.
                        continue;
                    }
                    let name = import.name.name;
                    let (interface, version) = name.split_once('@').unwrap_or((name, ""));
                    if IMPORTS.contains(&interface) {
                        if !version.starts_with(WIT) {
                            return Err(LoadFault::Version(name.to_owned()));
                        }
                    } else if !wasi::is_linked(name) {
                        return Err(LoadFault::Import(name.to_owned()));
                    }
                    imported.push(name.to_owned());
                }
            }
            Payload::ComponentExportSection(exports) if is_outer => {
                for export in exports {
                    exported.push(export.map_err(damaged)?.name.name.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok((imported, exported))
}

/// Visits the sections of a component and of all modules and components in it, with whether one is of the component itself. Code is
/// passed over: what functions do is looked at when they are compiled; there are thousands, and this is read at each start.
///
/// # Errors
/// [`LoadFault::Damaged`], or what the visitor says.
pub(super) fn for_each_section<'a>(
    bytes: &'a [u8],
    mut visit: impl FnMut(Payload<'a>, bool) -> Result<(), LoadFault>,
) -> Result<(), LoadFault> {
    let cut_off = || LoadFault::Damaged("it ends in the middle of a section".to_owned());
    let (mut parser, mut around) = (Parser::new(0), Vec::new());
    let mut rest = bytes;
    loop {
        let Chunk::Parsed { consumed, payload } = parser.parse(rest, true).map_err(damaged)? else {
            return Err(cut_off());
        };
        rest = rest.get(consumed..).ok_or_else(cut_off)?;
        match payload {
            Payload::CodeSectionStart { size, .. } => {
                parser.skip_section();
                let size = usize::try_from(size).map_err(|_| cut_off())?;
                rest = rest.get(size..).ok_or_else(cut_off)?;
            }
            Payload::ModuleSection { parser: inner, .. }
            | Payload::ComponentSection { parser: inner, .. } => {
                around.push(mem::replace(&mut parser, inner));
            }
            Payload::End(_) => match around.pop() {
                Some(outer) => parser = outer,
                None => return Ok(()),
            },
            section => visit(section, around.is_empty())?,
        }
    }
}

/// What a part that cannot be read says of the file.
pub(super) fn damaged(error: wasmparser::BinaryReaderError) -> LoadFault {
    LoadFault::Damaged(error.to_string())
}
