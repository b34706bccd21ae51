//! Programs that run another program named in their arguments.

use alloc::{string::String, vec::Vec};

use super::budget::Budget;
use crate::{CommandWord, SimpleCommand, Unparsed, read::runs};

/// What a wrapper runs.
pub(super) enum Wrapped {
    /// A command, from the wrapper's arguments. It may be a wrapper itself.
    Command(SimpleCommand),
    /// A command line in one of the arguments, not parsed yet.
    Line(String),
}

/// Receives what a wrapper runs.
type Visit<'a> = dyn FnMut(Wrapped) -> Result<(), Unparsed> + 'a;

/// Passes what a wrapper would run to `visit`, and returns whether it is one.
pub(super) fn unwrap(
    command: &SimpleCommand,
    budget: &Budget,
    visit: &mut Visit<'_>,
) -> Result<bool, Unparsed> {
    let Some(program) = command.program() else {
        return Ok(false);
    };
    let arguments = &command.words[1..];
    let wrapper = Wrapper { command, budget };
    match program {
        // Only looks up a program, and starts none.
        "command" if matches!(arguments.first(), Some(w) if matches!(w.text(), "-v" | "-V")) => {
            Ok(false)
        }
        "command" | "builtin" | "nohup" | "setsid" => wrapper.runs(arguments, &[], 0, visit),
        "exec" => wrapper.runs(arguments, &["-a"], 0, visit),
        "time" => wrapper.runs(arguments, &["-f", "-o"], 0, visit),
        "nice" => wrapper.runs(arguments, &["-n"], 0, visit),
        "stdbuf" => wrapper.runs(arguments, &["-i", "-o", "-e"], 0, visit),
        "timeout" => wrapper.runs(arguments, &["-k", "-s"], 1, visit),
        "env" => wrapper.runs(arguments, &["-u", "-C"], 0, visit),
        "xargs" => {
            // Its input becomes further words, or a part of the existing ones.
            let mut arguments = with_replaced(arguments);
            arguments.push(CommandWord::unknown());
            wrapper.runs(&arguments, &XARGS_VALUES, 0, visit)
        }
        "sh" | "bash" | "dash" | "zsh" | "ksh" => shell(arguments, visit),
        "eval" => {
            let mut line = String::new();
            for word in arguments {
                if !word.is_literal() {
                    return Err(Unparsed::ComputedProgram);
                }
                line.push_str(word.text());
                line.push(' ');
            }
            visit(Wrapped::Line(line))?;
            Ok(true)
        }
        "find" | "fd" | "fdfind" => {
            for (start, end) in executed(arguments) {
                let words: Vec<CommandWord> =
                    arguments[start..end].iter().map(placeholder).collect();
                wrapper.runs(&words, &[], 0, visit)?;
            }
            Ok(false)
        }
        name => match runs::is_unfollowed(name) {
            Some(why) => Err(Unparsed::Unsupported(why)),
            None => Ok(false),
        },
    }
}

fn is_assignment(word: &CommandWord) -> bool {
    word.is_literal() && !word.text().starts_with('-') && word.text().contains('=')
}

/// The ranges of the commands that a search runs on what it finds.
fn executed(arguments: &[CommandWord]) -> Vec<(usize, usize)> {
    const RUNS: [&str; 8] = [
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-x",
        "--exec",
        "-X",
        "--exec-batch",
    ];
    let mut found = Vec::new();
    let mut at = 0;
    while at < arguments.len() {
        let start = at + 1;
        if !RUNS.contains(&arguments[at].text()) {
            at = start;
            continue;
        }
        // A `+` ends it only after the placeholder for the names.
        let ends = |i: &usize| {
            arguments[*i].text() == ";"
                || arguments[*i].text() == "+" && arguments[*i - 1].text() == "{}"
        };
        let end = (start..arguments.len()).find(ends);
        let end = end.unwrap_or(arguments.len());
        found.push((start, end));
        at = end;
    }
    found
}

/// A word in which `{}` stands for a name found later.
fn placeholder(word: &CommandWord) -> CommandWord {
    if word.text().contains('{') {
        CommandWord::unknown()
    } else {
        word.clone()
    }
}

/// The arguments of `xargs`, in which every word with its replacement text is unknown.
fn with_replaced(arguments: &[CommandWord]) -> Vec<CommandWord> {
    let mut replaced: Option<String> = None;
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text();
        let value = match text {
            "-I" | "-J" => arguments.get(at + 1).map(CommandWord::text),
            "-i" | "--replace" => Some("{}"),
            _ => ["--replace=", "-I", "-J", "-i"]
                .iter()
                .find_map(|option| text.strip_prefix(option)),
        };
        replaced = replaced.or(value.map(String::from));
    }
    let Some(replaced) = replaced.filter(|text| !text.is_empty()) else {
        return arguments.to_vec();
    };
    let unknown = |word: &CommandWord| {
        if word.text().contains(&replaced) && !word.text().starts_with('-') {
            CommandWord::unknown()
        } else {
            word.clone()
        }
    };
    arguments.iter().map(unknown).collect()
}

