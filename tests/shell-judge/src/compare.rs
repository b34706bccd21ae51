//! What a form of a line comes to, held against what bash makes of the text.

use std::borrow::Cow;

use crate::{
    lines::Line,
    permissions::EDITS,
    reading::Form,
    run::{Outcome, Ran},
    stage::Stage,
    trial::Fault,
};

/// What a form comes to otherwise than bash does with the text.
pub(crate) fn difference(
    line: &Line,
    stage: &Stage,
    form: &Form,
    bash: &Outcome,
    here: &Outcome,
) -> Option<Fault> {
    if is_not_compared(&line.text) || says_no_option(form, bash, here) {
        return None;
    }
    // Both were stopped: how far they had come is not compared.
    if bash.status.is_none() && here.status.is_none() {
        return None;
    }
    // The number of a line is a word of its own where a message becomes arguments.
    let may_differ = form.is_printed() || line.text.contains('\n');
    let mut words = here.ran.iter().flat_map(|ran| &ran.arguments);
    if may_differ && words.any(|word| word.ends_with("ash:")) {
        return None;
    }
    let counts_names = form.is_printed() && counts_names(&line.text);
    // `echo` and `printf` of dash know other options and escapes, and its builtins fail with other statuses.
    let says = line.text.contains("echo") || line.text.contains("printf");
    let reads_backslashes = says && line.text.contains('\\');
    let has_options = line.text.contains("echo -");
    // Dash finds the files of a pattern before it runs the substitutions behind it.
    let finds_files = line.text.contains(['*', '?', '['])
        && line.text.contains(['$', '`'])
        && line.text.contains('>');
    // To dash, and to bash before 5.2, the folder and the one above are names that `.*` finds.
    let finds_dots = [".*", ".?", ".["]
        .iter()
        .any(|pattern| line.text.contains(pattern));
    if !form.speaks_bash
        && (reads_backslashes
            || has_options
            || finds_files
            || finds_dots
            || line.text.contains("$?"))
    {
        return None;
    }
    let shown = Shown {
        printed: form.is_printed(),
        without_lines: form.is_printed()
            || has_substitution_in_lines(&line.text)
            || leads_compound_over_lines(&line.text),
        without_descriptors: line.text.contains("<(") && line.text.contains('\n'),
        programs: format!("{}/", stage.programs().display()),
    };
    let differs = |what, bash: String, here: String| {
        (bash != here).then(|| Fault::Differs {
            form: form.label.clone(),
            what,
            bash,
            here,
        })
    };
    let status = |outcome: &Outcome| format!("{:?}", outcome.status);
    // What another shell says is not compared, wherever it went.
    let is_said_by_dash = |name: &String| {
        let text = here
            .files
            .get(name)
            .map(|bytes| String::from_utf8_lossy(bytes));
        !form.speaks_bash && text.is_some_and(|text| text.contains("dash: "))
    };
    let files = |outcome: &Outcome| {
        let files = outcome.files.iter();
        let shown: Vec<String> = files
            .map(|(name, bytes)| {
                if is_said_by_dash(name) {
                    return name.clone();
                }
                let text = without_times(&shown.plain(&String::from_utf8_lossy(bytes)));
                let lines: Vec<_> = text
                    .split('\n')
                    .map(|line| shown.unnumbered(line))
                    .collect();
                format!("{name}: {}", lines.join("\n"))
            })
            .collect();
        shown.join("; ")
    };
    differs(
        "end",
        bash.status.is_some().to_string(),
        here.status.is_some().to_string(),
    )
    .or_else(|| {
        let mut words = here.ran.iter().flat_map(|ran| &ran.arguments);
        // Nor is what it says where that becomes an argument.
        if !form.speaks_bash && words.any(|word| word.contains("dash: ")) {
            return None;
        }
        differs("programs", shown.programs(bash), shown.programs(here))
    })
    .or_else(|| differs("files", files(bash), files(here)))
    .or_else(|| {
        // The builtins of another shell say something else.
        if !form.speaks_bash {
            return None;
        }
        differs("exit status", status(bash), status(here))
            .or_else(|| {
                let stdout = |outcome: &Outcome| match counts_names {
                    true => String::new(),
                    false => shown.lines(&outcome.stdout),
                };
                differs("standard output", stdout(bash), stdout(here))
            })
            .or_else(|| {
                differs(
                    "standard error",
                    shown.messages(&bash.stderr),
                    shown.messages(&here.stderr),
                )
            })
    })
}

/// Whether the length of names may be written, of which a printed line has longer ones.
fn counts_names(text: &str) -> bool {
    text.contains("wc") && (text.contains(['*', '?', '[']) || text.contains("<("))
}

