//! What a person's prompt takes from MCP servers: a prompt of a server as a command (`/mcp__server__prompt words`), or resources that
//! are named in it (`@server:uri`).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::{
    RawJson, Uuid, initialization::SlashCommand, permission::server_tool_name, tool::ToolResult,
};

use super::{
    ServerTable,
    resources::read,
    server::{Kind, Status},
};
use crate::{
    machine::{
        Engine,
        io::{ConnectionId, Effect, Output, Question},
        pending::Pending,
        routes::ResourceTool,
    },
    mcp::ServerPrompt,
    project::{invoked, words},
};

/// The most resources that are read for one prompt; further ones stay names.
const MOST_NAMED: usize = 16;

/// The prompt at the head of the queue that servers were asked about.
#[derive(Debug)]
pub(super) struct Expanding {
    prompt: Uuid,
    /// What was asked, with what was answered.
    parts: Vec<(Part, Option<Result<RawJson, String>>)>,
}

/// Something that a prompt takes from a server.
#[derive(Debug)]
enum Part {
    /// The prompt of the server that the command stands for.
    Command,
    /// A resource of the server of this name.
    Resource(String),
}

/// What servers make of a person's prompt.
#[derive(Debug)]
pub(in crate::machine) enum Expansion {
    /// It takes nothing from them.
    Nothing,
    /// They have yet to answer.
    Awaited,
    /// The content in its place.
    Instead(Vec<RawJson>),
    /// Content behind its own.
    Behind(Vec<RawJson>),
    /// The server of a command did not give it; holds a sentence.
    Failed(String),
}

/// A part of a prompt, with the question to a server about it.
type Asked = (Part, ConnectionId, Question);

impl ServerTable {
    /// The prompts of the session's connected servers, each with the name of the command.
    fn prompts(&self) -> impl Iterator<Item = (String, ConnectionId, &ServerPrompt)> {
        let all = self.session.all.iter();
        let usable = all.filter(|(_, server)| {
            server.kind == Kind::Host && server.status == Status::Connected && !server.is_closed
        });
        usable.flat_map(|(name, server)| {
            let prompts = server.offer.prompts.iter();
            prompts.map(move |prompt| {
                let command = server_tool_name(name, &prompt.name);
                (command, server.connection, prompt)
            })
        })
    }

    /// The commands that servers offer.
    pub(in crate::machine) fn commands(&self) -> impl Iterator<Item = SlashCommand> {
        self.prompts().map(|(name, _, prompt)| SlashCommand {
            name,
            description: prompt.description.clone(),
            argument_hint: (prompt.arguments.iter())
                .map(|argument| format!("[{argument}]"))
                .collect::<Vec<_>>()
                .join(" "),
        })
    }

    /// Whether a text is a command of a server.
    pub(in crate::machine) fn is_command(&self, text: &str) -> bool {
        self.command(text).is_some()
    }

    /// What to ask for a text that is a command of a server.
    fn command(&self, text: &str) -> Option<Asked> {
        let (name, given) = invoked(text)?;
        let (_, connection, prompt) = self.prompts().find(|(command, ..)| command == name)?;
        let question = Question::Prompt {
            name: prompt.name.clone(),
            arguments: arguments(prompt, given),
        };
        Some((Part::Command, connection, question))
    }
}

impl Engine {
    /// Asks servers for what a prompt takes from them, or returns what they answered.
    pub(in crate::machine) fn expanded_by_servers(
        &mut self,
        prompt: Uuid,
        text: &str,
    ) -> Expansion {
        if let Some(expanding) = self.servers.expanding.take_if(|it| it.prompt == prompt) {
            return match expanding.parts.iter().any(|(_, answer)| answer.is_none()) {
                true => {
                    self.servers.expanding = Some(expanding);
                    Expansion::Awaited
                }
                false => expanding.into_expansion(),
            };
        }
        let asked = match self.servers.command(text) {
            Some(command) => vec![command],
            None => self.named_resources(text),
        };
        if asked.is_empty() {
            return Expansion::Nothing;
        }
        let mut parts = Vec::new();
        for (number, (part, connection, question)) in asked.into_iter().enumerate() {
            parts.push((part, None));
            let pending = Pending::Prompt(prompt, number);
            self.effect(Effect::Ask(connection, question), pending);
        }
        self.servers.expanding = Some(Expanding { prompt, parts });
        Expansion::Awaited
    }

    /// Handles a server's answer about a part of a prompt.
    pub(in crate::machine) fn prompt_part_given(
        &mut self,
        prompt: Uuid,
        number: usize,
        answer: Result<RawJson, String>,
    ) {
        let expanding = self.servers.expanding.as_mut();
        let expanding = expanding.filter(|expanding| expanding.prompt == prompt);
        if let Some((_, place)) = expanding.and_then(|it| it.parts.get_mut(number)) {
            *place = Some(answer);
        }
    }

