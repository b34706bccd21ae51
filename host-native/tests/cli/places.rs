//! Places that become authority, by the ways that lead to them: links, pointers, names that each process sees in its own way.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::{Done, Windlass, model};

/// What a session does in which a model calls tools one after the other, and nobody is asked.
pub(crate) fn tried(
    arrange: impl FnOnce(&Path),
    flags: &[&str],
    calls: &[Value],
) -> (Windlass, Done) {
    tried_with(arrange, |_, _| {}, flags, calls)
}

/// The same with a changed environment.
pub(crate) fn tried_with(
    arrange: impl FnOnce(&Path),
    environment: impl FnOnce(&Path, &mut Command),
    flags: &[&str],
    calls: &[Value],
) -> (Windlass, Done) {
    let called = |call: &Value| json!({"respond": {"content": [call]}});
    let mut exchanges: Vec<Value> = calls.iter().map(called).collect();
    exchanges.push(json!({"respond": "Done."}));
    let server = model(&json!({ "exchanges": exchanges }).to_string());
    let windlass = Windlass::asking(&server);
    arrange(windlass.workspace.path());
    let mut command = windlass.command(&[&["-p", "go"], flags].concat());
    let bin = windlass.workspace.path().join("venv/bin");
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", bin.display()));
    environment(windlass.workspace.path(), &mut command);
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    (windlass, done)
}

pub(crate) fn bash(line: &str) -> Value {
    json!({"type": "tool_use", "name": "Bash", "input": {"command": line}})
}

pub(crate) fn write(path: &str) -> Value {
    let input = json!({"file_path": path, "content": "evil"});
    json!({"type": "tool_use", "name": "Write", "input": input})
}

pub(crate) const EDITS: [&str; 2] = ["--permission-mode", "acceptEdits"];

#[test]
fn perm_4_no_link_of_a_process_leads_to_a_place_or_a_closed_file() {
    let arrange = |work: &Path| {
        fs::create_dir_all(work.join(".git")).unwrap();
        fs::create_dir(work.join("src")).unwrap();
        fs::write(work.join(".git/config"), "plain").unwrap();
        fs::write(work.join("src/b.txt"), "plain").unwrap();
        fs::write(work.join("evil"), "evil").unwrap();
        symlink("/proc/self/cwd", work.join("here")).unwrap();
    };
    let calls = [
        bash("cd .git && cp ../evil /proc/self/cwd/config"),
        bash("cd .git && cp ../evil ../here/config"),
        bash("cd src && cp ../evil /proc/self/cwd/b.txt"),
        bash("cd src && rm /proc/thread-self/cwd/b.txt"),
        bash("cp evil /dev/fd/0/config < .git"),
        bash("cp evil copied"),
    ];
    let flags = [&EDITS[..], &["--disallowedTools", "Edit(src/b.txt)"]].concat();
    let (windlass, done) = tried(arrange, &flags, &calls);
    assert_eq!(windlass.file(".git/config"), "plain", "{done:?}");
    assert_eq!(windlass.file("src/b.txt"), "plain", "{done:?}");
    assert_eq!(windlass.file("copied"), "evil", "{done:?}");
}

#[test]
fn perm_4_a_link_to_what_is_not_there_is_what_it_leads_to() {
    let arrange = |work: &Path| {
        fs::create_dir_all(work.join(".git/hooks")).unwrap();
        fs::write(work.join("a.txt"), "evil").unwrap();
        symlink(".git/hooks/post-commit", work.join("notes")).unwrap();
        symlink("closed", work.join("open")).unwrap();
    };
    let calls = [
        bash("sort -o notes a.txt"),
        bash("sort -o open a.txt"),
        bash("sort -o sorted a.txt"),
    ];
    let flags = [
        "--allowedTools",
        "Bash(sort:*)",
        "--disallowedTools",
        "Edit(./closed)",
    ];
    let (windlass, done) = tried(arrange, &flags, &calls);
    for name in [".git/hooks/post-commit", "closed"] {
        assert_eq!(windlass.file(name), "", "{name}: {done:?}");
    }
    assert_eq!(windlass.file("sorted"), "evil\n", "{done:?}");
}

