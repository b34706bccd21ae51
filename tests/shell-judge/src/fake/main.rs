//! Stands in for every program: it writes down that it ran, and does the little that its name asks for, always the same.
//!
//! What is written down is one record in the file `ran` of the stage, the folder whose name begins with `stage-`: the
//! length, then, each ended by a zero byte, the program's file, the working directory, `PATH`, variables that no command
//! should be given, and the arguments.

use std::{
    env,
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::exit,
};

/// How names of variables begin that change how programs are found or started.
const TELLING: [&str; 4] = ["LD_", "BASH_", "GIT_", "ENV"];

fn main() {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let stage = stage_of(&program);
    if let Some(stage) = &stage {
        record(&stage.join("ran"), &program, &arguments);
    }
    let name = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let code = behave(&name, &arguments, stage.as_deref()).unwrap_or(2);
    exit(code);
}

fn stage_of(program: &Path) -> Option<PathBuf> {
    let is_stage = |folder: &&Path| {
        folder
            .file_name()
            .is_some_and(|name| name.as_bytes().starts_with(b"stage-"))
    };
    program.ancestors().find(is_stage).map(Path::to_path_buf)
}

fn record(file: &Path, program: &Path, arguments: &[OsString]) {
    let mut fields: Vec<Vec<u8>> = vec![
        program.as_os_str().as_bytes().to_vec(),
        env::current_dir()
            .unwrap_or_default()
            .as_os_str()
            .as_bytes()
            .to_vec(),
        env::var_os("PATH").unwrap_or_default().as_bytes().to_vec(),
        telling_variables(),
    ];
    fields.extend(
        arguments
            .iter()
            .map(|argument| argument.as_bytes().to_vec()),
    );
    let mut record = Vec::new();
    for field in fields {
        record.extend(field);
        record.push(0);
    }
    let mut whole = (record.len() as u32).to_le_bytes().to_vec();
    whole.extend(record);
    // One write to the end of the file is not torn by others.
    if let Ok(mut file) = OpenOptions::new().append(true).open(file) {
        let _ = file.write_all(&whole);
    }
}

fn telling_variables() -> Vec<u8> {
    let mut found: Vec<Vec<u8>> = env::vars_os()
        .filter(|(name, _)| {
            TELLING
                .iter()
                .any(|start| name.as_bytes().starts_with(start.as_bytes()))
        })
        // That is how `stdbuf` does its work.
        .filter(|(_, value)| !value.as_bytes().ends_with(b"/libstdbuf.so"))
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect();
    found.sort();
    found.join(&b' ')
}

/// Does what the name stands for, and gives the exit status.
fn behave(name: &str, arguments: &[OsString], stage: Option<&Path>) -> io::Result<i32> {
    let mut out = io::stdout().lock();
    let words = || arguments.iter().map(|argument| argument.as_bytes());
    match name {
        "true" => {}
        "false" => return Ok(1),
        "echo" | "printf" => {
            let words: Vec<&[u8]> = words().collect();
            out.write_all(&words.join(&b' '))?;
            out.write_all(b"\n")?;
        }
        "ls" => {
            for word in words() {
                out.write_all(&[b"<", word, b">\n"].concat())?;
            }
        }
        "cat" => return cat(arguments),
        "wc" => {
            let mut read = Vec::new();
            io::stdin().read_to_end(&mut read)?;
            writeln!(out, "{}", read.len())?;
        }
        "grep" => {
            let mut read = String::new();
            io::stdin().read_to_string(&mut read)?;
            let wanted = arguments
                .last()
                .map(|word| word.to_string_lossy().into_owned())
                .unwrap_or_default();
            let found: Vec<&str> = read.lines().filter(|line| line.contains(&wanted)).collect();
            for line in &found {
                writeln!(out, "{line}")?;
            }
            return Ok(i32::from(found.is_empty()));
        }
        "git" => {
            let words: Vec<&[u8]> = words().collect();
            out.write_all(&[b"git: ", words.join(&b'|').as_slice(), b"\n"].concat())?;
        }
        "npm" => {
            say(&format!("npm: {} words\n", arguments.len()))?;
            return Ok(3);
        }
        "time" => return time(arguments),
        "mkdir" | "touch" | "rm" | "mv" | "cp" => return edit(name, arguments, stage),
        _ => {}
    }
    Ok(0)
}

/// Writes to standard error at once: others may write there meanwhile.
fn say(text: &str) -> io::Result<()> {
    io::stderr().write_all(text.as_bytes())
}

/// Runs what it is given; `-o FILE` is a file that it writes.
fn time(arguments: &[OsString]) -> io::Result<i32> {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("-o") => fs::write(rest.next().ok_or(io::ErrorKind::InvalidInput)?, "real\n")?,
            Some(option) if option.starts_with('-') => {}
            _ => {
                let status = std::process::Command::new(word).args(rest).status()?;
                return Ok(status.code().unwrap_or(1));
            }
        }
    }
    Ok(0)
}

/// Does what the program of the system does, as long as that stays in the stage.
fn edit(name: &str, arguments: &[OsString], stage: Option<&Path>) -> io::Result<i32> {
    let Some(stage) = stage else {
        return Ok(2);
    };
    let stays = |word: &OsString| {
        let text = word.to_string_lossy();
        let folder = env::current_dir().unwrap_or_default();
        folder.starts_with(stage) && !text.contains("..") && (!text.starts_with('/') || Path::new(word).starts_with(stage))
    };
    if !arguments.iter().all(stays) {
        return Ok(2);
    }
    let program = Path::new("/bin").join(name);
    Err(std::process::Command::new(program).arg0(name).args(arguments).exec())
}

fn cat(files: &[OsString]) -> io::Result<i32> {
    let mut out = io::stdout().lock();
    if files.is_empty() {
        // `io::copy` splices, which takes no lock on the place where a shared output is.
        let mut read = Vec::new();
        io::stdin().read_to_end(&mut read)?;
        out.write_all(&read)?;
        return Ok(0);
    }
    let mut code = 0;
    for file in files {
        match fs::read(file) {
            Ok(bytes) => out.write_all(&bytes)?,
            Err(_) => {
                say(&format!("cat: {}\n", file.to_string_lossy()))?;
                code = 1;
            }
        }
    }
    Ok(code)
}
