//! The sessions of an editor, by their ids.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass::{
    core::{Seeded, Uuid},
    engine::Launch,
    store::{FileStore, SendStore as _, Summary},
};
use windlass_engine::protocol::flags::Flags;

use super::{
    history,
    launch::{Server, Wanted, launch},
    rpc::{Editor, Responder, RpcError},
    session::{Command, Handle, Session},
};
use crate::cli::{args::AcpArgs, client::Client, keys::variable, start_error::StartError};

/// What a new session is to be like.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    cwd: PathBuf,
    #[serde(default)]
    additional_directories: Vec<PathBuf>,
    #[serde(default)]
    mcp_servers: Vec<Server>,
}

/// Which session is to go on, and how.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadSession {
    session_id: String,
    #[serde(flatten)]
    session: NewSession,
}

/// Whose sessions are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListSessions {
    cwd: Option<PathBuf>,
}

/// The sessions that are open.
pub(super) struct Sessions {
    args: AcpArgs,
    open: Mutex<HashMap<String, Handle>>,
}

impl Sessions {
    pub(super) fn new(args: AcpArgs) -> Self {
        Self {
            args,
            open: Mutex::default(),
        }
    }

    /// A session that is open.
    ///
    /// # Errors
    /// There is none with this id.
    pub(super) fn get(&self, id: &str) -> Result<Handle, RpcError> {
        let open = self.open().get(id).cloned();
        open.ok_or_else(|| RpcError::not_found(format!("there is no open session {id}")))
    }

    /// Begins a new session, or answers why it cannot begin.
    pub(super) async fn begin(
        &self,
        request: NewSession,
        editor: Arc<Editor>,
        responder: Responder,
    ) {
        let begun = async {
            let id = fresh_id()?;
            self.start(&request.wanted(None), id, editor).await
        };
        match begun.await {
            Ok(session) => {
                let mut answer = session.offer();
                answer["sessionId"] = session.id().into();
                self.run(session, answer, responder);
            }
            Err(error) => responder.respond(Err(error)),
        }
    }

    /// Takes up a session that was stored, and tells the editor what was said in it; or answers why that cannot be.
    pub(super) async fn load(
        &self,
        request: LoadSession,
        editor: Arc<Editor>,
        responder: Responder,
    ) {
        match self.loaded(request, editor).await {
            Ok(session) => {
                let answer = session.offer();
                self.run(session, answer, responder);
            }
            Err(error) => responder.respond(Err(error)),
        }
    }

    async fn loaded(&self, request: LoadSession, editor: Arc<Editor>) -> Result<Session, RpcError> {
        let unknown = || {
            let id = &request.session_id;
            RpcError::not_found(format!("this folder has no session {id}"))
        };
        let id = Uuid::try_parse(&request.session_id).map_err(|_| unknown())?;
        let stored = store(&request.session.cwd)?;
        let stored = stored.load(id, None).await.map_err(failed)?;
        let transcript = stored.ok_or_else(unknown)?.text;
        // It may be open in this process, which holds its transcript.
        let earlier = self.open().remove(&request.session_id);
        if let Some(earlier) = earlier {
            earlier.close().await;
        }
        let wanted = request.session.wanted(Some(id));
        let session = self.start(&wanted, id, editor).await?;
        for update in history::updates(&String::from_utf8_lossy(&transcript), &wanted.cwd) {
            session.show(&update);
        }
        Ok(session)
    }

    /// Lists the stored sessions of a folder.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) async fn list(&self, request: ListSessions) -> Result<Value, RpcError> {
        let cwd = match request.cwd {
            Some(cwd) => cwd,
            None => std::env::current_dir().map_err(failed)?,
        };
        let store = store(&cwd)?;
        let mut sessions = Vec::new();
        for stored in store.list().await.map_err(failed)? {
            let text = store.load(stored.id, None).await.map_err(failed)?;
            let text = text.unwrap_or_default().text;
            let summary = Summary::read(&String::from_utf8_lossy(&text));
            sessions.push(json!({
                "sessionId": stored.id.to_string(), "cwd": cwd.display().to_string(), "title": summary.name(),
            }));
        }
        Ok(json!({ "sessions": sessions }))
    }

    /// Closes a session; what it was doing is stopped.
    ///
    /// # Errors
    /// There is none with this id.
    pub(super) async fn close(&self, id: &str) -> Result<Value, RpcError> {
        let session = self.get(id)?;
        self.open().remove(id);
        session.close().await;
        Ok(json!({}))
    }

    /// Closes all sessions.
    pub(super) async fn close_all(&self) {
        let open: Vec<Handle> = self.open().drain().map(|(_, session)| session).collect();
        for session in open {
            session.close().await;
        }
    }

    async fn start(
        &self,
        wanted: &Wanted,
        id: Uuid,
        editor: Arc<Editor>,
    ) -> Result<Session, RpcError> {
        if !wanted.cwd.is_dir() {
            let problem = format!("{} is no directory", wanted.cwd.display());
            return Err(RpcError::invalid_params(problem));
        }
        let launch = launch(&self.args, wanted, id).map_err(|error| match error {
            StartError::MissingKey(_) => RpcError::auth_required(error.to_string()),
            error => RpcError::invalid_params(error.to_string()),
        })?;
        let allows_bypass = launch.flags.bypass || launch.flags.allow_bypass;
        let client = Client::start(launch);
        Session::begin(client, id.to_string(), &wanted.cwd, allows_bypass, editor).await
    }

    /// Lets a session run by itself, and tells the editor of it.
    fn run(&self, session: Session, answer: Value, responder: Responder) {
        let id = session.id().to_owned();
        let handle = session.spawn();
        self.open().insert(id, handle.clone());
        responder.respond(Ok(answer));
        handle.tell(Command::ShowCommands);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Handle>> {
        // A panic elsewhere leaves the table whole.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stored sessions of a folder.
fn store(cwd: &Path) -> Result<FileStore, RpcError> {
    let launch = Launch::with_flags(Flags::default(), variable);
    let launch = launch.map_err(failed)?;
    // Sessions are kept under the name of the real folder.
    let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    Ok(FileStore::new(&launch.config, real))
}

/// The id of a new session.
fn fresh_id() -> Result<Uuid, RpcError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(failed)?;
    Ok(Seeded::new(seed).uuid())
}

fn failed(error: impl std::fmt::Display) -> RpcError {
    RpcError::failed(error.to_string())
}

impl NewSession {
    fn wanted(self, resumed: Option<Uuid>) -> Wanted {
        Wanted {
            cwd: self.cwd,
            directories: self.additional_directories,
            servers: self.mcp_servers,
            resumed,
        }
    }
}
