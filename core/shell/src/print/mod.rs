//! Prints a tree for a shell: bash or dash, given the text, does what the tree says and nothing else.
//!
//! Every text is quoted, so that no word becomes a keyword, an alias or a pattern. Every program is called through `command`, so
//! that no function is called instead, and functions with those names from the environment are removed first. No expansion
//! becomes an option: patterns are printed with `./` in front, and the line exits if a variable or substitution gives a word that
//! begins with `-`.

mod guard;
mod process;
mod quote;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

pub use self::quote::quote;
use self::{guard::Guards, quote::escaped_body};
use crate::{
    AndOr, Assignment, Choice, Command, Compound, Junction, Part, Pipeline, Redirection, Runs,
    Script, Simple, Target, Word,
};

/// Removes functions that a shell may have inherited. In posix mode `unset` takes precedence over functions.
const HEADER: &str =
    "POSIXLY_CORRECT=1\n'unset' -f unset command printf exit\n'unset' POSIXLY_CORRECT\n";

/// The tree as text for bash or dash. `program` returns the path by which a program is started; if it returns none, the shell
/// searches for it by name.
///
/// The keyword `time` is left out: only bash supports it.
#[must_use]
pub fn print(script: &Script, program: &dyn Fn(&str) -> Option<String>) -> String {
    [HEADER, &print_for_people(script, program)].concat()
}

/// The same without the initial lines that remove functions: for display, not for running.
#[must_use]
pub fn print_for_people(script: &Script, program: &dyn Fn(&str) -> Option<String>) -> String {
    let mut printer = Printer {
        program,
        text: String::new(),
        bodies: Vec::new(),
        names: 0,
        named: 0,
    };
    printer.script(script);
    printer.text
}

