//! User messages: in their order into the session, but for those that the engine answers itself.

use serde_json::{Value, json};
use windlass_core::{
    Input, Prompt, Uuid,
    hook::input::UserPromptExpansion,
    permission::{PermissionUpdate, Rule},
};
use windlass_engine::{
    project::Invocation,
    protocol::{
        frames::{Frames, LocalCommand},
        inbound::UserFrame,
        initialize::Initialize,
        reply::Reply,
    },
};

use super::{actor::Engine, surroundings::resolved};
use crate::agent::fresh_uuid;

/// Something that was sent and is not under way yet.
pub(super) enum Waiting {
    /// A user message, under the id that it has in the session.
    Prompt(Box<UserFrame>, Uuid),
    /// A line that cannot be used, in the place of what it should have been.
    Unusable(String),
}

impl Engine {
    /// The SDK says something to the model.
    pub(super) async fn prompted(&mut self, frame: UserFrame) {
        if let Some(given) = frame.uuid.clone().filter(|given| !given.is_empty())
            && !self.seen.insert(given)
        {
            return; // said twice, as after a lost connection
        }
        if frame.blocks().is_none() {
            let problem =
                "a user message was not read: its content is neither a text nor a list of blocks";
            self.waiting
                .push_back(Waiting::Unusable(problem.to_owned()));
            return;
        }
        let uuid = frame.parsed_uuid().unwrap_or_else(fresh_uuid);
        if let Some(keeper) = &self.keeper
            && keeper.knows(uuid).await
        {
            return; // heard before the session was taken up
        }
        self.output
            .say(|frames| frames.accepted(&frame, uuid))
            .await;
        self.waiting
            .push_back(Waiting::Prompt(Box::new(frame), uuid));
        // Who sends no `initialize` has nothing to bring along.
        let prepared = match self.refused.clone() {
            Some(problem) => Err(problem),
            None => self.prepare(Initialize::default()).await,
        };
        if let Some(title) = self.title.take()
            && let Reply::Error(error) = self.keep_title(&title).await
        {
            self.warn(&format!("the title is not kept: {error}"));
        }
        if let Err(problem) = prepared {
            self.waiting.clear();
            self.output.say(|frames| frames.refusal(&problem)).await;
        }
    }

    /// Sends on what can be sent on.
    pub(super) async fn pump(&mut self) {
        loop {
            if self.is_about_to_be_renewed {
                return; // what comes now is for the session that takes its place
            }
            let is_answering = self.is_answering().await;
            if !is_answering && std::mem::take(&mut self.has_commands_model) {
                self.tell(Input::SetModel(self.chosen_model.clone()));
            }
            let Some(next) = self.waiting.front() else {
                return;
            };
            let command = match next {
                Waiting::Unusable(problem) => {
                    if is_answering {
                        return;
                    }
                    let problem = problem.clone();
                    self.waiting.pop_front();
                    self.output.say(|frames| frames.refusal(&problem)).await;
                    continue;
                }
                Waiting::Prompt(frame, uuid) if !frame.client_composed => {
                    let text = frame.plain_text();
                    text.as_deref()
                        .and_then(LocalCommand::parse)
                        .map(|command| (command, *uuid))
                }
                Waiting::Prompt(..) => None,
            };
            if let Some((command, uuid)) = command {
                if is_answering {
                    return self.look_again();
                }
                self.waiting.pop_front();
                self.run_command(command, uuid).await;
                continue;
            }
            let model = match self.waiting.front() {
                Some(Waiting::Prompt(frame, _)) => self.invoked(frame).and_then(|it| it.model),
                _ => None,
            };
            if model.is_some() && is_answering {
                // Another model answers it: it has a turn of its own.
                return self.look_again();
            }
            let is_ready = self.session().is_some();
            if !is_ready {
                return; // servers are waited for
            }
            let next = self.waiting.pop_front();
            if let Some(Waiting::Prompt(frame, uuid)) = next
                && let Some(mut prompt) = frame.to_prompt(uuid, is_answering)
                && let Some(live) = &self.live
            {
                if let Some(invocation) = self.invoked(&frame) {
                    prompt.content = Prompt::text(&invocation.text).content;
                    prompt.expanded_from = self.expansion(&frame);
                    if let (Some(model), Some(prepared)) = (model, &self.prepared) {
                        let spec = &prepared.blueprint.spec;
                        live.send(Input::SetModel(Some(resolved(spec, &model))));
                        self.has_commands_model = true;
                    }
                    if !invocation.allowed_tools.is_empty() {
                        let rules = invocation.allowed_tools.iter().map(Rule::value).collect();
                        let allow = PermissionUpdate::allow_in_session(rules);
                        live.send(Input::UpdatePermissions(vec![allow]));
                    }
                }
                live.send(Input::Prompt(prompt));
            }
        }
    }

