//! The TypeScript types of the library for JavaScript.

use std::{fs, path::Path, process::Command};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn card_5_the_types_of_the_interfaces_are_those_of_the_wit() {
    let root = Path::new(ROOT);
    let mut node = Command::new("node");
    node.arg(root.join("tests/languages/wit-types.mjs"))
        .arg(root.join("wit"))
        // Where set-up installs jco.
        .arg(root.join("tests"));
    let made = node.output().unwrap();
    assert!(
        made.status.success(),
        "{} (`cargo xtask setup` installs jco)",
        String::from_utf8_lossy(&made.stderr)
    );
    let kept = fs::read_to_string(root.join("plugins/js/windlass-wit.d.ts")).unwrap();
    assert!(
        String::from_utf8_lossy(&made.stdout) == kept,
        "plugins/js/windlass-wit.d.ts is old: `node tests/languages/wit-types.mjs wit tests` prints the new one"
    );
}

/// The library itself fits the interfaces and the types that it says it has.
#[test]
fn card_5_the_library_for_javascript_fits_its_types() {
    let root = Path::new(ROOT);
    let tsc = crate::support::languages().join("node/node_modules/typescript/bin/tsc");
    let mut node = Command::new("node");
    node.arg(tsc)
        .args(["--noEmit", "--allowJs", "--checkJs", "--strict", "false"])
        .args([
            "--target",
            "es2023",
            "--lib",
            "es2023,esnext.disposable",
            "--types",
            "",
        ])
        .args(["--module", "esnext", "--moduleResolution", "bundler"]);
    for file in [
        "plugins/js/windlass-plugin.js",
        "plugins/words-js/app.js",
        "tests/languages/connected.js",
    ] {
        node.arg(root.join(file));
    }
    let checked = node.output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{said}");
}
