//! The attacks on command lines: lines of which a shell makes something else than who reads them, and the place where they
//! are tried.
//!
//! `lines.json` is the table. `PROG` stands for a program that nobody allowed, `MARK` for a word by which its line is known.
//! A folder of programs that only write down that they ran is the whole search path. One session tries all lines of a set of
//! rules, as calls of one answer of the model; the drivers are whatever sessions run in: the command, the engine, the library.

#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How often the text of a line is repeated that is nested deeper than a stack holds.
const DEPTH: usize = 10_000;

/// Programs that only write down that they ran.
const FAKES: [&str; 17] = [
    "ls", "cat", "wc", "git", "npm", "echo", "printf", "control", "time", "touch", "rm", "CAN",
    "mkdir", "mv", "cp", "id", "run",
];

/// Programs that are what they are: all that they do is to run others.
const WRAPPERS: [&str; 20] = [
    "env",
    "timeout",
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "xargs",
    "find",
    "sh",
    "bash",
    "dash",
    "prlimit",
    "choom",
    "setarch",
    "linux64",
    "sg",
    "start-stop-daemon",
    "ionice",
    "taskset",
    "flock",
];

/// What no rule allows, and some deny.
const DENIED: [&str; 3] = ["Bash(touch:*)", "Bash(rm:*)", "Bash(CAN:*)"];

/// Rules that let pass what is harmless.
struct Rules {
    name: &'static str,
    allow: &'static [&'static str],
    /// What may run by them.
    programs: &'static [&'static str],
}

const RULES: [Rules; 6] = [
    Rules {
        name: "nothing",
        allow: &[],
        programs: &[],
    },
    Rules {
        name: "echo",
        allow: &["Bash(echo:*)"],
        programs: &["echo"],
    },
    Rules {
        name: "looking",
        allow: &["Bash(ls:*)", "Bash(cat:*)", "Bash(wc:*)", "Bash(git log:*)"],
        programs: &["ls", "cat", "wc", "git", "echo", "printf"],
    },
    Rules {
        name: "searching",
        allow: &[
            "Bash(find:*)",
            "Bash(xargs:*)",
            "Bash(echo:*)",
            "Bash(ls:*)",
            "Bash(cat:*)",
        ],
        programs: &["echo", "ls", "cat"],
    },
    Rules {
        name: "working",
        allow: &["Bash(./run:*)", "Bash(npm test:*)", "Bash(echo:*)"],
        programs: &["echo", "npm"],
    },
    Rules {
        name: "forbidding",
        allow: &["Bash"],
        // Whatever is not denied.
        programs: &[
            "ls", "cat", "wc", "git", "npm", "echo", "printf", "mkdir", "mv", "cp", "id", "run",
        ],
    },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    class: String,
    rules: String,
    /// The shells of this machine may have no use for these lines.
    #[serde(default)]
    elsewhere: bool,
    /// The line is its text many times over.
    #[serde(default)]
    deep: bool,
    lines: Vec<String>,
}

fn classes() -> Vec<Class> {
    serde_json::from_str(include_str!("lines.json")).unwrap()
}

/// A line that is tried.
struct Line {
    text: String,
    class: String,
    elsewhere: bool,
}

/// Lines that are tried together.
pub(crate) struct Session {
    rules: &'static Rules,
    pub(crate) mode: &'static str,
    pub(crate) denied: &'static [&'static str],
    lines: Vec<Line>,
    /// Everything is approved as it is written: the lines must then do what they are there for.
    is_control: bool,
}

impl Session {
    /// All that attack, in every mode, with and without rules that deny.
    pub(crate) fn attacks() -> Vec<Self> {
        let mut sessions = Vec::new();
        for rules in &RULES {
            for mode in ["default", "dontAsk", "acceptEdits"] {
                for denied in [&[][..], &DENIED] {
                    // Without them these rules let everything pass.
                    if rules.name != "forbidding" || !denied.is_empty() {
                        sessions.push(Self::of(rules, mode, denied, false));
                    }
                }
            }
        }
        sessions.extend(Self::deep());
        sessions
    }

    /// Lines that are nested deeper than a stack holds: so long that only a few have room in one session.
    fn deep() -> impl Iterator<Item = Self> {
        let deep = classes().into_iter().filter(|class| class.deep);
        let lines = deep.flat_map(|class| {
            let name = class.class;
            class.lines.into_iter().map(move |text| Line {
                text: text.repeat(DEPTH),
                class: name.clone(),
                elsewhere: true,
            })
        });
        let lines: Vec<Line> = lines.collect();
        lines.into_iter().map(|line| Self {
            rules: &RULES[1],
            mode: "default",
            denied: &[],
            lines: vec![line],
            is_control: false,
        })
    }

