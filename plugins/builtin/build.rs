//! Puts the built-in components into `OUT_DIR`: from `prebuilt/` where the packaged crate carries them, else built from
//! the sources of the workspace by a second cargo.

use std::{
    env,
    error::Error,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use wit_component::ComponentEncoder;

#[path = "src/section.rs"]
#[allow(dead_code, unreachable_pub)]
mod section;

const TARGET: &str = "wasm32-unknown-unknown";
const DECLARATION_SECTION: &str = "windlass:plugin";
/// The profile of the workspace's Cargo.toml for what is shipped as WASM.
const PROFILE: &str = "wasm";
/// Names a rustup toolchain that has the target, when the one in use has not.
const TOOLCHAIN_VARIABLE: &str = "WINDLASS_WASM_CARGO_TOOLCHAIN";
/// The toolchain that `cargo xtask setup` links where `rustup target add` is not possible.
const LINKED_TOOLCHAIN: &str = "debweb";

/// A component and where it comes from.
struct Guest {
    /// The name of the file, without `.component.wasm`.
    name: &'static str,
    package: &'static str,
    /// The cdylib that cargo makes of it.
    module: &'static str,
    /// Its own sources, relative to the root of the workspace.
    sources: &'static [&'static str],
}

const FILES: Guest = Guest {
    name: "files",
    package: "windlass-files",
    module: "windlass_files.wasm",
    sources: &[
        "plugins/files/Cargo.toml",
        "plugins/files/plugin.json",
        "plugins/files/src",
        "plugins/sdk/Cargo.toml",
        "plugins/sdk/src",
        "wit/host",
        "wit/plugin",
    ],
};

const AGENT: Guest = Guest {
    name: "agent",
    package: "windlass-agent",
    module: "windlass_agent.wasm",
    sources: &[
        "plugins/agent/Cargo.toml",
        "plugins/agent/src",
        "core/Cargo.toml",
        "core/src",
        "wit/agent",
    ],
};

fn main() -> Result<(), Box<dyn Error>> {
    // The whole package, so that a `prebuilt` that appears later is noticed. Naming a file that does not exist would
    // run this script at every build.
    println!("cargo::rerun-if-changed=.");
    println!("cargo::rerun-if-env-changed={TOOLCHAIN_VARIABLE}");
    provide(&FILES, FILES.sources)?;
    if env::var_os("CARGO_FEATURE_AGENT").is_some() {
        // The agent takes the file tools in.
        provide(&AGENT, &[FILES.sources, AGENT.sources].concat())?;
    }
    Ok(())
}

fn provide(guest: &Guest, sources: &[&str]) -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let file = format!("{}.component.wasm", guest.name);
    let prebuilt = here.join("prebuilt").join(&file);
    let component = if prebuilt.is_file() {
        fs::read(prebuilt)?
    } else {
        let module = build(guest, sources, &here, &out)?;
        componentize(&module)?
    };
    // What did not change is left alone, so that nothing that depends on it is built again.
    let file = out.join(file);
    if fs::read(&file).ok().as_ref() != Some(&component) {
        fs::write(file, component)?;
    }
    Ok(())
}

/// Compiles the guest and returns its core module.
fn build(
    guest: &Guest,
    sources: &[&str],
    here: &Path,
    out: &Path,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let workspace = here
        .ancestors()
        .nth(2)
        .filter(|workspace| workspace.join("plugins/builtin/build.rs").is_file())
        .ok_or(
            "this package carries no prebuilt components and is not in the windlass workspace",
        )?;
    for source in sources.iter().chain(&["Cargo.toml", "Cargo.lock"]) {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    // A target directory of its own: the outer cargo holds the lock of the other one while it waits for this script.
    let target = target_directory(out).join("wasm");
    let status = nested_cargo()?
        .current_dir(workspace)
        // The crate type is asked for here and not in the manifest: as a dependency of the agent the file tools would
        // be built as a cdylib too, without their exports, and take the place of the real one.
        .args([
            "rustc",
            "--lib",
            "--crate-type",
            "cdylib",
            "--package",
            guest.package,
        ])
        .args(["--target", TARGET, "--profile", PROFILE])
        .arg("--target-dir")
        .arg(&target)
        // Every runtime that components meet has had 128-bit SIMD for years; searching relies on it. The linker leaves room
        // for the largest address in every call and constant unless it is told to close the gaps. Names of the newer kind tell
        // instances of one function apart by their types, and bring those that are alike together, which compresses better.
        // The reader of PDF could make random numbers for files that it writes; a component has none, and writes none.
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            "--cfg=getrandom_backend=\"unsupported\"\x1f-Ctarget-feature=+simd128\x1f-Csymbol-mangling-version=v0\x1f-Clink-arg=--compress-relocations",
        )
        .status()
        .map_err(|error| format!("could not start cargo for {}: {error}", guest.package))?;
    if !status.success() {
        return Err(format!("building {} for {TARGET} failed: see above", guest.package).into());
    }
    let module = target.join(TARGET).join(PROFILE).join(guest.module);
    fs::read(&module).map_err(|error| format!("{}: {error}", module.display()).into())
}

