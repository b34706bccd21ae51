//! Reasons why a parsed line cannot run from its tree.
//!
//! Rules may allow a line only if all shells agree on what it does, and if a host can run it without a shell. A line with an
//! obstacle is still subject to deny rules, and needs a person's approval to run.

use crate::{
    Command, CommandWord, Compound, Part, Pipeline, Redirection, Runs, Script, Simple, Target,
    Word,
    builtins::{is_builtin, is_shell_only},
    names::{self, base_name},
    print_for_people, takes_number,
};

/// The maximum number of commands in a pipeline, all of which run at the same time.
pub const MOST_STAGES: usize = 128;

/// Why a line runs only if it was approved as a whole; none if its tree can be run.
pub(crate) fn of(script: &Script) -> Option<&'static str> {
    of_script(script).or_else(|| unknown_folder(script))
}

fn of_script(script: &Script) -> Option<&'static str> {
    let pipelines = script.lists.iter().flat_map(|list| {
        core::iter::once(&list.first).chain(list.rest.iter().map(|(_, pipeline)| pipeline))
    });
    pipelines.into_iter().find_map(of_pipeline)
}

fn of_pipeline(pipeline: &Pipeline) -> Option<&'static str> {
    if pipeline.commands.len() > MOST_STAGES {
        return Some("a pipeline of more commands than run side by side");
    }
    (pipeline.commands.first())
        .and_then(of_shared_input)
        .or_else(|| pipeline.commands.iter().find_map(of_command))
}

/// `xargs` may end before it has read all of its input. If the input is shared, the rest is left for the next command, and how
/// much that is depends on the implementation of `xargs`.
fn of_shared_input(first: &Command) -> Option<&'static str> {
    let Command::Simple(simple) = first else {
        return None;
    };
    let is_own = |redirection: &Redirection| {
        redirection.descriptor == 0 && matches!(redirection.to, Target::Read(_) | Target::Text(_))
    };
    let is_xargs = |word: &Word| word.as_literal().map(base_name) == Some("xargs");
    let programs = simple.runs.iter().filter_map(|run| match run {
        Runs::Program { at, .. } => simple.words.get(*at as usize),
        Runs::Script { .. } => None,
    });
    let reads = simple
        .words
        .first()
        .into_iter()
        .chain(programs)
        .any(is_xargs);
    (reads && !simple.redirections.iter().any(is_own))
        .then_some("`xargs` without a pipe or a file of its own to read")
}

fn of_command(command: &Command) -> Option<&'static str> {
    match command {
        Command::Simple(simple) => of_simple(simple),
        Command::Compound { body, redirections } => of_compound(body).or_else(|| {
            let texts = redirections.iter().filter_map(|r| match &r.to {
                Target::Text(text) => Some(text),
                _ => None,
            });
            texts.into_iter().find_map(of_substitutions)
        }),
    }
}

fn of_compound(body: &Compound) -> Option<&'static str> {
    match body {
        Compound::Group(script) | Compound::Subshell(script) => of_script(script),
        Compound::For { words, body, .. } => words
            .iter()
            .find_map(of_substitutions)
            .or_else(|| of_statuses(words.iter()))
            .or_else(|| of_script(body)),
        Compound::If { arms, otherwise } => arms
            .iter()
            .find_map(|(condition, body)| of_script(condition).or_else(|| of_script(body)))
            .or_else(|| otherwise.as_ref().and_then(of)),
        Compound::While {
            condition, body, ..
        } => of_script(condition).or_else(|| of_script(body)),
        Compound::Case { word, choices } => of_substitutions(word)
            .or_else(|| choices.iter().find_map(|choice| of_script(&choice.body))),
    }
}

fn of_substitutions(word: &Word) -> Option<&'static str> {
    word.parts.iter().find_map(|part| match part {
        Part::Substitution { script, .. } | Part::Process { script } => of_script(script),
        _ => None,
    })
}

