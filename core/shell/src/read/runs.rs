//! Commands that the words of a command make it run: programs that run another program named in their arguments, and shells that
//! are given a line.
//!
//! Only the options listed here are supported. GNU programs accept abbreviations of long options and clusters of short ones;
//! anything that is not listed is refused.

use alloc::vec::Vec;

use crate::{
    Part, Runs, Script, Unparsed, Word,
    names::{self, base_name},
    read,
    written_out::is_written_out,
};

/// The maximum nesting depth of wrappers.
const MOST_WRAPPERS: u32 = 8;

/// The maximum number of programs that one command may run: each is examined with all redirections of the command.
const MOST_RUNS: usize = 64;

const OPTION: Unparsed = Unparsed::Unsupported("an option of a wrapper");

/// What a command runs in addition to itself, outermost first.
pub(crate) fn of(words: &[Word], levels: u32) -> Result<Vec<Runs>, Unparsed> {
    let mut found = Vec::new();
    let mut search = Search {
        words,
        levels,
        found: &mut found,
    };
    search.command(0, words.len(), MOST_WRAPPERS)?;
    match found.len() > MOST_RUNS {
        true => Err(Unparsed::TooLong),
        false => Ok(found),
    }
}

/// Whether a program only runs what its arguments name.
#[must_use]
pub fn runs_others(program: &str) -> bool {
    matches!(
        program,
        "command"
            | "builtin"
            | "nohup"
            | "setsid"
            | "exec"
            | "time"
            | "nice"
            | "stdbuf"
            | "timeout"
            | "env"
            | "xargs"
            | "eval"
    )
}

/// Programs that run others in ways that are not supported here.
pub(crate) fn is_unfollowed(program: &str) -> Option<&'static str> {
    Some(match program {
        "sudo" | "doas" | "su" | "runuser" | "sg" | "newgrp" => "another user's rights",
        "source" | "." => "a sourced file",
        "eval" | "exec" | "builtin" | "alias" | "trap" | "compgen" | "hash" => {
            "a builtin that runs what it is given"
        }
        "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "rbash" | "posh" | "yash" | "ash" => {
            "another shell"
        }
        "at" | "batch" | "busybox" | "bwrap" | "capsh" | "catchsegv" | "choom" | "chpst"
        | "chronic" | "chroot" | "chrt" | "coresched" | "cpulimit" | "daemonize"
        | "dbus-run-session" | "dpkg-architecture" | "enosys" | "entr" | "expect" | "fakeroot"
        | "faketime" | "firejail" | "flock" | "gdb" | "gpg-agent" | "i386" | "i486" | "i586"
        | "i686" | "ifne" | "ionice" | "linux32" | "linux64" | "logsave" | "ltrace" | "nsenter"
        | "numactl" | "parallel" | "perf" | "pkexec" | "prlimit" | "proot" | "rlwrap"
        | "run-parts" | "runcon" | "rust-parallel" | "schedtool" | "screen" | "script"
        | "setarch" | "setpriv" | "softlimit" | "ssh" | "ssh-agent" | "start-stop-daemon"
        | "strace" | "systemd-inhibit" | "systemd-run" | "taskset" | "tmux" | "toybox"
        | "tsocks" | "torsocks" | "uclampset" | "uname26" | "unbuffer" | "unshare" | "valgrind"
        | "watch" | "x86_64" | "xvfb-run" => "a program that runs others",
        name if is_dynamic_linker(name) => "a program that runs others",
        _ => return None,
    })
}

/// Whether a name is that of the dynamic linker, which starts other programs, on any system: `ld.so`, `ld64.so.2`,
/// `ld-linux-x86-64.so.2`, `ld-2.31.so`.
fn is_dynamic_linker(name: &str) -> bool {
    name.starts_with("ld-linux")
        || name.starts_with("ld-musl")
        || name.starts_with("ld") && (name.ends_with(".so") || name.contains(".so."))
}

struct Search<'a> {
    words: &'a [Word],
    levels: u32,
    found: &'a mut Vec<Runs>,
}