/// The root of the target directory that `OUT_DIR` lies in: cargo marks it with a cache tag.
fn target_directory(out: &Path) -> &Path {
    out.ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").is_file())
        .unwrap_or(out)
}

/// A cargo that can build for the target, in an environment without what the outer build set for itself.
fn nested_cargo() -> Result<Command, Box<dyn Error>> {
    let toolchain = toolchain()?;
    let mut cargo = match &toolchain {
        Toolchain::Current => Command::new(variable("CARGO")?),
        Toolchain::Rustup(name) => {
            let mut rustup = Command::new("rustup");
            rustup.args(["run", name, "cargo"]);
            rustup
        }
    };
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(belongs_to_the_outer_build) {
            cargo.env_remove(name);
        }
    }
    if matches!(toolchain, Toolchain::Current) {
        // The compiler beside this cargo, not whichever comes first in the path.
        cargo.env("RUSTC", variable("RUSTC")?);
    }
    Ok(cargo)
}

/// Whether a variable says how the outer build goes. What says where cargo keeps and fetches things is left alone.
fn belongs_to_the_outer_build(name: &str) -> bool {
    const KEPT: &[&str] = &[
        "CARGO_HOME",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTR",
        "CARGO_TERM_",
        "CARGO_LOG",
    ];
    const DROPPED: &[&str] = &[
        "RUSTC",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_LINKER",
        "RUSTUP_TOOLCHAIN",
        "RUST_RECURSION_COUNT",
        "OUT_DIR",
        "TARGET",
        "HOST",
        "PROFILE",
        "OPT_LEVEL",
        "DEBUG",
        "NUM_JOBS",
        "MAKEFLAGS",
        "MFLAGS",
    ];
    DROPPED.contains(&name)
        || name.starts_with("DEP_")
        || (name.starts_with("CARGO") && !KEPT.iter().any(|kept| name.starts_with(kept)))
}

enum Toolchain {
    /// The one that runs this script.
    Current,
    /// A toolchain known to rustup.
    Rustup(String),
}

fn toolchain() -> Result<Toolchain, Box<dyn Error>> {
    if let Ok(name) = env::var(TOOLCHAIN_VARIABLE) {
        return Ok(Toolchain::Rustup(name));
    }
    if has_target(Command::new(variable("RUSTC")?)) {
        return Ok(Toolchain::Current);
    }
    let linked = || {
        let mut rustc = Command::new("rustup");
        rustc
            .args(["run", LINKED_TOOLCHAIN, "rustc"])
            .env_remove("RUSTC")
            .env_remove("RUSTUP_TOOLCHAIN");
        rustc
    };
    if has_target(linked()) && is_recent(linked())? {
        return Ok(Toolchain::Rustup(LINKED_TOOLCHAIN.to_owned()));
    }
    Err(format!(
        "the built-in tools are WASM components, and no toolchain here can build them: the standard library for {TARGET} \
         is missing, or that of a compiler that is too old for this workspace. Run `cargo xtask setup` in the workspace, or `rustup target add {TARGET}`, or name a rustup \
         toolchain that has it in {TOOLCHAIN_VARIABLE}."
    )
    .into())
}

/// Whether a compiler is new enough for the guests: a linked one may be what an older set-up found.
fn is_recent(mut rustc: Command) -> Result<bool, String> {
    let numbers = |release: &str| -> Option<(u32, u32)> {
        let mut numbers = release.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    let needed = variable("CARGO_PKG_RUST_VERSION")?;
    let Ok(output) = rustc.arg("-vV").output() else {
        return Ok(false);
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let release = said.lines().find_map(|line| line.strip_prefix("release: "));
    let release = release.and_then(numbers);
    Ok(release.is_some() && release >= numbers(&needed.to_string_lossy()))
}

/// Whether a compiler has the standard library for the target.
fn has_target(mut rustc: Command) -> bool {
    let Ok(output) = rustc
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
    else {
        return false;
    };
    let directory = String::from_utf8_lossy(&output.stdout);
    output.status.success()
        && fs::read_dir(directory.trim()).is_ok_and(|mut entries| {
            entries.any(|entry| {
                entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libcore"))
            })
        })
}

/// Wraps a core module as a component, with its declaration (if it has one) moved to the top level.
fn componentize(module: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut inner = module
        .get(..section::PREAMBLE)
        .ok_or(section::SectionError::NotWasm)?
        .to_vec();
    let mut declaration = Vec::new();
    for section in section::sections(module)? {
        let section = section?;
        match section.name {
            Some(DECLARATION_SECTION) => declaration.extend_from_slice(section.raw),
            // Names of functions, for debuggers: a tenth of the file.
            Some("name") => {}
            _ => inner.extend_from_slice(section.raw),
        }
    }
    let mut component = ComponentEncoder::default()
        .validate(true)
        .module(&inner)?
        .encode()?;
    component.extend_from_slice(&declaration);
    Ok(component)
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("cargo did not set {name}"))
}
