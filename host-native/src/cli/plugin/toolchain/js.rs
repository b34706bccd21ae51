//! JavaScript and TypeScript: componentize-qjs puts the modules and QuickJS into one component, without WASI. TypeScript is made
//! one module of JavaScript by esbuild first.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use windlass::child;

use super::{
    programs::{ToolchainError, run},
    sources::Sources,
    wit,
};

/// A script for Node that is installed with the packages of a plugin's folder.
struct Script {
    /// Where npm puts it, in the folder.
    installed: &'static str,
    /// The variable that names another one, which is not to be installed then.
    variable: &'static str,
}

const COMPONENTIZE: Script = Script {
    installed: "node_modules/componentize-qjs/bin/componentize-qjs",
    variable: "WINDLASS_COMPONENTIZE_QJS",
};

const ESBUILD: Script = Script {
    installed: "node_modules/esbuild/bin/esbuild",
    variable: "WINDLASS_ESBUILD",
};

/// What an author without it has to do.
const REMEDY: &str = "install Node 20 or newer (https://nodejs.org)";

/// A module of JavaScript with the tools that make a component of it.
pub(in crate::cli::plugin) struct Module {
    folder: PathBuf,
    componentize: PathBuf,
    bundle: Option<Bundle>,
}

/// What esbuild made one module of.
struct Bundle {
    /// Removed with this.
    folder: TempDir,
    module: PathBuf,
}

impl Module {
    /// The module `app.js` in a folder. The packages of the folder are installed if they are missing, which needs the npm registry.
    ///
    /// # Errors
    /// [`ToolchainError`]: Node is missing, or a step failed, which has said why on standard error.
    pub(super) fn of_javascript(folder: &Path) -> Result<Self, ToolchainError> {
        Ok(Self {
            folder: folder.to_owned(),
            componentize: COMPONENTIZE.find(folder)?,
            bundle: None,
        })
    }

    /// The same for the module `src/plugin.ts`, with all that it imports. Types are not checked, which `npm run check` does.
    ///
    /// # Errors
    /// As [`Self::of_javascript`].
    pub(super) fn of_typescript(folder: &Path) -> Result<Self, ToolchainError> {
        let bundled = tempfile::tempdir().map_err(ToolchainError::at(env::temp_dir()))?;
        let module = bundled.path().join("plugin.js");
        let mut esbuild = child::command("node");
        esbuild
            .arg(ESBUILD.find(folder)?)
            .current_dir(folder)
            .args([
                "src/plugin.ts",
                "--bundle",
                "--format=esm",
                "--platform=neutral",
            ])
            // What QuickJS knows, and the interfaces of the host, which are no files.
            .args([
                "--target=es2023",
                "--external:windlass:*",
                "--log-level=warning",
            ])
            .arg(joined("--outfile=", &module));
        run(&mut esbuild, REMEDY)?;
        let bundle = Bundle {
            folder: bundled,
            module,
        };
        Ok(Self {
            bundle: Some(bundle),
            ..Self::of_javascript(folder)?
        })
    }

    /// A digest of what the component is made from. componentize-qjs has no way to be given the random numbers of the interpreter
    /// that it begins, by which its tables are in another order in each component.
    ///
    /// # Errors
    /// The error of the operating system, or there is more than a digest tells.
    pub(super) fn sources(&self) -> io::Result<String> {
        let sources = Sources::in_folder(&self.folder, "componentize-qjs --sync --stub-wasi")?
            .and_program(&self.componentize)?;
        let sources = match &self.bundle {
            // esbuild makes the same of the same, wherever that lies.
            Some(bundle) => sources
                .and_content(&bundle.module)?
                .and_below(&wit(&self.folder))?,
            None => sources.and_all()?,
        };
        Ok(sources.digest())
    }

    /// The component without its declaration.
    ///
    /// # Errors
    /// [`ToolchainError`]: a step failed, which has said why on standard error.
    pub(super) fn component(&self) -> Result<Vec<u8>, ToolchainError> {
        let (root, module) = match &self.bundle {
            Some(bundle) => (bundle.folder.path(), bundle.module.as_path()),
            None => (self.folder.as_path(), Path::new("app.js")),
        };
        let output = tempfile::tempdir().map_err(ToolchainError::at(env::temp_dir()))?;
        let component = output.path().join("component.wasm");
        let mut componentize = child::command("node");
        componentize
            .arg(&self.componentize)
            .current_dir(&self.folder)
            .args(["--world", "authored", "--js"])
            .arg(module)
            // Without the asynchronous interfaces, of which this host has none; the interpreter that is fast, not the one that is
            // small (1.2 MB instead of 1.8): each call runs in it.
            .args(["--sync", "--stub-wasi", "--module-root"])
            .arg(root)
            .arg("--wit")
            .arg(wit(&self.folder))
            .arg("--output")
            .arg(&component);
        run(&mut componentize, REMEDY)?;
        fs::read(&component).map_err(ToolchainError::at(component))
    }
}

impl Script {
    /// Its path, after the packages of the folder are installed if it is missing.
    fn find(&self, folder: &Path) -> Result<PathBuf, ToolchainError> {
        if let Some(chosen) = env::var_os(self.variable) {
            return Ok(chosen.into());
        }
        let program = folder.join(self.installed);
        if !program.is_file() {
            let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
            let mut install = child::command(npm);
            // None of the packages needs an install script, so none may run.
            let quietly = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
            install.current_dir(folder).args(quietly);
            run(&mut install, REMEDY)?;
        }
        Ok(program)
    }
}

/// An option and its value as one argument.
fn joined(option: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}
