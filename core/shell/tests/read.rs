//! What is read, what is refused, and that nothing is too deep or too long.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use windlass_shell::{Folder, Unparsed, print, read};

/// Whether a line can be run from its tree.
fn passes(line: &str) -> bool {
    read(line).is_ok_and(|line| line.obstacle.is_none())
}

#[test]
fn perm_4_nothing_expanded_stands_in_what_a_search_runs() {
    for line in [
        "x=';'; find . -exec echo $x -exec touch CAN \\;",
        "x=';'; find . -execdir echo \"$x\" -exec touch CAN \\;",
        "find . -exec echo \"$(printf '%s' ';')\" -exec touch CAN \\;",
        "find . -exec echo ? -exec touch CAN \\;",
        "timeout 5 find . -exec echo {} $x -exec touch CAN \\;",
        "for x in \\;; do find . -ok echo \"$x\" -exec touch CAN \\; ; done",
    ] {
        assert!(!passes(line), "{line}");
    }
    for line in [
        "find $x -name '*.rs' -exec grep a {} +",
        "find . -exec grep 'a b' {} \\;",
    ] {
        assert!(passes(line), "{line}");
    }
}

/// Where nothing is set, `cd` leads home: what stands behind it would run in a folder that nobody judged.
#[test]
fn perm_4_a_folder_that_only_the_environment_knows_is_refused_wherever_it_stands() {
    for line in [
        "cd $d && ls",
        "grep x <(cd $d && ls)",
        "ls \"$(cd $d && ls)\"",
        "x=$(cd ~ && ls)",
        "cat <<E\n$(cd $d && ls)\nE\n",
        "for f in $(cd $d && ls); do echo \"$f\"; done",
        "case $(cd $d && ls) in x) ls;; esac",
        "{ cat; } <<< \"$(cd $d && ls)\"",
        "ls $(d=x && ls); cd $d",
        "ls $(ls $(cd $d && ls))",
    ] {
        assert!(!passes(line), "{line}");
    }
    for line in [
        "d=x; ls $(cd $d && ls)",
        "ls $(d=x; cd $d && ls)",
        "ls $(cd x && ls)",
    ] {
        assert!(passes(line), "{line}");
    }
}

