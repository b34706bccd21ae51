//! Every entry of the lists by which lines are refused: an entry that is lost lets a line run that nobody read to its end.
#![allow(clippy::unwrap_used)]

use windlass_shell::{is_acted_upon, is_made_by_the_shell, read, runs_others, scan};

/// Programs that run what their arguments name, in ways that are not followed.
const NOT_FOLLOWED: &str = "
    sudo doas su runuser sg newgrp
    zsh ksh mksh fish csh tcsh rbash posh yash ash
    at batch busybox bwrap capsh catchsegv choom chpst chronic chroot chrt coresched cpulimit daemonize dbus-run-session
    dpkg-architecture enosys entr expect fakeroot faketime firejail flock gdb gpg-agent i386 i486 i586 i686 ifne ionice linux32
    linux64 logsave ltrace nsenter numactl parallel perf pkexec prlimit proot rlwrap run-parts runcon rust-parallel schedtool screen
    script setarch setpriv softlimit ssh ssh-agent start-stop-daemon strace systemd-inhibit systemd-run taskset tmux toybox tsocks
    torsocks uclampset uname26 unbuffer unshare valgrind watch x86_64 xvfb-run
    ld.so ld64.so.2 ld-2.31.so ld-linux-x86-64.so.2 ld-linux.so.2 ld-musl-x86_64.so.1";

/// Builtins that run what they are given, or a file.
const RUN_TEXT: &str = "source . eval exec builtin alias trap compgen hash";

/// Programs that are followed to what they run.
const FOLLOWED: &str = "command nohup setsid nice time stdbuf env";

/// Variables whose values the shell makes, or acts upon.
const OF_THE_SHELL: &str = "
    _ CDPATH COLUMNS COPROC DIRSTACK ENV EUID EXECIGNORE FIGNORE FUNCNAME FUNCNEST GLOBIGNORE GLOBSORT GROUPS HISTCMD HOSTNAME
    HOSTTYPE IFS LINENO LINES MACHTYPE MAILCHECK MAPFILE OPTARG OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT PPID PS1 PS2 PS3
    PS4 RANDOM READLINE_LINE REPLY SECONDS SHELLOPTS SRANDOM TIMEFORMAT TMOUT UID
    BASH BASHOPTS BASHPID BASH_ENV BASH_FUNC_x BASH_XTRACEFD EPOCHREALTIME EPOCHSECONDS COMP_WORDBREAKS
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES";

/// Variables by which programs run others, or look for them elsewhere.
const OF_PROGRAMS: &str = "PATH PYTHONPATH LC_ALL HOME HISTFILE INPUTRC";

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split_whitespace()
}

/// Whether a line can be run from its tree.
fn runs_from_its_tree(line: &str) -> bool {
    read(line).is_ok_and(|read| read.obstacle.is_none())
}

#[test]
fn perm_4_what_runs_others_in_ways_that_are_not_followed_is_refused() {
    for program in words(NOT_FOLLOWED).chain(words(RUN_TEXT)) {
        for line in [
            format!("{program} ls"),
            format!("nice {program} ls"),
            format!("true && {program} ls"),
        ] {
            assert!(!runs_from_its_tree(&line), "{line}");
        }
    }
    for program in words(NOT_FOLLOWED) {
        for line in [
            format!("/usr/bin/{program} ls"),
            format!("find . -exec {program} {{}} \\;"),
            format!("timeout 5 {program} ls"),
        ] {
            assert!(!runs_from_its_tree(&line), "{line}");
        }
        // The scanner, which looks at lines that have no tree, follows them no further.
        assert!(scan(&format!("{program} ls")).is_err(), "{program}");
    }
}

#[test]
fn perm_4_what_is_followed_leads_to_the_program_behind_it() {
    for program in words(FOLLOWED).filter(|program| *program != "time") {
        assert!(runs_others(program), "{program}");
        let line = format!("{program} rm x");
        let commands = read(&line).unwrap().commands;
        let named = |name: &str| commands.iter().find(|it| it.program() == Some(name));
        assert!(named(program).unwrap().wraps, "{line}");
        assert!(named("rm").unwrap().begins_with(&["rm", "x"]), "{line}");
    }
}

#[test]
fn perm_4_no_line_sets_a_variable_that_the_shell_makes_or_acts_upon() {
    for name in words(OF_THE_SHELL) {
        assert!(is_made_by_the_shell(name), "{name}");
        for line in [
            format!("{name}=x; ls"),
            format!("{name}=x ls"),
            format!("for {name} in a; do ls; done"),
            format!("echo \"${{{name}}}\""),
        ] {
            assert!(!runs_from_its_tree(&line), "{line}");
        }
    }
    for name in words(OF_PROGRAMS) {
        assert!(is_acted_upon(name), "{name}");
        let line = format!("for {name} in a; do ls; done");
        assert!(!runs_from_its_tree(&line), "{line}");
    }
    for name in ["file", "FILE", "LDFLAGS", "BASE", "PS", "path"] {
        assert!(
            !is_made_by_the_shell(name) && !is_acted_upon(name),
            "{name}"
        );
    }
}