/// Options of `xargs` that take a value.
const XARGS_VALUES: [&str; 9] = ["-I", "-J", "-n", "-P", "-L", "-d", "-a", "-s", "-E"];

struct Wrapper<'a> {
    command: &'a SimpleCommand,
    budget: &'a Budget,
}

impl Wrapper<'_> {
    /// Passes on the command after options (some of which take a value), assignments and a number of operands.
    fn runs(
        &self,
        arguments: &[CommandWord],
        with_value: &[&str],
        operands: usize,
        visit: &mut Visit<'_>,
    ) -> Result<bool, Unparsed> {
        let behind_options = skip_options(arguments, with_value)?;
        let assignments = behind_options
            .iter()
            .take_while(|w| is_assignment(w))
            .count();
        let words = behind_options
            .get(assignments + operands..)
            .unwrap_or_default();
        let Some(program) = words.first() else {
            return Ok(false);
        };
        if !program.is_literal() {
            return Err(Unparsed::ComputedProgram);
        }
        // Everything copied below; also what precedes the program, so that no copying is free.
        let outer = self.command.assignments.len() + self.command.redirections.len();
        self.budget.spend(outer + arguments.len())?;
        let names = behind_options[..assignments]
            .iter()
            .filter_map(|w| w.text().split('=').next())
            .map(String::from);
        visit(Wrapped::Command(SimpleCommand {
            assignments: self
                .command
                .assignments
                .iter()
                .cloned()
                .chain(names)
                .collect(),
            words: words.to_vec(),
            redirections: self.command.redirections.clone(),
            wraps: false,
            folder: self.command.folder.clone(),
            by_others: false,
        }))?;
        Ok(true)
    }
}

fn skip_options<'a>(
    arguments: &'a [CommandWord],
    with_value: &[&str],
) -> Result<&'a [CommandWord], Unparsed> {
    let mut rest = arguments;
    while let [first, tail @ ..] = rest {
        if !first.is_literal() {
            return Ok(rest); // the program itself: whoever looks at it will see that
        }
        let option = first.text();
        if option == "--" {
            return Ok(tail);
        }
        if !option.starts_with('-') || option.len() == 1 {
            return Ok(rest);
        }
        rest = if with_value.contains(&option) {
            tail.get(1..).ok_or(Unparsed::Syntax)?
        } else if is_plain_option(option, with_value) {
            tail
        } else {
            return Err(Unparsed::Unsupported("an option of a wrapper"));
        };
    }
    Ok(rest)
}

/// Whether an option certainly does not take the next word: one letter, or a value attached. `env -S` splits its value into a
/// separate command line.
fn is_plain_option(option: &str, with_value: &[&str]) -> bool {
    let attached = with_value.iter().any(|known| option.starts_with(known));
    let long_with_value = option.starts_with("--") && option.contains('=');
    !option.contains('S')
        && !option.starts_with("--split")
        && (option.len() == 2 || attached || long_with_value)
}

/// `sh -c TEXT`: the text is a command line; a script file or standard input is unknown.
fn shell(arguments: &[CommandWord], visit: &mut Visit<'_>) -> Result<bool, Unparsed> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if !argument.is_literal() {
            return Err(Unparsed::ComputedProgram);
        }
        match argument.text() {
            "-c" | "-lc" | "-ec" | "-euc" => {
                let text = arguments.next().ok_or(Unparsed::Syntax)?;
                if !text.is_literal() {
                    return Err(Unparsed::ComputedProgram);
                }
                visit(Wrapped::Line(text.text().into()))?;
                return Ok(true);
            }
            "--version" | "--help" => return Ok(false),
            flag if flag.starts_with('-') && !flag.contains('c') && flag.len() <= 3 => {}
            _ => return Err(Unparsed::Unsupported("a shell script")),
        }
    }
    Err(Unparsed::Unsupported("a shell that reads commands"))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_wrapper_gives_itself_and_what_it_runs() {
        let found = super::super::commands("timeout -k 5 10 npm test").unwrap();
        let lines: Vec<Vec<&str>> = found
            .iter()
            .map(|c| c.words.iter().map(CommandWord::text).collect())
            .collect();
        assert_eq!(
            lines,
            vec![
                vec!["npm", "test"],
                vec!["timeout", "-k", "5", "10", "npm", "test"]
            ]
        );
    }
}
