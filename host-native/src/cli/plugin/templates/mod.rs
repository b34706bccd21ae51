//! The files of a new plugin.

use super::language::Language;

/// The manifest of the folder, in every language.
const MANIFEST: (&str, &str) = (".claude-plugin/plugin.json", include_str!("plugin.json"));

const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("rust/Cargo.toml.txt")),
    (".gitignore", include_str!("rust/gitignore.txt")),
    ("src/lib.rs", include_str!("rust/lib.rs.txt")),
    ("tests/first.json", include_str!("rust/first.json")),
    (
        "sdk/windlass-plugin/Cargo.toml",
        include_str!("rust/sdk.toml.txt"),
    ),
    (
        "sdk/windlass-plugin-macros/Cargo.toml",
        include_str!("rust/macros.toml.txt"),
    ),
];

/// A file of the SDK: the crates are written into a plugin's folder, so that they fit the windlass that builds it.
macro_rules! sdk {
    ($folder:literal from $here:literal: $($file:literal),+ $(,)?) => {
        &[$((concat!($folder, "/", $file), include_str!(concat!("../../../../", $here, "/", $file)))),+]
    };
}

const SDK: [&[(&str, &str)]; 3] = [
    sdk!("sdk/windlass-plugin/src" from "plugin-sdk":
        "bindings.rs", "call.rs", "declare.rs", "declared.rs", "export.rs", "lib.rs", "path.rs", "plugin.rs", "testing.rs",
        "tool.rs", "tree.rs", "workspace.rs"),
    sdk!("sdk/windlass-plugin-macros/src" from "plugin-macros":
        "attributes.rs", "input.rs", "lib.rs", "signature.rs", "text.rs", "tool.rs"),
    sdk!("sdk/windlass-plugin/wit" from "wit":
        "host/host.wit", "plugin/plugin.wit"),
];

/// The files of a new plugin: path and text, in which `{{name}}` stands for its name.
pub(super) fn files(language: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (own, sdk): (_, &[_]) = match language {
        Language::Rust => (RUST, &SDK),
    };
    let sdk = sdk.iter().flat_map(|files| files.iter());
    own.iter().chain(sdk).copied().chain([MANIFEST])
}

/// Where the first tool is.
pub(super) fn main_source(language: Language) -> &'static str {
    match language {
        Language::Rust => "src/lib.rs",
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// Files of a folder, relative to it.
    fn listed(folder: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn card_5_a_new_plugin_has_the_whole_sdk() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (folder, there) in [
            ("plugin-sdk", "sdk/windlass-plugin/src/"),
            ("plugin-macros", "sdk/windlass-plugin-macros/src/"),
        ] {
            let written: BTreeSet<String> = files(Language::Rust)
                .filter_map(|(path, _)| path.strip_prefix(there).map(str::to_owned))
                .collect();
            assert_eq!(written, listed(&root.join(folder)), "{folder}");
        }
    }
}
