//! What a shell evaluates again after parsing. Arithmetic, subscripts and indirections treat the *value* of a variable as an
//! expression, and an expression may contain a subscript with a substitution. A text that looks like data is then a command
//! (`x='a[$(id)]'; echo $((x))`), so anything that uses variables in this way is refused.

use crate::{CommandWord, SimpleCommand, names};

/// Variables whose values are run or evaluated, at once or with the next command.
const EVALUATED: [&str; 12] = [
    "BASHPID",
    "BASH_ARGV0",
    "BASH_ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "SHELLOPTS",
];

/// Whether the shell evaluates this variable.
pub(super) fn is_evaluated_variable(name: &str) -> bool {
    EVALUATED.contains(&name) || name.starts_with("PS") || name.starts_with("PROMPT_")
}

/// Whether an expression contains only numbers.
pub(super) fn is_numeric(expression: &str) -> bool {
    !(expression.chars())
        .any(|c| c.is_alphabetic() || matches!(c, '_' | '$' | '`' | '\'' | '"' | '\\' | '[' | '@'))
}

/// Whether the text between `${` and `}` evaluates no variable: no indirection, no subscript other than a number or all, no
/// computed offset, no assignment.
pub(super) fn is_plain_expansion(inner: &str) -> bool {
    let counted = inner.strip_prefix('#').filter(|name| !name.is_empty());
    let whole = counted.unwrap_or(inner);
    if whole.starts_with('!') {
        return false;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = whole.trim_start_matches(is_name);
    if rest.len() == whole.len() {
        // `$?` and similar parameters have one character.
        rest = rest.get(1..).unwrap_or_default();
    }
    if let Some(subscript) = rest.strip_prefix('[') {
        let Some((subscript, behind)) = subscript.split_once(']') else {
            return false;
        };
        if !(matches!(subscript, "@" | "*") || is_index(subscript)) {
            return false;
        }
        rest = behind;
    }
    match rest.strip_prefix(':') {
        Some(part) if part.starts_with(['-', '?', '+']) => true,
        Some(part) => !part.starts_with('=') && is_numeric(part),
        None => !rest.starts_with('='),
    }
}

fn is_index(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether `[[ … ]]`, `[ … ]` or `test` treats an operand as an expression or as the name of a variable.
pub(super) fn test_evaluates(command: &SimpleCommand) -> bool {
    let is_double = command.program() == Some("[[");
    let number = |at: Option<usize>| {
        let word = at.and_then(|at| command.words.get(at));
        word.is_some_and(|word| word.is_literal() && is_index(word.text().trim_start_matches('-')))
    };
    (command.words.iter().enumerate()).any(|(at, word)| match word.text() {
        "-v" | "-R" => true,
        "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" if is_double => {
            !(number(at.checked_sub(1)) && number(Some(at + 1)))
        }
        _ => false,
    })
}

/// Whether the expansion of a word may become an operator of `[ … ]` or `test`.
fn has_computed_operator(command: &SimpleCommand) -> bool {
    let mut operands = command.words.get(1..).unwrap_or_default();
    if let Some((last, rest)) = operands.split_last()
        && command.program() == Some("[")
        && last.text() == "]"
    {
        operands = rest;
    }
    if let Some((first, rest)) = operands.split_first()
        && first.is_literal()
        && first.text() == "!"
    {
        operands = rest;
    }
    match operands {
        [operator, _] | [_, operator, _] => !operator.is_literal(),
        [] | [_] => false,
        more => more.iter().any(|word| !word.is_literal()),
    }
}

/// Whether `env` sets a variable that makes the shell it starts run more than it is given.
fn sets_shell(command: &SimpleCommand) -> bool {
    let assigned = command
        .words
        .iter()
        .filter_map(|word| word.text().split_once('='));
    let mut names = assigned.map(|(name, _)| name);
    names.any(|name| {
        names::is_made_by_the_shell(name) || is_evaluated_variable(name) || name == "PATH"
    })
}

/// Whether a builtin that takes names of variables evaluates its arguments: subscripts including substitutions in them, the
/// shell's own variables, a command to be called for every line.
pub(super) fn builtin_evaluates(command: &SimpleCommand) -> bool {
    let Some(program) = command.program() else {
        return false;
    };
    match program {
        "env" => return sets_shell(command),
        "jobs" | "fc" | "history" | "set" | "shopt" => return changes_reading(program, command),
        _ => {}
    }
    let takes_names = matches!(
        program,
        "printf"
            | "test"
            | "["
            | "[["
            | "read"
            | "unset"
            | "let"
            | "declare"
            | "typeset"
            | "local"
            | "export"
            | "readonly"
            | "mapfile"
            | "readarray"
            | "wait"
            | "getopts"
    );
    takes_names
        && (holds_substitution(command)
            || sets_evaluated(program, command)
            || names_are_computed(program, command))
}

/// Whether the name of a variable that a builtin is given, or an expression, is computed: a subscript in it would be evaluated.
fn names_are_computed(program: &str, command: &SimpleCommand) -> bool {
    let operands = command.words.get(1..).unwrap_or_default();
    let mut operands = operands.iter();
    match program {
        "printf" => {
            operands.any(|word| !word.is_literal() && word.known().starts_with("-v"))
                || follows(command, "-v")
        }
        "wait" => follows(command, "-p"),
        "read" | "unset" | "let" | "mapfile" | "readarray" | "getopts" => {
            operands.any(|word| !word.is_literal())
        }
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            operands.any(|word| !word.is_literal() && !word.known().contains('='))
        }
        _ => false,
    }
}

/// Whether the word after an option is computed.
fn follows(command: &SimpleCommand, option: &str) -> bool {
    command
        .words
        .windows(2)
        .any(|pair| pair[0].text().ends_with(option) && !pair[1].is_literal())
}

/// Options that do not change how a shell parses lines.
const HARMLESS_OPTIONS: [&str; 21] = [
    "allexport",
    "dotglob",
    "errexit",
    "errtrace",
    "failglob",
    "functrace",
    "globstar",
    "inherit_errexit",
    "lastpipe",
    "monitor",
    "nocaseglob",
    "nocasematch",
    "noclobber",
    "noglob",
    "nounset",
    "nullglob",
    "physical",
    "pipefail",
    "verbose",
    "xpg_echo",
    "xtrace",
];

/// Whether a builtin runs a line of the history, or a job's command, or changes how later lines are parsed (`extglob`, history
/// expansion, assignments after the program).
fn changes_reading(program: &str, command: &SimpleCommand) -> bool {
    let mut arguments = command.words.get(1..).unwrap_or_default().iter();
    match program {
        "fc" => true,
        "history" => arguments.any(|word| !is_index(word.text())),
        "jobs" => arguments.any(|word| !word.is_literal() || word.text().contains('x')),
        "shopt" => arguments.any(|word| {
            let is_option = matches!(word.text(), "-s" | "-u" | "-q" | "-p" | "-o");
            !(word.is_literal() && (is_option || HARMLESS_OPTIONS.contains(&word.text())))
        }),
        _ => sets_unusual(arguments),
    }
}

/// Whether `set` changes more than what a shell prints and when it exits.
fn sets_unusual<'a>(mut arguments: impl Iterator<Item = &'a CommandWord>) -> bool {
    while let Some(word) = arguments.next() {
        let text = word.text();
        if text == "--" {
            return false;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else {
            // After this there are no more options.
            return !word.is_literal();
        };
        if !word.is_literal()
            || !letters
                .chars()
                .all(|letter| "aefhmnouvxBCEPT".contains(letter))
        {
            return true;
        }
        let is_harmless =
            |name: &CommandWord| name.is_literal() && HARMLESS_OPTIONS.contains(&name.text());
        if letters.contains('o') && !arguments.next().is_none_or(is_harmless) {
            return true;
        }
    }
    false
}

/// Whether a word contains a subscript with a substitution.
fn holds_substitution(command: &SimpleCommand) -> bool {
    let mut words = command.words.iter().map(crate::CommandWord::text);
    words.any(|text| text.contains('[') && (text.contains("$(") || text.contains('`')))
}

fn sets_evaluated(program: &str, command: &SimpleCommand) -> bool {
    let mut words = command.words.iter().skip(1).map(crate::CommandWord::text);
    let has_option = |letter: char| {
        (words.clone()).any(|word| word.starts_with(['-', '+']) && word.contains(letter))
    };
    match program {
        "[[" => test_evaluates(command),
        "[" | "test" => test_evaluates(command) || has_computed_operator(command),
        "let" => !words.all(is_numeric),
        // The expansion of the format may be the option.
        "printf" if command.words.get(1).is_some_and(may_be_option) => true,
        "printf" if !has_option('v') => false,
        "declare" | "typeset" | "local" | "export" | "readonly"
            if has_option('i') || has_option('n') =>
        {
            true
        }
        "mapfile" | "readarray" if has_option('C') => true,
        _ => words.any(|word| {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            name.contains('[')
                || is_evaluated_variable(name)
                // With another path the same word names another program.
                || name == "PATH"
                || name.starts_with("LD_")
        }),
    }
}

/// Whether a computed word may become an option.
fn may_be_option(word: &CommandWord) -> bool {
    !word.is_literal() && (word.text().is_empty() || word.text().starts_with('-'))
}
