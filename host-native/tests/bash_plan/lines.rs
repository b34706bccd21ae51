//! Command lines.

pub const LISTS: &[&str] = &[
    "true", "false", ":", "true && echo a", "false && echo a", "false || echo b", "true || echo b",
    "false && echo a || echo b", "true && false || echo c", "false; echo $?", "true; echo $?",
    "./fail 3; echo $?", "./fail 3 || echo $?", "! true", "! false", "! ./fail", "echo a; echo b\necho c",
    "nosuch; echo $?", "nosuch && echo a || echo b", "false || false || echo x && echo y",
    "echo a && \n echo b", "echo a # comment", "", "true;", "./both; ./both 2>&1", "echo 'a;b' && echo \"c&&d\"",
    "false\nfalse\necho $?", ": a b c > /dev/null && echo ok", "true x y", "false x || echo z",
];

pub const PIPELINES: &[&str] = &[
    "cat a.txt | wc -l", "cat a.txt | sort | head -1", "yes | head -1", "yes | head -n 3 | wc -l",
    "for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done | head -1", "false | true; echo $?", "true | false; echo $?",
    "! true | false; echo $?", "./fail 3 | ./fail 4; echo $?", "echo a | cat | cat | cat", "echo a | { cat; echo b; }",
    "echo a | (cat; echo b)", "{ echo a; echo b; } | sort -r", "(echo a; echo b) | sort -r", "./both 2>&1 | sort",
    "./both 2>&1 >/dev/null | sort", "echo a | while true; do cat; break; done", "cat nope | wc -c",
    "nosuch | cat; echo $?", "cat a.txt | nosuch; echo $?", "echo x | cd d; pwd", "cd d | pwd", "printf 'b\\na\\n' | sort",
    "while true; do echo y; done | head -1", "while echo y; do :; done | head -2", "yes | while true; do head -1; break; done",
    "seq 1 100000 | tail -1", "seq 1 200000 | head -1", "cat a.txt | grep two | sed s/two/2/", "echo a | tr a b | tr b c",
    "for f in a.txt b.txt; do cat $f; done | wc -l", "if true; then echo yes; fi | cat", "exit 3 | true; echo $?",
    "true | exit 3; echo $?", "echo a |\n cat", "echo $(echo a | cat) | cat", "echo a 2>/dev/null | cat",
    "cat < a.txt | sort > s.out", "sort a.txt | tee t.out | wc -l", "printf 'x%.0s' 1 2 3 | wc -c",
    "yes | head -c 100000 | wc -c", "echo a | : ; echo $?", "! echo a | grep -q b && echo none", "grep -q one a.txt | cat; echo $?",
];

pub const COMPOUND: &[&str] = &[
    "(cd d; pwd); pwd", "(exit 3); echo $?", "(false) || echo no", "{ echo a; echo b; }", "{ false; } || echo no",
    "for i in 1 2 3; do echo $i; done", "for i in; do echo $i; done; echo $?", "for i in a 'b c' d; do echo \"[$i]\"; done",
    "for f in *.txt; do echo $f; done", "for f in nomatch*; do echo $f; done", "for i in 1 2; do for j in a b; do echo $i$j; done; done",
    "if true; then echo a; fi", "if false; then echo a; fi; echo $?", "if false; then echo a; else echo b; fi",
    "if false; then echo a; elif true; then echo c; else echo b; fi", "if ./fail; then :; else echo $?; fi",
    "while false; do echo a; done; echo $?", "until true; do echo a; done; echo $?", "while true; do echo a; break; done",
    "until false; do echo a; break; done", "for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done",
    "for i in 1 2 3; do if [ $i = 2 ]; then break; fi; echo $i; done; echo $i", "(for i in 1 2; do echo $i; done) | sort -r",
    "for i in 1 2; do (echo $i; exit 4); echo $?; done", "{ exit 5; }; echo no", "(exit 5; echo no); echo $?",
    "for i in 1 2; do false; done; echo $?", "while [ ! -e made ]; do touch made; done; ls made", "( ( (true) ) ) || true; (echo a)",
    "( ( echo deep ) )", "{ { echo deep; }; }", "if (exit 1); then echo a; else echo b; fi", "for i in $WORDS; do echo $i; done",
    "for i in \"$WORDS\"; do echo \"$i\"; done", "! (exit 1)", "! { false; }", "if ! false; then echo ok; fi",
    "while true; do echo a; exit 6; done; echo no", "for i in 1 2; do for j in 1 2; do break 2; done; echo no; done; echo end",
    "for i in 1 2; do for j in 1 2; do continue 2; done; echo no; done; echo end",
];

