//! The control requests that an SDK makes of the engine.

mod fields;

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use windlass_core::{RawJson, permission::Mode, spec::ThinkingDisplay};

use self::fields::*;
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
    /// Change how the model thinks.
    SetThinking {
        /// How many tokens it may think; inside, nothing returns to what the session began with. Outside, nothing leaves
        /// it as it is.
        tokens: Option<Option<u32>>,
        /// What is shown of it, likewise.
        display: Option<Option<ThinkingDisplay>>,
    },
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
    /// Write settings into a file, and let them hold.
    UpdateSettings {
        /// The file.
        file: SettingsFile,
        /// What to write, by key.
        settings: BTreeMap<String, String>,
    },
    /// Give the session a title.
    RenameSession {
        /// The title.
        title: String,
        /// The session it is meant for; nothing for whichever runs.
        session_id: Option<String>,
    },
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
        /// When it was changed last, as the SDK knows it: milliseconds since 1970, rounded down.
        mtime: i64,
    },
    /// Read the skills anew.
    ReloadSkills,
    /// Read the output styles anew.
    ReloadOutputStyles,
    /// Read plugins, and with them commands and agents, anew.
    ReloadPlugins {
        /// Load these plugins, too.
        adds: bool,
        /// Not while anything runs.
        refuse_if_busy: bool,
    },
    /// Call a tool of an MCP server, past the model.
    McpCall {
        /// By the name by which the model calls it.
        tool: String,
        /// Its input.
        arguments: RawJson,
        /// How long it may take, in milliseconds.
        timeout_ms: Option<u32>,
    },
    /// Read a resource of an MCP server that shows something (`ui://…`).
    McpReadResource {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
    },
    /// How calls of one server's tools are decided, where the mode would let them pass.
    SetMcpMode {
        /// The server.
        server: String,
        /// Somebody is asked about each of them; false for no exception.
        asks: bool,
    },
    /// The end of what a background command has put out.
    GetTaskOutput(String),
    /// Make a folder below the working directory part of the workspace.
    RegisterRepoRoot(String),
    /// Somebody watches what the SDK passes on, or nobody does.
    SetHasSubscribers,
}

/// A settings file that an SDK may write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SettingsFile {
    /// The person's, for this project.
    LocalSettings,
    /// The person's, for all projects.
    UserSettings,
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
                let SetThinking {
                    max_thinking_tokens: tokens,
                    thinking_display: display,
                } = fields.all()?;
                let display = display.map(|name| name.map(|name| shown(&name)).transpose());
                Self::SetThinking {
                    tokens,
                    display: display.transpose()?,
                }
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
            "update_settings" => {
                let UpdateSettings { source, settings } = fields.all()?;
                Self::UpdateSettings {
                    file: source,
                    settings,
                }
            }
            "rename_session" => {
                let Rename { title, session_id } = fields.all()?;
                Self::RenameSession { title, session_id }
            }
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
            "seed_read_state" => {
                let Seed { path, mtime } = fields.all()?;
                // As numbers of JavaScript come: whole, or nearly.
                let mtime = mtime as i64;
                Self::SeedReadState { path, mtime }
            }
            "reload_skills" => Self::ReloadSkills,
            "reload_output_styles" => Self::ReloadOutputStyles,
            "reload_plugins" => {
                let ReloadPlugins {
                    add_plugins,
                    refuse_if_busy,
                } = fields.all()?;
                Self::ReloadPlugins {
                    adds: !add_plugins.unwrap_or_default().is_empty(),
                    refuse_if_busy: refuse_if_busy.unwrap_or_default(),
                }
            }
            "mcp_call" => mcp_call(fields.all()?)?,
            "mcp_read_resource" => {
                let ReadResource {
                    server_name: server,
                    uri,
                } = fields.all()?;
                Self::McpReadResource { server, uri }
            }
            "set_mcp_permission_mode_override" => {
                let SetMcpMode {
                    server_name: server,
                    mode,
                } = fields.all()?;
                let asks = mcp_mode(mode.as_deref())?;
                Self::SetMcpMode { server, asks }
            }
            "get_task_output" => Self::GetTaskOutput(fields.all::<Task>()?.task_id),
            "register_repo_root" => Self::RegisterRepoRoot(fields.all::<RepoRoot>()?.directory),
            "set_has_subscribers" => Self::SetHasSubscribers,
            "set_color" => {
                return Err(ReplyError::coded(
                    "unsupported_request",
                    "set_color: this engine draws nothing that could have a colour",
                ));
            }
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

