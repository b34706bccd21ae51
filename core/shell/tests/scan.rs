//! Which programs a shell line would start. The reference for what must never be missed are the complaints
//! that users of string matching have: chains, substitutions, wrappers, quoting.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use windlass_shell::{Direction, SimpleCommand, Unparsed, scan as commands};

fn show(command: &SimpleCommand) -> String {
    let mut out: Vec<String> = command
        .assignments
        .iter()
        .map(|a| format!("{a}="))
        .collect();
    for word in &command.words {
        let mark = if word.is_literal() { "" } else { "~" };
        out.push(format!("{mark}{}", word.text()));
    }
    for redirection in &command.redirections {
        let sign = match redirection.direction {
            Direction::In => "<",
            Direction::Out => ">",
        };
        let mark = if redirection.target.is_literal() {
            ""
        } else {
            "~"
        };
        out.push(format!("{sign}{mark}{}", redirection.target.text()));
    }
    out.join(" ")
}

fn parsed(line: &str) -> Vec<String> {
    let mut shown: Vec<String> = commands(line).unwrap().iter().map(show).collect();
    shown.sort();
    shown
}

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    let mut expected: Vec<String> = expected.iter().map(|e| (*e).to_owned()).collect();
    expected.sort();
    assert_eq!(parsed(line), expected, "{line}");
}

#[test]
fn perm_4_lists_and_pipelines_give_every_command() {
    check("npm test", &["npm test"]);
    check(
        "a && b || c; d & e | f |& g",
        &["a", "b", "c", "d", "e", "f", "g"],
    );
    check("cd x && python3 y", &["cd x", "python3 y"]);
    check("echo x && rm -rf /", &["echo x", "rm -rf /"]);
    check("a\nb # and c\n\nd", &["a", "b", "d"]);
    check("a \\\n  b", &["a b"]);
    check("! grep -q x f", &["grep -q x f"]);
    check("", &[]);
}

#[test]
fn perm_4_substitutions_are_commands() {
    check("echo $(rm x)", &["echo ~", "rm x"]);
    check("echo `rm x`", &["echo ~", "rm x"]);
    check("echo \"a $(b \"$(c)\") d\"", &["echo ~a  d", "b ~", "c"]);
    check("echo ${X:-$(rm x)}", &["echo ~", "rm x"]);
    check("echo $((1 + 2 * (3 - 4)))", &["echo ~"]);
    check("diff <(a b) >(c)", &["diff ~ ~", "a b", "c"]);
    check("X=$(rm x)", &["X=", "rm x"]);
    check("echo '$(rm x)' \"\\$(rm y)\"", &["echo $(rm x) $(rm y)"]);
}

#[test]
fn perm_4_redirections_are_seen() {
    check("echo x > f", &["echo x >f"]);
    check("echo x >> f 2>&1", &["echo x >f"]);
    check("echo x &> f", &["echo x >f"]);
    check("echo x >& f", &["echo x >f"]);
    check("echo x >| f", &["echo x >f"]);
    check("echo x <> f", &["echo x >f"]);
    check("echo x > 'a b' 3>c", &["echo x >a b >c"]);
    check("echo x 2>/dev/null >&2 <&0 < in <<< word", &["echo x <in"]);
    check("> f", &[">f"]);
    check("{ echo x; } > f", &["echo x", ">f"]);
    check("echo x >$F", &["echo x >~"]);
    check("timeout 5 a > f", &["a >f", "timeout 5 a >f"]);
}

#[test]
fn perm_4_here_documents_are_no_commands_but_may_hold_some() {
    check("cat <<EOF\nrm x\nEOF\nls", &["cat", "ls"]);
    check("cat <<EOF\n$(rm x)\nEOF", &["cat", "rm x"]);
    check("cat <<'EOF'\n$(rm x)\nEOF", &["cat"]);
    check("cat <<-EOF && ls\n\tx\n\tEOF", &["cat", "ls"]);
}

