//! User messages. They are passed to the session in order, except those that the engine answers itself.

use serde_json::{Value, json};
use windlass_core::{
    Input as SessionInput, Prompt, Uuid,
    hook::input::UserPromptExpansion,
    permission::{PermissionUpdate, Rule},
};

use super::{
    Engine,
    io::Fault,
    mcp::Expansion,
    pending::{PreparedFor, Then},
    queue::{Asked, Next},
};
use crate::{
    models::resolved_model,
    project::Invocation,
    protocol::{frames::LocalCommand, inbound::UserFrame, initialize::Initialize},
};

impl Engine {
    /// Handles a user message of the SDK.
    pub(super) fn prompted(&mut self, frame: UserFrame) {
        if !self.outbox.queue.is_new(frame.uuid.as_deref()) {
            return; // said twice, as after a lost connection
        }
        if frame.blocks().is_none() {
            let problem =
                "a user message was not read: its content is neither a text nor a list of blocks";
            return self.outbox.queue.push_unusable(problem.to_owned());
        }
        let uuid = frame.parsed_uuid().unwrap_or_else(|| self.ids.uuid());
        if self.log.as_ref().is_some_and(|log| log.knows(uuid)) {
            return; // heard before the session was taken up
        }
        self.outbox.accept(Asked::Line(frame), uuid);
        // Without `initialize` the configuration is completed with defaults.
        match self.refused.clone() {
            Some(problem) => self.prompt_prepared(Err(problem)),
            None if self.prepared.is_some() => self.prompt_prepared(Ok(())),
            None => self.prepare(Initialize::default(), PreparedFor::Prompt),
        }
    }

    /// The configuration is ready or has failed, for a prompt without `initialize`.
    pub(super) fn prompt_prepared(&mut self, prepared: Result<(), String>) {
        if prepared.is_ok() {
            // The command line may name the session even without `initialize`.
            self.give_title(None);
        }
        if let Some(title) = self.title.take() {
            self.append_title(&title, Then::Warn);
        }
        if let Err(problem) = prepared {
            self.outbox.queue.clear();
            self.outbox
                .fail(&problem, Fault::NotOpened(problem.clone()));
        }
    }

    /// Processes waiting prompts as far as possible.
    pub(super) fn pump(&mut self) {
        loop {
            if self.is_blocked || self.shutdown.is_some() {
                return;
            }
            let is_answering = self.is_answering();
            if !is_answering && std::mem::take(&mut self.has_commands_model) {
                self.tell_session(SessionInput::SetModel(self.chosen_model.clone()));
            }
            let (command, model, text, uuid) = match self.outbox.queue.next() {
                None => return,
                Some(Next::Unusable(_)) if is_answering => return,
                Some(Next::Unusable(problem)) => {
                    let problem = problem.to_owned();
                    self.outbox.queue.sent();
                    self.outbox.refuse(&problem);
                    continue;
                }
                Some(Next::Prompt(asked, uuid)) => {
                    let command = asked.local_command();
                    let model = self.invoked(asked).and_then(|it| it.model);
                    (command, model, asked.text().unwrap_or_default(), uuid)
                }
            };
            // It is answered by another model, or by none, so it needs a turn of its own.
            let is_servers = self.servers.is_command(&text);
            if is_answering && (command.is_some() || model.is_some() || is_servers) {
                return;
            }
            if let Some(command) = command {
                self.run_command(command, &text, uuid);
                continue;
            }
            if !self.begin_session() {
                return; // servers are waited for
            }
            let expansion = match self.expanded_by_servers(uuid, &text) {
                Expansion::Awaited => return,
                Expansion::Failed(problem) if self.refuse_command(uuid, &problem) => continue,
                expansion => expansion,
            };
            self.send_prompt(model, expansion, is_answering);
        }
    }

