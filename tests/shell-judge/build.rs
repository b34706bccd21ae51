//! Compiles the program that stands in for every other one. It is started some ten times for each generated line, so it
//! is linked statically where the system can do that, which halves the time it takes to start.

use std::{env, path::PathBuf, process::Command};

const SOURCE: &str = "src/fake/main.rs";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let out =
        PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where build scripts may write"));
    let program = out.join("fake");
    let links = |statically: &str| {
        let compiler = env::var_os("RUSTC").expect("cargo names the compiler");
        let mut command = Command::new(compiler);
        command.args([
            "--edition=2024",
            "-Copt-level=2",
            "-Cpanic=abort",
            "-Cstrip=symbols",
        ]);
        command.arg(format!("-Ctarget-feature={statically}crt-static"));
        let status = command.arg("-o").arg(&program).arg(SOURCE).status();
        status.is_ok_and(|status| status.success())
    };
    assert!(
        links("+") || links("-"),
        "the stand-in for programs does not compile"
    );
    println!("cargo::rustc-env=FAKE_PROGRAM={}", program.display());
}
