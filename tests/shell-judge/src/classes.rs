//! The ways in which lines once got through: readings of a line that differ from what a shell does. Each with variants. A
//! line of these is refused, or starts nothing but what was judged.

/// How it shows that a line of a class got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detect {
    /// A shell of this machine runs something that was not judged.
    Runs,
    /// The line passes at all. No shell here runs it as the one that it is about.
    Passes,
    /// Judging it ends the process.
    Aborts,
}

/// Lines that differ from harmless ones in the same way.
#[derive(Debug)]
pub struct Class {
    /// What they have in common.
    pub name: &'static str,
    /// How it shows that one got through.
    pub detect: Detect,
    /// The lines, each with the name of the permissions that it is judged by.
    pub lines: &'static [(&'static str, &'static str)],
}

const fn runs(name: &'static str, lines: &'static [(&'static str, &'static str)]) -> Class {
    Class {
        name,
        detect: Detect::Runs,
        lines,
    }
}

/// Every class. `touch` and `CAN` stand for what nobody allowed.
pub const CLASSES: &[Class] = &[
    runs(
        "a substitution that a continuation joins",
        &[
            ("nothing", "echo \"$\\\n(touch CAN)\""),
            ("nothing", "echo \"$\\\n\\\n(touch CAN)\""),
            ("echo", "echo a$\\\n(touch CAN)b"),
            ("echo", "echo \"${\\\nx:-$\\\n(touch CAN)}\""),
            ("nothing", "echo \"a$\\\n{x:-`touch CAN`}\""),
            ("looking", "cat <<E\n$\\\n(touch CAN)\nE"),
            ("echo", "echo x &\\\n& echo \"y $\\\n(touch CAN)\""),
            ("echo", "echo \"$\\\n((a[$(touch CAN)]))\""),
            ("nothing", "printf '%s' \"x$\\\n(\\\ntouch CAN)\""),
        ],
    ),
    runs(
        "the end of a here-document that a continuation joins",
        &[
            ("looking", "cat <<EOF\nE\\\nOF\ntouch CAN\nEOF"),
            ("looking", "cat <<E\n\\\nE\ntouch CAN\nE"),
            ("looking", "cat <<END; echo x\na\nEN\\\nD\ntouch CAN\nEND"),
            ("looking", "cat <<-E\n\t\\\nE\ntouch CAN\nE"),
            ("looking", "cat <<EOF | wc\nEO\\\n\\\nF\ntouch CAN\nEOF"),
            ("looking", "cat <<A <<B\nx\nA\n\\\nB\ntouch CAN\nB"),
        ],
    ),
    runs(
        "the end of a here-document that is quoted as a translation",
        &[
            ("looking", "cat <<$\"E\"\nx\nE\ntouch CAN\n$E"),
            ("looking", "cat <<$\"E\"\nE\ntouch CAN\n$E"),
            ("looking", "cat <<$\"EOF\" | wc\na\nEOF\ntouch CAN\n$EOF"),
            ("looking", "cat <<-$\"E\"\n\tE\ntouch CAN\n\t$E"),
            ("looking", "cat <<a$\"E\"\naE\ntouch CAN\na$E"),
            ("looking", "cat <<$'E'\nE\ntouch CAN\n$E"),
        ],
    ),
    runs(
        "braces inside of an expansion",
        &[
            ("echo", "echo ${x:-{}; touch CAN; echo }"),
            ("echo", "echo ${x:-{}; touch CAN #}"),
            ("echo", "echo \"${x:-{}\"; touch CAN; echo \"}\""),
            ("echo", "echo ${x:-a{b}; touch CAN; echo }"),
            ("echo", "echo ${x:+{}\ntouch CAN\necho }"),
            ("echo", "echo ${x:-{{}; touch CAN; echo }}"),
        ],
    ),
    runs(
        "an escaped quote inside of backquotes inside of quotes",
        &[
            (
                "echo",
                "echo \"`echo \\\"'\\\" ; touch CAN ; echo \\\"'\\\"`\"",
            ),
            ("echo", "echo \"`echo \\\"'\\\"; touch CAN #'`\""),
            (
                "echo",
                "echo \"a `echo \\\"'\\\" | touch CAN; echo \\\"'\\\"` b\"",
            ),
            (
                "echo",
                "echo \"`echo \\\"'\\\"\ntouch CAN\necho \\\"'\\\"`\"",
            ),
            (
                "looking",
                "ls \"`printf \\\"'\\\" && touch CAN && echo \\\"'\\\"`\"",
            ),
        ],
    ),
    runs(
        "a command behind a descriptor that is closed",
        &[
            ("echo", "<&-touch echo"),
            ("echo", "echo x; <&-touch echo CAN"),
            ("looking", "0<&-touch ls"),
            ("looking", "cat a.txt | <&-touch cat"),
            ("looking", "ls && <&-CAN ls a"),
            ("echo", ">&-touch echo"),
            ("echo", "2>&-touch echo x"),
        ],
    ),
    runs(
        "parentheses inside of a pattern that is matched",
        &[
            ("echo", "echo x; [[ a =~ ( ]] # ) ]] || touch CAN"),
            ("echo", "echo x && [[ a =~ (b| ]] # ) ]] || touch CAN"),
            ("looking", "ls; [[ a =~ ( ]] #) ]] || touch CAN"),
            (
                "echo",
                "echo x; if [[ a =~ ( ]] # ) ]] || touch CAN\nthen echo y; fi",
            ),
            (
                "echo",
                "echo x; [[ a =~ (b) ]] || [[ a =~ ( ]] # ) ]] || touch CAN",
            ),
            ("echo", "echo x; ! [[ a =~ ( ]] # ) ]] && touch CAN"),
        ],
    ),
    runs(
        "a keyword behind a redirection",
        &[
            ("echo", "echo x; </dev/null [[ a || touch CAN ]]"),
            ("echo", "echo x; >/dev/null [[ a || touch ]]"),
            ("echo", "echo x; 2>/dev/null [[ a\ntouch ]]"),
            ("echo", "echo x\n</dev/null [[ -n a || touch CAN ]] "),
            ("echo", "( </dev/null case x in a | touch )\nesac; echo )"),
            (
                "echo",
                "( echo x; 2>/dev/null case x in a | touch )\nesac )",
            ),
        ],
    ),
    runs(
        "a here-document that began before a test",
        &[
            ("looking", "cat <<E; [[ x\nE\n]]\ntouch CAN\nE"),
            ("looking", "cat <<E && [[ x\nE\n]]\ntouch CAN\nE"),
            ("looking", "cat <<'E'; [[ x\nE\n]] && touch CAN\nE\n]]\nE"),
            ("looking", "cat <<-E; [[ x\n\tE\n]]\ntouch CAN\nE"),
            ("looking", "cat <<E | [[ x\ny\nE\n]]\ntouch CAN\nE"),
        ],
    ),
    runs(
        "a loop without words",
        &[
            ("echo", "echo() { for x do touch CAN; done; }; echo 1"),
            ("echo", "echo() { for x do touch \"$x\"; done; }; echo CAN"),
            ("looking", "ls() for x do CAN; done; ls 1"),
            ("looking", "cat() { for x do touch CAN\ndone; }\ncat a"),
            (
                "looking",
                "ls() { for x  do { touch CAN; }; done; }; ls a b",
            ),
        ],
    ),
    runs(
        "an escaped string inside of an expansion",
        &[
            ("echo", "echo ${x:-$'\\''}; touch CAN #'}"),
            ("echo", "echo ${x:-a$'\\''b}; touch CAN #'}"),
            ("echo", "echo ${x:-$'\\''}\ntouch CAN #'}"),
            ("looking", "ls ${x:-$'\\''} | touch CAN #'}"),
            ("echo", "echo ${x:+$'\\''} && touch CAN #'}"),
            ("echo", "echo ${x-$'a\\''}; CAN #'}"),
        ],
    ),
    runs(
        "a redirection with a variable",
        &[
            (
                "echo",
                "for x in 'b[$(touch CAN)]'; do echo {a[x]}>/dev/null; done",
            ),
            (
                "looking",
                "for x in 'b[$(touch CAN)]'; do ls {a[x]}</dev/null; done",
            ),
            (
                "echo",
                "for i in 'b[$(touch CAN)0]'; do echo y {a[i]}>&1; done",
            ),
            ("looking", "echo {PATH}>/dev/null; ls"),
            ("looking", "echo x {PATH}</dev/null && ls a"),
            ("looking", "true {PATH}>&1; git log"),
        ],
    ),
    runs(
        "a builtin behind another",
        &[
            ("echo", "echo x; command test -v 'a[$(touch CAN)]'"),
            ("echo", "echo x; command [ -v 'a[$(touch CAN)]' ]"),
            ("echo", "echo x; builtin test -v 'a[`touch CAN`]'"),
            ("looking", "builtin printf -v PATH d; ls"),
            ("looking", "command printf -v PATH d; ls"),
            ("looking", "builtin printf -v 'a[$(touch CAN)]' x"),
            ("working", "command read 'a[$(touch CAN)]'"),
        ],
    ),
    runs(
        "an abbreviated option",
        &[
            ("echo", "env --s='touch CAN' echo"),
            ("echo", "env --sp='touch CAN' echo"),
            ("echo", "env --split-strin='touch CAN' echo"),
            ("searching", "echo touch | xargs --re=echo echo CAN"),
            ("searching", "echo touch | xargs --repl=ls ls CAN"),
            (
                "searching",
                "echo 'x;touch CAN' | xargs --re=R sh -c 'echo R'",
            ),
            (
                "searching",
                "echo 'x;touch CAN' | xargs --rep=R -n 1 bash -c 'echo R'",
            ),
            ("echo", "env --c=d ./run; echo x"),
            ("working", "env --chd=d ./run"),
        ],
    ),
    runs(
        "a variable that is set for what `xargs` runs",
        &[
            ("searching", "echo x | xargs --process-slot-var=PATH ls"),
            ("searching", "echo x | xargs --process-slot-v=PATH ls"),
            ("searching", "echo x | xargs --pro=PATH cat"),
            (
                "searching",
                "find . -name a.txt | xargs --process-slot-var=PATH -n 1 ls",
            ),
            (
                "searching",
                "echo a b | xargs -n 1 --process-slot-var=PATH -P 2 ls",
            ),
        ],
    ),
    runs(
        "another shell reads it otherwise",
        &[
            ("looking", "ls &>/dev/null touch CAN"),
            ("echo", "echo x &>/dev/null touch CAN"),
            ("echo", "echo x; [[ a || touch CAN ]]"),
            (
                "echo",
                "echo x; [[ a && touch CAN ]] || [[ b || touch CAN ]]",
            ),
            ("looking", "cat a.txt | ls &>/dev/null CAN"),
            ("looking", "ls >&2 |& cat &>/dev/null touch"),
            ("looking", "echo $'a\\'; touch CAN; echo \\'b'"),
        ],
    ),
    runs(
        "a keyword of bash that is a program elsewhere",
        &[
            ("looking", "command time -o FILE ls"),
            ("looking", "command time ls"),
            ("looking", "nice time -o FILE ls"),
            ("looking", "env time -a -o FILE ls"),
            ("looking", "'time' -o FILE ls"),
        ],
    ),
    Class {
        name: "a substitution that runs in the shell itself",
        detect: Detect::Passes,
        lines: &[
            ("echo", "echo ${ touch CAN; }"),
            ("echo", "echo \"${ touch CAN; }\""),
            ("echo", "echo ${| touch CAN; }"),
            ("echo", "echo ${\ttouch CAN; }"),
            ("echo", "echo ${\ntouch CAN\n}"),
            ("looking", "cat <<E\n${ touch CAN; }\nE"),
        ],
    },
    runs(
        "braces that become options",
        &[
            ("searching", "find . {-exec,touch,CAN,\\;}"),
            ("searching", "find a.txt {-ok,-exec,touch}{,} \\;"),
            ("searching", "find . -{exec,name} touch CAN \\; -name x"),
            ("searching", "find d {-maxdepth,0} {-exec,CAN,\\;}"),
            ("searching", "echo a | xargs {-I,ls} ls ls"),
            (
                "searching",
                "find . -maxdepth 0 -e{xec,name} touch \\; -o -name x",
            ),
            ("searching", "find . -maxdepth 0 {-exec,touch,+,CAN,\\;}"),
        ],
    ),
    runs(
        "a wrapper that changes the directory or the variables",
        &[
            ("working", "env -C d ./run"),
            ("working", "env --chdir=d ./run"),
            ("working", "env -Cd ./run"),
            ("working", "nice env -C d ./run"),
            ("looking", "env -u PATH ls"),
            ("looking", "env PATH=d ls"),
            ("looking", "env -i PATH=d ls"),
            ("looking", "env LD_PRELOAD=x ls"),
        ],
    ),
    runs(
        "names that a search finds",
        &[
            ("searching", "find dash {,} -exec \\;"),
            ("searching", "cd dash && find *"),
            ("searching", "cd dash && echo CAN | xargs *"),
            ("searching", "cd dash && echo x | xargs -I* ls *"),
            (
                "searching",
                "for x in -exec; do find . -maxdepth 0 $x touch CAN \\;; done",
            ),
            (
                "searching",
                "for x in touch; do find . -maxdepth 0 -exec $x CAN \\;; done",
            ),
            (
                "searching",
                "find . -maxdepth 0 $(echo -exec touch CAN) \\;",
            ),
            (
                "searching",
                "find . -maxdepth 0 \"$(echo -exec)\" touch CAN \\;",
            ),
        ],
    ),
    Class {
        name: "a forbidden program behind one that runs others",
        detect: Detect::Passes,
        lines: &[
            ("forbidding", "prlimit --nofile=10 touch CAN"),
            ("forbidding", "choom -n 0 -- touch CAN"),
            ("forbidding", "setarch x86_64 touch CAN"),
            ("forbidding", "linux64 touch CAN"),
            ("forbidding", "sg root 'touch CAN'"),
            ("forbidding", "start-stop-daemon -S -x touch -- CAN"),
            (
                "forbidding",
                "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch CAN",
            ),
            ("forbidding", "ld.so touch CAN"),
            ("forbidding", "$\"touch\" CAN"),
            ("forbidding", "command -p touch CAN"),
            ("forbidding", "exec -c touch CAN"),
            ("forbidding", "env --s='touch CAN'"),
            ("forbidding", "x=touch; $x CAN"),
            ("forbidding", "echo \"$\\\n(touch CAN)\""),
            ("forbidding", "t\\\nouch CAN"),
            ("forbidding", "bash <<< 'touch CAN'"),
            ("forbidding", "echo 'touch CAN' | sh"),
            ("forbidding", "eval 'to''uch CAN'"),
            ("forbidding", "alias x=touch; x CAN"),
            ("forbidding", "coproc touch CAN"),
        ],
    },
    Class {
        name: "nested deeper than a stack holds",
        detect: Detect::Aborts,
        lines: &[
            ("echo", "(deep) echo \"$("),
            ("echo", "(deep) echo ${x:-"),
            ("echo", "(deep) ("),
            ("echo", "(deep) { "),
            ("echo", "(deep) echo $(("),
            ("echo", "(deep) echo `"),
            ("echo", "(deep) if "),
        ],
    },
];

/// How often the last word of a line of [`Detect::Aborts`] is repeated.
const DEPTH: usize = 100_000;

/// The line that is meant: of those that begin with `(deep)` the part behind the first word, or all if there is none, so
/// often that it is deep.
#[must_use]
pub fn written_out(line: &str) -> String {
    let Some(line) = line.strip_prefix("(deep) ") else {
        return line.to_owned();
    };
    match line.strip_prefix("echo ") {
        Some(part) => format!("echo {}", part.repeat(DEPTH)),
        None => line.repeat(DEPTH),
    }
}