fn of_simple(simple: &Simple) -> Option<&'static str> {
    if let Some(why) = of_assignments(simple) {
        return Some(why);
    }
    let texts = simple.redirections.iter().filter_map(|r| match &r.to {
        Target::Text(text) => Some(text),
        _ => None,
    });
    let in_words = (simple.words.iter())
        .chain(texts.clone())
        .find_map(of_substitutions);
    let program = simple.program();
    // These commands do not treat words as options, whatever they begin with.
    let exempt = program.is_some_and(|name| matches!(name, "test" | "[" | "echo" | "printf"));
    in_words
        .or_else(|| {
            let mut arguments = simple.words.iter().skip(1);
            (!exempt && arguments.any(is_computed_option)).then_some("an option that is computed")
        })
        .or_else(|| of_statuses(simple.words.iter().chain(texts.clone())))
        .or_else(|| of_processes(simple))
        .or_else(|| of_builtin(simple))
        .or_else(|| of_runs(simple))
        .or_else(|| of_search(simple))
}

/// A search takes `;` and `+` as the end of the command it runs. After its first action, an expanded word could end that command,
/// and what follows would be another action that nobody judged.
fn of_search(simple: &Simple) -> Option<&'static str> {
    const ACTIONS: [&str; 8] = [
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-x",
        "-X",
        "--exec",
        "--exec-batch",
    ];
    let is_search = |word: &Word| (word.as_literal().map(base_name)).is_some_and(names::is_search);
    let is_action = |word: &Word| word.as_literal().is_some_and(|it| ACTIONS.contains(&it));
    let mut words = simple.words.iter();
    words.find(|word| is_search(word))?;
    words.find(|word| is_action(word))?;
    words
        .any(|word| word.as_literal().is_none())
        .then_some("a word that is expanded in what a search runs")
}

/// In bash `$?` is the status of the preceding substitution, in dash that of the preceding command. Only a single substitution,
/// or a status without any, means the same in both.
fn of_statuses<'a>(words: impl Iterator<Item = &'a Word> + Clone) -> Option<&'static str> {
    let parts = words.flat_map(|word| &word.parts);
    let is_status = |part: &Part| matches!(part, Part::Status);
    let scripts = parts.clone().filter_map(|part| match part {
        Part::Substitution { script, .. } => Some(script),
        _ => None,
    });
    let is_unclear = match scripts.clone().count() {
        0 => false,
        1 => parts.clone().any(is_status),
        // In printed form, `$?` occurs only as a status.
        _ => {
            parts.clone().any(is_status)
                || scripts
                    .clone()
                    .any(|script| print_for_people(script, &|_| None).contains("$?"))
        }
    };
    is_unclear.then_some("`$?` beside a substitution")
}

/// Process substitutions must be read by programs: a builtin would have to run in a subshell.
fn of_processes(simple: &Simple) -> Option<&'static str> {
    let mut parts = simple.words.iter().flat_map(|word| &word.parts);
    if !parts
        .clone()
        .any(|part| matches!(part, Part::Process { .. }))
    {
        return None;
    }
    if simple.program().is_some_and(is_builtin) {
        return Some("a process substitution for a builtin");
    }
    // The order in which they run is not defined.
    parts
        .any(|part| matches!(part, Part::Substitution { .. }))
        .then_some("a process substitution beside another substitution")
}

/// Variables may be set for the line itself. They are not passed to programs, and must not have a meaning for programs or shells.
fn of_assignments(simple: &Simple) -> Option<&'static str> {
    if simple.assignments.is_empty() {
        return None;
    }
    if !simple.words.is_empty() {
        return Some("a variable that is set for a command");
    }
    let acts = |name: &str| names::is_made_by_the_shell(name) || names::is_acted_upon(name);
    let mut assignments = simple.assignments.iter();
    if assignments.clone().any(|assignment| acts(&assignment.name)) {
        return Some("a variable that shells or programs act upon");
    }
    let values = simple
        .assignments
        .iter()
        .map(|assignment| &assignment.value);
    of_statuses(values).or_else(|| assignments.find_map(|it| of_substitutions(&it.value)))
}

/// Whether an option contains an expansion that could name other options: `-$x`, but not `--file=$x`. After a single letter it
/// may be a number (`-j$(nproc)`), which is checked at run time.
fn is_computed_option(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Literal(first), rest @ ..] if first.starts_with('-') && !rest.is_empty() => {
            let names_value = first.starts_with("--") && first.contains('=');
            !names_value && !takes_number(word)
        }
        _ => false,
    }
}