impl Search<'_> {
    fn text(&self, at: usize) -> Option<&str> {
        self.words.get(at)?.as_literal()
    }

    /// Records what the command in these words runs.
    fn command(&mut self, start: usize, end: usize, depth: u32) -> Result<(), Unparsed> {
        let depth = depth.checked_sub(1).ok_or(Unparsed::TooDeep)?;
        let Some(program) = self.words.get(start) else {
            return Ok(());
        };
        let Some(program) = program.as_literal() else {
            return Err(Unparsed::ComputedProgram);
        };
        let inner = match base_name(program) {
            "command" => self.behind_command(start, end)?,
            "nohup" | "setsid" => self.behind(start, end, &Options::NONE, 0)?,
            "time" => self.behind(start, end, &Options::TIME, 0)?,
            "nice" => self.behind(start, end, &Options::NICE, 0)?,
            "stdbuf" => self.behind(start, end, &Options::STDBUF, 0)?,
            "timeout" => self.behind(start, end, &Options::TIMEOUT, 1)?,
            "env" => self.behind_env(start, end)?,
            "xargs" => return self.xargs(start, end),
            "sh" | "bash" | "dash" => return self.shell(start, end),
            "find" => return self.find(start, end, depth),
            name if names::is_search(name) => return self.fd(start, end, depth),
            name => {
                return match is_unfollowed(name) {
                    Some(why) => Err(Unparsed::Unsupported(why)),
                    None => Ok(()),
                };
            }
        };
        match inner {
            Some(inner) => self.program(inner, end, depth),
            None => Ok(()),
        }
    }

    /// Records a program that is run, and what that one runs.
    fn program(&mut self, start: usize, end: usize, depth: u32) -> Result<(), Unparsed> {
        if self.text(start).is_none_or(str::is_empty) {
            return Err(Unparsed::ComputedProgram);
        }
        self.found.push(Runs::Program {
            at: index(start)?,
            end: index(end)?,
        });
        self.command(start, end, depth)
    }

    /// The index of the first word after options and a number of operands, if there is one.
    fn behind(
        &self,
        start: usize,
        end: usize,
        options: &Options,
        operands: usize,
    ) -> Result<Option<usize>, Unparsed> {
        let at = self.skip_options(start + 1, end, options)?;
        let all_literal = (at..(at + operands).min(end)).all(|at| self.text(at).is_some());
        if !all_literal {
            return Err(OPTION);
        }
        Ok((at + operands < end).then_some(at + operands))
    }

    fn skip_options(&self, start: usize, end: usize, options: &Options) -> Result<usize, Unparsed> {
        let mut at = start;
        while at < end {
            let Some(option) = self.text(at) else {
                // The program itself: the caller will see that it is computed.
                return Ok(at);
            };
            if !option.starts_with('-') {
                return Ok(at);
            }
            if option == "--" {
                return Ok(at + 1);
            }
            if options.plain.contains(&option) {
                at += 1;
            } else if options.valued.contains(&option) {
                self.text(at + 1).filter(|_| at + 1 < end).ok_or(OPTION)?;
                at += 2;
            } else if options.is_attached(option) {
                at += 1;
            } else {
                return Err(OPTION);
            }
        }
        Ok(at)
    }

    /// `command -v NAME` only looks up a program.
    fn behind_command(&self, start: usize, end: usize) -> Result<Option<usize>, Unparsed> {
        match self.text(start + 1) {
            Some("-v" | "-V") => Ok(None),
            Some(option) if option.starts_with('-') => Err(OPTION),
            _ => Ok((start + 1 < end).then_some(start + 1)),
        }
    }

    /// The index after the assignments of `env`, which are treated as assignments of the command.
    fn behind_env(&self, start: usize, end: usize) -> Result<Option<usize>, Unparsed> {
        let mut at = self.skip_options(start + 1, end, &Options::ENV)?;
        // Without these variables programs would find others in default places, or get settings that the host withholds.
        let mut options = (start + 1..at).filter_map(|at| self.text(at));
        if options.any(|option| names::directs_programs(unset(option))) {
            return Err(Unparsed::Unsupported(
                "`env` that takes away a variable which programs act upon",
            ));
        }
        while at < end && self.assigns(at) {
            // After field splitting, the rest of its value could be the program.
            if self.words.get(at).is_some_and(may_be_several) {
                return Err(Unparsed::Unsupported(
                    "`env` with a value that is expanded without quotes",
                ));
            }
            at += 1;
        }
        Ok((at < end).then_some(at))
    }

    fn assigns(&self, at: usize) -> bool {
        let first = self.words.get(at).and_then(|word| word.parts.first());
        matches!(first, Some(Part::Literal(text)) if text.contains('=') && !text.starts_with('-'))
    }

    /// Its input becomes words, which may be options: the program it runs must not run others.
    fn xargs(&mut self, start: usize, end: usize) -> Result<(), Unparsed> {
        const INNER: Unparsed = Unparsed::Unsupported("`xargs` with a program that runs others");
        let inner = self.behind(start, end, &Options::XARGS, 0)?;
        let inner = inner.ok_or(Unparsed::Unsupported("`xargs` without a program"))?;
        let name = base_name(self.text(inner).ok_or(Unparsed::ComputedProgram)?);
        let is_shell = matches!(name, "sh" | "bash" | "dash") || names::is_search(name);
        if is_shell || runs_others(name) || is_unfollowed(name).is_some() {
            return Err(INNER);
        }
        // The last of several counts, and an apparent one may be the value of another option.
        let replacing = (self.words[start..inner].iter())
            .filter_map(Word::as_literal)
            .filter(|word| word.starts_with("-I"));
        if replacing.count() > 1 {
            return Err(Unparsed::Unsupported(
                "`xargs` with several texts to replace",
            ));
        }
        if self.counts_beside_replacing(start, inner) {
            return Err(Unparsed::Unsupported(
                "`xargs` that replaces a text and counts its arguments",
            ));
        }
        if let Some(replaced) = self.replaced_by_xargs(start, inner)
            && name.contains(replaced)
        {
            return Err(Unparsed::ComputedProgram);
        }
        self.found.push(Runs::Program {
            at: index(inner)?,
            end: index(end)?,
        });
        Ok(())
    }

    /// Whether `-I` is combined with an option that disables it: the last of them counts. A limit of one argument before it is
    /// harmless, since `-I` implies it.
    fn counts_beside_replacing(&self, start: usize, inner: usize) -> bool {
        let words = || (start..inner).filter_map(|at| Some((at, self.text(at)?)));
        let Some((replacing, _)) = words().find(|(_, word)| word.starts_with("-I")) else {
            return false;
        };
        words().any(|(at, word)| {
            let is_one = match word {
                "-n" => self.text(at + 1) == Some("1"),
                word => matches!(word, "-n1" | "--max-args=1"),
            };
            let counts = ["-n", "-L", "--max-args", "--max-lines"];
            counts.iter().any(|option| word.starts_with(option)) && !(is_one && at < replacing)
        })
    }

    fn replaced_by_xargs(&self, start: usize, inner: usize) -> Option<&str> {
        replaced_by_xargs(&self.words[start..inner])
    }

    /// `sh -c LINE` without further arguments, which would be parameters of the line. A script file is like any other program,
    /// and rules see its name.
    fn shell(&mut self, start: usize, end: usize) -> Result<(), Unparsed> {
        match (self.text(start + 1), self.text(start + 2)) {
            (Some("--version" | "--help"), _) if end == start + 2 => Ok(()),
            (Some("-c"), Some(line)) if end == start + 3 => {
                let levels = self.levels.checked_sub(1).ok_or(Unparsed::TooDeep)?;
                let name = base_name(self.text(start).unwrap_or_default());
                let script: Script = read::nested(line, levels, name == "bash")?;
                // If another program starts it, expanded words cannot be checked against the rules at run time.
                if !self.is_own_shell(start) && !is_written_out(&script) {
                    return Err(Unparsed::Unsupported(
                        "a shell behind another program, with a line that is not all written out",
                    ));
                }
                self.found.push(Runs::Script {
                    at: index(start + 2)?,
                    script,
                });
                Ok(())
            }
            (Some("-c"), None) if end == start + 3 => Err(Unparsed::ComputedProgram),
            _ if self.is_given_a_file(start + 1, end) => Ok(()),
            _ => Err(Unparsed::Unsupported(
                "a shell that is given anything but `-c LINE` or a file of its own",
            )),
        }
    }

    /// Whether a shell runs a script file, possibly after options that do not affect that.
    fn is_given_a_file(&self, start: usize, end: usize) -> bool {
        let options = self.text(start).unwrap_or_default();
        let behind_o = options.strip_suffix('o').is_some_and(are_plain_options);
        let file = match behind_o && self.text(start + 1) == Some("pipefail") {
            true => start + 2,
            false => start + usize::from(are_plain_options(options)),
        };
        file < end && self.text(file).is_some_and(is_script_file)
    }

    /// Whether only `command` precedes a shell: no separate process is needed then.
    fn is_own_shell(&self, start: usize) -> bool {
        (0..start).all(|at| self.text(at) == Some("command"))
    }

    /// The commands of `-exec` and similar actions.
    fn find(&mut self, start: usize, end: usize, depth: u32) -> Result<(), Unparsed> {
        let mut at = start + 1;
        while at < end {
            let first = at + 1;
            if matches!(self.text(at), Some("-execdir" | "-okdir")) {
                return Err(Unparsed::Unsupported(
                    "`-execdir`, which runs in folders that are found then",
                ));
            }
            let runs = matches!(self.text(at), Some("-exec" | "-ok"));
            at = first;
            if !runs {
                continue;
            }
            // A `+` ends it only after the placeholder for the names.
            let ends = |i: &usize| {
                self.text(*i) == Some(";")
                    || self.text(*i) == Some("+") && self.text(*i - 1) == Some("{}")
            };
            let last = (first..end).find(ends);
            let last = last.ok_or(Unparsed::Unsupported("`-exec` without its end"))?;
            self.found_command(first, last, depth)?;
            at = last + 1;
        }
        Ok(())
    }

    /// `fd … -x COMMAND`, each up to `;` or to the end.
    fn fd(&mut self, start: usize, end: usize, depth: u32) -> Result<(), Unparsed> {
        let mut works_elsewhere = false;
        let mut has_command = false;
        let mut at = start + 1;
        while at < end {
            let option = self.text(at).unwrap_or_default();
            at += 1;
            match option {
                "-x" | "-X" | "--exec" | "--exec-batch" => {
                    let last = (at..end).find(|at| self.text(*at) == Some(";"));
                    let last = last.unwrap_or(end);
                    self.found_command(at, last, depth)?;
                    self.takes_what_is_added(at, last)?;
                    has_command = true;
                    at = last + 1;
                }
                _ if option.starts_with("--exec") => return Err(OPTION),
                _ if option.starts_with("--base") || option == "-C" => works_elsewhere = true,
                _ if option.starts_with('-')
                    && !option.starts_with("--")
                    && option.contains(['x', 'X']) =>
                {
                    return Err(OPTION);
                }
                _ => {}
            }
        }
        match has_command && works_elsewhere {
            true => Err(Unparsed::Unsupported(
                "`fd` that runs programs in another folder",
            )),
            false => Ok(()),
        }
    }

    /// Without a placeholder, `fd` appends what it finds to the command: it must not become the program of a wrapper.
    fn takes_what_is_added(&self, start: usize, end: usize) -> Result<(), Unparsed> {
        let innermost = self.found.iter().rev().find_map(|runs| match runs {
            Runs::Program { at, .. } => self.text(*at as usize),
            Runs::Script { .. } => None,
        });
        let waits = innermost.is_some_and(|name| runs_others(base_name(name)));
        match waits && !names_a_place(&self.words[start..end]) {
            true => Err(Unparsed::ComputedProgram),
            false => Ok(()),
        }
    }

    /// A command that a search runs on what it finds: its program must not be one of the found names.
    fn found_command(&mut self, start: usize, end: usize, depth: u32) -> Result<(), Unparsed> {
        let is_placed = self
            .text(start)
            .is_some_and(|name| name.contains(['{', '}']));
        if start >= end || is_placed {
            return Err(Unparsed::ComputedProgram);
        }
        self.program(start, end, depth)?;
        // It reads the search's own input, and is one of several actions.
        let is_xargs = |runs: &Runs| match runs {
            Runs::Program { at, .. } => {
                *at as usize >= start
                    && (self.text(*at as usize)).is_some_and(|name| base_name(name) == "xargs")
            }
            Runs::Script { .. } => false,
        };
        if self.found.iter().any(is_xargs) {
            return Err(Unparsed::Unsupported("`xargs` that a search runs"));
        }
        // Names in the line of a shell, or in place of a wrapped program, would be treated as commands.
        let known = self.found.iter().rev().take_while(|runs| match runs {
            Runs::Program { at, .. } | Runs::Script { at, .. } => *at as usize >= start,
        });
        let placed = known.into_iter().any(|runs| match runs {
            Runs::Program { at, .. } | Runs::Script { at, .. } => self
                .text(*at as usize)
                .is_some_and(|text| PLACES.iter().any(|place| text.contains(place))),
        });
        match placed {
            true => Err(Unparsed::ComputedProgram),
            false => Ok(()),
        }
    }
}