struct Printer<'a> {
    program: &'a dyn Fn(&str) -> Option<String>,
    text: String,
    /// Bodies of here-documents to be printed after the line, with their delimiters.
    bodies: Vec<(String, String)>,
    /// The number of variable names generated.
    names: u32,
    /// The number of process substitutions of the current command whose names are already printed.
    named: u8,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends the line, with its here-documents.
    fn line_end(&mut self) {
        self.push("\n");
        for (body, end) in core::mem::take(&mut self.bodies) {
            self.push(&body);
            self.push(&end);
            self.push("\n");
        }
    }

    fn script(&mut self, script: &Script) {
        for list in &script.lists {
            self.and_or(list);
            self.line_end();
        }
    }

    fn and_or(&mut self, list: &AndOr) {
        self.pipeline(&list.first);
        for (junction, pipeline) in &list.rest {
            self.push(match junction {
                Junction::And => " &&",
                Junction::Or => " ||",
            });
            self.line_end();
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if pipeline.negated {
            self.push("! ");
        }
        for (number, command) in pipeline.commands.iter().enumerate() {
            if number > 0 {
                self.push(" |");
                self.line_end();
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound { body, redirections } => {
                self.compound(body);
                self.redirections(redirections);
            }
        }
    }

    fn block(&mut self, open: &str, script: &Script, close: &str) {
        self.push(open);
        self.line_end();
        self.script(script);
        self.push(close);
    }

    /// Prints a script in braces. If it is only a subshell, dash would forget the redirections after the braces.
    fn group(&mut self, script: &Script) {
        match script.lists.as_slice() {
            [list] if is_subshell(list) => {
                self.and_or(list);
                self.push(" &&");
                self.line_end();
                self.push("'command' ':'\n");
            }
            _ => self.script(script),
        }
    }

    fn compound(&mut self, body: &Compound) {
        match body {
            Compound::Group(script) => {
                self.push("{");
                self.line_end();
                self.group(script);
                self.push("}");
            }
            Compound::Subshell(script) => self.block("(", script, ")"),
            Compound::For { name, words, body } => {
                let guards = self.guards(words);
                self.open_guarded(&guards);
                self.push("for ");
                self.push(name);
                self.push(" in");
                self.words(words, &guards);
                self.line_end();
                self.block("do", body, "done");
                self.close_guarded(&guards);
            }
            Compound::If { arms, otherwise } => {
                for (number, (condition, body)) in arms.iter().enumerate() {
                    let keyword = if number == 0 { "if" } else { "elif" };
                    self.block(keyword, condition, "then");
                    self.line_end();
                    self.script(body);
                }
                if let Some(otherwise) = otherwise {
                    self.push("else");
                    self.line_end();
                    self.script(otherwise);
                }
                self.push("fi");
            }
            Compound::While {
                until,
                condition,
                body,
            } => {
                self.block(if *until { "until" } else { "while" }, condition, "do");
                self.line_end();
                self.script(body);
                self.push("done");
            }
            Compound::Case { word, choices } => {
                self.push("case ");
                self.word(word, &Guards::default(), 0);
                self.push(" in\n");
                for choice in choices {
                    self.choice(choice);
                }
                self.push("esac");
            }
        }
    }

    fn choice(&mut self, choice: &Choice) {
        for (number, pattern) in choice.patterns.iter().enumerate() {
            self.push(if number == 0 { "(" } else { " | " });
            for part in &pattern.parts {
                match part {
                    Part::Pattern(text) => self.push(text),
                    Part::Literal(text) => self.push(&quote(text)),
                    // The parser produces no other parts of patterns.
                    _ => {}
                }
            }
        }
        self.push(")\n");
        self.script(&choice.body);
        self.push(";;\n");
    }

    fn simple(&mut self, simple: &Simple) {
        let named = core::mem::take(&mut self.named);
        let guards = match says_only(simple) {
            true => Guards::default(),
            false => self.guards(&simple.words),
        };
        self.open_guarded(&guards);
        let processes = self.open_processes(&simple.words);
        if let Some(program) = simple.program() {
            self.program(program);
            self.arguments(simple, &guards);
        } else if simple.assignments.is_empty() {
            self.push("'command' ':'");
        } else {
            self.assignments(&simple.assignments);
        }
        self.redirections(&simple.redirections);
        self.close_processes(processes);
        self.close_guarded(&guards);
        self.named = named;
    }

    /// Prints variables of the line itself. A variable with the same name in the environment is unset first, so that programs do
    /// not receive the new value.
    fn assignments(&mut self, assignments: &[Assignment]) {
        self.push("{\n");
        for Assignment { name, value } in assignments {
            let (held, status) = (self.name(), self.name());
            self.push(&format!("{held}="));
            self.word(value, &Guards::default(), 0);
            self.push(&format!(
                "\n{status}=$?\n'unset' -v {name}\n{name}=\"${{{held}}}\"\n( 'exit' \"${{{status}}}\" )\n"
            ));
        }
        self.push("}");
    }

    /// A variable name that is not used elsewhere.
    fn name(&mut self) -> String {
        self.names += 1;
        format!("windlass_{}", self.names)
    }

    fn program(&mut self, name: &str) {
        let path = (!crate::builtins::is_builtin(name))
            .then(|| (self.program)(name))
            .flatten();
        self.push("'command' ");
        self.push(&quote(path.as_deref().unwrap_or(name)));
    }

    fn arguments(&mut self, simple: &Simple, guards: &Guards) {
        for (number, word) in simple.words.iter().enumerate().skip(1) {
            let run = simple.runs.iter().find(|run| match run {
                Runs::Program { at, .. } | Runs::Script { at, .. } => *at as usize == number,
            });
            self.push(" ");
            match (run, word.as_literal()) {
                (Some(Runs::Program { .. }), Some(name)) => {
                    // `command echo` is the builtin, `nice echo` the program.
                    let behind_command = simple.words[number - 1].as_literal() == Some("command");
                    let is_builtin = behind_command && crate::builtins::is_builtin(name);
                    let path = (!is_builtin).then(|| (self.program)(name)).flatten();
                    self.push(&quote(path.as_deref().unwrap_or(name)));
                }
                (Some(Runs::Script { script, .. }), _) => {
                    let inner = print(script, self.program);
                    self.push(&quote(&inner));
                }
                _ => self.word(word, guards, number),
            }
        }
    }

    fn words(&mut self, words: &[Word], guards: &Guards) {
        for (number, word) in words.iter().enumerate() {
            self.push(" ");
            self.word(word, guards, number);
        }
    }

    /// Prints a word; `number` is its index for the guards.
    fn word(&mut self, word: &Word, guards: &Guards, number: usize) {
        let mut parts = word.parts.iter().enumerate().peekable();
        while let Some((at, part)) = parts.next() {
            match part {
                Part::Process { .. } => self.process_name(),
                Part::Literal(text) => self.push(&quote(text)),
                Part::Pattern(text) => {
                    if at == 0 {
                        self.push("./");
                    }
                    self.push(text);
                }
                Part::Tilde => {
                    self.push("~");
                    if let Some((_, Part::Literal(text))) = parts.peek()
                        && let Some(rest) = text.strip_prefix('/')
                    {
                        parts.next();
                        self.push("/");
                        if !rest.is_empty() {
                            self.push(&quote(rest));
                        }
                    }
                }
                Part::Status => self.push("\"$?\""),
                Part::Variable { name, quoted } => self.variable(name, *quoted),
                Part::Operation {
                    name,
                    operation,
                    quoted,
                } => {
                    let mark = if *quoted { "\"" } else { "" };
                    let text = quote::operation(name, operation);
                    self.push(&format!("{mark}{text}{mark}"));
                }
                Part::Substitution { script, quoted } => match guards.of(number, at) {
                    Some(held) => self.variable(held, *quoted),
                    None => self.substitution(script, *quoted),
                },
            }
        }
    }

    fn variable(&mut self, name: &str, quoted: bool) {
        let mark = if quoted { "\"" } else { "" };
        self.push(&format!("{mark}${{{name}}}{mark}"));
    }

    fn substitution(&mut self, script: &Script, quoted: bool) {
        let mark = if quoted { "\"" } else { "" };
        // Here-documents of the outer script must not begin on a line of the inner one.
        let outer = core::mem::take(&mut self.bodies);
        self.push(mark);
        self.push("$(\n");
        self.script(script);
        self.push(")");
        self.push(mark);
        self.bodies = outer;
    }

    fn redirections(&mut self, redirections: &[Redirection]) {
        for redirection in redirections {
            let descriptor = redirection.descriptor;
            match &redirection.to {
                Target::Read(path) => self.push(&format!(" {descriptor}< {}", quote(path))),
                Target::Write { path, append } => {
                    let sign = if *append { ">>" } else { ">|" };
                    self.push(&format!(" {descriptor}{sign} {}", quote(path)));
                }
                Target::Duplicate(to) => self.push(&format!(" {descriptor}>&{to}")),
                Target::Close => self.push(&format!(" {descriptor}>&-")),
                Target::Text(text) => self.here_document(descriptor, text),
            }
        }
    }

    fn here_document(&mut self, descriptor: u8, text: &Word) {
        let (body, is_literal) = match text.as_literal() {
            Some(text) => (text.to_string(), true),
            None => (self.expanded_body(text), false),
        };
        let end = unused_end(&body);
        let mark = if is_literal { "'" } else { "" };
        self.push(&format!(" {descriptor}<< {mark}{end}{mark}"));
        self.bodies.push((body, end));
    }

    /// Prints the body of a here-document with its expansions, in shell syntax.
    fn expanded_body(&mut self, text: &Word) -> String {
        let mut inner = Printer {
            program: self.program,
            text: String::new(),
            bodies: Vec::new(),
            names: self.names,
            named: 0,
        };
        for part in &text.parts {
            match part {
                Part::Literal(text) => inner.push(&escaped_body(text)),
                Part::Status => inner.push("$?"),
                Part::Tilde => inner.push("${HOME}"),
                Part::Variable { name, .. } => inner.variable(name, false),
                Part::Operation {
                    name, operation, ..
                } => inner.push(&quote::operation(name, operation)),
                Part::Substitution { script, .. } => inner.substitution(script, false),
                // The parser does not produce it: no file names are expanded here.
                Part::Pattern(text) => inner.push(&escaped_body(text)),
                Part::Process { .. } => {}
            }
        }
        self.names = inner.names;
        inner.text
    }
}

/// Whether a list consists only of a subshell.
fn is_subshell(list: &AndOr) -> bool {
    let is_alone = list.rest.is_empty() && !list.first.negated;
    let is_subshell = |command: &Command| {
        let body = match command {
            Command::Compound { body, .. } => Some(body),
            Command::Simple(_) => None,
        };
        matches!(body, Some(Compound::Subshell(_)))
    };
    is_alone && matches!(list.first.commands.as_slice(), [command] if is_subshell(command))
}

/// Builtins that do not treat words beginning with `-` as options.
fn says_only(simple: &Simple) -> bool {
    matches!(
        simple.program(),
        Some("echo" | "test" | "[" | ":" | "true" | "false" | "printf")
    )
}

/// A delimiter that does not occur in the body.
fn unused_end(body: &str) -> String {
    let mut number = 0_u32;
    loop {
        let end = format!("END_OF_TEXT_{number}");
        if !body.lines().any(|line| line.contains(&end)) {
            return end;
        }
        number += 1;
    }
}