pub const REDIRECTIONS: &[&str] = &[
    "echo a > out", "echo a > out; echo b >> out", "echo a >> out", "echo a >| out", "echo a > out; cat < out",
    "echo a > a.txt", "cat < nope; echo $?", "echo x > d; echo $?", "echo x > nope/f; echo $?", "cat < d", "./both > o 2> e",
    "./both > o 2>&1", "./both 2>&1 > o", "./both 3>&1 1>&2 2>&3", "./both 3>&1 >o 2>&3", "echo x >&2", "echo x 1>&2 2>/dev/null",
    "echo x >&7; echo $?", "echo x 3>o >&3", "echo x > o > p", "cat < a.txt < b.txt", "{ echo a; ./both; } > o 2>&1",
    "(echo a; cat nope) > o 2>&1", "for i in 1 2; do echo $i; done > o", "while true; do echo a; break; done > o",
    "if true; then echo a; fi > o", "{ cat; cat; } < a.txt", "{ head -1; cat; } < a.txt", "(cat) < b.txt", "> made", ">> made",
    "> made > made2", "< nope; echo $?", "< a.txt; echo $?", "echo x > /dev/null", "cat < /dev/null", "echo x >&-; echo $?",
    "./both >&- 2>&1; echo $?", "nosuch 2> err", "nosuch > o 2>&1", "cd nope 2> err", "echo x > 'sp ace/new file'",
    "cd d && echo x > here", "cd d && echo x > ../there", "(cd d; echo sub > f); echo top > f", "cat 0< a.txt", "cat 3< a.txt <&3",
    "cat 3< a.txt <&3 3<&-", "{ echo a >&3; } 3> o", "{ echo a; echo b >&2; } 2>&1 | sort", "echo a > o; echo b > o",
    ": > empty", ": > o && ls -s o", "exit 3 > o", "true > o || echo no", "cat nope > o 2>/dev/null; echo $?",
    "printf abc > o; printf def >> o", "echo a > o; wc -c < o", "./die 13 > o; echo $?", "sh -c 'echo a >&3' 3> o",
    "sh -c 'echo a >&9' 9> o", "echo x > dlink/through", "cat < link", "echo x > link", "cat < broken; echo $?", "cd dlink && echo x > z",
    "echo x > a.txt/b; echo $?", "echo x > d/; echo $?", "echo x > newdir/; echo $?", "cat < a.txt/; echo $?",
    "for i in 1 2; do echo $i >> log; done; cat log", "for i in 1 2; do cat < a.txt; done", "{ echo 1; { echo 2; } > i; echo 3; } > o",
    "echo x > /dev/stderr", "echo x > /dev/stdout", "echo a | cat < /dev/stdin", "if cat < nope; then :; else echo $?; fi",
    "for i in 1; do echo $i; done < nope; echo $?", "(echo a) > nope/x; echo $?", "{ echo a; } > nope/x || echo b",
    "echo x &> o", "./both &> o", "./both &>> o",
];

pub const TEXTS: &[&str] = &[
    "cat <<E\nbody\nE", "cat <<'E'\n$HOME `x` \\a\nE", "cat <<E\n$WORDS $EMPTY ${GLOB}\nE", "cat <<E\na $(echo b) c\nE",
    "cat <<-E\n\tindented\n\t\ttwice\n\tE", "cat <<A <<B\na\nA\nb\nB", "cat 3<<A <&3\nthree\nA", "cat <<E | tr a b\naaa\nE",
    "cat <<E > out\nfile\nE", "cat <<< hello", "cat <<< \"$WORDS\"", "cat <<< $WORDS", "cat <<< '*'", "wc -c <<E\n\nE", "cat <<E\nE",
    "while true; do cat; break; done <<E\nloop\nE", "{ cat; echo x; } <<E\ngroup\nE", "echo \"$(cat <<'E'\na \"b\" $c\nE\n)\"",
    "(cat) <<E\nsub\nE", "cat <<E && echo after\nx\nE", "cat - b.txt <<E\nfirst\nE", "cat <<E; echo $?\n$(./fail 4)\nE",
    "grep b <<E\nabc\nxyz\nE", "sort <<'E'\nc\na\nb\nE", "cat <<E\n\\$HOME \\\\ \\` \\x\nE", "head -1 <<E\n1\n2\nE",
    "for i in 1 2; do cat <<E\n$i\nE\ndone", "cat <<E <<< last\nx\nE", "cat > made <<'E'\n#!/bin/sh\necho \"$1\"\nE",
];

