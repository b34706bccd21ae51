//! A toolchain that can build for wasm32: the current one if it has the target, else one from rustup or Debian.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::progress;
use crate::setup::apt;
use crate::setup::debian::{self, Debian};
use crate::setup::machine::Machine;
use crate::setup::release::Release;
use crate::wasm_toolchain::{NAME_VARIABLE, TARGET, WasmToolchain, free_of_ours};
use crate::workspace::Workspace;

/// Set to `debian` to avoid rustup's servers, on machines that cannot reach them.
const ROUTE_VARIABLE: &str = "WINDLASS_WASM_TOOLCHAIN";

/// The timeout for a download by rustup.
const RUSTUP_LIMIT: Duration = Duration::from_secs(180);

/// The environment's choice of the toolchain.
#[derive(Debug, Default)]
pub(super) struct Wish {
    /// This toolchain, whatever others exist.
    pub(super) named: Option<String>,
    /// Debian's, without contacting rustup's servers.
    pub(super) only_debian: bool,
}

/// Finds or creates a toolchain for wasm32.
pub(crate) fn ensure(workspace: &Workspace) -> Result<WasmToolchain> {
    let wish = Wish {
        named: env::var(NAME_VARIABLE).ok(),
        only_debian: env::var_os(ROUTE_VARIABLE).is_some_and(|route| route == "debian"),
    };
    ensure_on(workspace, &Machine::this(), wish)
}

/// Uses the first possible option: a toolchain named by the environment; the current one, if it has the target;
/// Debian's, if it was set up earlier; rustup, which adds the target; Debian's, set up now.
pub(super) fn ensure_on(
    workspace: &Workspace,
    machine: &Machine,
    wish: Wish,
) -> Result<WasmToolchain> {
    if let Some(name) = wish.named {
        is_usable(workspace, machine, &name)?;
        return Ok(WasmToolchain::named(name));
    }
    if has_target(workspace.command(&machine.rustc)) {
        return Ok(WasmToolchain::IN_USE);
    }
    let debian = Debian::new(workspace, machine);
    if debian.is_ready() {
        return Ok(WasmToolchain::named(debian::TOOLCHAIN));
    }
    if !wish.only_debian && machine.has_rustup() {
        let added = progress::step("add the wasm32 target by rustup", || {
            process::run_within(
                workspace
                    .command(&machine.rustup)
                    .args(["target", "add", TARGET]),
                RUSTUP_LIMIT,
            )
        });
        match added {
            Ok(()) => return Ok(WasmToolchain::IN_USE),
            Err(error) => progress::warning(&format!("{error:#}")),
        }
    }
    if apt::available(machine) {
        debian
            .set_up()
            .context("the Debian route to a wasm32 toolchain failed")?;
        return Ok(WasmToolchain::named(debian::TOOLCHAIN));
    }
    bail!("this Rust cannot build for {TARGET}: run `rustup target add {TARGET}` and try again")
}

/// Whether a toolchain named by the environment can build this workspace for the target; otherwise the error says what to do.
fn is_usable(workspace: &Workspace, machine: &Machine, name: &str) -> Result<()> {
    let rustc = || {
        let mut command = workspace.command(&machine.rustup);
        command.args(["run", name, "rustc"]);
        free_of_ours(&mut command);
        command
    };
    let said = process::capture(rustc().arg("-vV"))
        .with_context(|| format!("{NAME_VARIABLE} names `{name}`, which does not run: unset it, or run `rustup toolchain list` and name one of those"))?;
    match Release::of_compiler(&said) {
        Some(release) if release >= machine.oldest => {}
        found => bail!(
            "{NAME_VARIABLE} names `{name}`, which is Rust {}, and this workspace needs {}: unset it, or name a newer one",
            found.map_or_else(|| "of an unknown release".to_owned(), |it| it.to_string()),
            machine.oldest
        ),
    }
    if !has_target(rustc()) {
        bail!(
            "{NAME_VARIABLE} names `{name}`, which cannot build for {TARGET}: run `rustup target add --toolchain {name} {TARGET}`, or unset it and run `cargo xtask setup`"
        );
    }
    Ok(())
}

/// Whether a compiler has a standard library for the target. An empty folder does not count.
fn has_target(mut rustc: Command) -> bool {
    let asked = process::capture(rustc.args(["--print", "target-libdir", "--target", TARGET]));
    asked.is_ok_and(|directory| has_core(Path::new(directory.trim())))
}

fn has_core(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| {
        entries.any(|entry| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libcore"))
        })
    })
}