    /// Passes the first waiting prompt to the session, with what servers gave for it.
    fn send_prompt(&mut self, model: Option<String>, expansion: Expansion, is_answering: bool) {
        let Some(Next::Prompt(asked, uuid)) = self.outbox.queue.next() else {
            return;
        };
        let Some(mut prompt) = asked.to_prompt(uuid, is_answering) else {
            return;
        };
        if let Some(invocation) = self.invoked(asked) {
            prompt.content = Prompt::text(&invocation.text).content;
            prompt.expanded_from = self.expansion(asked);
            if let (Some(model), Some(prepared)) = (model, &self.prepared) {
                let model = resolved_model(prepared.spec(), &model);
                self.send(SessionInput::SetModel(Some(model)));
                self.has_commands_model = true;
            }
            if !invocation.allowed_tools.is_empty() {
                let rules = invocation.allowed_tools.iter().map(Rule::value).collect();
                let allow = PermissionUpdate::allow_in_session(rules);
                self.send(SessionInput::UpdatePermissions(vec![allow]));
            }
        }
        match expansion {
            Expansion::Instead(content) => prompt.content = content,
            Expansion::Behind(content) => prompt.content.extend(content),
            _ => {}
        }
        self.outbox.queue.sent();
        self.send(SessionInput::Prompt(prompt));
    }

    /// The command or skill that a prompt invokes.
    fn invoked(&self, asked: &Asked) -> Option<Invocation> {
        let project = &self.prepared.as_ref()?.config.project;
        project.expand(&asked.text()?)
    }

    /// The prompt expansion that hooks are told about.
    fn expansion(&self, asked: &Asked) -> Option<UserPromptExpansion> {
        let project = &self.prepared.as_ref()?.config.project;
        project.expansion(&asked.text()?)
    }

    /// Whether the session is answering a prompt or is about to.
    fn is_answering(&self) -> bool {
        self.outbox.queue.any_sent() || !self.is_session_idle()
    }

    fn run_command(&mut self, command: LocalCommand, text: &str, uuid: Uuid) {
        let text = match command {
            LocalCommand::Clear => return self.clear(uuid),
            LocalCommand::Cost => self.outbox.frames.cost_in_words(),
            LocalCommand::Context => self.context_in_words(),
            LocalCommand::Rename => self.rename_in_words(text),
        };
        self.answer_command(command, uuid, &text);
    }

    /// Answers a command without the model.
    pub(super) fn answer_command(&mut self, command: LocalCommand, uuid: Uuid, text: &str) {
        let prompt = self.outbox.queue.take(uuid);
        let queued = self.outbox.queue.len();
        let init = self.init_fields();
        self.outbox.say(|frames| {
            let mut lines = vec![frames.init(init)];
            lines.extend(frames.local_answer(command, prompt, text, queued));
            lines
        });
    }

    /// The fields of `init`, for a turn without a session.
    fn init_fields(&self) -> Value {
        let Some(prepared) = &self.prepared else {
            return json!({});
        };
        let spec = prepared.spec();
        let mut tools: Vec<&str> = spec.offered_tools().map(|it| it.name.as_str()).collect();
        tools.extend(self.servers.tools().map(|(it, _)| it.name.as_str()));
        let environment = &spec.environment;
        let mut commands = environment.command_names();
        commands.extend(self.servers.commands().map(|command| command.name));
        json!({
            "cwd": environment.cwd, "tools": tools, "mcp_servers": self.servers.infos(),
            "model": self.model(), "permissionMode": self.mode().name(),
            "slash_commands": commands, "apiKeySource": environment.api_key_source,
            "claude_code_version": environment.version, "output_style": environment.output_style,
            "agents": environment.agents, "skills": environment.skills, "plugins": environment.plugins,
        })
    }

    /// Withdraws all waiting prompts. Returns the ids that their senders gave them.
    pub(super) fn withdraw_all(&mut self) -> Vec<String> {
        let named = self.outbox.queue.named();
        let queued: Vec<(Uuid, String)> = named
            .map(|(uuid, given)| (uuid, given.to_owned()))
            .collect();
        let taken_back = queued.into_iter().filter(|(uuid, _)| self.withdraw(*uuid));
        taken_back.map(|(_, given)| given).collect()
    }

    /// Withdraws a waiting prompt. Returns false if the session has already begun it: it then gets a result.
    pub(super) fn withdraw(&mut self, uuid: Uuid) -> bool {
        let is_begun = self.outbox.queue.is_sent(uuid)
            && (self.session.as_mut()).is_some_and(|session| !session.withdraw(uuid));
        if !is_begun {
            self.outbox.withdraw(uuid);
        }
        !is_begun
    }
}
