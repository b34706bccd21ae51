//! Patterns of command rules: `npm test`, `npm run:*`, `git * main`.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use windlass_shell::{self as shell, CommandWord as Word, SimpleCommand};

/// The separator between words: matched by a blank in a rule, unlike a blank in a quoted word.
const GAP: char = '\0';
/// A `*`, which matches anything, separators included.
const STAR: char = '\u{1}';
/// A word that is computed when the line runs: only matched by a `*`.
const COMPUTED: char = '\u{2}';

/// The command or commands that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The words, with [`STAR`] for wildcards.
    words: Vec<String>,
    /// The words in the spelling of the commands they are compared with.
    spelled: String,
    /// The same followed by any words, if that is allowed (`:*` or ` *` at the end).
    followed: Option<String>,
    /// The whole line, if there is no wildcard.
    line: Option<String>,
}

impl CommandPattern {
    /// Parses the part in parentheses. A `*` matches anything, `\*` the character itself.
    pub(in crate::permission) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains([GAP, STAR, COMPUTED]) {
            return Err("it holds control characters: leave them out");
        }
        let marked = mark_wildcards(text);
        let stripped = [":\u{1}", " \u{1}"]
            .iter()
            .find_map(|end| marked.strip_suffix(end));
        let open = stripped.is_some();
        let body = stripped.unwrap_or(&marked).trim();
        if body.is_empty() {
            return Err(
                "there is no command before the `*`: for every command name the tool alone",
            );
        }
        let line = (!open && !body.contains(STAR)).then(|| body.to_owned());
        let words = words_of(body);
        let spelled = words.join("\0");
        let followed = open.then(|| {
            let mut followed = spelled.clone();
            followed.extend([GAP, STAR]);
            followed
        });
        Ok(Self {
            words,
            spelled,
            followed,
            line,
        })
    }

    /// Whether the rule is for exactly this line, whatever it does. Only blanks that no shell treats as part of it are trimmed.
    pub(super) fn is_line(&self, line: &str) -> bool {
        self.line.as_deref() == Some(line.trim_matches([' ', '\t', '\n']))
    }

    /// The same with more trimming, for rules that should rather match too much.
    pub(super) fn may_be_line(&self, line: &str) -> bool {
        self.line.as_deref() == Some(line.trim())
    }

    /// Whether the rule is for a single line only.
    pub(in crate::permission) fn is_exact(&self) -> bool {
        self.line.is_some()
    }

    /// The words before the first wildcard that can match whole words.
    pub(in crate::permission) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the rule applies to a command in spelled form.
    pub(super) fn matches(&self, spelled: &Spelled) -> bool {
        self.matches_text(&spelled.text)
    }

    /// The same with only the file name of the program.
    pub(super) fn matches_anywhere(&self, spelled: &Spelled) -> bool {
        self.matches_text(&spelled.text)
            || (spelled.by_name.as_deref()).is_some_and(|text| self.matches_text(text))
    }

    fn matches_text(&self, text: &str) -> bool {
        wild(&self.spelled, text)
            || (self.followed.as_deref()).is_some_and(|followed| wild(followed, text))
    }

    /// Whether the words of the rule may occur in a command with others between them, as in `git -C dir push` for `git push`, or
    /// may be among the computed words.
    pub(super) fn may_hide_in(&self, command: &SimpleCommand) -> bool {
        let (Some(program), Some((first, rest))) = (command.program(), self.words.split_first())
        else {
            return false;
        };
        let first = first.rsplit('/').next().unwrap_or(first);
        if !wild(first, program) {
            return false;
        }
        // A rule of a single word does not apply to longer commands.
        if rest.is_empty() && self.is_exact() {
            return false;
        }
        let arguments = &command.words[1..];
        arguments.iter().any(|word| !word.is_literal()) || in_order(rest, arguments)
    }

    /// Whether this pattern covers everything that the other one does.
    pub(in crate::permission) fn includes(&self, other: &Self) -> bool {
        // A wildcard of the other may match anything, so only a wildcard here covers it. It is replaced by a word that nobody
        // writes.
        let covers = |text: &str| self.matches_text(&text.replace(STAR, "\u{2}"));
        match &other.followed {
            None => covers(&other.spelled),
            Some(followed) => covers(followed) && self.matches_text(&other.spelled),
        }
    }
}

fn in_order(wanted: &[String], words: &[Word]) -> bool {
    let mut words = words.iter();
    wanted
        .iter()
        .all(|wanted| words.any(|word| wild(wanted, word.text())))
}

