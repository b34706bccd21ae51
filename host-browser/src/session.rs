//! A session with its engine, for JavaScript.

use std::cell::RefCell;

use futures_channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use windlass_core::{
    Input as SessionInput, Prompt, RawJson, Seeded, SessionId, Spec, Uuid,
    permission::{CommandConfinement, Mode},
    session_request::SessionRequest,
};
use windlass_engine::{
    machine::{Configuration, Engine, Face, Input, Launch, ServerEvent, drive},
    models::ModelTable,
    protocol::flags::Flags,
};

#[cfg(feature = "settings")]
use crate::settings::{self, ProjectFiles};
use crate::{
    host::BrowserHost,
    imports::WasmHost,
    mcp,
    store::{JsStore, SessionStore},
};

/// The program recorded in the transcript, for others that read it.
const ENTRYPOINT: &str = "sdk-js";

/// Time limit for the hooks of the session's end, in milliseconds.
const LAST_HOOKS_MS: u64 = 60_000;

/// A conversation: each prompt sees the earlier ones.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Session {
    allow_bypass: bool,
    /// Whether rules deny all reading, and all writing.
    denied: (bool, bool),
    inputs: UnboundedSender<Input>,
    /// Until it is driven.
    begin: RefCell<Option<Beginning>>,
}

/// What a session is driven with.
#[derive(Debug)]
struct Beginning {
    engine: Engine,
    inputs: UnboundedReceiver<Input>,
}

/// How the session is stored, and which one goes on. Unknown fields are refused.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Keeping {
    /// Whether there is a store, and the session is written to it.
    persist: bool,
    /// The session that goes on, by its id.
    resume: Option<String>,
    /// Whether the session that was written to last goes on.
    continue_latest: bool,
    /// Whether what goes on does so in a copy, under a new id.
    fork: bool,
    /// The message up to which the session goes on.
    resume_at: Option<String>,
    /// The prompt whose turn is all that may be dropped then.
    drops_turn: Option<String>,
    /// Whether a turn in which a person is asked can go on in another session object: [`Session::go_on`].
    keeps_questions: bool,
    /// Whether any unfinished turn can.
    keeps_turns: bool,
}

#[wasm_bindgen]
impl Session {
    /// Creates a session from a task in JSON (`windlass_core::session_request::SessionRequest`), how it is kept, in JSON, and the
    /// names of the MCP servers that it is connected to.
    ///
    /// # Errors
    /// What is wrong with them.
    #[wasm_bindgen(constructor)]
    pub fn new(task: &str, keeping: &str, servers: Vec<String>) -> Result<Session, JsError> {
        Self::configured(task, keeping, servers, |spec| {
            Ok(Configuration::new(0, spec))
        })
    }

    /// The same with settings and project files, read from `files`; `settings` says in JSON which ones.
    ///
    /// # Errors
    /// What is wrong with one of them.
    #[cfg(feature = "settings")]
    #[wasm_bindgen(js_name = withSettings)]
    pub fn with_settings(
        task: &str,
        keeping: &str,
        servers: Vec<String>,
        settings: &str,
        files: &ProjectFiles,
    ) -> Result<Session, JsError> {
        Self::configured(task, keeping, servers, |spec| {
            settings::configure(spec, settings, files)
        })
    }

    /// Whether rules deny all reading: for components, too, in directories that no call has to name.
    #[wasm_bindgen(getter, js_name = deniesReading)]
    pub fn denies_reading(&self) -> bool {
        self.denied.0
    }

    /// Whether rules deny all writing of files.
    #[wasm_bindgen(getter, js_name = deniesWriting)]
    pub fn denies_writing(&self) -> bool {
        self.denied.1
    }

    /// Adds a prompt: JSON, a text or an array of content blocks. Give one when the result of the one before is there, so that it
    /// is clear to which each message belongs.
    ///
    /// # Errors
    /// What is wrong with the prompt.
    pub fn prompt(&self, prompt: &str) -> Result<(), JsError> {
        let prompt = Prompt::from_json(&RawJson::parse(prompt)?)?;
        self.tell(Input::Prompt(prompt));
        Ok(())
    }

    /// Goes on, in place of a first prompt, with the turn that was not over when the session was last driven: the model is asked
    /// once more for an answer that had not arrived, and a person the question that was open. Only what a session left that keeps
    /// its turns or questions goes on so.
    #[wasm_bindgen(js_name = goOn)]
    pub fn go_on(&self) {
        let live = Vec::new(); // what ran then runs nowhere any more
        self.tell(Input::Tell(SessionInput::Resumed { live }));
    }

