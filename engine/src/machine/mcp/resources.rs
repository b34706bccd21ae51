//! The tools with which the model lists and reads the resources of the session's servers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::{
    EffectId, RawJson, Spec,
    effect::Answer,
    permission::{Rule, Source},
    tool::{ToolCall, ToolDefinition, ToolResult},
};

use super::{ServerTable, server::Status};
use crate::machine::{
    Engine,
    io::{ConnectionId, Effect, Question},
    pending::Pending,
    routes::{ResourceTool, Route},
    running::ResourceCall,
};

/// The number of resources that a listing shows the model.
const MOST_LISTED: usize = 1_000;

#[derive(Deserialize)]
struct ListInput {
    server: Option<String>,
}

#[derive(Deserialize)]
struct ReadInput {
    server: String,
    uri: String,
}

impl ResourceTool {
    const ALL: [Self; 2] = [Self::List, Self::Read];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "ListMcpResourcesTool",
            Self::Read => "ReadMcpResourceTool",
        }
    }

    fn definition(self) -> ToolDefinition {
        let server = json!({"type": "string", "description": "The name of the server"});
        let (description, properties, required) = match self {
            Self::List => (
                "Lists the resources that the connected MCP servers have: files, records and other data that can be read with \
                 ReadMcpResourceTool. Name a server to see only its own.",
                json!({"server": server}),
                json!([]),
            ),
            Self::Read => (
                "Reads a resource of an MCP server. ListMcpResourcesTool says which there are; others can be read if their address \
                 is known.",
                json!({"server": server, "uri": {"type": "string", "description": "The address of the resource"}}),
                json!(["server", "uri"]),
            ),
        };
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let schema = RawJson::encode(&schema).unwrap_or_else(|_| RawJson::empty_object());
        ToolDefinition::new(self.name(), description, schema).read_only()
    }
}

impl ServerTable {
    /// The connected servers of the session that have resources.
    pub(super) fn with_resources(&self) -> BTreeMap<&str, ConnectionId> {
        let all = self.session.all.iter();
        all.filter(|(_, server)| {
            server.status == Status::Connected && !server.is_closed && server.offer.has_resources
        })
        .map(|(name, server)| (name.as_str(), server.connection))
        .collect()
    }

    /// Offers the tools for resources if there are any. They run unasked: whoever configured a server gave its resources, and deny
    /// rules take them away.
    pub(super) fn offer_resources(&self, spec: &mut Spec) {
        if self.with_resources().is_empty() {
            return;
        }
        for tool in ResourceTool::ALL {
            let definition = tool.definition();
            let tools = &mut spec.tools.definitions;
            if tools.iter().all(|known| known.name != definition.name) {
                tools.push(definition);
                let rule = Rule::parse(tool.name()).map(|rule| rule.from_source(Source::Program));
                spec.policy.permissions.rules.allow.extend(rule);
            }
        }
    }

    /// The routes to these tools, by name.
    pub(super) fn resource_routes(&self) -> impl Iterator<Item = (String, Route)> + use<> {
        let are_there = !self.with_resources().is_empty();
        let tools = ResourceTool::ALL.into_iter().filter(move |_| are_there);
        tools.map(|tool| (tool.name().to_owned(), Route::Resources(tool)))
    }
}

impl Engine {
    /// Runs a call of a tool for resources.
    pub(in crate::machine) fn call_resources(
        &mut self,
        id: EffectId,
        tool: ResourceTool,
        call: &ToolCall,
    ) {
        let begun = match tool {
            ResourceTool::List => self.list_resources(id, &call.input),
            ResourceTool::Read => self.read_for_model(id, &call.input),
        };
        if let Err(refusal) = begun {
            self.refuse_call(id, refusal);
        }
    }

    fn list_resources(&mut self, id: EffectId, input: &RawJson) -> Result<(), String> {
        let ListInput { server } = input.decode().map_err(|error| error.to_string())?;
        let mut asked: BTreeMap<String, ConnectionId> = (self.servers.with_resources().into_iter())
            .map(|(name, connection)| (name.to_owned(), connection))
            .collect();
        if let Some(server) = server {
            let connection = self.resource_server(&server)?;
            asked = BTreeMap::from([(server, connection)]);
        }
        let call = ResourceCall::List {
            waits_for: asked.len(),
            found: Vec::new(),
            failures: Vec::new(),
        };
        self.wait_for_resources(id, call);
        for (server, connection) in asked {
            let pending = Pending::Resources(id, server);
            self.effect(Effect::Ask(connection, Question::Resources), pending);
        }
        Ok(())
    }

    fn read_for_model(&mut self, id: EffectId, input: &RawJson) -> Result<(), String> {
        let ReadInput { server, uri } = input.decode().map_err(|error| error.to_string())?;
        let connection = self.resource_server(&server)?;
        self.wait_for_resources(id, ResourceCall::Read);
        let pending = Pending::Resources(id, server);
        self.effect(Effect::Ask(connection, Question::Resource(uri)), pending);
        Ok(())
    }