    /// The resources that a text names as `@server:uri`, unless a rule takes them away.
    fn named_resources(&self, text: &str) -> Vec<Asked> {
        let spec = self.prepared.as_ref().map(|prepared| prepared.spec());
        let is_denied = spec.is_none_or(|spec| {
            let rules = &spec.policy.permissions.rules;
            rules.denies_tool(ResourceTool::Read.name())
        });
        if is_denied || !text.contains('@') {
            return Vec::new();
        }
        let servers = self.servers.with_resources();
        let mut named = Vec::new();
        for word in text.split_whitespace() {
            let word = word.trim_end_matches(['.', ',', ';', '!', '?', ')']);
            let parts = word.strip_prefix('@').and_then(|word| word.split_once(':'));
            if let Some((server, uri)) = parts
                && let Some(connection) = servers.get(server)
                && !uri.is_empty()
                && !named.contains(&(server, uri, *connection))
            {
                named.push((server, uri, *connection));
            }
        }
        let named = named.into_iter().take(MOST_NAMED);
        named
            .map(|(server, uri, connection)| {
                let part = Part::Resource(server.to_owned());
                (part, connection, Question::Resource(uri.to_owned()))
            })
            .collect()
    }

    /// Reports a command that its server did not expand, as the result of the prompt. Returns false for a program, whose prompts
    /// all go to the model: it is warned.
    pub(in crate::machine) fn refuse_command(&mut self, prompt: Uuid, problem: &str) -> bool {
        if !self.launch.face.has_lines() {
            self.outbox.push(Output::Warning(problem.to_owned()));
            return false;
        }
        self.outbox.withdraw(prompt);
        self.outbox.refuse(problem);
        true
    }
}

impl Expanding {
    fn into_expansion(self) -> Expansion {
        let mut behind = Vec::new();
        for (part, answer) in self.parts {
            let answer = answer.unwrap_or_else(|| Err("it did not answer".to_owned()));
            match part {
                Part::Command => {
                    return match answer.and_then(|answer| content(&answer)) {
                        Ok(content) => Expansion::Instead(content),
                        Err(reason) => Expansion::Failed(format!(
                            "the MCP server did not give the prompt of this command: {reason}"
                        )),
                    };
                }
                // One that was not given is told as well: the model would wonder where it is.
                Part::Resource(server) => {
                    let blocks = read(&server, answer).content;
                    behind.extend(
                        blocks
                            .iter()
                            .filter_map(|block| RawJson::encode(block).ok()),
                    );
                }
            }
        }
        Expansion::Behind(behind)
    }
}

/// The words behind a command, by the names of the prompt's arguments in their order. What is left goes to the last one.
fn arguments(prompt: &ServerPrompt, given: &str) -> BTreeMap<String, String> {
    let mut words = words(given);
    let count = prompt.arguments.len();
    if count > 0 && words.len() > count {
        let rest = words.split_off(count - 1);
        words.push(rest.join(" "));
    }
    prompt.arguments.iter().cloned().zip(words).collect()
}

/// The content of all messages of an answer to `prompts/get`, in the form of the Messages API.
fn content(answer: &RawJson) -> Result<Vec<RawJson>, String> {
    #[derive(Deserialize)]
    struct Given {
        messages: Vec<Message>,
    }
    #[derive(Deserialize)]
    struct Message {
        content: Value,
    }
    let given: Given = answer.decode().map_err(|error| error.to_string())?;
    let blocks: Vec<Value> = (given.messages.into_iter())
        .map(|message| message.content)
        .collect();
    if blocks.is_empty() {
        return Err("it has no messages".to_owned());
    }
    let shown = RawJson::encode(&json!({"content": blocks}));
    let shown = shown.and_then(|shown| ToolResult::from_mcp(&shown));
    let blocks = shown.map_err(|error| error.to_string())?.content;
    let encoded: Result<Vec<RawJson>, _> = blocks.iter().map(RawJson::encode).collect();
    encoded.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(arguments: &[&str]) -> ServerPrompt {
        ServerPrompt {
            name: "review".to_owned(),
            description: String::new(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn words_go_to_arguments_in_their_order_and_the_last_one_takes_the_rest() {
        let given = arguments(&prompt(&["file", "focus"]), r#""a b.rs" speed and size"#);
        assert_eq!(given["file"], "a b.rs");
        assert_eq!(given["focus"], "speed and size");
        assert_eq!(arguments(&prompt(&["file"]), " ").len(), 0);
        assert_eq!(arguments(&prompt(&[]), "more than wanted").len(), 0);
    }

    #[test]
    fn an_answer_without_content_is_none() {
        for answer in [
            r#"{"messages": []}"#,
            "{}",
            r#"{"messages": [{"content": 7}]}"#,
        ] {
            assert!(
                content(&RawJson::parse(answer).unwrap()).is_err(),
                "{answer}"
            );
        }
    }
}