fn of_runs(simple: &Simple) -> Option<&'static str> {
    simple.runs.iter().find_map(|run| match run {
        Runs::Script { script, .. } => of_script(script),
        Runs::Program { at, end } => {
            let words = simple.words.get(*at as usize..*end as usize)?;
            let program = words.first()?.as_literal()?;
            // The wrapper starts a program, and `kill` and similar commands exist as programs, too.
            let leaves = matches!(program, "break" | "continue" | "exit");
            let is_of_shell = leaves || is_shell_only(program) && !is_also_a_program(program);
            if program == "cd" || is_of_shell {
                return Some("a builtin behind a wrapper");
            }
            // After `command` it is the builtin.
            of_builtin(&Simple {
                words: words.to_vec(),
                ..Simple::default()
            })
        }
    })
}

/// `cd` to the value of an environment variable, or to a home directory: its target cannot be told from the line. Variables that
/// the line itself sets, and substitutions, are allowed.
fn unknown_folder(script: &Script) -> Option<&'static str> {
    let mut search = Folders::default();
    search.script(script);
    let is_unknown = |name: &&str| !search.set.contains(name);
    search
        .entered
        .iter()
        .any(is_unknown)
        .then_some("`cd` to a folder that only the environment knows")
}

#[derive(Default)]
struct Folders<'a> {
    /// Variables that the line sets.
    set: alloc::vec::Vec<&'a str>,
    /// Variables in the operands of `cd`; a tilde counts as `HOME`.
    entered: alloc::vec::Vec<&'a str>,
    /// A `cd` precedes: the target of `cd -` follows from the line.
    moved: bool,
}

impl<'a> Folders<'a> {
    fn script(&mut self, script: &'a Script) {
        for list in &script.lists {
            let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
            for pipeline in core::iter::once(&list.first).chain(rest) {
                pipeline
                    .commands
                    .iter()
                    .for_each(|command| self.command(command));
            }
        }
    }

    /// A substitution runs in a subshell: its assignments stay there.
    fn substitutions(&mut self, word: &'a Word) {
        for part in &word.parts {
            if let Part::Substitution { script, .. } | Part::Process { script } = part {
                let mut inner = Self {
                    moved: self.moved,
                    ..Self::default()
                };
                inner.script(script);
                let set = inner.set;
                let entered = inner.entered.into_iter();
                self.entered
                    .extend(entered.filter(|name| !set.contains(name)));
            }
        }
    }

    fn texts(&mut self, redirections: &'a [Redirection]) {
        for redirection in redirections {
            if let Target::Text(text) = &redirection.to {
                self.substitutions(text);
            }
        }
    }

    fn command(&mut self, command: &'a Command) {
        if let Command::Compound { redirections, .. } = command {
            self.texts(redirections);
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound { body, .. } => match body {
                Compound::Group(script) | Compound::Subshell(script) => self.script(script),
                Compound::For { name, words, body } => {
                    words.iter().for_each(|word| self.substitutions(word));
                    self.set.push(name);
                    self.script(body);
                }
                Compound::If { arms, otherwise } => {
                    for (condition, body) in arms {
                        self.script(condition);
                        self.script(body);
                    }
                    otherwise.iter().for_each(|body| self.script(body));
                }
                Compound::While {
                    condition, body, ..
                } => {
                    self.script(condition);
                    self.script(body);
                }
                Compound::Case { word, choices } => {
                    self.substitutions(word);
                    choices.iter().for_each(|choice| self.script(&choice.body));
                }
            },
        }
    }

    fn simple(&mut self, simple: &'a Simple) {
        self.set
            .extend(simple.assignments.iter().map(|a| a.name.as_str()));
        let values = simple.assignments.iter().map(|a| &a.value);
        (simple.words.iter().chain(values)).for_each(|word| self.substitutions(word));
        self.texts(&simple.redirections);
        for run in &simple.runs {
            if let Runs::Script { script, .. } = run {
                self.script(script);
            }
        }
        if simple.program() != Some("cd") {
            return;
        }
        let goes_back = simple.words.get(1).and_then(Word::as_literal) == Some("-");
        if goes_back && !self.moved {
            self.entered.push("OLDPWD");
        }
        self.moved = true;
        for part in simple.words.iter().skip(1).flat_map(|word| &word.parts) {
            match part {
                Part::Variable { name, .. } | Part::Operation { name, .. } => {
                    self.entered.push(name)
                }
                Part::Tilde => self.entered.push("HOME"),
                _ => {}
            }
        }
    }
}