#[test]
fn what_shells_read_differently_is_refused() {
    for line in [
        "echo \"$\\\n(touch x)\"",
        "echo $\\\n(touch x)",
        "echo a\\\nb",
        "cat <<E\\\nF\nx\nEF\n",
        "cat <<$\"E\"\nx\nE\n",
        "echo ${x:-{}",
        "echo ${x:-$(touch y)}",
        "echo \"`echo \\\"a\\\"`\"",
        "cat <&-touch",
        "echo \"$(time while false; do :; done)\"",
        "cat <(time (ls))",
        "echo \"$(cat <<'E'\nEls)\nE\n)\"",
        "echo $(cat <<-E\n\tEls)\nE\n)",
        "xargs ls",
        "cat; xargs ls",
        "ls | { xargs -n1 cat; cat; }",
        "timeout 5 xargs ls | cat",
        "echo a | find . -exec xargs cp a ';' -exec wc b ';'",
        "echo a | fd b -x xargs cp",
        "ls | timeout 5 find . -exec timeout 5 xargs rm ';'",
        "bash -c 'xargs ls' <f",
        "env A=$x ls",
        "env A=$(ls) ls",
        "xargs ls <&-",
        "xargs ls 0>&-",
        "echo >&1<<<2>&1",
        "cat <<<2>f",
        "cat < 2<f",
        "echo > 2>&1",
        "echo >&2>f",
        "cat <<2>f\nx\n2",
        "echo > {a}>f",
        "git commit -m \"$(npm run)$(git add \"$?\")\"",
        "git add $(npm run) $?",
        "cat $(npm run) <<< $?",
        "x=$(npm run)$?",
        "! { ls; } <f",
        "! (ls) 2>/dev/null",
        "! [[ -z $x ]] 2>/dev/null",
        "if ! for f in a; do ls; done <f; then ls; fi",
        "[[ a =~ ( ]]",
        ">f [[ a ]]",
        ">f case x in x) touch y;; esac",
        "for x do touch y; done",
        "for x\ndo touch y; done",
        "echo ${x:-$'a'}",
        "echo {a[x]}>f",
        "echo {PATH}>f",
        "command test -v 'a[$(touch x)]'",
        "builtin printf -v PATH x",
        "env --s='touch x'",
        "env -S 'touch x'",
        "env -C / ls",
        "env --chdir=/ ls",
        "xargs --re=x touch x",
        "xargs --process-slot-var=PATH ls",
        "command time -o f ls",
        "echo ${ touch x; }",
        "echo $((x))",
        "echo $[1]",
        "echo $@ $$ $! $-",
        "echo <(touch x)",
        "command cat <(touch x)",
        "cat a<(touch x)",
        "cat <(touch x)y",
        "cat <(touch x)<(touch y)",
        "cat 3<(touch x)",
        "cat >(touch x)",
        "<(touch x) a",
        "cat <(ls) <(ls) <(ls) <(ls) <(ls)",
        "cat <(ls) 3>f",
        "{ cat <(ls); } <&-",
        "cat < <(touch x)",
        "cat <(<a)",
        "case x in x) ls;& y) touch z;; esac",
        "case x in x) ls;;& *) touch z;; esac",
        "case x in $y) ls;; esac",
        "case x in ~) ls;; esac",
        "case x in [^a]) ls;; esac",
        "case x in esac) ls;; esac",
        "[[ a =~ b ]]",
        "[[ $x == $y ]]",
        "[[ $x -eq 1 ]]",
        "[[ 'a[$(touch x)]' -eq 1 ]]",
        "[[ -v 'a[$(touch x)]' ]]",
        "[[ -f ]]",
        "[[ a < b ]]",
        "[[ a == @(a|b) ]]",
        "[[ -f a && $? == 1 ]]",
        "[[ -f a\n&& -f b ]]",
        "[[ a ] ]",
        "cat <(ls) \"$(ls)\"",
        "sh -c 'ls {a,b}'",
        "sh -c \"ls \\$'a'\"",
        "sh -c 'cat <(ls)'",
        "sh -c '[[ -f a ]] && ls'",
        "dash -c 'ls &> /dev/null'",
        "sh -c 'cat <<< a'",
        "sh -c 'ls |& cat'",
        "bash -c 'sh -c \"ls {a,b}\"'",
        "echo $(cat <<E\na\nE\n{ ls; ls; })",
        "echo $(cat <<< a; ls)",
        "echo $({ cat <<E\na\nE\n})",
        "echo \"$(cat <<E && ls\na\nE\n)\"",
        "$\"rm\" x",
        "prlimit touch x",
        "choom -n 1 touch x",
        "setarch touch x",
        "linux64 touch x",
        "uclampset -m 10 touch x",
        "coresched new -- touch x",
        "enosys -s setuid touch x",
        "chronic touch x",
        "ls | ifne touch x",
        "/lib64/ld64.so.2 /usr/bin/touch x",
        "/lib/x86_64-linux-gnu/ld-2.31.so /usr/bin/touch x",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch x",
        "ld.so /usr/bin/touch x",
        "sg root touch",
        "start-stop-daemon --start --exec touch",
        "/lib64/ld-linux-x86-64.so.2 /bin/touch x",
        "touch() { :; }; touch",
        "function f { touch x; }",
        "touch x & ls",
        "PATH=/tmp ls",
        "PATH=/tmp",
        "find . -exec {} \\;",
        "find . -exec sh -c 'touch {}' \\;",
        "echo a\rb",
        "echo '$\u{1}('",
        "echo '$\u{7f}('",
        "ls -$x",
        "ls ~root",
        "eval ls",
        "exec ls",
        "read x",
        "coproc ls",
    ] {
        assert!(!passes(line), "{line}");
    }
}

