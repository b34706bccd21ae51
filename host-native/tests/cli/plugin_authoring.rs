//! `windlass plugin new`, `build` and `test`.

use std::{fs, path::Path, process::Command};

use crate::support::{Done, Windlass};

/// Where what plugins depend on is compiled: one for all tests and runs.
const TARGET: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/plugins");

/// The command with what cargo needs, and without the network: what a plugin depends on is in every build of windlass.
pub(crate) fn with_cargo(mut command: Command) -> Command {
    let passed = ["CARGO_HOME", "RUSTUP_HOME", "WINDLASS_WASM_CARGO_TOOLCHAIN"];
    for name in passed {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // cargo and rustup look below the home directory, and the command has one of its own.
    let home = std::env::var_os("HOME").unwrap();
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if std::env::var_os(name).is_none() {
            command.env(name, Path::new(&home).join(folder));
        }
    }
    command
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", TARGET);
    command
}

#[test]
fn card_5_a_plugin_that_cannot_be_made_or_built_is_said_with_what_to_do() {
    let windlass = Windlass::new();
    let run = |args: &[&str]| Done::of(&with_cargo(windlass.command(args)).output().unwrap());
    for name in ["Count", "a/..", "1a", "a b", "a-"] {
        let done = run(&["plugin", "new", name]);
        assert!(
            done.complaint(3).contains("is no name of a plugin"),
            "{done:?}"
        );
    }
    fs::create_dir(windlass.workspace.path().join("there")).unwrap();
    let done = run(&["plugin", "new", "there"]);
    assert!(done.complaint(3).contains("exists already"), "{done:?}");
    let done = run(&["plugin", "build", "there"]);
    assert!(done.complaint(3).contains("has no Cargo.toml"), "{done:?}");
    let done = run(&["plugin", "build", "missing"]);
    assert!(done.complaint(3).contains("missing"), "{done:?}");
    let done = run(&["plugin", "test", "there"]);
    assert!(done.complaint(3).contains("has no test"), "{done:?}");

    for (test, wrong) in [
        ("{", "EOF"),
        (r#"{"calls": []}"#, "no calls"),
        (
            r#"{"calls": [{"tool": "A", "input": {}, "expects": {}}]}"#,
            "unknown field `expects`",
        ),
        (
            r#"{"files": {"../a": ""}, "calls": [{"tool": "A", "input": {}}]}"#,
            "no path below",
        ),
    ] {
        windlass.write("there/tests/a.json", test);
        let done = run(&["plugin", "test", "there"]);
        assert!(done.complaint(3).contains(wrong), "{wrong}: {done:?}");
    }
    let entries = fs::read_dir(windlass.workspace.path()).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["there"]);
}

