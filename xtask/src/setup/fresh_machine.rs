//! Tests the set-up of Debian's compiler on simulated machines (`fresh_machine/stand-in`): whatever the initial
//! state, the result is a matching toolchain or an error that says what to do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use super::debian::TOOLCHAIN;
use super::machine::Machine;
use super::release::Release;
use super::wasm::{Wish, ensure_on};
use crate::wasm_toolchain::WasmToolchain;
use crate::workspace::Workspace;

const NEW: &str = "1.96";
const OLD: &str = "1.85";

/// A Debian without Rust packages, and without access to rustup's servers.
struct Fresh {
    root: TempDir,
    machine: Machine,
}

impl Fresh {
    /// `lists`: the version in the existing package lists. `mirror`: the newest version of the mirror.
    fn new(lists: &str, mirror: &str) -> Self {
        let root = TempDir::new().expect("a temporary folder");
        let at = |path: &str| root.path().join(path);
        let stand_in =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src/setup/fresh_machine/stand-in");
        fs::create_dir_all(at("bin")).expect("a folder");
        for name in ["apt-get", "rustup", "rustc"] {
            symlink(&stand_in, at("bin").join(name)).expect("a link");
        }
        fs::create_dir_all(at("in-use/lib/rustlib/host/bin")).expect("a folder");
        fs::write(at("in-use/lib/rustlib/host/bin/rust-lld"), "").expect("a file");
        fs::write(at("lists"), lists).expect("a file");
        fs::write(at("mirror"), mirror).expect("a file");
        let machine = Machine {
            apt_get: Some(at("bin/apt-get")),
            rustup: at("bin/rustup"),
            rustc: at("bin/rustc"),
            debian: at("usr"),
            oldest: Release::of_compiler("release: 1.95.0").expect("a release"),
        };
        Self { root, machine }
    }

    /// A machine that was set up, with the recorded calls cleared.
    fn ready() -> Self {
        let fresh = Self::new(NEW, NEW);
        fresh.is_made_ready();
        fresh.forget_calls();
        fresh
    }

    fn ensure(&self, wish: Wish) -> anyhow::Result<WasmToolchain> {
        ensure_on(&Workspace::at(self.root.path()), &self.machine, wish)
    }

    /// Checks that set-up succeeds, and returns the calls it made.
    #[track_caller]
    fn is_made_ready(&self) -> Vec<String> {
        let toolchain = self.ensure(Wish::default()).expect("it can be set up");
        assert_eq!(toolchain, WasmToolchain::named(TOOLCHAIN));
        let library = self.path("usr/lib/rustlib/wasm32-unknown-unknown/lib");
        let built_for = fs::read_to_string(library.join("libstd-1.rlib"));
        assert_eq!(built_for.expect("the library"), self.read("installed"));
        assert!(!library.join("libstd_stub-1.rlib").exists());
        assert!(self.path("usr/lib/rustlib/host/bin/rust-lld").exists());
        let linked = self.read(&format!("links/{TOOLCHAIN}"));
        assert_eq!(Path::new(linked.trim()), self.path("usr"));
        self.read("calls").lines().map(str::to_owned).collect()
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).expect("a file");
    }

    fn forget_calls(&self) {
        self.write("calls", "");
    }
}

#[test]
fn old_package_lists_are_brought_up_to_date_before_the_first_install() {
    let fresh = Fresh::new(OLD, NEW);
    assert_eq!(
        fresh.is_made_ready(),
        ["apt-get update", "apt-get install", "build of 1.96"]
    );
}

#[test]
fn an_old_version_that_was_installed_and_linked_is_replaced() {
    let fresh = Fresh::new(OLD, OLD);
    // The state after an earlier attempt: installed, linked, and with a library.
    let earlier = Fresh {
        machine: Machine {
            oldest: Release::of_compiler("release: 1.80.0").expect("a release"),
            ..fresh.machine
        },
        ..fresh
    };
    earlier.is_made_ready();
    earlier.forget_calls();
    let later = Fresh {
        machine: Machine {
            oldest: Release::of_compiler("release: 1.95.0").expect("a release"),
            ..earlier.machine
        },
        ..earlier
    };
    later.write("mirror", NEW);
    assert_eq!(
        later.is_made_ready(),
        ["apt-get update", "apt-get install", "build of 1.96"]
    );
}

