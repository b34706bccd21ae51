//! What nobody judged does not run and is not opened.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use windlass::{
    bash::plan::{Ending, Refused},
    core::tool::{Access, CommandPlan, DenyPattern, PlannedFile},
    files::resolve,
};
use windlass_shell::{Part, Runs, Script, Word};

use super::support::{Done, Folder};

fn done(folder: &Folder, plan: &CommandPlan) -> Done {
    let (done, _) = folder.run(plan).unwrap_or_else(|why| panic!("{why}"));
    done
}

/// A program of the folder, which makes the file `CAN` if it ever runs.
fn trap(folder: &Folder, name: &str) {
    let path = folder.path().join(name);
    fs::write(&path, "#!/bin/sh\n/usr/bin/touch CAN\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The plan of a line that may not read what is below `secret`.
fn plan_without_secret(folder: &Folder, line: &str) -> CommandPlan {
    let mut plan = folder.plan(line);
    plan.deny.push(DenyPattern {
        pattern: format!("{}/secret/**", folder.text()),
        access: Access::Read,
    });
    plan
}

fn ran(folder: &Folder) -> bool {
    folder.path().join("CAN").exists()
}

/// Programs that only read get every name of a repository; the others none that becomes authority.
#[test]
fn perm_4_what_only_reads_is_given_the_files_of_a_repository() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for program in ["md5sum", "wc -c", "grep -c main", "od -c", "sha256sum"] {
        let line = format!("find . -path './.git/*' -type f -print0 | xargs -0 {program}");
        let done = folder
            .by_plan(&line)
            .unwrap_or_else(|why| panic!("{line}: {why}"));
        assert_eq!(done, folder.by_bash(&line), "{line}");
    }
    for program in ["touch -c", "tee", "sed -i s/a/b/"] {
        let line = format!("find . -path './.git/*' -type f -print0 | xargs -0 {program}");
        let done = folder
            .by_plan(&line)
            .unwrap_or_else(|why| panic!("{line}: {why}"));
        assert!(
            format!("{done:?}").contains("nothing was done"),
            "{line}: {done:?}"
        );
    }
}

#[test]
fn a_file_that_was_not_planned_is_not_opened() {
    for line in [
        "echo x > out",
        "echo x >> out",
        "cat < a.txt",
        "{ echo x; } > out",
        "echo $(cat < a.txt)",
    ] {
        let folder = Folder::new();
        let mut plan = folder.plan(line);
        plan.files.clear();
        let done = done(&folder, &plan);
        assert!(
            done.stderr.contains("nobody judged this file"),
            "{line}: {done:?}"
        );
        assert!(!folder.path().join("out").exists(), "{line}");
        assert!(!done.stdout.contains("one"), "{line}: {done:?}");
    }
}

#[test]
fn a_file_that_may_be_read_is_not_written() {
    let folder = Folder::new();
    let mut plan = folder.plan("echo x > a.txt");
    for file in &mut plan.files {
        file.access = Access::Read;
    }
    done(&folder, &plan);
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
}

#[test]
fn a_link_that_appears_after_judging_is_not_followed() {
    let outside = Folder::empty();
    let secret = outside.path().join("secret");
    // The file itself, and a folder on the way to it.
    for (line, swap) in [
        ("echo x > d/x.txt", "d/x.txt"),
        ("echo x > d/e/z.txt", "d/e"),
        ("echo x > d/e/new", "d"),
        ("cat < d/x.txt", "d/x.txt"),
        ("rm -rf d && mkdir d && echo x > d/x.txt", "none"),
    ] {
        let folder = Folder::new();
        let plan = folder.plan(line);
        for name in ["x.txt", "z.txt", "new"] {
            fs::write(outside.path().join(name), "secret\n").unwrap();
        }
        fs::create_dir_all(outside.path().join("e")).unwrap();
        fs::write(outside.path().join("e/new"), "secret\n").unwrap();
        fs::write(&secret, "secret\n").unwrap();
        let at = folder.path().join(swap);
        if swap == "none" {
            assert_eq!(done(&folder, &plan).ending, Ending::Code(0), "{line}");
            continue;
        }
        match at.is_dir() {
            true => {
                fs::remove_dir_all(&at).unwrap();
                symlink(outside.path(), &at).unwrap();
            }
            false => {
                fs::remove_file(&at).unwrap();
                symlink(&secret, &at).unwrap();
            }
        }
        let done = done(&folder, &plan);
        assert!(done.stderr.contains("leads elsewhere"), "{line}: {done:?}");
        assert!(!done.stdout.contains("secret"), "{line}: {done:?}");
        for name in ["secret", "x.txt", "z.txt", "e/new"] {
            let text = fs::read_to_string(outside.path().join(name)).unwrap();
            assert_eq!(text, "secret\n", "{line}");
        }
    }
}

#[test]
fn a_link_that_the_line_itself_makes_is_not_followed() {
    let outside = Folder::empty();
    for line in [
        "cp -r evil d && touch d/l/x",
        "cp -r evil d; mkdir d/l/x",
        "cp -r evil d; cp a.txt d/l/x",
        "cp -r evil d; mv a.txt d/l/x",
        "cp -r evil d; rm d/l/y",
    ] {
        let folder = Folder::empty();
        fs::write(folder.path().join("a.txt"), "a").unwrap();
        fs::write(outside.path().join("y"), "y").unwrap();
        fs::create_dir(folder.path().join("evil")).unwrap();
        symlink(outside.path(), folder.path().join("evil/l")).unwrap();
        let mut plan = folder.plan(line);
        for operand in ["d", "d/l/x", "d/l/y", "a.txt"] {
            plan.files.push(PlannedFile {
                written: format!("{}/{operand}", folder.text()),
                real: resolve(&folder.text(), operand).unwrap(),
                access: Access::Write,
            });
        }
        let done = done(&folder, &plan);
        assert_eq!(done.ending, Ending::Code(1), "{line}: {done:?}");
        assert!(
            done.stderr
                .contains("leads elsewhere than when it was judged"),
            "{line}: {done:?}"
        );
        assert!(
            !outside.path().join("x").exists() && outside.path().join("y").exists(),
            "{line}"
        );
    }
}

#[test]
fn a_directory_that_was_swapped_is_not_entered() {
    let outside = Folder::empty();
    let folder = Folder::new();
    let mut plan = folder.plan("cd d && touch here; pwd");
    plan.files.push(PlannedFile {
        written: folder.text() + "/d",
        real: folder.text() + "/d",
        access: Access::Read,
    });
    fs::remove_dir_all(folder.path().join("d")).unwrap();
    symlink(outside.path(), folder.path().join("d")).unwrap();
    let done = done(&folder, &plan);
    assert!(done.stderr.contains("when it was judged"), "{done:?}");
    assert_eq!(done.stdout, "HERE\n");
    assert!(!outside.path().join("here").exists());
}

#[test]
fn what_was_expanded_is_never_an_option() {
    let folder = Folder::empty();
    for name in ["-rf", "-exec", "--help", "plain"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    for (line, expected) in [
        ("./show *", "./--help|./-exec|./-rf|plain|show|"),
        ("./show ?rf", "./-rf|"),
        ("./show [-]rf", "./-rf|"),
        ("./show $DASH", "./-dash|"),
        ("./show \"$DASH\"", "./-dash|"),
        ("./show ''$DASH", "./-dash|"),
        ("./show $EMPTY$DASH", "./-dash|"),
        ("./show \"$EMPTY\"\"$DASH\"", "./-dash|"),
        ("./show $(echo -rf)", "./-rf|"),
        ("./show \"$(echo -rf)\"", "./-rf|"),
        ("./show $(printf -- '-a -b\\n-c')", "./-a|./-b|./-c|"),
        (
            "for f in *; do ./show $f; done",
            "./--help|./-exec|./-rf|plain|show|",
        ),
        ("for f in -a; do ./show \"$f\"; done", "./-a|"),
        ("timeout 5 ./show $DASH", "./-dash|"),
        ("env ./show $DASH", "./-dash|"),
        ("command ./show $DASH", "./-dash|"),
        ("./show -a --b -- -c", "-a|--b|--|-c|"),
        ("./show $OPTIONS", "./-x|./--y|"),
        ("./show x$DASH", "x-dash|"),
        ("./show ~", "./-home|"),
        ("echo $DASH", "-dash\n"),
        ("printf '%s|' $DASH -rf", "-dash|-rf|"),
        ("test \"$DASH\" = -dash && echo same", "same\n"),
    ] {
        let show = folder.path().join("show");
        fs::write(&show, "#!/bin/sh\nprintf '%s|' \"$@\"\n").unwrap();
        fs::set_permissions(show, fs::Permissions::from_mode(0o755)).unwrap();
        let session = folder.session_with([("OPTIONS", "-x --y"), ("HOME", "-home")]);
        let (done, _) = folder.run_in(&folder.plan(line), &session).unwrap();
        assert_eq!(done.stdout, expected, "{line}: {done:?}");
    }
}

#[test]
fn what_was_expanded_is_no_option_of_a_builtin_either() {
    let folder = Folder::new();
    let plan = folder.plan("cd \"$DASH\"; printf -- $DASH");
    // A format that is not literal is refused, so the second is left away.
    assert!(matches!(folder.run(&plan), Err(Refused::Operand { .. })));
    let session = folder.session_with([("OLDPWD", "/"), ("DASH", "-")]);
    let (done, ended) = folder
        .run_in(&folder.plan("cd \"$DASH\""), &session)
        .unwrap();
    assert_eq!(done.ending, Ending::Code(1));
    assert_eq!(ended.directory, Some(folder.text()));
}

#[test]
fn behind_the_letter_of_an_option_stands_a_number_or_nothing_runs() {
    for value in ["1 -o CAN", "oCAN", "", "-1", "1x", "*", "１"] {
        let folder = Folder::new();
        let session = folder.session_with([("N", value)]);
        for line in [
            "sort -o$N a.txt",
            "sort -k$N a.txt",
            "timeout 5 sort -o$N a.txt",
        ] {
            let Ok(read) = windlass_shell::read(line) else {
                continue;
            };
            let (done, _) = folder
                .run_in(&folder.plan_of(read.script), &session)
                .unwrap();
            assert_eq!(done.ending, Ending::Code(126), "{line} {value}: {done:?}");
            assert!(!ran(&folder), "{line} {value}");
        }
    }
}

#[test]
fn functions_and_startup_files_have_no_say() {
    let folder = Folder::new();
    fs::write(folder.path().join("startup"), "touch CAN\n").unwrap();
    let startup = folder.text() + "/startup";
    let session = folder.session_with([
        ("BASH_FUNC_ls%%", "() { touch CAN; }"),
        ("BASH_FUNC_echo%%", "() { touch CAN; }"),
        ("BASH_FUNC_command%%", "() { touch CAN; }"),
        ("BASH_ENV", startup.as_str()),
        ("ENV", startup.as_str()),
        ("SHELLOPTS", "xtrace"),
        ("PS4", "$(touch CAN)"),
        ("CDPATH", "/"),
        ("GLOBIGNORE", "a*"),
    ]);
    for line in [
        "ls",
        "echo a",
        "command ls",
        "sh -c 'ls'",
        "bash -c 'ls; echo a'",
        "timeout 5 bash -c 'ls; echo a'",
        "cd d && ls",
        "echo a*",
        "env | sort",
        "./run.sh",
    ] {
        let (done, _) = folder.run_in(&folder.plan(line), &session).unwrap();
        assert!(!ran(&folder), "{line}: {done:?}");
        assert_eq!(done.ending, Ending::Code(0), "{line}: {done:?}");
        assert!(
            !done.stdout.contains("BASH_") && !done.stdout.contains("PS4"),
            "{line}: {done:?}"
        );
    }
}

#[test]
fn programs_of_the_folder_are_not_found_by_their_names() {
    for path in [
        ".:/usr/bin:/bin",
        ":/usr/bin:/bin",
        "/usr/bin:/bin:",
        "/usr/bin::/bin",
        "d:bin:/usr/bin:/bin",
        "./:../work:/usr/bin:/bin",
        "~:/usr/bin:/bin",
    ] {
        let folder = Folder::new();
        for name in [
            "ls", "cat", "true", "echo", "timeout", "bash", "sh", "nosuch", "d/ls",
        ] {
            trap(&folder, name);
        }
        let session = folder.session_with([("PATH", path)]);
        // The trap is one: whoever names it by its path falls into it.
        folder.run_in(&folder.plan("./ls"), &session).unwrap();
        assert!(ran(&folder));
        fs::remove_file(folder.path().join("CAN")).unwrap();
        for line in [
            "ls",
            "cat a.txt",
            "true",
            "echo a",
            "nosuch",
            "timeout 5 ls",
            "cd d && ls",
            "bash -c ls",
            "sh -c 'cat a.txt'",
            "env ls",
            "find . -maxdepth 0 -exec ls {} +",
            "cat a.txt | xargs ls",
            "timeout 5 sh -c ls",
            "echo $(ls)",
            "command ls",
            "find . -maxdepth 0 -exec nosuch \\;",
            "env nosuch",
            "timeout 5 nosuch",
        ] {
            let (done, _) = folder.run_in(&folder.plan(line), &session).unwrap();
            assert!(!ran(&folder), "{path} {line}: {done:?}");
        }
    }
}

#[test]
fn what_only_a_shell_does_is_refused_before_anything_runs() {
    let folder = Folder::new();
    for line in [
        "touch CAN; export A=1",
        "touch CAN; read x",
        "touch CAN; umask 0",
        "touch CAN; kill 1",
        "touch CAN; wait",
        "touch CAN; set -x",
        "touch CAN; type ls",
        "touch CAN; unset x",
        "touch CAN; (shift)",
        "touch CAN | local",
        "touch CAN && echo $(hash)",
        "touch CAN; for i in 1; do ulimit; done",
        "touch CAN; PATH=/tmp",
        "touch CAN; LD_PRELOAD=x ls",
        "touch CAN; BASH_ENV=x sh -c ls",
        "touch CAN; IFS=x",
        "touch CAN; cd -P d",
        "touch CAN; pwd -x",
        "touch CAN; printf '%f' 1",
        "touch CAN; printf \"$x\"",
        "touch CAN; printf -v PATH x",
        "touch CAN; test -v 'a[$(touch CAN)]'",
        "touch CAN; [ -R x ]",
        "touch CAN; command test -v 'a[$(touch CAN)]'",
        "touch CAN; command -p ls",
        "touch CAN; timeout 5 sh -c 'echo x > out'",
    ] {
        let Ok(line_read) = windlass_shell::read(line) else {
            continue;
        };
        let refused = folder.run(&folder.plan_of(line_read.script));
        assert!(refused.is_err(), "{line}: {refused:?}");
        assert!(!ran(&folder), "{line}");
    }
}

#[test]
fn trees_that_no_reader_makes_are_refused() {
    let folder = Folder::new();
    let base = |line: &str| folder.plan(line);
    let simple = |plan: &mut CommandPlan, change: &dyn Fn(&mut windlass_shell::Simple)| {
        let windlass_shell::Command::Simple(simple) = &mut plan.script.lists[0].first.commands[0]
        else {
            panic!("not simple");
        };
        change(simple);
    };
    let variable = || Word {
        parts: vec![Part::Variable {
            name: "WORDS".to_owned(),
            quoted: false,
        }],
    };
    let mut plans = Vec::new();
    // The program, or one that it starts, is computed.
    let mut plan = base("ls a");
    simple(&mut plan, &|simple| simple.words[0] = variable());
    plans.push(plan);
    let mut plan = base("timeout 5 ls");
    simple(&mut plan, &|simple| simple.words[2] = variable());
    plans.push(plan);
    // What runs is not where it is said to be.
    for (at, end) in [(9, 10), (2, 9), (2, 2), (u32::MAX, 0)] {
        let mut plan = base("timeout 5 ls");
        simple(&mut plan, &|simple| {
            simple.runs = vec![Runs::Program { at, end }]
        });
        plans.push(plan);
    }
    let mut plan = base("echo a");
    simple(&mut plan, &|simple| simple.words[1] = Word::literal("a\0b"));
    plans.push(plan);
    // Deeper than anybody writes.
    let mut script = Script::default();
    for _ in 0..2000 {
        let mut outer = base("echo a").script;
        outer.lists[0].first.commands[0] = windlass_shell::Command::Compound {
            body: windlass_shell::Compound::Subshell(script),
            redirections: Vec::new(),
        };
        script = outer;
    }
    plans.push(CommandPlan {
        script,
        ..base("echo a")
    });
    for plan in plans {
        assert!(folder.run(&plan).is_err(), "{plan:?}");
    }
}

#[test]
fn names_of_standard_streams_do_not_turn_reading_into_writing() {
    let folder = Folder::new();
    let mut plan = folder.plan("{ echo x > /dev/stdin; } < a.txt");
    for path in ["/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"] {
        plan.files.push(PlannedFile {
            written: path.to_owned(),
            real: path.to_owned(),
            access: Access::Write,
        });
    }
    done(&folder, &plan);
    let plan = CommandPlan {
        script: folder.plan("{ echo x > /proc/self/fd/0; } < a.txt").script,
        ..plan
    };
    done(&folder, &plan);
    assert_eq!(
        fs::read_to_string(folder.path().join("a.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
}

#[test]
fn a_file_that_a_rule_closes_is_not_named_by_what_words_become() {
    for line in [
        "x=secret/x; cat $x",
        "for f in secret/x; do cat $f; done",
        "cat sec*/x",
        "cat secret/$NONE\"x\"",
        "cat $(echo secret/x)",
        "cd secret; cat x",
        "(cd secret; cat x)",
        "bash -c 'cd secret; cat x'",
        "timeout 5 cat $(echo secret/x)",
        "cat link*",
        "cp -r evil copied && cat copied/link",
        "cat secret/..//secret/x",
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path().join("secret")).unwrap();
        fs::write(folder.path().join("secret/x"), "TOP").unwrap();
        symlink("secret/x", folder.path().join("link1")).unwrap();
        fs::create_dir(folder.path().join("evil")).unwrap();
        symlink("../secret/x", folder.path().join("evil/link")).unwrap();
        let mut plan = plan_without_secret(&folder, line);
        let done = done(&folder, &plan);
        assert!(!done.stdout.contains("TOP"), "{line}: {done:?}");
        assert!(
            done.stderr.contains("is closed by a rule"),
            "{line}: {done:?}"
        );
        plan.deny.clear();
        let done = self::done(&folder, &plan);
        assert!(done.stdout.contains("TOP"), "{line} says nothing");
    }
}

#[test]
fn perm_4_a_closed_place_of_the_program_is_not_named_by_what_words_become() {
    for line in [
        "x=own/key; cat $x",
        "cat own/k*",
        "cd own; cat key",
        "cat $(echo own/key)",
        "cat link1",
        "timeout 5 cat $(echo own/key)",
        "cp -r own new; cat new/key",
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path().join("own")).unwrap();
        fs::write(folder.path().join("own/key"), "TOP").unwrap();
        symlink("own/key", folder.path().join("link1")).unwrap();
        let mut plan = folder.plan(line);
        plan.private_paths = vec![format!("{}/own/key", folder.text())];
        let done = done(&folder, &plan);
        assert!(!done.stdout.contains("TOP"), "{line}: {done:?}");
        plan.private_paths.clear();
        let done = self::done(&folder, &plan);
        assert!(done.stdout.contains("TOP"), "{line} says nothing");
    }
}

#[test]
fn a_place_that_becomes_authority_is_not_named_by_what_words_become() {
    for line in [
        "touch \"$HOME/.bashrc\"",
        "touch $HOME/.ssh/authorized_keys",
        "touch .mcp.json$NONE",
        "touch .git/hooks/$NONE\"x\"",
        "v=.claude; touch $v/settings.json",
        "for i in .git/hooks/x; do touch $i; done",
        "touch $(echo .git/hooks/x)",
        "cd .git/hooks; touch x",
        "d=.gi; mkdir -p new/${d}t/objects",
        "env -u NONE touch $(echo .git/config)",
        "git -C .git diff --no-index --output=hooks/x /dev/null ../a.txt",
        "x=\"$(printf '\\377')\"; mkdir \"$x\"",
    ] {
        let folder = Folder::new();
        for place in [".git/hooks", ".claude", "d/.ssh"] {
            fs::create_dir_all(folder.path().join(place)).unwrap();
        }
        let done = done(&folder, &folder.plan(line));
        let is_said = done.stderr.contains("only a person can let it be changed")
            || done.stderr.contains("it is no text in UTF-8");
        assert!(is_said, "{line}: {done:?}");
        let made = [
            "d/.bashrc",
            "d/.ssh/authorized_keys",
            ".mcp.json",
            ".git/hooks/x",
            ".git/config",
            ".claude/settings.json",
            "new",
        ];
        for path in made {
            assert!(!folder.path().join(path).exists(), "{line}: {path}");
        }
    }
}

#[test]
fn what_words_become_has_room_and_no_more() {
    for line in [
        "x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9; do x=$x$x$x$x$x$x$x$x; done; echo $?",
        "x=$(printf '%08192d' 0); y=$x$x$x$x$x$x$x$x; z=$y$y$y$y$y$y$y$y; a=$z$z$z$z$z$z$z$z; echo $a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a",
    ] {
        let folder = Folder::new();
        let done = done(&folder, &folder.plan(line));
        assert!(
            done.stderr.contains("too large"),
            "{line}: {:?}",
            done.stderr
        );
        assert_eq!(done.ending, Ending::Code(126), "{line}");
    }
}

#[test]
fn git_takes_no_orders_from_a_folder_that_only_looks_like_a_repository() {
    for line in [
        "cd bare && git status",
        "cd bare; git log",
        "timeout 9 git -C bare status",
        "find bare -maxdepth 0 -exec git -C {} status \\;",
    ] {
        let folder = Folder::new();
        let bare = folder.path().join("bare");
        for name in ["objects", "refs"] {
            fs::create_dir_all(bare.join(name)).unwrap();
        }
        fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let trap = folder.path().join("CAN");
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = \"/usr/bin/touch {}; false\"\n",
            trap.display()
        );
        fs::write(bare.join("config"), config).unwrap();
        let done = done(&folder, &folder.plan(line));
        assert!(!ran(&folder), "{line}: {done:?}");
        assert!(done.stderr.contains("bare repository"), "{line}: {done:?}");
    }
}

/// Makes a repository of the folder, with all that is in it.
fn in_git(folder: &Folder) {
    for line in [
        "init -q",
        "add -A",
        "-c user.name=t -c user.email=t commit -qm all",
    ] {
        let git = std::process::Command::new("git")
            .args(line.split(' '))
            .current_dir(folder.path())
            .status();
        assert!(git.unwrap().success());
    }
}

/// Where programs are told to work elsewhere their names begin there, those of git also at the top of the repository.
#[test]
fn a_closed_file_is_closed_from_wherever_a_program_is_told_to_work() {
    for line in [
        "cd sub && git show HEAD:secret/x",
        "git show HEAD:secret/x",
        "git log -p -1 -- ':/secret/x'",
        "cd sub && git log -p -1 -- ':(top)secret/x'",
        "cd sub && git -C .. diff --no-index /dev/null secret/x",
        "git -C sub diff --no-index /dev/null ../secret/x",
        "git -C secret diff --no-index /dev/null x",
        "tar -C secret -cf - x",
        "cd sub && tar -C.. -cf - secret/x",
        "tar --directory=secret -cf - x",
        "tar --dir=secret -cf - x",
        "tar -cf - --dir secret x",
        "tar cfC - secret x",
        "tar cCf secret - x",
        "printf 'secret/xqa.txt' | xargs -dq cut -d , -f1",
        "printf 'secret/xqa.txt' | xargs -d '\\x71' tac",
        "printf 'secret x' | xargs -n1 tar -cf - -C",
        "echo 'secret x' | xargs tar -cf - -C",
        "echo x | xargs -I{} tac secret/{} -- -Iz",
        "echo x | xargs -I xargs tac secret/xargs",
        "echo \"'se'cret/x\" | xargs -I{} tac {}",
        "x=\"$(printf '\\377')\"; ln -s . \"$x\"; tac \"$x/secret/x\"",
        "mkdir \"$(printf 'd\\377')\"; cd \"$(printf 'd\\377')\" && tac ../secret/x",
    ] {
        let folder = Folder::new();
        for made in ["secret", "sub"] {
            fs::create_dir(folder.path().join(made)).unwrap();
        }
        fs::write(folder.path().join("secret/x"), "TOP\n").unwrap();
        in_git(&folder);
        let mut plan = plan_without_secret(&folder, line);
        let done = done(&folder, &plan);
        assert!(!done.stdout.contains("TOP"), "{line}: {done:?}");
        assert!(done.stderr.contains("nothing was done"), "{line}: {done:?}");
        plan.deny.clear();
        let done = self::done(&folder, &plan);
        let is_read = done.stdout.contains("TOP")
            || ["377", "x71", "xargs tar", "xargs -n1 tar"]
                .iter()
                .any(|part| line.contains(part));
        assert!(is_read, "{line} says nothing: {done:?}");
    }
}

/// Input of `xargs` that readers take apart differently, and items that would be options, reach no program.
#[test]
fn perm_4_what_xargs_may_read_in_another_way_is_given_to_nobody() {
    for line in [
        "printf 'a.txt \\vsecret/x' | xargs tac",
        "printf 'a.txt \\vsecret/x' | xargs -n1 tac",
        "printf 'a.txt \\vsecret/x' | timeout 5 xargs -L1 tac",
        "printf 'a.txt \\fsecret/x' | xargs tac",
        "printf \"'secret/x\\\\0zzz'\" | xargs tac",
        "printf 'secret/x\\\\\\\\\\0zzz' | xargs tac",
        "mkdir 'x\n'; printf 'x\\n/../secret/xq' | xargs -dq tac",
        "printf 'c.rs x\\f/../\"s\"ecret/x' | xargs tac",
        "ln -s . \"$(printf '\\377')\"; printf '\\377/secret/x' | xargs tac",
        "ln -s . \"$(printf '\\377')\"; printf '\\377/secret/x' | xargs -0 tac",
        "echo '-cf - -C secret x' | xargs tar",
        "printf '%s\\n' --output=out a.txt | xargs sort",
        "printf '%s\\n' -o | xargs -I{} sort {} a.txt",
        "printf '%s\\0' -o out a.txt | xargs -0 sort",
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path().join("secret")).unwrap();
        fs::write(folder.path().join("secret/x"), "TOP\n").unwrap();
        let done = done(&folder, &plan_without_secret(&folder, line));
        assert!(!done.stdout.contains("TOP"), "{line}: {done:?}");
        assert!(done.stderr.contains("nothing was done"), "{line}: {done:?}");
        assert!(!folder.path().join("out").exists(), "{line}");
    }
}

/// What is taken apart here and written anew for `xargs` does what it did as it was.
#[test]
fn perm_4_xargs_does_with_its_input_what_it_does_without_a_host() {
    let folder = Folder::new();
    for line in [
        "printf 'a.txt  b.txt\\n\\n c.rs ' | xargs wc -c",
        "printf \"'sp ace/in side' a.txt\" | xargs cat",
        "printf 'sp\\\\ ace/in\\\\ side' | xargs cat",
        "printf 'a b\\nc d \\ne\\nf' | xargs -L1 echo x",
        "printf 'a b\\nc d \\ne\\nf' | xargs -L 2 echo",
        "printf 'a b c d e' | xargs -n 2 echo",
        "printf '  a  b \\nc\\n\\nd' | xargs -I{} echo '<{}>'",
        "printf 'a\\tb' | xargs -I @ echo @@ x@",
        "printf 'a b\\0\\0c\\nd\\0' | xargs -0 printf '[%s]'",
        "printf 'a,b c,' | xargs -d, printf '[%s]'",
        "printf 'a\\nb c\\n' | xargs -d '\\n' printf '[%s]'",
        "printf '%s\\n' '*' '$HOME' '~t' | xargs echo",
        "printf '' | xargs echo none",
        "printf '' | xargs -r echo none",
        "printf '%s\\0' -dash a.txt | xargs -0 cat --",
        "ls | grep txt | xargs cat",
        "printf 'é ü' | xargs -n1 echo",
    ] {
        let done = folder
            .by_plan(line)
            .unwrap_or_else(|why| panic!("{line}: {why}"));
        assert_eq!(done, folder.by_bash(line), "{line}");
    }
}

#[test]
fn what_is_told_to_work_elsewhere_still_does_what_it_may() {
    for line in [
        "git --git-dir=.git --work-tree=. log --oneline",
        "git -C sub log --oneline -1",
        "git -C .git rev-parse --git-dir",
        "tar -C sub -cf - y",
        "cd sub && git show HEAD:sub/y",
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/y"), "why\n").unwrap();
        in_git(&folder);
        let done = done(&folder, &folder.plan(line));
        assert_eq!(done.ending, Ending::Code(0), "{line}: {done:?}");
    }
}

#[test]
fn names_that_a_pattern_gives_come_in_the_order_of_their_bytes_in_every_locale() {
    for locale in ["C", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"] {
        let folder = Folder::new();
        let plan = folder.plan(&format!("LC_ALL={locale}; echo [AaZ_]*"));
        let (done, _) = folder.run(&plan).unwrap();
        assert!(done.stdout.starts_with("A Zz _u a"), "{locale}: {done:?}");
    }
}
