//! What the machine asks of the world, and what the world answers.
//!
//! Every effect is answered to its end exactly once. [`Answer::is_last`] says which answers end one.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    hook::{HookAnswer, HookCall, Occurrence, input::UserPromptExpansion},
    id::{EffectId, Uuid},
    json::{self, JsonError, RawJson},
    message::{FailedFile, Message, PersistedFile},
    permission::{self, Mode, PermissionUpdate, UpdateError},
    spec::{Effort, Thinking},
    tool::{Access, Observation, ToolCall, ToolResult},
};

/// What the application or the host tells the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Input {
    /// A user message. [`Prompt::delivery`] says what becomes of it while another is being answered.
    Prompt(Prompt),
    /// Takes a prompt back that still waits; one that is being answered is not touched.
    Withdraw(Uuid),
    /// Stop what is running. The session stays usable, and background tasks go on.
    Interrupt,
    /// Stop a background task, by its id. One that does not run is stopped already.
    StopTask(String),
    /// Do not wait for a running call of the main thread any longer, by its id, or for all of them: they go on as
    /// background tasks.
    Background(Option<String>),
    /// No more input will come: background calls that only that could stop are stopped. Agents end by themselves.
    End,
    /// Change the permission mode; holds from the next judged call on. Refused by [`Output::Refused`].
    SetMode(Mode),
    /// Change rules, directories or mode; holds from the next judged call on, all of it or (with
    /// [`Output::Refused`]) nothing. Writing settings files is the host's.
    UpdatePermissions(Vec<PermissionUpdate>),
    /// From now on, or no longer, the tools of an MCP server are judged as in mode `default` where the mode would let them
    /// run unasked: rules hold as ever, and what none covers is asked about (Agent SDK types,
    /// `setMcpPermissionModeOverride`). It holds also for a server that is not there yet.
    GuardServer {
        /// The server.
        server: String,
        /// Whether it is guarded.
        is_guarded: bool,
    },
    /// Change the model; none returns to the one of the spec. Holds from the next request on.
    SetModel(Option<String>),
    /// Change how the model thinks; none returns to the spec. Holds from the next request on.
    SetThinking(Option<Thinking>),
    /// Change the effort; none returns to the spec. Holds from the next request on.
    SetEffort(Option<Effort>),
    /// The model has seen a file, in a way that the session did not see itself: calls of tools may rely on it as on a
    /// reading of their own (Agent SDK reference, `seedReadState`).
    Seen(Observation),
    /// Something that happened at the host and that the application should hear of.
    Notice(Notice),
    /// Something happened outside that hooks may want to know: a notification, the start or end of a
    /// session, a changed setting … ([`HookEvent::comes_from_outside`](crate::hook::HookEvent::comes_from_outside)).
    Occurred(Occurrence),
    /// First input after a restore: the effects that the host still has running.
    Resumed {
        /// Effects whose answers will still come.
        live: Vec<EffectId>,
    },
    /// A deadline may have passed.
    Tick,
    /// An answer to an effect.
    Answer(EffectId, Answer),
}

impl Input {
    /// Reads an input as it is serialised, in journals too.
    ///
    /// # Errors
    /// [`JsonError`] with the place of what is no input.
    pub fn parse(json: &str) -> Result<Self, JsonError> {
        crate::json::read::from_str(json).map_err(JsonError::from)
    }
}

/// Something that happened at the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// It signs in.
    AuthStatus {
        /// Whether it still does.
        is_authenticating: bool,
        /// What was printed for the person.
        output: Vec<String>,
        /// Why it failed.
        error: Option<String>,
    },
    /// It stored files.
    FilesPersisted {
        /// Those that are safe.
        files: Vec<PersistedFile>,
        /// Those that are not.
        failed: Vec<FailedFile>,
        /// When, in ISO 8601.
        processed_at: String,
    },
}

/// A user message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Content blocks of the Messages API, each one a JSON object.
    pub content: Vec<RawJson>,
    /// The message's id, where whoever sent it gave it one.
    #[serde(default)]
    pub uuid: Option<Uuid>,
    /// When it enters the conversation.
    #[serde(default)]
    pub delivery: Delivery,
    /// The command that it was before whoever sends it put in its place what it stands for: hooks are told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded_from: Option<UserPromptExpansion>,
}