pub const PROGRAMS: &[&str] = &[
    "nosuch", "./nosuch", "./d", "./noexec", "./plain a b", "./badint; echo $?", "./badelf; echo $?", "./empty; echo $?",
    "d/x/y; echo $?", "noexec/x; echo $?", "./run.sh 'a b' c", "d/../run.sh x", "/usr/bin/env true", "'a b'", "\"./run.sh\" q",
    "./fail", "./fail 300", "./die 9", "true; ./die 9", "./die 15; echo $?", "./die 13; echo $?", "./die 2; echo $?", "(./die 13); echo $?",
    "./die 13 | cat; echo $?", "cat | ./die 13; echo $?", "! ./die 13", "cd d && ../run.sh up", "ls", "ls -a", "ls d", "/bin/echo -n a", "ls nope",
    "head -1 a.txt", "basename /a/b", "cat a.txt b.txt", "wc -l a.txt", "grep -n two a.txt", "dlink/../run.sh", "dirname a/b", "./plain; ./plain x",
    "cp a.txt n.txt", "mv a.txt n.txt", "rm a.txt", "mkdir -p n/m", "touch n", "rm -rf d", "mkdir new && cd new && touch f && pwd", "cp -r d d2", "ln -s a.txt l2",
    "chmod 600 a.txt", "find . -name '*.txt' | sort", "find d -type f | sort", "xargs echo < a.txt", "sed -i s/one/1/ a.txt", "awk '{print $1}' a.txt", "mv nope x; echo $?",
];

pub const WRAPPERS: &[&str] = &[
    "timeout 5 cat a.txt", "timeout 5 ./run.sh x", "nice -n 5 cat b.txt", "env FOO=1 ./run.sh a", "nohup cat b.txt", "stdbuf -oL cat b.txt",
    "cat a.txt | xargs -n1 echo", "find . -name a.txt -exec cat {} \\;", "find d -name '*.txt' -exec wc -c {} +", "command cat b.txt", "command echo hi",
    "command -v ls", "command -v echo cat nosuch if; echo $?", "command -v nosuch; echo $?", "command ./run.sh z", "command nosuch; echo $?",
    "timeout 5 sh -c 'echo a; echo b'", "timeout 5 ./fail 9; echo $?", "timeout 5 true && echo yes", "setsid cat b.txt", "command command echo x",
    "env -i /bin/echo clean", "command -v ./run.sh ./noexec d/x; echo $?", "time true 2>/dev/null", "command", "timeout 5 bash -c 'echo x' ; echo",
];

