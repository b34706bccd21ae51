//! An in-memory host for tests of sessions.

mod effects;
mod hook;
mod inputs;
mod tool;

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::{cell::RefCell, fmt, future::Future};

use windlass_core::{
    HostError, Session, drive,
    effect::{
        Entry, HttpFailure, HttpRequest, Input, PermissionRequest, PermissionResponse, Prompt,
    },
    hook::{HookCall, HookEvent, HookInput, HookMatcher, HookOutput},
    id::{Millis, uuid_v4},
    message::Message,
    spec::Spec,
    tool::{ToolCall, ToolResult},
};
use windlass_scripted_model::{Miss, Script, ScriptedModel, Unmet};

use self::{hook::Hook, inputs::Inputs, tool::Tool};
pub use self::{hook::HookStep, tool::ToolStep};
use super::clock::{Stuck, VirtualClock};

/// The default working directory.
const CWD: &str = "/work";

/// A host with a scripted model, tools that are closures, and virtual time.
///
/// ```
/// use windlass_core::{Spec, json::RawJson, tool::{ToolDefinition, ToolResult}};
/// use windlass_testkit::{Script, TestHost, render};
///
/// let script = Script::parse(r#"{"exchanges": [
///     {"respond": {"content": [{"type": "tool_use", "name": "Add", "input": {"a": 1, "b": 2}}]}},
///     {"expect": {"last_user_contains": "3"}, "respond": "It is 3."}
/// ]}"#)?;
/// let host = TestHost::new(script).allow_all().tool("Add", |_call| ToolResult::text("3"));
/// let spec = Spec::with_tools([
///     ToolDefinition::new("Add", "Adds.", RawJson::parse(r#"{"type":"object"}"#)?).read_only(),
/// ]);
/// let messages = host.prompt(&mut host.session(spec), "What is 1 + 2?")?;
/// assert!(render(&messages).contains("assistant text \"It is 3.\""));
/// host.verify()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TestHost {
    clock: VirtualClock,
    cwd: String,
    model: RefCell<ScriptedModel>,
    http_failures: RefCell<VecDeque<HttpFailure>>,
    tools: RefCell<BTreeMap<String, Tool>>,
    hooks: RefCell<BTreeMap<String, Hook>>,
    /// Their matchers, for the session's spec.
    hook_matchers: Vec<HookMatcher>,
    permission: RefCell<Decide>,
    /// Whether the test has set how permission questions are answered.
    decides: bool,
    resolved: BTreeMap<String, Result<String, String>>,
    persist_failures: RefCell<VecDeque<String>>,
    inputs: Rc<RefCell<Inputs>>,
    seen: RefCell<Seen>,
}

/// Answers permission questions.
type Decide = Box<dyn FnMut(&PermissionRequest) -> PermissionResponse>;

/// What a host has been asked to do and told.
#[derive(Debug, Default)]
struct Seen {
    requests: Vec<HttpRequest>,
    calls: Vec<ToolCall>,
    questions: Vec<PermissionRequest>,
    hooks: Vec<HookCall>,
    entries: Vec<Entry>,
    messages: Vec<Message>,
}

impl fmt::Debug for TestHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestHost")
            .field("clock", &self.clock)
            .field("cwd", &self.cwd)
            .field("model", &self.model)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