#[test]
fn perm_4_what_links_pointers_and_the_search_path_lead_to_is_a_place() {
    let arrange = |work: &Path| {
        for folder in ["conf", "kept", "githooks", "venv/bin"] {
            fs::create_dir_all(work.join(folder)).unwrap();
        }
        symlink("conf", work.join(".claude")).unwrap();
        symlink("mcp", work.join(".mcp.json")).unwrap();
        fs::write(work.join(".git"), "gitdir: kept").unwrap();
        let settings = "[core]\n hooksPath = githooks\n[include]\n path = ../included\n";
        fs::write(work.join("kept/config"), settings).unwrap();
    };
    let places = [
        "conf/settings.json",
        "mcp",
        "kept/config",
        "githooks/post-commit",
        "included",
        "venv/bin/touch",
    ];
    let mut calls: Vec<Value> = places.iter().map(|name| write(name)).collect();
    calls.extend(
        places
            .iter()
            .map(|name| bash(&format!("echo evil > {name}"))),
    );
    calls.push(write("other"));
    let (windlass, done) = tried(arrange, &EDITS, &calls);
    for name in places {
        assert!(!windlass.file(name).contains("evil"), "{name}: {done:?}");
    }
    assert_eq!(windlass.file("other"), "evil", "{done:?}");
}

#[test]
fn perm_4_nobody_trusts_a_folder_or_directs_git_in_the_home_directory() {
    let places = [
        ".claude.json",
        ".gitconfig",
        ".config/git/config",
        ".inputrc",
        ".bashrc",
    ];
    for name in places {
        let calls = [
            write(name),
            bash(&format!("echo evil > {name}")),
            bash(&format!("cp a.txt {name}")),
        ];
        let arrange = |work: &Path| fs::write(work.join("a.txt"), "evil").unwrap();
        let (windlass, done) = tried(arrange, &EDITS, &calls);
        assert_eq!(windlass.file(name), "", "{name}: {done:?}");
    }
}

#[test]
fn perm_4_each_program_of_a_command_is_held_by_itself() {
    let arrange = |work: &Path| {
        fs::create_dir_all(work.join(".git")).unwrap();
        fs::write(work.join("a.txt"), "evil").unwrap();
    };
    let calls = [
        bash("p=.git; find a.txt -exec sort -o $p/config a.txt ';' -exec true ';'"),
        bash("p=.git; timeout 5 sort -o $p/config a.txt"),
    ];
    let (windlass, done) = tried(
        arrange,
        &["--allowedTools", "Bash(sort:*),Bash(find:*)"],
        &calls,
    );
    assert_eq!(windlass.file(".git/config"), "", "{done:?}");
}

/// What `xargs` reads is held like what stands in the line: names, and names in options.
#[test]
fn perm_4_what_xargs_reads_is_held_like_other_arguments() {
    let arrange = |work: &Path| {
        fs::create_dir_all(work.join(".git/hooks")).unwrap();
        fs::write(work.join("a.txt"), "evil").unwrap();
        fs::write(work.join("secret.txt"), "hidden").unwrap();
    };
    let calls = [
        "printf 'a.txt .git/hooks/one' | xargs cp",
        "printf 'hooks/two' | xargs -I{} cp a.txt .git/{}",
        "echo '-o.git/hooks/three' | xargs -n1 sort a.txt",
        "printf 'a.txt\\0.git/hooks/four' | xargs -0 cp",
        "printf '.gi\"t/hooks/fi\"ve' | xargs cp a.txt",
        "echo secret.txt > list; xargs cp -t copied < list",
        "printf 'secret.txt' | xargs -n1 sort -o copied",
        "printf 'a.txt \\v.git/hooks/six' | xargs cp",
        "printf 'a.txt \\f.git/hooks/seven' | xargs cp",
        "printf 'a.txt \\r.git/hooks/eight' | xargs cp",
        "printf 'a.txt\\n.git/hooks/nine' | xargs -dq cp",
        "printf 'a.txt copy' | xargs cp",
    ];
    let calls: Vec<Value> = calls.iter().map(|line| bash(line)).collect();
    let rules = "Bash(cp:*),Bash(sort:*),Bash(printf:*),Bash(echo:*),Edit(./list)";
    let flags = [
        "--allowedTools",
        rules,
        "--disallowedTools",
        "Read(./secret.txt)",
    ];
    let (windlass, done) = tried(arrange, &flags, &calls);
    for name in [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ] {
        assert_eq!(
            windlass.file(&format!(".git/hooks/{name}")),
            "",
            "{name}: {done:?}"
        );
    }
    assert_eq!(windlass.file("copied"), "", "{done:?}");
    assert_eq!(windlass.file("copy"), "evil", "{done:?}");
}

