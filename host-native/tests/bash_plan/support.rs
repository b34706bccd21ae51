//! A folder in two copies, and what a line does in each.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{Read as _, Seek as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::{PermissionsExt as _, symlink},
        process::{CommandExt as _, ExitStatusExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use windlass::{
    bash::plan::{self, Control, Ended, Ending, Refused, Session, Streams},
    core::{
        permission::CommandLine,
        tool::{Access, CommandPlan, PlannedFile},
    },
    files::resolve,
};
use windlass_shell::{Compound, Redirection, Script, Target};

/// What a line did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) ending: Ending,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Names with their modes and bytes.
    pub(crate) files: BTreeMap<OsString, String>,
}

/// A folder to run lines in.
pub(crate) struct Folder {
    temporary: tempfile::TempDir,
}

impl Folder {
    /// With files of all kinds in it.
    pub(crate) fn new() -> Self {
        let folder = Self::empty();
        for name in ["d", "d/e", "sp ace", ".hid", "srch"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for (name, text) in [
            ("a.txt", "one\ntwo\nthree\n"),
            ("b.txt", "beta\n"),
            ("c.rs", "fn main() {}\n"),
            ("d/x.txt", "x\n"),
            ("d/y.rs", "y\n"),
            ("d/e/z.txt", "z\n"),
            ("sp ace/in side", "inside\n"),
            (".dot", "dot\n"),
            (".hid/den.txt", "den\n"),
            ("-dash", "dash\n"),
            ("-n", "n\n"),
            ("[br]", "bracket\n"),
            ("st*r", "star\n"),
            ("back\\slash", "back\n"),
            ("new\nline", "newline\n"),
            ("é", "e\n"),
            ("A", "A\n"),
            ("Zz", "Zz\n"),
            ("_u", "u\n"),
            ("~t", "t\n"),
            ("1", "1\n"),
            ("10", "10\n"),
            ("2", "2\n"),
            ("noexec", "#!/bin/sh\necho hi\n"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder.not_read_since_written("a.txt");
        let raw = OsString::from_vec(b"raw\xff\xfe".to_vec());
        fs::write(folder.path().join(raw), "raw\n").unwrap();
        for (name, text) in [
            ("ignore", "#!/bin/sh\ntrap '' TERM\nsleep 1000\n"),
            ("plain", "echo plain $0 \"$@\"\n"),
            ("run.sh", "#!/bin/sh\necho run $0 \"$@\"\n"),
            ("badint", "#!/no/such/interpreter\n"),
            ("badelf", "\x7fELF\0\0"),
            ("empty", ""),
            ("fail", "#!/bin/sh\nexit ${1:-7}\n"),
            ("die", "#!/bin/sh\nkill -$1 $$\n"),
            ("both", "#!/bin/sh\necho out; echo err >&2\n"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink("a.txt", folder.path().join("link")).unwrap();
        symlink("d", folder.path().join("dlink")).unwrap();
        symlink("nowhere", folder.path().join("broken")).unwrap();
        folder
    }

    /// Whether a file was created and written within one tick of the clock is chance.
    fn not_read_since_written(&self, name: &str) {
        let file = fs::File::options()
            .write(true)
            .open(self.path().join(name))
            .unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        let read = written - std::time::Duration::from_secs(1);
        let times = fs::FileTimes::new()
            .set_accessed(read)
            .set_modified(written);
        file.set_times(times).unwrap();
    }

    pub(crate) fn empty() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir(temporary.path().join("work")).unwrap();
        Self { temporary }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.temporary.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn text(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    /// The environment of both.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let home = self.path().join("d");
        [
            ("PATH", OsString::from("/usr/local/bin:/usr/bin:/bin")),
            ("HOME", home.into()),
            ("LANG", "C.UTF-8".into()),
            ("SHLVL", "3".into()),
            ("TERM", "dumb".into()),
            // Every program of a session has it.
            ("WINDLASS_AGENT", "1".into()),
            ("WORDS", "a  b\tc".into()),
            ("GLOB", "*.txt".into()),
            ("EMPTY", "".into()),
            ("DASH", "-dash".into()),
            ("SPACES", "  lead and trail  ".into()),
            ("BACK", "back\\slash".into()),
            ("STAR", "*".into()),
            ("UPPER", "[[:upper:]]*".into()),
            ("DIGIT", "[[:digit:]]*".into()),
            ("ALPHA", "[[:alpha:]]".into()),
            ("COLLATING", "[[.a.]]*".into()),
            ("EQUIVALENT", "[[=a=]]*".into()),
            ("NONSENSE", "[[:foo:]]*".into()),
            ("PUNCT", "[[:punct:]]*".into()),
            ("ESCAPED", "\\[*".into()),
            ("OPEN", "[".into()),
        ]
        .map(|(name, value)| (name.into(), value))
        .to_vec()
    }

    /// By bash.
    pub(crate) fn by_bash(&self, line: &str) -> Done {
        let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let mut command = Command::new("bash");
        command
            .args(["--norc", "-c", line])
            .current_dir(self.path())
            .env_clear()
            .envs(self.environment())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(err.try_clone().unwrap());
        let status = command.status().unwrap();
        let ending = match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Code(code),
            (None, signal) => Ending::Signal(signal.unwrap()),
        };
        self.done(ending, &mut out, &mut err)
    }

    /// Without a shell.
    pub(crate) fn by_plan(&self, line: &str) -> Result<Done, String> {
        let line = windlass_shell::read(line).map_err(|why| why.to_string())?;
        let done = self.run(&self.plan_of(line.script));
        done.map(|(done, _)| done).map_err(|why| why.to_string())
    }

    /// What a line becomes that is judged by one who grants every redirection.
    pub(crate) fn plan(&self, line: &str) -> CommandPlan {
        let script = windlass_shell::read(line).unwrap_or_else(|why| panic!("{line}: {why}"));
        self.plan_of(script.script)
    }

    /// What a tree would be granted by one who looks at its redirections alone.
    pub(crate) fn plan_of(&self, script: Script) -> CommandPlan {
        let mut targets = Vec::new();
        in_script(&script, &mut targets);
        let places = ["", "/d", "/d/e", "/sp ace", "/dlink", "/new"];
        let mut files = Vec::new();
        for (path, access) in targets {
            for place in places {
                let directory = self.text() + place;
                let written = match path.starts_with('/') {
                    true => path.clone(),
                    false => format!("{directory}/{path}"),
                };
                let Ok(real) = resolve(&directory, &path) else {
                    continue;
                };
                files.push(PlannedFile {
                    written,
                    real,
                    access,
                });
            }
        }
        CommandPlan {
            script,
            directory: self.text(),
            workspace: Vec::new(),
            files,
            ..CommandPlan::default()
        }
    }

    /// What a line becomes whose plain file commands run because edits are accepted; none if it names a file outside of the folder.
    pub(crate) fn accepted(&self, line: &str) -> Option<CommandPlan> {
        let mut plan = self.plan(line);
        plan.workspace = vec![self.text()];
        for asked in CommandLine::read(line, &self.text()).paths() {
            let real = resolve("/", &asked.path).ok()?;
            if !Path::new(&real).starts_with(self.path()) {
                return None;
            }
            plan.mode_allowed_files.push(asked.path.clone());
            plan.files.push(PlannedFile {
                written: asked.path,
                real,
                access: asked.access,
            });
        }
        plan.only_mode_allows = true;
        Some(plan)
    }

    pub(crate) fn session(&self) -> Session {
        self.session_with([])
    }

    pub(crate) fn session_with<const N: usize>(&self, further: [(&str, &str); N]) -> Session {
        let mut environment = self.environment();
        for (name, value) in further {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), value.into()));
        }
        Session::new(&self.text(), environment).unwrap()
    }

    pub(crate) fn run(&self, plan: &CommandPlan) -> Result<(Done, Ended), Refused> {
        self.run_in(plan, &self.session())
    }

    pub(crate) fn run_in(
        &self,
        plan: &CommandPlan,
        session: &Session,
    ) -> Result<(Done, Ended), Refused> {
        let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let streams = Streams {
            stdin: File::open("/dev/null").unwrap().into(),
            stdout: out.try_clone().unwrap().into(),
            stderr: err.try_clone().unwrap().into(),
        };
        let control = Control::new().unwrap();
        let ended = plan::execute(plan, session, streams, &control)?;
        Ok((self.done(ended.how, &mut out, &mut err), ended))
    }

    fn done(&self, ending: Ending, out: &mut File, err: &mut File) -> Done {
        let here = self.text();
        let read = |file: &mut File| {
            let mut bytes = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            shown(&bytes).replace(&here, "HERE")
        };
        let mut files = BTreeMap::new();
        collect(&self.path(), Path::new(""), &mut files);
        Done {
            ending,
            stdout: read(out),
            stderr: read(err),
            files,
        }
    }
}

/// Bytes as text that tells them apart.
fn shown(bytes: &[u8]) -> String {
    let chunks = bytes.utf8_chunks().map(|chunk| {
        let invalid: String = chunk
            .invalid()
            .iter()
            .map(|b| format!("\\x{b:02x}"))
            .collect();
        chunk.valid().to_owned() + &invalid
    });
    chunks.collect()
}

fn collect(root: &Path, below: &Path, files: &mut BTreeMap<OsString, String>) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = below.join(entry.file_name());
        let metadata = entry.metadata().unwrap();
        let mode = metadata.permissions().mode();
        let content = if metadata.is_symlink() {
            fs::read_link(entry.path()).unwrap().into_os_string()
        } else if metadata.is_file() {
            OsString::from_vec(fs::read(entry.path()).unwrap())
        } else {
            OsString::new()
        };
        let text = format!("{mode:o} {}", shown(OsStr::as_bytes(&content)));
        let text = text.replace(root.to_str().unwrap(), "HERE");
        if metadata.is_dir() {
            collect(root, &name, files);
        }
        files.insert(name.into(), text);
    }
}