/// When a prompt enters the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// After the prompts before it are answered; it is answered by itself.
    #[default]
    FollowUp,
    /// With the next tool results of the answer under way, which goes on with it in mind; where there is
    /// none any more, as a follow-up.
    Steer,
    /// As a follow-up, but the model is not asked: it reads it with the next prompt.
    Append,
}

impl Prompt {
    /// Plain text, answered by itself.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let block = crate::content::Block::text(text).to_raw();
        Self {
            content: alloc::vec![block],
            ..Self::default()
        }
    }

    /// Content blocks, answered by themselves.
    #[must_use]
    pub fn blocks(content: Vec<RawJson>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// The text, where it is one and nothing else.
    #[must_use]
    pub fn plain_text(&self) -> Option<String> {
        let [block] = self.content.as_slice() else {
            return None;
        };
        match crate::content::Block::from_raw(block.clone()) {
            crate::content::Block::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The same, delivered in another way.
    #[must_use]
    pub fn delivered(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The same under an id of the sender's.
    #[must_use]
    pub fn with_uuid(mut self, uuid: Uuid) -> Self {
        self.uuid = Some(uuid);
        self
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::text(&text)
    }
}

/// What comes out of the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Output {
    /// Do this and answer.
    Effect(EffectId, Effect),
    /// Stop this: sockets are dropped at once, tools get a signal. It is still answered.
    Cancel(EffectId),
    /// The grace period is over: drop it. The machine counts it as cancelled and expects no answer.
    Abandon(EffectId),
    /// A message for the application.
    Message(Message),
    /// A change of the permissions was refused; nothing has changed, and the session goes on.
    Refused(UpdateError),
}

/// Something only a host can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Send a request to the model endpoint. Answered by head, body and end, or by a failure.
    Http(HttpRequest),
    /// Make paths absolute and real. Answered by [`Answer::Resolved`].
    Resolve(Vec<ResolvePath>),
    /// Run a tool. Answered by any number of [`Answer::Progress`], then [`Answer::Tool`].
    CallTool(ToolCall),
    /// Find out what became of a call that was lost with the program that ran it
    /// ([`RetryClass::Probe`](crate::tool::RetryClass::Probe)). It changes nothing. Answered by [`Answer::Probed`].
    ProbeTool(Probe),
    /// Ask whoever decides. Answered by [`Answer::Permission`].
    AskPermission(PermissionRequest),
    /// Run a hook. Answered by any number of [`Answer::HookProgress`], then [`Answer::Hook`].
    RunHook(HookCall),
    /// Append to the transcript. Answered by [`Answer::Persisted`] once it is safe.
    Persist(Vec<Entry>),
}

/// A request to a model endpoint. It names no host and carries no secret: the host knows both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpRequest {
    /// Always `POST` today.
    pub method: &'static str,
    /// Path and query below the endpoint's base address (`/v1/messages`).
    pub path: String,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body in pieces, to be sent one after another; shared with the history, never re-encoded.
    /// As JSON it is one text.
    #[serde(serialize_with = "as_text")]
    pub body: Vec<Bytes>,
}

impl HttpRequest {
    /// Length of the body in bytes.
    #[must_use]
    pub fn body_len(&self) -> usize {
        self.body.iter().map(Bytes::len).sum()
    }

    /// The body in one piece (a copy).
    #[must_use]
    pub fn body_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body_len());
        for piece in &self.body {
            out.extend_from_slice(piece);
        }
        out
    }
}

/// Pieces of a text as one string.
fn as_text<S: Serializer>(pieces: &[Bytes], serializer: S) -> Result<S::Ok, S::Error> {
    let mut whole = Vec::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in pieces {
        whole.extend_from_slice(piece);
    }
    serializer.serialize_str(&String::from_utf8_lossy(&whole))
}

/// A path to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvePath {
    /// As the model wrote it.
    pub path: String,
    /// What the call wants to do there.
    pub access: Access,
    /// It is copied, moved or removed with all that lies below it: the host says what of that becomes authority
    /// ([`ResolvedPath::brings`]).
    #[serde(default, skip_serializing_if = "is_false")]
    pub carried: bool,
    /// Of what is carried: patterns of files that deny rules close. The host says what they cover below it
    /// ([`ResolvedPath::holds`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !value
}