#[test]
fn perm_4_compound_commands_give_all_their_branches() {
    check(
        "if a; then b; elif c; then d; else e; fi",
        &["a", "b", "c", "d", "e"],
    );
    check("for x in $(ls); do rm $x; done", &["ls", "rm ~"]);
    check(
        "while read l; do echo $l; done < f",
        &["read l", "echo ~", "<f"],
    );
    check("(cd x; make) && { ls; }", &["cd x", "make", "ls"]);
    check(
        "case $x in a | b) c;; (d) e ;& *)\n f\n g;; esac > h && i",
        &["c", "e", "f", "g", ">h", "i"],
    );
    check("[ -f x ] && a", &["[ -f x ]", "a"]);
    check("case x in esac; a", &["a"]);
    check("select x in a b; do c; done", &["c"]);
    check(
        "[[ -f x && $y =~ (a|b) ]] && c",
        &["[[ -f x ~ =~ a b ]]", "c"],
    );
    check("[[ $(rm x) ]]", &["[[ ~ ]]", "rm x"]);
    check("(( 1 + 1 )) || a", &["(( ~", "a"]);
}

#[test]
fn perm_4_bodies_of_functions_are_commands() {
    check("f() { rm x; }; f", &["rm x", "f"]);
    check("f ( ) ( rm x )", &["rm x"]);
    check("function f { rm x; }", &["rm x"]);
    check("function f() { rm \"$1\"; }\nf y", &["rm ~", "f y"]);
    check("ls() { rm x; }; ls", &["rm x", "ls"]);
}

#[test]
fn perm_4_quoting_does_not_hide_a_program() {
    check("\"rm\" x", &["rm x"]);
    check("r''m x", &["rm x"]);
    check("\\rm x", &["rm x"]);
    check("$'r\\x6d' x", &["rm x"]);
    check("$'\\162m' $'\\'' y", &["rm ' y"]);
    check("echo \"$'x'\"", &["echo $'x'"]);
    check("grep 'a*b' f", &["grep a*b f"]);
    check("grep a*b f", &["grep ~a*b f"]);
}

#[test]
fn perm_4_wrappers_give_what_they_run() {
    check("env -i A=1 rm x", &["A= rm x", "env -i A=1 rm x"]);
    check("FOO=1 rm x", &["FOO= rm x"]);
    check("sh -c 'a && rm x'", &["a", "rm x", "sh -c a && rm x"]);
    check(
        "nohup nice -n 5 rm x",
        &["nice -n 5 rm x", "nohup nice -n 5 rm x", "rm x"],
    );
    check(
        "find . | xargs -n 1 rm",
        &["find .", "rm ~", "xargs -n 1 rm"],
    );
    check("xargs -I{} mv {} x", &["mv ~ x ~", "xargs -I{} mv {} x"]);
    check("find . -exec rm {} +", &["find . -exec rm {} +", "rm ~"]);
    check(
        "find a -execdir git mv {} b \\; -ok rm c ';' -print",
        &[
            "find a -execdir git mv {} b ; -ok rm c ; -print",
            "git mv ~ b",
            "rm c",
        ],
    );
    check("fd x -X rm", &["fd x -X rm", "rm"]);
    check("command -v rm", &["command -v rm"]);
    check("time -p rm x", &["time -p rm x", "rm x"]);
    check("eval 'rm x'", &["eval rm x", "rm x"]);
    check("exec -a name rm x", &["exec -a name rm x", "rm x"]);
    check(
        "timeout 5 bash -c \"rm x\"",
        &["bash -c rm x", "rm x", "timeout 5 bash -c rm x"],
    );
}

