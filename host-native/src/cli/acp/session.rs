//! One session: an engine, and what goes back and forth between it and the editor.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use windlass_core::permission::Mode;

use super::{
    content::message_content,
    offer::ready,
    options::{Choices, MODE, MODEL},
    outcome::{outcome, stopped},
    permission,
    rpc::{Editor, Responder, RpcError, params},
    update::Translator,
};
use crate::cli::{
    client::{Client, EngineEvent},
    question::Question,
};

/// How long an engine may take to end once it is told to.
const LAST_WORK: Duration = Duration::from_secs(2);

/// What the editor wants of a session: parameters, and how they are answered.
pub(super) enum Command {
    /// Answer a prompt.
    Prompt(Value, Responder),
    /// Stop what is being done, and drop the prompts that wait.
    Cancel,
    /// Change the permission mode.
    SetMode(Value, Responder),
    /// Tell the editor which commands there are: it knows of the session now.
    ShowCommands,
    /// Change an option.
    SetOption(Value, Responder),
    /// End, and say so.
    Close(oneshot::Sender<()>),
}

/// The way to a session that runs by itself.
#[derive(Clone)]
pub(super) struct Handle(mpsc::UnboundedSender<Command>);

impl Handle {
    /// Hands a command over. One that wants an answer gets an error if the session has ended.
    pub(super) fn tell(&self, command: Command) {
        let Err(mpsc::error::SendError(command)) = self.0.send(command) else {
            return;
        };
        match command {
            Command::Prompt(_, responder)
            | Command::SetMode(_, responder)
            | Command::SetOption(_, responder) => {
                responder.respond(Err(RpcError::failed("the session has ended")));
            }
            Command::Cancel | Command::ShowCommands | Command::Close(_) => {}
        }
    }

    /// Ends the session and waits for that.
    pub(super) async fn close(self) {
        let (sender, closed) = oneshot::channel();
        if self.0.send(Command::Close(sender)).is_ok() {
            // It may have ended by itself meanwhile.
            let _ = closed.await;
        }
    }
}

/// A prompt that is being answered.
struct Turn {
    responder: Responder,
    is_cancelled: bool,
}

/// What has changed once the engine has answered a request.
enum Change {
    Mode(Mode),
    Model(String),
}

/// A request to the engine that the editor waits for.
struct Awaited {
    change: Change,
    /// Whether the editor asked for the option, whose answer names all options.
    as_option: bool,
    responder: Responder,
}

/// A session.
pub(super) struct Session {
    id: String,
    cwd: PathBuf,
    editor: Arc<Editor>,
    client: Client,
    choices: Choices,
    commands: Vec<Value>,
    translator: Translator,
    turn: Option<Turn>,
    waiting: VecDeque<(Value, Responder)>,
    awaited: HashMap<String, Awaited>,
}