    /// The command or skill that a prompt begins with.
    fn invoked(&self, frame: &UserFrame) -> Option<Invocation> {
        if frame.client_composed {
            return None;
        }
        let project = &self.prepared.as_ref()?.blueprint.surroundings.project;
        project.expand(&frame.plain_text()?)
    }

    /// What hooks are told of it.
    fn expansion(&self, frame: &UserFrame) -> Option<UserPromptExpansion> {
        let project = &self.prepared.as_ref()?.blueprint.surroundings.project;
        project.expansion(&frame.plain_text()?)
    }

    /// Whether the session answers something, or is about to.
    async fn is_answering(&self) -> bool {
        let waiting = self
            .waiting
            .iter()
            .filter(|next| matches!(next, Waiting::Prompt(..)))
            .count();
        let submitted = self.output.frames().await.accepted_count() > waiting;
        submitted || !self.is_session_idle()
    }

    async fn run_command(&mut self, command: LocalCommand, uuid: Uuid) {
        let text = match command {
            LocalCommand::Clear => {
                self.remove_worktrees().await;
                self.session_ends("clear").await;
                let new = self.begin_anew().await;
                self.output.say(|frames| frames.reset(new, uuid)).await;
                String::new()
            }
            LocalCommand::Cost => self.output.frames().await.cost_in_words(),
            LocalCommand::Context => self.context_in_words(),
        };
        let init = self.init_fields();
        self.output
            .say(|frames| {
                let mut lines = vec![frames.init(init)];
                lines.extend(frames.local_answer(command, uuid, &text));
                lines
            })
            .await;
    }

    /// The fields of `init`, for a turn that no session begins.
    fn init_fields(&self) -> Value {
        let Some(prepared) = &self.prepared else {
            return json!({});
        };
        let spec = &prepared.blueprint.spec;
        let mut tools: Vec<String> = spec.offered_tools().map(|tool| tool.name.clone()).collect();
        tools.extend(self.servers.tools().map(|(definition, _)| definition.name));
        let environment = &spec.environment;
        json!({
            "cwd": environment.cwd, "tools": tools, "mcp_servers": self.server_infos(),
            "model": self.model(), "permissionMode": self.mode().name(),
            "slash_commands": environment.command_names(), "apiKeySource": environment.api_key_source,
            "claude_code_version": environment.version, "output_style": environment.output_style,
            "agents": environment.agents, "skills": environment.skills, "plugins": environment.plugins,
        })
    }

    /// Takes back what waits: the ids that its senders gave it.
    pub(super) async fn withdraw_all(&mut self) -> Vec<String> {
        let queued: Vec<(Uuid, String)> = {
            let frames = self.output.frames().await;
            frames
                .queued()
                .map(|(uuid, given)| (uuid, given.to_owned()))
                .collect()
        };
        for (uuid, _) in &queued {
            self.withdraw(*uuid).await;
        }
        queued.into_iter().map(|(_, given)| given).collect()
    }

    /// Takes back a prompt that waits.
    pub(super) async fn withdraw(&mut self, uuid: Uuid) {
        self.waiting
            .retain(|next| !matches!(next, Waiting::Prompt(_, waiting) if *waiting == uuid));
        if let Some(live) = &self.live {
            live.send(Input::Withdraw(uuid));
        }
        self.output
            .say(|frames: &mut Frames| frames.withdrawn(uuid))
            .await;
    }
}
