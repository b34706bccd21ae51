//! Files from which something takes orders that starts beside the tools, or that links, settings and variables lead to; and what
//! edits accepted let pass beside them.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
};

use serde_json::{Value, json};

use crate::{
    places::{EDITS, bash, tried, tried_with, write},
    support::Windlass,
};

fn read(path: &str) -> Value {
    json!({"type": "tool_use", "name": "Read", "input": {"file_path": path}})
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    let input = json!({"file_path": path, "old_string": old, "new_string": new});
    json!({"type": "tool_use", "name": "Edit", "input": input})
}

/// Reads each and writes it, then by a command.
fn attempts(names: &[&str]) -> Vec<Value> {
    let both = names.iter().flat_map(|name| {
        let redirected = format!("echo evil > {name}");
        [read(name), write(name), bash(&redirected)]
    });
    both.collect()
}

fn made(path: &Path, folders: &[&str], files: &[(&str, &str)]) {
    for folder in folders {
        fs::create_dir_all(path.join(folder)).unwrap();
    }
    for (name, text) in files {
        fs::write(path.join(name), text).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(path.join(name), executable).unwrap();
    }
}

#[track_caller]
fn untouched(windlass: &Windlass, names: &[&str], done: &crate::support::Done) {
    for name in names {
        assert!(!windlass.file(name).contains("evil"), "{name}: {done:?}");
    }
}