/// A resolved path: what rules judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedPath {
    /// Absolute, without `.` or `..`, links followed; for a file that does not exist its nearest
    /// existing parent is real.
    pub path: String,
    /// Of a folder that is carried elsewhere: a file in it from which programs or later sessions take orders
    /// ([`becomes_authority`](crate::permission::becomes_authority)), as its path below the folder. None where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<String>,
    /// Of a folder that is carried elsewhere or removed: a file in it that one of [`ResolvePath::closed`] covers, as its path below
    /// the folder. None where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Something is there already. A host that does not say so leaves it to the tool to find out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exists: bool,
}

impl ResolvedPath {
    /// A path of which nothing else is known.
    pub fn at(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            brings: None,
            holds: None,
            exists: false,
        }
    }
}

/// The question what became of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The effect under which it was run: its idempotency key, by which whoever ran it may know it.
    pub lost: EffectId,
    /// The call as it was made.
    pub call: ToolCall,
}

/// What became of a call that was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Probed {
    /// It came to its end with this result.
    Done(ToolResult),
    /// It did nothing, and nothing of it goes on: it is run now, under its old name.
    NotDone,
    /// Nobody can tell: the model hears that the outcome is unknown.
    Unknown,
}

/// The question whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The model's id of the call.
    pub tool_use_id: String,
    /// The tool.
    pub tool_name: String,
    /// The input as the model gave it. Whoever shows its command to a person does so by [`visible`](permission::visible).
    pub input: RawJson,
    /// The path outside the granted directories that made it ask, if one did.
    pub blocked_path: Option<String>,
    /// Why it is asked, in one sentence, in which nothing is hidden.
    pub decision_reason: String,
    /// Changes of the permissions of which each lets such calls run unasked, the narrowest first; hand back
    /// those that are accepted as `updatedPermissions`. Empty where none would help.
    #[serde(default)]
    pub suggestions: Vec<PermissionUpdate>,
    /// The subagent that calls; none for the main thread.
    #[serde(default)]
    pub agent_id: Option<String>,
}

impl PermissionRequest {
    /// The narrowest rule among the suggestions (`Bash(npm test)`): for a plain "always".
    #[must_use]
    pub fn suggested_rule(&self) -> Option<String> {
        permission::first_rule(&self.suggestions)
    }
}

/// The answer of whoever decides (Agent SDK reference, `PermissionResult`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum PermissionResponse {
    /// Run it.
    Allow {
        /// Run it with this input instead; it is validated again.
        #[serde(rename = "updatedInput", skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        /// Changes of the permissions that hold from now on: all of them, or none if one does not apply.
        #[serde(rename = "updatedPermissions", skip_serializing_if = "Vec::is_empty")]
        updated_permissions: Vec<PermissionUpdate>,
    },
    /// Do not run it.
    Deny {
        /// What the model reads.
        message: String,
        /// End the run too.
        interrupt: bool,
    },
}

impl<'de> Deserialize<'de> for PermissionResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Allow {
            #[serde(default)]
            updated_input: Option<RawJson>,
            #[serde(default)]
            updated_permissions: Option<RawJson>,
        }
        #[derive(Deserialize)]
        struct Deny {
            message: String,
            #[serde(default)]
            interrupt: bool,
        }
        let (kind, raw) = json::tagged(deserializer, "behavior")?;
        match kind.as_str() {
            "allow" => raw.read().map(|allow: Allow| Self::Allow {
                updated_input: allow.updated_input,
                // The call was allowed, whatever else the answer says: what cannot be read changes nothing.
                updated_permissions: allow
                    .updated_permissions
                    .and_then(|updates| updates.read().ok())
                    .unwrap_or_default(),
            }),
            "deny" => raw.read().map(|deny: Deny| Self::Deny {
                message: deny.message,
                interrupt: deny.interrupt,
            }),
            other => {
                let problem = format!("the behavior is allow or deny, not {other}");
                return Err(de::Error::custom(problem));
            }
        }
        .map_err(de::Error::custom)
    }
}

impl PermissionResponse {
    /// A plain yes.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow {
            updated_input: None,
            updated_permissions: Vec::new(),
        }
    }

    /// A no with its reason.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            interrupt: false,
        }
    }
}

