//! What a browser has to fetch.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use crate::table::{Goal, Table};

/// Modules that the test command builds, by what they are.
const MODULES: [(&str, &str); 2] = [
    ("browser module, gzip", "browser/windlass_browser_bg.wasm"),
    (
        "core alone (wasm32), gzip",
        "wasm/wasm32-unknown-unknown/wasm/windlass_wasm_core.wasm",
    ),
];

pub(crate) fn measure(table: &mut Table) {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    for (figure, path) in MODULES {
        match std::fs::read(target.join(path)) {
            Ok(bytes) => table.value(figure, "KiB", gzip_kib(&bytes), Goal::None),
            Err(_) => table.skipped(figure, "not built: run `cargo xtask test` before"),
        }
    }
}

fn gzip_kib(bytes: &[u8]) -> f64 {
    let child = Command::new("gzip")
        .arg("-9")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return f64::NAN;
    };
    let stdin = child.stdin.take();
    let owned = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.map(|mut pipe| pipe.write_all(&owned)));
    let packed = child.wait_with_output().map_or(0, |out| out.stdout.len());
    let _ = writer.join();
    packed as f64 / 1024.0
}