/// The text with every unescaped `*` marked as a wildcard.
fn mark_wildcards(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'*') => {
                chars.next();
                out.push('*');
            }
            '*' => out.push(STAR),
            c => out.push(c),
        }
    }
    out
}

/// A command line as a rule for exactly this line.
pub(in crate::permission) fn escape(line: &str) -> String {
    line.replace('*', "\\*")
}

/// The words of a rule: as a shell splits them if it is a plain command, otherwise as written.
fn words_of(body: &str) -> Vec<String> {
    if !body.contains(STAR)
        && let Ok(commands) = shell::scan(body)
        && let [command] = commands.as_slice()
        && command.assignments.is_empty()
        && command.redirections.is_empty()
        && command.words.iter().all(Word::is_literal)
    {
        return command
            .words
            .iter()
            .map(|word| word.text().to_string())
            .collect();
    }
    body.split_whitespace().map(ToString::to_string).collect()
}

/// A simple command in the form that is compared with rules.
#[derive(Debug, Clone)]
pub(super) struct Spelled {
    text: String,
    /// The same with only the file name of the program, if it is named by a path.
    by_name: Option<String>,
}

impl Spelled {
    pub(super) fn of(command: &SimpleCommand) -> Self {
        let mut text = String::new();
        for (index, word) in command.words.iter().enumerate() {
            if index > 0 {
                text.push(GAP);
            }
            let is_clear = word.is_literal() && !word.text().contains([GAP, STAR, COMPUTED]);
            match is_clear {
                true => text.push_str(word.text()),
                false => text.push(COMPUTED),
            }
        }
        let by_name = command.program().and_then(|name| {
            let (first, rest) = text.split_at(text.find(GAP).unwrap_or(text.len()));
            (first != name).then(|| [name, rest].concat())
        });
        Self { text, by_name }
    }

    /// A line that cannot be parsed, in the form it appears to have.
    pub(super) fn of_text(line: &str) -> Self {
        let mut text = String::with_capacity(line.len());
        for word in line.split_whitespace() {
            if !text.is_empty() {
                text.push(GAP);
            }
            text.push_str(word);
        }
        Self {
            text,
            by_name: None,
        }
    }
}

/// Whether a text matches a pattern, in which [`STAR`] stands for any text. Takes time proportional to at most the product of
/// both lengths.
fn wild(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to continue if the text after the last star does not match.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&(STAR as u8)) {
            p += 1;
            retry = Some((p, t));
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((after_star, taken)) = retry {
            (p, t) = (after_star, taken + 1);
            retry = Some((after_star, taken + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|b| *b == STAR as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(line: &str) -> Spelled {
        Spelled::of(&shell::scan(line).unwrap()[0])
    }

    #[test]
    fn wildcards_stand_for_anything_between_what_is_written() {
        for (rule, command, expected) in [
            ("npm run:*", "npm run", true),
            ("npm run *", "npm run a b", true),
            ("npm run:*", "npm runner", false),
            ("npm*", "npmx y", true),
            ("git * main", "git checkout main", true),
            ("git * main", "git push -f origin main", true),
            ("git * main", "git main", false),
            ("git * main", "git checkout main2", false),
            ("git * main:*", "git merge main --ff", true),
            ("* --version", "node --version", true),
            ("* --version", "node --version x", false),
            ("npm run test:*:*", "npm run test:unit --x", true),
            ("find . -name \\*.rs", "find . -name '*.rs'", true),
            ("find . -name \\*.rs", "find . -name a.rs", false),
            ("git commit -m \"a b\"", "git commit -m 'a b'", true),
            ("git commit -m \"a b\"", "git commit -m a b", false),
            ("rm a b", "rm 'a b'", false),
            ("ls *", "ls $X", true),
            ("ls a", "ls $X", false),
            ("ls", "/bin/ls", false),
        ] {
            let pattern = CommandPattern::parse(rule).unwrap();
            assert_eq!(
                pattern.matches(&spelled(command)),
                expected,
                "{rule} on {command}"
            );
        }
    }

    #[test]
    fn a_rule_made_of_a_line_is_about_this_line_only() {
        for line in [
            "echo a*b",
            "find . -name \\*.rs",
            "echo \\\\*",
            "x:*",
            "x *",
            "grep 'a\\|b' *",
        ] {
            let pattern = CommandPattern::parse(&escape(line)).unwrap();
            assert!(
                pattern.is_exact() && pattern.is_line(line),
                "{line}: {pattern:?}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_few() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!wild(&mark_wildcards(&pattern), &"a".repeat(5_000)));
    }
}
