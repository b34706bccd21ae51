//! Running a program of the SDKs against the engine and a scripted model.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::mpsc,
    thread,
    time::Duration,
};

use libtest_mimic::Failed;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use windlass::model_server::ModelServer;
use windlass_testkit::Script;
use windlass_tests::artefacts;

use crate::{
    features::{Example, Feature, Sdk},
    leftovers,
};

/// What takes longer hangs.
const LIMIT: Duration = Duration::from_secs(100);

/// Marks all processes of a run.
const MARK: &str = "WINDLASS_SDK_TEST";

/// Names the original engine, for the programs that run it beside ours.
const ORIGINAL: &str = "WINDLASS_ORIGINAL_ENGINE";

/// Everything that a program sees of the machine.
struct World {
    /// Where everything is.
    root: TempDir,
    model: ModelServer,
}

/// Runs the program or the example of a feature.
pub(crate) fn feature(feature: &Feature) -> Result<(), Failed> {
    let name = feature.program.as_deref().or(feature.script.as_deref());
    let script = feature
        .script
        .as_deref()
        .or(name)
        .ok_or("the feature has no script")?;
    // An example runs in a copy of the package it is part of.
    let work = match feature.example {
        None => "work",
        Some(_) => "published",
    };
    let world = World::new(script, work)?;
    match (&feature.program, &feature.example) {
        (Some(program), None) => {
            let mut command = match feature.sdk {
                Sdk::Python => {
                    python(&repository("tests/sdk/python").join(format!("{program}.py")))
                }
                Sdk::TypeScript => node(program)?,
            };
            command.current_dir(world.directory("work"));
            world.run(command, "", &[], 0)
        }
        (None, Some(example)) => world.example(example),
        _ => Err("a feature has a program or an example, not both".into()),
    }
}

/// The program that the README prints, in the language of an SDK.
pub(crate) fn documentation(sdk: Sdk) -> Result<(), Failed> {
    let text = fs::read_to_string(repository("README.md"))?;
    let (language, name) = match sdk {
        Sdk::Python => ("python", "documented.py"),
        Sdk::TypeScript => ("typescript", "documented.ts"),
    };
    let program = (text.split_once(&format!("```{language}\n")))
        .and_then(|(_, behind)| behind.split_once("```"))
        .map(|(program, _)| program)
        .ok_or_else(|| format!("README.md has no program in {language}"))?;
    let world = World::new("documentation", "work")?;
    let work = world.directory("work");
    fs::write(work.join("note.txt"), "Buy milk.\n")?;
    let mut command = match sdk {
        Sdk::Python => {
            fs::write(work.join(name), program)?;
            python(&work.join(name))
        }
        Sdk::TypeScript => {
            let directory = programs()?;
            fs::write(directory.join(name), program)?;
            node("documented")?
        }
    };
    command.current_dir(work);
    world.run(command, "", &["It says: buy milk.".to_owned()], 0)
}

/// The programs in TypeScript against the types of the package.
pub(crate) fn type_check() -> Result<(), Failed> {
    let directory = programs()?;
    let from = repository("tests/sdk/typescript");
    for name in names(&from)? {
        place(&from.join(&name), &directory.join(&name))?;
    }
    let checked = Command::new("node")
        .current_dir(&directory)
        .arg("../node_modules/typescript/bin/tsc")
        .args(["--project", "."])
        .output()?;
    if checked.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&checked.stdout).into_owned().into())
}