pub const SHELLS: &[&str] = &[
    "bash -c 'echo a; echo b'", "bash -c 'nosuch'; echo $?", "bash -c 'exit 4'; echo $?", "bash -c 'cd d; pwd'; pwd", "bash -c 'cat < nope'",
    "sh -c 'echo a; echo b'", "sh -c 'nosuch'; echo $?", "sh -c 'exit 4'; echo $?", "sh -c 'cd d; pwd'; pwd", "sh -c 'cat < nope'; echo $?",
    "sh -c 'echo x > nope/y'; echo $?", "sh -c 'cd nope'; echo $?", "sh -c './noexec'; echo $?", "sh -c './nosuch'; echo $?", "sh -c 'printf \"%d\\n\" abc'; echo $?",
    "sh -c 'echo \"a\\tb\"'", "sh -c 'echo -e a'", "sh -c 'echo -n a'", "sh -c '[ a -eq 1 ]'; echo $?", "sh -c '[ 1 -eq 1 ] && echo y'", "sh -c 'for f in *.txt; do echo $f; done'",
    "echo in | sh -c cat", "bash -c 'echo $WORDS'", "for i in 1; do sh -c 'echo hi' | cat; done", "bash -c \"sh -c 'echo nested'\"", "/bin/bash -c 'nosuch'", "/bin/sh -c 'nosuch'",
    "bash -c 'echo >&3' 3>&1", "bash -c './die 13'; echo $?", "bash -c 'env' | grep -c SHLVL=4", "bash -c 'env; true' | grep SHLVL", "sh -c 'env' | grep SHLVL", "bash -c 'true\nfalse\nnosuch'",
    "cd d; bash -c 'env' | grep PWD | sort", "sh -c 'echo \"\\0101\\x41\\c\" more'; echo", "sh -c 'exit' ; echo $?", "sh -c 'echo hi >&7'; echo $?", "sh -c 'printf \"%s %d\\n\" a 12x'; echo $?",
];

pub const DIRECTORIES: &[&str] = &[
    "cd d && pwd", "cd d; cd ..; pwd", "cd dlink; pwd; cd ..; pwd", "cd dlink; /bin/pwd", "cd dlink; pwd -P", "cd; pwd", "cd d; cd -; pwd", "cd -",
    "cd nope", "cd a.txt", "cd d e", "cd ''; pwd", "cd nope/..; pwd", "cd d/../d; pwd", "cd noexec/..", "cd //tmp; pwd", "cd ///tmp//; pwd", "cd -- d; pwd",
    "cd d/; pwd", "cd ./d/./e; pwd", "cd d; cd e; cd ../..; pwd", "cd /; pwd", "cd ../..; cd nope || pwd > /dev/null", "pwd x", "cd d; echo $PWD $OLDPWD", "cd d; env | grep PWD | sort",
    "cd 'sp ace'; pwd; ls", "cd sp\\ ace && cat 'in side'", "cd broken", "cd . ; pwd", "cd d && cd e && pwd && cd - && cd -", "cd d && ls *.txt", "cd d || echo no; ls *.rs", "(cd d/e); pwd; cd ~; pwd",
    "mkdir g; cd g; rmdir ../g; pwd", "cd d; mv ../d ../moved; ls; cat x.txt", "cd d && touch new && cd .. && ls d/new", "pwd -L", "cd dlink/e; pwd; cd ..; pwd",
];

pub const ECHO: &[&str] = &[
    "echo", "echo a b  c", "echo -n a", "echo -e 'a\\tb\\n'", "echo -E 'a\\tb'", "echo -ne 'x\\n'", "echo -en x", "echo -nE 'a\\n'", "echo -x a", "echo - a", "echo -- a",
    "echo -n -e 'a\\c' b", "echo -e 'a\\cb' c", "echo -e '\\0101 \\101 \\x41 \\u20ac \\U1f600 \\e[0m \\q \\\\'", "echo -e '\\x' '\\xg' '\\u' '\\0' '\\018'", "echo 'a\\nb'", "echo \"a\\nb\"",
    "echo -nn a", "echo -e", "echo -n", "echo '' ''", "echo a '' b", "echo \"\"", "echo -neE '\\t'", "echo a -n", "echo x > /dev/full; echo $?", "echo x | cat", "echo \\-n", "echo '-n' a", "echo -e 'a\\'",
    "echo -e '\\a\\b\\f\\r\\v' | od -c",
];

