//! What of a command line is known. It is not a shell: it takes apart the few lines that it can be sure about, and everything
//! that a shell would do more with (variables, substitutions, quotes in the name of a program) is unknown.

/// Programs that change no files and use no network, whatever their arguments are.
const HARMLESS: [&str; 14] = [
    "cat", "cut", "diff", "echo", "false", "grep", "head", "ls", "pwd", "tail", "tr", "true", "wc",
    "which",
];

/// Programs that are there to use the network.
const NETWORK: [&str; 23] = [
    "aria2c", "curl", "dig", "docker", "ftp", "gh", "nc", "ncat", "npm", "npx", "nslookup", "ping",
    "pip", "pip3", "pnpm", "rsync", "scp", "sftp", "socat", "ssh", "telnet", "wget", "yarn",
];

/// Subcommands of git that use it.
const NETWORK_OF_GIT: [&str; 5] = ["clone", "fetch", "ls-remote", "pull", "push"];

/// Options with which `git branch` shows branches and makes none.
const LISTS_BRANCHES: [&str; 7] = [
    "--list",
    "--all",
    "--remotes",
    "--show-current",
    "-a",
    "-r",
    "-v",
];

/// Programs that are there to change files.
const WRITING: [&str; 16] = [
    "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mkfifo", "mv", "patch", "rm", "rmdir",
    "shred", "tee", "touch", "truncate",
];

/// What a command line does.
pub(crate) enum Command {
    /// Nothing but reading.
    Reads,
    /// It has a part that is not known to be harmless.
    Unknown(String),
    /// It has a part that writes.
    Writes(String),
    /// It has a part that uses the network.
    UsesNetwork(String),
}

impl Command {
    /// Takes a line apart. What is surely refused comes before what is only unknown.
    pub(crate) fn of(line: &str) -> Self {
        let (programs, oddities) = taken_apart(line);
        let mut found: Vec<Self> = programs.iter().map(|words| of_program(words)).collect();
        found.extend(oddities);
        let first = |is_it: fn(&Self) -> bool| found.iter().position(is_it);
        let worst = first(|part| matches!(part, Self::Writes(_) | Self::UsesNetwork(_)))
            .or_else(|| first(|part| matches!(part, Self::Unknown(_))));
        worst.map_or(Self::Reads, |at| found.swap_remove(at))
    }
}

/// The words of each program of a line, and whatever else was seen in it.
fn taken_apart(line: &str) -> (Vec<Vec<String>>, Vec<Command>) {
    let (mut programs, mut words, mut odd) = (Vec::new(), Vec::new(), Vec::new());
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        rest = behind;
        let unknown = |part: &str| Command::Unknown(part.to_owned());
        let may_be_option = word.as_ref().is_none_or(|word| word.starts_with('-'));
        match c {
            '\'' | '"' => {
                let (text, behind) = behind.split_once(c).unwrap_or((behind, ""));
                // A shell reads on within double quotes.
                if words.is_empty() || c == '"' && text.contains(['$', '`', '\\']) {
                    odd.push(unknown(&format!("{c}{text}{c}")));
                }
                word.get_or_insert_default().push_str(text);
                rest = behind;
            }
            '>' => {
                let is_of_errors = word.as_deref() == Some("2");
                match to_nothing(behind, is_of_errors) {
                    Some(behind) => rest = behind,
                    None => odd.push(Command::Writes("redirection into a file".to_owned())),
                }
                words.extend(word.take().filter(|_| !is_of_errors));
            }
            ' ' | '\t' => words.extend(word.take()),
            // Where another program may begin.
            '\n' | ';' | '|' | '&' | '(' | ')' | '`' => {
                words.extend(word.take());
                programs.push(std::mem::take(&mut words));
                match behind.strip_prefix(c) {
                    Some(behind) if matches!(c, '|' | '&') => rest = behind,
                    _ if matches!(c, '&' | '(' | ')' | '`') => odd.push(unknown(&c.to_string())),
                    _ => {}
                }
            }
            _ => {
                // What a shell replaces, or does not read at all. Names of files may be options, too.
                let is_replaced = match c {
                    '$' | '\\' | '{' | '<' => true,
                    '*' | '?' | '[' => may_be_option,
                    '#' => word.is_none(),
                    _ => c.is_control(),
                };
                if is_replaced {
                    odd.push(unknown(&c.to_string()));
                }
                word.get_or_insert_default().push(c);
            }
        }
    }
    words.extend(word);
    programs.push(words);
    (programs, odd)
}

