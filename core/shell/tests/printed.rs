//! What is printed does under bash and dash what the line does under bash.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, process::Command};

use windlass_shell::{print, read};

/// Lines whose result under bash is that of what is printed, under both shells.
const LINES: &[&str] = &[
    "echo a b",
    "echo 'it'\\''s' \"a  b\" c\\ d",
    "cat one.txt two.txt | sort | uniq -c",
    "cat one.txt && cat missing.txt || cat two.txt",
    "! cat missing.txt 2>/dev/null; cat one.txt",
    "(cd sub && cat three.txt); cat one.txt",
    "{ cat one.txt; cat two.txt; } | wc -l",
    "for f in one.txt two.txt; do cat $f; done",
    "for i in {1..3} {a,b}x; do printf '%s\\n' \"$i\"; done",
    "if [ -f one.txt ]; then cat one.txt; elif [ -f x ]; then cat x; else cat two.txt; fi",
    "while cat missing.txt 2>/dev/null; do cat one.txt; done; cat two.txt",
    "cat <<'E' | tr a-z A-Z\n$x `y` \\z\nE\n",
    "cat <<E\n$HOME \\$x `cat one.txt` $(cat two.txt) \"q\"\nE",
    "cat <<-E\n\tone\n\t\ttwo\n\tE\ncat one.txt",
    "cat <<A <<B\na\nA\nb\nB\ncat one.txt",
    "cat <<< \"a $(cat one.txt)\"",
    "printf '%s|' \"$(cat one.txt)\" $(cat two.txt) x$(cat one.txt)y; echo",
    "printf '%s\\n' \"$(cat <<'EOF'\nfix: it's \"done\"\n\n- a\nEOF\n)\"",
    "cat one.txt > out.txt 2>&1; cat missing.txt >> out.txt 2>&1; wc -l out.txt",
    "cat missing.txt &> out.txt; wc -l < out.txt",
    "cat missing.txt |& wc -l",
    "cat sub/*.txt o?e.txt [ot]*.txt",
    "ls nothing*here 2>/dev/null; echo $?",
    "cat missing.txt 2>/dev/null; echo \"status $?\"",
    "echo $UNSET_VARIABLE \"$UNSET_VARIABLE\" ${HOME}",
    "cd sub && cat three.txt && cd .. && cat one.txt",
    "ls ~ > /dev/null && echo home",
    "echo one # a comment\n# another\necho two",
    "echo a \\\n  b",
    "nice -n 5 cat one.txt; timeout 5 cat two.txt; env cat one.txt; command cat two.txt",
    "find sub -name '*.txt' -exec cat {} \\; -exec cat {} +",
    // Substitutions run in their order, whichever of them is looked at before its command.
    "cat \"sub/$(rm one.txt; echo three.txt)\" $(ls one.txt 2>/dev/null); echo $?",
    "cat one.txt | xargs -n1 echo x",
    "bash -c 'cat one.txt | wc -l; echo \"$HOME\"'",
    "cat `echo one.txt`",
    "> empty.txt; ls empty.txt",
    "echo \"a$\" 'b'$ c$/ \"$\"",
    "test -d sub && echo yes; [ \"$HOME\" != x ] && echo no",
    "cat one.txt 3>&1 1>&2 2>&3",
    "echo {} HEAD@{1} a{}b",
    "cat \"sub\"/three.txt; 'cat' one.txt; c\"a\"t two.txt",
    "echo [ab [ ]",
    "echo a;echo b;\n\n\necho c",
    "exit 3",
    "x=1; y=\"two words\"; echo \"$x\" $y",
    "x=$(cat one.txt); echo $? \"$x\"; x=$x$x; echo \"$x\"; y=$(exit 7); echo $?",
    "echo $((7 * 6)) $((1+(2*3))) \"$(( 10 / 3 ))\"",
    "printf '%s|' $'a\\tb' $'it\\'s'; echo",
    "echo \"${UNSET_VARIABLE:-none}\" ${HOME:+home} \"${#HOME}\"",
    "for f in one.txt two.txt; do echo ${f%.txt} ${f#*.} ${f##*o}; done",
    "head -n$(echo 1) one.txt",
    "echo \"--- $HOME\"",
    "(exit 4); echo $?; (exit 5) || exit 6",
    "bash -c 'cat <(cat one.txt) {two,one}.txt; [[ a == a ]] && echo yes'",
    "x=$(cat <<E | sort\nb\na\nE\n); echo \"$x\" $(cat \"one.txt\" - <<< c)",
    "diff <(cat one.txt) <(sort two.txt); echo $?",
    "cat <(cat one.txt; echo $?) sub/three.txt <(cat two.txt) > out.txt; wc -l < out.txt",
    "cat one.txt | cat - <(cat <(cat two.txt) sub/three.txt) | sort",
    "false; cat <(echo $?); ! cat <(exit 3); echo $?",
    "for f in one.txt two.txt; do wc -l <(cat $f) | tr -d 0-9; done",
    "cat one.txt | { cat <(cat); cat; }",
    "cat <(cat <<E\n$HOME\nE\n) <<'F' -\nf\nF\necho $?",
    "case one.txt in two*) echo two;; *.txt | x) echo text; cat one.txt;; *) echo any; esac",
    "case \"$UNSET_VARIABLE\" in '') echo empty;; esac; case a in b) ;; esac; echo $?",
    "case $(cat one.txt) in (one?uno) echo yes;; esac; false; case x in x) echo $?;; esac",
    "case '*' in '*') echo star;; *) echo any;; esac; case b in [!a]) echo 1;; esac | cat",
    "[[ -f one.txt && -d sub ]] && echo both; [[ -f x || ! -d sub || -z '' ]]; echo $?",
    "[[ $UNSET_VARIABLE ]] || echo unset; [[ \"a b\" == a* ]] && echo begins; [[ ab != *c ]]; echo $?",
    "[[ $(cat two.txt) == *due ]] && echo yes; [[ *.txt == '*.txt' ]] && echo same",
    "[[ ( a == b || a == a ) && ( -n x ) ]]; echo $?; [[ a == b && x || c == c ]]; echo $?",
    // Dash has one list of redirections for a subshell and the braces around it.
    "cat <((cat missing.txt) 2> out.txt) > o.txt; ls out.txt; { (exit 3); } < one.txt; echo $?",
    "{ { (cat; cat missing.txt) 2>&1; } < one.txt; } > out.txt; echo $?; wc -l < out.txt",
    "false; [[ $? -eq 1 ]] && echo one; if [[ ! one.txt -ef two.txt ]]; then echo differ; fi",
];

fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(folder.join("one.txt"), "one\nuno\n").unwrap();
    fs::write(folder.join("two.txt"), "two\nzwei due\n").unwrap();
    fs::write(folder.join("sub/three.txt"), "three\n").unwrap();
    folder
}

fn run(shell: &[&str], line: &str, folder: &Path) -> (String, Option<i32>) {
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .arg("-c")
        .arg(line)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        output.status.code(),
    )
}

#[test]
fn what_is_printed_does_what_the_line_does() {
    let mut wrong = Vec::new();
    for line in LINES {
        let read = match read(line) {
            Ok(read) if read.obstacle.is_none() => read,
            other => {
                wrong.push(format!(
                    "{line}\n  is not read: {:?}",
                    other.map(|line| line.obstacle)
                ));
                continue;
            }
        };
        let printed = print(&read.script, &|_| None);
        let wanted = run(&["bash", "--norc"], line, &folder("raw"));
        for shell in [&["bash", "--norc"][..], &["dash"]] {
            let got = run(shell, &printed, &folder("printed"));
            let same = got == wanted || line.contains("*") && got.0.replace("./", "") == wanted.0;
            if !same {
                wrong.push(format!(
                    "{line}\n  {shell:?}: {got:?}\n  wanted {wanted:?}\n{printed}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