/// One line of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The message's id: of a response, a prompt or the result of a call that of the message that the application saw.
    pub uuid: crate::id::Uuid,
    /// The entry before it.
    pub parent: Option<crate::id::Uuid>,
    /// When it was made.
    pub timestamp: crate::id::UnixMillis,
    /// The message in its Messages API form; a response whole, with its id, model, stop reason and usage.
    pub message: RawJson,
    /// The tool's structured output, where the message is the result of a call: an entry by itself for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<RawJson>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "EntryOrigin::is_conversation")]
    pub origin: EntryOrigin,
    /// The subagent whose conversation it belongs to, by its id: a transcript of its own (`isSidechain`). None on the
    /// main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The conversation begins anew with this message, a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<EntryCompaction>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryOrigin {
    /// A prompt, a response, the result of a call.
    #[default]
    Conversation,
    /// A word of the engine's own to the model: what hooks add, reminders.
    Engine,
    /// News of a background task.
    Task,
    /// The word that somebody interrupted the answer ([`InterruptedAnswer`](crate::context::InterruptedAnswer)).
    Interruption,
}

impl EntryOrigin {
    fn is_conversation(&self) -> bool {
        *self == Self::Conversation
    }
}

/// What a transcript must know of a compaction so that a session can be taken up behind it: its history is the summary and,
/// behind it, the last messages of what was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryCompaction {
    /// The id of the `compact_boundary` message.
    pub boundary: crate::id::Uuid,
    /// What it says.
    pub metadata: crate::message::CompactMetadata,
    /// How many messages before this entry stay; messages as the API counts them, several entries of one speaker in a
    /// row being one.
    pub kept_messages: u64,
}

/// A host puts the address that nothing was found at under this name among the headers of a 404, without what may be secret in it:
/// whoever reads the error sees which address to correct.
pub const ADDRESS_HEADER: &str = "windlass-address";

/// What a host says to an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Status line and headers (names in lower case).
    HttpHead {
        /// The status code.
        status: u16,
        /// The headers the core may need (`retry-after`, `request-id`, `content-type`), and [`ADDRESS_HEADER`].
        headers: Vec<(String, String)>,
    },
    /// A piece of the body, of any size.
    HttpBody(#[serde(with = "crate::bytes_json")] Bytes),
    /// The body is complete.
    HttpEnd,
    /// The exchange failed: no connection, cut in the middle, too large.
    HttpFailed(HttpFailure),
    /// The real paths, in the order asked.
    Resolved(Vec<Result<ResolvedPath, String>>),
    /// A tool says what it is doing.
    Progress(String),
    /// A piece of what a running tool puts out, kept for whoever reads the background task it may be.
    Output(String),
    /// A tool is done.
    Tool(ToolResult),
    /// What became of a call that was lost.
    Probed(Probed),
    /// The decision.
    Permission(PermissionResponse),
    /// A hook has written something.
    HookProgress {
        /// To standard output, since the last time.
        stdout: String,
        /// To standard error, since the last time.
        stderr: String,
    },
    /// A hook is done.
    Hook(HookAnswer),
    /// The entries are safe.
    Persisted,
    /// The entries could not be written; the reason.
    PersistFailed(String),
    /// A cancelled effect ended without an outcome.
    Cancelled,
}

impl Answer {
    /// Whether the effect is over with this answer.
    #[must_use]
    pub fn is_last(&self) -> bool {
        !matches!(
            self,
            Self::HttpHead { .. }
                | Self::HttpBody(_)
                | Self::Progress(_)
                | Self::Output(_)
                | Self::HookProgress { .. }
        )
    }
}

/// How an exchange failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpFailure {
    /// What kind of failure.
    pub kind: HttpFailureKind,
    /// What happened, where, and what to do about it.
    pub message: String,
}

impl HttpFailure {
    /// A failure with its message.
    #[must_use]
    pub fn new(kind: HttpFailureKind, message: &str) -> Self {
        Self {
            kind,
            message: message.to_owned(),
        }
    }
}

/// The kinds of failure that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpFailureKind {
    /// Nothing was reached: worth another try.
    Connect,
    /// The connection broke or timed out: worth another try.
    Interrupted,
    /// The host refuses to send it (no key, an address that is no address): another try changes nothing.
    Refused,
    /// The answer exceeded the host's size limit: another try changes nothing.
    TooLarge,
}