fn in_script(script: &Script, targets: &mut Vec<(String, Access)>) {
    use windlass_shell::{Command, Part, Runs};
    let in_redirections = |redirections: &[Redirection], targets: &mut Vec<(String, Access)>| {
        for redirection in redirections {
            match &redirection.to {
                Target::Read(path) => targets.push((path.clone(), Access::Read)),
                Target::Write { path, .. } => targets.push((path.clone(), Access::Write)),
                _ => {}
            }
        }
    };
    for list in &script.lists {
        let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
        for command in std::iter::once(&list.first)
            .chain(rest)
            .flat_map(|p| &p.commands)
        {
            match command {
                Command::Simple(simple) => {
                    in_redirections(&simple.redirections, targets);
                    let values = simple.assignments.iter().map(|a| &a.value);
                    let texts = simple.redirections.iter().filter_map(|r| match &r.to {
                        Target::Text(word) => Some(word),
                        _ => None,
                    });
                    for part in simple
                        .words
                        .iter()
                        .chain(values)
                        .chain(texts)
                        .flat_map(|w| &w.parts)
                    {
                        if let Part::Substitution { script, .. } | Part::Process { script } = part {
                            in_script(script, targets);
                        }
                    }
                    for runs in &simple.runs {
                        if let Runs::Script { script, .. } = runs {
                            in_script(script, targets);
                        }
                    }
                }
                Command::Compound { body, redirections } => {
                    in_redirections(redirections, targets);
                    match body {
                        Compound::Group(script) | Compound::Subshell(script) => {
                            in_script(script, targets)
                        }
                        Compound::For { body, words, .. } => {
                            for part in words.iter().flat_map(|w| &w.parts) {
                                if let Part::Substitution { script, .. }
                                | Part::Process { script } = part
                                {
                                    in_script(script, targets);
                                }
                            }
                            in_script(body, targets);
                        }
                        Compound::If { arms, otherwise } => {
                            for (condition, body) in arms {
                                in_script(condition, targets);
                                in_script(body, targets);
                            }
                            if let Some(body) = otherwise {
                                in_script(body, targets);
                            }
                        }
                        Compound::While {
                            condition, body, ..
                        } => {
                            in_script(condition, targets);
                            in_script(body, targets);
                        }
                        Compound::Case { choices, .. } => {
                            for choice in choices {
                                in_script(&choice.body, targets);
                            }
                        }
                    }
                }
            }
        }
    }
}