#[test]
fn card_5_a_name_and_a_folder_that_cannot_be_are_said_with_what_to_type_instead() {
    let windlass = Windlass::new();
    for path in [".", ".."] {
        let done = windlass.run(&["plugin", "new", path]);
        let complaint = done.complaint(3);
        assert!(complaint.contains(&format!("`{path}` is no name of a plugin")));
        assert!(complaint.contains("`windlass plugin new count`"));
    }
    // A folder of that name would not build in Rust, and does in the others.
    for name in ["windlass-plugin", "windlass-plugin-macros"] {
        let done = windlass.run(&["plugin", "new", name, "--lang", "rust"]);
        assert!(done.complaint(3).contains("name of a crate"), "{done:?}");
        let done = windlass.run(&["plugin", "new", name, "--lang", "python"]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    for command in ["build", "test"] {
        let done = windlass.run(&["plugin", command, "nope"]);
        let said = "there is no folder `nope`: `windlass plugin new nope` makes one";
        assert!(done.complaint(3).contains(said), "{done:?}");
    }
}

#[cfg(unix)]
#[test]
fn card_5_a_rust_that_does_not_run_is_said_in_its_own_words() {
    use std::os::unix::fs::PermissionsExt as _;

    let windlass = Windlass::new();
    assert_eq!(windlass.run(&["plugin", "new", "count"]).code, Some(0));
    let problem = "rustup could not choose a version of rustc to run";
    let program = format!("#!/bin/sh\necho 'error: {problem}' >&2\necho help >&2\nexit 1\n");
    windlass.write("bin/rustc", &program);
    let bin = windlass.workspace.path().join("bin");
    fs::set_permissions(bin.join("rustc"), fs::Permissions::from_mode(0o755)).unwrap();
    for command in ["build", "test"] {
        let mut command = windlass.command(&["plugin", command, "count"]);
        let done = Done::of(&command.env("PATH", &bin).output().unwrap());
        let complaint = done.complaint(3);
        assert!(complaint.contains(problem), "{complaint}");
        assert!(complaint.contains("`rustup default stable`"), "{complaint}");
    }
}

/// The directory of the components that `cargo xtask` built: `$WINDLASS_PLUGINS`, else `plugins` in the target directory.
fn plugins() -> std::path::PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    std::env::var_os("WINDLASS_PLUGINS").map_or_else(|| target.join("plugins"), Into::into)
}

/// A program that `cargo xtask` installed for a language.
pub(crate) fn installed(program: &str) -> std::path::PathBuf {
    let program = plugins().join("../languages").join(program);
    assert!(
        program.is_file(),
        "{} is not there: `cargo xtask setup` installs it",
        program.display()
    );
    program
}

/// The component of the plugin `words`.
const WORDS: &str = "words/components/words.wasm";

/// The component after another build, in this environment.
fn built_again(windlass: &Windlass, programs: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let mut command = windlass.command(&["plugin", "build", "words"]);
    for (variable, program) in programs {
        command.env(variable, installed(program));
    }
    let done = Done::of(&command.envs(more.iter().copied()).output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    fs::read(windlass.workspace.path().join(WORDS)).unwrap()
}

/// Makes a plugin in a language and runs its first test, with these programs in place of those that would be installed.
fn new_plugin_passes_its_own_test(language: &str, programs: &[(&str, &str)]) -> Windlass {
    let windlass = Windlass::new();
    let done = windlass.run(&["plugin", "new", "words", "--lang", language]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut command = windlass.command(&["plugin", "test", "words"]);
    for (variable, program) in programs {
        command.env(variable, installed(program));
    }
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.ends_with(": all as expected\n"), "{done:?}");
    let first = fs::read(windlass.workspace.path().join(WORDS)).unwrap();
    assert!(built_again(&windlass, programs, &[]) == first);
    let done = windlass.run(&["plugin", "check", WORDS]);
    assert!(
        done.stdout
            .contains("CountLines: Counts the lines of a text file."),
        "{done:?}"
    );
    windlass
}

pub(crate) const COMPONENTIZE_QJS: (&str, &str) = (
    "WINDLASS_COMPONENTIZE_QJS",
    "node/node_modules/componentize-qjs/bin/componentize-qjs",
);
const ESBUILD: (&str, &str) = ("WINDLASS_ESBUILD", "node/node_modules/esbuild/bin/esbuild");
pub(crate) const COMPONENTIZE_PY: (&str, &str) =
    ("WINDLASS_COMPONENTIZE_PY", "python/bin/componentize-py");

#[test]
fn card_5_a_new_plugin_in_javascript_passes_its_own_test() {
    new_plugin_passes_its_own_test("js", &[COMPONENTIZE_QJS]);
}

#[test]
fn card_5_a_new_plugin_in_python_passes_its_own_test() {
    new_plugin_passes_its_own_test("python", &[COMPONENTIZE_PY]);
}

#[test]
fn card_5_a_new_plugin_in_typescript_passes_its_own_test_and_has_types() {
    let windlass = new_plugin_passes_its_own_test("ts", &[COMPONENTIZE_QJS, ESBUILD]);
    let tsc = installed("node/node_modules/typescript/bin/tsc");
    let check = || {
        let arguments = [tsc.to_str().unwrap(), "--noEmit", "--project", "words"];
        Done::of(&windlass.program("node", &arguments).output().unwrap())
    };
    let done = check();
    assert_eq!(done.code, Some(0), "{done:?}");
    // It is TypeScript, and the types of the library are looked at.
    let folder = windlass.workspace.path().join("words");
    let source = fs::read_to_string(folder.join("src/plugin.ts")).unwrap();
    for (right, wrong, fault) in [
        ("file_path: string;", "file_path: number;", "'number'"),
        ("access: \"read\"", "access: \"look\"", "'\"look\"'"),
        ("filesystem: \"read\"", "files: \"read\"", "'files'"),
        ("files.readText", "files.readTexts", "'readTexts'"),
    ] {
        assert!(source.contains(right), "{right}");
        windlass.write("words/src/plugin.ts", &source.replace(right, wrong));
        let done = check();
        assert_ne!(done.code, Some(0), "{wrong}: {done:?}");
        assert!(done.stdout.contains(fault), "{wrong}: {done:?}");
    }
}

#[test]
fn card_5_a_plugin_that_is_built_twice_has_the_same_digest() {
    // It was built twice already.
    let windlass = new_plugin_passes_its_own_test("js", &[COMPONENTIZE_QJS]);
    let path = windlass.workspace.path().join(WORDS);
    let build = |agent: &[(&str, &str)]| built_again(&windlass, &[COMPONENTIZE_QJS], agent);
    let first = fs::read(&path).unwrap();
    // A test is no part of the component, a source is.
    windlass.write("words/tests/other.json", "{}");
    assert!(build(&[]) == first);
    let source = windlass.file("words/app.js");
    windlass.write("words/app.js", &format!("{source}// Changed.\n"));
    let second = build(&[]);
    assert!(second != first);
    // What somebody put in its place is not taken for it, and an agent, whose programs may be others, has nothing kept.
    let section = [0, 2, 1, b'x'];
    fs::write(&path, [&second[..], &section].concat()).unwrap();
    let third = build(&[]);
    assert!(!third.ends_with(&section));
    assert!(build(&[("WINDLASS_AGENT", "1")]) != third);
}

/// The component of an example.
pub(crate) fn example(name: &str) -> std::path::PathBuf {
    let component = plugins().join(format!("{name}.wasm"));
    assert!(
        component.is_file(),
        "{} is not there: `cargo xtask test --only tests` builds it",
        component.display()
    );
    component
}

#[test]
fn card_5_the_examples_in_rust_pass_their_own_tests() {
    for name in ["policy", "audit", "images", "weather", "sqlite"] {
        passes_its_own_tests(name, &example(name));
    }
}

#[test]
fn card_5_the_examples_in_javascript_and_python_pass_their_own_tests() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["words-js", "csv-python"] {
        let built = fs::read(example(name)).unwrap();
        let component = folder.path().join(format!("{name}.wasm"));
        let declared = windlass::plugins::with_declaration(&built).unwrap();
        fs::write(&component, declared).unwrap();
        passes_its_own_tests(name, &component);
    }
}

/// Runs the tests in the folder of an example.
fn passes_its_own_tests(name: &str, component: &Path) {
    let windlass = Windlass::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../plugins")
        .join(name);
    let arguments = ["plugin", "test", folder.to_str().unwrap(), "--component"];
    let done = windlass.run(&[&arguments[..], &[component.to_str().unwrap()]].concat());
    assert_eq!(done.code, Some(0), "{name}: {done:?}");
    assert!(
        done.stdout.ends_with(": all as expected\n"),
        "{name}: {done:?}"
    );
}
