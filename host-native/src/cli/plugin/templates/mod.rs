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

const RUST_SDK: [&[(&str, &str)]; 3] = [
    sdk!("sdk/windlass-plugin/src" from "plugin-sdk":
        "bindings.rs", "call.rs", "config.rs", "declare.rs", "declared.rs", "event.rs", "export.rs", "hook.rs",
        "hook_function.rs", "http.rs", "lib.rs", "path.rs", "plugin.rs", "progress.rs", "secrets.rs", "state.rs", "testing.rs",
        "tool.rs", "tree.rs", "workspace.rs"),
    sdk!("sdk/windlass-plugin-macros/src" from "plugin-macros":
        "attributes.rs", "hook.rs", "input.rs", "lib.rs", "signature.rs", "text.rs", "tool.rs"),
    sdk!("sdk/windlass-plugin/wit" from "wit":
        "host/host.wit", "plugin/hooks.wit", "plugin/plugin.wit"),
];

const JS: &[(&str, &str)] = &[
    ("package.json", include_str!("js/package.json")),
    (".gitignore", include_str!("js/gitignore.txt")),
    ("app.js", include_str!("js/app.js")),
    ("tests/first.json", include_str!("js/first.json")),
];

const TS: &[(&str, &str)] = &[
    ("package.json", include_str!("ts/package.json")),
    ("tsconfig.json", include_str!("ts/tsconfig.json")),
    (".gitignore", include_str!("js/gitignore.txt")),
    ("src/plugin.ts", include_str!("ts/plugin.ts.txt")),
    ("tests/first.json", include_str!("js/first.json")),
];

const JS_SDK: [&[(&str, &str)]; 2] = [
    sdk!("sdk" from "plugin-js":
        "windlass-files.js", "windlass-hooks.js", "windlass-host.js", "windlass-http.js", "windlass-plugin.d.ts",
        "windlass-plugin.js", "windlass-state.js", "windlass-text.js", "windlass-wit.d.ts"),
    WIT,
];

const PYTHON: &[(&str, &str)] = &[
    ("requirements.txt", include_str!("python/requirements.txt")),
    (".gitignore", include_str!("python/gitignore.txt")),
    ("app.py", include_str!("python/app.py")),
    ("tests/first.json", include_str!("python/first.json")),
];

const PYTHON_SDK: [&[(&str, &str)]; 2] = [
    sdk!("sdk" from "plugin-python":
        "windlass_plugin/__init__.py", "windlass_plugin/config.py", "windlass_plugin/error.py", "windlass_plugin/hooks.py",
        "windlass_plugin/http.py", "windlass_plugin/plugin.py", "windlass_plugin/progress.py", "windlass_plugin/schema.py",
        "windlass_plugin/secrets.py", "windlass_plugin/state.py"),
    WIT,
];

/// The interfaces as the tools of JavaScript and Python look for them: one package, and the others in `deps`.
const WIT: &[(&str, &str)] = &[
    (
        "sdk/wit/hooks.wit",
        include_str!("../../../../wit/plugin/hooks.wit"),
    ),
    (
        "sdk/wit/plugin.wit",
        include_str!("../../../../wit/plugin/plugin.wit"),
    ),
    (
        "sdk/wit/deps/host/host.wit",
        include_str!("../../../../wit/host/host.wit"),
    ),
];

/// The files of a new plugin: path and text, in which `{{name}}` stands for its name.
pub(super) fn files(language: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (own, sdk): (_, &[&[_]]) = match language {
        Language::Rust => (RUST, &RUST_SDK),
        Language::Js => (JS, &JS_SDK),
        Language::Ts => (TS, &JS_SDK),
        Language::Python => (PYTHON, &PYTHON_SDK),
    };
    let sdk = sdk.iter().flat_map(|files| files.iter());
    own.iter().chain(sdk).copied().chain([MANIFEST])
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// Files of a folder, without folders (Python leaves one behind).
    fn listed(folder: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| entry.path().is_file());
        files
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn card_5_a_new_plugin_has_the_whole_sdk() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (language, folder, there) in [
            (Language::Rust, "plugin-sdk", "sdk/windlass-plugin/src/"),
            (
                Language::Rust,
                "plugin-macros",
                "sdk/windlass-plugin-macros/src/",
            ),
            (Language::Js, "plugin-js", "sdk/"),
            (Language::Ts, "plugin-js", "sdk/"),
            (
                Language::Python,
                "plugin-python/windlass_plugin",
                "sdk/windlass_plugin/",
            ),
            (Language::Js, "wit/plugin", "sdk/wit/"),
        ] {
            let written: BTreeSet<String> = files(language)
                .filter_map(|(path, _)| path.strip_prefix(there).map(str::to_owned))
                .filter(|name| !name.contains('/'))
                .collect();
            assert_eq!(written, listed(&root.join(folder)), "{folder}");
        }
    }
}