impl Session {
    /// Waits until the engine is ready.
    ///
    /// # Errors
    /// No session can begin, for the reason that the engine gives.
    pub(super) async fn begin(
        mut client: Client,
        id: String,
        cwd: &Path,
        allows_bypass: bool,
        editor: Arc<Editor>,
    ) -> Result<Self, RpcError> {
        let offered = ready(&mut client, allows_bypass).await;
        let (choices, commands) = match offered {
            Ok(offered) => offered,
            Err(error) => {
                client.stop().await;
                return Err(error);
            }
        };
        Ok(Self {
            id,
            cwd: cwd.to_owned(),
            editor,
            client,
            choices,
            commands,
            translator: Translator::new(cwd.to_owned()),
            turn: None,
            waiting: VecDeque::new(),
            awaited: HashMap::new(),
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// What can be chosen, as the answer to a request for the session.
    pub(super) fn offer(&self) -> Value {
        json!({"modes": self.choices.modes(), "configOptions": self.choices.options()})
    }

    /// Tells the editor something about the session.
    pub(super) fn show(&self, update: &Value) {
        let told = json!({"sessionId": self.id, "update": update});
        self.editor.notify("session/update", &told);
    }

    /// Lets the session run until it is closed.
    pub(super) fn spawn(self) -> Handle {
        let (sender, commands) = mpsc::unbounded_channel();
        tokio::spawn(self.run(commands));
        Handle(sender)
    }

    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let closing = loop {
            tokio::select! {
                event = self.client.next() => match event {
                    Some(event) => self.handle(event),
                    None => break None,
                },
                command = commands.recv() => match command {
                    Some(Command::Close(closed)) => break Some(closed),
                    Some(command) => self.obey(command),
                    None => break None,
                },
            }
        };
        self.end().await;
        if let Some(closed) = closing {
            // Whoever closes it may have gone.
            let _ = closed.send(());
        }
    }

    /// Ends the engine: in order, so that hooks of the session's end run, but not for long.
    async fn end(mut self) {
        self.cancel();
        if let Some(turn) = self.turn.take() {
            turn.responder.respond(Ok(stopped("cancelled")));
        }
        let mut client = self.client;
        client.finish();
        let rest = async { while client.next().await.is_some() {} };
        // What does not end in time is stopped.
        let _ = tokio::time::timeout(LAST_WORK, rest).await;
        client.stop().await;
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Prompt(given, responder) if self.turn.is_some() => {
                self.waiting.push_back((given, responder));
            }
            Command::Prompt(given, responder) => self.answer(given, responder),
            Command::Cancel => self.cancel(),
            Command::ShowCommands => {
                let commands = std::mem::take(&mut self.commands);
                let kind = "available_commands_update";
                self.show(&json!({"sessionUpdate": kind, "availableCommands": commands}));
            }
            Command::SetMode(given, responder) => match params::<SetMode>(given) {
                Ok(set) => self.set_mode(&set.mode_id, false, responder),
                Err(error) => responder.respond(Err(error)),
            },
            Command::SetOption(given, responder) => match params::<SetOption>(given) {
                Ok(set) => self.set_option(set, responder),
                Err(error) => responder.respond(Err(error)),
            },
            Command::Close(_) => {} // ends the loop before it comes here
        }
    }

    fn answer(&mut self, mut given: Value, responder: Responder) {
        match message_content(given["prompt"].take()) {
            Ok(content) => {
                self.client.prompt_with(&content);
                self.turn = Some(Turn {
                    responder,
                    is_cancelled: false,
                });
            }
            Err(error) => responder.respond(Err(error)),
        }
    }

    fn cancel(&mut self) {
        for (_, responder) in self.waiting.drain(..) {
            responder.respond(Ok(stopped("cancelled")));
        }
        if let Some(turn) = &mut self.turn {
            turn.is_cancelled = true;
            self.client.interrupt();
        }
    }

    fn set_mode(&mut self, name: &str, as_option: bool, responder: Responder) {
        let Some(mode) = Mode::parse(name) else {
            return responder.respond(Err(unknown("mode", name)));
        };
        let request = json!({"subtype": "set_permission_mode", "mode": mode.name()});
        self.ask_engine(&request, Change::Mode(mode), as_option, responder);
    }

    fn set_option(&mut self, set: SetOption, responder: Responder) {
        match (set.config_id.as_str(), set.value.as_str()) {
            (MODE, Some(mode)) => self.set_mode(mode, true, responder),
            (MODEL, Some(model)) if self.choices.has_model(model) => {
                let request = json!({"subtype": "set_model", "model": model});
                self.ask_engine(&request, Change::Model(model.to_owned()), true, responder);
            }
            (MODE | MODEL, _) => {
                let value = set.value.to_string();
                responder.respond(Err(unknown(&set.config_id, &value)));
            }
            (option, _) => responder.respond(Err(unknown("option", option))),
        }
    }

    fn ask_engine(
        &mut self,
        request: &Value,
        change: Change,
        as_option: bool,
        responder: Responder,
    ) {
        let id = self.client.request(request);
        let awaited = Awaited {
            change,
            as_option,
            responder,
        };
        self.awaited.insert(id, awaited);
    }

    fn handle(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Message(_, line) => {
                let frame: Value = serde_json::from_str(&line).unwrap_or_default();
                for update in self.translator.updates(&frame) {
                    let mode = update["currentModeId"].as_str().and_then(Mode::parse);
                    self.choices.mode = mode.unwrap_or(self.choices.mode);
                    self.show(&update);
                }
                if frame["type"] == "result" {
                    self.turn_ended(&frame);
                }
            }
            EngineEvent::Question(question) => self.ask(question),
            EngineEvent::Reply(id, reply) => {
                if let Some(awaited) = self.awaited.remove(&id) {
                    self.replied(awaited, reply.err());
                }
            }
            EngineEvent::Ready(_) | EngineEvent::Refused(_) | EngineEvent::Idle => {}
        }
    }

    fn turn_ended(&mut self, result: &Value) {
        // Without a turn it is the result of something that no prompt of the editor began, such as work in the background.
        let Some(turn) = self.turn.take() else {
            return;
        };
        turn.responder.respond(match turn.is_cancelled {
            true => Ok(stopped("cancelled")),
            false => outcome(result).map(stopped),
        });
        // One that cannot be used is answered at once, and the next one is due.
        while self.turn.is_none()
            && let Some((given, responder)) = self.waiting.pop_front()
        {
            self.answer(given, responder);
        }
    }

    /// Asks the person in the editor; the answer goes to the engine by itself.
    fn ask(&self, question: Question) {
        let Question {
            request,
            mut answer,
        } = question;
        let asked = permission::question(&self.id, &request, &self.cwd);
        let answered = self.editor.request("session/request_permission", &asked);
        tokio::spawn(async move {
            let answered = tokio::select! {
                answered = answered => answered,
                // The engine has taken the question back.
                () = answer.closed() => return,
            };
            // An editor that fails, or has gone, has not allowed anything.
            let said = answered.ok().and_then(Result::ok).unwrap_or_default();
            // The question may have been taken back meanwhile.
            let _ = answer.send(permission::response(&request, &said));
        });
    }

    fn replied(&mut self, awaited: Awaited, problem: Option<String>) {
        if let Some(problem) = problem {
            return awaited
                .responder
                .respond(Err(RpcError::invalid_params(problem)));
        }
        match awaited.change {
            Change::Mode(mode) => self.choices.mode = mode,
            Change::Model(model) => self.choices.model = model,
        }
        awaited.responder.respond(Ok(match awaited.as_option {
            true => json!({"configOptions": self.choices.options()}),
            false => json!({}),
        }));
    }
}

/// Which mode is wanted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetMode {
    mode_id: String,
}

/// Which option is to get which value.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetOption {
    config_id: String,
    value: Value,
}

fn unknown(what: &str, name: &str) -> RpcError {
    RpcError::invalid_params(format!("there is no {what} {name}"))
}