/// Builtins that hosts run themselves. Only without a folder in front: `./echo` may be any program.
fn of_builtin(simple: &Simple) -> Option<&'static str> {
    let program = simple.program()?;
    if !is_builtin(program) {
        return is_shell_only(program).then_some("a builtin that only a shell has");
    }
    let words: alloc::vec::Vec<CommandWord> = simple.words.iter().map(CommandWord::from).collect();
    let arguments = &words[1..];
    let literal = |word: &CommandWord| word.is_literal();
    match program {
        "pwd" => (!arguments.is_empty()).then_some("an option of `pwd`"),
        "cd" => {
            let is_plain = matches!(arguments, [folder]
                if !(folder.is_literal() && (folder.text().is_empty() || folder.text().starts_with('-') && folder.text() != "-")));
            (!is_plain).then_some("`cd` without a folder, or with options")
        }
        "printf" => match arguments
            .iter()
            .find(|it| !(it.is_literal() && it.text() == "--"))
        {
            // `--` once, and then the format.
            Some(_) if arguments.get(1).is_some_and(|it| it.text() == "--") => {
                Some("a format of `printf`")
            }
            Some(format) if literal(format) && is_plain_format(format.text()) => None,
            _ => Some("a format of `printf`"),
        },
        "exit" => (!(arguments.is_empty()
            || matches!(arguments, [code] if literal(code) && is_status(code.text()))))
        .then_some("`exit` with something computed"),
        "break" | "continue" => {
            (!arguments.is_empty()).then_some("`break` or `continue` with a number")
        }
        "test" | "[" => {
            let is_clear = simple.words.iter().all(is_one_field)
                && !is_unclear_test(arguments, program == "[");
            (!is_clear).then_some("a test that is not plain, or has operands without quotes")
        }
        _ => None,
    }
}

/// Whether a word expands to exactly one field: several could be operators of a test.
fn is_one_field(word: &Word) -> bool {
    word.parts.iter().all(|part| match part {
        Part::Literal(_) | Part::Status | Part::Tilde => true,
        Part::Variable { quoted, .. }
        | Part::Operation { quoted, .. }
        | Part::Substitution { quoted, .. } => *quoted,
        Part::Pattern(_) | Part::Process { .. } => false,
    })
}

fn is_status(text: &str) -> bool {
    text.len() <= 3 && text.parse::<u8>().is_ok()
}

/// Builtins that also exist as programs, which is what a wrapper starts.
fn is_also_a_program(name: &str) -> bool {
    matches!(name, "kill")
}

/// `%s` and similar conversions, without argument numbers, stars, times and quoting.
fn is_plain_format(format: &str) -> bool {
    const ESCAPES: &str = "nt\\rabfv\"01234567xe";
    const CONVERSIONS: &str = "sdiuxXocb%";
    if format.starts_with('-') {
        return false;
    }
    let is_flag = |c: &char| "-+ 0#.".contains(*c) || c.is_ascii_digit();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        let follows = match c {
            '%' => {
                while chars.next_if(is_flag).is_some() {}
                CONVERSIONS
            }
            '\\' => ESCAPES,
            _ => continue,
        };
        if !chars.next().is_some_and(|c| follows.contains(c)) {
            return false;
        }
    }
    true
}

/// Operators with one operand.
const UNARY: [&str; 21] = [
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-t", "-u",
    "-w", "-x", "-z", "-O", "-G",
];

/// Operators with two operands.
const BINARY: [&str; 12] = [
    "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
];

/// Tests with one or two operands, possibly negated, are clear. `-a` and `-o` between tests, `-v` and parentheses are left to
/// shells.
fn is_unclear_test(arguments: &[CommandWord], bracket: bool) -> bool {
    let arguments = match arguments.split_last() {
        Some((last, inner)) if bracket => match last.is_literal() && last.text() == "]" {
            true => inner,
            false => return true,
        },
        _ if bracket => return true,
        _ => arguments,
    };
    let is = |word: &CommandWord, operators: &[&str]| {
        word.is_literal() && operators.contains(&word.text())
    };
    let arguments = match arguments {
        [not, rest @ ..] if is(not, &["!"]) && !rest.is_empty() => rest,
        all => all,
    };
    match arguments {
        [] | [_] => false,
        [operator, _] => !is(operator, &UNARY),
        [_, operator, _] => !is(operator, &BINARY),
        _ => true,
    }
}
