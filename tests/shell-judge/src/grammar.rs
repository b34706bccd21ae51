//! Command lines as the grammar of shells makes them (POSIX, chapter 2 of the shell language, and bash's own), whether or
//! not windlass reads them. Programs are mostly ones that the permissions let run; what they are given often looks like a
//! command, so that whoever takes a quote or an end elsewhere than the shell runs it.

use crate::{dice::Dice, permissions::Permissions};

/// A here-document whose body is still to be written.
struct Pending {
    end: String,
    body: String,
}

/// Writes lines.
pub(crate) struct Grammar<'a> {
    pub(crate) dice: &'a mut Dice,
    pub(crate) permissions: &'a Permissions,
    /// Nothing but what is usual.
    pub(crate) plain: bool,
    pub(crate) out: String,
    pending: Vec<Pending>,
    /// Neither line ends nor here-documents: it stands inside of something that has a here-document open.
    flat: bool,
    pub(crate) depth: usize,
}

/// Deeper than this nothing is nested.
const DEPTH: usize = 3;

impl<'a> Grammar<'a> {
    pub(crate) fn new(dice: &'a mut Dice, permissions: &'a Permissions, plain: bool) -> Self {
        Self {
            dice,
            permissions,
            plain,
            out: String::new(),
            pending: Vec::new(),
            flat: false,
            depth: 0,
        }
    }

