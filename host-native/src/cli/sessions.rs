//! `windlass sessions`: what was kept of the sessions of this folder.

use std::{fs, path::PathBuf, time::SystemTime};

use windlass::engine::Launch;
use windlass_core::Uuid;
use windlass_engine::{
    protocol::flags::Flags,
    transcript::{Said, SavedAt, SessionFiles, Summary, said},
};

use super::{
    Exit,
    args::SessionsCommand,
    call::input_in_short,
    keys::variable,
    plain::{clean, fit, one_line},
    start::StartError,
    terminal::Stage,
};

/// Columns of a line where there is no terminal to ask.
const USUAL_COLUMNS: usize = 100;

/// Does what was asked for.
///
/// # Errors
/// [`StartError`]: a session that is not there, or a file that cannot be used.
pub(crate) fn sessions(command: SessionsCommand) -> Result<Exit, StartError> {
    let folder = Folder::here()?;
    let text = match command {
        SessionsCommand::List => folder.list()?,
        SessionsCommand::Show { id } => folder.show(&id)?,
        SessionsCommand::Delete { id } => {
            let saved = folder.find(&id)?;
            folder.files.remove(&saved).map_err(unable)?;
            format!("{} is deleted.\n", saved.id)
        }
    };
    Ok(match Stage::stdout().write(&text) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::PipeClosed,
    })
}

/// The sessions of a working directory.
struct Folder {
    files: SessionFiles,
    cwd: PathBuf,
}

impl Folder {
    fn here() -> Result<Self, StartError> {
        let cwd = fs::canonicalize(".").map_err(|error| StartError::File {
            what: "the working directory",
            path: ".".into(),
            reason: error.to_string(),
        })?;
        let launch = Launch::with_flags(Flags::default(), variable);
        let files = SessionFiles::of(&launch.config, &cwd);
        Ok(Self { files, cwd })
    }

    fn list(&self) -> Result<String, StartError> {
        let all = self.files.all().map_err(unable)?;
        if all.is_empty() {
            return Ok("There are no sessions of this folder.\n".to_owned());
        }
        let columns = Stage::stdout().columns().unwrap_or(USUAL_COLUMNS);
        let mut text = String::new();
        for saved in all {
            let summary = Summary::read(&read(&saved)?);
            let name = summary.title.or(summary.first_prompt).unwrap_or_default();
            let line = format!(
                "{}  {:>7}  {:>3}  {}",
                saved.id,
                age(saved.modified),
                summary.prompts,
                one_line(&name)
            );
            text.push_str(&fit(&line, columns));
            text.push('\n');
        }
        Ok(text)
    }

    fn show(&self, id: &str) -> Result<String, StartError> {
        let saved = self.find(id)?;
        let cwd = self.cwd.display().to_string();
        let mut text = String::new();
        for said in said(&read(&saved)?) {
            match said {
                Said::Prompt(prompt) => text.push_str(&format!("> {}\n\n", clean(prompt.trim()))),
                Said::Answer(answer) => text.push_str(&format!("{}\n\n", clean(answer.trim()))),
                Said::Call { tool, input } => {
                    let tool = one_line(&tool);
                    let input = input_in_short(&tool, &input, &cwd);
                    text.push_str(&format!("  {tool} {input}\n\n"));
                }
                _ => {}
            }
        }
        Ok(text)
    }

    fn find(&self, id: &str) -> Result<SavedAt, StartError> {
        let unknown = || {
            StartError::Usage(format!(
                "this folder has no session `{id}`: `windlass sessions list` names those it has"
            ))
        };
        let uuid = Uuid::parse(id).ok_or_else(unknown)?;
        let all = self.files.all().map_err(unable)?;
        all.into_iter().find(|it| it.id == uuid).ok_or_else(unknown)
    }
}

fn read(saved: &SavedAt) -> Result<String, StartError> {
    let bytes = fs::read(&saved.path).map_err(|error| StartError::File {
        what: "the transcript",
        path: saved.path.clone(),
        reason: error.to_string(),
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unable(error: impl std::fmt::Display) -> StartError {
    StartError::Unable(error.to_string())
}

/// How long ago that was, in one unit.
fn age(then: SystemTime) -> String {
    let seconds = then.elapsed().map_or(0, |elapsed| elapsed.as_secs());
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
