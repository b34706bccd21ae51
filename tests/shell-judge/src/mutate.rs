//! Changes lines where readers of shell lines err: what joins lines, opens and closes quotes and brackets, and what looks
//! like one thing and is another.

use crate::dice::Dice;

/// What is put in somewhere.
const PIECES: [&str; 96] = [
    "\\\n",
    "\\\n",
    "\\\n",
    "\\",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "${",
    "${x:-",
    "${x:-{}",
    "${x:+",
    "$'",
    "$'\\''",
    "$\"",
    "\\\"",
    "\\'",
    "\\`",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "&>",
    ">&",
    "<&-",
    "<&-touch ",
    ">",
    "<",
    "<<E\n",
    "<<'E'\n",
    "<<-E\n",
    "<<<",
    "<(",
    ">(",
    "\nE\n",
    "\n",
    "\r",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1}",
    "\u{7f}",
    "\u{a0}",
    "\u{2028}",
    "#",
    " #",
    " # ",
    "*",
    "?",
    "[",
    "]",
    "[[ ",
    " ]]",
    " =~ ( ",
    "((",
    "))",
    "$((",
    "$[",
    "{a,b}",
    "{a[x]}>",
    "{PATH}>",
    "~",
    "!",
    "! ",
    "=",
    "x=1 ",
    "PATH=d ",
    "for x do ",
    "for x in ",
    " in ",
    "do ",
    "done",
    "; done",
    "case a in ",
    "esac",
    "if ",
    "then ",
    "fi",
    "function ",
    "() ",
    "time ",
    "coproc ",
    "exec ",
    "env -S ",
    "command ",
    "\u{e9}",
    "-",
    "--",
];

/// What nobody allowed, put in somewhere.
const INTRUDERS: [&str; 14] = [
    "touch CAN",
    ";touch CAN;",
    "\ntouch CAN\n",
    "$(touch CAN)",
    "`touch CAN`",
    "|touch CAN",
    "&&touch CAN",
    "; touch CAN #",
    "\"$(touch CAN)\"",
    "<(touch CAN)",
    " -exec touch {} \\; ",
    "${ touch CAN; }",
    "a[$(touch CAN)]",
    "touch ",
];

/// Characters that mean something.
const SIGNS: &str = "$`\"'\\(){}[]<>;&|#\n =*~!-";

/// A line with one to four changes.
pub(crate) fn mutate(line: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = line.chars().collect();
    for _ in 0..=dice.below(4) {
        change(&mut chars, dice);
    }
    // No argument of a program holds this.
    chars.into_iter().filter(|c| *c != '\0').collect()
}

fn change(chars: &mut Vec<char>, dice: &mut Dice) {
    let at = place(chars, dice);
    match dice.below(12) {
        0..5 => insert(chars, at, dice.pick(&PIECES)),
        5 | 6 => insert(chars, at, dice.pick(&INTRUDERS)),
        7 if at < chars.len() => drop(chars.remove(at)),
        8 if at < chars.len() => {
            let signs: Vec<char> = SIGNS.chars().collect();
            chars[at] = dice.pick(&signs);
        }
        9 => {
            // A part of it twice.
            let end = (at + 1 + dice.below(12)).min(chars.len());
            let part: Vec<char> = chars[at.min(end)..end].to_vec();
            chars.splice(at..at, part);
        }
        10 => {
            let end = (at + 1 + dice.below(6)).min(chars.len());
            chars.drain(at.min(end)..end);
        }
        _ => insert(chars, at, "\\\n"),
    }
}

/// Where something is changed: mostly beside a sign.
fn place(chars: &[char], dice: &mut Dice) -> usize {
    let beside: Vec<usize> = (0..chars.len())
        .filter(|at| SIGNS.contains(chars[*at]))
        .collect();
    if beside.is_empty() || dice.percent(30) {
        return dice.below(chars.len() + 1);
    }
    dice.pick(&beside) + dice.below(2)
}

fn insert(chars: &mut Vec<char>, at: usize, text: &str) {
    chars.splice(at..at, text.chars());
}