    /// Interrupts the current prompt; does nothing if there is none.
    pub fn interrupt(&self) {
        self.tell(Input::Tell(SessionInput::Interrupt));
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// The mode is unknown, or was not allowed when the session was created.
    #[wasm_bindgen(js_name = setPermissionMode)]
    pub fn set_permission_mode(&self, mode: &str) -> Result<(), JsError> {
        let Some(mode) = Mode::parse(mode) else {
            let names = Mode::ALL.map(Mode::name).join(", ");
            return Err(JsError::new(&format!(
                "`{mode}` is no permission mode: there are {names}"
            )));
        };
        if mode == Mode::BypassPermissions && !self.allow_bypass {
            return Err(JsError::new(
                "bypassPermissions must be allowed when the agent is made: allowDangerouslySkipPermissions",
            ));
        }
        self.tell(Input::Tell(SessionInput::SetMode(mode)));
        Ok(())
    }

    /// Changes the model; without a name, restores the agent's own.
    #[wasm_bindgen(js_name = setModel)]
    pub fn set_model(&self, model: Option<String>) {
        self.tell(Input::Tell(SessionInput::SetModel(model)));
    }

    /// Stops a background task by its id.
    #[wasm_bindgen(js_name = stopTask)]
    pub fn stop_task(&self, id: String) {
        self.tell(Input::Tell(SessionInput::StopTask(id)));
    }

    /// Connects anew to an MCP server of the session.
    #[wasm_bindgen(js_name = reconnectServer)]
    pub fn reconnect_server(&self, name: String) {
        self.tell(Input::Reconnect(name));
    }

    /// The tools of an MCP server have changed to these, as JSON.
    ///
    /// # Errors
    /// What is wrong with them.
    #[wasm_bindgen(js_name = serverToolsChanged)]
    pub fn server_tools_changed(
        &self,
        connection: f64,
        name: &str,
        tools: &str,
    ) -> Result<(), JsError> {
        let tools = mcp::tools(name, &RawJson::parse(tools)?)?;
        // A number that the engine itself gave.
        let event = Input::Server(connection as u64, ServerEvent::Tools(tools));
        self.tell(event);
        Ok(())
    }

    /// No further prompt comes: the session ends when those that there are have their results.
    pub fn end(&self) {
        self.tell(Input::InputEnded);
    }

    /// Stops at once.
    pub fn stop(&self) {
        self.tell(Input::Stop);
    }

    /// Drives the session to its end, then resolves. `store` is where it is kept, if anywhere. Can be called once.
    pub fn drive(&self, host: WasmHost, store: Option<SessionStore>) -> Promise {
        let beginning = self.begin.take();
        future_to_promise(async move {
            let Some(Beginning { mut engine, inputs }) = beginning else {
                return Err(JsError::new("the session is driven already").into());
            };
            let host = BrowserHost::new(host, store.map(JsStore::new));
            drive(&mut engine, &host, inputs).await;
            host.stream_events.give();
            Ok(JsValue::UNDEFINED)
        })
    }

    fn tell(&self, input: Input) {
        // Nobody listens any more once the session has ended.
        let _ = self.inputs.unbounded_send(input);
    }
}

impl Session {
    /// A session whose configuration is made of the spec of its task.
    fn configured(
        task: &str,
        keeping: &str,
        servers: Vec<String>,
        configure: impl FnOnce(Spec) -> Result<Configuration, String>,
    ) -> Result<Self, JsError> {
        let mut task = SessionRequest::parse(task)?;
        ModelTable::built_in().give_to(&mut task.spec);
        // A shell in a page reaches the file tree as far as a call was granted it, and nothing else.
        task.spec.policy.permissions.confinement = Some(CommandConfinement::default());
        let keeping: Keeping = RawJson::parse(keeping)?.decode()?;
        if keeping.fork && keeping.resume.is_none() && !keeping.continue_latest {
            return Err(JsError::new(
                "`forkSession` needs a session to fork: name it by `resume`, or say `continue: true`",
            ));
        }
        if let Some(id) = &keeping.resume {
            id_of_session(id)?;
        }
        let id = task
            .session_id
            .unwrap_or_else(|| Seeded::new(task.seed).uuid());
        let cwd = task.spec.environment.cwd.clone();
        let replay_user_messages = task.spec.stream.replay_prompts;
        let mut configuration = configure(task.spec).map_err(|problem| JsError::new(&problem))?;
        let rules = &configuration.spec.policy.permissions.rules;
        let denied = (rules.denies_tool("Read"), rules.denies_tool("Edit"));
        let allow_bypass = configuration.spec.policy.permissions.allow_bypass;
        let flags = Flags {
            fork_session: keeping.fork,
            no_session_persistence: !keeping.persist,
            replay_user_messages,
            resume: keeping.resume,
            continue_session: keeping.continue_latest,
            resume_session_at: keeping.resume_at,
            resume_drops_turn: keeping.drops_turn,
            ..Flags::default()
        };
        let mut launch = Launch::new(flags, cwd);
        launch.face = Face::Program;
        ENTRYPOINT.clone_into(&mut launch.entrypoint);
        env!("CARGO_PKG_VERSION").clone_into(&mut launch.version);
        launch.session_id = Some(id);
        launch.session_seed = Some(task.seed);
        launch.last_hooks_ms = LAST_HOOKS_MS;
        launch.keeps_questions = keeping.persist && keeping.keeps_questions;
        launch.keeps_turns = keeping.persist && keeping.keeps_turns;
        // The engine's ids must differ from those that the session derives from its seed.
        let of_engine = task.seed.map(|byte| !byte);
        configuration.given_servers = mcp::configurations(servers);
        let engine = Engine::new(launch, configuration, of_engine);
        let (sender, inputs) = unbounded();
        let session = Self {
            allow_bypass,
            denied,
            inputs: sender,
            begin: RefCell::new(Some(Beginning { engine, inputs })),
        };
        if let Some(prompt) = task.prompt {
            session.tell(Input::Prompt(prompt));
        }
        Ok(session)
    }
}

/// # Errors
/// The text is no id, with what ids are.
pub(crate) fn id_of_session(text: &str) -> Result<SessionId, JsError> {
    Uuid::try_parse(text)
        .map_err(|_| JsError::new(&format!("`{text}` is no id of a session: ids are UUIDs")))
}