/// Why a run in a [`TestHost`] did not complete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The session rejected an input.
    #[error(transparent)]
    Host(#[from] HostError),
    /// No progress was possible.
    #[error(transparent)]
    Stuck(#[from] Stuck),
}

impl TestHost {
    /// A host whose model follows this script. It has no tools, denies every permission question, and its working directory
    /// is `/work`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        let clock = VirtualClock::new();
        Self {
            inputs: Rc::new(RefCell::new(Inputs::new(clock.clone()))),
            clock,
            cwd: CWD.to_string(),
            model: RefCell::new(ScriptedModel::new(script)),
            http_failures: RefCell::default(),
            tools: RefCell::default(),
            hooks: RefCell::default(),
            hook_matchers: Vec::new(),
            permission: RefCell::new(Box::new(|request| {
                PermissionResponse::deny(alloc::format!(
                    "the test host was not told what to answer about {}; use TestHost::permission",
                    request.tool_name
                ))
            })),
            decides: false,
            resolved: BTreeMap::new(),
            persist_failures: RefCell::default(),
            seen: RefCell::default(),
        }
    }

    /// Sets the directory to which relative paths refer.
    #[must_use]
    pub fn cwd(mut self, cwd: &str) -> Self {
        self.cwd = normalised("/", cwd);
        self
    }

    /// Adds a tool that answers immediately.
    #[must_use]
    pub fn tool(self, name: &str, mut run: impl FnMut(&ToolCall) -> ToolResult + 'static) -> Self {
        self.tool_steps(name, move |call| Vec::from([ToolStep::Return(run(call))]))
    }

    /// Adds a tool that runs step by step: it reports progress, takes time, reacts to cancellation or ignores it.
    #[must_use]
    pub fn tool_steps(
        self,
        name: &str,
        run: impl FnMut(&ToolCall) -> Vec<ToolStep> + 'static,
    ) -> Self {
        self.tools
            .borrow_mut()
            .insert(name.to_string(), Box::new(run));
        self
    }

    /// Adds a hook that matches every occurrence of an event and answers immediately. It is registered in the specs of this
    /// host's sessions, after their own hooks.
    #[must_use]
    pub fn hook<O: Into<HookOutput>>(
        self,
        event: HookEvent,
        mut run: impl FnMut(&HookInput) -> O + 'static,
    ) -> Self {
        let matcher = HookMatcher::of(event);
        self.hook_steps(matcher, move |input| {
            Vec::from([HookStep::answer(run(input))])
        })
    }

    /// Adds a hook that takes time, crashes or hangs, for the tools and with the timeout of the matcher. The matcher must not
    /// name hooks: this one is added to it.
    #[must_use]
    pub fn hook_steps(
        mut self,
        mut matcher: HookMatcher,
        run: impl FnMut(&HookInput) -> Vec<HookStep> + 'static,
    ) -> Self {
        let name = alloc::format!("hook {}", self.hook_matchers.len() + 1);
        self.hooks.borrow_mut().insert(name.clone(), Box::new(run));
        matcher.hooks.push(name);
        self.hook_matchers.push(matcher);
        self
    }

    /// Sets how permission questions are answered. By default no questions are asked, and calls that need one are denied.
    #[must_use]
    pub fn permission(
        mut self,
        decide: impl FnMut(&PermissionRequest) -> PermissionResponse + 'static,
    ) -> Self {
        *self.permission.borrow_mut() = Box::new(decide);
        self.decides = true;
        self
    }

    /// Allows every permission question.
    #[must_use]
    pub fn allow_all(self) -> Self {
        self.permission(|_| PermissionResponse::allow())
    }

    /// Sets what a path resolves to: the target of a link, or an error. Other paths are only normalised.
    #[must_use]
    pub fn resolves(mut self, path: &str, to: Result<&str, &str>) -> Self {
        let to = to.map(ToString::to_string).map_err(ToString::to_string);
        self.resolved.insert(normalised(&self.cwd, path), to);
        self
    }

    /// Makes the next request to the model fail in transport. Each call affects one further request.
    #[must_use]
    pub fn http_failure(self, failure: HttpFailure) -> Self {
        self.http_failures.borrow_mut().push_back(failure);
        self
    }

    /// Makes the next transcript write fail with this reason. Each call affects one further write.
    #[must_use]
    pub fn persist_failure(self, reason: &str) -> Self {
        self.persist_failures.borrow_mut().push_back(reason.into());
        self
    }

    /// Schedules an input for the first message that satisfies a condition.
    #[must_use]
    pub fn input_when(self, fits: impl Fn(&Message) -> bool + 'static, input: Input) -> Self {
        self.inputs.borrow_mut().when(Box::new(fits), input);
        self
    }

    /// Schedules an input for a point in virtual time, in milliseconds since the start.
    #[must_use]
    pub fn input_at(self, at: u64, input: Input) -> Self {
        self.inputs.borrow_mut().at(Millis(at), input);
        self
    }

    /// A session with a fixed id and seed. If the spec has no working directory, it gets this host's. Permission questions
    /// are enabled if the test has set how they are answered.
    #[must_use]
    pub fn session(&self, mut spec: Spec) -> Session {
        if spec.environment.cwd.is_empty() {
            spec.environment.cwd = self.cwd.clone();
        }
        spec.policy.permissions.can_ask |= self.decides;
        spec.policy.hooks.extend(self.hook_matchers.iter().cloned());
        Session::new(Arc::new(spec), uuid_v4([7; 16]), [7; 32])
    }

    /// Sends a prompt to a session and runs it until it is idle.
    ///
    /// # Errors
    /// [`RunError`] if the session rejects an input, or waits for something that never happens.
    pub fn prompt(&self, session: &mut Session, text: &str) -> Result<Vec<Message>, RunError> {
        self.run(session, [Input::Prompt(Prompt::text(text))])
    }

    /// Runs a session until these inputs, and those of [`input_when`](Self::input_when) and [`input_at`](Self::input_at), are
    /// used up and it is idle. Returns the messages of this run.
    ///
    /// # Errors
    /// [`RunError`] if the session rejects an input, or waits for something that never happens: an answer that hangs, or a
    /// message that an input is scheduled for.
    pub fn run(
        &self,
        session: &mut Session,
        inputs: impl IntoIterator<Item = Input>,
    ) -> Result<Vec<Message>, RunError> {
        let before = self.seen.borrow().messages.len();
        self.inputs.borrow_mut().now(inputs);
        let inputs = inputs::stream(self.inputs.clone());
        self.clock.block_on(drive(session, self, inputs))??;
        Ok(self.seen.borrow().messages[before..].to_vec())
    }

    /// Runs any future in this host's virtual time.
    ///
    /// # Errors
    /// [`Stuck`] if it waits for something that never happens.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Stuck> {
        self.clock.block_on(future)
    }

    /// Virtual milliseconds since the start.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        self.clock.now().mono.0
    }

    /// All messages so far.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.seen.borrow().messages.clone()
    }

    /// All requests to the model so far.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.seen.borrow().requests.clone()
    }

    /// All tool calls so far, in the order they began.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        self.seen.borrow().calls.clone()
    }

    /// All permission questions so far.
    #[must_use]
    pub fn questions(&self) -> Vec<PermissionRequest> {
        self.seen.borrow().questions.clone()
    }

    /// All hooks so far, in the order they began.
    #[must_use]
    pub fn hook_calls(&self) -> Vec<HookCall> {
        self.seen.borrow().hooks.clone()
    }

    /// All transcript entries that were written.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.seen.borrow().entries.clone()
    }

    /// Requests that did not match the script.
    #[must_use]
    pub fn misses(&self) -> Vec<Miss> {
        self.model.borrow().misses().to_vec()
    }

    /// Checks that the script was followed to its end.
    ///
    /// # Errors
    /// [`Unmet`] with the misses and the exchanges that were not requested.
    pub fn verify(&self) -> Result<(), Unmet> {
        self.model.borrow().verify()
    }
}

/// Normalises `.` and `..` of an absolute path without resolving links.
pub(super) fn normalised(cwd: &str, path: &str) -> String {
    let whole = match path.starts_with('/') {
        true => path.to_string(),
        false => alloc::format!("{cwd}/{path}"),
    };
    let mut segments: Vec<&str> = Vec::new();
    for segment in whole.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    alloc::format!("/{}", segments.join("/"))
}