/// What stands in the workspace is no wrapper, whatever it is called.
#[test]
fn perm_4_no_program_of_the_workspace_runs_because_of_its_name() {
    use std::os::unix::fs::PermissionsExt as _;
    let names = [
        "env", "timeout", "nice", "nohup", "setsid", "stdbuf", "xargs", "sh", "bash", "command",
    ];
    let arrange = |work: &Path| {
        for name in names {
            let path = work.join(name);
            fs::write(&path, "#!/bin/sh\ntouch CAN\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    };
    let calls: Vec<Value> = (names.iter())
        .flat_map(|name| {
            [
                format!("./{name} cat a.txt"),
                format!("./{name} -c 'cat a.txt'"),
                format!("./{name} touch new"),
                format!("timeout 5 ./{name} cat a.txt"),
            ]
        })
        .map(|line| bash(&line))
        .collect();
    for flags in [
        &["--allowedTools", "Bash(cat:*)"][..],
        &[
            "--allowedTools",
            "Bash(cat:*)",
            "--permission-mode",
            "acceptEdits",
        ],
        &[
            "--allowedTools",
            "Bash(cat:*)",
            "--disallowedTools",
            "Bash(touch:*)",
            "--permission-mode",
            "dontAsk",
        ],
    ] {
        let (windlass, done) = tried(arrange, flags, &calls);
        assert_eq!(windlass.file("CAN"), "", "{flags:?}: {done:?}");
        assert!(
            !windlass.workspace.path().join("CAN").exists(),
            "{flags:?}: {done:?}"
        );
    }
}

#[test]
fn perm_4_no_command_and_no_tool_reads_the_key_of_the_seals() {
    let key = ".local/share/windlass/components.key";
    let at_home = |line: &str| line.replace("KEY", &format!("$HOME/{key}"));
    let lines = [
        "cat KEY",
        "k=KEY; cat $k",
        "cat $(echo KEY)",
        "cd ~/.local/share/windlass; cat components.key",
        "cat < KEY",
        "cp KEY made",
        "timeout 5 cat KEY",
        "cat link",
    ];
    let mut calls: Vec<Value> = lines.iter().map(|line| bash(&at_home(line))).collect();
    calls.push(json!({"type": "tool_use", "name": "Read", "input": {"file_path": "link"}}));
    calls.push(json!({"type": "tool_use", "name": "Grep", "input": {"pattern": ".", "path": "link", "output_mode": "content"}}));
    let called = |call: &Value| json!({"respond": {"content": [call]}});
    let mut exchanges: Vec<Value> = calls.iter().map(called).collect();
    exchanges.push(json!({"respond": "Done."}));
    let server = model(&json!({ "exchanges": exchanges }).to_string());
    let windlass = Windlass::asking(&server);
    let path = windlass.home().join(key);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "TOP-SECRET-SEAL").unwrap();
    symlink(&path, windlass.workspace.path().join("link")).unwrap();
    let allowed = "Bash(cat:*),Bash(cp:*),Bash(cd:*),Bash(echo:*),Read,Grep";
    let done = windlass.run(&[
        "-p",
        "go",
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        allowed,
    ]);
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    for request in server.requests() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!body.contains("TOP-SECRET"), "{body}");
    }
    assert_eq!(windlass.file("made"), "");
}

#[test]
fn perm_4_the_folders_of_the_program_are_changed_by_nobody_unasked() {
    let folders = [".config/windlass", ".local/share/windlass"];
    let mut calls: Vec<Value> = (folders.iter())
        .map(|folder| bash(&format!("touch ~/{folder}/made")))
        .collect();
    calls.extend(folders.map(|folder| bash(&format!("echo x > $HOME/{folder}/made"))));
    let called = |call: &Value| json!({"respond": {"content": [call]}});
    let mut exchanges: Vec<Value> = calls.iter().map(called).collect();
    exchanges.push(json!({"respond": "Done."}));
    for flags in [
        &["--allowedTools", "Bash"][..],
        &["--allowedTools", "Bash(touch:*),Bash(echo:*),Edit(~/**)"],
    ] {
        let server = model(&json!({ "exchanges": exchanges }).to_string());
        let windlass = Windlass::asking(&server);
        for folder in folders {
            fs::create_dir_all(windlass.home().join(folder)).unwrap();
        }
        let done = windlass.run(&[&["-p", "go"], flags].concat());
        assert_eq!(done.stdout, "Done.\n", "{done:?}");
        for folder in folders {
            let made = windlass.home().join(folder).join("made");
            assert!(!made.exists(), "{folder}, {flags:?}: {done:?}");
        }
    }
}
