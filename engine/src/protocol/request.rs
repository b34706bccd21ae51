//! The control requests that an SDK makes of the engine.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use windlass_core::{RawJson, permission::Mode};

use super::{initialize::Initialize, reply::ReplyError};

/// What an SDK wants. Fields that this version does not know are left aside.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// The first one: what the SDK brings along, what the engine offers.
    Initialize(Box<Initialize>),
    /// Stop what is running.
    Interrupt {
        /// Forget the prompts that wait, too.
        cancel_queued: bool,
    },
    /// Change the permission mode.
    SetPermissionMode(Mode),
    /// Change the model; none returns to the session's own.
    SetModel(Option<String>),
    /// Change how many tokens the model may think.
    SetMaxThinkingTokens(Option<u32>),
    /// How the MCP servers are doing.
    McpStatus,
    /// Connect to a server anew.
    McpReconnect(String),
    /// Take a server in or leave it out.
    McpToggle {
        /// The server.
        server: String,
        /// Whether it is to be there.
        enabled: bool,
    },
    /// The servers that were added while the session runs are these from now on.
    McpSetServers(BTreeMap<String, RawJson>),
    /// A server in the SDK's process says something of its own accord.
    McpMessage {
        /// The server.
        server: String,
        /// The JSON-RPC message.
        message: RawJson,
    },
    /// Files become again what they were when a prompt was sent.
    RewindFiles {
        /// The prompt's id.
        user_message_id: String,
        /// Only say what would change.
        dry_run: bool,
    },
    /// Stop a background task.
    StopTask(String),
    /// Let running calls go on in the background: one, or all.
    BackgroundTasks(Option<String>),
    /// Take a queued prompt back.
    CancelAsyncMessage(String),
    /// What fills the context.
    GetContextUsage,
    /// Settings as if they had been on the command line.
    ApplyFlagSettings(RawJson),
    /// The settings in force.
    GetSettings,
    /// The models that are known.
    ListModels,
    /// The version of the engine.
    GetBinaryVersion,
    /// What the session has cost, in words.
    GetSessionCost,
    /// What the session has used, in numbers.
    GetUsage,
    /// The permission rules in force.
    ListPermissionRules,
    /// The hooks in force.
    GetHooksListing,
    /// Give the session a title.
    RenameSession(String),
    /// Read a file of the workspace.
    ReadFile {
        /// The file, relative to the working directory or absolute.
        path: String,
        /// How much of it at most.
        max_bytes: Option<u64>,
        /// `base64` for files that are no text.
        encoding: Option<String>,
    },
    /// Files whose names begin in some way.
    FileSuggestions(String),
    /// The SDK has read a file for the model.
    SeedReadState {
        /// The file.
        path: String,
    },
    /// Read the skills anew.
    ReloadSkills,
}