impl World {
    fn new(script: &str, work: &str) -> Result<Self, Failed> {
        let root = TempDir::with_prefix("windlass-sdk-")?;
        for directory in ["work", "home", "configuration", "bin", "temporary"] {
            fs::create_dir(root.path().join(directory))?;
        }
        for name in ["windlass", "claude"] {
            symlink(artefacts::windlass(), root.path().join("bin").join(name))?;
        }
        let path = repository("tests/sdk/scripts").join(format!("{script}.json"));
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let cwd = root.path().canonicalize()?.join(work);
        let cwd = cwd.to_string_lossy();
        let variables: &[(&str, &str)] = match text.contains("${cwd}") {
            true => &[("cwd", &cwd)],
            false => &[],
        };
        let script = Script::parse_with(&text, variables)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let model = ModelServer::start(script)?;
        Ok(Self { root, model })
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A copy of the published examples, in which they may write; the engine is what the SDK finds as `claude`.
    fn example(&self, example: &Example) -> Result<(), Failed> {
        let sources = artefacts::sdks().join("python-source");
        let package = (names(&sources)?.into_iter())
            .find(|name| sources.join(name).join("examples").is_dir())
            .ok_or("the source of the Python SDK has no examples")?;
        let copied = Command::new("cp")
            .arg("-R")
            .arg(sources.join(package))
            .arg(self.directory("published"))
            .status()?;
        assert!(copied.success());
        let directory = self.directory("published");
        let mut command = python(&directory.join("examples").join(&example.file));
        command.args(&example.arguments).current_dir(&directory);
        self.run(command, &example.input, &example.prints, example.exit)
    }

    /// Runs a program to its end and looks at everything that it left.
    fn run(
        &self,
        mut command: Command,
        input: &str,
        prints: &[String],
        exit: i32,
    ) -> Result<(), Failed> {
        self.surround(&mut command)?;
        let written = self.directory("input");
        fs::write(&written, input)?;
        let (out, err) = (self.directory("out"), self.directory("err"));
        command
            .stdin(File::open(written)?)
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        let ended = wait(command);
        let left = leftovers::wait_for(MARK, self.root.path().as_os_str());
        let said = fs::read_to_string(&out)?;

        let mut faults = String::new();
        match ended {
            Ok(status) if status.code() == Some(exit) => {}
            Ok(status) => writeln!(faults, "it ended with {status}")?,
            Err(error) => writeln!(faults, "{error}")?,
        }
        for wanted in prints.iter().filter(|text| !said.contains(*text)) {
            writeln!(faults, "it did not print {wanted:?}")?;
        }
        if let Err(unmet) = self.model.verify() {
            writeln!(faults, "{unmet}")?;
        }
        if let Err(left) = left {
            writeln!(faults, "{left}")?;
        }
        if faults.is_empty() {
            return Ok(());
        }
        let complained = fs::read_to_string(&err)?;
        Err(
            format!("{faults}\n--- standard output\n{said}\n--- standard error\n{complained}")
                .into(),
        )
    }

    /// An environment of its own: nothing of ours, nothing of the machine but how to find programs.
    fn surround(&self, command: &mut Command) -> Result<(), Failed> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = self.directory("bin");
        let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path)))?;
        let cache =
            std::env::var_os("XDG_CACHE_HOME").map_or_else(compiled_components, PathBuf::from);
        command
            .env_clear()
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("HOME", self.directory("home"))
            .env("TMPDIR", self.directory("temporary"))
            .env("CLAUDE_CONFIG_DIR", self.directory("configuration"))
            .env("XDG_CACHE_HOME", cache)
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env("ANTHROPIC_API_KEY", "test-key")
            .env("WINDLASS", artefacts::windlass())
            .env("WINDLASS_SDK_TESTS", repository("tests/sdk"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env(MARK, self.root.path());
        if let Some(original) = std::env::var_os(ORIGINAL) {
            command.env(ORIGINAL, original);
        }
        Ok(())
    }
}

/// The user's cache, so that the file tools are not compiled anew for every test.
fn compiled_components() -> PathBuf {
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".cache")
}

fn python(program: &Path) -> Command {
    let mut command = Command::new(artefacts::sdks().join("python/bin/python"));
    command.arg(program);
    command
}

/// Programs in TypeScript run where their packages are, their types taken out on the way.
fn node(program: &str) -> Result<Command, Failed> {
    let directory = programs()?;
    let from = repository("tests/sdk/typescript");
    for name in names(&from)? {
        place(&from.join(&name), &directory.join(&name))?;
    }
    let mut command = Command::new("node");
    command.arg("--import").arg(directory.join("types-off.mjs"));
    command.arg(directory.join(format!("{program}.ts")));
    Ok(command)
}

fn programs() -> Result<PathBuf, Failed> {
    let directory = artefacts::sdks().join("node/programs");
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Copies a file whole: tests that run beside this one read it.
fn place(from: &Path, to: &Path) -> Result<(), Failed> {
    let text = fs::read(from)?;
    if fs::read(to).is_ok_and(|present| present == text) {
        return Ok(());
    }
    let parent = to.parent().ok_or("a file has a directory")?;
    let mut copy = tempfile::NamedTempFile::new_in(parent)?;
    std::io::Write::write_all(&mut copy, &text)?;
    copy.persist(to)?;
    Ok(())
}

fn names(directory: &Path) -> Result<Vec<String>, Failed> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn repository(path: impl AsRef<OsStr>) -> PathBuf {
    artefacts::repository().join(Path::new(path.as_ref()))
}

/// Waits for a program, and kills it when it hangs.
fn wait(mut command: Command) -> Result<ExitStatus, String> {
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start {command:?}: {error}"))?;
    // Only this thread knows the id, and only the other one waits, so the id is the child's until it was reaped.
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, end) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let _ = ended.send(child.wait());
    });
    let status = match end.recv_timeout(LIMIT) {
        Ok(status) => status.map_err(|error| error.to_string()),
        Err(_) => {
            if let Some(pid) = pid {
                let _ = kill_process(pid, Signal::KILL);
            }
            Err(format!("it did not end within {} seconds", LIMIT.as_secs()))
        }
    };
    waiter
        .join()
        .map_err(|_| "the waiting thread panicked".to_owned())?;
    status
}