    /// The same lines, approved as they are written.
    pub(crate) fn controls() -> Vec<Self> {
        let session = |rules| Self::of(rules, "default", &[], true);
        RULES.iter().map(session).collect()
    }

    fn of(
        rules: &'static Rules,
        mode: &'static str,
        denied: &'static [&'static str],
        is_control: bool,
    ) -> Self {
        // Where edits are accepted, `touch` is one.
        let program = match (mode, denied) {
            ("acceptEdits", []) => "CAN",
            _ => "touch",
        };
        let mut lines = Vec::new();
        let of_rules = |class: &Class| class.rules == rules.name && !class.deep;
        for class in classes().into_iter().filter(of_rules) {
            for text in &class.lines {
                let text = text.replace("PROG", program);
                lines.push(Line {
                    text: text.replace("MARK", &mark(lines.len())),
                    class: class.class.clone(),
                    elsewhere: class.elsewhere,
                });
            }
        }
        assert!(!lines.is_empty(), "no lines for {}", rules.name);
        Self {
            rules,
            mode,
            denied,
            lines,
            is_control,
        }
    }

    /// The rules that allow.
    pub(crate) fn allowed(&self) -> Vec<&'static str> {
        match self.is_control {
            true => vec!["Bash"],
            false if self.rules.allow.is_empty() => Vec::new(),
            false => self
                .rules
                .allow
                .iter()
                .copied()
                .chain(["Bash(control:*)"])
                .collect(),
        }
    }

    /// What the model answers: all lines at once, between two of which it must be seen that they ran.
    pub(crate) fn exchanges(&self) -> Value {
        let text = |line: &Line| match self.is_control {
            // What a line that runs as written leaves behind is not to reach the next.
            true => format!("( eval '{}' )", line.text.replace('\'', "'\\''")),
            false => line.text.clone(),
        };
        let control = |word: &str| format!("control {word}");
        let lines = core::iter::once(control("first"))
            .chain(self.lines.iter().map(text))
            .chain([control("last")]);
        let call =
            |line: String| json!({"type": "tool_use", "name": "Bash", "input": {"command": line}});
        let calls: Vec<Value> = lines.map(call).collect();
        json!([{"respond": {"content": calls}}, {"respond": "done"}])
    }

    /// What came of it that must not; none when all is as it should be.
    pub(crate) fn faults(&self, stage: &Stage) -> Vec<String> {
        let name = format!("{} {} {:?}", self.rules.name, self.mode, self.denied);
        let (ran, made) = (stage.ran(), stage.made());
        let mut faults = Vec::new();
        let is_seen = |word: &str| {
            ran.iter()
                .any(|ran| ran.name() == "control" && ran.arguments == word)
        };
        let allows_control = !self.allowed().is_empty();
        if is_seen("first") != allows_control || is_seen("last") != allows_control {
            faults.push(format!(
                "{name}: the control line is not as it should be: {ran:?}"
            ));
        }
        let unjudged = ran.iter().filter(|ran| !self.may_run(ran, stage));
        let wrong: Vec<String> = unjudged
            .map(|ran| format!("{ran:?} ran"))
            .chain(made.iter().map(|made| format!("{made} was made")))
            .collect();
        if !self.is_control {
            let told = wrong.into_iter().map(|wrong| match self.line_of(&wrong) {
                Some(line) => format!("{name}: {wrong} by {:?} ({})", line.text, line.class),
                None => format!("{name}: {wrong}"),
            });
            faults.extend(told);
            return faults;
        }
        let mut works: BTreeMap<&str, bool> = BTreeMap::new();
        let proven: BTreeSet<&str> = wrong
            .iter()
            .filter_map(|wrong| Some(self.line_of(wrong)?.class.as_str()))
            .collect();
        for line in self.lines.iter().filter(|line| !line.elsewhere) {
            works.insert(&line.class, proven.contains(line.class.as_str()));
        }
        let idle = works.into_iter().filter(|(_, works)| !works);
        faults.extend(idle.map(|(class, _)| {
            format!("{name}: nothing shows that these lines do anything: {class}")
        }));
        faults
    }

    fn line_of(&self, wrong: &str) -> Option<&Line> {
        let line = |(number, line)| wrong.contains(&mark(number)).then_some(line);
        self.lines.iter().enumerate().find_map(line)
    }

    /// Whether a program that ran is one that the rules are about, found where the session finds programs, and told nothing
    /// but what it should be.
    fn may_run(&self, ran: &Ran, stage: &Stage) -> bool {
        let (bin, work) = (stage.programs(), stage.work());
        let is_found = ran.program == bin.join(ran.name());
        let is_own =
            ran.program == Path::new("./run") && self.rules.name == "working" && ran.folder == work;
        let is_named = self.rules.programs.contains(&ran.name())
            || ran.name() == "control"
            // Without options it does nothing but run the rest.
            || ran.name() == "time" && !ran.arguments.starts_with('-');
        // When a session begins git says what its settings name.
        let asked = format!("-C {} config --includes --list", work.display());
        if is_found && ran.name() == "git" && ran.arguments.starts_with(&asked) {
            return true;
        }
        let is_here = ran.folder == work || ran.folder == work.join("dash");
        (is_found && is_named || is_own) && is_here && ran.path == bin && ran.preloaded.is_empty()
    }
}