pub const PRINTF: &[&str] = &[
    "printf a", "printf '%s\\n' a b c", "printf '%s %s\\n' a b c", "printf '%d\\n' 12 0x1f 010 -5 +7", "printf '%d\\n' abc; echo $?", "printf '%d\\n' 12x 2>&1", "printf '%d %s\\n' 1 a x b 2>&1",
    "printf '%i %u\\n' -3 -3", "printf '%5d|%-5d|%05d|%+d|% d\\n' 1 2 3 4 5", "printf '%x %X %o %#x %#o\\n' 255 255 8 255 8", "printf '%5s|%-5s|%.2s\\n' ab cd efg", "printf '%c%c\\n' hello world",
    "printf '%b\\n' 'a\\tb' '\\0101' '\\101'", "printf '%b' 'a\\cb' x; echo end", "printf '%%\\n'", "printf 'a%%b\\n' x", "printf", "printf -- 'a\\n'", "printf '\\x41\\101\\e\\\\\\n'", "printf '%s'", "printf '%d\\n' ''",
    "printf '%d\\n'", "printf '%s\\n'", "printf 'x\\n' a b", "printf '%d\\n' \"'A\" '\"B'", "printf '%d\\n' 9223372036854775807 99999999999999999999; echo $?", "printf '%d\\n' -99999999999999999999", "printf '%x\\n' -1",
    "printf '%.5d|%8.3d|%-8.3d|\\n' 42 42 42", "printf '%5%|\\n'", "printf '%s\\n' \"$(printf 'a\\n\\n')\"", "printf '%s\\n' *.txt", "printf '%s|' $WORDS; echo", "printf '%s\\n' -n -e", "printf '%03d\\n' 7", "printf '%+5d|%+d\\n' 3 -3",
    "printf 'no newline' > o", "printf '%s' a >&-; echo $?", "printf '%10s|\\n' é", "printf '\\n\\n'", "printf '%s\\n' 'a b' \"c d\"", "printf '%ld\\n' 5", "printf '%u\\n' 18446744073709551615", "printf '%x\\n' 0xffffffffffffffff",
    "printf '%d\\n' 0x 08 2>&1", "printf '%d\\n' ' 5' '5 ' 2>&1", "printf '%s %d\\n' a", "printf '%c|' '' a; echo", "printf '%c\\n' é | od -c", "printf 'a\\0b' | od -c", "printf '%b' '\\0' | od -c", "printf '%-10b|\\n' 'a\\tb'", "printf '%.1b|\\n' 'ab'",
];

pub const CONDITIONS: &[&str] = &[
    "[ a ]", "[ '' ]; echo $?", "[ ]; echo $?", "test; echo $?", "[ a = a ] && echo y", "[ a == a ] && echo y", "[ a != b ] && echo y", "[ -f a.txt ] && echo y", "[ -d d ] && echo y", "[ -e nope ] || echo n", "[ -L link ] && echo y",
    "[ -h dlink ] && echo y", "[ -e broken ] || echo n", "[ -s a.txt ] && echo y", "[ -x run.sh ] && echo y", "[ -x a.txt ] || echo n", "[ -r a.txt ] && echo y", "[ -w a.txt ] && echo y", "[ -z '' ] && echo y", "[ -n a ] && echo y",
    "[ 1 -eq 1 ] && echo y", "[ 1 -lt 2 ] && echo y", "[ 2 -le 1 ] || echo n", "[ 3 -gt 2 ] && echo y", "[ 2 -ge 3 ] || echo n", "[ 1 -ne 2 ] && echo y", "[ -5 -lt 3 ] && echo y", "[ 1 -eq a ]; echo $?", "[ a -eq 1 ]; echo $?", "[ '' -eq 0 ]; echo $?",
    "[ ' 3 ' -eq 3 ]; echo $?", "[ 1 -lt 99999999999999999999 ]; echo $?", "[ a b ]; echo $?", "[ a b c ]; echo $?", "[ a; echo $?", "[ a = b c ]; echo $?", "[ -z a b ]; echo $?", "[ ! a ]; echo $?", "[ ! '' ]; echo $?", "[ ! a = a ]; echo $?", "[ ! -f nope ] && echo y",
    "test -f a.txt && echo y", "test a = b || echo n", "test -d d -a -f a.txt && echo y", "[ -f nope -o -d d ] && echo y", "[ a.txt -nt nope ] && echo y", "[ nope -ot a.txt ] && echo y", "[ a.txt -ef link ] && echo y", "[ a.txt -ef b.txt ] || echo n",
    "[ \\( a \\) ] && echo y", "[ \\( a = a \\) -a b ] && echo y", "[ \\( a ]; echo $?", "[ \"(\" a \")\" ] && echo y", "[ -f ]; echo $?", "[ = ]; echo $?", "[ ! ]; echo $?", "[ -t 1 ]; echo $?", "[ -t x ]; echo $?", "[ -p /dev/null ]; echo $?", "[ -c /dev/null ] && echo y",
    "[ a \\< b ] && echo y", "[ b \\> a ] && echo y", "[ -a a.txt ] && echo y", "[ a -a '' ]; echo $?", "[ '' -o a ]; echo $?", "test 1 2 3 4 5; echo $?", "test 1 2 3 4; echo $?", "[ -n \"$EMPTY\" ] || echo n", "[ -z \"$NOSUCH\" ] && echo y", "[ \"$DASH\" = -dash ] && echo y", "[ -e '' ]; echo $?",
    "if [ -d d ]; then echo dir; fi", "[ -k /tmp ] && echo y", "[ -O a.txt ] && echo y", "[ -u a.txt ]; echo $?", "[ a -foo b ]; echo $?", "[ -q x ]; echo $?", "[ -f a.txt ] && [ -d d ] && echo both", "[ 0x10 -eq 16 ]; echo $?", "[ +1 -eq 1 ] && echo y", "[ -f link -a -L link ] && echo y",
    "test '!' = '!' && echo y", "test ! ! a; echo $?", "[ ! ! a ]; echo $?", "[ a -a b -a c ] && echo y", "[ a -o '' -a '' ] && echo y", "[ -e a.txt -a ! -e nope ] && echo y", "test -S a.txt; echo $?", "test -N a.txt; echo $?", "test -G a.txt && echo y", "test -b a.txt; echo $?",
];