/// Rules that deny must not take such lines for known.
#[test]
fn perm_4_what_evaluates_its_arguments_is_not_read() {
    for line in [
        "command [ -v 'a[$(touch x)]' ]",
        "test -v 'a[$(touch x)]'",
        "unset 'a[$(touch x)]'",
        "printf -v 'a[$(touch x)]' y",
        "read 'a[$(touch x)]'",
        "OPTIND='a[$(touch x)]'",
        "PS4='$(touch x)'; set -x; ls",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
    assert!(read("read x; unset y; [ -n a -a -f b ]").is_ok());
}

#[test]
fn braces_that_make_options_are_read_as_options() {
    let line = read("find {-exec,touch,x,';'}").unwrap();
    let programs: Vec<_> = line
        .commands
        .iter()
        .filter_map(|command| command.program())
        .collect();
    assert_eq!(programs, ["touch", "find"]);
}

/// Bash expands lists before it reads names.
#[test]
fn perm_3_a_list_that_lengthens_a_name_is_not_read() {
    for line in [
        "echo $x{a,b}",
        "echo $x{,_b}c",
        "echo {$x,y}z",
        "echo {y,$x}z",
        "echo $x{1..3}",
        "echo {$,y}x",
        "echo {y,$}{HOME,x}",
        "echo {a{a,b}}",
        "for i in $x{a,b}; do echo $i; done",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
    for line in [
        "echo $x{.js,.ts}",
        "echo \"$x\"{a,b}",
        "echo {$x,y}.z",
        "echo {a,b}$x",
        "cp $f{,.bak}",
    ] {
        assert!(read(line).is_ok(), "{line}");
    }
}

/// A word that a pattern makes may be an option as well, and the options of `env` run programs.
#[test]
fn perm_4_a_pattern_makes_no_option_of_env() {
    for line in [
        "env --s='touch x'? echo",
        "env -Stouch=a? echo",
        "env -* a=b ls",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
    assert!(read("env a=? ls").is_ok());
}

/// All that `fd` may be told to run: each `-x` ends at `;`, what is found stands behind a command that names no place for it.
#[test]
fn perm_4_every_program_that_fd_runs_is_seen() {
    let programs = |line: &str| -> Vec<String> {
        let line = read(line).unwrap();
        let words = line.commands.iter().map(|command| {
            let words = command.words.iter();
            let words: Vec<&str> = words
                .map(|word| if word.is_literal() { word.text() } else { "?" })
                .collect();
            words.join(" ")
        });
        words.collect()
    };
    for (line, expected) in [
        (
            "fd a -x echo {} ';' -x touch p",
            &["echo ?", "touch p ?"][..],
        ),
        (
            "fdfind a -X echo ';' --exec rm {} ';' -e rs",
            &["echo ?", "rm ?"],
        ),
        ("fd a -x git branch", &["git branch ?"]),
        ("fd a -x mv {} {.}.bak", &["mv ? ?"]),
        ("fd a -x timeout 5 wc {/}", &["wc ?", "timeout 5 wc ?"]),
    ] {
        let found = programs(line);
        for wanted in expected {
            assert!(
                found.iter().any(|it| it == wanted),
                "{wanted} in {line}: {found:?}"
            );
        }
    }
    for line in [
        "fd a -x sh -c 'echo {/}'",
        "fd a -x sh -c 'echo {//} {.} {/.}'",
        "fd a -x timeout 5",
        "fd a -x env",
        "fd a -x nohup nice",
        "fd . --base-directory d -x cat closed.txt",
        "fd . --base-directory=d -x ./run.sh",
        "fd a -x find . -exec touch {} ';'",
        "fd a -x ';' -x touch p",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

/// A list of commands may end in a folder that it would have left again.
#[test]
fn perm_4_a_list_that_enters_a_folder_may_end_in_it() {
    for line in [
        "cd d && false && cd ..; ./run",
        "cd d && false && cd .. || ./run",
        "cd d && ! true && cd ..; ./run",
        "if cd d && false && cd ..; then :; fi; ./run",
        "{ cd d && cd ..; } && ./run",
        "while cd d && false && cd ..; do :; done; ./run",
    ] {
        let line_read = read(line).unwrap();
        let mut commands = line_read.commands.iter();
        let run = commands
            .find(|command| {
                command
                    .words
                    .first()
                    .is_some_and(|word| word.text() == "./run")
            })
            .unwrap();
        assert_eq!(run.folder, Folder::Unknown, "{line}");
    }
    let line = read("cd d && make && cd .. && ./run").unwrap();
    let mut commands = line.commands.iter();
    let run = commands
        .find(|command| {
            command
                .words
                .first()
                .is_some_and(|word| word.text() == "./run")
        })
        .unwrap();
    assert_eq!(run.folder, Folder::Start);
}

#[test]
fn what_is_nested_or_long_is_refused_on_a_small_stack() {
    let on_a_small_stack = |line: String| {
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        let reading = thread.spawn(move || read(&line).is_ok()).unwrap();
        reading.join().unwrap()
    };
    for (open, inner, close) in [
        ("echo \"$(", "ls", ")\""),
        ("$(", "ls", ")"),
        ("( ", "ls", " )"),
        ("{ ", "ls", "; }"),
        ("if ls; then ", "ls", "; fi"),
        ("cat <<E\n$(", "ls", ")\nE\n"),
        ("echo {", "a,b", "}"),
        ("env ", "ls", ""),
        ("timeout 5 ", "ls", ""),
        ("echo `", "ls", "`"),
        ("echo $((", "1", "))"),
        ("echo [", "a", ""),
        ("! ", "ls", ""),
    ] {
        for times in [100, 10_000] {
            for close in [close, ""] {
                let line = format!("{}{inner}{}", open.repeat(times), close.repeat(times));
                assert!(
                    !on_a_small_stack(line.clone()) || open == "echo [" || open == "echo `",
                    "{times} times {open}"
                );
            }
        }
    }
    assert_eq!(read(&"x".repeat((128 << 10) + 1)), Err(Unparsed::TooLong));
    assert_eq!(
        read(&format!("find {}", "-exec a \\; ".repeat(65))),
        Err(Unparsed::TooLong)
    );
    assert!(read(&format!("echo {}", "{a,b}".repeat(20))).is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\\n\\t]{0,60}") {
        if let Ok(line) = read(&text) {
            prop_assert!(!print(&line.script, &|_| None).is_empty());
        }
    }

    #[test]
    fn a_tree_is_the_same_after_it_was_stored(text in "[a-c$(){};&|<>'\"*~= \\n]{0,40}") {
        if let Ok(line) = read(&text) {
            let stored = serde_json::to_string(&line.script).unwrap();
            prop_assert_eq!(serde_json::from_str::<windlass_shell::Script>(&stored).unwrap(), line.script);
        }
    }
}

/// Only then may whoever runs a line do without asking the shell what it leaves behind.
#[test]
fn a_line_of_programs_leaves_its_shell_alone_and_others_do_not() {
    let leaves = |line: &str| windlass_shell::leaves_shell_alone(&read(line).unwrap().script);
    for line in [
        "ls -la | head",
        "npm test 2>&1 && echo done",
        "(cat a; grep b c) > out",
        "timeout 5 make; exit 3",
        "echo $HOME *.rs",
    ] {
        assert!(leaves(line), "{line}");
    }
    for line in [
        "cd src",
        "x=1",
        "ls; cd src && ls",
        "for i in a b; do echo a; done",
        "{ cd src; }",
        "command cd src",
        "printf '%s' a",
    ] {
        assert!(!leaves(line), "{line}");
    }
}