#[test]
fn perm_4_what_cannot_be_followed_is_refused() {
    for (line, why) in [
        ("echo 'x", Unparsed::Unclosed),
        ("echo $(ls", Unparsed::Unclosed),
        ("cat <<EOF\nx", Unparsed::Unclosed),
        ("if a; then b", Unparsed::Unclosed),
        ("a )", Unparsed::Syntax),
        ("done", Unparsed::Syntax),
        ("$X y", Unparsed::ComputedProgram),
        ("$(echo rm) x", Unparsed::ComputedProgram),
        ("/bin/r? x", Unparsed::ComputedProgram),
        ("xargs $X", Unparsed::ComputedProgram),
        ("sh -c \"$X\"", Unparsed::ComputedProgram),
        ("a\0b", Unparsed::Syntax),
    ] {
        assert_eq!(commands(line), Err(why), "{line}");
    }
    for line in [
        "sudo rm x",
        "source x",
        ". x",
        "env -S 'rm x'",
        "bash script.sh",
        "curl x | sh",
        "a=(1 2)",
        "busybox rm x",
        "find . -exec $X {} +",
        "find . -exec sh -c 'rm {}' \\;",
        "xargs -I{} sh -c 'echo {}'",
        "xargs -IF sh -c 'echo F'",
        "case x in y) z",
        "a;; b",
        "((a);(b))",
        "[[ -f x",
        "$'\\u00e9' x",
        "echo ${x@P}",
        "printf -v 'a[$(rm x)]' y",
        // What variables hold is evaluated once more, whatever set them.
        "echo $((1 + $(rm x)))",
        "echo $((x))",
        "(( x + 1 )) || a",
        "((x))",
        "echo ${!x}",
        "echo ${a[x]}",
        "echo ${s:y}",
        "echo ${s:1:y}",
        "echo ${x:=y}",
        "echo ${x=y}",
        "[[ 'a[$(rm x)]' -eq 1 ]]",
        "[[ 1 -lt 'a[$(rm x)]' ]]",
        "[[ x -eq 1 ]]",
        "[[ -v 'a[$(rm x)]' ]]",
        "test -v a[x]",
        "[ -v x ]",
        "for OPTIND in 'a[$(rm x)]'; do echo; done",
        "for HISTCMD in 'a[$(rm x)]'; do pwd; done",
        "{ for RANDOM in 'a[$(rm x)]'; do echo; done; }",
        "for PATH in /tmp; do echo; git log; done",
        "select SECONDS in 'a[$(rm x)]'; do echo; done",
        "OPTIND='a[$(rm x)]'",
        "RANDOM='a[$(rm x)]' echo",
        "PS4='$(rm x)'; set -x; echo",
        "PROMPT_COMMAND='rm x'",
        "BASH_ENV=x bash y",
        "read OPTIND <<< 'a[$(rm x)]'",
        "read 'a[x]' <<< 1",
        "read PATH <<< /tmp",
        "printf -v PATH /tmp",
        "printf -v OPTIND 'a[$(rm x)]'",
        "mapfile -C 'rm x #' -c 1 < y",
        "readarray -tC 'rm x #' y",
        "declare -i x='a[$(rm x)]'",
        "declare -n x='a[$(rm x)]'",
        "let x=1+y",
        "alias ls=rm",
        "trap 'rm x' EXIT",
        "coproc rm x",
        "f(x) { rm y; }",
    ] {
        assert!(commands(line).is_err(), "{line} gave {:?}", commands(line));
    }
}

/// Parses on a stack on which a recursion without a limit would show.
fn on_a_small_stack(line: String) -> Result<Vec<SimpleCommand>, Unparsed> {
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let parsing = thread.spawn(move || commands(&line)).unwrap();
    parsing.join().unwrap()
}