pub const FLOW: &[&str] = &[
    "exit", "exit 0", "exit 3", "exit 300", "exit -1", "exit abc", "exit ''", "exit 1 2; echo $?", "false; exit", "exit 3; echo no", "(exit 3); echo $?", "{ exit 4; }; echo no", "echo a; exit 2 > o", "break; echo $?", "continue; echo $?", "for i in 1 2; do break x; echo no; done; echo $?",
    "for i in 1 2; do break 0; echo no; done; echo $?", "for i in 1 2; do break 1 2; echo no; done; echo $?", "for i in 1 2; do (break; echo sub); echo $i; done", "for i in 1 2; do echo x | break; echo $i; done", "for i in 1 2; do continue 5; echo no; done; echo $?",
    "for i in 1 2; do echo $(break; echo in); done", "while true; do break; echo no; done; echo $?", "for i in 1 2; do { break; }; echo no; done", "exit $(echo 5)", "if exit 6; then echo no; fi", "for i in 1 2; do break 9; done; echo $?", "exit -- 3", "for i in 1 2; do continue 0; echo no; done; echo $?",
    "! exit 3", "true && exit 2 || echo no", "while exit 3; do :; done", "exit 1 | cat; echo $?", "false || exit; echo no", "./fail; exit", "exit 256; echo no", "exit 99999999999999999999",
];

pub const WORDS: &[&str] = &[
    "echo $WORDS", "echo \"$WORDS\"", "echo a$WORDS", "echo $WORDS'b'", "echo \"a\"$WORDS\"b\"", "echo $EMPTY x", "echo \"$EMPTY\" x", "echo $NOSUCH", "echo ''$EMPTY x", "printf '[%s]' $SPACES; echo", "printf '[%s]' x$SPACES''; echo", "printf '[%s]' $SPACES$SPACES; echo",
    "printf '[%s]' \"$SPACES\"; echo", "printf '[%s]' ''$SPACES; echo", "printf '[%s]' $EMPTY$EMPTY; echo", "printf '[%s]' $EMPTY'' x; echo", "echo ~", "echo ~/x", "echo a~", "echo '~'", "echo ${WORDS}x", "echo \"${WORDS}\"", "echo $GLOB", "echo \"$GLOB\"", "echo d/$GLOB", "echo $?", "false; echo \"$?\" $?x",
    "echo $STAR", "echo $BACK", "echo $BACK*", "echo a\\ b", "echo \"a  b\"", "echo 'a  b'", "echo a\"b\"'c'", "echo \\$WORDS", "echo '$WORDS'", "echo \"\\$WORDS \\\" \\\\ \\a\"", "echo {a,b}", "printf '[%s]' $WORDS\"$WORDS\"$WORDS; echo", "echo \"$WORDS\"*", "echo -$WORDS",
    "printf '%s\\n' \"$(echo a b)\" $(echo a b)", "echo é ü", "echo $PWD", "echo $HOME $OLDPWD", "echo \"$HOME\"/*.txt", "ls $HOME", "cat $EMPTY a.txt", "cat \"$EMPTY\" a.txt", "echo [ ]", "echo a=b", "echo '' | wc -c", "printf '[%s]' $(printf ' a  b ')$(printf ' c'); echo",
];

