use std::{fs, os::unix::fs::symlink};

use windlass_fuzz::Mutator;

use super::*;

#[allow(clippy::unwrap_used)]
fn workspace() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("w");
    for made in ["tools", "src", "my tools", "app"] {
        fs::create_dir_all(root.join(made)).unwrap();
    }
    for file in [
        "tools/fmt.sh",
        "my tools/x.sh",
        "tools/run.js",
        "app/__main__.py",
        "src/a.rs",
    ] {
        fs::write(root.join(file), "").unwrap();
    }
    symlink("tools/fmt.sh", root.join("f")).unwrap();
    (folder, root)
}

#[test]
fn perm_4_every_file_that_a_command_names_is_a_place() {
    let (_folder, root) = workspace();
    let roots = [root.as_path()];
    let words = Words::new(&roots, None);
    for (command, expected) in [
        ("./tools/fmt.sh", &["tools/fmt.sh"][..]),
        ("sh -c 'cd tools && ./fmt.sh'", &["tools/fmt.sh"]),
        ("bash -e tools/fmt.sh", &["tools/fmt.sh"]),
        ("\"$CLAUDE_PROJECT_DIR\"/tools/fmt.sh x", &["tools/fmt.sh"]),
        ("${CLAUDE_PROJECT_DIR}/tools/fmt.sh", &["tools/fmt.sh"]),
        (
            "$(git rev-parse --show-toplevel)/tools/fmt.sh",
            &["tools/fmt.sh"],
        ),
        ("'my tools/x.sh'", &["my tools/x.sh"]),
        ("my\\ tools/x.sh", &["my tools/x.sh"]),
        ("lint --config=tools/fmt.sh", &["tools/fmt.sh"]),
        ("node tools/run", &["tools/run.js"]),
        ("python3 app", &["app/__main__.py"]),
        ("python -m app", &["app.py", "app/__main__.py"]),
        ("./f", &["f", "tools/fmt.sh"]),
        ("./not-yet.sh", &["not-yet.sh"]),
        ("sh later", &["later"]),
    ] {
        let found = words.of_commands([command].into_iter()).places;
        for name in expected {
            assert!(
                found.contains(&root.join(name)),
                "{command}: {name}: {found:?}"
            );
        }
    }
    for command in [
        "cargo fmt",
        "prettier --write src",
        "npm test",
        "/usr/bin/env true",
        "date > /dev/null",
    ] {
        let found = words.of_commands([command].into_iter()).places;
        assert_eq!(found, Vec::<PathBuf>::new(), "{command}");
    }
    for (command, expected) in [
        ("$WINDLASS_NOT_SET/fmt-all", &["$…/fmt-all"][..]),
        ("`where`/fmt-all", &["`where`/fmt-all"]),
        ("D=tools; $D/fmt.sh", &[]),
        ("echo $?", &[]),
    ] {
        let unread = words.of_commands([command].into_iter()).unread;
        assert_eq!(unread, expected, "{command}");
    }
}

#[test]
fn perm_4_what_variables_lead_to_is_a_place() {
    let (_folder, root) = workspace();
    let roots = [root.as_path()];
    let words = Words::new(&roots, None);
    let at = |name: &str| root.join(name).display().to_string();
    for (name, value, expected) in [
        ("GIT_CONFIG_GLOBAL", at("gc"), Some("gc")),
        ("GIT_CONFIG_SYSTEM", at("gc"), Some("gc")),
        ("BASH_ENV", at("env.sh"), Some("env.sh")),
        ("XDG_CONFIG_HOME", at("conf"), Some("conf/git")),
        (
            "NODE_OPTIONS",
            format!("--require {}", at("tools/run.js")),
            Some("tools/run.js"),
        ),
        (
            "GIT_SSH_COMMAND",
            format!("sh {}", at("tools/fmt.sh")),
            Some("tools/fmt.sh"),
        ),
        ("ZDOTDIR", at("tools"), Some("tools")),
        ("GIT_DIR", at("g"), Some("g/hooks")),
        (
            "NODE_OPTIONS",
            format!("--import file://{}", at("tools/run.js")),
            Some("tools/run.js"),
        ),
        (
            "NODE_OPTIONS",
            "--require=./tools/run.js".into(),
            Some("tools/run.js"),
        ),
        ("HTTPS_PROXY", "http://proxy.corp:3128".into(), None),
        ("ANTHROPIC_BASE_URL", "https://host/v1".into(), None),
        (
            "DBUS_SESSION_BUS_ADDRESS",
            "unix:path=/run/bus".into(),
            None,
        ),
        ("XDG_DATA_DIRS", "/usr/share:src".into(), None),
        ("GIT_INDEX_FILE", at("g/index"), None),
        ("PYTHONPATH", at("src"), None),
        ("LESSHISTFILE", at("src/a.rs"), None),
        ("PWD", at(""), None),
    ] {
        let found = words.of_variables([(name.to_owned(), value)].into_iter());
        match expected {
            Some(expected) => {
                assert!(found.contains(&root.join(expected)), "{name}: {found:?}")
            }
            None => assert_eq!(found, Vec::<PathBuf>::new(), "{name}"),
        }
    }
}

#[test]
fn whatever_a_command_is_its_words_are_found_without_harm() {
    let seeds = [
        b"sh -c 'a \"b\" $(c)/d' && \"$X\"/\\' | e".to_vec(),
        b"'''\"\"\\".to_vec(),
    ];
    for number in 0..2_000 {
        let variant = Mutator::new(number).variant(&seeds);
        let text = String::from_utf8_lossy(&variant);
        assert!(words(&text).len() <= text.len() + 1);
    }
}
