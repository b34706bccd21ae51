//! The control requests of an SDK.

mod fields;

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use windlass_core::{RawJson, permission::Mode, spec::ThinkingDisplay};

use self::fields::*;
use super::initialize::{GivenPlugin, Initialize};
use super::reply::ReplyError;

/// A control request. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// The first request: data from the SDK; the reply is the engine's offer.
    Initialize(Box<Initialize>),
    /// Stop the running turn.
    Interrupt {
        /// Also withdraw the waiting prompts.
        cancel_queued: bool,
    },
    /// Change the permission mode.
    SetPermissionMode(Mode),
    /// Change the model; `None` returns to the session's own.
    SetModel(Option<String>),
    /// Change the thinking settings.
    SetThinking {
        /// The thinking budget in tokens; the inner `None` restores the initial value, the outer `None` leaves it unchanged.
        tokens: Option<Option<u32>>,
        /// How thinking is displayed, with the same meaning of `None`.
        display: Option<Option<ThinkingDisplay>>,
    },
    /// Report the status of the MCP servers.
    McpStatus,
    /// Reconnect to a server.
    McpReconnect(String),
    /// Enable or disable a server.
    McpToggle {
        /// The server.
        server: String,
        /// Whether it is to be enabled.
        enabled: bool,
    },
    /// Replace the servers that were added while the session runs.
    McpSetServers(BTreeMap<String, RawJson>),
    /// An unsolicited message of a server in the SDK's process.
    McpMessage {
        /// The server.
        server: String,
        /// The JSON-RPC message.
        message: RawJson,
    },
    /// Restore files to their state when a prompt was sent.
    RewindFiles {
        /// The prompt's id.
        user_message_id: String,
        /// Only report what would change.
        dry_run: bool,
    },
    /// Stop a background task.
    StopTask(String),
    /// Move running calls to the background: one, or all.
    BackgroundTasks(Option<String>),
    /// Withdraw a waiting prompt.
    CancelAsyncMessage(String),
    /// Report what fills the context.
    GetContextUsage,
    /// Apply settings as if they had been given on the command line.
    ApplyFlagSettings(RawJson),
    /// Report the settings in force.
    GetSettings,
    /// List the known models.
    ListModels,
    /// Report the version of the engine.
    GetBinaryVersion,
    /// Report the cost of the session, as text.
    GetSessionCost,
    /// Report the usage of the session, as numbers.
    GetUsage,
    /// List the permission rules in force.
    ListPermissionRules,
    /// List the hooks in force.
    GetHooksListing,
    /// Write settings into a file, and apply them.
    UpdateSettings {
        /// The file.
        file: SettingsFile,
        /// The values to write, by key.
        settings: BTreeMap<String, String>,
    },
    /// Set the title of the session.
    RenameSession {
        /// The title.
        title: String,
        /// The session that it is meant for; `None` for the running one.
        session_id: Option<String>,
    },
    /// Make a title of a description of the work.
    GenerateSessionTitle {
        /// What the session is about.
        description: String,
        /// Whether the title is stored.
        persist: bool,
    },
    /// Read a file of the workspace.
    ReadFile {
        /// The file, relative to the working directory or absolute.
        path: String,
        /// The maximum number of bytes.
        max_bytes: Option<u64>,
        /// `base64` for binary files.
        encoding: Option<String>,
    },
    /// Suggest files whose names start with a text.
    FileSuggestions(String),
    /// The SDK has read a file for the model.
    SeedReadState {
        /// The file.
        path: String,
        /// The modification time known to the SDK: milliseconds since 1970, rounded down.
        mtime: i64,
    },
    /// Read the skills again.
    ReloadSkills,
    /// Read the output styles again.
    ReloadOutputStyles,
    /// Read plugins, commands and agents again.
    ReloadPlugins {
        /// Also load these plugins.
        adds: Vec<GivenPlugin>,
        /// Refuse while anything is running.
        refuse_if_busy: bool,
    },
    /// Call a tool of an MCP server directly, without the model.
    McpCall {
        /// The tool's name as used by the model.
        tool: String,
        /// The tool's input.
        arguments: RawJson,
        /// The timeout in milliseconds.
        timeout_ms: Option<u32>,
    },
    /// Read a displayable resource of an MCP server (`ui://…`).
    McpReadResource {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
    },
    /// Set how calls of a server's tools are decided that the permission mode would allow.
    SetMcpMode {
        /// The server.
        server: String,
        /// Whether each of them needs permission; false removes the exception.
        asks: bool,
    },
    /// Report the end of a background command's output.
    GetTaskOutput(String),
    /// Add a folder below the working directory to the workspace.
    RegisterRepoRoot(String),
    /// Whether anyone reads what the SDK passes on.
    SetHasSubscribers,
}

/// A settings file that an SDK may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SettingsFile {
    /// The user's settings for this project.
    LocalSettings,
    /// The user's settings for all projects.
    UserSettings,
}

impl Request {
    /// Reads the `request` of a control request.
    ///
    /// # Errors
    /// The error to reply: an unsupported subtype, or invalid fields.
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
            "generate_session_title" => {
                let GenerateTitle {
                    description,
                    persist,
                } = fields.all()?;
                Self::GenerateSessionTitle {
                    description,
                    persist: persist.unwrap_or_default(),
                }
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
                // The SDK sends a JavaScript number, which may have a fraction.
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
                    adds: add_plugins.unwrap_or_default(),
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

/// Options that are not supported are an error, because the caller relies on them.
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

/// Whether calls need permission.
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
        // One line for each subtype, as sent by the official SDKs.
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
            r#"{"subtype":"generate_session_title","description":"Mend it.","persist":true}"#,
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
                .contains("acceptEdits, auto, bypassPermissions, default"),
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