pub const PATTERNS: &[&str] = &[
    "echo $UPPER", "echo $DIGIT", "echo $ALPHA", "echo $COLLATING", "echo $EQUIVALENT", "echo $NONSENSE", "echo $PUNCT", "echo $ESCAPED", "echo $OPEN'a]'*", "LC_ALL=C; echo $ALPHA", "printf '%s|' $UPPER $DIGIT; echo", "echo $OPEN*",
    "echo *", "echo .*", "echo *.txt", "echo ?.txt", "echo [ab].txt", "echo [!a].txt", "echo [^a].txt", "echo [a-c]*", "echo d/*", "echo */", "echo */*", "echo d/*/*", "echo nomatch*", "echo 'st*r'", "echo st\\*r", "echo st*r", "echo \\[br]", "echo \\[*", "echo [[]*", "echo *]", "echo back*",
    "echo new*", "printf '%s|' new*; echo", "printf '%s|' raw*; echo", "echo ?", "echo ??", "echo é*", "echo [é]", "echo [0-9]*", "echo *e", "echo *.*", "echo ./*.txt", "echo d//x*", "echo /*/nosuch*", "echo /bi?", "echo .h*/*", "echo .?*",
    "echo .[!.]*", "echo *a*", "echo \"*\".txt", "echo *'.txt'", "echo d/\"x\"*", "echo [a", "echo [a]", "echo [b-a]*", "echo [", "echo a[", "echo []a]*", "echo [!]a]", "echo sp*/*", "echo 'sp ace'/*", "echo sp\\ ace/*", "ls -d d*", "cat *.txt", "for f in *; do echo \"$f\"; done", "for f in d/*; do echo $f; done", "echo link* d*",
    "echo broken*", "echo bro*n", "echo */e", "echo d*/e", "echo dlink/*", "echo *k/x.txt", "wc -l *.txt", "echo _*", "echo [_A]*", "echo [A-Z]*", "echo [a-z]", "echo **", "echo ***", "echo *?*.txt", "echo d/**/*.txt", "echo *\\*", "echo '*'*",
    "echo d/x.txt*", "echo ../*/a.txt", "echo ./.*", "echo [!.]*", "echo *.rs *.txt", "echo */../a.txt", "echo ?*/", "echo é?", "echo raw?", "echo raw??", "printf '%s|' raw??; echo", "echo [-a]*", "echo [a-]*", "echo *[!a-z]", "echo *[0-9]", "echo ./-*", "ls ./-n",
];

pub const SUBSTITUTIONS: &[&str] = &[
    "echo $(echo a)", "echo \"$(echo a)\"", "echo $(echo 'a  b')", "echo \"$(echo 'a  b')\"", "echo $(cat a.txt)", "echo \"$(cat a.txt)\"", "echo `echo a`", "echo $(echo $(echo $(echo deep)))", "echo \"$(echo \"$(echo 'x y')\")\"", "echo $(ls)", "echo $(false); echo $?", "echo a$(echo b)c", "echo $(nosuch)",
    "echo $(exit 3); echo $?", "echo $(cd d; pwd); pwd", "echo $(echo a; echo b)", "echo \"$(echo a; echo b)\"", "echo $(echo a >&2) 2>/dev/null", "echo $(cat < a.txt)", "echo $(printf 'a\\n\\n\\n')x", "echo \"$(printf '\\n\\na\\n\\n')\"", "cat $(echo a.txt b.txt)", "ls $(printf 'a\\0b')", "echo $(printf '*.txt')", "echo \"$(printf '*.txt')\"",
    "for i in $(seq 1 5); do echo $i; done", "for f in $(ls d); do echo $f; done", "echo $(echo a | tr a b)", "echo $(for i in 1 2; do echo $i; done)", "echo $(if true; then echo y; fi)", "echo $(true)", "printf '[%s]' $(true) \"$(true)\"; echo", "echo $(echo \"a'b\")", "echo $(cat <<E\nhere\nE\n)", "echo x | echo $(cat)", "echo $(yes | head -2)", "echo $(./both 2>&1)", "echo $(./both)",
    "echo $(./fail 5) $?", "false; echo $(echo $?)", "echo $(echo a) $(echo b) | cat", "echo $(seq 1 20000 | tail -1)", "echo $(seq 1 20000) | wc -c", "echo $(./die 9); echo $?", "echo \"$(seq 1 50000)\" | tail -1", "wc -c $(echo a.txt) | cat", "(echo $(echo a))", "echo $(echo a > o; cat o)", "basename $(pwd)/x", "if [ \"$(cat b.txt)\" = beta ]; then echo y; fi", "echo $( (echo a) )", "echo $(echo '$HOME')",
];