    /// The connection to a server by its name; else a message that names those there are.
    fn resource_server(&self, server: &str) -> Result<ConnectionId, String> {
        let all = self.servers.with_resources();
        all.get(server).copied().ok_or_else(|| {
            let names: Vec<&str> = all.keys().copied().collect();
            let names = names.join(", ");
            format!("No connected MCP server {server:?} has resources. Those that do: {names}.")
        })
    }

    fn wait_for_resources(&mut self, id: EffectId, call: ResourceCall) {
        if let Some(session) = &mut self.session {
            session.resource_calls.insert(id, call);
        }
    }

    /// Ends a call that waits for servers. Returns false if there is none.
    pub(in crate::machine) fn cancel_resources(&mut self, id: EffectId) -> bool {
        let calls = self.session.as_mut().map(|it| &mut it.resource_calls);
        let waited = calls.is_some_and(|calls| calls.remove(&id).is_some());
        if waited {
            self.answer_session(id, Answer::Cancelled);
        }
        waited
    }

    /// Handles what a server answered to such a call.
    pub(in crate::machine) fn resources_answered(
        &mut self,
        id: EffectId,
        server: &str,
        answer: Result<RawJson, String>,
    ) {
        let calls = self.session.as_mut().map(|it| &mut it.resource_calls);
        let Some(call) = calls.and_then(|calls| calls.get_mut(&id)) else {
            return; // nobody waits for it any more
        };
        let result = match call {
            ResourceCall::Read => read(server, answer),
            ResourceCall::List {
                waits_for,
                found,
                failures,
            } => {
                match answer.and_then(|listed| entries(server, &listed)) {
                    Ok(entries) => found.extend(entries),
                    Err(reason) => failures.push(format!("{server} gave no list: {reason}")),
                }
                *waits_for = waits_for.saturating_sub(1);
                if *waits_for > 0 {
                    return;
                }
                listing(found, failures)
            }
        };
        if let Some(session) = &mut self.session {
            session.resource_calls.remove(&id);
        }
        self.answer_session(id, Answer::Tool(result));
    }
}

/// The entries of a server's list, with its name.
fn entries(server: &str, listed: &RawJson) -> Result<Vec<Value>, String> {
    let listed: Vec<Map<String, Value>> = listed.decode().map_err(|error| error.to_string())?;
    let entry = |resource: Map<String, Value>| {
        let shown = ["uri", "name", "mimeType", "description"];
        let mut entry: Map<String, Value> = (resource.into_iter())
            .filter(|(key, _)| shown.contains(&key.as_str()))
            .collect();
        entry.insert("server".to_owned(), server.into());
        Value::Object(entry)
    };
    Ok(listed.into_iter().map(entry).collect())
}

/// The result of a listing (Agent SDK reference, `ListMcpResourcesOutput`).
fn listing(found: &mut Vec<Value>, failures: &[String]) -> ToolResult {
    let more = found.len().saturating_sub(MOST_LISTED);
    found.truncate(MOST_LISTED);
    let mut text = match (found.is_empty(), failures.is_empty()) {
        (true, true) => "There are no resources.".to_owned(),
        (true, false) => String::new(),
        (false, _) => Value::from(&found[..]).to_string(),
    };
    if more > 0 {
        text.push_str(&format!("\n… and {more} more: name a server."));
    }
    for failure in failures {
        text.push_str(&format!("\n{failure}"));
    }
    let is_error = found.is_empty() && !failures.is_empty();
    match is_error {
        true => ToolResult::error(text.trim().to_owned()),
        false => ToolResult {
            structured: RawJson::encode(&found).ok(),
            ..ToolResult::text(text)
        },
    }
}

/// The result of reading a resource (Agent SDK reference, `ReadMcpResourceOutput`).
pub(super) fn read(server: &str, answer: Result<RawJson, String>) -> ToolResult {
    #[derive(Deserialize)]
    struct Contents {
        contents: Vec<Map<String, Value>>,
    }
    let wrong = |reason: &str| {
        ToolResult::error(format!(
            "The MCP server {server} did not give the resource: {reason}"
        ))
    };
    let contents =
        match answer.and_then(|it| it.decode::<Contents>().map_err(|error| error.to_string())) {
            Ok(answer) => answer.contents,
            Err(reason) => return wrong(&reason),
        };
    let blocks: Vec<Value> = (contents.iter())
        .map(|resource| json!({"type": "resource", "resource": resource}))
        .collect();
    let shown = RawJson::encode(&json!({"content": blocks}));
    let shown = shown.and_then(|shown| ToolResult::from_mcp(&shown));
    // What is not text is in the result for the model only.
    let texts: Vec<Map<String, Value>> = (contents.into_iter())
        .map(|mut resource| {
            resource.remove("blob");
            resource
        })
        .collect();
    match shown {
        Ok(result) if result.content.is_empty() => {
            ToolResult::text("The resource is empty.".to_owned())
        }
        Ok(result) => ToolResult {
            structured: RawJson::encode(&json!({"contents": texts})).ok(),
            ..result
        },
        Err(error) => wrong(&error.to_string()),
    }
}
