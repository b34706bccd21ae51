//! Development tasks of the windlass repository: `cargo xtask demo`, `cargo xtask test` and others.
//!
//! Every command performs the set-up it needs (see [`setup`]), prints its steps and their durations, and can be run
//! again at any time.
#![forbid(unsafe_code)]

mod artefacts;
mod attack;
mod builds;
mod check;
mod claims;
mod features;
mod junit;
mod libtest;
mod mutants;
mod package;
mod parity;
mod plugins;
mod process;
mod progress;
mod purity;
mod setup;
mod sources;
mod wasm_toolchain;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::{Arg, ValueExt};

use crate::workspace::Workspace;

const HELP: &str = "\
Chores of the windlass repository. Each command does its own set-up.

Usage: cargo xtask COMMAND

  demo [ARG]...    build windlass and run its demo
  test [OPTION]... [FILTER]
                   format, clippy, rustdoc, cargo-deny, wasm32 builds, every test, the parity list, the table of the SDKs;
                   FILTER runs only the tests whose name contains it
      --only STEP  run this step alone; can be given several times
      --test NAME  run only the tests of this test target
  simulate [--engine] [--seeds N] [--from S] [--threads T] [--all] [--found]
                   run the loop through N seeds (20000) in which everything goes wrong, from seed S on
  bench [ARG]...   measure windlass against its baselines, release build
  attack [CLASS]...
                   try to break every promise, or those of some classes, for longer than the tests do, from seeds
                   drawn from the clock
  mutants [--seed N] [--count N] [--package P]...
                   put small errors into the product, N (40) drawn by a seed, and say which no test noticed
  wasm             build the browser module and the transpiled components into target/browser
  web [PORT]       build them and serve the demo page, on port 8123 of this machine if none is given
  package [DIR]    write the crates to be published, with their built components, to DIR
                   (default target/package)
  setup            do all of the set-up now

Environment:
  WINDLASS_WASM_TOOLCHAIN=debian
                   take the wasm32 toolchain from Debian's packages without asking rustup first
  WINDLASS_WASM_CARGO_TOOLCHAIN
                   a toolchain known to rustup that builds for wasm32, instead of looking for one
  CHROME           the Chromium or Chrome to run browser tests in

Steps of `test`, in order: ";