pub const VARIABLES: &[&str] = &[
    "x=1; echo $x", "x=1 y=2; echo $x$y", "x=$(echo a b); echo $x", "x=$(false); echo $?", "x=1 y=$(./fail 4); echo $? $x", "x='a  b'; echo $x \"$x\"", "x=*.txt; echo $x; echo \"$x\"", "x=~; echo $x", "x=a$WORDS'b'; echo \"$x\"", "x=1 env | grep '^x='", "x=1; env | grep '^x='; echo $?", "HOME=/tmp; env | grep ^HOME=; cd; pwd", "HOME=/tmp cd; pwd; echo $HOME", "x=1 echo $x; echo \"[$x]\"",
    "x=1; (x=2; echo $x); echo $x", "x=1; echo a | x=2; echo $x", "for x in 1 2; do :; done; echo $x", "x=1; { x=2; }; echo $x", "x=$(echo $y); echo \"[$x]\"", "x=1 ./fail; echo $? \"[$x]\"", "x=1 < nope; echo $? $x", "x=; echo \"[$x]\"", "x=1; x=2; echo $x", "x=a; y=$x$x; echo $y", "GLOB=new; env | grep ^GLOB", "foo=1 bar=2 env | grep -E '^(foo|bar)=' | sort", "x=$?; echo $x", "false; x=$?; echo $x", "x=1 nosuch; echo $?", "x=1 > o; ls o; echo $x", "EMPTY=full env | grep ^EMPTY", "x=1 true; echo \"[$x]\"",
    "LANG=C; echo é* ?", "LC_ALL=C; echo ??", "LC_ALL=C; echo [é]", 
];

pub const ENVIRONMENTS: &[&str] = &[
    "env | sort", "env | grep SHLVL", "env | grep SHLVL; true", "(env) | grep SHLVL", "echo $(env | grep SHLVL)", "true; printenv SHLVL > o; cat o", "true && env | sort > o; cat o", "for i in 1; do env; done | grep SHLVL", "if true; then env > o; sort o > p; rm o; fi; grep SHLVL p", "{ env; } > o; sort o > p; rm o; grep -E 'SHLVL|^_=' p", "./run.sh; env > o; sort o > p; rm o; grep ^_= p",
    "cd d; env > ../o; sort ../o > ../p; rm ../o; grep PWD= ../p", "timeout 5 env > o; sort o > p; rm o; grep -E '^_=' p", "X=1 env > o; sort o > p; rm o; grep -E '^X=' p", "printenv PATH HOME PWD SHLVL", "printenv SHLVL; true", "/usr/bin/env > o; sort o > p; rm o; grep -E '^_=' p", "cat a.txt && printenv SHLVL", "false || printenv SHLVL", "! printenv SHLVL", "(printenv SHLVL)", "(true; printenv SHLVL)", "(printenv SHLVL; true)",
    "echo $(printenv SHLVL)", "echo $(true; printenv SHLVL)", "printenv SHLVL > o; cat o", "printenv SHLVL | cat", "(printenv SHLVL) | cat", "true | (printenv SHLVL)", "printenv SHLVL 2>&1", "printenv SHLVL > o", "{ printenv SHLVL; } 2>&1", "echo a && { printenv SHLVL; }", "cd dlink; printenv PWD; printenv OLDPWD",
];