/// Whether a substitution may be counted as several lines: bash counts those of the text that it has printed of it, in which
/// compound commands have several, and begins at the first where the word around it goes over several.
fn has_substitution_in_lines(text: &str) -> bool {
    const COMPOUND: [&str; 5] = ["case", "for", "if", "until", "while"];
    let begin = ["$(", "<(", "`"]
        .iter()
        .filter_map(|sign| text.find(sign))
        .min();
    begin.is_some_and(|begin| {
        text.contains('\n') || COMPOUND.iter().any(|word| text[begin..].contains(word))
    })
}

/// Whether a compound command has redirections in a text of several lines: where one fails, bash names the line up to which it
/// has read.
fn leads_compound_over_lines(text: &str) -> bool {
    const ENDS: [&str; 6] = ["fi", "done", "esac", "}", ")", "]]"];
    let is_led = |end: &&str| {
        text.match_indices(*end).any(|(at, _)| {
            let behind = text[at + end.len()..].trim_start_matches([' ', '\t']);
            let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit());
            behind.starts_with(['<', '>'])
        })
    };
    text.contains('\n') && ENDS.iter().any(is_led)
}

/// Lines that do not come to the same twice, or are not to come to what bash makes of them.
fn is_not_compared(text: &str) -> bool {
    // Names in the folder `dash` look like options.
    let finds_options =
        text.contains("dash") || text.contains("cd ") && text.contains(['*', '?', '[']);
    // Its question has no line end, and others write meanwhile.
    let asks = text.contains("-ok");
    // What runs without any path is found elsewhere by bash; here it is still the one that was judged.
    let has_no_path = text.contains("env -") || text.contains("env\t-");
    let is_a_race = pipes_to_what_does_not_read(text) || reads_at_once(text) || is_not_read(text);
    finds_options || looks_for_option(text) || asks || has_no_path || is_a_race
}

/// Whether a process substitution is handed to a command that does not read it, or may be: what runs in it is killed when that command
/// ends, and how far it had come is the scheduler's.
fn is_not_read(text: &str) -> bool {
    const READERS: [&str; 3] = ["cat", "wc", "grep"];
    text.match_indices("<(").any(|(at, _)| {
        let before = &text[..at];
        let begin = before.rfind([';', '|', '&', '(', '{', '\n']);
        let command = before[begin.map_or(0, |begin| begin + 1)..].trim_start();
        !READERS.iter().any(|reader| command.starts_with(reader))
    })
}

/// Whether commands may read the same input at the same time: nobody waits for a process substitution whose file is not read.
fn reads_at_once(text: &str) -> bool {
    const READERS: [&str; 4] = ["cat", "wc", "grep", "xargs"];
    let readers: usize = READERS
        .iter()
        .map(|reader| text.matches(reader).count())
        .sum();
    text.contains("<(") && readers > 1
}

/// Whether a pipeline may be over before all of it has written: then it depends on the scheduler who is killed for that.
fn pipes_to_what_does_not_read(text: &str) -> bool {
    const READERS: [&str; 5] = ["cat", "wc", "grep a", "{ cat; }", "(cat)"];
    let text = text.replace("||", "  ");
    text.split('|').skip(1).any(|stage| {
        let stage = stage.trim_start_matches(['&', ' ', '\n']);
        let behind = READERS.iter().find_map(|reader| stage.strip_prefix(reader));
        !behind.is_some_and(|rest| {
            let ends_quotes = rest.starts_with('"');
            let rest = rest.trim_start_matches(' ');
            ends_quotes || rest.is_empty() || rest.starts_with([';', '&', ')', '\n', '}', '>', '2'])
        })
    })
}

/// Whether an expansion gave a word that would have been an option, where no shell takes it for a name: that is not to
/// come to what bash makes of it.
fn says_no_option(form: &Form, bash: &Outcome, here: &Outcome) -> bool {
    let given = |outcome: &Outcome, start: &str| {
        let mut arguments = outcome.ran.iter().flat_map(|ran| &ran.arguments);
        arguments.any(|argument| argument.starts_with(start))
    };
    let patterns = |outcome: &Outcome| {
        let mut arguments = outcome.ran.iter().flat_map(|ran| &ran.arguments);
        arguments.any(|argument| argument.contains(['*', '?', '[']))
    };
    // Errors may have been led elsewhere.
    let mut said = [here.stderr.as_slice(), &here.stdout].concat();
    said.extend(here.files.values().flatten());
    let said = String::from_utf8_lossy(&said);
    // What a printed line says when it stops may have gone elsewhere, and `find` writes down no arguments.
    let is_stopped = here.status == Some(126);
    let may_have_stopped = form.label.contains(STOPPED)
        && (is_stopped || given(bash, "-") || patterns(bash) || form.label.contains("find"));
    here.withheld
        || may_have_stopped
        || said.contains(STOPPED)
        || said.contains("./-")
        || given(here, "./-")
}

