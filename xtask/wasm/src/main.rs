//! The xtask commands that need heavy libraries: `cargo xtask` builds and runs this program when it needs it.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lexopt::Arg;
use wasm_bindgen_cli_support::Bindgen;

const USAGE: &str = "\
usage: xtask-wasm bindgen MODULE DIR   JavaScript glue for a module, for browsers and Node
       xtask-wasm components DIR       the built-in components, as files";

fn main() -> Result<()> {
    let mut values = Vec::new();
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Value(value) => values.push(PathBuf::from(value)),
            option => return Err(option.unexpected().into()),
        }
    }
    match values.as_slice() {
        [command, module, directory] if command.as_os_str() == "bindgen" => {
            bindgen(module, directory)
        }
        [command, directory] if command.as_os_str() == "components" => components(directory),
        _ => bail!("{USAGE}"),
    }
}

/// Like `wasm-bindgen --target web`: an ES module that a page imports directly, and that Node uses by passing the
/// bytes of the module to its `init`.
fn bindgen(module: &Path, directory: &Path) -> Result<()> {
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .typescript(true)
        // An eighth of the module, and useful only for debugging.
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(directory)
        .with_context(|| format!("wasm-bindgen failed on {}", module.display()))
}

/// Writes every built-in component under the name expected by the build script of `windlass-builtin`.
fn components(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let tools = windlass_builtin::COMPONENTS
        .iter()
        .map(|builtin| (builtin.name, builtin.bytes));
    for (name, bytes) in tools.chain([("agent", windlass_builtin::AGENT)]) {
        let path = directory.join(format!("{name}.component.wasm"));
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
