//! Names that a program takes from its arguments in a way of its own: what it would open by them is closed all the same, and what it
//! makes by them is a place all the same.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use serde_json::Value;

use crate::places::{EDITS, bash, tried, tried_with};

/// A workspace that is a repository, with another one in `sub`. Each `secret.txt` is closed to reading.
fn repositories(work: &Path) {
    for folder in ["", "sub", "a/b"] {
        fs::create_dir_all(work.join(folder)).unwrap();
        fs::write(work.join(folder).join("secret.txt"), "SECRET\n").unwrap();
        fs::write(work.join(folder).join("open.txt"), "open\n").unwrap();
    }
    for folder in ["sub", ""] {
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let identity = ["-c", "user.name=a", "-c", "user.email=a@a.test"];
            git.args(identity).args(arguments);
            let done = git.current_dir(work.join(folder)).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "1"]);
    }
}

/// What a session has written into the file `shown` by this line; the model calls nothing else.
fn shown(rules: &[&str], line: &str) -> String {
    let mut flags = EDITS.to_vec();
    flags.extend(["--disallowedTools", "Read(secret.txt)"]);
    for rule in rules {
        flags.extend(["--allowedTools", rule]);
    }
    let (windlass, _) = tried(repositories, &flags, &[bash(&format!("{line} > shown"))]);
    windlass.file("shown")
}

#[test]
fn perm_4_git_is_shown_no_closed_file_however_its_name_is_written() {
    let git = ["Bash(git:*)", "Bash(echo:*)", "Bash(xargs:*)"];
    let long = format!("git show HEAD:{}secret.txt --", "./".repeat(2500));
    for line in [
        long.as_str(),
        "git -C . -C . -C . -C . -C sub show HEAD:./secret.txt",
        "git --git-dir=sub/.git show HEAD:secret.txt",
        "git --git-dir sub/.git show HEAD:secret.txt",
        "echo sub | xargs -I{} git -C {} show HEAD:./secret.txt",
        "echo sub | xargs -I{} git --git-dir={}/.git show HEAD:secret.txt",
        "cd a; git show HEAD:./b/../b/secret.txt",
        "cp -r sub/.git kept && git --git-dir=kept show HEAD:secret.txt",
        "mkdir -p m && cp -r sub/.git m/sub && git -C m/sub show HEAD:secret.txt",
    ] {
        assert!(!shown(&git, line).contains("SECRET"), "{line:.80}");
    }
    for line in [
        "git -C . -C . -C . -C . -C sub show HEAD:./open.txt",
        "git --git-dir=sub/.git show HEAD:open.txt",
        "echo open.txt | xargs -I{} git show HEAD:{}",
    ] {
        assert_eq!(shown(&git, line), "open\n", "{line}");
    }
}

#[test]
fn perm_4_no_closed_file_is_read_behind_the_signs_of_another_language() {
    let rules = ["Bash(tar:*)", "Bash(perl:*)", "Bash(sed:*)"];
    for line in [
        "tar --dir=a --dir=b -cf - secret.txt",
        "tar -Ca -Cb -cf - secret.txt",
        "perl -pe1 '<secret.txt'",
        "perl -pe1 'secret.txt'",
    ] {
        assert!(!shown(&rules, line).contains("SECRET"), "{line}");
    }
    let line = "perl -pe1 open.txt";
    assert_eq!(shown(&rules, line), "open\n");
}

/// A session in which edits are accepted and these programs are allowed tries the lines one by one, each beside files that it needs.
fn changed(rules: &[&str], lines: &[&str], places: &[&str]) {
    let arrange = |work: &Path| {
        repositories(work);
        for folder in [".claude", ".git/hooks"] {
            fs::create_dir_all(work.join(folder)).unwrap();
        }
        for name in ["evil", "json", ".mcp.", "settings.json"] {
            fs::write(work.join(name), "evil\n").unwrap();
        }
        // A line that is not allowed leaves nothing behind: git knows these files.
        let added = Command::new("git")
            .args(["add", "-f", "evil", "settings.json"])
            .current_dir(work)
            .status();
        assert!(added.unwrap().success());
    };
    let calls = |line| -> Vec<Value> { vec![bash(line), bash("touch went-on")] };
    for line in lines {
        let mut flags = EDITS.to_vec();
        for rule in rules {
            flags.extend(["--allowedTools", rule]);
        }
        let (windlass, done) = tried(arrange, &flags, &calls(line));
        let made = |place: &&&str| windlass.workspace.path().join(place).exists();
        assert_eq!(places.iter().find(made), None, "{line}: {done:?}");
        assert!(made(&&"went-on"), "{line}: {done:?}");
        // The line does what it is there for.
        let (windlass, done) = tried_with(
            arrange,
            |_, command| {
                command.env("IS_SANDBOX", "1");
            },
            &["--dangerously-skip-permissions"],
            &calls(line),
        );
        let made = |place: &&str| windlass.workspace.path().join(place).exists();
        assert!(places.iter().any(made), "{line}: {done:?}");
    }
}