/// Whether `find`, which writes down no arguments, may look for a name that an expansion gave and that begins like an option: it
/// gets `./` before it.
fn looks_for_option(text: &str) -> bool {
    let gives = ["in -", "=-"].iter().any(|given| text.contains(given));
    gives && text.contains("find") && text.contains('$')
}

/// What a printed line says when it stops because an expansion gave an option.
const STOPPED: &str = "a word that was expanded is not what it may be";

/// Whether a program only changes files by name: hosts do that themselves.
fn is_done_by_hosts(ran: &Ran) -> bool {
    EDITS.contains(&ran.program.as_str())
}

/// Whether a program is `cat` without anything: a here-document that it repeats inside of `"$(…)"` is a text, for which
/// nothing has to run.
fn only_copies(ran: &Ran) -> bool {
    ran.program == "cat" && ran.arguments.is_empty()
}

/// The files of process substitutions: as bash has them, and as they are printed for shells that have none.
const PROCESSES: [(&str, &str); 4] = [
    ("/dev/fd/63", "/dev/fd/8"),
    ("/dev/fd/62", "/dev/fd/7"),
    ("/dev/fd/61", "/dev/fd/6"),
    ("/dev/fd/60", "/dev/fd/5"),
];

/// How outcomes are written down to be compared.
struct Shown {
    /// It is held against a line that was printed anew. That has the folder before every name that a pattern finds, other
    /// numbers of lines and descriptors, and no times.
    printed: bool,
    /// Numbers of lines are not compared.
    without_lines: bool,
    /// Numbers in the names of process substitutions are not compared: in each line of a text bash goes on where the line before
    /// ended.
    without_descriptors: bool,
    /// The folder of programs: what is run by another program is named by its path.
    programs: String,
}

impl Shown {
    fn plain(&self, text: &str) -> String {
        let mut text = text.replace(&self.programs, "");
        if self.without_descriptors {
            for (bash, here) in PROCESSES {
                text = text.replace(bash, "/dev/fd/N").replace(here, "/dev/fd/N");
            }
        }
        if self.printed {
            let text = text.replace("./", "");
            PROCESSES
                .iter()
                .fold(text, |text, (bash, here)| text.replace(bash, here))
        } else {
            text
        }
    }

    fn programs(&self, outcome: &Outcome) -> String {
        let ran = outcome.ran.iter();
        let ran = ran.filter(|ran| !only_copies(ran) && !is_done_by_hosts(ran));
        let mut ran: Vec<String> = ran
            .map(|ran| self.unnumbered(&self.plain(&ran.to_string())).into_owned())
            .collect();
        ran.sort();
        ran.join("; ")
    }

    /// What is written, in no order of the lines: programs of a pipeline write when they are scheduled.
    fn lines(&self, bytes: &[u8]) -> String {
        let text = self.plain(&String::from_utf8_lossy(bytes));
        let text = without_times(&text);
        let mut lines: Vec<_> = text.split('\n').map(|line| self.unnumbered(line)).collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    /// A line without the number that bash puts before what it says, behind what others may have written without a line end.
    fn unnumbered<'t>(&self, line: &'t str) -> Cow<'t, str> {
        let starts = ["bash: line ", "bash: command substitution: line ", "sh: "];
        let mut plain = Cow::Borrowed(line);
        for start in starts.iter().filter(|_| self.without_lines) {
            while let Some((before, rest)) = plain.split_once(start)
                && rest.starts_with(|c: char| c.is_ascii_digit())
            {
                let message = rest.split_once(": ").map_or(rest, |(_, message)| message);
                plain = Cow::Owned([before, message].concat());
            }
        }
        plain
    }

    fn messages(&self, bytes: &[u8]) -> String {
        let text = self.lines(bytes);
        // `find` says so of a word that is the name of a file, and the path of a program is one.
        // The first character of what is no type is another one with `./` before it.
        let is_guess = |message: &str| {
            let guesses = ["possible unquoted pattern", "Unknown argument to -type"];
            let said = message.strip_prefix("find: ");
            said.is_some_and(|said| guesses.iter().any(|guess| said.starts_with(guess)))
        };
        let messages = text
            .split('\n')
            .filter(|message| !message.is_empty() && !is_guess(message));
        let mut messages: Vec<&str> = messages.collect();
        messages.sort_unstable();
        messages.join("\n")
    }
}

/// A text without what the keyword `time` says: the times differ from one run to the next, and the empty line before them belongs
/// to them.
fn without_times(text: &str) -> String {
    let mut kept = text.to_owned();
    for start in ["real\t", "user\t", "sys\t"] {
        while let Some(at) = kept.find(start) {
            let end = kept[at..].find('\n').map_or(kept.len(), |end| at + end + 1);
            let is_first = start == "real\t" && kept[..at].ends_with('\n');
            kept.replace_range(at - usize::from(is_first)..end, "");
        }
    }
    kept
}
