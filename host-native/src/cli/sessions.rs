//! `windlass sessions`: the stored sessions of this folder.

use std::{path::PathBuf, time::SystemTime};

use windlass::{
    core::{UnixMillis, Uuid},
    store::{FileStore, Said, SendStore as _, StoredSession, Summary, said},
};

use super::{
    Exit,
    args::SessionsCommand,
    call::input_in_short,
    launch::here,
    plain::{clean, fit, one_line},
    start_error::StartError,
    terminal::Stage,
};

/// The width of a line without a terminal, in columns.
const USUAL_COLUMNS: usize = 100;

/// Runs the command.
///
/// # Errors
/// [`StartError`]: the session does not exist, or cannot be read or deleted.
pub(crate) async fn sessions(command: SessionsCommand) -> Result<Exit, StartError> {
    let folder = Folder::here()?;
    let text = match command {
        SessionsCommand::List => folder.list().await?,
        SessionsCommand::Show { id } => folder.show(&id).await?,
        SessionsCommand::Delete { id } => {
            let saved = folder.find(&id).await?;
            folder.store.delete(saved.id).await.map_err(unable)?;
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
    store: FileStore,
    cwd: PathBuf,
}

impl Folder {
    fn here() -> Result<Self, StartError> {
        let (launch, cwd) = here()?;
        let store = FileStore::new(&launch.config, &cwd);
        Ok(Self { store, cwd })
    }

    async fn list(&self) -> Result<String, StartError> {
        let all = self.store.list().await.map_err(unable)?;
        if all.is_empty() {
            return Ok("There are no sessions of this folder.\n".to_owned());
        }
        let columns = Stage::stdout().columns().unwrap_or(USUAL_COLUMNS);
        let mut text = String::new();
        for saved in all {
            let summary = Summary::read(&self.read(&saved).await?);
            let name = summary.name().unwrap_or_default();
            let line = format!(
                "{}  {:>7}  {:>3}  {}",
                saved.id,
                age(saved.modified),
                summary.prompts,
                one_line(name)
            );
            text.push_str(&fit(&line, columns));
            text.push('\n');
        }
        Ok(text)
    }

    async fn show(&self, id: &str) -> Result<String, StartError> {
        let saved = self.find(id).await?;
        let cwd = self.cwd.display().to_string();
        let mut text = String::new();
        for said in said(&self.read(&saved).await?) {
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

    async fn find(&self, id: &str) -> Result<StoredSession, StartError> {
        let unknown = || {
            StartError::Usage(format!(
                "this folder has no session `{id}`: `windlass sessions list` names those it has"
            ))
        };
        let uuid = Uuid::try_parse(id).ok().ok_or_else(unknown)?;
        let all = self.store.list().await.map_err(unable)?;
        all.into_iter().find(|it| it.id == uuid).ok_or_else(unknown)
    }

    async fn read(&self, saved: &StoredSession) -> Result<String, StartError> {
        let stored = self.store.load(saved.id, None).await.map_err(unable)?;
        let text = stored.unwrap_or_default().text;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

fn unable(error: impl std::fmt::Display) -> StartError {
    StartError::Unable(error.to_string())
}

/// The time since then, in a single unit.
fn age(then: UnixMillis) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_millis() as u64);
    let seconds = now.saturating_sub(then.0) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