#[test]
fn perm_4_git_writes_no_place_whatever_it_is_told() {
    changed(
        &["Bash(git:*)", "Bash(printf:*)", "Bash(xargs:*)"],
        &[
            r"printf '%s\n' log HEAD HEAD mv evil .mcp.json | xargs -n 3 git",
            r"printf 'log\nmv evil .mcp.json\n' | xargs -L1 git",
            "git --attr-source log mv settings.json .claude/settings.json",
            "git mv settings.json .claude/settings.json",
            "git --work-tree=.claude reset --hard",
            "git --work-tree .claude reset --hard",
            "git --work-tree=.git/hooks checkout HEAD -- open.txt",
        ],
        &[
            ".mcp.json",
            ".claude/settings.json",
            ".claude/open.txt",
            ".git/hooks/open.txt",
        ],
    );
}

#[test]
fn perm_4_no_suffix_and_no_unpacking_makes_a_place() {
    changed(
        &[
            "Bash(sed:*)",
            "Bash(cp:*)",
            "Bash(mv:*)",
            "Bash(gzip:*)",
            "Bash(gunzip:*)",
            "Bash(find:*)",
        ],
        &[
            "sed -ijson s/x/y/ .mcp.",
            "sed --in-place=json s/x/y/ .mcp.",
            "cp -b -S json evil .mcp.",
            "cp -bSjson evil .mcp.",
            "mv --suffix=json -b evil .mcp.",
            "S=json; cp -b -S $S evil .mcp.",
            "cp evil x.gz; gzip -c evil > .mcp.json.gz && gunzip -k .mcp.json.gz",
            "find . -name evil -exec cp {} .mcp.json \\;",
        ],
        &[".mcp.json"],
    );
}

/// Files that may be read and not written are not overwritten either by what is put into their folder.
#[test]
fn perm_4_what_is_copied_or_moved_lands_on_no_closed_file() {
    let arrange = |work: &Path| {
        for folder in ["conf/sub", "new/sub", "s/conf", "d"] {
            fs::create_dir_all(work.join(folder)).unwrap();
        }
        fs::write(work.join("conf/prod.yml"), "prod").unwrap();
        for name in ["new/prod.yml", "s/conf/prod.yml", "b", "new/open.yml"] {
            fs::write(work.join(name), "evil").unwrap();
        }
        symlink("../conf/prod.yml", work.join("d/b")).unwrap();
    };
    let lines = [
        "cp new/prod.yml conf",
        "cp -r new/. conf",
        "cp -rT new conf",
        "cp -r s/conf .",
        "cp -t conf new/prod.yml",
        "cp --target conf new/prod.yml",
        "(cd new && cp --parents prod.yml ../conf)",
        "install new/prod.yml conf",
        "ln -f new/prod.yml conf",
        "cp b d",
        "x=conf; cp -r new/. $x",
        "echo new/prod.yml | xargs cp -t conf",
        "timeout 5 /bin/cp -r new/. conf",
        "timeout 5 sh -c 'cp -r new/. conf'",
        "cp -bS .yml new/open.yml conf/prod && cp -bS .yml new/open.yml conf/prod",
        "mv new/prod.yml conf",
    ];
    let allowed = [
        "Bash(cp:*)",
        "Bash(mv:*)",
        "Bash(install:*)",
        "Bash(ln:*)",
        "Bash(timeout:*)",
        "Bash(/bin/cp:*)",
        "Bash(sh:*)",
        "Bash(xargs:*)",
        "Bash(echo:*)",
    ];
    for denied in ["Edit(conf/prod.yml)", "Edit(./other)"] {
        for line in lines {
            let mut flags = EDITS.to_vec();
            flags.extend(["--disallowedTools", denied]);
            for rule in &allowed[..] {
                flags.extend(["--allowedTools", rule]);
            }
            let calls = [bash(line), bash("cp new/open.yml conf")];
            let (windlass, done) = tried(arrange, &flags, &calls);
            let expected = if denied.contains("prod") {
                "prod"
            } else {
                "evil"
            };
            assert_eq!(windlass.file("conf/prod.yml"), expected, "{line}: {done:?}");
            assert_eq!(windlass.file("conf/open.yml"), "evil", "{line}: {done:?}");
        }
    }
    // Without a rule for commands: what the mode lets run.
    for line in &lines[..4] {
        let flags = [&EDITS[..], &["--disallowedTools", "Edit(conf/prod.yml)"]].concat();
        let (windlass, done) = tried(arrange, &flags, &[bash(line)]);
        assert_eq!(windlass.file("conf/prod.yml"), "prod", "{line}: {done:?}");
    }
}

#[test]
fn perm_4_xargs_gives_no_program_more_than_was_held_against_the_rules() {
    let rules = [
        "Bash(cat:*)",
        "Bash(printf:*)",
        "Bash(xargs:*)",
        "Bash(git:*)",
    ];
    for line in [
        r"printf 'a\0secret.txt' | xargs -0 -I{} -n2 cat",
        "printf secret.txt | xargs -I{} -L1 cat",
        "git diff HEAD:open.txt..HEAD:secret.txt",
    ] {
        assert!(!shown(&rules, line).contains("SECRET"), "{line}");
    }
    assert_eq!(
        shown(&rules, "printf open.txt | xargs -n1 -I{} cat {}"),
        "open\n"
    );
}
