//! A session with its driver, for JavaScript.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use windlass_core::{
    Input, Prompt, RawJson, Seeded, Session as Machine, drive, permission::Mode,
    session_request::SessionRequest,
};

use crate::{host::BrowserHost, imports::WasmHost, inputs::Inputs};

/// A conversation: each prompt sees the earlier ones.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Session {
    id: String,
    allow_bypass: bool,
    inputs: Rc<Inputs>,
    /// Empty while it is being driven.
    machine: Rc<RefCell<Option<Machine>>>,
}

#[wasm_bindgen]
impl Session {
    /// Creates a session from a task in JSON (`windlass_core::session_request::SessionRequest`), which may contain
    /// the first prompt.
    ///
    /// # Errors
    /// What is wrong with the task.
    #[wasm_bindgen(constructor)]
    pub fn new(task: &str) -> Result<Session, JsError> {
        let task = SessionRequest::parse(task)?;
        let id = task
            .session_id
            .unwrap_or_else(|| Seeded::new(task.seed).uuid());
        let inputs = Rc::new(Inputs::default());
        if let Some(prompt) = task.prompt {
            inputs.push(Input::Prompt(prompt));
        }
        let allow_bypass = task.spec.policy.permissions.allow_bypass;
        let machine = Machine::new(Arc::new(task.spec), id, task.seed);
        Ok(Self {
            id: id.to_string(),
            allow_bypass,
            inputs,
            machine: Rc::new(RefCell::new(Some(machine))),
        })
    }

    /// The session's id, a UUID.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn id(&self) -> String {
        self.id.clone()
    }

    /// Adds a prompt: JSON, a text or an array of content blocks.
    ///
    /// # Errors
    /// What is wrong with the prompt.
    pub fn prompt(&self, prompt: &str) -> Result<(), JsError> {
        let prompt = Prompt::from_json(&RawJson::parse(prompt)?)?;
        self.inputs.push(Input::Prompt(prompt));
        Ok(())
    }

    /// Interrupts the current prompt; does nothing if there is none.
    pub fn interrupt(&self) {
        if self.inputs.is_open() {
            self.inputs.push(Input::Interrupt);
        }
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
        self.inputs.push(Input::SetMode(mode));
        Ok(())
    }

    /// Changes the model; without a name, restores the agent's own.
    #[wasm_bindgen(js_name = setModel)]
    pub fn set_model(&self, model: Option<String>) {
        self.inputs.push(Input::SetModel(model));
    }

    /// Drives the session until every prompt has its result, then resolves. Rejects if the session is being driven
    /// already, or the host broke the contract.
    pub fn drive(&self, host: WasmHost) -> Promise {
        let (machine, inputs) = (Rc::clone(&self.machine), Rc::clone(&self.inputs));
        future_to_promise(async move {
            let Some(mut session) = machine.take() else {
                return Err(JsError::new("the session is being driven already").into());
            };
            let host = BrowserHost::new(host, Rc::clone(&inputs));
            let driven = drive(&mut session, &host, Rc::clone(&inputs).stream()).await;
            machine.replace(Some(session));
            match driven {
                Ok(()) => Ok(JsValue::UNDEFINED),
                Err(error) => {
                    inputs.clear();
                    Err(JsError::from(error).into())
                }
            }
        })
    }
}
