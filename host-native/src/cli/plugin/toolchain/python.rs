//! Python: componentize-py puts the modules and CPython into one component. Its WASI stays, so that `open()` works.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use windlass::child;

use super::{
    programs::{ToolchainError, run},
    sources::Sources,
    wit,
};

/// Names the program componentize-py when it is not to be installed in the plugin's folder.
const CHOSEN: &str = "WINDLASS_COMPONENTIZE_PY";

/// What an author without it has to do.
const REMEDY: &str = "install Python 3.10 or newer with `venv` (https://python.org)";

/// The module `app` in a folder, with the modules in `sdk`, and the program that makes a component of them.
pub(in crate::cli::plugin) struct Module {
    folder: PathBuf,
    componentize: PathBuf,
}

impl Module {
    /// What `requirements.txt` lists is installed into `.venv` if that is missing, which needs PyPI.
    ///
    /// # Errors
    /// [`ToolchainError`]: Python is missing, or a step failed, which has said why on standard error.
    pub(super) fn new(folder: &Path) -> Result<Self, ToolchainError> {
        Ok(Self {
            folder: folder.to_owned(),
            componentize: installed(folder)?,
        })
    }

    /// A digest of what the component is made from. componentize-py has no way to be given the seed of CPython's hashes, by which
    /// all of its memory is in another order in each component.
    ///
    /// # Errors
    /// The error of the operating system, or there is more than a digest tells.
    pub(super) fn sources(&self) -> io::Result<String> {
        let sources = Sources::in_folder(&self.folder, "componentize-py")?;
        let sources = sources.and_program(&self.componentize)?.and_all()?;
        Ok(sources.digest())
    }

    /// The component without its declaration.
    ///
    /// # Errors
    /// [`ToolchainError`]: a step failed, which has said why on standard error.
    pub(super) fn component(&self) -> Result<Vec<u8>, ToolchainError> {
        let output = tempfile::tempdir().map_err(ToolchainError::at(env::temp_dir()))?;
        let component = output.path().join("component.wasm");
        let mut componentize = child::command(&self.componentize);
        componentize
            .current_dir(&self.folder)
            // What is listed for the build alone is no part of the plugin.
            .env_remove("VIRTUAL_ENV")
            .arg("--quiet")
            .arg("--wit-path")
            .arg(wit(&self.folder))
            .args(["--world", "authored", "componentize"])
            .args(["--python-path", ".", "--python-path", "sdk"])
            .arg("--output")
            .arg(&component)
            .arg("app");
        run(&mut componentize, REMEDY)?;
        fs::read(&component).map_err(ToolchainError::at(component))
    }
}

/// The program, installed if it is missing.
fn installed(folder: &Path) -> Result<PathBuf, ToolchainError> {
    if let Some(chosen) = env::var_os(CHOSEN) {
        return Ok(chosen.into());
    }
    let programs = folder.join(if cfg!(windows) {
        ".venv/Scripts"
    } else {
        ".venv/bin"
    });
    let program = programs.join(format!("componentize-py{}", env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let python = if cfg!(windows) { "python" } else { "python3" };
        let mut environment = child::command(python);
        environment
            .current_dir(folder)
            .args(["-m", "venv", ".venv"]);
        run(&mut environment, REMEDY)?;
        let mut install =
            child::command(programs.join(format!("python{}", env::consts::EXE_SUFFIX)));
        install
            .current_dir(folder)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(["--requirement", "requirements.txt"]);
        run(&mut install, REMEDY)?;
    }
    Ok(program)
}