/// The placeholders that searches replace by what they find: `find` only the first, `fd` all of them.
const PLACES: [&str; 5] = ["{}", "{/}", "{//}", "{.}", "{/.}"];

/// Whether a command contains a placeholder for what `fd` finds.
pub(crate) fn names_a_place(words: &[Word]) -> bool {
    let mut words = words.iter().filter_map(Word::as_literal);
    words.any(|word| PLACES.iter().any(|place| word.contains(place)))
}

/// Whether a word may become several by field splitting.
fn may_be_several(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Variable { quoted, .. }
        | Part::Operation { quoted, .. }
        | Part::Substitution { quoted, .. } => !quoted,
        Part::Literal(_) | Part::Pattern(_) | Part::Tilde | Part::Status | Part::Process { .. } => {
            false
        }
    })
}

/// The variable that an option of `env` removes, if any.
fn unset(option: &str) -> &str {
    let attached = option.strip_prefix("--unset=");
    attached.or(option.strip_prefix("-u")).unwrap_or(option)
}

/// The text that `xargs` with these words replaces by what it reads.
pub(crate) fn replaced_by_xargs(words: &[Word]) -> Option<&str> {
    let mut words = words.iter().filter_map(Word::as_literal);
    while let Some(word) = words.next() {
        if let Some(attached) = word.strip_prefix("-I") {
            return match attached.is_empty() {
                true => words.next(),
                false => Some(attached),
            };
        }
    }
    None
}

