//! Words: every kind of quoting, and everything that a shell puts in a word's place.

use crate::grammar::{Grammar, single_quoted};

/// What words are made of that stands for itself as it is.
const NAMES: [&str; 14] = [
    "a", "b", "a.txt", "x.rs", "d/in.txt", "-n", "-la", "--all", "k=v", "HEAD~1", "a,b", "+x",
    "./a.txt", "%s",
];

/// Texts that need quotes, most of which would do something without them.
const TEXTS: [&str; 30] = [
    "a b",
    "it's",
    "say \"no\"",
    "$(touch CAN)",
    "`touch CAN`",
    "; touch CAN",
    "\ntouch CAN\n",
    "&& touch CAN",
    "| CAN",
    "$x",
    "${x}",
    "*",
    "a\\",
    "\\n",
    "$",
    "#",
    "E",
    "]]",
    "}",
    ")",
    "'",
    "\"",
    "\\\"",
    "<<E",
    "> f",
    "!",
    "~",
    "{a,b}",
    "$'x'",
    "\t",
];

impl Grammar<'_> {
    /// A word.
    pub(crate) fn word(&mut self) {
        // What only speaks has nothing computed in it.
        let literal = self.permissions.commands.is_empty() && self.dice.percent(75);
        match self.dice.below(100) {
            0..35 => {
                let name = self.dice.pick(&NAMES);
                self.push(name);
            }
            35..70 => self.quoted(),
            _ if literal => {
                let text = self.dice.pick(&TEXTS);
                self.push(&single_quoted(text));
            }
            70..90 => self.expansion(),
            90..95 => {
                // A word of several parts.
                self.quoted();
                let name = self.dice.pick(&NAMES);
                self.push(name);
                self.expansion();
            }
            _ if self.plain => self.quoted(),
            _ => self.odd_word(),
        }
    }

    fn quoted(&mut self) {
        let text = self.dice.pick(&TEXTS);
        let kinds = if self.plain { 7 } else { 10 };
        match self.dice.below(kinds) {
            0..3 => self.push(&single_quoted(text)),
            3..6 => {
                let text = double_quoted(text);
                self.push("\"");
                self.push(&text);
                if self.dice.percent(20) && !self.permissions.commands.is_empty() {
                    self.quoted_expansion();
                }
                self.push("\"");
            }
            6 | 7 => {
                let escaped = |c: char| {
                    if c == '\n' {
                        "'\n'".to_owned()
                    } else {
                        format!("\\{c}")
                    }
                };
                let text: String = text.chars().map(escaped).collect();
                self.push(&text);
            }
            8 => {
                let text = text
                    .replace('\\', "\\\\")
                    .replace('\'', "\\'")
                    .replace('\n', "\\n");
                self.push(&format!("$'{text}'"));
            }
            _ => {
                let text = double_quoted(text);
                self.push(&format!("$\"{text}\""));
            }
        }
    }

    /// What is expanded inside of quotes.
    fn quoted_expansion(&mut self) {
        match self.dice.below(if self.plain { 4 } else { 9 }) {
            0 => self.push("$HOME"),
            1 => self.push("${x}"),
            2 => self.push("$?"),
            3 => self.substitution(),
            4 => self.push("${x:-'a}"),
            5 => self.push("$((2 * (3 + 4)))"),
            6 => self.push("`echo \\\"a\\\"`"),
            7 => self.push("${x:-\"$(echo b)\"}"),
            _ => self.push("$1$@"),
        }
    }

    fn substitution(&mut self) {
        if self.depth > 2 {
            self.push("$HOME");
            return;
        }
        self.push("$(");
        self.inner_script();
        self.push(")");
    }

    /// What a program reads as a file. It has nothing to read itself: nobody knows who of two would.
    fn process(&mut self) {
        let scripts = [
            "echo a",
            "echo \"$x\" $?",
            "printf '%s\\n' \"b c\" '$(touch CAN)'",
            "cat a.txt",
            "ls *.rs; ls d/*.txt",
            "cd d && ls in.txt",
            "git log | cat",
            "cat <<E\n$HOME ' \\$x\nE\n",
            "cat <<'E' | cat\ntouch CAN )\nE\n",
            "false; echo $?",
            "echo 'touch CAN)' # )\n",
            "for i in a 'b c'; do echo \"$i\"; done",
            "exit 3",
            "ls <(echo b) \"$(echo c)\"",
            "cat <(echo b) <(echo c; ls d)",
            "{ echo a; (echo b); } >&2",
            "nosuch",
            "touch CAN",
        ];
        let script = self.dice.pick(&scripts);
        if script.contains('\n') && !self.can_break_lines() {
            self.push("<(true)");
            return;
        }
        self.push("<(");
        if self.dice.percent(85) {
            self.push(script);
        } else {
            self.inner_script();
        }
        self.push(")");
    }

    fn expansion(&mut self) {
        match self.dice.below(13) {
            12 => self.process(),
            0 | 1 => self.push("*.rs"),
            2 => self.push("[ab]*"),
            3 => self.push("$x"),
            4 => self.push("\"$x\""),
            5 => self.push("\"$HOME\"/a"),
            6 => self.push("~"),
            7 => self.push("$?"),
            8 => self.push("dash/*"),
            9 => self.substitution(),
            10 => {
                self.push("\"");
                self.substitution();
                self.push("\"");
            }
            _ if self.flat_or_plain_message() => {}
            _ => self.push("d/*.txt"),
        }
    }

    /// A message as models write it.
    fn flat_or_plain_message(&mut self) -> bool {
        if !self.can_break_lines() {
            return false;
        }
        let text = self.dice.pick(&[
            "fix: it's done",
            "a \"b\" `c`",
            "$(touch CAN)",
            "x\n\n- y (z)",
            "it)s",
            "`touch CAN`\n)",
        ]);
        self.push(&format!("\"$(cat <<'EOF'\n{text}\nEOF\n)\""));
        true
    }

    fn odd_word(&mut self) {
        let words = [
            "${x:-a}",
            "${x:-'}'}",
            "${x:-{}}",
            "${x#*/}",
            "${x%%.*}",
            "${#x}",
            "${x/a/b}",
            "${x:1:2}",
            "${!x}",
            "${x@P}",
            "${x:=y}",
            "${x:?no}",
            "$((1 + 2))",
            "$((x))",
            "$[1+1]",
            "`echo a`",
            "`echo \"b\"`",
            "`echo \\`echo c\\``",
            "<(echo a)",
            ">(cat)",
            "{a,b}",
            "{1..3}",
            "a{,b}c",
            "{-n,a}",
            "$RANDOM",
            "$$",
            "$!",
            "$0",
            "$1",
            "$#",
            "$@",
            "\"$@\"",
            "$*",
            "$-",
            "$_",
            "$LINENO",
            "$SECONDS",
            "$UID",
            "$IFS",
            "$PPID",
            "$BASHPID",
            "~+",
            "~x/y",
            "a~b",
            "?.rs",
            "[!a]*",
            "[[:alpha:]]*",
            "*.{rs,txt}",
            "@(a|b)",
            "!(a)",
            "**",
            "\\*",
            "'*'.rs",
            "$'\\x41\\n'",
            "$'\\''",
            "\"\\$x\"",
            "a=~",
            "\\~",
            "'a'\"b\"c",
            "\"\"",
            "''",
            "$x$x",
            "${x}y",
            "{}",
            "x{}",
            "=",
            "a#b",
            "\u{a0}",
            "\u{1}",
            "\u{7f}",
            "é",
            "\u{feff}",
            "a\rb",
            "\"a\rb\"",
            "$(<a.txt)",
            "$( (echo a) )",
            "$(case a in a) echo b;; esac)",
            "$(echo a # b)\n)",
            "\"$(echo \"a b\")\"",
            "${x:-$(echo a)}",
            "${x:+\"a b\"}",
            "${x-`echo a`}",
            "\"${x:-\"a b\"}\"",
            "a\\\nb",
            "\"a\\\nb\"",
            "'a\\\nb'",
            "/dev/null",
            "!!",
            "!a",
            "^a^b",
            "%1",
        ];
        let word = self.dice.pick(&words);
        self.push(word);
    }
}

/// What stands between quotation marks for a text.
fn double_quoted(text: &str) -> String {
    let special = |c: char| matches!(c, '$' | '`' | '"' | '\\');
    text.chars()
        .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]))
        .collect()
}
