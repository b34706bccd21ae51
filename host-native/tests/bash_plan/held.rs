//! Plain file commands that only the mode lets run: held to what was judged.

use std::{
    fs,
    io::{Read as _, Seek as _},
    os::{fd::AsRawFd as _, unix::fs::symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use windlass::{
    bash::plan::{self, Control, Ending, Streams},
    core::tool::{Access, CommandPlan, DenyPattern},
};

use super::support::Folder;

/// Lines that people and models write.
const ORDINARY: [&str; 78] = [
    "touch new",
    "touch a.txt",
    "touch -c nothing",
    "touch -d 2001-02-03 new a.txt",
    "touch d",
    "touch link",
    "touch broken",
    "touch dlink/new",
    "touch nowhere/new",
    "touch d/../new",
    "touch ./new d/./new",
    "touch *.txt",
    "touch d/*.rs",
    "touch -- -new",
    "touch",
    "timeout 5 touch new",
    "nice touch new d/new",
    "command touch new",
    "sh -c 'touch new'",
    "mkdir new",
    "mkdir d",
    "mkdir -p new/er/est d/e",
    "mkdir new/er",
    "mkdir -m 700 new",
    "mkdir -pv new/er",
    "mkdir dlink/new",
    "mkdir a.txt/new",
    "mkdir link/new",
    "mkdir",
    "rm a.txt",
    "rm -v a.txt b.txt",
    "rm d",
    "rm -r d",
    "rm -rf d nothing",
    "rm link dlink broken",
    "rm -r dlink",
    "rm dlink/x.txt",
    "rm -d d",
    "rm *.txt",
    "rm d/*.txt",
    "rm nothing",
    "rm -f",
    "rm a.txt/b",
    "cp a.txt new",
    "cp a.txt b.txt",
    "cp -v a.txt b.txt d",
    "cp a.txt link",
    "cp a.txt dlink",
    "cp a.txt broken",
    "cp -f a.txt link",
    "cp -d link new",
    "cp -P link d",
    "cp -r d new",
    "cp -r d/. new",
    "cp -rT d new",
    "cp -rT d/e d/new",
    "cp -a d dlink new b.txt .",
    "cp -a d 'sp ace' new",
    "cp -ar d 'sp ace'",
    "cp *.txt d",
    "cp -n a.txt b.txt",
    "cp -p a.txt new && cat new",
    "cp a.txt nowhere/new",
    "cp d new",
    "cp -i a.txt b.txt",
    "cp nothing new",
    "cp run.sh new && ./new",
    "mv a.txt new",
    "mv a.txt b.txt",
    "mv -v a.txt b.txt d",
    "mv d new && ls new",
    "mv d 'sp ace'",
    "mv link broken d",
    "mv a.txt dlink",
    "mv -T d new",
    "mv -n a.txt b.txt",
    "mv dlink/x.txt x",
    "mkdir new && cp a.txt new/b && mv new newer && rm -r newer && touch end",
];

#[test]
fn ordinary_uses_do_the_same_as_under_bash() {
    let mut differences = String::new();
    for line in ORDINARY {
        let bash = Folder::new().by_bash(line);
        let folder = Folder::new();
        let plan = folder
            .accepted(line)
            .unwrap_or_else(|| panic!("{line}: outside"));
        let (plan, _) = folder
            .run(&plan)
            .unwrap_or_else(|why| panic!("{line}: {why}"));
        if bash != plan {
            let changed = bash.files.keys().chain(plan.files.keys());
            let changed: Vec<_> = changed
                .filter(|name| bash.files.get(*name) != plan.files.get(*name))
                .collect();
            differences += &format!(
                "\n--- {line}\nbash: {:?} {:?} {:?}\nplan: {:?} {:?} {:?}\nfiles: {changed:?}\n",
                bash.ending, bash.stdout, bash.stderr, plan.ending, plan.stdout, plan.stderr
            );
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn a_command_that_names_what_nobody_judged_is_not_started() {
    for line in [
        "touch a.txt",
        "rm -r d",
        "cp a.txt new",
        "mv a.txt new",
        "mkdir new",
    ] {
        let folder = Folder::new();
        let mut plan = folder.accepted(line).unwrap();
        plan.mode_allowed_files.clear();
        plan.files.clear();
        let before = Folder::new().by_bash("true").files;
        let (done, _) = folder.run(&plan).unwrap();
        assert_eq!(done.ending, Ending::Code(1), "{line}");
        assert!(done.stderr.contains("nobody judged"), "{line}: {done:?}");
        assert_eq!(done.files, before, "{line}");
    }
}

#[test]
fn what_a_rule_allows_is_held_to_nothing() {
    let (folder, outside) = (Folder::new(), Folder::empty());
    let mut plan = folder.plan(&format!("touch {}/made", outside.text()));
    plan.workspace = vec![folder.text()];
    let (done, _) = folder.run(&plan).unwrap();
    assert_eq!(done.ending, Ending::Code(0), "{done:?}");
    assert!(outside.path().join("made").exists());
}

#[test]
fn a_way_up_from_a_link_is_the_one_that_the_system_takes() {
    for line in [
        "touch out/../made",
        "mkdir out/../made",
        "cp a.txt out/../made",
        "mv a.txt out/../made",
        "rm out/../there",
        "cp a.txt out/..",
    ] {
        let (folder, outside) = (Folder::new(), Folder::empty());
        fs::create_dir(outside.path().join("sub")).unwrap();
        fs::write(outside.path().join("there"), "there").unwrap();
        symlink(outside.path().join("sub"), folder.path().join("out")).unwrap();
        // By its text it leads into the folder.
        let plan = folder.accepted(line).unwrap();
        let (done, _) = folder.run(&plan).unwrap();
        assert_eq!(names(&outside.path()), ["sub", "there"], "{line}: {done:?}");
        assert_eq!(done.ending, Ending::Code(1), "{line}: {done:?}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn perm_4_a_folder_that_brings_authority_along_is_not_moved_copied_or_removed() {
    for (line, lies) in [
        ("cp -r d/. .", "d/.claude/settings.json"),
        ("cp -rT d new", "d/.claude/settings.json"),
        ("cp -a d new", "d/.mcp.json"),
        ("mv d new", "d/e/.git/hooks/pre-commit"),
        ("rm -rf d", "d/.claude/settings.json"),
        ("rm --recursive d", "d/e/.git/config"),
        ("rm -r d/*", "d/e/.git/config"),
        // Made by the line itself, after it was judged.
        ("cp a.txt d/.mcp.json && cp -r d/. .", "none"),
        ("cp a.txt d/.mcp.json && mv d new", "none"),
    ] {
        let folder = Folder::new();
        let path = folder.path().join(lies);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{}").unwrap();
        let (done, _) = folder.run(&folder.accepted(line).unwrap()).unwrap();
        assert!(done.stderr.contains("take orders"), "{line}: {done:?}");
        assert!(path.exists(), "{line}");
        for name in ["new", ".claude", ".mcp.json"] {
            assert!(!folder.path().join(name).exists(), "{line}: {name}");
        }
    }
}

#[test]
fn perm_4_a_folder_that_brings_a_closed_file_along_is_not_moved_or_copied_under_a_rule_either() {
    for line in [
        "cp -r d new",
        "cp -R d new",
        "cp --recursive d new",
        "cp --rec d new",
        "cp -a d new",
        "mkdir new && cp -r -t new d",
        "mkdir new && cp -rtnew d",
        "mkdir new && cp -r --target-directory=new d",
        "mv d new",
        "mkdir new && mv -t new d",
        "timeout 5 cp -r d new",
        "x=d; cp -r $x new",
        "cp -r . new",
    ] {
        let folder = Folder::new();
        fs::create_dir_all(folder.path().join("d/a")).unwrap();
        fs::write(folder.path().join("d/a/secret.txt"), "TOP").unwrap();
        let mut plan = folder.plan(line);
        plan.deny.push(DenyPattern {
            pattern: format!("{}/d/*/secret.txt", folder.text()),
            access: Access::Read,
        });
        let (done, _) = folder.run(&plan).unwrap();
        assert!(
            done.stderr.contains("which is closed by a rule"),
            "{line}: {done:?}"
        );
        for copied in ["new/a/secret.txt", "new/d/a/secret.txt"] {
            assert!(!folder.path().join(copied).exists(), "{line}: {copied}");
        }
        plan.deny[0].pattern.push_str(".none");
        let (done, _) = folder.run(&plan).unwrap();
        assert!(
            !done.stderr.contains("closed"),
            "{line} says nothing: {done:?}"
        );
    }
    // Into a folder with such a file everything may be put.
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("d/a")).unwrap();
    fs::write(folder.path().join("d/a/secret.txt"), "TOP").unwrap();
    let mut plan = folder.plan("cp -r e d && cp a.txt d");
    fs::create_dir(folder.path().join("e")).unwrap_or_default();
    plan.deny.push(DenyPattern {
        pattern: format!("{}/d/*/secret.txt", folder.text()),
        access: Access::Read,
    });
    let (done, _) = folder.run(&plan).unwrap();
    assert!(folder.path().join("d/a.txt").exists(), "{done:?}");
}

#[test]
fn perm_4_a_folder_that_holds_a_closed_file_is_not_moved_copied_or_removed() {
    for (line, access, holds) in [
        ("cp -r d new", Access::Read, true),
        ("cp -r d new", Access::Write, false),
        ("mv d new", Access::Write, true),
        ("rm -rf d", Access::Read, true),
        ("rm -r d/e", Access::Write, true),
        ("rm -rf srch", Access::Read, false),
        // Made by the line itself, after it was judged.
        (
            "mkdir d/f && mv d/e d/f && cp -r d/f new",
            Access::Read,
            true,
        ),
    ] {
        let folder = Folder::new();
        let mut plan = folder.accepted(line).unwrap();
        plan.deny.push(DenyPattern {
            pattern: format!("{}/**/z.txt", folder.text()),
            access,
        });
        let (done, _) = folder.run(&plan).unwrap();
        let is_refused = done.stderr.contains("z.txt, which is closed by a rule");
        assert_eq!(is_refused, holds, "{line}: {done:?}");
        let is_there = folder.path().join("d/e/z.txt").exists() || line.contains("mkdir");
        assert!(is_there || !holds, "{line}");
    }
}

/// The plan of a line while nobody may read what the pattern covers in the folder.
fn plan_closing(folder: &Folder, line: &str, pattern: &str) -> CommandPlan {
    let mut plan = folder.plan(line);
    plan.deny.push(DenyPattern {
        pattern: format!("{}/{pattern}", folder.text()),
        access: Access::Read,
    });
    plan
}

/// The files of a folder with links, as a checkout may bring them along.
fn with_links() -> Folder {
    let folder = Folder::empty();
    for made in [
        "vault", "d", "out", "a/b", "a/lv", "x/vault", "s/.git", "m/s",
    ] {
        fs::create_dir_all(folder.path().join(made)).unwrap();
    }
    for (file, text) in [
        ("vault/secret.txt", "SECRET"),
        ("a/lv/secret.txt", "evil"),
        ("f", "f"),
        ("s/.git/config", "plain"),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    symlink("../../vault", folder.path().join("a/b/lv")).unwrap();
    folder
}

/// Wherever a file command stands, and whatever an earlier operand or call of it makes, no closed file goes elsewhere.
#[test]
fn perm_4_no_file_command_takes_a_closed_file_along_wherever_it_stands() {
    for line in [
        "find . -maxdepth 0 -exec mv -t out vault ';'",
        "find . -maxdepth 0 -exec timeout 5 mv vault out ';'",
        "timeout 5 find . -maxdepth 0 -exec cp -r -t out -- vault ';'",
        "find . -maxdepth 0 -exec rm -r --one-file-system vault ';'",
        "find . -maxdepth 0 -exec git mv vault out ';' -exec wc f ';'",
        "timeout 5 sh -c 'git mv vault out'",
        "git -C . mv vault out",
        "git --no-pager -c a.b=c mv vault out",
        "git -C out -C .. mv vault out",
        "git --work-tree . mv vault out",
        "echo mv vault out | xargs git --no-pager",
        "echo mv vault out | xargs git -c a.b=c",
        // The first operand makes a link through which the second leads.
        "cd a && cp -r b/lv ../d/lv/secret.txt ../d",
        "cp -r a/b/lv d/lv/secret.txt d",
        "mv a/b/lv d/lv/secret.txt d",
        "cp -r a/b d/b/lv/secret.txt d",
        "cd a/b && cp -r --parents lv lv/secret.txt ../../d",
        "printf '%s\n' a/b/lv d/lv/secret.txt | xargs -I{} cp -r {} d",
        "printf '%s\n' a/b/lv a/lv/secret.txt | xargs -I{} cp -r {} d/lv",
        // What lies there gets another name.
        "mv -b x/vault .",
        "mv -bT d vault",
        "mv --backup=numbered -T d vault",
        "mv -S .old -T d vault",
        "echo d vault | xargs mv -bT",
        "mv -b m/s .",
    ] {
        let folder = with_links();
        let plan = plan_closing(&folder, line, "vault/**");
        let (done, _) = folder.run(&plan).unwrap();
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(
            said.contains("nothing was done") || said.contains("nobody judged"),
            "{line}: {done:?}"
        );
        let secret = fs::read_to_string(folder.path().join("vault/secret.txt")).ok();
        assert_eq!(secret.as_deref(), Some("SECRET"), "{line}: {done:?}");
        assert!(folder.path().join("s/.git/config").exists(), "{line}");
        assert!(!folder.path().join("d/secret.txt").exists(), "{line}");
    }
    for line in [
        "find . -maxdepth 1 -name f -exec mv {} out ';'",
        "find . -maxdepth 1 -name f -exec cp {} out/g ';'",
        "find out -maxdepth 0 -exec rm -r {} +",
        "cp -r a/b out",
        "cp f a/lv/secret.txt out",
        "mv -b f out",
        "printf '%s\n' f a/lv | xargs -I{} mv {} out",
    ] {
        let folder = with_links();
        let plan = plan_closing(&folder, line, "vault/**");
        let (done, _) = folder.run(&plan).unwrap();
        assert_eq!(
            (done.ending, done.stderr.as_str()),
            (Ending::Code(0), ""),
            "{line}: {done:?}"
        );
    }
}

/// Whoever writes into another name of a file changes it: one that nobody may change gets none.
#[test]
fn perm_4_a_file_that_is_closed_to_changes_gets_no_other_name() {
    for line in [
        "cp -l vault/secret.txt l",
        "cp --link vault/secret.txt l",
        "cp --li vault/secret.txt l",
        "cp -fl vault/secret.txt l",
        "cp -rl vault l",
        "cp -al vault/. l",
        "cp --recursive --link vault l",
        "find . -maxdepth 0 -exec cp -rl vault l ';'",
        "timeout 5 cp -rl vault l",
        "echo vault l | xargs cp -rl",
        "echo vault/secret.txt | xargs -I{} cp -l {} l",
    ] {
        let folder = with_links();
        let mut plan = folder.plan(line);
        plan.deny.push(DenyPattern {
            pattern: format!("{}/vault/**", folder.text()),
            access: Access::Write,
        });
        let (done, _) = folder.run(&plan).unwrap();
        assert_ne!(done.ending, Ending::Code(0), "{line}: {done:?}");
        let made = folder.path().join("l");
        assert!(
            !made.exists() || !made.join("secret.txt").exists(),
            "{line}"
        );
        assert!(!made.is_file(), "{line}");
    }
    for line in ["cp -r vault l", "cp -l f l", "cp -rl a/b l"] {
        let folder = with_links();
        let mut plan = folder.plan(line);
        plan.deny.push(DenyPattern {
            pattern: format!("{}/vault/**", folder.text()),
            access: Access::Write,
        });
        let (done, _) = folder.run(&plan).unwrap();
        assert_eq!(done.ending, Ending::Code(0), "{line}: {done:?}");
    }
}

/// What `xargs` reads goes nowhere that it could not go if it stood in the line.
#[test]
fn perm_4_what_xargs_moves_brings_no_closed_file_along() {
    for (line, said) in [
        ("echo d | xargs -I{} mv {} new", "z.txt, which is closed"),
        ("echo d | xargs mv -t srch", "z.txt, which is closed"),
        ("xargs mv -t srch <<< d", "z.txt, which is closed"),
        ("echo d new | xargs mv", "z.txt, which is closed"),
        ("echo d new | xargs cp -r", "z.txt, which is closed"),
        ("echo d | xargs -n1 rm -rf", "z.txt, which is closed"),
        ("echo d/e | timeout 5 xargs rm -r", "z.txt, which is closed"),
        (
            "echo a.txt b.txt srch | xargs -n2 mv",
            "nobody judged the files",
        ),
        ("echo a.txt srch | xargs -L1 cp", "nobody judged the files"),
        ("echo a.txt | xargs -I{} cp {} srch", ""),
        ("echo a.txt b.txt | xargs -n1 mv -t srch", ""),
        ("echo a.txt | xargs rm", ""),
    ] {
        let folder = Folder::new();
        let plan = plan_closing(&folder, line, "**/z.txt");
        let (done, _) = folder.run(&plan).unwrap();
        assert!(done.stderr.contains(said), "{line}: {done:?}");
        assert_eq!(done.stderr.is_empty(), said.is_empty(), "{line}: {done:?}");
        assert!(folder.path().join("d/e/z.txt").exists(), "{line}");
    }
}

/// How often each line is tried; `WINDLASS_ATTACK_ROUNDS` says how many in all else.
const ROUNDS: usize = 40;

/// Lines at the folder `race/d`, which is exchanged while they run.
const RACED: [&str; 12] = [
    "touch race/d/new",
    "touch race/d/f",
    "cp x race/d/f",
    "cp x race/d/new",
    "cp x race/d",
    "cp -r tree race/d",
    "cp -rT tree race/d/new",
    "mv y race/d/f",
    "mv y race/d",
    "rm race/d/f",
    "rm -rf race/d/sub",
    "mkdir -p race/d/new/er",
];

#[cfg(target_os = "linux")]
#[test]
fn conf_5_race_of_judged_file_commands_changes_nothing_outside() {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
    // A program is started for each: a thousandth of what is only opened.
    let rounds = rounds.map_or(ROUNDS, |all| all.parse::<usize>().unwrap() / 1000);
    let (mut started, mut through) = (0, Vec::new());
    for place in ["outside", "work/closed"] {
        let (folder, outside) = (Folder::empty(), Folder::empty());
        let closed = match place {
            "outside" => outside.path(),
            _ => folder.path().join("closed"),
        };
        lay(&closed, "SECRET");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("race/d")).unwrap();
        // Whatever its name is at a moment.
        let handle = fs::File::open(at("race/d")).unwrap();
        let raced = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        symlink(&closed, at("race/link")).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Also when something fails here, or the other thread would never end.
            let _stopping = Stopping(&stop);
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _ = renameat_with(
                        CWD,
                        at("race/d"),
                        CWD,
                        at("race/link"),
                        RenameFlags::EXCHANGE,
                    );
                    std::thread::yield_now();
                }
            });
            for line in RACED {
                let mut count = 0;
                for _ in 0..rounds {
                    let _ = fs::remove_file(raced.join("new"));
                    let _ = fs::remove_dir_all(raced.join("new"));
                    lay(&raced, "own");
                    lay(&folder.path(), "own");
                    let Some(plan) = folder.accepted(line) else {
                        continue;
                    };
                    let in_closed = |path: &String| Path::new(path).starts_with(&closed);
                    if plan.files.iter().any(|file| in_closed(&file.real)) {
                        continue;
                    }
                    let stderr = stderr_of(&folder, &plan);
                    started += usize::from(!stderr.contains("when it was judged"));
                    count += usize::from(is_changed(&closed));
                }
                if count > 0 {
                    through.push(format!("{line} → {place}: {count} of {rounds}"));
                }
            }
        });
    }
    eprintln!("tried: {started} commands started while their folder was exchanged");
    assert!(through.is_empty(), "got through:\n{}", through.join("\n"));
}

struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What lines find.
fn lay(folder: &Path, text: &str) {
    let _ = fs::create_dir_all(folder.join("sub"));
    let _ = fs::create_dir_all(folder.join("tree"));
    for name in ["f", "x", "y", "sub/s", "tree/f"] {
        let _ = fs::write(folder.join(name), text);
    }
}

/// Whether anything was written, made or removed in a folder; mended, so that the next line is counted by itself.
fn is_changed(closed: &Path) -> bool {
    let is_secret =
        |name: &&str| fs::read_to_string(closed.join(name)).unwrap_or_default() == "SECRET";
    let files = ["f", "x", "y", "sub/s", "tree/f"];
    let is_whole = files.iter().all(is_secret);
    let is_whole = is_whole && names(closed) == ["f", "sub", "tree", "x", "y"];
    if !is_whole {
        let _ = fs::remove_dir_all(closed);
        lay(closed, "SECRET");
    }
    !is_whole
}

/// Runs a plan without a look at the files: they are being exchanged.
fn stderr_of(folder: &Folder, plan: &CommandPlan) -> String {
    let mut stderr = tempfile::tempfile().unwrap();
    let null = || {
        fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .unwrap()
    };
    let streams = Streams {
        stdin: null().into(),
        stdout: null().into(),
        stderr: stderr.try_clone().unwrap().into(),
    };
    plan::execute(plan, &folder.session(), streams, &Control::new().unwrap()).unwrap();
    let mut text = String::new();
    stderr.rewind().unwrap();
    stderr.read_to_string(&mut text).unwrap();
    text
}