#[test]
fn where_there_is_no_newer_version_the_error_says_what_to_do() {
    let fresh = Fresh::new(OLD, OLD);
    for _ in 0..2 {
        let error = fresh.ensure(Wish::default()).expect_err("1.85 is too old");
        let words = format!("{error:#}");
        for wanted in ["is 1.85", "needs Rust 1.95", "`rustup target add"] {
            assert!(words.contains(wanted), "{words}");
        }
    }
    assert!(!fresh.path("links").exists(), "nothing was linked");
    assert!(!fresh.read("calls").contains("build"), "nothing was built");
}

#[test]
fn an_install_that_fails_names_the_command_to_run() {
    let fresh = Fresh::new(NEW, NEW);
    fs::remove_file(fresh.path("mirror")).expect("it is there");
    // The lists cannot be updated, but the existing ones name a suitable version.
    fresh.is_made_ready();
    let fresh = Fresh::new(NEW, NEW);
    fs::remove_file(fresh.path("mirror")).expect("it is there");
    fs::remove_file(fresh.path("lists")).expect("it is there");
    let error = fresh.ensure(Wish::default()).expect_err("there is nothing");
    let words = format!("{error:#}");
    assert!(
        words.contains("run `apt-get update && apt-get install rustc-web cargo-web rust-web-src`"),
        "{words}"
    );
}

#[test]
fn where_everything_is_ready_nothing_is_called() {
    let fresh = Fresh::ready();
    assert!(fresh.is_made_ready().is_empty());
}

#[test]
fn a_library_of_another_compiler_is_built_anew() {
    let fresh = Fresh::ready();
    fresh.write("installed", "1.97");
    fs::create_dir_all(fresh.path("target/wasm")).expect("a folder");
    // An interrupted build of the library, too.
    fs::create_dir_all(fresh.path("target/wasm-std/target")).expect("a folder");
    assert_eq!(fresh.is_made_ready(), ["build of 1.97"]);
    assert!(
        !fresh.path("target/wasm").exists(),
        "what was built with the other library is of no use"
    );
}

#[test]
fn a_library_that_is_not_whole_is_built_anew() {
    let library = "usr/lib/rustlib/wasm32-unknown-unknown/lib";
    type Break = fn(&Path);
    let broken: [(&str, Break); 4] = [
        ("shortened", |library| {
            fs::write(library.join("libcore-1.rlib"), "").expect("a file");
        }),
        ("missing", |library| {
            fs::remove_file(library.join("liballoc-1.rlib")).expect("it is there");
        }),
        ("without its stamp", |library| {
            fs::remove_file(library.join(".windlass-std")).expect("it is there");
        }),
        ("never moved to its place", |library| {
            fs::rename(library, library.with_file_name("lib.new")).expect("it is there");
        }),
    ];
    for (how, break_it) in broken {
        let fresh = Fresh::ready();
        break_it(&fresh.path(library));
        assert_eq!(fresh.is_made_ready(), ["build of 1.96"], "{how}");
    }
}

#[test]
fn a_link_that_goes_elsewhere_or_nowhere_is_made_anew() {
    for target in ["/no/such/toolchain", "in-use"] {
        let fresh = Fresh::ready();
        fresh.write(&format!("links/{TOOLCHAIN}"), target);
        assert!(fresh.is_made_ready().is_empty(), "{target}");
    }
}

#[test]
fn a_linker_that_has_gone_is_borrowed_anew() {
    let fresh = Fresh::ready();
    let linker = fresh.path("usr/lib/rustlib/host/bin/rust-lld");
    fs::remove_file(&linker).expect("it is there");
    symlink("/no/such/linker", &linker).expect("a link");
    assert!(fresh.is_made_ready().is_empty());
}

#[test]
fn packages_that_were_removed_are_installed_again() {
    let fresh = Fresh::ready();
    fs::remove_dir_all(fresh.path("usr/bin")).expect("it is there");
    assert_eq!(fresh.is_made_ready(), ["apt-get update", "apt-get install"]);
}

#[test]
fn a_toolchain_that_the_environment_names_is_looked_at_too() {
    let fresh = Fresh::ready();
    let named = |name: &str| Wish {
        named: Some(name.to_owned()),
        ..Wish::default()
    };
    let toolchain = fresh.ensure(named(TOOLCHAIN)).expect("it will do");
    assert_eq!(toolchain, WasmToolchain::named(TOOLCHAIN));

    fresh.write("installed", OLD);
    let error = fresh.ensure(named(TOOLCHAIN)).expect_err("it is old");
    let words = format!("{error:#}");
    assert!(
        words.contains("is Rust 1.85") && words.contains("needs 1.95"),
        "{words}"
    );
    let error = fresh.ensure(named("none")).expect_err("there is none");
    assert!(format!("{error:#}").contains("unset it"), "{error:#}");
}