    /// A whole line.
    pub(crate) fn line(&mut self) -> String {
        self.out.clear();
        self.script();
        if !self.pending.is_empty() {
            self.end_line();
        }
        if !self.plain && self.dice.percent(5) {
            self.push(" # it's a comment $(touch CAN) \"");
        }
        std::mem::take(&mut self.out)
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Whether something unusual is written here.
    pub(crate) fn odd(&mut self, share: usize) -> bool {
        !self.plain && self.dice.percent(share)
    }

    fn blank(&mut self) {
        if self.odd(3) {
            let blank = self.dice.pick(&["\t", "  ", " \\\n", "\\\n "]);
            self.push(blank);
        } else {
            self.push(" ");
        }
    }

    /// Ends the line, and writes the here-documents that it began.
    fn end_line(&mut self) {
        self.push("\n");
        for document in std::mem::take(&mut self.pending) {
            self.push(&document.body);
            self.push(&document.end);
            self.push("\n");
        }
    }

    fn separator(&mut self) {
        if self.odd(6) {
            self.push(" & ");
        } else if !self.flat
            && (self.dice.percent(30) || !self.pending.is_empty() && self.dice.percent(60))
        {
            self.end_line();
        } else {
            self.push("; ");
        }
    }

    /// Lists one after the other.
    pub(crate) fn script(&mut self) {
        self.depth += 1;
        let lists = 1 + self.dice.below(if self.depth == 1 { 3 } else { 2 });
        for at in 0..lists {
            if at > 0 {
                self.separator();
            }
            self.list();
        }
        self.depth -= 1;
    }

    /// A script inside of a word.
    pub(crate) fn inner_script(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let flat = self.flat;
        self.flat |= !pending.is_empty();
        self.script();
        if !self.pending.is_empty() {
            self.end_line();
        }
        self.pending = pending;
        self.flat = flat;
    }

    /// A script inside of quotes: as it is written out.
    fn script_as_text(&mut self) -> String {
        let outer = std::mem::take(&mut self.out);
        let pending = std::mem::take(&mut self.pending);
        let flat = std::mem::replace(&mut self.flat, true);
        self.script();
        self.pending = pending;
        self.flat = flat;
        std::mem::replace(&mut self.out, outer)
    }

    /// Whether a line may end here.
    pub(crate) fn can_break_lines(&self) -> bool {
        !self.flat && self.pending.is_empty()
    }

    fn list(&mut self) {
        self.pipeline();
        while self.dice.percent(22) {
            let junction = self.dice.pick(&[" && ", " && ", " || "]);
            self.push(junction);
            self.pipeline();
        }
    }

    fn pipeline(&mut self) {
        if self.dice.percent(4) {
            self.push("! ");
        }
        if self.odd(2) {
            self.push("time ");
        }
        self.command();
        while self.dice.percent(15) {
            let sign = if self.odd(10) { " |& " } else { " | " };
            self.push(sign);
            if self.permissions.commands.contains(&"cat") && self.dice.percent(70) {
                // It reads all that it is given: what comes of the pipeline is the same each time.
                let reader = self.dice.pick(&["cat", "cat", "{ cat; }", "(cat)"]);
                self.push(reader);
            } else {
                self.command();
            }
        }
    }

    fn command(&mut self) {
        if self.depth < DEPTH && self.dice.percent(if self.plain { 14 } else { 22 }) {
            self.compound();
            while self.dice.percent(15) {
                self.push(" ");
                self.redirection();
            }
        } else {
            self.simple();
        }
    }

    fn body(&mut self, before: &str, behind: &str) {
        self.push(before);
        self.script();
        // A here-document must have begun its body before what closes the command.
        if self.pending.is_empty() {
            self.push("; ");
        } else {
            self.end_line();
        }
        self.push(behind);
    }

    fn compound(&mut self) {
        let kinds = if self.plain { 6 } else { 13 };
        match self.dice.below(kinds) {
            0 => self.body("{ ", "}"),
            1 => {
                self.push("(");
                self.script();
                if !self.pending.is_empty() {
                    self.end_line();
                }
                self.push(")");
            }
            2 => self.for_loop(),
            3 => {
                self.body("if ", "then ");
                self.body("", "");
                if self.dice.percent(40) {
                    self.body("else ", "");
                }
                self.push("fi");
            }
            4 => self.usual_case(),
            5 => self.usual_test(),
            6 => {
                let condition = self.dice.pick(&["while false; ", "until true; "]);
                self.push(condition);
                self.body("do ", "done");
            }
            7 => {
                self.push("while read -r x; ");
                self.body("do ", "done < a.txt");
            }
            8 => self.case(),
            9 => self.test(),
            10 => {
                let text =
                    self.dice
                        .pick(&["((1 + 2))", "(( x < 3 ))", "((a[0]=1))", "((x++, y))"]);
                self.push(text);
            }
            11 => {
                let name = self.dice.pick(&["f", "g", "x-y"]);
                self.push(name);
                self.body("() { ", "}");
                if self.dice.percent(60) {
                    self.push(&format!("; {name} a 'b c'"));
                }
            }
            _ => {
                self.push("for x do ");
                self.body("", "done");
            }
        }
    }

    fn for_loop(&mut self) {
        let name = if self.odd(10) {
            self.dice.pick(&["PATH", "IFS", "_", "x1", "HOME"])
        } else {
            self.dice.pick(&["x", "f", "i"])
        };
        self.push(&format!("for {name} in"));
        for _ in 0..1 + self.dice.below(3) {
            self.push(" ");
            self.word();
        }
        self.push("; do ");
        if self.dice.percent(60) {
            let start = self.start();
            self.push(&format!("{start} "));
            let word = if self.dice.percent(50) {
                format!("\"${name}\"")
            } else {
                format!("${name}")
            };
            self.push(&word);
            self.push("; ");
        }
        self.body("", "done");
    }

    /// `case` as most people write it.
    fn usual_case(&mut self) {
        let word = [
            "a",
            "\"$x\"",
            "$x",
            "a.txt",
            "$(echo b)",
            "$?",
            "*",
            "'touch CAN'",
            "\"$HOME\"/a",
        ];
        let word = self.dice.pick(&word);
        self.push(&format!("case {word} in "));
        for _ in 0..1 + self.dice.below(3) {
            let pattern = [
                "a",
                "b|c",
                "*",
                "*.txt",
                "'touch CAN'",
                "[ab]*",
                "\"\"",
                "?",
                "(x",
                "a\\*",
                "[!a]*|0",
                "\"x\"*'y'",
            ];
            let pattern = self.dice.pick(&pattern);
            self.push(pattern);
            self.push(") ");
            self.script();
            if !self.pending.is_empty() {
                self.end_line();
            }
            self.push(";; ");
        }
        self.push("esac");
    }

    /// `[[` as most people write it.
    fn usual_test(&mut self) {
        self.push("[[ ");
        for at in 0..1 + self.dice.below(3) {
            if at > 0 {
                let junction = self.dice.pick(&[" && ", " || ", "&&"]);
                self.push(junction);
            }
            if self.dice.percent(15) {
                self.push("! ");
            }
            let test = [
                "-f a.txt",
                "-d d",
                "-n \"$x\"",
                "-z $x",
                "$x == a*",
                "\"$HOME\" != /x",
                "a == \"a\"",
                "$? -eq 0",
                "a.txt -ef ./a.txt",
                "$(echo a) == [ab]",
                "-e 'touch CAN'",
                "x = x",
                "*.rs != *.txt",
                "$x",
                "( -f a.txt || a == b )",
                "\"$(cat a.txt)\" != '$(touch CAN)'",
            ];
            let test = self.dice.pick(&test);
            self.push(test);
        }
        self.push(" ]]");
    }

    fn case(&mut self) {
        self.push("case ");
        self.word();
        self.push(" in ");
        for _ in 0..1 + self.dice.below(2) {
            let pattern = self.dice.pick(&[
                "a",
                "(b|c",
                "*",
                "'touch CAN'",
                "\"x\"*",
                "[ab]",
                "esac\\ x",
                "$x",
            ]);
            self.push(pattern);
            self.push(") ");
            self.script();
            if !self.pending.is_empty() {
                self.end_line();
            }
            let end = self.dice.pick(&[";; ", ";; ", ";& ", ";;& "]);
            self.push(end);
        }
        self.push("esac");
    }

    fn test(&mut self) {
        self.push("[[ ");
        let tests = [
            "-f a.txt",
            "a == a*",
            "-n x && -z ''",
            "a =~ (b|c)",
            "a =~ ^[a-z]+$",
            "! -d d",
            "( a == b || c != d )",
            "x < y",
            "1 -eq 1",
            "-v x",
            "a =~ 'touch CAN'",
            "$x == '$(touch CAN)'",
            "a =~ \"]]\"",
        ];
        let test = self.dice.pick(&tests);
        self.push(test);
        self.push(" ]]");
    }

    /// How a command begins that may run, most of the time.
    pub(crate) fn start(&mut self) -> String {
        if self.dice.percent(2) {
            return self
                .dice
                .pick(&["touch", "CAN", "id", "rm", "$x", "make"])
                .to_owned();
        }
        let commands = self.permissions.commands;
        if commands.is_empty() {
            return self
                .dice
                .pick(&["echo", "echo", "printf '%s\\n'", "true"])
                .to_owned();
        }
        if self.dice.percent(10) {
            return self
                .dice
                .pick(&["true", ":", "pwd", "false", "test -f a.txt -o"])
                .to_owned();
        }
        self.dice.pick(commands).to_owned()
    }

    fn simple(&mut self) {
        if self.odd(6) {
            self.assignments();
        }
        if self.odd(3) {
            self.redirection();
            self.push(" ");
        }
        let wraps = if self.plain { 5 } else { 14 };
        if self.depth < DEPTH && self.dice.percent(wraps) && !self.permissions.commands.is_empty() {
            self.wrapper();
        } else if self.dice.percent(4) {
            let special = self.dice.pick(&[
                "cd d",
                "cd dash",
                "cd out && pwd",
                "[ -f a.txt ]",
                "test -d d",
                "exit 3",
                "cd .",
            ]);
            self.push(special);
        } else if self.permissions.writes_out
            && self.permissions.commands.contains(&"git log")
            && self.dice.percent(15)
        {
            let edit = self.dice.pick(&[
                "touch n.txt",
                "mkdir -p n/m",
                "rm -f a.txt",
                "cp a.txt n.txt",
                "mv x.rs z.rs",
                "rm -r d",
            ]);
            self.push(edit);
        } else {
            self.call();
        }
        while self.dice.percent(18) {
            self.blank();
            self.redirection();
        }
    }

    /// A program with its arguments.
    fn call(&mut self) {
        let start = self.start();
        let start = if self.odd(6) {
            self.disguised(&start)
        } else {
            start
        };
        self.push(&start);
        if start == "find" {
            self.find();
            return;
        }
        if start == "xargs" {
            self.xargs();
            return;
        }
        if start == "read" {
            self.push(" -r x");
            return;
        }
        for _ in 0..self.dice.below(4) {
            self.blank();
            self.word();
        }
    }

    /// The same words, quoted in other ways.
    fn disguised(&mut self, start: &str) -> String {
        let (first, rest) = start.split_at(1);
        match self.dice.below(5) {
            0 => format!("{first}''{rest}"),
            1 => format!("\\{start}"),
            2 => format!("{first}\\\n{rest}"),
            3 => format!("{first}\"\"{rest}"),
            _ => format!("\"{first}\"{rest}"),
        }
    }

    fn find(&mut self) {
        let place = self
            .dice
            .pick(&[" .", " d", " . -maxdepth 1", " a.txt x.rs", ""]);
        self.push(place);
        for _ in 0..self.dice.below(3) {
            let test = self.dice.pick(&[
                " -name '*.rs'",
                " -type f",
                " -name x.rs -print",
                " ! -name d",
                " \\( -name a.txt \\)",
                " -name \"$x\"",
                " -print0",
            ]);
            self.push(test);
        }
        if self.dice.percent(45) {
            let run = self.dice.pick(&[" -exec", " -exec", " -execdir", " -ok"]);
            let (start, end) = (self.start(), self.dice.pick(&["\\;", "';'", "+"]));
            let names = self.dice.pick(&["{}", "a {}", "'{}'", "x{}y", "CAN {}"]);
            self.push(&format!("{run} {start} {names} {end}"));
        }
    }

    fn xargs(&mut self) {
        let options = [
            "",
            "",
            " -n 1",
            " -0",
            " -I{}",
            " -I %",
            " -r",
            " -P 2",
            " -d '\\n'",
            " --null",
            " -i",
            " -L1",
            " -a a.txt",
            " -t",
        ];
        let option = self.dice.pick(&options);
        self.push(option);
        let start = self.start();
        let words = self.dice.pick(&["", " {}", " %", " a b", " 'touch CAN'"]);
        self.push(&format!(" {start}{words}"));
        self.own_input();
    }

    /// Without a pipe before it, `xargs` passes only with something of its own to read.
    fn own_input(&mut self) {
        if self.dice.percent(70) {
            let input = self.dice.pick(&["<a.txt", "<<<a", "<<<'a b'", "<d/in.txt"]);
            self.push(input);
        }
    }

    fn wrapper(&mut self) {
        let usual = [
            "timeout 5",
            "nice",
            "env",
            "nohup",
            "timeout -k 1 5",
            "nice -n 3",
            "command",
            "xargs",
        ];
        let odd = [
            "env -i",
            "env A=1",
            "env -u X",
            "env --",
            "stdbuf -oL",
            "builtin",
            "exec",
            "time",
            "time -p",
            "env -S",
            "eval",
            "command -p",
            "timeout --signal=KILL 5",
            "timeout -s INT 5",
            "env - ",
            "nice --adjustment=2",
            "exec -a x",
            "\\command",
            "env -v",
            "nice -5",
            "xargs -n1",
            "timeout --foreground 5",
            "env -C d",
            "nohup env nice",
            "d/env",
            "./d/timeout 5",
            "d/nice",
            "command d/env",
            "d/sh -c",
        ];
        if self.dice.percent(12) {
            let shell = self.dice.pick(&["sh -c", "bash -c", "dash -c", "eval"]);
            let script = self.script_as_text();
            self.push(&format!("{shell} {}", single_quoted(&script)));
            return;
        }
        let wrapper = if self.odd(50) {
            self.dice.pick(&odd)
        } else {
            self.dice.pick(&usual)
        };
        self.push(wrapper);
        self.push(" ");
        self.call();
        if wrapper.starts_with("xargs") {
            self.own_input();
        }
    }

    fn assignments(&mut self) {
        for _ in 0..=self.dice.below(2) {
            let name = self
                .dice
                .pick(&["x", "A", "y", "PATH", "IFS", "a[0]", "x+", "LD_PRELOAD"]);
            self.push(name);
            self.push("=");
            if self.dice.percent(90) {
                self.word();
            } else {
                self.push("(a 'b c')");
            }
            let end = self.dice.pick(&[" ", " ", "; "]);
            self.push(end);
        }
    }

    pub(crate) fn redirection(&mut self) {
        let usual = [
            "2>&1",
            "2>/dev/null",
            ">/dev/null",
            "< a.txt",
            "> out/f",
            ">> out/f",
            "2> out/e",
            ">&2",
            "<d/in.txt",
        ];
        let odd = [
            "&>/dev/null",
            "&>out/f",
            ">&out/f",
            "<&-",
            "2>&-",
            "3>&1",
            "<>out/f",
            ">|out/f",
            "<<<'a b'",
            "<<< \"$x\"",
            "{fd}>out/f",
            "{x}<a.txt",
            "1>&2",
            "2>&1-",
            "0<&0",
            "> \"out/f\"",
            "> 'out/a b'",
            "> out/$x",
            "> out/*",
            "10>/dev/null",
            "&>>out/f",
            "> f",
            "<~",
            "> \"out/$(echo f)\"",
        ];
        if !self.flat && self.dice.percent(22) {
            self.here_document();
            return;
        }
        let writes = self.permissions.writes_out;
        let text = if self.odd(45) {
            self.dice.pick(&odd)
        } else {
            self.dice.pick(&usual)
        };
        if !writes && text.contains("out/f") && self.dice.percent(80) {
            self.push("2>&1");
        } else {
            self.push(text);
        }
    }

    fn here_document(&mut self) {
        let quotes = if self.plain { 2 } else { 7 };
        let (begin, end) = match self.dice.below(quotes) {
            0 => ("'E'", "E"),
            1 => ("E", "E"),
            2 => ("\"E\"", "E"),
            3 => ("\\E", "E"),
            4 => ("E\\\nF", "EF"),
            5 => ("$'E'", "E"),
            _ => ("'E F'", "E F"),
        };
        let strips = self.dice.percent(15);
        self.push(if strips { "<<-" } else { "<<" });
        self.push(begin);
        let mut body = String::new();
        for _ in 0..self.dice.below(4) {
            let row = self.dice.pick(&[
                "plain text",
                "it's",
                "touch CAN",
                "\ttabs",
                "\"quoted\"",
                "E ",
                " E",
                "EOF",
                "]]",
                "`",
                "\\",
                "a \\",
                "# x",
                "<<F",
                "$",
                "done",
                "$HOME",
                "$(echo in)",
                "${x:-$(touch CAN)}",
                "$((1))",
                "a*b ~",
                "\\$x",
                ")",
                "}",
                "$x ${x}",
            ]);
            let literal = begin != "E" && begin != "E\\\nF";
            let harmless = literal || !row.contains(['$', '`', '\\']) || self.dice.percent(40);
            body.push_str(if harmless { row } else { "text" });
            body.push('\n');
        }
        let end = if strips {
            format!("\t{end}")
        } else {
            end.to_owned()
        };
        self.pending.push(Pending { end, body });
    }
}

/// The text in apostrophes.
pub(crate) fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
