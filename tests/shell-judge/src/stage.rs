//! The place where lines run: a folder of programs that is the whole path, a working directory that is the same every
//! time, and the file in which programs say that they ran.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{MetadataExt as _, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::run::Ran;

/// The program that stands in for every other one.
const FAKE: &str = env!("FAKE_PROGRAM");

/// Programs that only say that they ran; some print a little.
const FAKES: [&str; 26] = [
    "ls",
    "git",
    "cat",
    "grep",
    "wc",
    "npm",
    "echo",
    "printf",
    "true",
    "false",
    "pwd",
    "test",
    "[",
    "touch",
    "CAN",
    "rm",
    "mkdir",
    "mv",
    "cp",
    "id",
    "make",
    "prlimit",
    "choom",
    "setarch",
    "time",
    "start-stop-daemon",
];

/// Programs that are what they are: all they do is to run others.
const WRAPPERS: [&str; 10] = [
    "env", "timeout", "nice", "nohup", "stdbuf", "xargs", "find", "sh", "bash", "dash",
];

/// Folders that a changed path or directory leads to. What runs from there is not what was judged.
const TRAPS: [&str; 4] = ["d", "0", "10", "11"];

/// What lies in each of them.
const TRAPPED: [&str; 10] = [
    "ls", "git", "cat", "echo", "run", "npm", "env", "timeout", "nice", "sh",
];

/// The files of the working directory.
const FILES: [(&str, &str); 8] = [
    ("a.txt", "alpha\nbeta gamma\n"),
    ("b c.txt", "two\n"),
    ("x.rs", "fn x() {}\n"),
    ("y.rs", "fn y() {}\n"),
    ("d/in.txt", "inner\n"),
    ("dash/-exec", "dash\n"),
    ("dash/z", "z\n"),
    ("out/old.txt", "old\n"),
];

/// What lines read from standard input.
const INPUT: &str = "one\ntwo words\ntouch CAN\n";

/// Where lines run, one after the other.
#[derive(Debug)]
pub struct Stage {
    folder: TempDir,
    untouched: Files,
}

/// The files of the working directory with what they hold.
pub type Files = BTreeMap<String, Vec<u8>>;

impl Stage {
    /// Sets up a stage.
    ///
    /// # Errors
    /// When files cannot be made.
    pub fn new() -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix("stage-");
        let folder = if memory.is_dir() {
            folder.tempdir_in(memory)?
        } else {
            folder.tempdir()?
        };
        // Copied once: hard links need a file on the same disk.
        fs::copy(FAKE, folder.path().join("fake"))?;
        let mut stage = Self {
            folder,
            untouched: Files::new(),
        };
        stage.lay_programs()?;
        fs::create_dir(stage.home())?;
        fs::write(stage.path("in"), INPUT)?;
        fs::write(stage.path("ran"), "")?;
        stage.lay_work()?;
        stage.untouched = stage.files()?;
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder that is the whole path.
    #[must_use]
    pub fn programs(&self) -> PathBuf {
        self.path("bin")
    }

    /// The working directory.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// The home directory.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The file that is standard input.
    #[must_use]
    pub fn input(&self) -> PathBuf {
        self.path("in")
    }

    /// The files for standard output and standard error.
    #[must_use]
    pub fn outputs(&self) -> [PathBuf; 2] {
        [self.path("stdout"), self.path("stderr")]
    }

    /// The variables that lines run with.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, String); 3] {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        [
            ("PATH", text(self.programs())),
            ("HOME", text(self.home())),
            ("LC_ALL", "C".to_owned()),
        ]
    }

    /// The path of a program that the session finds by its name.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<String> {
        let path = self.programs().join(name);
        (!name.contains('/') && path.exists()).then(|| path.to_string_lossy().into_owned())
    }

    fn lay_programs(&self) -> io::Result<()> {
        fs::create_dir(self.programs())?;
        for name in FAKES {
            fs::hard_link(self.path("fake"), self.programs().join(name))?;
        }
        for name in WRAPPERS {
            if let Some(program) = system_program(name) {
                symlink(program, self.programs().join(name))?;
            }
        }
        Ok(())
    }

    fn lay_work(&self) -> io::Result<()> {
        let work = self.work();
        for folder in TRAPS.into_iter().chain(["dash", "out"]) {
            fs::create_dir_all(work.join(folder))?;
        }
        for (name, text) in FILES {
            fs::write(work.join(name), text)?;
        }
        for folder in TRAPS {
            for name in TRAPPED {
                fs::hard_link(self.path("fake"), work.join(folder).join(name))?;
            }
        }
        fs::hard_link(self.path("fake"), work.join("run"))
    }

    /// What lies in the working directory.
    pub(crate) fn files(&self) -> io::Result<Files> {
        let mut files = Files::new();
        collect(&self.work(), "", &mut files)?;
        Ok(files)
    }

    /// What a line has left of the working directory, as names with what is new in them; puts it back as it was.
    pub(crate) fn changes(&self) -> io::Result<Files> {
        let now = self.files()?;
        if now == self.untouched {
            return Ok(Files::new());
        }
        fs::remove_dir_all(self.work())?;
        self.lay_work()?;
        let gone = self
            .untouched
            .keys()
            .filter(|name| !now.contains_key(*name));
        let gone: Files = gone
            .map(|name| (name.clone(), b"(gone)".to_vec()))
            .collect();
        let mut changed: Files = now
            .into_iter()
            .filter(|(name, text)| self.untouched.get(name) != Some(text))
            .collect();
        changed.extend(gone);
        Ok(changed)
    }

    /// The programs that ran since this was last asked.
    pub(crate) fn ran(&self) -> io::Result<Vec<Ran>> {
        let file = self.path("ran");
        let bytes = fs::read(&file)?;
        if !bytes.is_empty() {
            fs::write(&file, "")?;
        }
        Ok(Ran::read_all(&bytes, self))
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let metadata = entry.path().symlink_metadata()?;
        if metadata.is_dir() {
            files.insert(format!("{name}/"), Vec::new());
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else if metadata.is_file() && metadata.nlink() == 1 {
            files.insert(name, fs::read(entry.path())?);
        } else {
            files.insert(name, b"(a program)".to_vec());
        }
    }
    Ok(())
}

/// Where a program of the system lies.
pub(crate) fn system_program(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
    folders
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
}