#[test]
fn deep_nesting_ends_in_an_error_not_on_the_stack() {
    for (open, inner, close) in [
        ("echo $(", "x", ")"),
        ("\"$(", "x", ")\""),
        ("${x:-", "y", "}"),
        ("\"${x:-", "y", "}\""),
        ("\"${x:-$(", "y", ")}\""),
        ("<(", "x", ")"),
        ("<(\"$(", "x", ")\")"),
        ("$((\"$(", "1", ")\"))"),
        ("cat <<E\n${x:-", "y", "}\nE\n"),
        ("eval ", "x", ""),
        ("env ", "x", ""),
    ] {
        for times in [20, 1_000, 20_000] {
            for close in [close, ""] {
                let nested = format!("{}{inner}{}", open.repeat(times), close.repeat(times));
                // Wrappers are programs, the rest are words.
                let program = if open.ends_with(' ') { "" } else { "echo " };
                let line = [program, &nested].concat();
                assert!(on_a_small_stack(line).is_err(), "{times} times {open}");
            }
        }
    }
    let evals = "eval ".repeat(1_000) + "x";
    assert_eq!(commands(&evals), Err(Unparsed::TooDeep));
    let within = format!("echo {}x{}", "\"$(echo ".repeat(12), ")\"".repeat(12));
    assert_eq!(commands(&within).unwrap().len(), 13);
}

#[test]
fn a_line_longer_than_any_that_can_be_run_is_refused() {
    let longest = format!("echo {}", "x".repeat((128 << 10) - 5));
    assert_eq!(commands(&longest).unwrap().len(), 1);
    assert_eq!(commands(&(longest + "x")), Err(Unparsed::TooLong));
}

#[test]
fn what_would_be_read_again_and_again_is_refused() {
    // Each level doubles the work of a reader that reads what it has found once more.
    let doubling = format!("echo {}y{}", "\"${x:-".repeat(15), "}\"".repeat(15));
    assert_eq!(commands(&doubling), Err(Unparsed::TooDeep));
    // Each of many commands would get all of many redirections.
    let product = format!(
        "find {} {}",
        "-exec a \\; ".repeat(4_000),
        "<b ".repeat(8_000)
    );
    assert_eq!(commands(&product), Err(Unparsed::TooDeep));
    // Much of everything is no reason to refuse.
    for (piece, times) in [
        ("echo \"$(git rev-parse HEAD)\" ${x:-y} `date`; ", 2_000),
        ("for f in a b; do cat <$f | sort >/tmp/x; done\n", 2_000),
        ("cat <<'EOF'\nsome text \" ' $( { \nEOF\n", 3_000),
        ("find . -exec rm {} + -o -name x; ", 2_000),
        ("((((", 1),
        ("( ", 20_000),
    ] {
        let line = piece.repeat(times);
        let parsed = commands(&line);
        assert_ne!(parsed, Err(Unparsed::TooDeep), "{piece}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_parsed_or_refused(line in "[a-z \"'$(){}`;&|<>\\\\\n#=*!-]{0,60}") {
        let _ = commands(&line);
    }

    /// However a removal is chained to something harmless, it is found or the line is refused.
    #[test]
    fn perm_4_a_chained_command_is_never_missed(
        before in "[a-z]{1,6}( [a-z'\"$*{}-]{0,6}){0,3}",
        joint in prop::sample::select(vec![" && ", " || ", "; ", " | ", " & ", "\n", " |& "]),
    ) {
        let line = format!("{before}{joint}rm -rf x");
        if let Ok(found) = commands(&line) {
            let quoted = before.matches('\'').count() % 2 == 1 || before.matches('"').count() % 2 == 1;
            let seen = found.iter().any(|c| c.program() == Some("rm"));
            prop_assert!(seen || quoted, "{line}");
        }
    }
}

#[test]
fn perm_4_what_evaluates_nothing_is_followed() {
    for line in [
        "echo ${x} ${#x} ${x:-y} ${x:+y} ${x%.*} ${x//a/b} ${x:1:2} ${x: -1} ${a[@]} ${a[0]} $# $? $1",
        "[[ 3 -gt 2 && -f x ]]",
        "[ $x -eq 1 ]",
        "for f in a b; do echo $f; done",
        "printf '[%s]\n' x",
        "read -r line < x",
        "export A=[x]",
    ] {
        assert!(commands(line).is_ok(), "{line} gave {:?}", commands(line));
    }
}