fn shown(name: &str) -> Result<ThinkingDisplay, ReplyError> {
    ThinkingDisplay::parse(name).ok_or_else(|| {
        ReplyError::coded(
            "invalid_thinking_display",
            format!("thinking_display is summarized or omitted, not `{name}`"),
        )
    })
}

/// What is asked for beside the call itself and cannot be had must not be passed over: the caller relies on it.
fn mcp_call(call: McpCall) -> Result<Request, ReplyError> {
    let cannot = match &call {
        McpCall {
            check_permissions: Some(true),
            ..
        } => Some("check_permissions: calls of the SDK's own are not judged here"),
        McpCall {
            input_files: Some(_),
            ..
        }
        | McpCall {
            output_files: Some(_),
            ..
        }
        | McpCall {
            expires_at: Some(_),
            ..
        } => Some("input_files, output_files, expires_at: files are not staged here"),
        _ => None,
    };
    if let Some(what) = cannot {
        let text = format!("The tool did not run: mcp_call has no {what}");
        return Err(ReplyError::coded("unsupported_request", text));
    }
    Ok(Request::McpCall {
        tool: call.tool,
        arguments: call.arguments.unwrap_or_else(RawJson::empty_object),
        timeout_ms: call.timeout_ms.map(|ms| ms.clamp(1000, 600_000)),
    })
}

/// Whether somebody is asked.
fn mcp_mode(mode: Option<&str>) -> Result<bool, ReplyError> {
    match mode {
        None => Ok(false),
        Some("default") => Ok(true),
        Some(mode) => Err(ReplyError::coded(
            "invalid_mode",
            format!(
                "Cannot set the permission mode of an MCP server: must be default or null, not {mode} (no model judges calls here)"
            ),
        )),
    }
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
            r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":null,"thinking_display":"omitted"}"#,
            r#"{"subtype":"update_settings","source":"localSettings","settings":{"outputStyle":"Learning"}}"#,
            r#"{"subtype":"reload_output_styles"}"#,
            r#"{"subtype":"reload_plugins","refuse_if_busy":true}"#,
            r#"{"subtype":"mcp_call","tool":"mcp__calc__add","arguments":{"a":1},"timeout_ms":5}"#,
            r#"{"subtype":"mcp_read_resource","serverName":"calc","uri":"ui://page"}"#,
            r#"{"subtype":"set_mcp_permission_mode_override","serverName":"calc","mode":"default"}"#,
            r#"{"subtype":"set_mcp_permission_mode_override","serverName":"calc","mode":null}"#,
            r#"{"subtype":"get_task_output","task_id":"t"}"#,
            r#"{"subtype":"register_repo_root","directory":"sub"}"#,
            r#"{"subtype":"set_has_subscribers","has_subscribers":false}"#,
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
    fn a_field_that_is_not_there_and_one_that_is_null_are_two_things() {
        let set = |json: &str| match read(json) {
            Ok(Request::SetThinking { tokens, display }) => (tokens, display),
            other => panic!("{other:?}"),
        };
        let read = |rest: &str| set(&format!(r#"{{"subtype":"set_max_thinking_tokens"{rest}}}"#));
        assert_eq!(read(""), (None, None));
        assert_eq!(read(r#","max_thinking_tokens":null"#), (Some(None), None));
        assert_eq!(
            read(r#","max_thinking_tokens":9,"thinking_display":null"#),
            (Some(Some(9)), Some(None))
        );
        assert_eq!(
            read(r#","thinking_display":"summarized""#),
            (None, Some(Some(ThinkingDisplay::Summarized)))
        );
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_the_reason() {
        for (json, word) in [
            (
                r#"{"subtype":"mcp_call","tool":"t","check_permissions":true}"#,
                "did not run",
            ),
            (
                r#"{"subtype":"mcp_call","tool":"t","output_files":[]}"#,
                "staged",
            ),
            (
                r#"{"subtype":"set_mcp_permission_mode_override","serverName":"s","mode":"auto"}"#,
                "auto",
            ),
            (r#"{"subtype":"set_color","color":"red"}"#, "colour"),
            (
                r#"{"subtype":"set_max_thinking_tokens","thinking_display":"highlights"}"#,
                "highlights",
            ),
            (
                r#"{"subtype":"update_settings","source":"projectSettings","settings":{}}"#,
                "projectSettings",
            ),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.code.is_some() && error.text.contains(word), "{error}");
        }
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
