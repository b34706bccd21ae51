//! Grep and Glob through the component over 5,000 files, against ripgrep.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::table::{Goal, Table, in_turns};

const FILES: usize = 5_000;

pub(crate) fn measure(table: &mut Table) {
    if Command::new("rg")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        table.skipped("grep and glob over 5,000 files", "ripgrep is not installed");
        return;
    }
    let folder = tree();
    let grep = serde_json::json!({ "pattern": "needle_[0-9]+", "path": folder, "output_mode": "content", "head_limit": 0 });
    let (ours, rg) = in_turns(
        9,
        || component_ms(&folder, "Grep", &grep),
        || rg_ms(&folder, &["-j1", "-n", "needle_[0-9]+"]),
    );
    table.pair(
        "grep 5,000 files (rg -j1)",
        "ms",
        ours,
        rg,
        Goal::AtMost(3.0),
    );
    let glob = serde_json::json!({ "pattern": "**/*.rs", "path": folder });
    let (ours, rg) = in_turns(
        9,
        || component_ms(&folder, "Glob", &glob),
        || rg_ms(&folder, &["--files", "--sort", "modified", "-g", "**/*.rs"]),
    );
    table.pair(
        "glob 5,000 files (rg --files --sort modified)",
        "ms",
        ours,
        rg,
        Goal::AtMost(3.0),
    );
    let _ = std::fs::remove_dir_all(&folder);
}

/// A project of 5,000 source files of about 2 KB in 100 folders, a match in every tenth.
fn tree() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("windlass-bench-{}", std::process::id()));
    for i in 0..FILES {
        let dir = folder.join(format!("package_{:02}/module_{}", i % 20, (i / 20) % 5));
        std::fs::create_dir_all(&dir).expect("a temporary folder");
        let mut text = String::new();
        for line in 0..50 {
            text.push_str(&format!(
                "    let value_{line} = compute({i}, {line}); // plain\n"
            ));
        }
        if i % 10 == 0 {
            text.push_str(&format!("let hay = needle_{i};\n"));
        }
        std::fs::write(dir.join(format!("file_{i}.rs")), text).expect("a file");
    }
    folder
}

fn rg_ms(folder: &Path, args: &[&str]) -> f64 {
    let start = Instant::now();
    let status = Command::new("rg")
        .args(args)
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(status.is_ok_and(|s| s.success()), "ripgrep failed");
    start.elapsed().as_secs_f64() * 1e3
}

fn component_ms(folder: &Path, tool: &str, input: &serde_json::Value) -> f64 {
    crate::component::files_call_ms(folder, tool, input)
}
