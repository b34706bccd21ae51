//! What installed plugins cost at the start. Their components do not exist: whoever read one would fail.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    server::BenchServer,
    start::{binary, once},
    table::{Goal, Table, median},
};

const PLUGINS: usize = 1000;

const ROUNDS: usize = 15;

pub(crate) fn measure(table: &mut Table) {
    let figure = format!("{PLUGINS} installed plugins at the start, beyond a start with none");
    let Some(binary) = binary() else {
        table.skipped(&figure, "the windlass binary was not built");
        return;
    };
    let (none, many) = (tempfile::tempdir(), tempfile::tempdir());
    let none = none.expect("a folder without plugins");
    let many = many.expect("a folder for plugins");
    install(many.path());
    let server = BenchServer::start(0);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        without.extend(once(&binary, &server, Some(none.path())));
        with.extend(once(&binary, &server, Some(many.path())));
    }
    let of = |times: Vec<f64>| median(times.into_iter().skip(1).collect());
    table.value(&figure, "ms", of(with) - of(without), Goal::AtMost(10.0));
}

/// A lock file as `windlass plugin add` writes it.
fn install(configuration: &Path) {
    let plugins = (0..PLUGINS).map(|number| {
        let digest = format!("sha256:{number:064x}");
        let name = format!("plugin-{number}");
        let declaration = json!({
            "name": name, "version": "1.0.0", "wit": "0.1.0",
            "tools": [{
                "name": format!("Tool{number}"),
                "description": "Counts the lines of a file, and says how many there are.",
                "input_schema": {
                    "type": "object",
                    "properties": {"file_path": {"type": "string", "description": "The file."}},
                    "required": ["file_path"],
                },
                "annotations": {"readOnly": true},
                "paths": [{"field": "file_path", "access": "read"}],
            }],
            "grants": {"filesystem": "read"},
        });
        let plugin = json!({
            "version": "1.0.0", "source": format!("https://example.com/{name}.wasm"), "digest": digest,
            "asks": ["read files", format!("offer the tool Tool{number}")],
            "components": [{"digest": digest, "declaration": declaration}],
        });
        (name, plugin)
    });
    let plugins: serde_json::Map<String, Value> = plugins.collect();
    let folder = configuration.join("windlass/plugins");
    fs::create_dir_all(&folder).expect("the folder of plugins");
    let file = folder.join("installed.json");
    let lockfile = json!({"version": 1, "plugins": plugins});
    fs::write(&file, lockfile.to_string()).expect("the lock file");
    private(&file);
    private(&folder);
}

/// Only its owner may have written it.
#[cfg(unix)]
fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

#[cfg(not(unix))]
fn private(_path: &Path) {}