fn main() -> ExitCode {
    match dispatch(std::env::args_os().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            progress::failure(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: Vec<OsString>) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let mut parser = lexopt::Parser::from_args(arguments);
    let command = match parser.next()? {
        None | Some(Arg::Short('h') | Arg::Long("help")) => {
            println!("{HELP}{}", check::step_names().join(", "));
            return Ok(ExitCode::SUCCESS);
        }
        Some(Arg::Value(command)) => command,
        Some(option) => return Err(option.unexpected().into()),
    };
    match command.to_str() {
        Some("demo") => demo(&workspace, parser.raw_args()?.collect()),
        Some("test") => check::run(&workspace, &test_options(&mut parser)?),
        Some("simulate") => simulate(&workspace, parser.raw_args()?.collect()),
        Some("bench") => bench(&workspace, parser.raw_args()?.collect()),
        Some("attack") => {
            let mut classes = Vec::new();
            while let Some(argument) = parser.next()? {
                match argument {
                    Arg::Value(class) => classes.push(class.string()?),
                    option => return Err(option.unexpected().into()),
                }
            }
            match attack::run(&workspace, &classes)? {
                true => Ok(ExitCode::SUCCESS),
                false => Ok(ExitCode::FAILURE),
            }
        }
        Some("mutants") => {
            mutants::run(&workspace, &mutants_options(&mut parser)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("wasm") => {
            end_of_arguments(&mut parser)?;
            artefacts::build(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("web") => web(&workspace, parser.raw_args()?.collect()),
        Some("package") => {
            let directory = match parser.next()? {
                None => workspace.target.join("package"),
                Some(Arg::Value(directory)) => directory.into(),
                Some(option) => return Err(option.unexpected().into()),
            };
            end_of_arguments(&mut parser)?;
            package::write(&workspace, &directory)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("setup") => {
            end_of_arguments(&mut parser)?;
            setup::everything(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!(
            "unknown command `{}`: `cargo xtask --help` lists them",
            command.to_string_lossy()
        ),
    }
}

fn test_options(parser: &mut lexopt::Parser) -> Result<check::Options> {
    let mut options = check::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("only") => options
                .only
                .push(parser.value()?.to_string_lossy().into_owned()),
            Arg::Long("test") => {
                options.target = Some(parser.value()?.to_string_lossy().into_owned());
            }
            Arg::Value(filter) if options.filter.is_none() => {
                options.filter = Some(filter.to_string_lossy().into_owned());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

fn mutants_options(parser: &mut lexopt::Parser) -> Result<mutants::Options> {
    let mut options = mutants::Options {
        seed: None,
        count: 40,
        packages: Vec::new(),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seed") => options.seed = Some(parser.value()?.parse()?),
            Arg::Long("count") => options.count = parser.value()?.parse()?,
            Arg::Long("package") => options.packages.push(parser.value()?.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

fn end_of_arguments(parser: &mut lexopt::Parser) -> Result<()> {
    match parser.next()? {
        None => Ok(()),
        Some(argument) => Err(argument.unexpected().into()),
    }
}

/// Builds the binary in the profile of the tests, so that nothing is compiled twice, and runs its `demo` command,
/// whose exit code is returned.
fn demo(workspace: &Workspace, arguments: Vec<OsString>) -> Result<ExitCode> {
    let binary = progress::step("build windlass", || workspace.build_windlass())?;
    let mut demo = workspace.command(binary);
    let status = process::status(demo.arg("demo").args(arguments))?;
    Ok(process::exit_code(status))
}

/// Serves the page until it is stopped.
fn web(workspace: &Workspace, arguments: Vec<OsString>) -> Result<ExitCode> {
    let artefacts = artefacts::build(workspace)?;
    let mut node = workspace.command(setup::npm::node()?);
    let status = process::status(
        node.arg(artefacts.browser.join("demo/serve.js"))
            .args(arguments),
    )?;
    Ok(process::exit_code(status))
}

/// Optimised, because there are many runs; built by itself, because that compiles next to nothing else.
fn simulate(workspace: &Workspace, arguments: Vec<OsString>) -> Result<ExitCode> {
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "windlass-simulate"]))?;
    let program = workspace.target.join("release/simulate");
    let status = process::status(workspace.command(program).args(arguments))?;
    Ok(process::exit_code(status))
}

fn bench(workspace: &Workspace, arguments: Vec<OsString>) -> Result<ExitCode> {
    setup::ripgrep(workspace)?;
    if arguments.is_empty()
        || arguments
            .iter()
            .any(|part| part == "size" || part == "browser")
    {
        artefacts::build(workspace)?;
    }
    if arguments.is_empty() || arguments.iter().any(|part| part == "plugins") {
        plugins::build(workspace)?;
    }
    // The command line is measured too, so both are built together.
    let programs = ["--bin", "windlass", "--bin", "bench"];
    let mut cargo = workspace.native_cargo()?;
    process::run(
        cargo
            .args(["build", "--release", "--workspace"])
            .args(programs),
    )?;
    let mut program = workspace.command(workspace.target.join("release/bench"));
    if arguments.is_empty() || arguments.iter().any(|part| part == "engine") {
        match setup::sdk::original_engine(workspace) {
            Ok(original) => _ = program.env("WINDLASS_ORIGINAL_ENGINE", original),
            Err(error) => progress::warning(&format!("no original engine: {error:#}")),
        }
    }
    process::run(program.args(arguments))?;
    Ok(ExitCode::SUCCESS)
}