fn mark(number: usize) -> String {
    format!("MARK_{number}_")
}

/// A program that ran.
#[derive(Debug)]
struct Ran {
    program: PathBuf,
    path: PathBuf,
    folder: PathBuf,
    preloaded: String,
    arguments: String,
}

impl Ran {
    fn name(&self) -> &str {
        self.program
            .file_name()
            .unwrap_or_default()
            .to_str()
            .unwrap()
    }
}

/// Where lines are tried.
pub(crate) struct Stage {
    folder: TempDir,
    laid: BTreeSet<PathBuf>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let mut stage = Self {
            folder: TempDir::new().unwrap(),
            laid: BTreeSet::new(),
        };
        for folder in ["bin", "home", "work/d", "work/dash", "work/10", "work/11"] {
            fs::create_dir_all(stage.path(folder)).unwrap();
        }
        for name in FAKES {
            stage.lay_fake(&format!("bin/{name}"));
        }
        for name in WRAPPERS {
            let folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
            let mut places = folders.iter().map(|folder| Path::new(folder).join(name));
            if let Some(program) = places.find(|place| place.exists()) {
                symlink(program, stage.programs().join(name)).unwrap();
            }
        }
        // What a changed path or directory leads to.
        for name in [
            "run", "d/run", "d/ls", "d/cat", "d/git", "10/ls", "10/cat", "10/git", "11/ls",
            "11/git",
        ] {
            stage.lay_fake(&format!("work/{name}"));
        }
        for (name, text) in [
            ("x", "x\n"),
            ("d/env", "touch env; CAN env\n"),
            ("dash/-exec", ""),
            ("dash/z", ""),
        ] {
            fs::write(stage.work().join(name), text).unwrap();
        }
        stage.laid = stage.entries();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The folder that is the whole search path.
    pub(crate) fn programs(&self) -> PathBuf {
        self.path("bin")
    }

    /// The working directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    fn lay_fake(&self, name: &str) {
        let path = self.path(name);
        let log = self.path("ran").display().to_string();
        let text = format!(
            "#!/bin/sh\nprintf '\\036%s' \"$0\x1f$PATH\x1f$(pwd -P)\x1f$LD_PRELOAD\x1f$*\" >> '{log}'\n"
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn ran(&self) -> Vec<Ran> {
        let bytes = fs::read(self.path("ran")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let read = |record: &str| {
            let fields: Vec<&str> = record.splitn(5, '\x1f').collect();
            Ran {
                program: fields[0].into(),
                path: fields[1].into(),
                folder: fields[2].into(),
                preloaded: fields[3].to_owned(),
                arguments: fields[4].to_owned(),
            }
        };
        text.split('\x1e').skip(1).map(read).collect()
    }

    /// What is new in the working directory.
    fn made(&self) -> Vec<String> {
        let new = self.entries();
        new.difference(&self.laid)
            .map(|path| path.display().to_string())
            .collect()
    }

    fn entries(&self) -> BTreeSet<PathBuf> {
        let mut entries = BTreeSet::new();
        let mut folders = vec![self.work()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                entries.insert(path);
            }
        }
        entries
    }
}

/// Fails with everything that got through, or with lines that prove nothing.
#[track_caller]
pub(crate) fn none_of(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