impl Request {
    /// Reads the `request` of a control request.
    ///
    /// # Errors
    /// The reply it gets: a subtype that is not supported, or fields that are not usable.
    pub fn read(raw: &RawJson) -> Result<Self, ReplyError> {
        #[derive(Deserialize)]
        struct Head {
            subtype: String,
        }
        let Head { subtype } = raw
            .decode()
            .map_err(|_| ReplyError::new("the control request has no `subtype`"))?;
        let fields = Fields {
            subtype: &subtype,
            raw,
        };
        Ok(match subtype.as_str() {
            "initialize" => Self::Initialize(Box::new(fields.all()?)),
            "interrupt" => Self::Interrupt {
                cancel_queued: fields.all::<Interrupt>()?.cancel_queued.unwrap_or_default(),
            },
            "set_permission_mode" => Self::SetPermissionMode(mode(&fields.all::<SetMode>()?.mode)?),
            "set_model" => {
                let model = fields.all::<SetModel>()?.model;
                Self::SetModel(model.filter(|model| !model.is_empty() && model != "default"))
            }
            "set_max_thinking_tokens" => {
                Self::SetMaxThinkingTokens(fields.all::<SetThinking>()?.max_thinking_tokens)
            }
            "mcp_status" => Self::McpStatus,
            "mcp_reconnect" => Self::McpReconnect(fields.all::<Server>()?.server_name),
            "mcp_toggle" => {
                let Toggle {
                    server_name: server,
                    enabled,
                } = fields.all()?;
                Self::McpToggle { server, enabled }
            }
            "mcp_set_servers" => Self::McpSetServers(fields.all::<Servers>()?.servers),
            "mcp_message" => {
                let McpMessage {
                    server_name: server,
                    message,
                } = fields.all()?;
                Self::McpMessage { server, message }
            }
            "rewind_files" => {
                let Rewind {
                    user_message_id,
                    dry_run,
                } = fields.all()?;
                Self::RewindFiles {
                    user_message_id,
                    dry_run: dry_run.unwrap_or_default(),
                }
            }
            "stop_task" => Self::StopTask(fields.all::<Task>()?.task_id),
            "background_tasks" => Self::BackgroundTasks(fields.all::<Background>()?.tool_use_id),
            "cancel_async_message" => {
                Self::CancelAsyncMessage(fields.all::<CancelMessage>()?.message_uuid)
            }
            "get_context_usage" => Self::GetContextUsage,
            "apply_flag_settings" => Self::ApplyFlagSettings(fields.all::<Settings>()?.settings),
            "get_settings" => Self::GetSettings,
            "list_models" => Self::ListModels,
            "get_binary_version" => Self::GetBinaryVersion,
            "get_session_cost" => Self::GetSessionCost,
            "get_usage" => Self::GetUsage,
            "list_permission_rules" => Self::ListPermissionRules,
            "get_hooks_listing" => Self::GetHooksListing,
            "rename_session" => Self::RenameSession(fields.all::<Rename>()?.title),
            "read_file" => {
                let ReadFile {
                    path,
                    max_bytes,
                    encoding,
                } = fields.all()?;
                Self::ReadFile {
                    path,
                    max_bytes,
                    encoding,
                }
            }
            "file_suggestions" => Self::FileSuggestions(fields.all::<Query>()?.query),
            "seed_read_state" => Self::SeedReadState {
                path: fields.all::<Seed>()?.path,
            },
            "reload_skills" => Self::ReloadSkills,
            _ => return Err(ReplyError::unsupported(&subtype)),
        })
    }
}

struct Fields<'a> {
    subtype: &'a str,
    raw: &'a RawJson,
}

impl Fields<'_> {
    fn all<T: DeserializeOwned>(&self) -> Result<T, ReplyError> {
        self.raw.decode().map_err(|error| {
            ReplyError::coded("invalid_request", format!("{}: {error}", self.subtype))
        })
    }
}

fn mode(name: &str) -> Result<Mode, ReplyError> {
    Mode::parse(name).ok_or_else(|| {
        let mut names: Vec<&str> = Mode::ALL.into_iter().map(Mode::name).collect();
        names.sort_unstable();
        let text = format!(
            "Cannot set permission mode: must be one of {}",
            names.join(", ")
        );
        ReplyError::coded("invalid_mode", text)
    })
}

#[derive(Deserialize)]
struct Interrupt {
    cancel_queued: Option<bool>,
}

#[derive(Deserialize)]
struct SetMode {
    mode: String,
}

#[derive(Deserialize)]
struct SetModel {
    model: Option<String>,
}

#[derive(Deserialize)]
struct SetThinking {
    max_thinking_tokens: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    server_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Toggle {
    server_name: String,
    enabled: bool,
}

#[derive(Deserialize)]
struct Servers {
    #[serde(default)]
    servers: BTreeMap<String, RawJson>,
}

#[derive(Deserialize)]
struct McpMessage {
    server_name: String,
    message: RawJson,
}

#[derive(Deserialize)]
struct Rewind {
    user_message_id: String,
    dry_run: Option<bool>,
}

#[derive(Deserialize)]
struct Task {
    task_id: String,
}

#[derive(Deserialize)]
struct Background {
    tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct CancelMessage {
    message_uuid: String,
}

#[derive(Deserialize)]
struct Settings {
    settings: RawJson,
}

#[derive(Deserialize)]
struct Rename {
    title: String,
}

#[derive(Deserialize)]
struct ReadFile {
    path: String,
    max_bytes: Option<u64>,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct Query {
    #[serde(default)]
    query: String,
}

#[derive(Deserialize)]
struct Seed {
    path: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Request, ReplyError> {
        Request::read(&RawJson::parse(json).unwrap())
    }