/// The program of a hook runs without a question, so nobody writes it without one.
#[test]
fn perm_4_what_the_commands_of_hooks_and_servers_name_is_a_place() {
    let arrange = |work: &Path| {
        let script = "#!/bin/sh\ntrue\n";
        let files = [
            ("tools/fmt.sh", script),
            ("tools/server.py", ""),
            ("src.rs", ""),
            ("e/tools/fmt.sh", "evil\n"),
            ("x/fmt.sh", "evil\n"),
        ];
        made(work, &["tools", "e/tools", "x"], &files);
        symlink("tools", work.join("lk")).unwrap();
    };
    let hook = json!({"type": "command", "command": "sh -c 'cd tools && ./fmt.sh'"});
    let settings = json!({"hooks": {"PostToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    let settings = settings.to_string();
    let servers = json!({"mcpServers": {"s": {"command": "python3", "args": ["tools/server.py"]}}});
    let servers = servers.to_string();
    let flags = [
        &EDITS[..],
        &["--settings", &settings, "--mcp-config", &servers],
    ]
    .concat();
    let names = ["tools/fmt.sh", "tools/server.py"];
    let mut calls = attempts(&names);
    calls.push(bash("rm -f tools/fmt.sh"));
    // In a folder that is put over theirs, or takes it away.
    calls.push(bash(
        "mkdir -p e/tools && echo evil > e/tools/fmt.sh && echo evil > fmt.sh",
    ));
    for line in [
        "cp -r e/tools .",
        "cp -rT e .",
        "cp -r e/. .",
        "cp x/fmt.sh tools",
        "cp x/fmt.sh lk",
        "x=e; cp -r $x/tools .",
        "rm -r tools",
        "mv tools t2",
        "rm -r tools; mv e/tools .",
    ] {
        calls.push(bash(line));
    }
    calls.push(write("other"));
    let (windlass, done) = tried(arrange, &flags, &calls);
    untouched(&windlass, &names, &done);
    assert!(
        windlass.workspace.path().join("tools/fmt.sh").exists(),
        "{done:?}"
    );
    assert_eq!(windlass.file("e/tools/fmt.sh"), "evil\n", "{done:?}");
    assert_eq!(windlass.file("other"), "evil", "{done:?}");
}

/// In a sandbox commands run unasked, and the hook runs outside of it.
#[cfg(target_os = "linux")]
#[test]
fn conf_5_no_confined_command_writes_what_a_hook_starts() {
    if !crate::sandbox::is_confined() {
        return;
    }
    let arrange = |work: &Path| made(work, &["tools"], &[("tools/fmt.sh", "#!/bin/sh\ntrue\n")]);
    let hook = json!({"type": "command", "command": "./tools/fmt.sh"});
    let hooks = json!({"PostToolUse": [{"matcher": "Write", "hooks": [hook]}]});
    let settings = json!({"hooks": hooks, "sandbox": {"enabled": true}}).to_string();
    let flags = [&EDITS[..], &["--settings", &settings]].concat();
    let calls = [
        bash("f=fmt.sh; printf '#!/bin/sh\\ntouch evil\\n' > \"tools/$f\""),
        bash("f=fmt.sh; mv tools t; mkdir tools; echo evil > \"tools/$f\"; chmod +x \"tools/$f\""),
        write("other"),
    ];
    let (windlass, done) = tried(arrange, &flags, &calls);
    untouched(&windlass, &["tools/fmt.sh"], &done);
    assert!(!windlass.workspace.path().join("evil").exists(), "{done:?}");
    assert_eq!(windlass.file("other"), "evil", "{done:?}");
}

#[test]
fn perm_4_what_is_a_place_by_the_name_of_a_link_is_one() {
    let arrange = |work: &Path| {
        made(work, &["sub", "conf/fish"], &[]);
        for (link, target) in [
            ("sub/.claude", "../conf"),
            ("sub/.ssh", "../conf"),
            (".bashrc", "conf/bashrc"),
            (".envrc", "conf/envrc"),
            (".ssh", "conf/ssh"),
        ] {
            symlink(target, work.join(link)).unwrap();
        }
        made(work, &[".config"], &[]);
        symlink("../conf/fish", work.join(".config/fish")).unwrap();
    };
    let names = [
        "sub/.claude/settings.json",
        "sub/.ssh/authorized_keys",
        "conf/bashrc",
        "conf/envrc",
        "conf/ssh",
        "conf/fish/config.fish",
    ];
    let mut calls = attempts(&names);
    calls.push(write("conf/other"));
    let (windlass, done) = tried(arrange, &EDITS, &calls);
    untouched(&windlass, &names, &done);
    assert_eq!(windlass.file("conf/other"), "evil", "{done:?}");
}

#[test]
fn perm_4_what_repositories_below_the_workspace_lead_to_is_a_place() {
    let arrange = |work: &Path| {
        let pointer = ("tree/.git", "gitdir: ../kept\n");
        let config = ("sub/.git/config", "[core]\n\thooksPath = hk\n");
        let head = "ref: refs/heads/main\n";
        let files = [
            pointer,
            config,
            ("sub/.git/HEAD", head),
            ("kept/HEAD", head),
            (".bare/HEAD", head),
        ];
        let folders = [
            "sub/hk",
            "sub/.git/objects",
            "sub/.git/refs",
            "tree",
            "kept/objects",
            "kept/refs",
            ".bare/objects",
            ".bare/refs",
        ];
        made(work, &folders, &files);
    };
    let names = [
        "sub/hk/pre-commit",
        "kept/hooks/pre-commit",
        "kept/config",
        ".bare/hooks/pre-commit",
    ];
    let mut calls = attempts(&names);
    calls.push(write("sub/other"));
    let (windlass, done) = tried(arrange, &EDITS, &calls);
    untouched(&windlass, &names, &done);
    assert_eq!(windlass.file("sub/other"), "evil", "{done:?}");
}

#[test]
fn perm_4_what_flags_and_variables_lead_to_is_a_place() {
    let arrange = |work: &Path| {
        let files = [
            ("s.json", "{}"),
            ("m.json", "{}"),
            ("gc", ""),
            ("env.sh", ""),
            ("conf/git/config", ""),
        ];
        made(work, &["conf/git"], &files);
    };
    let environment = |work: &Path, command: &mut Command| {
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "gc"),
            ("XDG_CONFIG_HOME", "conf"),
            ("BASH_ENV", "env.sh"),
        ] {
            command.env(name, work.join(value));
        }
    };
    let flags = [
        &EDITS[..],
        &["--settings", "s.json", "--mcp-config", "m.json"],
    ]
    .concat();
    let names = ["s.json", "m.json", "gc", "env.sh", "conf/git/config"];
    let mut calls = attempts(&names);
    calls.push(write("other"));
    let (windlass, done) = tried_with(arrange, environment, &flags, &calls);
    untouched(&windlass, &names, &done);
    assert_eq!(windlass.file("other"), "evil", "{done:?}");
}

/// An address in a variable names no file of the workspace (`http`), which commands with addresses would then be said to change.
#[test]
fn perm_4_addresses_in_variables_keep_no_command_from_running() {
    let environment = |_: &Path, command: &mut Command| {
        command.env("HTTPS_PROXY", "http://127.0.0.1:9");
        command.env("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
    };
    let flags = ["--allowedTools", "Bash(git clone:*)", "Bash(cp:*)"];
    let calls = [bash("git clone http://127.0.0.1:9/x || cp a ran")];
    let arrange = |work: &Path| made(work, &[], &[("a", "a")]);
    let (windlass, done) = tried_with(arrange, environment, &flags, &calls);
    assert!(windlass.workspace.path().join("ran").exists(), "{done:?}");
}

#[test]
fn perm_4_a_folder_with_places_is_not_removed_unasked() {
    let arrange = |work: &Path| {
        let files = [("sub/.claude/settings.json", "{}"), ("free/a", "")];
        made(work, &["sub/.claude", "free"], &files);
    };
    let calls = [
        bash("rm -rf sub"),
        bash("rm -r sub/.cl*"),
        bash("rm -rf free"),
    ];
    let (windlass, done) = tried(arrange, &EDITS, &calls);
    let work = windlass.workspace.path();
    assert!(work.join("sub/.claude/settings.json").exists(), "{done:?}");
    assert!(!work.join("free").exists(), "{done:?}");
}

/// A rule that closes a name in every folder is no reason to ask about each file.
#[test]
fn perm_2_edits_go_on_beside_a_rule_that_closes_a_name_anywhere() {
    let arrange = |work: &Path| {
        let files = [
            ("a.txt", "a"),
            ("src/b.txt", "b"),
            ("old.o", ""),
            ("dir/x", ""),
            ("keys/.env", "hidden"),
        ];
        made(work, &["src", "dir", "keys"], &files);
    };
    let calls = [
        bash("touch new.txt"),
        bash("mkdir src/x"),
        bash("cp a.txt copy.txt"),
        bash("mv src/b.txt moved.txt"),
        bash("rm a.txt"),
        bash("rm *.o"),
        bash("cp -r dir dir2"),
        bash("rm -rf dir"),
        bash("mv keys open"),
        bash("cp -r keys open"),
        bash("rm -rf keys"),
    ];
    let flags = [&EDITS[..], &["--disallowedTools", "Read(.env)"]].concat();
    let (windlass, done) = tried(arrange, &flags, &calls);
    let work = windlass.workspace.path();
    for name in [
        "new.txt",
        "src/x",
        "copy.txt",
        "moved.txt",
        "dir2/x",
        "keys/.env",
    ] {
        assert!(work.join(name).exists(), "{name}: {done:?}");
    }
    for name in ["a.txt", "old.o", "dir", "open"] {
        assert!(!work.join(name).exists(), "{name}: {done:?}");
    }
    assert!(done.stderr.contains("Read(.env)"), "{done:?}");
}

/// A file is the same by every name that leads to it.
#[test]
fn tool_3_a_file_that_was_read_through_a_link_is_changed_through_it() {
    let arrange = |work: &Path| {
        let files = [
            ("conf/rc", "old\n"),
            ("real/f.txt", "old\n"),
            ("plain", "old\n"),
        ];
        made(work, &["conf", "real"], &files);
        symlink("conf/rc", work.join("l")).unwrap();
        symlink("real", work.join("rl")).unwrap();
        symlink("plain", work.join("p")).unwrap();
    };
    let calls = [
        read("l"),
        edit("l", "old", "new"),
        edit("conf/rc", "new", "newer"),
        read("rl/f.txt"),
        write("rl/f.txt"),
        read("plain"),
        edit("p", "old", "new"),
    ];
    let (windlass, done) = tried(arrange, &EDITS, &calls);
    for (name, expected) in [
        ("conf/rc", "newer\n"),
        ("real/f.txt", "evil"),
        ("plain", "new\n"),
    ] {
        assert_eq!(windlass.file(name), expected, "{done:?}");
    }
}

/// A workspace that was entered through a link is known by that name too.
#[test]
fn tool_1_a_workspace_is_reached_by_the_name_of_the_link_that_led_there() {
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("L");
    let arrange = |work: &Path| {
        made(work, &["real"], &[("real/f.txt", "old\n")]);
        symlink(work, &link).unwrap();
    };
    let environment = |_: &Path, command: &mut Command| {
        command.current_dir(&link);
    };
    let path = link.join("real/f.txt");
    let path = path.to_str().unwrap();
    let calls = [read(path), edit(path, "old", "new")];
    let (windlass, done) = tried_with(arrange, environment, &EDITS, &calls);
    assert_eq!(windlass.file("real/f.txt"), "new\n", "{done:?}");
}