/// What follows a redirection, if it leads to `/dev/null`, or takes errors to where the output goes.
fn to_nothing(target: &str, is_of_errors: bool) -> Option<&str> {
    let behind = match target.strip_prefix("&1") {
        Some(behind) if is_of_errors => behind,
        _ => target.trim_start_matches(' ').strip_prefix("/dev/null")?,
    };
    let is_all = behind.is_empty() || behind.starts_with([' ', '\t', '\n', ';', '|', '&', ')']);
    is_all.then_some(behind)
}

/// What a program does with its arguments.
fn of_program(words: &[String]) -> Command {
    let Some((program, arguments)) = words.split_first() else {
        return Command::Reads;
    };
    let name = program.rsplit('/').next().unwrap_or_default();
    if NETWORK.contains(&name) {
        return Command::UsesNetwork(name.to_owned());
    }
    if WRITING.contains(&name) {
        return Command::Writes(name.to_owned());
    }
    let any = |begins: &[&str]| {
        let begins = |argument: &String| begins.iter().any(|begin| argument.starts_with(begin));
        arguments.iter().any(begins)
    };
    let (is_known, writes) = match program.as_str() {
        "date" => (
            arguments
                .iter()
                .all(|word| word.starts_with('+') || word == "-u"),
            false,
        ),
        "find" => (
            !any(&["-exec", "-ok"]),
            any(&["-delete", "-fls", "-fprint"]),
        ),
        "git" => return of_git(arguments),
        // Its options set variables.
        "printf" => (
            arguments.first().is_some_and(|word| !word.starts_with('-')),
            false,
        ),
        "rg" => (!any(&["--pre", "--hostname-bin"]), false),
        "sort" => (
            arguments.iter().all(|word| is_order(word)),
            any(&["-o", "--o"]),
        ),
        // What it is asked about variables may be a program.
        "test" => (!any(&["-v", "-R"]), false),
        // The second file is written.
        "uniq" => (
            arguments.iter().filter(|word| is_operand(word)).count() < 2,
            false,
        ),
        program => (HARMLESS.contains(&program), false),
    };
    match (is_known, writes) {
        (_, true) => Command::Writes(words.join(" ")),
        (true, false) => Command::Reads,
        (false, false) => Command::Unknown(words.join(" ")),
    }
}

/// What git does. Only a subcommand may follow it: its own options set what it runs.
fn of_git(arguments: &[String]) -> Command {
    let named = || format!("git {}", arguments.join(" "));
    let Some((subcommand, rest)) = arguments.split_first() else {
        return Command::Reads;
    };
    // Beginnings of `--output` and `--ext-diff` are the same as those.
    let is_plain = |word: &String| {
        word == "--oneline" || !(word.starts_with("--o") || word.starts_with("--ex"))
    };
    let lists = |word: &String| LISTS_BRANCHES.contains(&word.as_str());
    let is_known = match subcommand.as_str() {
        "diff" | "log" | "rev-parse" | "show" | "status" => rest.iter().all(is_plain),
        "branch" => match rest.first().is_some_and(|first| first == "--list") {
            true => rest.iter().all(|word| is_operand(word) || lists(word)),
            false => rest.iter().all(lists),
        },
        _ => false,
    };
    let is_of_network = |word: &String| NETWORK_OF_GIT.contains(&word.as_str());
    match is_known {
        true => Command::Reads,
        false if rest.iter().any(|word| word.starts_with("--ou")) => Command::Writes(named()),
        false if arguments.iter().any(is_of_network) => Command::UsesNetwork(named()),
        false => Command::Unknown(named()),
    }
}

/// Whether an argument of `sort` says no more than how it sorts.
fn is_order(word: &str) -> bool {
    let is_short = |word: &str| word.chars().all(|c| "-bdfghiMnrRsuVz".contains(c));
    is_operand(word) || word.starts_with("-k") || word.starts_with("-t") || is_short(word)
}

/// Whether an argument is no option. `-` is the standard input.
fn is_operand(word: &str) -> bool {
    word == "-" || !word.starts_with('-')
}