    #[test]
    fn every_request_of_the_protocol_is_read() {
        // One line a subtype, as the official SDKs send it.
        for json in [
            r#"{"subtype":"initialize","hooks":null}"#,
            r#"{"subtype":"interrupt"}"#,
            r#"{"subtype":"interrupt","cancel_queued":true}"#,
            r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#,
            r#"{"subtype":"set_model","model":null}"#,
            r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":1000}"#,
            r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null,"thinking_display":"x"}"#,
            r#"{"subtype":"mcp_status","liveReply":true}"#,
            r#"{"subtype":"mcp_reconnect","serverName":"calc"}"#,
            r#"{"subtype":"mcp_toggle","serverName":"calc","enabled":false}"#,
            r#"{"subtype":"mcp_set_servers","servers":{"a":{"type":"sdk","name":"a"}}}"#,
            r#"{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}"#,
            r#"{"subtype":"rewind_files","user_message_id":"u"}"#,
            r#"{"subtype":"rewind_files","user_message_id":"u","dry_run":true}"#,
            r#"{"subtype":"stop_task","task_id":"t"}"#,
            r#"{"subtype":"background_tasks"}"#,
            r#"{"subtype":"background_tasks","tool_use_id":"toolu_1"}"#,
            r#"{"subtype":"cancel_async_message","message_uuid":"x"}"#,
            r#"{"subtype":"get_context_usage","detail":"summary"}"#,
            r#"{"subtype":"apply_flag_settings","settings":{"model":"m"}}"#,
            r#"{"subtype":"get_settings"}"#,
            r#"{"subtype":"list_models"}"#,
            r#"{"subtype":"get_binary_version"}"#,
            r#"{"subtype":"get_session_cost"}"#,
            r#"{"subtype":"get_usage"}"#,
            r#"{"subtype":"list_permission_rules"}"#,
            r#"{"subtype":"get_hooks_listing"}"#,
            r#"{"subtype":"rename_session","title":"t","source":"user"}"#,
            r#"{"subtype":"read_file","path":"a.txt"}"#,
            r#"{"subtype":"file_suggestions","query":"he"}"#,
            r#"{"subtype":"seed_read_state","path":"a.txt","mtime":1}"#,
            r#"{"subtype":"reload_skills"}"#,
        ] {
            assert!(read(json).is_ok(), "{json}: {:?}", read(json));
        }
    }

    #[test]
    fn a_reset_of_the_model_has_three_spellings() {
        for json in [
            r#"{"subtype":"set_model"}"#,
            r#"{"subtype":"set_model","model":null}"#,
            r#"{"subtype":"set_model","model":"default"}"#,
        ] {
            assert_eq!(read(json), Ok(Request::SetModel(None)), "{json}");
        }
        assert_eq!(
            read(r#"{"subtype":"set_model","model":"m"}"#),
            Ok(Request::SetModel(Some("m".to_owned())))
        );
    }

    #[test]
    fn what_is_unknown_or_wrong_gets_a_reply_that_says_so() {
        let error = |json: &str| read(json).unwrap_err();
        assert_eq!(
            error(r#"{"subtype":"claim_session"}"#).code,
            Some("unsupported_request")
        );
        assert_eq!(error("{}").text, "the control request has no `subtype`");
        let bogus = error(r#"{"subtype":"set_permission_mode","mode":"bogus"}"#);
        assert_eq!(bogus.code, Some("invalid_mode"));
        assert!(
            bogus
                .text
                .contains("acceptEdits, bypassPermissions, default"),
            "{bogus}"
        );
        let missing = error(r#"{"subtype":"stop_task"}"#);
        assert_eq!(missing.code, Some("invalid_request"));
        assert!(
            missing.text.contains("stop_task") && missing.text.contains("task_id"),
            "{missing}"
        );
    }
}