fn index(at: usize) -> Result<u32, Unparsed> {
    u32::try_from(at).map_err(|_| Unparsed::TooLong)
}

/// The supported options of a wrapper.
struct Options {
    /// Words without a value.
    plain: &'static [&'static str],
    /// Words whose value is the next word.
    valued: &'static [&'static str],
    /// Prefixes of words whose value is the rest.
    attached: &'static [&'static str],
}

impl Options {
    const NONE: Self = Self {
        plain: &[],
        valued: &[],
        attached: &[],
    };
    const TIME: Self = Self {
        plain: &["-p", "-v"],
        valued: &["-f"],
        attached: &[],
    };
    const NICE: Self = Self {
        plain: &[],
        valued: &["-n", "--adjustment"],
        attached: &[
            "-n",
            "--adjustment=",
            "-1",
            "-2",
            "-3",
            "-4",
            "-5",
            "-6",
            "-7",
            "-8",
            "-9",
        ],
    };
    const STDBUF: Self = Self {
        plain: &[],
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        attached: &["-i", "-o", "-e", "--input=", "--output=", "--error="],
    };
    const TIMEOUT: Self = Self {
        plain: &["-v", "--verbose", "--foreground", "--preserve-status"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
        attached: &["-k", "-s", "--kill-after=", "--signal="],
    };
    const ENV: Self = Self {
        // Not `-i`: it would remove the search path, too.
        plain: &[],
        valued: &["-u", "--unset"],
        attached: &["-u", "--unset="],
    };
    const XARGS: Self = Self {
        plain: &[
            "-0",
            "--null",
            "-r",
            "--no-run-if-empty",
            "-t",
            "--verbose",
            "-x",
            "--exit",
        ],
        valued: &["-I", "-n", "-P", "-L", "-d", "-s"],
        attached: &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-s",
            "--max-args=",
            "--max-procs=",
            "--max-lines=",
            "--delimiter=",
            "--max-chars=",
        ],
    };

    fn is_attached(&self, option: &str) -> bool {
        let fits = |begin: &&&str| option.len() > begin.len() && option.starts_with(**begin);
        match self.attached.iter().find(fits) {
            // A value of `nice -5` or `xargs -n1` must not contain further options: only digits where a number is expected.
            Some(begin) if begin.starts_with("--") => true,
            Some(_) => option[2..]
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"{}%@_.,:+=\\/".contains(&b)),
            None => false,
        }
    }
}

/// Whether a shell that is given this word runs it as a script file, rather than reading its input, and without searching for it
/// elsewhere.
fn is_script_file(word: &str) -> bool {
    let is_path = word.contains('/') || word.ends_with(".sh") || word.ends_with(".bash");
    let is_input = ["/dev/", "/proc/"].iter().any(|it| word.contains(it));
    is_path && !is_input && !word.starts_with(['-', '+'])
}

/// Options of a shell that change what it prints about a script, not what it runs: `-eux`, `-n`.
fn are_plain_options(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    !letters.is_empty() && letters.bytes().all(|letter| b"enuvx".contains(&letter))
}
